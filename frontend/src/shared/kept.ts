// What a page keeps of work that is begun and not saved, for the kernel that comes after this one; never on a disk.

/** By the work that it belongs to; `what` names it among all scripts of the page. */
export function kept<Begun>(what: string): Map<string, Begun> {
  const place = globalThis as { [name: symbol]: Map<string, Begun> | undefined };
  return (place[Symbol.for(`sense7_qual.${what}`)] ??= new Map());
}
