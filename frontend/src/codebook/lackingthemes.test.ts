// A theme becomes a proposal once, and a language model reads only what was agreed to.
import { beforeEach, expect, test } from "vitest";
import { LackingThemes } from "./lackingthemes";
import type { LackingTheme, Question } from "./messages";

let asked: Question[];
let lacking: LackingThemes;
const row = (theme: number): LackingTheme => ({
  theme,
  label: `theme ${theme}`,
  n_units: 9,
  n_cases: 6,
  stable: "",
  coverage: "",
  terms: [],
  sent_back: false,
});

beforeEach(() => {
  asked = [];
  lacking = new LackingThemes(question => asked.push(question));
  lacking.told.lacking!({ type: "lacking", rows: [row(1), row(2)], n_themes: 3, n_unsure: 0, chats: true });
  lacking.toggle(1);
  lacking.answers.theme!(
    {
      type: "theme",
      theme: 1,
      quotes: ["a", "b", "c"].map(unit_id => ({ unit_id, text: unit_id, n_same: 0 })),
    },
    undefined,
  );
  asked.length = 0;
});

test("it is proposed once, with the texts that are ticked, and out of the list at once", () => {
  lacking.tick("b");
  lacking.propose();
  lacking.propose();
  expect(asked).toEqual([{ type: "propose_theme", theme: 1, units: ["a"] }]);
  lacking.drafted(1);
  expect([lacking.open.value, lacking.found.value!.rows.map(({ theme }) => theme)]).toEqual([null, [2]]);
  lacking.propose();
  expect(asked.length).toBe(1);
});

test("without a text there is nothing to propose", () => {
  lacking.tick("a");
  lacking.tick("b");
  lacking.propose();
  expect(asked).toEqual([]);
});

test("a consent is for the texts that were ticked then", () => {
  lacking.askCost();
  lacking.answers.theme_cost!({ type: "theme_cost", theme: 1, words: "2 quotes" }, undefined);
  lacking.askChat();
  lacking.consented.value = true;
  lacking.tick("c");
  lacking.askChat();
  expect(asked.map(({ type }) => type)).toEqual(["theme_cost", "theme_cost"]);
  lacking.consented.value = true;
  lacking.askChat();
  expect(asked.at(-1)).toEqual({ type: "theme_chat", theme: 1, units: ["a", "b", "c"], consent: true });
  lacking.toggle(2);
  expect([lacking.cost.value, lacking.consented.value]).toEqual(["", false]);
});

test("a theme that is another meanwhile is closed, and the list read anew", () => {
  lacking.toggle(2);
  lacking.unanswered.theme!({ type: "theme", theme: 1 }, "");
  expect(lacking.open.value).toBe(null);
  expect(asked.at(-1)).toEqual({ type: "lacking" });
});
