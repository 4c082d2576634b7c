// The labels of words, and the letter of a press.
import { expect, test } from "vitest";
import { labels, letterOf } from "./letters";

test.each([0, 1, 26, 27, 300, 676, 900])(
  "%d words have labels of one length, each another, of which none begins another",
  n => {
    const all = labels(n);
    expect(all).toHaveLength(Math.min(n, n <= 26 ? 26 : 676));
    expect(new Set(all).size).toBe(all.length);
    expect(new Set(all.map(label => label.length)).size).toBeLessThanOrEqual(1);
    expect(all.every(label => /^[a-z]{1,2}$/.test(label))).toBe(true);
  },
);

test("a letter is one on any keyboard, by its place where it writes another; with Ctrl it is none", () => {
  const letter = (key: string, code = "", more = {}) =>
    letterOf(new KeyboardEvent("keydown", { key, code, ...more }));
  expect([letter("f"), letter("F"), letter("а", "KeyF"), letter("ש", "KeyA")]).toEqual(["f", "f", "f", "a"]);
  expect([
    letter("1", "Digit1"),
    letter("Enter", "Enter"),
    letter("f", "KeyF", { ctrlKey: true }),
    letter("ö", "Semicolon"),
  ]).toEqual([null, null, null, null]);
});
