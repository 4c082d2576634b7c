// Going through the texts of a split code by theme: what is asked, and when a part is told of all of them.
import { beforeEach, expect, test } from "vitest";
import type { Question, Sorting } from "./messages";
import { signal } from "@preact/signals";
import { Sorter } from "./sorter";

let asked: Question[];
let said: string[];
let sorter: Sorter;
let last: Question;

/** An answer to the last question, or to an earlier one. */
const hear = (answer: Parameters<Sorter["heard"]>[0], to = last) => sorter.heard(answer, to);
const failed = (question: Question) => sorter.unanswered.sort!(question as Question & { type: "sort" }, "");

function page(ids: string[], over: Partial<Sorting> = {}): Sorting {
  const rows = ids.map(unit_id => ({ unit_id, text: unit_id, quotes: [] }));
  const themes = [4, 2, -1].map(theme => ({ theme, label: theme < 0 ? "" : `theme ${theme}`, n: 2 }));
  const parts = [
    { id: "close", label: "Close" },
    { id: "soft", label: "Soft" },
  ];
  return {
    type: "sorting",
    splits: [],
    code: "warm",
    parts,
    themes,
    n: ids.length,
    first: 0,
    ids,
    can_undo: false,
    rows,
    ...over,
  };
}

beforeEach(() => {
  [asked, said] = [[], []];
  sorter = new Sorter(
    question => asked.push((last = question)),
    words => said.push(words),
    signal(false),
  );
  sorter.begin();
  hear(page(["a", "b", "c"]));
  asked.length = 0;
});

const themesAsked = () => asked.map(question => question.type === "sorting" && question.theme);

test("t goes from theme to theme, and after the last one to all texts again; T goes back", () => {
  for (const key of ["t", "t", "t", "t", "T"]) {
    sorter.press(key);
    hear(page(["a"]));
  }
  expect(themesAsked()).toEqual([4, 2, -1, null, -1]);
  expect(said.slice(2, 4)).toEqual(["In no theme: 2", "All texts"]);
});

test("a part is told of all texts of a theme, never of those that were found before it was chosen", () => {
  sorter.press("1");
  sorter.press("Enter", true);
  expect(asked).toEqual([]); // neither theme nor search: not of everything
  sorter.press("t");
  sorter.press("1");
  sorter.press("Enter", true);
  expect(asked.some(({ type }) => type === "sort")).toBe(false); // the theme's texts are not there yet
  hear(page(["b", "c"]));
  sorter.press("1"); // what was chosen before was said of the text that was on screen
  sorter.press("Enter", true);
  expect(asked.at(-1)).toEqual({ type: "sort", code: "warm", units: ["b", "c"], parts: ["close"] });
});

test("once told and taken back, the theme stays chosen", () => {
  sorter.press("t");
  hear(page(["b", "c"], { can_undo: true }));
  sorter.press("2");
  sorter.press("Enter", true);
  hear({ type: "sorted", n: 2 });
  hear(page([], { can_undo: true }));
  sorter.press("z");
  hear({ type: "sorted", n: 0 });
  expect(themesAsked().filter(theme => theme !== false)).toEqual([4, 4, 4]);
});

test("a theme that is gone meanwhile gives way to all texts", () => {
  sorter.press("t");
  hear(page([], { themes: [{ theme: 9, label: "other", n: 3 }] }));
  expect(themesAsked()).toEqual([4, null]);
  sorter.begin("other");
  expect(sorter.theme.value).toBe(null);
});

test("while others are looked for, nothing is said of what is not on screen yet", () => {
  const sorts = () => asked.filter(({ type }) => type === "sort").length;
  for (const key of ["t", "1", "Enter"]) sorter.press(key);
  expect([sorts(), said.at(-1)]).toEqual([0, "Still looking for these texts"]);
  hear(page(["c"]));
  sorter.press("Enter");
  expect([sorts(), said.at(-1)]).toEqual([0, "Choose a part first, or “None of them”"]);
  for (const key of ["1", "Enter"]) sorter.press(key);
  expect(asked.at(-1)).toEqual({ type: "sort", code: "warm", units: ["c"], parts: ["close"] });
});

test("an answer to what was asked before is not taken for one to what was asked last", () => {
  sorter.press("t");
  const ofTheme = last;
  sorter.press("t");
  hear(page(["c"]));
  hear(page(["a", "b"]), ofTheme); // late, or for the second time
  expect([sorter.theme.value, sorter.found.value!.ids]).toEqual([2, ["c"]]);
  sorter.press("t");
  sorter.press("1");
  hear(page(["b", "c"]));
  sorter.press("1");
  sorter.press("Enter");
  const sort = last;
  expect(sorter.busy.value).toBe(true);
  hear({ type: "sorted", n: 1 }, sort);
  hear(page(["b", "c"]), ofTheme);
  expect(sorter.busy.value).toBe(true);
  hear(page(["c"]));
  expect(sorter.busy.value).toBe(false);
});

test("texts that could not be read are asked for again, and the list that was left is never sorted", () => {
  const sorts = () => asked.filter(({ type }) => type === "sort").length;
  sorter.press("t");
  const lost = last;
  failed(lost); // the list of all texts was on screen, under the theme's name
  expect(sorter.row.value).toBe(undefined);
  sorter.press("1");
  sorter.press("Enter", true);
  expect([sorts(), said.at(-1)]).toEqual([0, "Loading these texts again"]);
  expect(last).toEqual({ ...lost });
  failed(lost); // told late: others were asked for since
  sorter.press("Enter", true);
  expect([sorts(), said.at(-1)]).toEqual([0, "Still looking for these texts"]);
  hear(page(["c"]));
  for (const key of ["1", "Enter"]) sorter.press(key);
  expect(asked.at(-1)).toEqual({ type: "sort", code: "warm", units: ["c"], parts: ["close"] });
  hear({ type: "sorted", n: 1 });
  failed(last); // the text that was sorted is still on screen
  sorter.press("1");
  sorter.press("Enter");
  expect(sorts()).toBe(1);
  hear(page(["b"]));
  for (const key of ["1", "Enter"]) sorter.press(key);
  const sort = last;
  failed(sort); // refused: it can be said again
  for (const key of ["1", "Enter"]) sorter.press(key);
  expect(sorts()).toBe(3);
});

test("keys that come faster than the next text are done on it, in order", async () => {
  sorter.press("1");
  sorter.press("Enter");
  for (const key of ["2", "Enter"]) sorter.press(key);
  const sorted = () =>
    asked.flatMap(question => (question.type === "sort" ? [[question.units, question.parts]] : []));
  expect(sorted()).toEqual([[["a"], ["close"]]]);
  hear({ type: "sorted", n: 1 }); // the text that was sorted is still on screen
  await Promise.resolve();
  expect(sorted()).toHaveLength(1);
  hear(page(["b", "c"]));
  for (let turn = 0; turn < 5; turn++) await Promise.resolve();
  expect(sorted()).toEqual([
    [["a"], ["close"]],
    [["b"], ["soft"]],
  ]);
});
