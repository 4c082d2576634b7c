// Where a code goes when it is moved in the tree: under which parent, and before which code.
import type { Code } from "../shared/protocol";

export type Way = "up" | "down" | "in" | "out";
export type Drop = "before" | "into" | "after";

export interface Place {
  parent: string | null;
  before: string | null;
}

const under = (codes: readonly Code[], parent: string | null) =>
  codes.filter(code => code.parent === parent).map(({ id }) => id);

/** Null where it cannot go that way. */
export function moved(codes: readonly Code[], id: string, way: Way): Place | null {
  const code = codes.find(one => one.id === id);
  if (!code) return null;
  const beside = under(codes, code.parent);
  const at = beside.indexOf(id);
  if (way === "up") return at > 0 ? { parent: code.parent, before: beside[at - 1]! } : null;
  if (way === "down")
    return at + 1 < beside.length ? { parent: code.parent, before: beside[at + 2] ?? null } : null;
  if (way === "in") return at > 0 ? { parent: beside[at - 1]!, before: null } : null;
  const parent = codes.find(one => one.id === code.parent);
  if (!parent) return null;
  const above = under(codes, parent.parent);
  return { parent: parent.parent, before: above[above.indexOf(parent.id) + 1] ?? null };
}

/**
 * Where a code goes that is dropped on another; null where that is itself, or where it stands already.
 * Below a code whose own codes are in sight (`open`) it becomes the first of them: there the line is drawn.
 */
export function dropped(
  codes: readonly Code[],
  id: string,
  on: string,
  drop: Drop,
  open = false,
): Place | null {
  const [code, target] = [id, on].map(one => codes.find(each => each.id === one));
  if (!code || !target || id === on) return null;
  const place = placeBeside(codes, id, target, drop === "after" && open ? "first" : drop);
  const beside = under(codes, code.parent);
  const stays = place.parent === code.parent && place.before === (beside[beside.indexOf(id) + 1] ?? null);
  return stays ? null : place;
}

function placeBeside(
  codes: readonly Code[],
  id: string,
  { id: on, parent }: Code,
  drop: Drop | "first",
): Place {
  const others = (above: string | null) => under(codes, above).filter(one => one !== id);
  if (drop === "into") return { parent: on, before: null };
  if (drop === "first") return { parent: on, before: others(on)[0] ?? null };
  const beside = others(parent);
  return { parent, before: drop === "before" ? on : (beside[beside.indexOf(on) + 1] ?? null) };
}

/** Whether a code is another, or stands somewhere below it. */
export function isWithin(codes: readonly Code[], id: string | null, above: string): boolean {
  if (id === null || id === above) return id === above;
  return isWithin(codes, codes.find(code => code.id === id)?.parent ?? null, above);
}
