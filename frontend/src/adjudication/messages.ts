// What the adjudication widget asks the kernel, and what it is answered.
import type { Codebook, Coding, Turn } from "../shared/protocol";

export type By = "split" | "code" | "pair" | "participant";
/** How a disagreement was settled: the code applies, does not, or both readings stand. */
export type Settled = "applied" | "absent" | "differing";

/** A text and a code on which coders disagree. */
export interface Key {
  unit_id: string;
  code: string;
}

export interface QueueRow extends Key {
  n_applied: number;
  n_coders: number;
  /** The code, the two coders or the participant under which it stands; empty where there are no groups. */
  group: string;
  settled: Settled | null;
}

export interface OfCode {
  code: string;
  n_units: number;
  n_disputed: number;
  n_open: number;
  n_applied: number;
  n_absent: number;
  n_differing: number;
  /** The part of the code's consensus that is missing, in words. */
  missing: string;
}

/**
 * What settling the next `n` brings: of the code's consensus still missing before and after, how much narrower intervals
 * of its links become; and alpha now and if the coders decided these alike. All in words, empty where not computable.
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
  /** What is counted and what is not. */
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
  /** Whether the coder applied the code; null where this coder decided nothing about it. */
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

export interface StaleRow {
  code?: string;
  label?: string;
  reason?: string;
  coder: string;
  n: number;
  hours: string | null;
}

/** What becomes stale by a change of the codebook. */
export interface Foretold {
  type: "change";
  base: string;
  by_code: StaleRow[];
  by_coder: StaleRow[];
  total: string | null;
  at_least: boolean;
  n_rulings: number;
  n_leaving: number;
  words: string;
}

/** Somebody else changed the same fields of the rule, which are now so. */
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

export type Question =
  | { type: "hello" }
  | { type: "queue"; by: By; fresh?: boolean }
  | ({ type: "dispute" | "similar" } & Key)
  | { type: "names"; letters: boolean }
  | ({ type: "keep" } & Unsaved)
  | ({ type: "change" } & Change)
  | ({ type: "save_change"; base: string; why: string } & Change);

/** A change of the codebook that is begun, and on which disagreement. */
export interface Begun extends Key {
  change: Change;
  why: string;
}

/** What is begun and not saved. */
export interface Unsaved {
  notes: (Key & { text: string })[];
  change: Begun | null;
}

export interface Reason {
  name: string;
  label: string;
}

export type Welcome = Queue & { type: "welcome"; coder: string; work_id: string; reasons: Reason[]; by_meaning: boolean; codebook: Codebook; unsaved: Partial<Unsaved> };

export type Answer = Welcome | (Queue & { type: "queue" }) | Dispute | Similar | Foretold | Overtaken | { type: "changed_code"; code: string } | { type: "called" | "kept" };

/** A ruling, or what took one back or did it again, stands in the record. */
export type Done = Progress & Key & { type: "done"; undone: boolean; redone?: boolean; /** Whether what was done settles the disagreement now. */ counts?: boolean; ruling: Ruling | null };

/** What the kernel tells all views. */
export type Told = (Queue & { type: "named" }) | (Queue & { type: "revised"; codebook: Codebook });
