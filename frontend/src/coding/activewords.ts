// The words that the ends, Shift and the arrows, and the next code are for, once they are the words of codings.
import { computed, signal, type Signal } from "@preact/signals";
import type { Coding, Span } from "../shared/protocol";
import { sameSpan } from "../shared/spans";
import type { Mark } from "./facets";
import type { Unit } from "./messages";

/** Whether both are the same code on the same words. */
export const isOn = (one: Mark, other: Mark) => one.code === other.code && sameSpan(one, other);

interface Host {
  marked: Signal<Mark | null>;
  selecting: { span: Signal<Span | null> };
  /** The text on screen. */
  unit: () => Unit | null;
}

/**
 * What is selected belongs to nothing until a code's key is pressed; from then on it is the words of that coding, and
 * of those whose keys follow. The words of a coding that is marked are selected with it. Whatever else is selected is
 * another object, even on the same words, and belongs to nothing again.
 */
export class ActiveWords {
  /** The words of codings, and their codes; `chosen` if they were selected before they were coded. */
  readonly #held = signal<{ span: Span; codes: readonly string[]; chosen: boolean } | null>(null);

  constructor(private readonly host: Host) {}

  /** The codings whose words are selected, the marked one first: their ends are moved together, and the selection with them. */
  readonly codings = computed((): readonly Coding[] => {
    const [held, mark] = [this.#held.value, this.host.marked.value];
    if (!held || held.span !== this.host.selecting.span.value) return [];
    const own = this.host.unit()?.codings.filter((one) => held.codes.includes(one.code) && sameSpan(one, held.span)) ?? [];
    const first = own.findIndex((one) => one.code === mark?.code);
    return first > 0 ? [own[first]!, ...own.toSpliced(first, 1)] : own;
  });

  /** What Shift and an arrow moves: those codings; where nothing is selected the marked one, if it is of words. */
  readonly movable = computed((): readonly Coding[] => {
    const mark = this.host.marked.value;
    if (this.host.selecting.span.value || !mark || mark.start === null) return this.codings.value;
    return this.host.unit()?.codings.filter((one) => isOn(one, mark)) ?? [];
  });

  /** Mark a coding: the next code goes to its words, too. */
  mark({ code, start, end }: Mark): void {
    if (start === null) {
      this.host.marked.value = { code, start, end };
      this.host.selecting.span.value = null;
    } else this.hold({ start, end: end! }, [code]);
  }

  /** These are the words of codings with these codes, the first of which is marked. */
  hold(span: Span, codes: readonly string[]): void {
    this.#held.value = { span, codes, chosen: false };
    this.host.selecting.span.value = span;
    this.host.marked.value = { code: codes[0]!, ...span };
  }

  /** What is selected was given another code; where nothing is, the whole text was. */
  add(code: string): void {
    const [span, codings] = [this.host.selecting.span.value, this.codings.value];
    const chosen = !codings.length || this.#held.value!.chosen;
    if (span) this.#held.value = { span, codes: [...codings.map((one) => one.code), code], chosen };
    this.host.marked.value = { code, start: span?.start ?? null, end: span?.end ?? null };
  }

  /** The marked coding may be gone: mark another one of these words, the last. */
  remark(): void {
    const [mark, codings] = [this.host.marked.value, this.codings.value];
    if (!mark || !codings.some((one) => isOn(one, mark))) this.host.marked.value = codings.at(-1) ?? null;
  }

  /**
   * Something was taken back, or done again: where that moved the codings of the selected words from where they stood
   * `before`, the selection goes along. Words that were selected before they were coded stay so.
   */
  follow(before: Unit, held: readonly Coding[]): void {
    if (this.codings.value.length) return this.remark();
    if (this.#held.value?.chosen) return;
    const came = this.host.unit()?.codings.filter((one) => one.start !== null && held.some(({ code }) => code === one.code) && !before.codings.some((other) => isOn(one, other))) ?? [];
    const first = came.find(({ code }) => code === this.host.marked.value?.code) ?? came[0];
    if (first) this.hold({ start: first.start!, end: first.end! }, [first, ...came].map(({ code }) => code));
  }
}
