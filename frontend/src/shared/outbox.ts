// Acts on their way to the record, and those that a closed widget left unsent.
import { computed, signal } from "@preact/signals";
import { KINDS } from "./kinds";
import type { Act } from "./protocol";

/** Without an answer for this long, an act is late and is sent again. */
export const PATIENCE_MS = 3000;

const takesBack = (act: Act) => KINDS[act.kind].takesBack;

/**
 * Acts on their way to the record: sent one at a time, in order, each kept until it is acknowledged.
 * One at a time, because an act that overtook a failed one would change what stands.
 */
export class Outbox {
  readonly waiting = signal<readonly Act[]>([]);
  /** Whether the first one has no answer for longer than usual, or the answer that saving failed. */
  readonly late = signal(false);
  /** Whether the last answer to the first one was that saving failed. */
  readonly failed = signal(false);
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Whether an act is on its way that takes one back, or does it again. */
  readonly turning = computed(() => this.waiting.value.some(takesBack));

  constructor(private readonly send: (act: Act) => void) {}

  push(...acts: Act[]): void {
    const idle = this.waiting.value.length === 0;
    this.waiting.value = [...this.waiting.value, ...acts];
    if (idle && acts.length) this.#sendFirst();
  }

  /** The record holds this act: go on to the next. */
  settle(id: string): boolean {
    return this.#goOn(id, () => true);
  }

  /**
   * The record will never take this act. What followed it on its text (a finish without the code) or took
   * something back was meant for another state, and goes with it; the number of those is returned.
   */
  refuse(id: string): number {
    const [first, ...later] = this.waiting.value;
    // A memo on a code is on no text, and stays whatever became of one; what a lead does is on one code of
    // theirs.
    const elsewhere = (act: Act) =>
      act.unit_id === undefined ||
      act.unit_id !== first!.unit_id ||
      (KINDS[act.kind].by === "lead" && act.code !== first!.code);
    const stays = (act: Act) => !first || takesBack(first) || (!takesBack(act) && elsewhere(act));
    return this.#goOn(id, stays) ? later.length - later.filter(stays).length : 0;
  }

  /** Saving failed: the act stays first and is sent again after a while. */
  fail(id: string): void {
    if (this.waiting.value[0]?.id === id) this.late.value = this.failed.value = true;
  }

  retry(): void {
    this.#sendFirst();
  }

  /** Stop sending and hand over what was not acknowledged. */
  close(): readonly Act[] {
    clearTimeout(this.#timer);
    return this.waiting.value;
  }

  #goOn(id: string, stays: (act: Act) => boolean): boolean {
    if (this.waiting.value[0]?.id !== id) return false;
    this.late.value = this.failed.value = false;
    this.waiting.value = this.waiting.value.slice(1).filter(stays);
    this.#sendFirst();
    return true;
  }

  #sendFirst(): void {
    clearTimeout(this.#timer);
    const first = this.waiting.value[0];
    if (!first) return;
    this.#timer = setTimeout(() => {
      this.late.value = true;
      this.#sendFirst();
    }, PATIENCE_MS);
    this.send(first);
  }
}

const SHELF = Symbol.for("sense7_qual.unsent");

/** Unsent acts of closed widgets, by the work they belong to: a new widget for that work sends them. */
export function shelf(): Map<string, readonly Act[]> {
  const place = globalThis as { [SHELF]?: Map<string, readonly Act[]> };
  return (place[SHELF] ??= new Map());
}
