// Drafts that a page keeps, so that they outlive a kernel that dies: the page never puts them on a disk.
import type { Step } from "./messages";

export interface Kept {
  base: string;
  steps: readonly Step[];
  undone: readonly Step[];
  /** Asked for, and not answered yet. */
  pending: readonly Step[];
  /** What is typed and is no step yet. */
  typed: Readonly<Record<string, string>>;
}

const DRAFTS = Symbol.for("sense7_qual.drafts");

/** By the work that they belong to: a new widget for that work takes its draft over. */
export function drafts(): Map<string, Kept> {
  const place = globalThis as { [DRAFTS]?: Map<string, Kept> };
  return (place[DRAFTS] ??= new Map());
}
