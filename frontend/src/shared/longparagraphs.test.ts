// Where a long paragraph is cut: at the beginnings of its lines, and nowhere else.
import { h, render } from "preact";
import { useRef } from "preact/hooks";
import { expect, test, vi } from "vitest";
import { cutAtLines, SETTLED_MS, useLongParagraphs } from "./longparagraphs";

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

test("a text that has left the page is not measured any more", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "requestAnimationFrame", "cancelAnimationFrame"] });
  const wide = vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(300);
  let changed = () => {};
  vi.stubGlobal("ResizeObserver", class {
    constructor(told: () => void) { changed = told; }
    observe() {}
    disconnect() {}
  });
  function Text() {
    const box = useRef<HTMLDivElement>(null);
    const text = "It listened. ".repeat(1000);
    useLongParagraphs(box, text, false, false);
    return h("div", { ref: box }, text);
  }
  const root = document.createElement("div");
  render(h(Text, null), root);
  vi.advanceTimersByTime(40); // its effects run
  changed();
  await Promise.resolve();
  vi.advanceTimersByTime(40);
  expect(wide).toHaveBeenCalled();
  vi.advanceTimersByTime(SETTLED_MS - 35);
  // The text goes just before it would be measured, and its effects end only after the next frame.
  const read = vi.spyOn(document, "createTreeWalker");
  render(null, root);
  vi.advanceTimersByTime(1000);
  expect(read).not.toHaveBeenCalled();
  read.mockRestore();
  wide.mockRestore();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});
