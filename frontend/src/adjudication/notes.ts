// Notes on disagreements that are not settled yet: kept in the page for the kernel that comes after this one.

const NOTES = Symbol.for("sense7_qual.notes");

/** The notes by study, and in it by disagreement. */
export function notes(): Map<string, ReadonlyMap<string, string>> {
  const place = globalThis as { [NOTES]?: Map<string, ReadonlyMap<string, string>> };
  return (place[NOTES] ??= new Map());
}
