// Cutting a text, going from word to word, and the browser's selection as offsets.
import { describe, expect, test } from "vitest";
import type { Coding } from "./protocol";
import { extended, nextPiece, pieces, segments, selectedSpan, trimmed } from "./spans";

const coding = (start: number | null, end: number | null, code = "a"): Coding => ({
  code,
  start,
  end,
  valence: null,
  confidence: null,
});

const words = (text: string) => pieces(text, "word").map(({ start, end }) => text.slice(start, end));

/** A small generator with a fixed seed, so that a failure can be seen again (Park and Miller's). */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 48271) % 2147483647;
    return state % below;
  };
}

describe("segments", () => {
  test("an uncoded text is one segment, an empty text none", () => {
    expect(segments("abc", [], null)).toEqual([{ start: 0, end: 3, codings: [], selected: false }]);
    expect(segments("", [coding(null, null)], null)).toEqual([]);
  });

  test("a coding of the whole unit cuts nothing", () => {
    expect(segments("abc", [coding(null, null)], null)).toHaveLength(1);
  });

  test.each([
    ["overlapping", [coding(0, 4), coding(2, 6)], [[0, 2, [0]], [2, 4, [0, 1]], [4, 6, [1]], [6, 8, []]]],
    ["adjacent", [coding(0, 4), coding(4, 8)], [[0, 4, [0]], [4, 8, [1]]]],
    ["nested", [coding(1, 7), coding(3, 5)], [[0, 1, []], [1, 3, [0]], [3, 5, [0, 1]], [5, 7, [0]], [7, 8, []]]],
    ["equal", [coding(2, 5), coding(2, 5, "b")], [[0, 2, []], [2, 5, [0, 1]], [5, 8, []]]],
  ])("%s codings", (_, codings, expected) => {
    const found = segments("abcdefgh", codings, null);
    expect(found.map(({ start, end, codings }) => [start, end, codings])).toEqual(expected);
  });

  test("the selection cuts codings and is marked", () => {
    const found = segments("abcdefgh", [coding(0, 4)], { start: 2, end: 6 });
    expect(found.map(({ start, end, selected }) => [start, end, selected])).toEqual([
      [0, 2, false],
      [2, 4, true],
      [4, 6, true],
      [6, 8, false],
    ]);
  });

  test("the index of a coding counts those of the whole unit too", () => {
    expect(segments("abcd", [coding(null, null), coding(0, 2)], null)[0]!.codings).toEqual([1]);
  });

  test("segments join to the text, and each lies wholly within or outside of each coding", () => {
    const random = numbers(7);
    const text = "It 👍🏽 listened\n🇩🇪 cafe\u0301 كان لطيفا";
    for (let round = 0; round < 100; round++) {
      const codings = Array.from({ length: random(6) }, () => {
        const start = random(text.length);
        return coding(start, start + 1 + random(text.length - start));
      });
      const start = random(text.length);
      const selection = random(2) ? { start, end: start + 1 + random(text.length - start) } : null;
      const found = segments(text, codings, selection);
      expect(found.map((piece) => text.slice(piece.start, piece.end)).join("")).toBe(text);
      expect(found.every((piece) => piece.start < piece.end)).toBe(true);
      for (const piece of found) {
        for (let at = piece.start; at < piece.end; at++) {
          const covering = codings.flatMap((one, i) => (one.start! <= at && at < one.end! ? [i] : []));
          expect(piece.codings).toEqual(covering);
          expect(piece.selected).toBe(selection !== null && selection.start <= at && at < selection.end);
        }
      }
    }
  });
});

describe("trimmed", () => {
  test("white space goes from both ends, none from within", () => {
    expect(trimmed(" \n one  two\t ", { start: 0, end: 13 })).toEqual({ start: 3, end: 11 });
  });

  test("what is only white space is no selection", () => {
    expect(trimmed("a   b", { start: 1, end: 4 })).toBeNull();
    expect(trimmed("a b", { start: 1, end: 1 })).toBeNull();
  });

  test("a selection without white space is kept as it is", () => {
    expect(trimmed("👍🏽 yes", { start: 0, end: 4 })).toEqual({ start: 0, end: 4 });
  });
});

describe("pieces", () => {
  test("words leave out punctuation, spaces and line breaks", () => {
    expect(words("It listened – really!\n\nTwice.")).toEqual(["It", "listened", "really", "Twice"]);
  });

  test("a combining mark stays with its letter", () => {
    expect(words("a cafe\u0301 here")).toEqual(["a", "cafe\u0301", "here"]);
  });

  test("emoji and flags are never cut, and shift the words behind them by their UTF-16 length", () => {
    expect(words("👍🏽 yes 🇩🇪 no 👩‍👩‍👧 end")).toEqual(["yes", "no", "end"]);
    expect(pieces("👍🏽 yes", "word")).toEqual([{ start: 5, end: 8 }]);
  });

  test("right-to-left words come in reading order", () => {
    expect(words("كان لطيفا جدا معي")).toEqual(["كان", "لطيفا", "جدا", "معي"]);
  });

  test("sentences go without the white space between them", () => {
    const text = "It listened. It cared!\n\nDid it?";
    const found = pieces(text, "sentence").map(({ start, end }) => text.slice(start, end));
    expect(found).toEqual(["It listened.", "It cared!", "Did it?"]);
  });

  test("no words, no pieces", () => {
    expect(pieces(" \n … ", "word")).toEqual([]);
    expect(pieces("", "sentence")).toEqual([]);
  });
});

describe("selecting by keyboard", () => {
  const spans = pieces("one two three", "word");
  const [one, two, three] = [spans[0]!, spans[1]!, spans[2]!];

  test("the next piece goes round at the end, the previous one at the start", () => {
    expect(nextPiece(spans, null, 1)).toEqual(one);
    expect(nextPiece(spans, one, 1)).toEqual(two);
    expect(nextPiece(spans, three, 1)).toEqual(one);
    expect(nextPiece(spans, null, -1)).toEqual(three);
    expect(nextPiece(spans, one, -1)).toEqual(three);
    expect(nextPiece(spans, three, -1)).toEqual(two);
    expect(nextPiece([], null, 1)).toBeNull();
  });

  test("from a selection made by mouse it goes to the word that begins behind or before its start", () => {
    expect(nextPiece(spans, { start: 1, end: 6 }, 1)).toEqual(two);
    expect(nextPiece(spans, { start: 5, end: 6 }, -1)).toEqual(two);
  });

  test("extending moves the end by a word and stops at the last one", () => {
    expect(extended(spans, null, 1)).toEqual(one);
    expect(extended(spans, one, 1)).toEqual({ start: 0, end: 7 });
    expect(extended(spans, { start: 0, end: 5 }, 1)).toEqual({ start: 0, end: 7 });
    expect(extended(spans, { start: 0, end: 13 }, 1)).toEqual({ start: 0, end: 13 });
  });

  test("shrinking moves the end back and keeps the last word", () => {
    expect(extended(spans, { start: 0, end: 13 }, -1)).toEqual({ start: 0, end: 7 });
    expect(extended(spans, one, -1)).toEqual(one);
    expect(extended(spans, null, -1)).toEqual(one);
  });

  test("extending over an emoji takes all of it", () => {
    const text = "so 👩‍👩‍👧 kind";
    const taken = extended(pieces(text, "word"), { start: 0, end: 2 }, 1)!;
    expect(text.slice(taken.start, taken.end)).toBe(text);
  });
});

describe("the browser's selection", () => {
  // The text as the reader shows it: one text node a segment.
  function shown(...parts: string[]): { box: HTMLElement; nodes: Node[] } {
    document.body.replaceChildren();
    const before = document.createElement("p");
    before.textContent = "before";
    const after = document.createElement("p");
    after.textContent = "after";
    const box = document.createElement("div");
    for (const part of parts) {
      const span = document.createElement("span");
      span.textContent = part;
      box.append(span);
    }
    document.body.append(before, box, after);
    return { box, nodes: [before, ...box.children, after].map((element) => element.firstChild!) };
  }

  function select(from: Node, start: number, to: Node, end: number): void {
    const range = document.createRange();
    range.setStart(from, start);
    range.setEnd(to, end);
    const selection = document.getSelection()!;
    selection.removeAllRanges();
    selection.addRange(range);
  }

  test("offsets count the text before, in UTF-16 units", () => {
    const { box, nodes } = shown("It 👍🏽 ", "listened\n", "well");
    select(nodes[2]!, 2, nodes[3]!, 1);
    expect(selectedSpan(box)).toEqual({ start: 10, end: 18 });
  });

  test("a drag that leaves the text is cut at its ends", () => {
    const { box, nodes } = shown("one ", "two");
    select(nodes[0]!, 2, nodes[1]!, 3);
    expect(selectedSpan(box)).toEqual({ start: 0, end: 3 });
    select(nodes[2]!, 1, nodes[3]!, 2);
    expect(selectedSpan(box)).toEqual({ start: 5, end: 7 });
    select(nodes[0]!, 0, nodes[3]!, 2);
    expect(selectedSpan(box)).toEqual({ start: 0, end: 7 });
  });

  test("a selection elsewhere, a caret or none is no selection", () => {
    const { box, nodes } = shown("one ", "two");
    select(nodes[0]!, 0, nodes[0]!, 3);
    expect(selectedSpan(box)).toBeNull();
    select(nodes[1]!, 2, nodes[1]!, 2);
    expect(selectedSpan(box)).toBeNull();
    document.getSelection()!.removeAllRanges();
    expect(selectedSpan(box)).toBeNull();
  });
});
