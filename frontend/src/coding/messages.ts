// What the coding widget asks the kernel, and what it is answered.
import type { Codebook, CodedText, Deed, Turn } from "../shared/protocol";

/** `peek` fetches a unit without going there. */
export type Question = { type: "hello" } | { type: "unit"; place: number; peek?: boolean };

export interface Memo {
  memo_id: string;
  text: string;
}

export interface Unit extends CodedText {
  place: number;
  context: Turn[];
  rating: string | null;
  finished: boolean;
  memo: Memo | null;
}

/** What a recorded deed may change beside its unit; `flag` is the unit's letter in `flags`. */
export interface Counts {
  flag: string;
  n_finished: number;
  can_undo: boolean;
  can_redo: boolean;
}

/** The answer to the first question: all that the widget needs to begin. */
export type Welcome = {
  type: "welcome";
  coder: string;
  notice: string;
  outbox: string;
  codebook: Codebook;
  commands: Record<string, string>;
  flags: string;
  show_rating: boolean;
  unit: Unit | null;
} & Partial<Counts>;

export type Answer = Welcome | { type: "unit"; unit: Unit; notice: string };

/** A deed of this or another view stands in the record: its unit as it is now. */
export type Done = { type: "done"; kind: Deed["kind"]; unit: Unit; notice: string } & Counts;
