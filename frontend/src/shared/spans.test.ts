// Cutting a text at its codings, and the lanes of their lines.
import { describe, expect, test } from "vitest";
import { numbers } from "./numbers.test.kit";
import type { Coding } from "./protocol";
import { blocks, lanes, segments, trimmed, withSelection } from "./spans";

const coding = (start: number | null, end: number | null, code = "a"): Coding => ({
  code,
  start,
  end,
  facets: {},
  confidence: null,
});

describe("segments", () => {
  test("an uncoded text is one segment, an empty text none", () => {
    expect(segments("abc", [])).toEqual([{ start: 0, end: 3, codings: [], selected: false }]);
    expect(segments("", [coding(null, null)])).toEqual([]);
  });

  test("a coding of the whole unit cuts nothing", () => {
    expect(segments("abc", [coding(null, null)])).toHaveLength(1);
  });

  test.each([
    [
      "overlapping",
      [coding(0, 4), coding(2, 6)],
      [
        [0, 2, [0]],
        [2, 4, [0, 1]],
        [4, 6, [1]],
        [6, 8, []],
      ],
    ],
    [
      "adjacent",
      [coding(0, 4), coding(4, 8)],
      [
        [0, 4, [0]],
        [4, 8, [1]],
      ],
    ],
    [
      "nested",
      [coding(1, 7), coding(3, 5)],
      [
        [0, 1, []],
        [1, 3, [0]],
        [3, 5, [0, 1]],
        [5, 7, [0]],
        [7, 8, []],
      ],
    ],
    [
      "equal",
      [coding(2, 5), coding(2, 5, "b")],
      [
        [0, 2, []],
        [2, 5, [0, 1]],
        [5, 8, []],
      ],
    ],
  ])("%s codings", (_, codings, expected) => {
    const found = segments("abcdefgh", codings);
    expect(found.map(({ start, end, codings }) => [start, end, codings])).toEqual(expected);
  });

  test("the selection cuts codings and is marked", () => {
    const found = withSelection(segments("abcdefgh", [coding(0, 4)]), { start: 2, end: 6 });
    expect(found.map(({ start, end, selected }) => [start, end, selected])).toEqual([
      [0, 2, false],
      [2, 4, true],
      [4, 6, true],
      [6, 8, false],
    ]);
  });

  test("the index of a coding counts those of the whole unit too", () => {
    expect(segments("abcd", [coding(null, null), coding(0, 2)])[0]!.codings).toEqual([1]);
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
      const found = withSelection(segments(text, codings, random(2) ? [random(text.length)] : []), selection);
      expect(found.map(piece => text.slice(piece.start, piece.end)).join("")).toBe(text);
      expect(found.every(piece => piece.start < piece.end)).toBe(true);
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

describe("lanes", () => {
  test("codings that overlap have lanes of their own, and no more than overlap", () => {
    const random = numbers(11);
    for (let round = 0; round < 200; round++) {
      const codings = Array.from({ length: random(12) }, () => {
        const start = random(40);
        return random(8) ? coding(start, start + 1 + random(12)) : coding(null, null);
      });
      const found = lanes(codings);
      codings.forEach((one, i) =>
        codings.slice(0, i).forEach((other, j) => {
          const overlap =
            one.start !== null && other.start !== null && one.start < other.end! && other.start < one.end!;
          if (overlap) expect(found[i]).not.toBe(found[j]);
        }),
      );
      const depth = Math.max(0, ...segments("x".repeat(60), codings).map(piece => piece.codings.length));
      expect(Math.max(0, ...found.map(lane => lane + 1)) - depth).toBeLessThanOrEqual(depth ? 0 : 1);
    }
  });

  test("of codings that begin together, the longer is above", () => {
    expect(lanes([coding(2, 4), coding(2, 9), coding(null, null)])).toEqual([1, 0, 0]);
  });
});

test("20,000 codings are cut and put into lanes in the time that their number asks for, not its square", () => {
  const random = numbers(5);
  const codings = Array.from({ length: 20_000 }, () => {
    const start = random(2_000_000);
    return coding(start, start + 1 + random(250));
  });
  const begin = performance.now();
  expect(segments("x".repeat(2_001_000), codings).length).toBeGreaterThan(35_000);
  expect(lanes(codings)).toHaveLength(20_000);
  // By the square it takes ten seconds.
  expect(performance.now() - begin).toBeLessThan(5000);
});

describe("blocks", () => {
  test("begin behind line breaks, and a short text or one without them is one block", () => {
    expect([blocks(""), blocks("a\nb"), blocks("x".repeat(5000)), blocks(`${"x".repeat(1200)}\n`)]).toEqual([
      [],
      [0],
      [0],
      [0],
    ]);
    const text = `${"x".repeat(600)}\n`.repeat(5);
    expect(blocks(text)).toEqual([0, 1202, 2404]);
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
