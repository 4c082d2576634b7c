// The letters on the words in sight.
import type { Placed } from "./onscreen";

interface Props {
  words: readonly Placed[];
  labels: readonly string[];
  /** The letters so far. */
  typed: string;
}

/** About how wide a label of two letters is, in pixels. */
const WIDTH = 19;

export function WordLetters({ words, labels, typed }: Props) {
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
