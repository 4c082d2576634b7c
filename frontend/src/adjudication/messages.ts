// What the adjudication widget asks the kernel, and what it is answered.
import type { Codebook, Coding, Stale, Turn } from "../shared/protocol";

export type By = "split" | "code" | "pair" | "participant";
/** How a disagreement was settled: the code applies, does not apply, or both readings are valid. */
export type Settled = "applied" | "absent" | "differing";

/** A text and a code on which coders disagree. */
export interface Key {
  unit_id: string;
  code: string;
}

export interface QueueRow extends Key {
  n_applied: number;
  n_coders: number;
  /** The code, the pair of coders or the participant it is listed under; empty without groups. */
  group: string;
  settled: Settled | null;
  /** A line of the text around the disputed words. */
  words: string;
  /** Who decided, and who of them decided against most of the others. */
  coders: string[];
  apart: string[];
}

export interface OfCode {
  code: string;
  n_units: number;
  n_disputed: number;
  n_open: number;
  n_applied: number;
  n_absent: number;
  n_differing: number;
  /** The share of the code's consensus still missing, in words. */
  missing: string;
}

/**
 * The gain from settling the next `n`: the share of each code's consensus missing before and after, how much
 * narrower the
 * intervals of its links become, and alpha now and if the coders agreed on these. In words, empty if not
 * computable.
 */
export interface Brings {
  n: number;
  codes: { code: string; n: number; before: string; after: string; narrower: string; alpha: string }[];
}

export interface Progress {
  n_open: number;
  n_settled: number;
  by_code: OfCode[];
  brings: Brings;
}

export interface Queue extends Progress {
  by: By;
  letters: boolean;
  rows: QueueRow[];
  /** Which codings are counted. */
  words: string;
}

export interface Ruling {
  settled: Settled;
  reason: string | null;
  note: string;
  by: string;
  at: string;
}

/** A memo on the text, or with a span on words of it. */
export interface Memo {
  start: number | null;
  end: number | null;
  text: string;
}

export interface Reading {
  coder: string;
  /** Whether the coder applied the code; null without a decision. */
  applied: boolean | null;
  codings: Coding[];
  memos: Memo[];
}

export interface Dispute extends Key {
  type: "dispute";
  text: string;
  context: Turn[];
  coders: Reading[];
  ruling: Ruling | null;
  /** The other codes that are disputed on the text. */
  others: { code: string; settled: Settled | null }[];
}

export interface SimilarRow extends Ruling {
  unit_id: string;
  text: string;
  cut: boolean;
  how: "words" | "meaning";
}

export interface Similar extends Key {
  type: "similar";
  rows: SimilarRow[];
  n_ruled: number;
  note: string;
}

/** The texts that a change of the codebook makes stale. */
export interface Foretold extends Stale {
  type: "change";
  base: string;
  n_rulings: number;
  n_leaving: number;
}

/** Somebody else changed the same fields of the rule: their values now. */
export interface Overtaken {
  type: "overtaken";
  theirs: Partial<Rule>;
  by: { coder: string; at: string; why: string } | null;
}

/** The fields that make a code's rule. */
export interface Rule {
  definition: string;
  use_when: string[];
  avoid_when: string[];
}

export type Change =
  | { code: string; kind: "example" | "counter_example"; words: string }
  | { code: string; kind: "rule"; values: Partial<Rule>; before: Partial<Rule> };

/** The rounds of discussion that were opened. */
export interface Discussing {
  type: "discussing";
  rounds: { name: string; coders: string[]; n_units: number }[];
}

/**
 * A discussion: how far it is, and once all can read it, what was revised, with alpha before and after, in
 * words.
 */
export interface Discussion {
  name: string;
  of: string;
  /** How many texts each has finished in it, and how many all have. */
  coders: { coder: string; n: number }[];
  n_again: number;
  /** Whether its coders can read each other, and whether the lead may let them. */
  is_open: boolean;
  may_open: boolean;
  units: { unit_id: string; words: string; n_again: number; n_changed: number; n_notes: number }[];
  revised: { code: string; n: number; before: string; after: string }[];
  n_changed: number;
}

/**
 * A coder's codings of a text as they are last: from the discussion if they looked `again`, with what that
 * changed.
 */
export interface Talker {
  coder: string;
  again: boolean;
  codings: Coding[];
  added: string[];
  dropped: string[];
}

/** A note in a discussion, and the id of the one that it answers. */
export interface Note extends Memo {
  memo_id: string;
  coder: string;
  at: string;
  answers: string | null;
}

export interface Thread {
  type: "thread";
  name: string;
  unit_id: string;
  text: string;
  context: Turn[];
  coders: Talker[];
  notes: Note[];
}

export type Question =
  | { type: "hello" }
  | { type: "queue"; by: By; fresh?: boolean }
  | ({ type: "dispute" | "similar" } & Key)
  | { type: "names"; letters: boolean }
  | ({ type: "keep" } & Unsaved)
  | {
      type: "discuss";
      rows: Key[] /** Who looks again alone; else all who decided discuss. */;
      coder?: string;
    }
  | { type: "discussions" }
  | { type: "thread"; name: string; unit_id: string }
  | { type: "say"; name: string; unit_id: string; text: string; answers: string | null }
  | { type: "share"; name: string }
  | ({ type: "change" } & Change)
  | ({ type: "save_change"; base: string; why: string } & Change);

/** An unsaved change of the codebook, and the disagreement it began with. */
export interface Begun extends Key {
  change: Change;
  why: string;
}

/** Unsaved work. */
export interface Unsaved {
  notes: (Key & { text: string })[];
  change: Begun | null;
  discuss: Key[];
}

export interface Reason {
  name: string;
  label: string;
}

export type Welcome = Queue & {
  type: "welcome";
  coder: string;
  work_id: string;
  reasons: Reason[];
  by_meaning: boolean;
  codebook: Codebook;
  unsaved: Partial<Unsaved>;
};

export type Answer =
  | Welcome
  | (Queue & { type: "queue" })
  | Dispute
  | Similar
  | Foretold
  | Overtaken
  | { type: "changed_code"; code: string }
  | Discussing
  | { type: "discussions"; rows: Discussion[] }
  | Thread
  | { type: "called" | "kept" };

/** A ruling, an undo or a redo was recorded. */
export type Done = Progress &
  Key & {
    type: "done";
    undone: boolean;
    redone?: boolean /** Whether it settles the disagreement now. */;
    counts?: boolean;
    ruling: Ruling | null /** The others, where several were made together. */;
    also: (Key & { ruling: Ruling | null })[];
  };

/** What the kernel tells all views. */
export type Told = (Queue & { type: "named" }) | (Queue & { type: "revised"; codebook: Codebook });
