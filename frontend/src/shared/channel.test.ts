// The line to the kernel as any widget uses it: its own questions and answers, the same outbox.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { KernelChannel, SILENCE_MS, type Model, type Reply } from "./channel";
import { PATIENCE_MS, shelf } from "./outbox";

import type { Act } from "./protocol";

type Question = { type: "hello" } | { type: "pair"; code: string };
type Answer = { type: "pair"; agreed: boolean };
type Done = { n_ruled: number };

const act = (id: string, unit_id = "m1"): Act => ({ id, kind: "finish", unit_id });

/** What the channel reported, in order. */
let reports: unknown[][];
let sent: { type: string; id: string; client: string; fill?: boolean }[];
let dead: boolean;
let hear: ((reply: Reply) => void) | undefined;
let channel: KernelChannel<Question, Answer, Done>;

const model: Model = {
  send: content => {
    if (dead) throw new Error("comm is dead");
    sent.push(content as (typeof sent)[number]);
  },
  on: (_, listener) => void (hear = listener),
  off: () => void (hear = undefined),
};

const open = () =>
  new KernelChannel<Question, Answer, Done>(model, {
    answered: ({ agreed }, question) => reports.push(["answered", agreed, question]),
    unanswered: (question, message) => reports.push(["unanswered", question, message]),
    recorded: ({ n_ruled }, from) => reports.push(["recorded", n_ruled, from]),
    refused: (...refusal) => reports.push(["refused", ...refusal]),
    unsaved: message => reports.push(["unsaved", message]),
  });

const reply = (content: object, to = sent.at(-1)!) =>
  hear!({ ...content, id: to.id, client: to.client } as Reply);

beforeEach(() => {
  vi.useFakeTimers();
  [reports, sent, dead] = [[], [], false];
  delete model.widget_manager;
  channel = open();
});

afterEach(() => {
  channel.close();
  shelf().clear();
  vi.useRealTimers();
});

test("a question is asked until it is answered, and its answer comes with it once", () => {
  channel.ask({ type: "pair", code: "a" });
  vi.advanceTimersByTime(2 * PATIENCE_MS);
  expect(sent).toHaveLength(3);
  expect(new Set(sent.map(({ id }) => id)).size).toBe(1);
  expect(channel.slow.value).toBe(true);
  reply({ type: "pair", agreed: true });
  reply({ type: "pair", agreed: true });
  expect(channel.slow.value).toBe(false);
  expect(reports).toEqual([
    ["answered", true, { type: "pair", code: "a" }],
    ["answered", true, undefined],
  ]);
  vi.advanceTimersByTime(5 * PATIENCE_MS);
  expect(sent).toHaveLength(3);
});

test.each(["refused", "failed"])(
  "a question that is %s is reported as unanswered, and no act is touched",
  type => {
    channel.outbox.push(act("d1"));
    channel.ask({ type: "pair", code: "a" });
    reply({ type, message: "no such code" });
    expect(reports).toEqual([["unanswered", { type: "pair", code: "a" }, "no such code"]]);
    expect([channel.outbox.waiting.value.length, channel.outbox.late.value]).toEqual([1, false]);
  },
);

test("what another view asked is not heard; what it recorded is, and settles nothing here", () => {
  channel.outbox.push(act("d1"));
  const other = { ...sent[0]!, client: "other" };
  reply({ type: "pair", agreed: true }, other);
  reply({ type: "refused", message: "no" }, other);
  reply({ type: "done", n_ruled: 4 }, other);
  expect(reports).toEqual([["recorded", 4, { mine: false, settled: false }]]);
  expect(channel.outbox.waiting.value).toHaveLength(1);
});

test.each([
  ["localhost", true],
  ["127.0.0.1", true],
  ["[::1]", true],
  ["hub.example.org", undefined],
  ["localhost.example.org", undefined],
  ["", undefined],
])(
  "an answer that a person waits for is to be filled up where the kernel runs here (%s)",
  (hostname, fill) => {
    vi.stubGlobal("location", { hostname });
    channel.outbox.push(act("d1"));
    channel.ask({ type: "hello" });
    channel.ask({ type: "pair", code: "a" }, false);
    vi.unstubAllGlobals();
    expect(sent.map(message => message.fill)).toEqual([fill, fill, undefined]);
  },
);

test("an act is settled by the first of its answers", () => {
  channel.outbox.push(act("d1"));
  reply({ type: "done", n_ruled: 1 });
  reply({ type: "done", n_ruled: 1 });
  expect(reports).toEqual([
    ["recorded", 1, { mine: true, settled: true }],
    ["recorded", 1, { mine: true, settled: false }],
  ]);
});

test("a failed act is reported until it is saved", () => {
  channel.outbox.push(act("d1"));
  reply({ type: "failed", message: "disk full" });
  expect([reports.at(-1), channel.outbox.late.value]).toEqual([["unsaved", "disk full"], true]);
  vi.advanceTimersByTime(PATIENCE_MS);
  reply({ type: "done", n_ruled: 1 });
  expect(reports.slice(1).map(([kind, first]) => [kind, first])).toEqual([
    ["unsaved", null],
    ["recorded", 1],
  ]);
});

test("a refused act is reported with its unit and the number of those that go with it", () => {
  channel.outbox.push(act("d1"), act("d2"), act("d3", "m2"));
  reply({ type: "refused", message: "no" });
  expect(reports).toEqual([["refused", "no", "m1", 1]]);
  expect(channel.outbox.waiting.value.map(({ id }) => id)).toEqual(["d3"]);
});

test("a dead model is cut off, and the act waits", () => {
  dead = true;
  channel.outbox.push(act("d1"));
  expect([channel.cut.value, reports]).toEqual([true, []]);
  expect(channel.outbox.waiting.value).toHaveLength(1);
});

test("a kernel that runs a cell is late and no more; one that is idle and silent is cut off until it is heard", () => {
  const state = () => [channel.outbox.late.value, channel.outbox.failed.value, channel.cut.value];
  const kernel = { status: "busy" };
  model.widget_manager = { kernel };
  channel.close();
  channel = open();
  channel.outbox.push(act("d1"));
  vi.advanceTimersByTime(20 * PATIENCE_MS);
  expect(state()).toEqual([true, false, false]);
  kernel.status = "idle";
  vi.advanceTimersByTime(SILENCE_MS + PATIENCE_MS);
  expect(state()).toEqual([true, false, true]);
  reply({ type: "done", n_ruled: 1 });
  expect([...state(), channel.outbox.waiting.value.length]).toEqual([false, false, false, 0]);
});

test("unsent acts go to the next view of the same work, and to no other", () => {
  channel.takeOver("pairs of the study");
  channel.outbox.push(act("d1"), act("d2"));
  channel.close();
  expect(hear).toBeUndefined();

  channel = open();
  channel.takeOver("other work");
  expect(channel.outbox.waiting.value).toEqual([]);
  channel.close();
  channel = open();
  channel.takeOver("pairs of the study");
  expect(channel.outbox.waiting.value.map(({ id }) => id)).toEqual(["d1", "d2"]);
  expect(shelf().size).toBe(0);
});

test("the channel of a closed view asks and sends nothing more", () => {
  channel.ask({ type: "hello" });
  channel.outbox.push(act("d1"));
  channel.close();
  vi.advanceTimersByTime(10 * PATIENCE_MS);
  expect([sent.length, vi.getTimerCount()]).toEqual([2, 0]);
});
