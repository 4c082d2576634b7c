// What the themes widget asks the kernel, and what it is answered. All numbers, and all words about them, are
// the kernel's.
import type { AlikeCode, Code, ThemeText } from "../shared/protocol";

export interface Theme {
  theme: number;
  label: string;
  /** Whether a person named it. */
  named: boolean;
  n_units: number;
  n_texts: number;
  n_cases: number;
  dismissed: boolean;
  /** Of how many themes it was merged. */
  merged: number;
  /** The code that was made of it. */
  code: string | null;
  /** Whether a code was proposed of it that waits in the codebook widget, or was answered there. */
  proposed: "waiting" | "answered" | "";
  n_subs: number;
  terms: string[];
  stability: number | null;
  stable: "stable" | "pattern" | "dissolves" | "";
  stability_words: string;
  verdict: "covered" | "uncovered" | "";
  coverage: string;
  /** What the run that looked for the codes of the codebook says of it; empty without such a run. */
  expected: string;
}

export interface Themes {
  type: "themes";
  recorded: boolean;
  rows: Theme[];
  /** The version of the codebook, which a new code is added to. */
  base: string;
  words: string;
  can_undo: boolean;
  n_outside: number;
  n_later: number;
  book: { title: string; codes: Code[] };
  palette: { light: string; dark: string }[];
}

export interface Quotes {
  type: "quotes";
  theme: number;
  first: number;
  n: number;
  rows: ThemeText[];
}

export interface Places {
  type: "map";
  side: number;
  x: number[];
  y: number[];
}

export interface SelectedRow {
  unit_id: string;
  text: string;
  theme: number;
}

export interface Draft {
  type: "draft";
  theme: number;
  label: string;
  definition: string;
  quotes: ThemeText[];
}

export interface RanRow {
  theme: number;
  what: "stays" | "new" | "ends";
  label: string;
  before: string;
  n_units: number;
  alike: number | null;
}

export interface Ran {
  type: "ran";
  rows: RanRow[];
  stays: number;
  new: number;
  ends: number;
  n_units: number;
  n_nowhere: number;
  granularity: number;
}

/** How far something is that takes long. */
export interface Going {
  stage: string;
  done: number;
  total: number;
}

/** What the kernel tells all views. */
export type Told =
  | Themes
  | Ran
  | ({ type: "running" | "mapping" } & Going)
  | { type: "mapped" }
  | { type: "drafted"; theme: number; label: string; definition: string }
  | { type: "undone"; what: "read" | "run" | "map" | "chat"; message: string };

export type Question =
  | { type: "hello" | "themes" | "map" | "discard" }
  | { type: "quotes"; theme: number; first: number }
  | { type: "colours"; by: string }
  | { type: "select"; places: number[] }
  | { type: "selected"; first: number }
  | { type: "run"; granularity: number | null; expected: boolean }
  | { type: "draft"; theme: number }
  | { type: "alike"; label: string; definition: string; meaning: boolean }
  | { type: "cost"; theme: number; units: string[] }
  | { type: "ask_chat"; theme: number; units: string[]; consent: boolean };

export type Answer =
  | {
      type: "welcome";
      coder: string;
      work_id: string;
      embeds: boolean;
      chats: boolean;
      mapped: boolean;
      n_selected: number;
    }
  | { type: "looking" | "begun" | "discarded" }
  | { type: "asking"; theme: number }
  | Quotes
  | Places
  | { type: "colours"; by: string; values: number[] }
  | { type: "chosen"; n: number }
  | { type: "selected"; first: number; n: number; rows: SelectedRow[] }
  | Draft
  | { type: "alike"; codes: AlikeCode[]; note: string }
  | { type: "cost"; theme: number; words: string };

export interface Done {
  type: "done";
  kind: "edit_theme" | "undo" | "record_themes" | "revise" | "propose";
  theme: number;
  what: string;
  code?: string;
}
