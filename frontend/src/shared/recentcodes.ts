// The codes that were used last in this sitting, and keys for those of them that the codebook leaves without
// one.
import { signal } from "@preact/signals";
import type { Code } from "./protocol";

export const MOST_RECENT = 6;

export class RecentCodes {
  /**
   * Their ids. Each keeps its place on screen as long as it is among them, so that a click meets what it is
   * meant for.
   */
  readonly ids = signal<readonly string[]>([]);
  /** Code id → key. Once given, a key means its code until the view is closed. */
  readonly keys = signal<ReadonlyMap<string, string>>(new Map());
  /** The ids again, the last used at the end. */
  #order: string[] = [];

  /** The code was applied; `taken` are the keys that mean something else. */
  use(code: Code, taken: readonly string[]): void {
    this.#order = [...this.#order.filter(id => id !== code.id), code.id];
    if (!this.ids.value.includes(code.id)) {
      const ids = [...this.ids.value];
      ids[ids.length < MOST_RECENT ? ids.length : ids.indexOf(this.#order.shift()!)] = code.id;
      this.ids.value = ids;
    }
    if (code.key !== null || this.keys.value.has(code.id)) return;
    const key = freeKey(code.label, [...taken, ...this.keys.value.values()]);
    if (key) this.keys.value = new Map([...this.keys.value, [code.id, key]]);
  }
}

/** A capital letter (with Shift, so that it is on every keyboard), of the label where one is free. */
function freeKey(label: string, taken: readonly string[]): string | undefined {
  const capitals = [...label.normalize("NFKD").toUpperCase(), ..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];
  return capitals.find(letter => /^[A-Z]$/.test(letter) && !taken.includes(letter));
}
