// The room of a discussion: its texts, its talk, and what is asked of the kernel.
import { expect, test } from "vitest";
import { asTalk, Discussing } from "./discussing";
import type { Discussion, Question, Thread } from "./messages";

const UNIT = { words: "", n_again: 0, n_changed: 0, n_notes: 0 };
const ROW: Discussion = {
  name: "one, discussed",
  of: "one",
  coders: [],
  n_again: 0,
  is_open: false,
  may_open: true,
  units: [
    { ...UNIT, unit_id: "m1" },
    { ...UNIT, unit_id: "m2" },
  ],
  revised: [],
  n_changed: 0,
};
const note = (memo_id: string, answers: string | null = null) => ({
  memo_id,
  answers,
  coder: "ana",
  text: memo_id,
  at: "",
  start: null,
  end: null,
});
const thread = (unit_id: string, notes: Thread["notes"] = []): Thread => ({
  type: "thread",
  name: ROW.name,
  unit_id,
  text: "",
  context: [],
  coders: [],
  notes,
});

function opened() {
  const asked: Question[] = [];
  const talks = new Discussing({
    ask: question => void asked.push(question),
    say: () => undefined,
    focus: () => undefined,
    left: () => undefined,
  });
  talks.toggle();
  talks.answers.discussions!({ type: "discussions", rows: [ROW] }, asked[0]);
  talks.answers.thread!(thread("m1"), asked[1]);
  return { talks, asked };
}

test("answers come below the note that they answer; one to a note that is gone stands alone", () => {
  const notes = [note("a"), note("b"), note("c", "a"), note("d", "c"), note("e", "gone")];
  expect(asTalk(notes).map(({ note: { memo_id }, depth }) => [memo_id, depth])).toEqual([
    ["a", 0],
    ["c", 1],
    ["d", 2],
    ["b", 0],
    ["e", 0],
  ]);
});

test("the text on screen is the one that is asked for, and a draft stays with its text", () => {
  const { talks, asked } = opened();
  talks.write("Is that warm?");
  talks.go(1);
  expect(talks.thread.value).toBeNull();
  expect(talks.draft.value).toBe("");
  talks.say();
  talks.go(5);
  expect(asked.at(-1)).toEqual({ type: "thread", name: ROW.name, unit_id: "m2" });
  talks.go(-5);
  expect(talks.draft.value).toBe("Is that warm?");
});

test("a note is sent once, as an answer, and its draft goes once it is recorded", () => {
  const { talks, asked } = opened();
  talks.answers.thread!(thread("m1", [note("a")]), undefined);
  talks.answer("a");
  talks.write("It is.");
  talks.say();
  talks.say();
  const said = asked.filter(({ type }) => type === "say");
  expect(said).toEqual([{ type: "say", name: ROW.name, unit_id: "m1", text: "It is.", answers: "a" }]);
  talks.go(1); // meanwhile the lead goes on
  talks.answers.thread!(thread("m1", [note("a"), note("b", "a")]), said[0]);
  expect(talks.thread.value).toBeNull();
  talks.go(-1);
  expect([talks.draft.value, talks.saving.value]).toEqual(["", false]);
});

test("a refused note stays as it is written", () => {
  const { talks } = opened();
  talks.write("It is.");
  talks.say();
  talks.unanswered.say!(
    { type: "say", name: ROW.name, unit_id: "m1", text: "It is.", answers: null },
    "disk full",
  );
  expect([talks.draft.value, talks.saving.value]).toEqual(["It is.", false]);
});

test("all can read each other only after a second press", () => {
  const { talks, asked } = opened();
  talks.share();
  expect(asked.some(({ type }) => type === "share")).toBe(false);
  talks.share();
  expect(asked.at(-1)).toEqual({ type: "share", name: ROW.name });
});
