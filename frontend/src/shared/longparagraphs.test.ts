// Where a long paragraph is cut: at the beginnings of its lines, and nowhere else.
import { expect, test } from "vitest";
import { cutAtLines } from "./longparagraphs";

/** Lines of so many characters. */
const lines = (length: number) => (offset: number, than: number) => Math.floor(offset / length) > Math.floor(than / length);

test("a long paragraph is cut where a line begins, a short one and one from right to left nowhere", () => {
  const text = "It listened. ".repeat(1000);
  const starts = cutAtLines(text, lines(83))!;
  expect(starts[0]).toBe(0);
  expect(starts.every((start) => start % 83 === 0)).toBe(true);
  const sizes = starts.map((start, index) => (starts[index + 1] ?? text.length) - start);
  expect(Math.min(...sizes.slice(0, -1))).toBeGreaterThan(1000);
  expect(Math.max(...sizes)).toBeLessThan(2100);
  expect(cutAtLines(`${"It listened. ".repeat(90)}\n`.repeat(20), lines(83))).toBeNull();
  expect(cutAtLines(`${text}كان لطيفا`, lines(83))).toBeNull();
  const two = cutAtLines(`${"x".repeat(1100)}\n${text}`, lines(83))!;
  expect(two.slice(0, 2)).toEqual([0, 1101]);
});

test("where no line can be measured, nothing is cut", () => {
  const text = "It listened. ".repeat(1000);
  expect(cutAtLines(text, () => null)).toBeNull();
  expect(cutAtLines(text, () => false)).toBeNull();
});
