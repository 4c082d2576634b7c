// Which disagreements the queue shows: by words, by code, by the coder who stands apart, and the open ones
// alone.
import { computed, signal, type ReadonlySignal } from "@preact/signals";
import type { QueueRow } from "./messages";

interface Host {
  rows: ReadonlySignal<readonly QueueRow[]>;
  isOpen(row: QueueRow): boolean;
  label(code: string): string;
}

/** Lower case, and letters without their accents. */
const plain = (text: string) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().trim();

export class Filter {
  readonly query = signal("");
  /** Empty where all are shown, as is the coder. */
  readonly code = signal("");
  readonly coder = signal("");
  readonly openOnly = signal(false);

  readonly on = computed(() => [this.query, this.code, this.coder, this.openOnly].some(({ value }) => value));
  private readonly wanted = computed(() => plain(this.query.value).split(/\s+/).filter(Boolean));
  /** The places of the rows that are shown. */
  readonly places: ReadonlySignal<readonly number[]>;
  readonly codes: ReadonlySignal<readonly string[]>;
  readonly coders: ReadonlySignal<readonly string[]>;

  constructor(private readonly host: Host) {
    this.places = computed(() => host.rows.value.flatMap((row, at) => (this.shows(row) ? [at] : [])));
    this.codes = computed(() => [...new Set(host.rows.value.map(({ code }) => code))]);
    this.coders = computed(() => [...new Set(host.rows.value.flatMap(({ apart }) => apart))].sort());
  }

  /** Show all again. */
  clear(): void {
    this.query.value = this.code.value = this.coder.value = "";
    this.openOnly.value = false;
  }

  private shows(row: QueueRow): boolean {
    if (this.code.value && row.code !== this.code.value) return false;
    if (this.coder.value && !row.apart.includes(this.coder.value)) return false;
    if (this.openOnly.value && !this.host.isOpen(row)) return false;
    if (!this.wanted.value.length) return true;
    const said = plain([row.words, this.host.label(row.code), ...row.coders].join(" "));
    return this.wanted.value.every(word => said.includes(word));
  }
}
