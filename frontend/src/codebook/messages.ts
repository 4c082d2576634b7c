// What the codebook widget asks the kernel, and what it is answered.
import type { AlikeCode, Code, Stale, ThemeText } from "../shared/protocol";

/** A code of the draft, and what is different of it from the version that the draft began from. */
export interface DraftCode extends Code {
  origin: string;
  source: string;
  rules_source: string;
  is_new: boolean;
  altered: string[];
}

/** One step of the draft; the kernel gives new codes their ids. */
export interface Step {
  do: "add" | "take" | "edit" | "move" | "merge" | "split" | "retire" | "mean" | "describe" | "load";
  [field: string]: unknown;
}

export interface Change {
  kind: string;
  code: string;
  label: string;
  into: { code: string; label: string }[];
}

export interface Draft {
  base: string;
  moved_on: boolean;
  title: string;
  codes: DraftCode[];
  changes: Change[];
  steps: Step[];
  undone: Step[];
  /** Each step in words. */
  said: string[];
  merged: Record<string, string>;
  /** Proposals that the draft took, with their codes. */
  taken: Record<string, string>;
  /** What was said of the meaning of changed codes, and why. */
  meaning: Record<string, { kind: MeaningKind; why: string }>;
}

/** What a changed definition or rule does to the meaning of its code. */
export type MeaningKind = "redefine" | "narrow" | "widen" | "reword";

/**
 * Of a code with a changed definition or rule: how many texts must be looked at again by what is said of its
 * meaning.
 */
export interface Prices {
  code: string;
  label: string;
  choices: { kind: MeaningKind; words: string; n: number; hours: string | null }[];
}

export interface Preview extends Stale {
  type: "preview";
  prices: Prices[];
}

/**
 * What is known of a code's use; `value` is alpha as a number, `waits` how much is to be reviewed. Without
 * `n`, nothing counts before it is.
 */
export interface Figures {
  n: number | null;
  prevalence: string;
  alpha: string;
  value: number | null;
  n_both: number;
  waits: string;
}

export interface Quote {
  unit_id: string;
  coder: string;
  code: string;
  start: number | null;
  end: number | null;
  before: string;
  words: string;
  after: string;
  stale: boolean;
}

export interface Quotes {
  type: "quotes";
  code: string;
  n: number;
  n_all: number;
  first: number;
  coders: string[];
  rows: Quote[];
}

export interface Proposal {
  proposal_id: string;
  coder: string;
  at: string;
  label: string;
  definition: string;
  unit_id: string;
  round: string | null;
  words: string;
  /** The model that proposes it; empty: a coder does. */
  origin: string;
  /** Further texts that show it. */
  examples: string[];
  taken: string | null;
  alike: AlikeCode[];
}

/** A theme that no code covers. */
export interface LackingTheme {
  theme: number;
  label: string;
  n_units: number;
  n_cases: number;
  stable: string;
  coverage: string;
  terms: string[];
  /** Whether a code was proposed of it before, and answered. */
  sent_back: boolean;
}

/** `n_unsure`: of how many themes too few texts are decided to say whether a code covers them. */
export interface Lacking {
  type: "lacking";
  rows: LackingTheme[];
  n_themes: number;
  n_unsure: number;
  chats: boolean;
}

/** What is answered of one of these themes. */
export type OfTheme =
  | { type: "theme"; theme: number; quotes: ThemeText[] }
  | { type: "theme_cost"; theme: number; words: string }
  | { type: "theme_proposed"; theme: number };

export interface Version {
  version: string;
  coder: string | null;
  at: string | null;
  why: string | null;
  base: string | null;
  changes: { kind: string; label: string }[];
}

export interface Difference {
  code: string | null;
  label: string;
  field: string | null;
  one: string[];
  other: string[];
}

export interface Compare {
  type: "compare";
  one: string;
  other: string;
  rows: Difference[];
}

export interface ConflictRow {
  name: string;
  code: string | null;
  label: string;
  field: string | null;
  base: string[];
  mine: string[];
  theirs: string[];
  /** Of a list: both sides’ entries. */
  both: string[] | null;
}

export interface Conflict {
  type: "conflict";
  by: { coder: string; at: string; why: string } | null;
  rows: ConflictRow[];
}

export interface Saved {
  type: "saved_draft";
  n_changes: number;
  queues: { coder: string; n: number; cell: string }[];
  unanswered: boolean;
}

export interface Sorting {
  type: "sorting";
  splits: { code: string; label: string; n: number; n_all: number }[];
  code: string | null;
  parts: { id: string; label: string }[];
  /**
   * Of which themes its waiting texts are (−1: of none), and how many; empty where the study has no themes.
   */
  themes: { theme: number; label: string; n: number }[];
  n: number;
  first: number;
  ids: string[];
  can_undo: boolean;
  rows: { unit_id: string; text: string; quotes: Quote[] }[];
}

export type Side = "one" | "other";
export type Choice = "mine" | "theirs" | "both";

export type Question =
  | { type: "hello" | "undo" | "redo" | "discard" | "versions" | "unsort" | "lacking" }
  | { type: "proposals"; fresh?: boolean }
  | { type: "theme"; theme: number }
  | { type: "theme_cost" | "propose_theme"; theme: number; units: string[] }
  | { type: "theme_chat"; theme: number; units: string[]; consent: boolean }
  | { type: "step"; step: Step }
  | { type: "leave_out"; place: number }
  | { type: "restore"; base: string; steps: readonly Step[]; undone: readonly Step[] }
  | { type: "keep"; typed: Readonly<Record<string, string>> }
  | { type: "alike"; label: string; definition: string }
  | { type: "quotes"; code: string; find: string; coder: string; first: number }
  | { type: "send_back"; proposal: string; why: string }
  | { type: "compare"; one: string; other: string }
  | { type: "save"; why: string; choices: Record<string, Choice> }
  | {
      type: "sorting";
      code: string | null;
      find: string;
      theme: number | null;
      first: number;
      fresh?: boolean;
    }
  | { type: "sort"; code: string; units: readonly string[]; parts: readonly string[] };

export interface Alike {
  type: "alike";
  codes: AlikeCode[];
  note: string;
}

/** `typed`: what was typed and is no step yet; `n_lost`: steps that cannot be taken any more. */
export type Welcome = Draft & {
  type: "welcome";
  coder: string;
  work_id: string;
  typed: Record<string, string>;
  n_lost: number;
};

export type Answer =
  | Welcome
  | Alike
  | Quotes
  | Compare
  | Conflict
  | Saved
  | Sorting
  | { type: "changed" }
  | { type: "kept" }
  | { type: "proposals"; rows: Proposal[] }
  | { type: "versions"; versions: Version[] }
  | { type: "sent_back"; proposal: string }
  | { type: "looking" }
  | OfTheme
  | { type: "asking"; theme: number }
  | { type: "sorted"; n: number };

/** What the kernel tells all views. */
export type Told =
  | (Draft & { type: "draft" })
  | Preview
  | { type: "figures"; figures: Record<string, Figures>; words: string; n_proposals: number; n_split: number }
  | { type: "uncounted"; message: string }
  | Lacking
  | { type: "theme_drafted"; theme: number }
  | { type: "lacking_failed"; message: string }
  /** The draft is not on the disk, and why. */
  | { type: "unkept"; message: string };
