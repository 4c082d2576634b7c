// Letters on the words in sight: those of the first word and of the last select from one to the other.
import type { Placed } from "./onscreen";

/** In the order in which they are used: under the fingers first. */
const ALPHABET = "fjdkslaghrueiwoqptyvmcnbxz";

/** A label for each of so many words: one letter where that is enough, else two; none begins another. */
export function labels(n: number): string[] {
  const letters = [...ALPHABET];
  const all = n <= letters.length ? letters : letters.flatMap((first) => letters.map((second) => first + second));
  return all.slice(0, n);
}

/** The letter of a press, on whatever keyboard; null where it is none. */
export function letterOf({ key, code, ctrlKey, metaKey, altKey }: KeyboardEvent): string | null {
  if (ctrlKey || metaKey || altKey) return null;
  const lower = key.toLowerCase();
  if (/^[a-z]$/.test(lower)) return lower;
  return key.length === 1 && /^Key[A-Z]$/.test(code) ? code.slice(3).toLowerCase() : null;
}

interface Props {
  words: readonly Placed[];
  labels: readonly string[];
  /** The letters so far. */
  typed: string;
}

/** About how wide a label of two letters is, in pixels. */
const WIDTH = 19;

export function Letters({ words, labels, typed }: Props) {
  // Above its word; where the label before is in the way, below it.
  let [top, free] = [-1, -1];
  return (
    <div class="s7-letters" aria-hidden="true">
      {words.map((word, index) => {
        const label = labels[index];
        const above = word.top !== top || Math.abs(word.left - free) >= WIDTH;
        if (above) [top, free] = [word.top, word.left];
        if (label === undefined || !label.startsWith(typed)) return null;
        return (
          <b key={word.span.start} class={above ? undefined : "s7-under"} style={{ left: `${word.left}px`, top: `${word.top}px` }}>
            {label.slice(typed.length)}
          </b>
        );
      })}
    </div>
  );
}
