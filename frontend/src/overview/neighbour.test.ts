// Arrow keys between numbers: the nearest one in that direction.
import { expect, test } from "vitest";
import { axisFrom, place, points } from "./charts";
import { neighbour, type Box } from "./neighbour";

const box = (left: number, top: number): Box => ({ left, right: left + 40, top, bottom: top + 20 });
// Two columns, the right one of which begins lower, and a number far to the right in the first line.
const BOXES = [box(0, 0), box(0, 30), box(0, 60), box(200, 40), box(200, 70)];

test("an arrow goes to the nearest number in its direction and stays where there is none", () => {
  expect(neighbour(BOXES, 0, "ArrowDown")).toBe(1);
  expect(neighbour(BOXES, 2, "ArrowUp")).toBe(1);
  expect(neighbour(BOXES, 1, "ArrowRight")).toBe(3);
  expect(neighbour(BOXES, 4, "ArrowLeft")).toBe(2);
  expect([
    neighbour(BOXES, 0, "ArrowUp"),
    neighbour(BOXES, 0, "ArrowLeft"),
    neighbour(BOXES, 3, "ArrowRight"),
  ]).toEqual([null, null, null]);
});

test("home and end go to the first and last, and any key to the first where nothing is marked", () => {
  expect([neighbour(BOXES, 2, "Home"), neighbour(BOXES, 2, "End")]).toEqual([0, 4]);
  expect([neighbour(BOXES, -1, "ArrowDown"), neighbour([], -1, "End")]).toEqual([0, null]);
});

test("a column of numbers is gone down one by one, none is left out", () => {
  const column = Array.from({ length: 9 }, (_, n) => box(n % 2 ? 6 : 0, 25 * n));
  const way = [0];
  for (
    let next = neighbour(column, 0, "ArrowDown");
    next !== null;
    next = neighbour(column, next, "ArrowDown")
  )
    way.push(next);
  expect(way).toEqual(column.map((_, n) => n));
});

test("an axis begins at 0, or at a fifth below where an interval goes below it", () => {
  expect([axisFrom([]), axisFrom([null, 0.3]), axisFrom([-0.05, 0.1]), axisFrom([-3])]).toEqual([
    0, 0, -0.2, -1,
  ]);
  expect([place(0, 0), place(0.667, 0), place(1, -0.2), place(-2, -1), place(0.4, -0.2)]).toEqual([
    "0%",
    "66.7%",
    "100%",
    "0%",
    "50%",
  ]);
});

test("a line goes from the left to the right, and 0 lies on its axis", () => {
  expect(points([0, 1, 2], 2)).toEqual([
    [0, 100],
    [50, 50],
    [100, 0],
  ]);
  expect([points([3], 3), points([0, 0], 0)]).toEqual([
    [[50, 0]],
    [
      [0, 100],
      [100, 100],
    ],
  ]);
});
