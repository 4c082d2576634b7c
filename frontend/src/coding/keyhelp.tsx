// What each key does, by what one wants to do.
import { Help, type Rows } from "../shared/help";
import { keyLabel } from "../shared/keys";
import type { Session } from "./session";

/** Under each heading: what the mouse and fixed keys do, and the commands, whose keys may be others. */
const GROUPS: readonly { title: string; fixed: Rows; commands: Record<string, string> }[] = [
  {
    title: "Code",
    fixed: [
      ["code key", "Apply the code to the selection or the whole text; again: remove it"],
      ["Alt+code key", "Show the code’s definition"],
      ["Alt+↑↓", "Scroll the definition"],
    ],
    commands: {
      filter: "Find a code by its name, its first letters or initials: ↑↓, Enter applies",
      pin: "Pin or unpin the definition",
      next_coding: "Next coding on this text",
      previous_coding: "Previous coding",
      remove_coding: "Remove the marked coding",
      facet: "Facets of the marked coding",
      unsure: "Unsure about the marked coding",
      new_code: "Name a code that is missing; selected words become its name",
      accept_suggestion: "Apply the marked suggestion of a model",
      reject_suggestion: "Reject it",
    },
  },
  {
    title: "Select words",
    fixed: [
      ["mouse", "Drag: whole words (Alt: exactly); two clicks: a word; three: a sentence"],
      ["Shift+←→", "Move the end of the selection by a word (↑↓: by a sentence)"],
      ["Alt+Shift+←→", "Move its start by a word (↑↓: by a sentence); also Ctrl+Shift"],
    ],
    commands: {
      select_by_letters: "Select by letters: type those on the first word, then those on the last",
      next_word: "Select the next word (Shift: previous)",
      next_sentence: "Select the next sentence (Shift: previous)",
    },
  },
  {
    title: "Go on",
    fixed: [],
    commands: {
      finish_and_next: "Finish this text and go to the next",
      finish: "Finish, or take “finished” back",
      next: "Next text",
      back: "Back",
      next_unfinished: "Next unfinished text",
      find_text: "Find a text",
      texts: "Show or hide the list of texts",
      layout: "Many texts as rows of a grid, or one by one",
    },
  },
  {
    title: "Note and look",
    fixed: [["PgUp PgDn", "Scroll the text (Home, End: to its ends)"]],
    commands: {
      memo: "Write a memo on the selected words, or on the text (Esc saves it)",
      code_memo: "Write a memo on the code whose definition is open",
      memos: "Show or hide the memos",
      rating: "Show or hide the rating",
      context: "Show or hide the conversation",
      colleagues: "Colleagues’ codings beside yours, once the round is unblinded",
      next_colleague: "The next colleague",
      take_codebook: "Take in the codebook that the study has now",
    },
  },
  {
    title: "Take back",
    fixed: [["Esc", "Back; twice, not too fast: leave for the notebook"]],
    commands: {
      undo: "Undo (also Ctrl+Z)",
      redo: "Redo (also Ctrl+Shift+Z)",
      history: "Show or hide what was done; Del there takes a step back, b all after it",
      help: "Show or hide these keys",
    },
  },
];

const IN_GRID: Rows = [
  ["↑↓ or j k", "The row above or below (k and j unless a code has the key)"],
  ["←→", "The coding before or after"],
  ["PgUp PgDn", "A page of rows (Home, End: the first, the last)"],
];

export function KeyHelp({ session }: { session: Session }) {
  const keys = session.commands.value;
  const isThere = (name: string) =>
    name in keys && (name !== "facet" || session.book.hasFacets.value) && (!name.endsWith("_suggestion") || session.suggestions.when.value);
  const groups = GROUPS.map(({ title, fixed, commands }) => {
    const rows = Object.entries(commands).filter(([name]) => isThere(name));
    return { title, rows: [...fixed, ...rows.map(([name, words]): [string, string] => [keyLabel(keys[name]!), words])] };
  });
  return <Help groups={session.grid.on.value ? [...groups, { title: "In the grid", rows: IN_GRID }] : groups} />;
}
