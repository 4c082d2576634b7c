// What is coded on the text as a whole, and what is said of the text; and the codings of its words, for the
// margin.
import { useLayoutEffect, useRef } from "preact/hooks";
import { Button, Space } from "../shared/button";
import { UNKNOWN } from "../shared/colours";
import { Label, type MarginItem } from "../shared/margin";
import type { Coding } from "../shared/protocol";
import { sameSpan } from "../shared/spans";
import type { Unit } from "./messages";
import type { Session } from "./session";
import { joined } from "../shared/words";
import { whenResized } from "../shared/onscreen";

/** The facets of a coding in words, and whether there is a memo on exactly its words. */
function stated(session: Session, unit: Unit, coding: Coding): string[] {
  const noted = coding.start === null ? unit.memo : unit.memos.some(memo => sameSpan(memo, coding));
  return [...session.facets.words(coding, true), ...(noted ? ["✎"] : [])];
}

/** The codings of words as the margin shows them, and the memos on words without a coding. */
export function marginItems(session: Session, unit: Unit): MarginItem[] {
  const take = (action: () => void) => session.presses.inTurn(action, unit);
  const own = unit.codings.flatMap((coding, index): MarginItem[] => {
    if (coding.start === null) return [];
    const span = { start: coding.start, end: coding.end! };
    return [
      {
        id: `${coding.code}:${span.start}:${span.end}`,
        span,
        look: { ...session.book.look(coding.code), ...(session.again.isAsked(coding) && { pattern: 1 }) },
        name: session.shortName(coding.code),
        more: stated(session, unit, coding),
        title: session.described(coding, unit),
        names: ["s7-coding", coding.pending && "s7-pending"],
        active: index === session.active.value,
        onPick: () => take(() => session.words.mark(coding)),
      },
    ];
  });
  const bare = unit.memos.filter(memo => !unit.codings.some(coding => sameSpan(coding, memo)));
  const memos = bare.map(
    (memo): MarginItem => ({
      id: memo.memo_id,
      span: memo,
      look: { ...UNKNOWN, pattern: 2, tag: "✎" },
      name: "Memo",
      more: [],
      title: `Memo on “${unit.text.slice(memo.start, memo.end)}”: ${memo.text}`,
      names: ["s7-memo-label"],
      onPick: () => take(() => session.memos.onSpan(unit, memo)),
    }),
  );
  return [...own, ...memos];
}

/**
 * One lane for each person, with the codings of words; one's own are marked by a click, others' words are
 * selected.
 */
export function peopleItems(session: Session, unit: Unit): MarginItem[] {
  const own = marginItems(session, unit)
    .filter(({ names }) => names.includes("s7-coding"))
    .map(item => ({ ...item, person: 0 }));
  const theirs = session.colleagues.shown.value.flatMap(({ coder, codings }, at) =>
    codings
      .filter(({ start }) => start !== null)
      .map((coding): MarginItem => {
        const span = { start: coding.start!, end: coding.end! };
        return {
          id: `${coder}:${coding.code}:${span.start}:${span.end}`,
          span,
          look: session.book.look(coding.code),
          name: session.shortName(coding.code),
          more: [],
          title: `${coder}: ${session.described(coding, unit)}`,
          names: ["s7-of-colleague"],
          person: at + 1,
          onPick: () => session.presses.inTurn(() => session.selecting.select(span), unit),
        };
      }),
  );
  return [...own, ...theirs];
}

export function WholeText({ session, unit }: { session: Session; unit: Unit }) {
  const row = useRef<HTMLDivElement>(null);
  const chips = unit.codings.flatMap((coding, index) =>
    coding.start === null ? [{ coding, active: index === session.active.value }] : [],
  );
  const fit = () => {
    const at = row.current!;
    at.classList.remove("s7-tight", "s7-tighter");
    for (const name of ["s7-tight", "s7-tighter"])
      if (at.scrollWidth > at.clientWidth) at.classList.add(name);
  };
  useLayoutEffect(() => whenResized(fit, row.current!), []);
  // The rest of the row is as wide as before where the chips are.
  useLayoutEffect(fit, [JSON.stringify([chips, unit.finished, unit.unit_id, session.ratingShown.value])]);
  const take = (action: () => void) => session.presses.inTurn(action, unit);
  return (
    <div class="s7-whole" ref={row}>
      <span class="s7-whole-words">Whole text</span>
      {chips.length > 0 && (
        <ul aria-label="Codings of the whole text">
          {chips.map(({ coding, active }) => {
            const look = session.book.look(coding.code);
            return (
              <li
                key={coding.code}
                class={joined(["s7-coding", coding.pending && "s7-pending", active && "s7-active"])}
                style={{ "--s7-c": look.colour }}
              >
                <Label
                  {...{ look, active }}
                  name={session.shortName(coding.code)}
                  more={stated(session, unit, coding)}
                  title={session.described(coding, unit)}
                  onClick={() => take(() => session.words.mark(coding))}
                />
              </li>
            );
          })}
        </ul>
      )}
      <Space />
      <span class="s7-unit-line">
        <span class="s7-unit-id">{unit.unit_id}</span>
        {unit.finished && <span class="s7-done">✓ finished</span>}
        <Rating session={session} unit={unit} />
      </span>
    </div>
  );
}

function Rating({ session, unit }: { session: Session; unit: Unit }) {
  if (unit.rating === null) return null;
  const shown = session.ratingShown.value;
  const waits = session.ratingOfFinished.value !== null && !unit.finished;
  const words = waits ? "Rating: shown once finished" : shown ? `Rating: ${unit.rating}` : "Show rating";
  return (
    <Button
      class="s7-quiet s7-rating"
      aria-pressed={shown}
      disabled={waits}
      onClick={() => session.toggleRating()}
      words={words}
    />
  );
}
