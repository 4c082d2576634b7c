// Where a long paragraph is cut: at the beginnings of its lines, and nowhere else.
import { h, render } from "preact";
import { useRef } from "preact/hooks";
import { expect, test, vi } from "vitest";
import { cutAtLines, SETTLED_MS, useLongParagraphs } from "./longparagraphs";

/** Lines of so many characters. */
const lines = (length: number) => (offset: number, than: number) =>
  Math.floor(offset / length) > Math.floor(than / length);

test("a long paragraph is cut where a line begins, a short one and one from right to left nowhere", () => {
  const text = "It listened. ".repeat(1000);
  const starts = cutAtLines(text, lines(83))!;
  expect(starts[0]).toBe(0);
  expect(starts.every(start => start % 83 === 0)).toBe(true);
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

test.each(["has left the page", "gave way to another"])(
  "a text that %s is not measured any more",
  async how => {
    vi.useFakeTimers({
      toFake: ["setTimeout", "clearTimeout", "requestAnimationFrame", "cancelAnimationFrame"],
    });
    const wide = vi
      .spyOn(HTMLElement.prototype, "getBoundingClientRect")
      .mockReturnValue({ width: 300 } as DOMRect);
    let changed = () => {};
    vi.stubGlobal(
      "ResizeObserver",
      class {
        constructor(told: () => void) {
          changed = told;
        }
        observe() {}
        disconnect() {}
      },
    );
    function Text({ text }: { text: string }) {
      const box = useRef<HTMLDivElement>(null);
      useLongParagraphs(box, text, false, false);
      return h("div", { ref: box }, text);
    }
    const root = document.createElement("div");
    render(h(Text, { text: "It listened. ".repeat(1000) }), root);
    vi.advanceTimersByTime(40); // its effects run
    changed();
    await Promise.resolve();
    vi.advanceTimersByTime(40);
    expect(wide).toHaveBeenCalled();
    vi.advanceTimersByTime(SETTLED_MS - 35);
    // The text goes just before it would be measured, and no frame is drawn in between.
    const read = vi.spyOn(document, "createTreeWalker");
    render(how === "has left the page" ? null : h(Text, { text: "It spoke." }), root);
    vi.advanceTimersByTime(1000);
    expect(read).not.toHaveBeenCalled();
    read.mockRestore();
    wide.mockRestore();
    vi.unstubAllGlobals();
    vi.useRealTimers();
  },
);

test("where a coding gives a piece another line, the text is one again and its lines are measured anew", async () => {
  vi.useFakeTimers({
    toFake: ["setTimeout", "clearTimeout", "requestAnimationFrame", "cancelAnimationFrame"],
  });
  const wide = vi
    .spyOn(HTMLElement.prototype, "getBoundingClientRect")
    .mockReturnValue({ width: 300 } as DOMRect);
  const observers: {
    told: (entries: { target: Element; contentRect: { height: number } }[]) => void;
    at: Element[];
  }[] = [];
  vi.stubGlobal(
    "ResizeObserver",
    class {
      at: Element[] = [];
      constructor(readonly told: () => void) {
        observers.push(this);
      }
      observe(target: Element) {
        this.at.push(target);
      }
      disconnect() {
        this.at = [];
      }
    },
  );
  // Each character stands on a line of 83.
  const rects = vi.spyOn(Range.prototype, "getClientRects").mockImplementation(function (this: Range) {
    let before = 0;
    for (let node = this.startContainer.parentNode!.previousSibling; node; node = node.previousSibling)
      before += node.textContent!.length;
    return [{ top: Math.floor((before + this.startOffset) / 83) * 20, height: 20 }] as unknown as DOMRectList;
  });
  const text = "It listened. ".repeat(1000);
  const shown: (readonly number[] | null)[] = [];
  function Text() {
    const box = useRef<HTMLDivElement>(null);
    const starts = useLongParagraphs(box, text, false, false);
    shown.push(starts);
    return h(
      "div",
      { ref: box },
      (starts ?? [0]).map((start, index) => h("div", { key: start }, text.slice(start, starts?.[index + 1]))),
    );
  }
  const settle = async (ms: number) => {
    for (let n = 0; n < 6; n++) {
      vi.advanceTimersByTime(ms / 6);
      await Promise.resolve();
    }
  };
  const root = document.createElement("div");
  render(h(Text, null), root);
  await settle(60);
  observers[0]!.told([]);
  await settle(SETTLED_MS + 120);
  expect(shown.at(-1)!.length).toBeGreaterThan(10);
  const pieces = observers.at(-1)!;
  expect(pieces.at.length).toBe(shown.at(-1)!.length);
  pieces.told(pieces.at.map(target => ({ target, contentRect: { height: 260 } })));
  await settle(60);
  expect(shown.at(-1)).not.toBeNull();
  pieces.told([{ target: pieces.at[2]!, contentRect: { height: 280 } }]);
  await settle(60);
  expect(shown.at(-1)).toBeNull();
  await settle(SETTLED_MS + 120);
  expect(shown.at(-1)!.length).toBeGreaterThan(10);
  render(null, root);
  rects.mockRestore();
  wide.mockRestore();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});
