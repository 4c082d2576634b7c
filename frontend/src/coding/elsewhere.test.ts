// The same coder codes in another window: what comes from there, and what waits until it was on the screen.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Act } from "../shared/protocol";
import { closeAll, kernel, place, press, ready, shown } from "./kernel.test.kit";

beforeEach(() => vi.useFakeTimers());

afterEach(() => {
  closeAll();
  vi.useRealTimers();
});

const theirs = (unit_id: string, code: string): Act => ({
  id: `${unit_id}${code}`,
  kind: "apply",
  unit_id,
  code,
  start: null,
  end: null,
});

test("an answer brings it along: it is on the screen, and the status line says so", () => {
  const session = ready();
  kernel.elsewhere(theirs("m0", "cognitive"), theirs("m1", "response"));
  press(session, "affective");
  kernel.answer();
  expect(shown(session)).toEqual(["cognitive", "affective"]);
  expect(session.announced.value).toBe("2 codings came from another window");
  expect(session.flags.value).toBe("cc....");
  session.step(1); // which was fetched before
  kernel.answer();
  expect(shown(session)).toEqual(["response"]);
});

test("a finish is not recorded over it, and is once it was pressed again; then the message goes", () => {
  const session = ready();
  kernel.elsewhere(theirs("m0", "cognitive"));
  session.finish();
  kernel.answer();
  expect([session.unit.value!.finished, session.message.value]).toEqual([false, "Not finished: look at it"]);
  expect(shown(session)).toEqual(["cognitive"]);
  session.finish();
  kernel.answer();
  expect([session.unit.value!.finished, session.message.value]).toEqual([true, null]);
});

test("a finish that was pressed before it was on the screen is not recorded either", () => {
  const session = ready();
  kernel.elsewhere(theirs("m0", "cognitive"));
  press(session, "affective");
  session.finishAndNext(); // in the same burst
  kernel.answer();
  expect(place(session)).toBe(1);
  expect(session.message.value).toBe("Text m0: Not finished: look at it");
  expect(kernel.recorded.map(({ kind }) => kind)).toEqual(["apply", "apply"]);
  session.step(-1);
  kernel.answer();
  expect(shown(session)).toEqual(["cognitive", "affective"]);
  session.finishAndNext();
  kernel.answer();
  expect([session.finished.value, session.message.value]).toEqual([1, null]);
});

test("codings, facets, memos and a finish in one burst of one's own are one's own", () => {
  const session = ready();
  press(session, "affective");
  session.toggleUnsure();
  session.saveMemo(session.unit.value!, "Hm.");
  session.finish();
  kernel.answer();
  session.finish();
  session.remove();
  session.finishAndNext();
  kernel.answer();
  expect([session.finished.value, session.message.value]).toEqual([1, null]);
});
