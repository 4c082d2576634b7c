// Rulings that are made together on what the queue shows: which disagreements, and the one decision on all of
// them.
import { computed, signal, type ReadonlySignal } from "@preact/signals";
import type { QueueRow } from "./messages";
import { DIFFERENT, keyOf } from "./keys";
import { placeIn } from "../shared/words";

/** What is decided on all of them; undefined where it is not decided yet. */
export interface Decided {
  applied: boolean | null;
  reason: string;
  note: string;
}

interface Host {
  rows: ReadonlySignal<readonly QueueRow[]>;
  places: ReadonlySignal<readonly number[]>;
  isOpen(row: QueueRow): boolean;
}

export class Batch {
  readonly open = signal(false);
  /** The row that keys are meant for. */
  readonly cursor = signal(0);
  readonly applied = signal<boolean | null | undefined>(undefined);
  readonly reason = signal("");
  readonly note = signal("");
  private readonly left = signal<ReadonlySet<string>>(new Set());
  private readonly onScreen = signal<ReadonlySet<string>>(new Set());
  /** The open disagreements that the queue shows. */
  readonly rows = computed((): readonly QueueRow[] =>
    this.host.places.value.map(at => this.host.rows.value[at]!).filter(row => this.host.isOpen(row)),
  );
  readonly chosen = computed(() => this.rows.value.filter(row => !this.left.value.has(keyOf(row))));
  readonly nSeen = computed(
    () => this.chosen.value.filter(row => this.onScreen.value.has(keyOf(row))).length,
  );
  readonly ready = computed(
    () => this.chosen.value.length > 0 && this.applied.value !== undefined && this.reason.value !== "",
  );

  constructor(private readonly host: Host) {}

  begin(): void {
    this.end();
    this.open.value = true;
  }

  end(): void {
    this.open.value = false;
    this.cursor.value = 0;
    this.applied.value = undefined;
    this.reason.value = this.note.value = "";
    this.left.value = this.onScreen.value = new Set();
  }

  isChosen(row: QueueRow): boolean {
    return !this.left.value.has(keyOf(row));
  }

  tick(at: number): void {
    const row = this.rows.value[at];
    if (!row) return;
    this.cursor.value = at;
    const left = new Set(this.left.value);
    if (!left.delete(keyOf(row))) left.add(keyOf(row));
    this.left.value = left;
  }

  go(by: 1 | -1): void {
    this.cursor.value = placeIn(this.rows.value.length, this.cursor.value + by);
  }

  /** These rows were wholly in sight. */
  saw(first: number, last: number): void {
    const rows = this.rows.value.slice(first, last).map(keyOf);
    if (rows.some(key => !this.onScreen.value.has(key)))
      this.onScreen.value = new Set([...this.onScreen.value, ...rows]);
  }

  /** Whether the code applies; both readings are valid for a reason of their own. */
  decide(applied: boolean): void {
    this.applied.value = applied;
    if (this.reason.value === DIFFERENT) this.reason.value = "";
  }

  because(reason: string): void {
    this.reason.value = reason;
    if (reason === DIFFERENT) this.applied.value = null;
    else if (this.applied.value === null) this.applied.value = undefined;
  }
}
