// Going from word to word, moving the edges of a selection, snapping to words.
import { describe, expect, test } from "vitest";
import { moved, nextPiece, pieces, snapped } from "./words";

const words = (text: string) => pieces(text, "word").map(({ start, end }) => text.slice(start, end));

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
    expect(moved(spans, null, "end", 1)).toEqual(one);
    expect(moved(spans, one, "end", 1)).toEqual({ start: 0, end: 7 });
    expect(moved(spans, { start: 0, end: 5 }, "end", 1)).toEqual({ start: 0, end: 7 });
    expect(moved(spans, { start: 0, end: 13 }, "end", 1)).toEqual({ start: 0, end: 13 });
  });

  test("shrinking moves the end back and keeps the last word", () => {
    expect(moved(spans, { start: 0, end: 13 }, "end", -1)).toEqual({ start: 0, end: 7 });
    expect(moved(spans, one, "end", -1)).toEqual(one);
    expect(moved(spans, null, "end", -1)).toEqual(one);
  });

  test("the start moves as the end does, and neither passes the other", () => {
    expect(moved(spans, three, "start", -1)).toEqual({ start: 4, end: 13 });
    expect(moved(spans, { start: 0, end: 13 }, "start", 1)).toEqual({ start: 4, end: 13 });
    expect(moved(spans, three, "start", 1)).toEqual(three);
    expect(moved(spans, one, "start", -1)).toEqual(one);
    expect(moved(spans, { start: 5, end: 13 }, "start", -1)).toEqual({ start: 4, end: 13 });
  });

  test("extending over an emoji takes all of it", () => {
    const text = "so 👩‍👩‍👧 kind";
    const taken = moved(pieces(text, "word"), { start: 0, end: 2 }, "end", 1)!;
    expect(text.slice(taken.start, taken.end)).toBe(text);
  });
});

describe("snapping", () => {
  const taken = (text: string, start: number, end: number, granularity: "word" | "sentence" = "word") => {
    const span = snapped(text, { start, end }, granularity);
    return span && text.slice(span.start, span.end);
  };

  test.each([
    ["within words", "It listened well", 5, 14, "listened well"],
    ["from white space to white space", "It listened well", 2, 12, "listened"],
    ["in one word", "It listened well", 5, 6, "listened"],
    ["on whole words", "It listened well", 3, 11, "listened"],
    ["an apostrophe", "I don't know", 4, 6, "don't"],
    ["punctuation is taken as it was", "It listened, well", 3, 12, "listened,"],
    ["Chinese, without spaces", "我喜欢学习语言", 2, 4, "喜欢学习"],
    ["Thai, without spaces", "ฉันรักภาษาไทย", 4, 5, "รัก"],
    ["a family of one emoji", "so 👩‍👩‍👧 kind", 4, 6, "👩‍👩‍👧"],
    ["a flag", "so 🇩🇪 kind", 3, 5, "🇩🇪"],
    ["right to left", "كان لطيفا جدا", 5, 7, "لطيفا"],
  ])("%s", (_, text, start, end, expected) => {
    expect(taken(text, start, end)).toBe(expected);
  });

  test("to sentences, also from a single place", () => {
    const text = "It listened. It cared!\nDid it?";
    expect(taken(text, 14, 14, "sentence")).toBe("It cared!");
    expect(taken(text, 12, 12, "sentence")).toBe("It listened.");
    expect(taken(text, 5, 16, "sentence")).toBe("It listened. It cared!");
    expect(taken(text, text.length, text.length, "sentence")).toBe("Did it?");
  });

  test("white space alone, or no text, is nothing", () => {
    expect([taken("a   b", 1, 4), taken("", 0, 0)]).toEqual([null, null]);
  });
});
