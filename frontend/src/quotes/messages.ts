// What the quotes widget asks the kernel, and what it is answered.
import type { Codebook, Span, Theirs, Turn } from "../shared/protocol";

export type State = "chosen" | "approved" | "refused";
export type Role = "shows" | "disconfirms";

/** A passage by its text, its code and its span; no span: the whole text. */
export interface Key {
  unit_id: string;
  code: string;
  start: number | null;
  end: number | null;
}

/** Words, with marks on those that may identify somebody; cut if long. */
export interface Words {
  words: string;
  cut: boolean;
  marks: [number, number][];
}

/**
 * The decision about a passage. Two states come by themselves: its code changed, its paraphrase was erased.
 */
export interface Quote {
  start: number | null;
  end: number | null;
  state: State | "stale" | "erased";
  role: Role;
  paraphrase: string | null;
  by: string;
  at: string;
  words: Words;
}

export interface Candidate extends Key, Words {
  case_id: string | null;
  rating: string;
  coders: string;
  role: Role;
  /** Why it is proposed, or why the rule would not. */
  why: string;
  drawn: boolean;
  /** Its coding was removed since: it can only be refused. */
  removed: boolean;
  /** Kinds of words that may identify somebody. */
  identifies: string;
  quote: Quote | null;
}

export interface OfCode {
  code: string;
  n_approved: number;
  n_waiting: number;
  n_against: number;
  n_wanted: number;
  n_candidates: number;
  waits: string;
}

/** A passage with its whole text. */
export interface Passage extends Candidate {
  type: "text";
  text: string;
  context: Turn[];
  coded: Theirs[];
  /** The passage itself, however long. */
  whole: Words;
  /** Other quotes of the same words. */
  others: { code: string; state: Quote["state"]; paraphrase: string | null }[];
}

export interface Page {
  type: "code";
  code: string;
  n: number;
  first: number;
  rows: Candidate[];
  progress: OfCode[];
}

/** An unsaved paraphrase. */
export type Draft = Key & { text: string };

export type Question =
  | { type: "hello" }
  | { type: "code"; code: string; first: number; fresh?: boolean }
  | ({ type: "text" } & Key)
  | { type: "keep"; drafts: Draft[] };

export interface Welcome {
  type: "welcome";
  coder: string;
  work_id: string;
  codebook: Codebook;
  rating: string;
  /** What the proposals rest on. */
  words: string;
  progress: OfCode[];
  unsaved: { drafts?: Draft[] };
}

export type Answer = Welcome | Page | Passage | { type: "kept" };

/** A decision, an undo or a redo was recorded; `rows` are the passages of its text as they are now. */
export interface Done {
  type: "done";
  unit_id: string;
  code: string;
  undone: boolean;
  redone: boolean;
  rows: Candidate[];
  progress: OfCode[];
}

export type { Span };
