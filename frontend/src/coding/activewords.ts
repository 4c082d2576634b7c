// The words that the ends, Shift and the arrows, and the next code are for, once they are the words of
// codings.
import { computed, signal, type Signal } from "@preact/signals";
import type { Coding, Span } from "../shared/protocol";
import { sameSpan } from "../shared/spans";
import type { Mark } from "./facets";
import type { Unit } from "./messages";

/** Whether both are the same code on the same words. */
export const isOn = (one: Mark, other: Mark) => one.code === other.code && sameSpan(one, other);
export const codesOf = (codings: readonly Mark[]) => codings.map(({ code }) => code);
export const WHOLE = { start: null, end: null };

/**
 * What is selected belongs to nothing until a code's key is pressed; from then on it is the words of that
 * coding, and
 * of those whose keys follow. The words of a coding that is marked are selected with it. Whatever else is
 * selected is
 * another object, even on the same words, and belongs to nothing again.
 */
export class ActiveWords {
  readonly #marked: Signal<Mark | null>;
  readonly #span: Signal<Span | null>;
  readonly #unit: () => Unit | null;
  /** The words of codings, and their codes; `chosen` if they were selected before they were coded. */
  readonly #held = signal<{ span: Span; codes: readonly string[]; chosen: boolean } | null>(null);

  /** In a view with this marked coding, this selection, and this text on screen. */
  constructor(marked: Signal<Mark | null>, selected: Signal<Span | null>, unit: () => Unit | null) {
    [this.#marked, this.#span, this.#unit] = [marked, selected, unit];
  }

  #those(fit: (coding: Coding) => boolean): Coding[] {
    return this.#unit()?.codings.filter(fit) ?? [];
  }

  /**
   * The codings whose words are selected, the marked one first: their ends are moved together, and the
   * selection with them.
   */
  readonly codings = computed((): readonly Coding[] => {
    const [held, mark] = [this.#held.value, this.#marked.value];
    if (!held || held.span !== this.#span.value) return [];
    const own = this.#those(one => held.codes.includes(one.code) && sameSpan(one, held.span));
    return own.sort((a, b) => Number(b.code === mark?.code) - Number(a.code === mark?.code));
  });

  /**
   * What Shift and an arrow moves: those codings; where nothing is selected the marked one, if it is of
   * words.
   */
  readonly movable = computed((): readonly Coding[] => {
    const mark = this.#marked.value;
    return this.#span.value
      ? this.codings.value
      : this.#those(one => !!mark && mark.start !== null && isOn(one, mark));
  });

  /** Mark a coding: the next code goes to its words, too. */
  mark({ code, start, end }: Mark): void {
    if (start !== null) return this.hold({ start, end: end! }, [code]);
    this.#span.value = null;
    this.add(code);
  }

  /** These are the words of codings with these codes, the first of which is marked. */
  hold(span: Span, codes: readonly string[]): void {
    this.#held.value = { span, codes, chosen: false };
    this.#span.value = span;
    this.#marked.value = { code: codes[0]!, ...span };
  }

  /** What is selected was given another code; where nothing is, the whole text was. */
  add(code: string): void {
    const [span, codings] = [this.#span.value, this.codings.value];
    const chosen = !codings.length || this.#held.value!.chosen;
    if (span) this.#held.value = { span, codes: [...codesOf(codings), code], chosen };
    this.#marked.value = { code, ...(span ?? WHOLE) };
  }

  /** The marked coding may be gone: mark another one of these words, the last. */
  remark(): void {
    const [mark, codings] = [this.#marked.value, this.codings.value];
    if (!mark || !codings.some(one => isOn(one, mark))) this.#marked.value = codings.at(-1) ?? null;
  }

  /**
   * Something was taken back, or done again: where that moved the codings of the selected words from where
   * they stood
   * `before`, the selection goes along. Words that were selected before they were coded stay so.
   */
  follow(before: Unit, held: readonly Coding[]): void {
    if (this.codings.value.length) return this.remark();
    if (this.#held.value?.chosen) return;
    const came = this.#those(
      one =>
        one.start !== null &&
        codesOf(held).includes(one.code) &&
        !before.codings.some(other => isOn(one, other)),
    );
    const first = came.find(({ code }) => code === this.#marked.value?.code) ?? came[0];
    if (first) this.hold({ start: first.start!, end: first.end! }, codesOf([first, ...came]));
  }
}
