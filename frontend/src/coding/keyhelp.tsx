// What each key does, by what one wants to do.
import { Help, type Rows } from "../shared/frame";
import { keyLabel } from "../shared/keys";
import type { Session } from "./session";

/** Under each heading: what the mouse and fixed keys do, and the commands, whose keys may be others. */
const GROUPS: readonly { title: string; fixed: Rows; commands: Record<string, string> }[] = [
  {
    title: "Code",
    fixed: [
      ["code key", "Apply the code to the selection or the whole text; press again to remove it"],
      ["Alt+code key", "Show the code’s definition"],
      ["Alt+↑↓", "Scroll the definition"],
    ],
    commands: {
      filter: "Find a code by name, first letters or initials: ↑↓ to choose, Enter to apply",
      pin: "Pin or unpin the definition",
      next_coding: "Next coding of this text",
      previous_coding: "Previous coding",
      remove_coding: "Remove the marked coding",
      facet: "Facets of the marked coding",
      unsure: "Mark the coding as unsure, or no longer",
      new_code: "Name a missing code; selected words become its name",
      accept_suggestion: "Apply the marked suggestion of a model",
      reject_suggestion: "Reject it",
    },
  },
  {
    title: "Select words",
    fixed: [
      [
        "mouse",
        "Drag for whole words (with Alt: exactly); double-click for a word, triple-click for a sentence",
      ],
      [
        "Shift+←→",
        "Move the end of the selection by a word (↑↓: by a sentence); without one, of the marked coding",
      ],
      ["Alt+Shift+←→", "Move its start by a word (↑↓: by a sentence); also Ctrl+Shift"],
    ],
    commands: {
      select_by_letters: "Select by letters: type the letters on the first word, then those on the last",
      next_word: "Select the next word (Shift: previous)",
      next_sentence: "Select the next sentence (Shift: previous)",
    },
  },
  {
    title: "Go on",
    fixed: [],
    commands: {
      finish_and_next: "Finish this text and go to the next",
      finish: "Finish, or reopen",
      next: "Next text",
      back: "Previous text",
      next_unfinished: "Next unfinished text",
      find_text: "Find a text",
      next_hit: "Select the next hit, also in another text",
      previous_hit: "The hit before",
      texts: "Show or hide the list of texts",
      layout: "Many texts as rows of a grid, or one at a time",
    },
  },
  {
    title: "Note and look",
    fixed: [["PgUp PgDn", "Scroll the text (Home, End: to its ends)"]],
    commands: {
      memo: "Write a memo on the selected words, or on the text (Esc saves it)",
      code_memo: "Write a memo on the code shown in the definition",
      memos: "Show or hide the memos",
      passages: "Passages that you gave the open code; Backspace goes back from one",
      rating: "Show or hide the rating",
      context: "Show or hide the conversation",
      colleagues: "Colleagues’ codings next to yours, once the round is unblinded",
      next_colleague: "The next colleague",
      inbox: "What waits for you: texts to look at again, answers, rounds",
      take_codebook: "Take in the study’s current codebook",
      large_view: "Large view, over the whole window (also Esc: back)",
    },
  },
  {
    title: "Take back",
    fixed: [["Esc", "Back; twice, not too fast: return to the notebook"]],
    commands: {
      undo: "Undo (also Ctrl+Z)",
      redo: "Redo (also Ctrl+Shift+Z)",
      history: "Show or hide the history; there, Del undoes a step, b all steps after it",
      help: "Show or hide these keys",
    },
  },
];

const IN_GRID: Rows = [
  ["↑↓ or j k", "The row above or below (k and j unless a code has that key)"],
  ["←→", "The coding before or after"],
  ["PgUp PgDn", "A page of rows (Home, End: first, last)"],
];

export function KeyHelp({ session }: { session: Session }) {
  const keys = session.commands.value;
  const isThere = (name: string) =>
    name in keys &&
    (name !== "facet" || session.book.hasFacets.value) &&
    (!name.endsWith("_suggestion") || session.suggestions.when.value);
  const groups = GROUPS.map(({ title, fixed, commands }) => {
    const rows = Object.entries(commands).filter(([name]) => isThere(name));
    return {
      title,
      rows: [...fixed, ...rows.map(([name, words]): [string, string] => [keyLabel(keys[name]!), words])],
    };
  });
  return (
    <Help groups={session.grid.on.value ? [...groups, { title: "In the grid", rows: IN_GRID }] : groups} />
  );
}
