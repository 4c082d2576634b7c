// The text that keys are meant for, in its pane or in its row of the grid: words of it can be selected and marked.
import { TextView } from "../shared/textview";
import type { Unit } from "./messages";
import type { Session } from "./session";
import type { Placed } from "../shared/onscreen";

export function LiveText({ session, unit }: { session: Session; unit: Unit }) {
  const { selecting } = session;
  const letters = selecting.letters.value;
  return (
    <TextView
      unit={unit}
      book={session.book}
      theirs={session.colleagues.spans.value}
      onMemo={(span) => session.presses.inTurn(() => session.memos.onSpan(unit, span), unit)}
      selection={selecting.span.value}
      active={session.active.value}
      sought={selecting.sought.value}
      frozen={selecting.dragging.value}
      onMark={(coding) => session.presses.inTurn(() => (session.marked.value = coding), unit)}
      ended={!!session.ended.value?.has(unit.unit_id)}
      onEnd={() => session.atEnd(unit.unit_id)}
    >
      {letters && <WordLetters {...letters} />}
    </TextView>
  );
}

interface Props {
  words: readonly Placed[];
  labels: readonly string[];
  /** The letters so far. */
  typed: string;
}

/** About how wide a label of two letters is, in pixels. */
const WIDTH = 19;

function WordLetters({ words, labels, typed }: Props) {
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
