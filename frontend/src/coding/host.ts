// What the parts of the coding widget may know of the view that they are in, and do in it.
import type { ReadonlySignal } from "@preact/signals";
import type { CodebookView } from "../shared/codebook";
import type { Act } from "../shared/protocol";
import type { Question, Unit } from "./messages";

export interface Host {
  ask(question: Question): void;
  say(words: string): void;
  /** Do this on a text, or on none. */
  do(act: Omit<Act, "id" | "unit_id">, unit: Unit | null): readonly Act[];
  push(...acts: Omit<Act, "id">[]): readonly Act[];
  takeBack(): void;
  /** A text came with an answer: whoever shows it takes it as it is now. */
  came(unit: Unit): void;
  goto(place: number): void;
  /** Go to the next unfinished text. */
  goOn(): void;
  /** Give the focus to what this selector finds once it is drawn. */
  focus(selector: string): void;
  /** Make acts of what is being written. */
  keep(): void;
  /** Write on each of these codes, in a memo, that their texts are left as they are. */
  leave(codes: readonly string[], line: string): void;
  /** List the texts to look at again, and go to the first. */
  listAgain(): void;
  /** Something in the inbox may be another thing now. */
  inboxChanged(): void;
  /** How many texts are to be looked at again. */
  toReview(): number;
  /** Show another of the kernel's widgets in the place of this one. */
  showOther(model: string): void;
  isUnsaved(): boolean;
  book: CodebookView;
  total: ReadonlySignal<number>;
  showRating: ReadonlySignal<boolean>;
  /** What is on its way to the record. */
  waiting: ReadonlySignal<readonly Act[]>;
  /**
   * The text on screen with what is on its way; the same as the record has it. Null while another one is
   * loading.
   */
  unit: ReadonlySignal<Unit | null>;
  known: ReadonlySignal<Unit | null>;
  /** The place of the text that keys are meant for, also while it is loading; and of the text on screen. */
  place: ReadonlySignal<number | null>;
  shown: ReadonlySignal<number | null>;
}
