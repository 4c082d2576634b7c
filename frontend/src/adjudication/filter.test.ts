// What the queue shows of the disagreements: by words, code and coder, and those that are open.
import { signal } from "@preact/signals";
import { beforeEach, expect, test } from "vitest";
import { Filter } from "./filter";
import type { QueueRow } from "./messages";

const row = (unit_id: string, code: string, words: string, apart: string[]): QueueRow => ({
  unit_id,
  code,
  words,
  n_applied: 1,
  n_coders: 3,
  group: "",
  settled: null,
  coders: ["ana", "ben", "chi"],
  apart,
});
const rows = signal([
  row("m0", "warm", "…it felt like naïve praise", ["ana"]),
  row("m1", "cold", "It lectured me", ["ben"]),
  row("m2", "warm", "It listened", ["ana"]),
]);

let filter: Filter;

beforeEach(() => {
  filter = new Filter({
    rows,
    isOpen: ({ unit_id }) => unit_id !== "m2",
    label: code => (code === "warm" ? "Warmth" : "Distance"),
  });
});

test.each<[string, (filter: Filter) => void, number[]]>([
  ["nothing", () => {}, [0, 1, 2]],
  ["words without their accents", ({ query }) => (query.value = "NAIVE praise"), [0]],
  ["the name of a code, not its id", ({ query }) => (query.value = "distance"), [1]],
  ["a coder", ({ query }) => (query.value = "chi it"), [0, 1, 2]],
  ["a code", ({ code }) => (code.value = "warm"), [0, 2]],
  ["a coder who stands apart", ({ coder }) => (coder.value = "ben"), [1]],
  ["what is open, of a code", ({ openOnly, code }) => (openOnly.value = !!(code.value = "warm")), [0]],
])("narrowed by %s", (_, narrow, places) => {
  narrow(filter);
  expect(filter.places.value).toEqual(places);
  filter.clear();
  expect([filter.places.value, filter.on.value]).toEqual([[0, 1, 2], false]);
});

test("only codes and coders are offered that something can be found by", () => {
  expect([filter.codes.value, filter.coders.value]).toEqual([
    ["warm", "cold"],
    ["ana", "ben"],
  ]);
});
