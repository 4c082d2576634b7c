// What every widget's messages are made of. Offsets are UTF-16 code units on this side, code points in the
// record.
import type { Kind } from "./kinds";

export interface Span {
  start: number;
  end: number;
}

export interface Coding {
  code: string;
  start: number | null;
  end: number | null;
  /** The name of each facet that it states, with the name of the value. */
  facets: Record<string, string>;
  confidence: "sure" | "unsure" | null;
  pending?: boolean;
}

/** A colleague's coding, to be seen and never changed. */
export interface Theirs extends Coding {
  coder: string;
}

/**
 * How a coder agrees on a code with the one in the first column: both (on words that overlap), both
 * elsewhere, or one alone.
 */
export type Sign = "both" | "elsewhere" | "own" | "theirs";

export interface CoderColumn {
  coder: string;
  finished: boolean;
  codings: readonly Coding[];
  signs?: Record<string, Sign>;
}

/** A text and what is coded on it. */
export interface CodedText {
  unit_id: string;
  text: string;
  codings: Coding[];
  /** The words of it that memos are about. */
  memos?: readonly Span[];
}

/** A turn of the conversation before a text. */
export interface Turn {
  role: string;
  text: string;
}

export interface Code {
  id: string;
  label: string;
  definition: string;
  use_when: string[];
  avoid_when: string[];
  examples: string[];
  counter_examples: string[];
  parent: string | null;
  colour: string | null;
  codable: boolean;
  key: string | null;
  look: CodeLook;
}

/** A colour in each theme, which line is drawn below the words, and the name where there is little room. */
export interface CodeLook {
  light: string;
  dark: string;
  line: number;
  short: string;
}

/** What a coding can state in addition to its code; without `codes` it applies to all of them. */
export interface Facet {
  name: string;
  label: string;
  values: FacetValue[];
  codes: string[];
}

export interface FacetValue {
  name: string;
  label: string;
  key: string | null;
}

export interface Codebook {
  title: string;
  version: string;
  facets: Facet[];
  codes: Code[];
}

/** A coding that is applied or removed together with an act. */
export type Part = { kind: "apply" | "remove"; code: string } & Partial<
  Pick<Act, "start" | "end" | "facets" | "confidence">
>;

/**
 * An act as it is asked for; its `id` becomes the recorded act's, so that sending it twice records it once.
 */
export interface Act {
  id: string;
  kind: Kind;
  unit_id?: string;
  code?: string;
  start?: number | null;
  end?: number | null;
  /**
   * Of a coding: the words from which the coding with this code is moved, with facets, doubt and memo, in one
   * step.
   */
  from?: Span;
  /** Codes whose codings are moved together with it, from the same words to the same words. */
  also?: readonly string[];
  /** Of hits of a search, which are coded at once, in one step: all of them. */
  found?: readonly { unit_id: string; start: number | null; end: number | null }[];
  facets?: Record<string, string>;
  confidence?: "sure" | "unsure" | null;
  text?: string;
  /**
   * What a memo is about (a text, where it does not say), which one it revises, and whether it is for the
   * team.
   */
  target_kind?: "unit" | "span" | "code" | "study";
  memo_id?: string;
  /** The memo that it answers. */
  answers?: string;
  team?: boolean;
  /** Of undo and redo: the act that is meant, where it is not the last one. */
  target?: string;
  /** Of a proposed code. */
  label?: string;
  definition?: string;
  /** Of a ruling: whether the code applies (null: both readings are valid), why it was needed, and a note. */
  applied?: boolean | null;
  reason?: string;
  note?: string;
  /** What is ruled on, where several are ruled on together. */
  rows?: readonly { unit_id: string; code: string }[];
  /** Of a quote: whether it is printed, whether it supports its code, and what is printed instead. */
  state?: "chosen" | "approved" | "refused";
  role?: "shows" | "disconfirms";
  paraphrase?: string | null;
  /** What goes into the record before it, in one step. */
  with?: readonly Part[];
  /** The version of the codebook under which a text is finished: under another one the act is refused. */
  under?: string;
  /**
   * How many acts on the text made what was shown when it was finished: where there are others the act is
   * refused.
   */
  seen?: number;
  /**
   * Of a theme: which one, what is done to it and the value; of a code made of it, its examples and its
   * codebook.
   */
  theme?: number;
  what?: "name" | "merge_into" | "parts" | "dismissed";
  value?: string | number | boolean;
  units?: readonly string[];
  base?: string;
  by_chat?: boolean;
}

/**
 * Texts that become stale, of a code and a coder or of a coder altogether; the hours in words, null where
 * unknown.
 */
interface StaleRow {
  code?: string;
  label?: string;
  reason?: string;
  coder: string;
  n: number;
  hours: string | null;
}

/** What a change of the codebook makes stale. */
export interface Stale {
  words: string;
  by_code: StaleRow[];
  by_coder: StaleRow[];
  total: string | null;
  at_least: boolean;
}

/** A code that is similar to a new one, by words or by meaning. */
export interface AlikeCode {
  id: string;
  how: string;
}

/** A text of a theme, and how many more are identical. */
export interface ThemeText {
  unit_id: string;
  text: string;
  n_same: number;
}

/** A version 4 UUID; `randomUUID` itself is missing on plain-HTTP servers. */
export function uuid(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = Array.from(bytes, byte => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
