// The codebook as a tree that folds, and what is open of it.
import { beforeEach, expect, test } from "vitest";
import { code } from "./code.test.kit";
import { CodebookView } from "./codebook";
import type { Code } from "./protocol";

let book: CodebookView;
const under = (parent: string | null, id: string, codable = true): Code => ({
  ...code(id, null, codable),
  parent,
});
const rows = () => book.rows.value.map(({ code, depth, below }) => `${code.id} ${depth} ${below}`);

function open(...codes: Code[]): void {
  book = new CodebookView();
  book.codebook.value = { title: "Book", version: "1", facets: [], codes };
}

beforeEach(() =>
  open(
    under("top", "care"),
    under(null, "top", false),
    under("care", "cold"),
    under(null, "joy"),
    under("top", "help"),
  ),
);

test("before the kernel has sent the codebook there is no code", () => {
  book = new CodebookView();
  expect([
    rows(),
    book.codes.value.size,
    book.looks.value.size,
    book.open.value,
    book.beyondKeys.value,
  ]).toEqual([[], 0, 0, undefined, false]);
});

test("codes stand under their parents, wherever the file has them", () => {
  expect(rows()).toEqual(["top 0 3", "care 1 1", "cold 2 0", "help 1 0", "joy 0 0"]);
});

test("what is folded hides all that is under it, also what is folded itself, and comes back as it was", () => {
  book.fold(["care"], true);
  expect(rows()).toEqual(["top 0 3", "care 1 1", "help 1 0", "joy 0 0"]);
  book.fold(["top"], true);
  expect(rows()).toEqual(["top 0 3", "joy 0 0"]);
  book.fold(["top"], false);
  expect(rows()).toEqual(["top 0 3", "care 1 1", "help 1 0", "joy 0 0"]);
});

test("ten thousand codes one under the other are a tree all the same", () => {
  open(...Array.from({ length: 10_000 }, (_, at) => under(at ? `c${at - 1}` : null, `c${at}`)));
  expect(rows().at(-1)).toBe("c9999 9999 0");
  book.fold(["c0"], true);
  expect(rows()).toEqual(["c0 0 9999"]);
  book.find("c9999");
  expect(book.search.chosen.value?.id).toBe("c9999");
});

test("the definition of the first code that can be applied is open, then that of what is looked for", () => {
  expect(book.open.value?.id).toBe("care");
  book.find("jo");
  expect(book.open.value?.id).toBe("joy");
  book.find("c");
  book.choose(1);
  expect(book.open.value?.id).toBe("cold");
  book.definition.togglePin("cold");
  book.find("jo");
  expect(book.open.value?.id).toBe("cold");
});

test("a code's key is the codebook's, or the one that it was given when it was used", () => {
  open(code("care", "1"), code("joy", null));
  expect([book.beyondKeys.value, ...book.list.value.map(one => book.keyOf(one))]).toEqual([true, "1", null]);
  book.recent.use(book.codes.value.get("joy")!, []);
  expect(book.keyOf(book.codes.value.get("joy")!)).toBe("J");
});
