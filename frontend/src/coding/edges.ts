// Correcting the words of codings: one of their edges moves, by keys or by the mouse, and is recorded once it
// stays.
import { computed, signal, type ReadonlySignal } from "@preact/signals";
import type { Act, Coding, Span } from "../shared/protocol";
import { sameSpan } from "../shared/spans";
import { dragged, moved, pieces, type Edge, type Granularity, type Step } from "../shared/words";
import { codesOf, isOn, type ActiveWords } from "./activewords";
import type { Unit } from "./messages";

/** Without a key for so long, what was moved is recorded. */
export const KEPT_MS = 1000;

interface Host {
  words: ActiveWords;
  selecting: { seek(span: Span, edge: Edge): void };
  label(code: string): string;
  say(words: string): void;
}

type Do = (act: Omit<Act, "id" | "unit_id">, unit: Unit) => void;

/** Codings of the same words, the marked one first, and where their words are now. */
interface Moving {
  unit: Unit;
  codings: readonly Coding[];
  span: Span;
}

export class Edges {
  readonly moving = signal<Moving | null>(null);
  readonly #host: Host;
  readonly #still: ReadonlySignal<Unit | null>;
  readonly #record: Do;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `still` is the text on screen, without what is moving. */
  constructor(host: Host, still: ReadonlySignal<Unit | null>, record: Do) {
    [this.#host, this.#still, this.#record] = [host, still, record];
  }

  /** The codings of a unit with the words of the moving ones as they are on the screen. */
  readonly shown = computed(() => {
    const [unit, moving] = [this.#still.value, this.moving.value];
    if (!unit || unit.unit_id !== moving?.unit.unit_id) return unit;
    return {
      ...unit,
      codings: unit.codings.map(one =>
        moving.codings.some(other => isOn(one, other)) ? { ...one, ...moving.span } : one,
      ),
    };
  });

  /** Whether Shift and an arrow moves an edge of codings, and no selection's. */
  get isReady(): boolean {
    return this.moving.value !== null || this.#host.words.movable.value.length > 0;
  }

  /** Move an edge by a word or a sentence. */
  move(edge: Edge, granularity: Granularity, step: Step): void {
    this.#to(edge, (text, span) => moved(pieces(text, granularity), span, edge, step));
    this.#timer = setTimeout(() => this.keep(), KEPT_MS);
  }

  /** The mouse has dragged an edge to this place: whole words, or exactly there. */
  drag(edge: Edge, at: number, exact: boolean): void {
    this.#to(edge, (text, span) => dragged(text, span, edge, at, exact));
  }

  #to(edge: Edge, next: (text: string, span: Span) => Span | null): void {
    clearTimeout(this.#timer);
    const [unit, codings] = [this.#still.value, this.moving.value?.codings ?? this.#host.words.movable.value];
    const [first] = codings;
    if (!unit || !first) return;
    const span = next(unit.text, this.moving.value?.span ?? { start: first.start!, end: first.end! });
    if (!span || span.start >= span.end) return;
    this.moving.value = { unit, codings, span };
    this.#host.words.hold(span, codesOf(codings));
    this.#host.selecting.seek(span, edge);
    this.#host.say(`${this.#labels(codings)}: ${unit.text.slice(span.start, span.end)}`);
  }

  #labels(codings: readonly Coding[]): string {
    return codings.map(({ code }) => this.#host.label(code)).join(", ");
  }

  /** Record the words as they are now. */
  keep(): void {
    clearTimeout(this.#timer);
    const moving = this.moving.value;
    this.moving.value = null;
    const [first, ...others] = moving?.codings ?? [];
    if (!moving || !first || sameSpan(first, moving.span)) return;
    const { unit, codings, span } = moving;
    const there = codings.filter(({ code }) => unit.codings.some(one => isOn(one, { code, ...span })));
    if (!there.length) return this.#record({ ...moveTo(first, span), also: codesOf(others) }, unit);
    this.#host.words.remark();
    this.#host.say(`${this.#labels(there)} is already applied there`);
  }

  /** Leave the words as they were; false where nothing moves. */
  cancel(): boolean {
    clearTimeout(this.#timer);
    const codings = this.moving.value?.codings ?? [];
    const [first] = codings;
    if (!first) return false;
    this.moving.value = null;
    this.#host.words.hold({ start: first.start!, end: first.end! }, codesOf(codings));
    this.#host.say(`${this.#labels(codings)} as it was`);
    return true;
  }
}

/** The act that moves a coding to other words, with what it states. */
export function moveTo(
  { code, start, end, facets, confidence }: Coding,
  span: Span,
): Omit<Act, "id" | "unit_id"> {
  return { kind: "apply", code, ...span, facets, confidence, from: { start: start!, end: end! } };
}

/**
 * Of the codings with this code on words that overlap the span, the one that has most of it; and the number
 * of the others.
 */
export function overlapped(
  codings: readonly Coding[],
  code: string,
  span: Span | null,
): { coding: Coding | undefined; others: number } {
  const shared = (one: Coding) => Math.min(one.end!, span!.end) - Math.max(one.start!, span!.start);
  const there = (span ? codings : [])
    .filter(one => one.code === code && one.start !== null && shared(one) > 0)
    .sort((a, b) => shared(b) - shared(a));
  return { coding: there[0], others: Math.max(0, there.length - 1) };
}
