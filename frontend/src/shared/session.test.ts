// What a session makes of messages: each type belongs to one feature, and of a failed question something is
// said.
import { h, render } from "preact";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Model, Reply } from "./channel";
import { Frame } from "./frame";
import { WidgetSession, type Feature } from "./session";

type Question = { type: "count" } | { type: "look" };
type Answer = { type: "counted"; n: number } | { type: "seen" };
type Told = { type: "moved"; to: number };

class Session extends WidgetSession<Question, Answer, never, Told> {
  readonly presses = this.queue();

  constructor(model: Model, ...features: Feature<Question, Answer, Told>[]) {
    super(model);
    this.hear(...features);
  }
}

let asked: { id: string; client: string; type: string }[];
let hear: (reply: object) => void;
const model: Model = {
  send: content => void asked.push(content as (typeof asked)[number]),
  on: (_, listener) => (hear = reply => listener(reply as Reply)),
  off: () => undefined,
};
let session: Session;
const open = (...features: Feature<Question, Answer, Told>[]) => (session = new Session(model, ...features));
const answer = (body: object) => hear({ ...body, id: asked.at(-1)!.id, client: asked.at(-1)!.client });

beforeEach(() => void (asked = []));
afterEach(() => session?.close());

test("each message comes to the feature whose it is, and one of nobody's to none", () => {
  const [counted, moved] = [vi.fn(), vi.fn()];
  open({ answers: { counted } }, { told: { moved } });
  session.channel.ask({ type: "count" });
  answer({ type: "counted", n: 3 });
  expect(counted.mock.calls[0]!.map(({ type }) => type)).toEqual(["counted", "count"]);
  hear({ type: "moved", to: 4, id: null, client: null });
  expect(moved).toHaveBeenCalledOnce();
  hear({ type: "another", id: null, client: null });
  expect(session.message.value).toBeNull();
});

test("two features may not make something of the same message", () => {
  const twice = () => open({ answers: { seen: () => undefined } }, { answers: { seen: () => undefined } });
  expect(twice).toThrow("found two for “seen”");
});

test("what failed is said, unless the feature says it itself", () => {
  open({ unanswered: { look: () => false } });
  session.channel.ask({ type: "look" });
  answer({ type: "failed", message: "no room" });
  expect(session.message.value).toBeNull();
  session.channel.ask({ type: "count" });
  answer({ type: "failed", message: "no room" });
  expect(session.message.value).toBe("no room");
});

test("the same words are said twice to who hears only what differs", () => {
  open();
  session.say("Undone");
  session.say("Undone");
  expect([session.announced.value === "Undone", session.announced.value.trim()]).toEqual([false, "Undone"]);
});

test("what would be lost with the page is named, without a word of a participant", () => {
  open();
  expect(session.unsaved()).toEqual([]);
  session.book.codebook.value = {
    title: "",
    version: "",
    facets: [],
    codes: [{ id: "interest", label: "Interest" }],
  } as never;
  session.push(
    { kind: "apply", code: "interest", unit_id: "m1" },
    { kind: "remove", code: "gone", unit_id: "m2" },
  );
  session.push({ kind: "memo", unit_id: "m2", text: "Ben’s own words" }, { kind: "undo" });
  expect(session.unsaved()).toEqual([
    "“Interest” on text m1",
    "remove “gone” on text m2",
    "memo on text m2",
    "undo",
  ]);
});

test("a frame tells the page what would be lost with it, as long as it is there", async () => {
  open();
  session.push({ kind: "finish", unit_id: "m1" });
  const el = document.body.appendChild(document.createElement("div"));
  const root = { current: null };
  render(
    h(Frame, {
      session,
      root,
      name: "coding",
      label: "",
      keys: [],
      back: () => false,
      bar: h("b", {}),
      children: null,
    } as never),
    el,
  );
  await new Promise(done => setTimeout(done, 50));
  const ask = () => {
    const detail: string[] = [];
    dispatchEvent(new CustomEvent("s7-unsaved", { detail }));
    return detail;
  };
  expect(ask()).toEqual(["finish on text m1"]);
  render(null, el);
  await new Promise(done => setTimeout(done, 50));
  expect(ask()).toEqual([]);
});
