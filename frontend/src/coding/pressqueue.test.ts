// Pressing faster than texts come.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { PATIENCE_MS } from "../shared/outbox";
import { closeAll, kernel, place, press, ready, shown } from "./kernel.test.kit";
import { PAUSE_MS } from "../shared/pressqueue";
import type { Session } from "./session";

beforeEach(() => vi.useFakeTimers());

afterEach(() => {
  closeAll();
  vi.useRealTimers();
});

const code = (session: Session, id: string) => session.presses.inTurn(() => press(session, id));
const finish = (session: Session) => session.presses.inTurn(() => session.finishAndNext());
const undo = (session: Session) =>
  session.presses.inTurn(() => session.takeBack("undo"), { mustWait: session.mustWait("undo") });
const recorded = () =>
  kernel.recorded.map(({ kind, unit_id, code }) => [kind, unit_id, code].filter(Boolean).join(" "));

/** Let the kernel answer and what waited be done, until nothing more comes of it. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) {
    kernel.answer();
    await Promise.resolve();
  }
}

test("what is pressed while a text loads is done to that text, in order", async () => {
  const session = ready();
  session.goto(5);
  for (const id of ["affective", "cognitive"]) code(session, id);
  finish(session);
  code(session, "response");
  expect(kernel.acts()).toEqual([]);
  await settle();
  expect(recorded()).toEqual(["apply m5 affective", "apply m5 cognitive", "finish m5", "apply m0 response"]);
});

test("what is pressed after an undo is done to the text where that happened", async () => {
  const session = ready();
  code(session, "affective");
  finish(session);
  undo(session);
  code(session, "cognitive");
  finish(session);
  await settle();
  expect(recorded()).toEqual([
    "apply m0 affective",
    "finish m0",
    "undo m0",
    "apply m0 cognitive",
    "finish m0",
  ]);
});

test("a click on what was on screen is not done to another text, nor what was pressed after it", async () => {
  const session = ready();
  code(session, "affective");
  finish(session);
  undo(session);
  session.presses.inTurn(() => session.finish(), session.unit.value!);
  finish(session);
  await settle();
  expect(recorded()).toEqual(["apply m0 affective", "finish m0", "undo m0"]);
  expect(session.message.value).toMatch(/^2 key presses were ignored/);
});

test("what was begun on a text that is no longer on screen is not done to the one that is", () => {
  const session = ready();
  const unit = session.unit.value!;
  session.goto(1);
  session.presses.inTurn(() => session.finish(), unit);
  expect([kernel.acts(), session.message.value]).toEqual([
    [],
    expect.stringMatching(/^One key press was ignored/),
  ]);
});

test("where the text does not come, nothing of the burst is done, not even what comes after the text", async () => {
  const session = ready();
  session.goto(5);
  code(session, "affective");
  vi.advanceTimersByTime(PATIENCE_MS);
  expect(session.message.value).toMatch(/^One key press was ignored/);
  await settle();
  expect(place(session)).toBe(5);
  finish(session);
  expect(session.message.value).toMatch(/^2 key presses were ignored/);
  await settle();
  expect(recorded()).toEqual([]);
  vi.advanceTimersByTime(PAUSE_MS);
  code(session, "affective");
  expect(shown(session)).toEqual(["affective?"]);
});

test("a text that cannot be shown leaves the one before on screen, uncoded", async () => {
  const session = ready();
  session.goto(5);
  code(session, "affective");
  const { client, id } = kernel.received.at(-1)!;
  kernel.lose();
  kernel.tell({ type: "failed", message: "showing the text failed", client, id });
  await settle();
  expect([place(session), session.message.value]).toEqual([0, "showing the text failed"]);
  expect(recorded()).toEqual([]);
});

test("with an undo that cannot be saved, what follows is not taken; the rest is sent again", async () => {
  const session = ready();
  kernel.fate = "failed";
  code(session, "affective");
  undo(session);
  code(session, "cognitive");
  kernel.answer();
  await Promise.resolve();
  expect(session.presses.waiting.value).toEqual([]);
  expect(session.message.value).toMatch(/^One key press was ignored|no room/);
  kernel.fate = "done";
  vi.advanceTimersByTime(PATIENCE_MS);
  await settle();
  expect(recorded()).toEqual(["apply m0 affective", "undo m0"]);
});
