// Finding a code by words.
import { beforeEach, expect, test } from "vitest";
import { code } from "./code.test.kit";
import { CodebookView } from "./codebook";

let book: CodebookView;
const ids = () => book.filtered.value.map(({ id }) => id);

beforeEach(() => {
  book = new CodebookView();
  book.codebook.value = {
    title: "Book",
    version: "1",
    valence: [],
    codes: [code("empathy", null, false), code("cognitive empathy", "1"), code("care", "2"), code("car", "3")],
  };
});

test("before the kernel has sent the codebook there is no code", () => {
  book.codebook.value = null;
  expect([ids(), book.codes.value.size, book.looks.value.size, book.chosen.value]).toEqual([[], 0, 0, undefined]);
});

test("without words all codes are shown and none is chosen", () => {
  book.filter.value = "  ";
  expect([ids().length, book.chosen.value]).toEqual([4, undefined]);
});

test("the code that is called so is chosen before those that hold the words", () => {
  book.filter.value = "CAR";
  expect([ids(), book.chosen.value?.id]).toEqual([["care", "car"], "car"]);
});

test("a label counts before a definition, and a code that only groups others is never chosen", () => {
  book.codebook.value!.codes[2]!.definition = "unlike empathy";
  book.filter.value = "empathy";
  expect([ids(), book.chosen.value?.id]).toEqual([["empathy", "cognitive empathy", "care"], "cognitive empathy"]);
});

test("taking the chosen code shows all codes again", () => {
  book.filter.value = "care";
  expect(book.takeChosen()?.id).toBe("care");
  expect([book.filter.value, ids().length]).toEqual(["", 4]);
});
