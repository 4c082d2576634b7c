// Where a code goes when it is moved in the tree: under which parent, and before which code.
import type { Code } from "../shared/protocol";

export type Way = "up" | "down" | "in" | "out";
export type Drop = "before" | "into" | "after";

export interface Place {
  parent: string | null;
  before: string | null;
}

const under = (codes: readonly Code[], parent: string | null) => codes.filter((code) => code.parent === parent).map(({ id }) => id);

/** Null where it cannot go that way. */
export function moved(codes: readonly Code[], id: string, way: Way): Place | null {
  const code = codes.find((one) => one.id === id);
  if (!code) return null;
  const beside = under(codes, code.parent);
  const at = beside.indexOf(id);
  if (way === "up") return at > 0 ? { parent: code.parent, before: beside[at - 1]! } : null;
  if (way === "down") return at + 1 < beside.length ? { parent: code.parent, before: beside[at + 2] ?? null } : null;
  if (way === "in") return at > 0 ? { parent: beside[at - 1]!, before: null } : null;
  const parent = codes.find((one) => one.id === code.parent);
  if (!parent) return null;
  const above = under(codes, parent.parent);
  return { parent: parent.parent, before: above[above.indexOf(parent.id) + 1] ?? null };
}

/** Where a code goes that is dropped on another. */
export function dropped(codes: readonly Code[], id: string, on: string, drop: Drop): Place | null {
  const target = codes.find((one) => one.id === on);
  if (!target || id === on) return null;
  if (drop === "into") return { parent: on, before: null };
  const beside = under(codes, target.parent).filter((one) => one !== id);
  return { parent: target.parent, before: drop === "before" ? on : (beside[beside.indexOf(on) + 1] ?? null) };
}
