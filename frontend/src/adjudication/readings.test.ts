// The lines of the readings: who applied the code first, and never more than the text leaves room for.
import { expect, test } from "vitest";
import type { Reading } from "./messages";
import { linesOf } from "./readings";

const readings = (...decided: (boolean | null)[]): Reading[] =>
  decided.map((applied, at) => ({ coder: "abcdefghijklmno"[at]!, applied, codings: [], memos: [] }));
const lines = (...decided: (boolean | null)[]) =>
  linesOf(readings(...decided)).map(line => line.map(({ coder }) => coder).join(""));

const [yes, no] = [true, false];

test.each([
  [
    "up to six coders have a line each, those who applied the code first",
    [no, yes, null, yes, no, no],
    ["b", "d", "a", "e", "f", "c"],
  ],
  [
    "of seven, those who no decision share one first",
    [yes, yes, no, no, no, null, null],
    ["a", "b", "c", "d", "e", "fg"],
  ],
  ["then those who did not apply it", [no, yes, no, yes, no, no, no], ["b", "d", "acefg"]],
  ["then those who did", [yes, yes, yes, yes, yes, yes, no, null], ["abcdef", "g", "h"]],
  ["a single one keeps the line", [yes, yes, yes, yes, yes, yes, yes, no], ["abcdefg", "h"]],
])("%s", (_, decided, expected) => {
  expect(lines(...decided)).toEqual(expected);
});
