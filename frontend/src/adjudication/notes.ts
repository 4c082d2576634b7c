// What is begun and not saved, notes and a change of the codebook: kept in the page for the kernel that comes after this one.
import type { Begun } from "./messages";

export interface Kept {
  /** By disagreement; an empty one was taken away again. */
  notes: ReadonlyMap<string, string>;
  change: Begun | null;
}

const NOTES = Symbol.for("sense7_qual.notes");

/** By study. */
export function notes(): Map<string, Kept> {
  const place = globalThis as { [NOTES]?: Map<string, Kept> };
  return (place[NOTES] ??= new Map());
}
