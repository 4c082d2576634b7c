// Where a code goes when it is moved by a key or dropped.
import { expect, test } from "vitest";
import { code } from "../shared/code.test.kit";
import { dropped, isWithin, moved } from "./moving";

const under = (id: string, parent: string | null = null) => ({ ...code(id, null), parent });
// a, b (with c, d under it), e
const CODES = [under("a"), under("b"), under("c", "b"), under("d", "b"), under("e")];

test("a code goes up and down among those beside it", () => {
  expect(moved(CODES, "b", "up")).toEqual({ parent: null, before: "a" });
  expect(moved(CODES, "a", "down")).toEqual({ parent: null, before: "e" });
  expect(moved(CODES, "b", "down")).toEqual({ parent: null, before: null });
  expect(moved(CODES, "a", "up")).toBeNull();
  expect(moved(CODES, "d", "down")).toBeNull();
});

test("a code goes under the one above it, and out of the one that it stands under", () => {
  expect(moved(CODES, "e", "in")).toEqual({ parent: "b", before: null });
  expect(moved(CODES, "a", "in")).toBeNull();
  expect(moved(CODES, "c", "out")).toEqual({ parent: null, before: "e" });
  expect(moved(CODES, "a", "out")).toBeNull();
  expect(moved(CODES, "nowhere", "up")).toBeNull();
});

test("a code is dropped before, into or after another", () => {
  expect(dropped(CODES, "a", "e", "before")).toEqual({ parent: null, before: "e" });
  expect(dropped(CODES, "a", "b", "after")).toEqual({ parent: null, before: "e" });
  expect(dropped(CODES, "a", "e", "after")).toEqual({ parent: null, before: null });
  expect(dropped(CODES, "a", "c", "into")).toEqual({ parent: "c", before: null });
});

test("a code dropped below one whose codes are in sight becomes the first of them", () => {
  expect(dropped(CODES, "a", "b", "after", true)).toEqual({ parent: "b", before: "c" });
  expect(dropped(CODES, "d", "b", "after", true)).toEqual({ parent: "b", before: "c" });
});

test("a code is not dropped on itself, or where it stands; which codes stand below it is known", () => {
  for (const drop of ["before", "into", "after"] as const) expect(dropped(CODES, "a", "a", drop)).toBeNull();
  expect([
    isWithin(CODES, "c", "b"),
    isWithin(CODES, "b", "b"),
    isWithin(CODES, "b", "c"),
    isWithin(CODES, "a", "b"),
  ]).toEqual([true, true, false, false]);
  expect(dropped(CODES, "b", "a", "after")).toBeNull();
  expect(dropped(CODES, "b", "e", "before")).toBeNull();
  expect(dropped(CODES, "d", "b", "into")).toBeNull();
  expect(dropped(CODES, "c", "b", "after", true)).toBeNull();
});
