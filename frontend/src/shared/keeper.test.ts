// Keeping what is typed: the latest, after a pause, and never two at once.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Keeper } from "./keeper";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("the latest is sent after a pause, the next one once that is answered, and all of it as the page goes", () => {
  const sent: string[] = [];
  const keeper = new Keeper<string>(kept => void sent.push(kept));
  for (const typed of ["o", "of", "off"]) {
    keeper.keep(typed);
    vi.advanceTimersByTime(120);
  }
  expect(sent).toEqual([]);
  vi.advanceTimersByTime(100);
  expect(sent).toEqual(["off"]); // also where somebody types on and on
  keeper.keep("offe");
  vi.advanceTimersByTime(10_000);
  expect(sent).toEqual(["off"]); // the one before may be asked again, and must not come after
  keeper.answered();
  vi.advanceTimersByTime(400);
  expect(sent).toEqual(["off", "offe"]);
  keeper.keep("offer");
  keeper.close();
  expect(sent).toEqual(["off", "offe", "offer"]);
  keeper.keep("x");
});

test("a page that goes sends what waits", () => {
  const sent: string[] = [];
  const keeper = new Keeper<string>(kept => void sent.push(kept));
  keeper.keep("half a sen");
  dispatchEvent(new Event("pagehide"));
  expect(sent).toEqual(["half a sen"]);
  keeper.close();
  expect(sent).toEqual(["half a sen"]);
});
