// Finding a code by a letter or two.
import { signal } from "@preact/signals";
import { expect, test } from "vitest";
import { code } from "./code.test.kit";
import { CodeSearch } from "./codesearch";
import type { Code } from "./protocol";

const named = (id: string, label: string, more: Partial<Code> = {}): Code => ({
  ...code(id, null),
  definition: "",
  label,
  ...more,
});
const searching = (...codes: Code[]) => new CodeSearch(signal(new Map(codes.map(one => [one.id, one]))));
function found(search: CodeSearch, query: string): string[] {
  search.type(query);
  return search.results.value.map(({ id }) => id);
}

test("the best match is first: called so, its beginning, a word's, initials, within, above, in the definition", () => {
  const search = searching(
    named("a", "Other", { definition: "not cu" }),
    named("b", "Under it", { parent: "cut" }),
    named("c", "Occult"),
    named("d", "Cognitive Understanding"),
    named("e", "Sharp cut"),
    named("f", "Curiosity"),
    named("g", "CU"),
    { ...named("cut", "Focus"), codable: false },
    named("h", "Nothing"),
  );
  expect(found(search, "cu")).toEqual(["g", "f", "e", "d", "c", "b", "a"]);
  expect(search.chosen.value?.id).toBe("g");
});

test("an id counts as a name, and among equals the codebook's order", () => {
  const search = searching(named("x1", "Care"), named("x2", "Car"), named("care", "Other"));
  expect(found(search, "CAR")).toEqual(["x2", "x1", "care"]);
  expect(found(search, "x")).toEqual(["x1", "x2"]);
});

test.each([
  ["several beginnings of words", "cog un", "Cognitive Understanding"],
  ["letters without their accents", "emo", "Émotion"],
  ["accents where the name has none", "émo", "Emotion"],
  ["other scripts", "ثق", "الثقة ثقة"],
  ["spaces around", "  emo ", "Emotion"],
])("%s", (_, query, label) => {
  expect(found(searching(named("a", "Zzz"), named("b", label)), query)).toEqual(["b"]);
});

test("beginnings of words count in their order", () => {
  expect(found(searching(named("a", "Help 6.14"), named("b", "Help 14.6")), "14.6")).toEqual(["b"]);
});

test("a code that only groups others is never among the results", () => {
  const search = searching(
    { ...named("empathy", "Empathy"), codable: false },
    named("cold", "Cold", { parent: "empathy" }),
  );
  expect(found(search, "empathy")).toEqual(["cold"]);
});

test("↑ and ↓ choose and stop at the ends; another letter begins with the best again", () => {
  const search = searching(named("x1", "Care"), named("x2", "Cart"), named("x3", "Cat"));
  expect(search.open.value).toBe(false);
  search.type("c");
  const chosen = (step?: 1 | -1) => {
    if (step) search.move(step);
    return search.chosen.value?.id;
  };
  expect([chosen(), chosen(1), chosen(1), chosen(1), chosen(-1)]).toEqual(["x1", "x2", "x3", "x3", "x2"]);
  search.type("ca");
  expect(chosen()).toBe("x1");
  search.type("xyz");
  search.move(1);
  expect([search.open.value, chosen()]).toEqual([true, undefined]);
  search.close();
  expect([search.open.value, chosen()]).toEqual([false, undefined]);
});

test("with nothing typed, ↓ goes through all codes; taking one shows the codebook again", () => {
  const search = searching(named("a", "Care"), named("b", "Cart"));
  search.move(1);
  search.move(1);
  expect(search.take()?.id).toBe("b");
  expect([search.open.value, search.query.value, search.take()]).toEqual([false, "", undefined]);
});

test("of very many results the first hundred are shown, and how many more there are", () => {
  const search = searching(...Array.from({ length: 300 }, (_, at) => named(`c${at}`, `Code ${at}`)));
  search.type("co");
  expect([search.results.value.length, search.more.value]).toEqual([100, 200]);
  expect(found(search, "code 299")).toEqual(["c299"]);
});
