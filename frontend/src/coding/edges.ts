// Correcting the words of a coding: one of its edges moves, by keys or by the mouse, and is recorded once it stays.
import { computed, signal, type ReadonlySignal, type Signal } from "@preact/signals";
import type { Act, Coding, Span } from "../shared/protocol";
import { sameSpan } from "../shared/spans";
import { dragged, moved, pieces, type Edge, type Granularity, type Step } from "../shared/words";
import type { Mark } from "./facets";
import type { Unit } from "./messages";

/** Without a key for so long, what was moved is recorded. */
export const KEPT_MS = 1000;

interface Host {
  marked: Signal<Mark | null>;
  /** The text on screen, without what is moving, and the marked coding on it. */
  still: ReadonlySignal<Unit | null>;
  selected: () => Span | null;
  seek: (span: Span, edge: Edge) => void;
  label: (code: string) => string;
  say: (words: string) => void;
  do: (act: Omit<Act, "id" | "unit_id">, unit: Unit) => void;
}

interface Moving { unit: Unit; coding: Coding; span: Span; }

export class Edges {
  readonly moving = signal<Moving | null>(null);
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly host: Host) {}

  /** The codings of a unit with the words of the moving one as they are on the screen. */
  readonly shown = computed(() => {
    const [unit, moving] = [this.host.still.value, this.moving.value];
    if (!unit || unit.unit_id !== moving?.unit.unit_id) return unit;
    return { ...unit, codings: unit.codings.map((one) => (isOn(one, moving.coding) ? { ...one, ...moving.span } : one)) };
  });

  /** Whether Shift and an arrow moves an edge of the marked coding, and no selection's. */
  get isReady(): boolean {
    return this.moving.value !== null || (this.host.selected() === null && this.#coding() !== undefined);
  }

  #coding(): Coding | undefined {
    const mark = this.host.marked.value;
    return this.host.still.value?.codings.find((one) => mark !== null && mark.start !== null && isOn(one, mark));
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
    const [unit, coding] = [this.host.still.value, this.moving.value?.coding ?? this.#coding()];
    if (!unit || !coding) return;
    const before = this.moving.value?.span ?? { start: coding.start!, end: coding.end! };
    const span = next(unit.text, before);
    if (!span || span.start >= span.end) return;
    this.moving.value = { unit, coding, span };
    this.host.marked.value = { code: coding.code, ...span };
    this.host.seek(span, edge);
    this.host.say(`${this.host.label(coding.code)}: ${unit.text.slice(span.start, span.end)}`);
  }

  /** Record the words as they are now. */
  keep(): void {
    clearTimeout(this.#timer);
    const moving = this.moving.value;
    this.moving.value = null;
    if (!moving || sameSpan(moving.coding, moving.span)) return;
    const { unit, coding, span } = moving;
    if (unit.codings.some((one) => isOn(one, { ...coding, ...span }))) {
      this.host.marked.value = coding;
      return this.host.say(`${this.host.label(coding.code)} is already applied there`);
    }
    this.host.do(moveTo(coding, span), unit);
  }

  /** Leave the words as they were; false where nothing moves. */
  cancel(): boolean {
    clearTimeout(this.#timer);
    const moving = this.moving.value;
    if (!moving) return false;
    this.moving.value = null;
    this.host.marked.value = moving.coding;
    this.host.say(`${this.host.label(moving.coding.code)} as it was`);
    return true;
  }
}

/** The act that moves a coding to other words, with what it states. */
export function moveTo({ code, start, end, facets, confidence }: Coding, span: Span): Omit<Act, "id" | "unit_id"> {
  return { kind: "apply", code, ...span, facets, confidence, from: { start: start!, end: end! } };
}

/** Of the codings with this code on words that overlap the span, the one that has most of it; and the number of the others. */
export function overlapped(codings: readonly Coding[], code: string, span: Span | null): { coding: Coding | undefined; others: number } {
  const shared = (one: Coding) => Math.min(one.end!, span!.end) - Math.max(one.start!, span!.start);
  const there = (span ? codings : []).filter((one) => one.code === code && one.start !== null && shared(one) > 0).sort((a, b) => shared(b) - shared(a));
  return { coding: there[0], others: Math.max(0, there.length - 1) };
}

const isOn = (one: Mark, other: Mark) => one.code === other.code && sameSpan(one, other);
