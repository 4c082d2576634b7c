// Deeds on their way to the record, and those that a closed widget left unsent.
import { signal } from "@preact/signals";
import type { Deed } from "./protocol";

/** Without an answer for this long, a deed counts as not saved and is sent again. */
export const PATIENCE_MS = 3000;

/**
 * Deeds on their way to the record: sent one at a time, in order, each kept until it is acknowledged.
 * One at a time, because a deed that overtook a failed one would change what stands.
 */
export class Outbox {
  readonly waiting = signal<readonly Deed[]>([]);
  readonly late = signal(false);
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly send: (deed: Deed) => void) {}

  push(...deeds: Deed[]): void {
    const idle = this.waiting.value.length === 0;
    this.waiting.value = [...this.waiting.value, ...deeds];
    if (idle && deeds.length) this.sendFirst();
  }

  /** The record holds this deed: go on to the next. */
  settle(id: string): boolean {
    return this.goOn(id, () => true);
  }

  /**
   * The record will never take this deed. What followed it on its text (a finish without the code) or took
   * something back was meant for another state, and goes with it; the number of those is returned.
   */
  refuse(id: string): number {
    const [first, ...later] = this.waiting.value;
    const stays = ({ unit_id }: Deed) => !first?.unit_id || (unit_id !== undefined && unit_id !== first.unit_id);
    return this.goOn(id, stays) ? later.length - later.filter(stays).length : 0;
  }

  /** Saving failed: the deed stays first and is sent again after a while. */
  fail(id: string): void {
    if (this.waiting.value[0]?.id === id) this.late.value = true;
  }

  retry(): void {
    this.sendFirst();
  }

  /** Stop sending and hand over what was not acknowledged. */
  close(): readonly Deed[] {
    clearTimeout(this.timer);
    return this.waiting.value;
  }

  private goOn(id: string, stays: (deed: Deed) => boolean): boolean {
    if (this.waiting.value[0]?.id !== id) return false;
    this.late.value = false;
    this.waiting.value = this.waiting.value.slice(1).filter(stays);
    this.sendFirst();
    return true;
  }

  private sendFirst(): void {
    clearTimeout(this.timer);
    const first = this.waiting.value[0];
    if (!first) return;
    this.timer = setTimeout(() => {
      this.late.value = true;
      this.sendFirst();
    }, PATIENCE_MS);
    this.send(first);
  }
}

const SHELF = Symbol.for("sense7_qual.unsent");

/** Unsent deeds of closed widgets, by the work they belong to: a new widget for that work sends them. */
export function shelf(): Map<string, readonly Deed[]> {
  const place = globalThis as { [SHELF]?: Map<string, readonly Deed[]> };
  return (place[SHELF] ??= new Map());
}
