// What the overview asks the kernel, and what it is answered. All numbers, and all words about them, are the
// kernel's.
import type { Code, CoderColumn } from "../shared/protocol";

/** What a number counts: the kernel lists the texts behind it. */
export interface Door {
  of: string;
  round?: string | null;
  coder?: string;
  code?: string;
}

export interface Book {
  title: string;
  codes: Code[];
}

export interface CoderRow {
  coder: string;
  n: number;
  done: number;
  left: number;
  /** How many seconds a text takes; null where it is not known. */
  seconds: number | null;
  /** How long the rest takes, in words; empty where it is not known. */
  time: string;
}

export interface RoundRow {
  /** Null for what is coded in no round. */
  round: string | null;
  state: string;
  words: string;
  n_units: number;
  n_coders: number;
  is_finished: boolean;
  coders: CoderRow[];
}

export interface UsedRow {
  code: string;
  label: string;
  /** Null where nothing counts before it is reviewed. */
  n: number | null;
  share: number | null;
  /** The share in each part of the order of coding; empty where there are too few texts. */
  parts: number[];
  percent: string;
  /** How much waits for review; empty where nothing does. */
  waits: string;
}

export interface AgreementRow {
  code: string;
  label: string;
  n: number;
  alpha: number | null;
  low: number | null;
  high: number | null;
  /** The interval that holds at every look. */
  look_low: number | null;
  look_high: number | null;
  value: string;
  interval: string;
  n_more: number | null;
  more: string;
  why: string;
  /** How much waits for review; empty where nothing does. */
  waits: string;
}

export interface Item {
  what: string;
  todo: string;
  n: number;
  door: Door;
  /** What to run for it; empty where there is nothing. */
  cell: string;
}

export interface Rounds {
  type: "rounds";
  at: string;
  rows: RoundRow[];
  book: Book;
}

/** `words`: what the numbers rest on. */
export interface Used {
  type: "codes";
  rows: UsedRow[];
  n_finished: number;
  words: string;
}

/** Agreement in one round by itself, and what it rests on; null: texts of no round. */
export interface RoundAgreement {
  round: string | null;
  basis: string;
  codes: Record<string, { n: number; value: string; interval: string; why: string; waits: string }>;
}

/** `basis`: what the numbers rest on. */
export interface Agreement {
  type: "agreement";
  rows: AgreementRow[];
  by_round: RoundAgreement[];
  basis: string;
  words: string[];
}

export interface Alarm {
  coder: string;
  code: string;
  label: string;
  n_later: number;
  words: string;
}

export interface Change {
  type: "change";
  alarms: Alarm[];
  drift_words: string;
  /** How many codes had been applied after each participant. */
  came: number[];
  came_words: string;
}

/** The next steps, or of a coder their inbox. */
export interface Attention {
  type: "attention";
  of_coder: boolean;
  rows: Item[];
}

/**
 * A coder who surely applies a code more or less than the others; `n_apart`: texts decided against most of
 * them.
 */
export interface LeaningRow {
  coder: string;
  code: string;
  label: string;
  n: number;
  at: number;
  others_at: number;
  share: string;
  others: string;
  n_apart: number;
}

/** Who codes differently, the largest difference first. */
export interface Leaning {
  type: "leaning";
  rows: LeaningRow[];
}

export type Part = Rounds | Used | Agreement | Leaning | Change | Attention;

/** What the kernel tells all views. */
export type Told = Part | { type: "counted" | "acted" } | { type: "uncounted"; message: string };

export interface UnitRow {
  unit_id: string;
  words: string;
  note: string;
}

export interface Units {
  type: "units";
  door: Door;
  title: string;
  n: number;
  first: number;
  rows: UnitRow[];
}

export interface Coded extends CoderColumn {
  /** Labels of codes that must be decided again. */
  again: string[];
}

export interface UnitText {
  type: "unit";
  unit_id: string;
  text: string;
  viewer: string;
  coders: Coded[];
}

export type Question =
  | { type: "hello" | "count" }
  | { type: "units"; door: Door; first: number; find: string; renewed: boolean }
  | { type: "unit"; unit_id: string };

export type Answer =
  | { type: "welcome"; coder: string; book: Book; parts: Part[] }
  | { type: "counting" }
  | Units
  | UnitText;
