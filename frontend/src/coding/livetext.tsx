// The text that keys are meant for, in its pane or in its row of the grid: words of it can be selected and marked.
import { TextView } from "../shared/textview";
import { WordLetters } from "../shared/wordletters";
import type { Unit } from "./messages";
import type { Session } from "./session";

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
