// Days above what was done on them.
import { expect, test } from "vitest";
import { byDay } from "./times";

test("each day stands above its acts, in the reader's own time", () => {
  const at = (day: number, hour: number) => new Date(2026, 0, day, hour).getTime();
  expect(byDay([at(3, 1), at(2, 23), at(2, 0)]).map(line => ("day" in line ? "day" : line.index))).toEqual([
    "day",
    0,
    "day",
    1,
    2,
  ]);
  expect(byDay([])).toEqual([]);
});
