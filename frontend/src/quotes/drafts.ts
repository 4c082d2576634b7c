// Paraphrases that are begun and not saved: kept in the page for the kernel that comes after this one.

const DRAFTS = Symbol.for("sense7_qual.paraphrases");

/** By study, then by passage; an empty one was taken away again. */
export function drafts(): Map<string, ReadonlyMap<string, string>> {
  const place = globalThis as { [DRAFTS]?: Map<string, ReadonlyMap<string, string>> };
  return (place[DRAFTS] ??= new Map());
}
