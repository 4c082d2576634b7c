// Letters on the words in sight: those of the first word and of the last select from one to the other.

/** In the order in which they are used: under the fingers first. */
const ALPHABET = "fjdkslaghrueiwoqptyvmcnbxz";

/** A label for each of so many words: one letter where that is enough, else two; none begins another. */
export function labels(n: number): string[] {
  const letters = [...ALPHABET];
  const all = n <= letters.length ? letters : letters.flatMap(first => letters.map(second => first + second));
  return all.slice(0, n);
}

/** The letter of a press, on whatever keyboard; null where it is none. */
export function letterOf({ key, code, ctrlKey, metaKey, altKey }: KeyboardEvent): string | null {
  if (ctrlKey || metaKey || altKey) return null;
  const lower = key.toLowerCase();
  if (/^[a-z]$/.test(lower)) return lower;
  return key.length === 1 && /^Key[A-Z]$/.test(code) ? code.slice(3).toLowerCase() : null;
}
