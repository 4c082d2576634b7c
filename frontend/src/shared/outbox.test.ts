// Acts go out one at a time and are kept until they are recorded.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Outbox, PATIENCE_MS, shelf } from "./outbox";
import type { Act } from "./protocol";

const act = (id: string): Act => ({ id, kind: "finish", unit_id: "m1" });

let sent: string[];
let outbox: Outbox;

beforeEach(() => {
  vi.useFakeTimers();
  sent = [];
  outbox = new Outbox(act => sent.push(act.id));
});

afterEach(() => {
  outbox.close();
  vi.useRealTimers();
});

const waiting = () => outbox.waiting.value.map(({ id }) => id);

test("acts go out in order, one at a time, each after the one before was acknowledged", () => {
  outbox.push(act("a"), act("b"));
  outbox.push(act("c"));
  expect(sent).toEqual(["a"]);
  expect(outbox.settle("a")).toBe(true);
  expect(sent).toEqual(["a", "b"]);
  outbox.settle("b");
  outbox.settle("c");
  expect(sent).toEqual(["a", "b", "c"]);
  expect(waiting()).toEqual([]);
});

test("pushing nothing sends nothing", () => {
  outbox.push();
  outbox.push(act("a"));
  outbox.push();
  expect(sent).toEqual(["a"]);
});

test("without an answer the act is late, and the same one is sent again until it is", () => {
  outbox.push(act("a"), act("b"));
  vi.advanceTimersByTime(PATIENCE_MS - 1);
  expect(outbox.late.value).toBe(false);
  expect(sent).toEqual(["a"]);
  vi.advanceTimersByTime(1);
  expect(outbox.late.value).toBe(true);
  vi.advanceTimersByTime(2 * PATIENCE_MS);
  expect(sent).toEqual(["a", "a", "a", "a"]);
  expect(waiting()).toEqual(["a", "b"]);
  outbox.settle("a");
  expect(outbox.late.value).toBe(false);
  expect(sent.at(-1)).toBe("b");
});

test("once all is acknowledged, nothing is sent any more", () => {
  outbox.push(act("a"));
  outbox.settle("a");
  vi.advanceTimersByTime(10 * PATIENCE_MS);
  expect(sent).toEqual(["a"]);
  expect(vi.getTimerCount()).toBe(0);
});

test("an answer to another act settles nothing", () => {
  outbox.push(act("a"), act("b"));
  expect(outbox.settle("b")).toBe(false);
  expect(outbox.settle("x")).toBe(false);
  expect(waiting()).toEqual(["a", "b"]);
  expect(sent).toEqual(["a"]);
});

test("a second acknowledgement of an act does not settle the next one", () => {
  outbox.push(act("a"), act("b"));
  outbox.settle("a");
  expect(outbox.settle("a")).toBe(false);
  expect(waiting()).toEqual(["b"]);
});

test("a failed act stays first and is sent again after a while", () => {
  outbox.push(act("a"), act("b"));
  outbox.fail("b");
  expect(outbox.late.value).toBe(false);
  outbox.fail("a");
  expect([outbox.late.value, outbox.failed.value]).toEqual([true, true]);
  expect(waiting()).toEqual(["a", "b"]);
  expect(sent).toEqual(["a"]);
  vi.advanceTimersByTime(PATIENCE_MS);
  expect(sent).toEqual(["a", "a"]);
});

test("trying now sends the first at once and starts the wait again", () => {
  outbox.push(act("a"), act("b"));
  vi.advanceTimersByTime(PATIENCE_MS - 1);
  outbox.retry();
  expect(sent).toEqual(["a", "a"]);
  vi.advanceTimersByTime(PATIENCE_MS - 1);
  expect(sent).toEqual(["a", "a"]);
  vi.advanceTimersByTime(1);
  expect(sent).toEqual(["a", "a", "a"]);
});

test("trying now with nothing to send does nothing", () => {
  outbox.retry();
  expect(sent).toEqual([]);
});

test("closing hands over what was not acknowledged and sends nothing more", () => {
  outbox.push(act("a"), act("b"));
  expect(outbox.close().map(({ id }) => id)).toEqual(["a", "b"]);
  vi.advanceTimersByTime(10 * PATIENCE_MS);
  expect(sent).toEqual(["a"]);
});

test("the shelf is one for the whole page, whichever bundle asks for it", async () => {
  shelf().set("work", [act("a")]);
  vi.resetModules();
  const again = await import("./outbox");
  expect(again.shelf).not.toBe(shelf);
  expect(again.shelf().get("work")).toEqual([act("a")]);
  shelf().delete("work");
});

test.each(["rule", "quote"] as const)("a refused %s takes none on another code of its text along", kind => {
  const sent: string[] = [];
  const outbox = new Outbox(act => sent.push(act.id));
  const rule = (id: string, code: string): Act => ({
    id,
    kind,
    unit_id: "m1",
    code,
    applied: true,
    reason: "slip",
  });
  outbox.push(rule("1", "warm"), rule("2", "kind"), rule("3", "warm"));
  expect(outbox.refuse("1")).toBe(1);
  expect([sent, outbox.waiting.value.map(({ id }) => id)]).toEqual([["1", "2"], ["2"]]);
  outbox.close();
});
