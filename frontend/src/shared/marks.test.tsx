// A long text with many codings: what is drawn anew, and what stays.
import { options, render, type VNode } from "preact";
import { expect, test } from "vitest";
import { code } from "./code.test.kit";
import { CodebookView } from "./codebook";
import { MarkedText } from "./marks";
import { numbers } from "./numbers.test.kit";
import type { Coding, Span } from "./protocol";
import { blocks } from "./spans";

const text = `${"It listened to what I said. ".repeat(50)}\n`.repeat(140);
const starts = blocks(text);
const book = new CodebookView();
book.codebook.value = {
  title: "Book",
  version: "1",
  facets: [],
  codes: ["1", "2", "3"].map(key => code(`c${key}`, key)),
};
const random = numbers(3);
const codings = Array.from({ length: 2000 }, (_, index): Coding => {
  const start = random(text.length - 250);
  return { code: `c${1 + (index % 3)}`, start, end: start + 10 + random(240), facets: {}, confidence: null };
});

function drawing() {
  const marked = new MarkedText();
  return (selection: Span | null, active: number, some = codings) =>
    marked
      .draw({ unit: { unit_id: "m1", text, codings: some }, book, selection, active, starts })
      .flatMap(block => (block as VNode<{ views: VNode[] }>).props.views);
}

test("a selection, a mark or a coding draws only its own pieces anew", () => {
  const draw = drawing();
  const first = draw(null, -1);
  expect(first.length).toBeGreaterThan(3500);
  const anew = (pieces: VNode[], than: VNode[]) => {
    const known = new Set(than);
    return pieces.filter(piece => !known.has(piece)).length;
  };
  const selected = draw({ start: 90_000, end: 90_040 }, -1);
  expect(anew(selected, first)).toBeLessThan(12);
  const active = draw({ start: 90_000, end: 90_040 }, 5);
  expect(anew(active, selected)).toBeLessThan(30);
  // What the kernel answers looks the same, and is another object.
  const answered = draw({ start: 90_000, end: 90_040 }, 5, structuredClone(codings));
  expect(anew(answered, active)).toBe(0);
  const more = draw(null, 5, [...codings, { ...codings[0]!, code: "c3", start: 90_000, end: 90_040 }]);
  expect(anew(more, active)).toBeLessThan(60);
});

test("of a text on screen, a change compares the nodes of its own paragraph alone", () => {
  const marked = new MarkedText();
  const root = document.createElement("div");
  const show = (selection: Span | null, some = codings) =>
    render(
      marked.draw({ unit: { unit_id: "m1", text, codings: some }, book, selection, active: -1, starts }),
      root,
    );
  const before = options.diffed;
  let compared = 0;
  options.diffed = node => (compared++, before?.(node));
  try {
    show(null);
    expect(compared).toBeGreaterThan(3500);
    compared = 0;
    show({ start: 90_000, end: 90_040 });
    expect(compared).toBeLessThan(600);
    compared = 0;
    show({ start: 90_000, end: 90_040 }, structuredClone(codings));
    expect(compared).toBeLessThan(300);
  } finally {
    options.diffed = before;
  }
  expect(root.textContent).toBe(text);
});

test("a coding in the midst, taken away or answered, leaves the others as they look", () => {
  const marked = new MarkedText();
  const fresh = (some: Coding[]) =>
    new MarkedText().draw({
      unit: { unit_id: "m1", text, codings: some },
      book,
      selection: null,
      active: 7,
      starts,
    });
  const shown = (blocks: VNode[]) => {
    const root = document.createElement("div");
    render(blocks, root);
    return root.innerHTML;
  };
  const without = codings.filter((_, index) => index !== 900 && index !== 1500);
  const pending = codings.map((coding, index) => (index === 40 ? { ...coding, pending: true } : coding));
  for (const some of [codings, without, pending, codings, [...without].reverse(), []]) {
    const draw = marked.draw({
      unit: { unit_id: "m1", text, codings: some },
      book,
      selection: null,
      active: 7,
      starts,
    });
    expect(shown(draw)).toBe(shown(fresh(some)));
  }
});

test("what all pieces share draws all anew: another look of the codes, another text", () => {
  const draw = drawing();
  const first = draw(null, -1);
  book.codebook.value = {
    ...book.codebook.value!,
    codes: book.list.value.map(one => ({ ...one, colour: "#112233" })),
  };
  const second = draw(null, -1);
  expect(second.some(piece => first.includes(piece))).toBe(false);
});
