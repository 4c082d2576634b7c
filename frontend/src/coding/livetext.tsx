// The text that keys are meant for, in its pane or in its row of the grid: words of it can be selected and
// marked.
import { Conversation } from "../shared/conversation";
import { TextView } from "../shared/textview";
import type { Unit } from "./messages";
import type { Session } from "./session";
import { offsetAt, selectionIn, type Placed } from "../shared/onscreen";
import type { Edge } from "../shared/words";
import { marginItems, peopleItems } from "./wholetext";

/**
 * The text in its pane: the conversation before it, and next to it the margin, or in it a lane for each
 * person.
 */
export function TextWithMargin({ session, unit }: { session: Session; unit: Unit }) {
  const people = session.texts.narrow.value ? [] : session.colleagues.shown.value.map(({ coder }) => coder);
  const open = session.showContext.value;
  return (
    <LiveText
      session={session}
      unit={unit}
      before={
        <Conversation
          unit={unit}
          open={open}
          keepsLast
          onToggle={() => (session.showContext.value = !open)}
        />
      }
      handles={handles(session)}
      margin={{
        label: "Codings of words",
        items: people.length ? peopleItems(session, unit) : marginItems(session, unit),
        people: people.length ? ["you", ...people] : undefined,
      }}
    />
  );
}

/** The ends of the selected words: for the mouse where they are those of codings, for a finger of any. */
function handles({ selecting, words, edges, book }: Session): LiveProps["handles"] {
  const [span, coding] = [selecting.span.value, words.codings.value[0]];
  if (!span || selecting.letters.value) return undefined;
  if (coding) {
    const colour = book.look(coding.code).colour;
    return {
      span,
      colour,
      onDrag: (edge, at, exact) => edges.drag(edge, at, exact),
      onDrop: () => edges.keep(),
    };
  }
  const drag = {
    onDrag: (edge: Edge, at: number, exact: boolean) => selecting.drag(edge, at, exact),
    onDrop: () => {},
  };
  return selecting.touched.value ? { span, colour: "var(--s7-ring)", ...drag } : undefined;
}

type LiveProps = { session: Session; unit: Unit } & Pick<
  Parameters<typeof TextView>[0],
  "before" | "margin" | "handles"
>;

export function LiveText({ session, unit, before, margin, handles }: LiveProps) {
  const { selecting } = session;
  const letters = selecting.letters.value;
  const tapped = ({ target, clientX, clientY }: MouseEvent): boolean => {
    const box = (target as Element).closest(".s7-text");
    if (!selecting.touched.value || !box) return false;
    // Two taps in a row may have selected a word in the browser.
    selectionIn(box)?.removeAllRanges();
    const at = offsetAt(box, clientX, clientY);
    if (at !== null) session.presses.inTurn(() => selecting.tap(at), unit);
    return true;
  };
  return (
    <TextView
      unit={unit}
      book={session.book}
      before={before}
      {...(margin && { margin })}
      handles={handles}
      onMemo={span => session.presses.inTurn(() => session.memos.onSpan(unit, span), unit)}
      selection={selecting.span.value}
      active={session.active.value}
      sought={selecting.sought.value}
      hits={session.hits.spans.value}
      frozen={selecting.dragging.value}
      onMark={coding => session.presses.inTurn(() => session.words.mark(coding), unit)}
      onTap={tapped}
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
          <b
            key={word.span.start}
            class={above ? undefined : "s7-under"}
            style={{ left: `${word.left}px`, top: `${word.top}px` }}
          >
            {label.slice(typed.length)}
          </b>
        );
      })}
    </div>
  );
}
