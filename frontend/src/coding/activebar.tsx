// The coding that the next key acts on, always in the same place: its facets, doubt, memo and removal.
import { Button } from "../shared/button";
import type { Coding } from "../shared/protocol";
import { FacetButtons } from "./facetbuttons";
import type { Unit } from "./messages";
import type { Session } from "./session";

/** Until so many texts are finished, the bar says what may be done where nothing is coded. */
const HINTED = 20;

export function ActiveBar({ session, unit }: { session: Session; unit: Unit | null }) {
  const coding = unit?.codings[session.active.value];
  if (unit && coding) return <Bar session={session} unit={unit} coding={coding} />;
  return (
    <div class="s7-active-bar">
      {unit && session.selecting.span.value && <Nudges session={session} unit={unit} />}
      {unit && !session.selecting.span.value && session.finished.value < HINTED && (
        <p class="s7-hint">
          Press a code’s key to apply it to the whole text, or select words first. If no code fits, finish
          without one.
        </p>
      )}
    </div>
  );
}

function Bar({ session, unit, coding }: { session: Session; unit: Unit; coding: Coding }) {
  const { code, start, end } = coding;
  const [label, look] = [session.label(code), session.book.look(code)];
  const unsure = coding.confidence === "unsure";
  const take = (action: () => void) => session.presses.inTurn(action, unit);
  const note = () =>
    start === null
      ? (session.focus.value = ".s7-memo textarea")
      : session.memos.onSpan(unit, { start, end: end! });
  return (
    <div
      class={session.edges.moving.value ? "s7-active-bar s7-moving" : "s7-active-bar"}
      role="group"
      aria-label="Marked coding"
      style={{ "--s7-c": look.colour }}
    >
      <span class="s7-swatch" />
      <kbd>{look.tag}</kbd>
      <strong
        title={label}
        onClick={() => {
          session.book.definition.ask(code);
          session.panel.pick("rule");
        }}
      >
        <span class="s7-whole-name">{label}</span>
        <span class="s7-short-name">{session.shortName(code)}</span>
      </strong>
      <q dir="auto">{start === null ? "whole text" : `“${unit.text.slice(start, end!)}”`}</q>
      <Before session={session} unit={unit} take={take} />
      {(start !== null || session.selecting.span.value) && <Nudges session={session} unit={unit} />}
      <FacetButtons session={session} coding={coding} label={label} take={take} />
      <Button
        class="s7-facet"
        aria-pressed={unsure}
        aria-label={`${label}: unsure`}
        onClick={() => take(() => session.toggleUnsure(coding))}
        words="unsure"
      />
      <Button
        class="s7-facet s7-plain s7-note-button"
        aria-label={`Write a memo on ${start === null ? "this text" : "these words"}`}
        title="Memo"
        onClick={() => take(note)}
        words="✎"
      />
      <Button
        class="s7-facet s7-plain s7-remove"
        aria-label={`Remove ${label}`}
        title="Remove"
        onClick={() => take(() => session.remove(coding))}
        words="×"
      />
    </div>
  );
}

/** For a finger: what Shift and the arrows do, on the selection or else on the coding. */
function Nudges({ session, unit }: { session: Session; unit: Unit }) {
  return (
    <span class="s7-nudges">
      {(["start", "end"] as const).flatMap(edge =>
        ([-1, 1] as const).map(step => (
          <Button
            key={`${edge}${step}`}
            aria-label={`${edge === "start" ? "Start" : "End"}: one word ${step < 0 ? "back" : "on"}`}
            onClick={() => session.presses.inTurn(() => session.mover.move(edge, "word", step), unit)}
            words={step < 0 ? "◂" : "▸"}
          />
        )),
      )}
    </span>
  );
}

/**
 * On which words it was before its edge was moved, or its key was pressed on other words; and what has its
 * words and moves with it.
 */
function Before({
  session,
  unit,
  take,
}: {
  session: Session;
  unit: Unit;
  take: (action: () => void) => void;
}) {
  const [moving, widened, others] = [
    session.edges.moving.value,
    session.widened.value,
    session.words.codings.value.slice(1),
  ];
  const from = moving?.codings[0] ?? widened?.from;
  if (!from && !others.length) return null;
  return (
    <span class="s7-before">
      {others.length > 0 && (
        <span title={`with ${others.map(({ code }) => session.label(code)).join(", ")}`}>
          + {others.map(({ code }) => session.book.look(code).tag).join(" ")}
        </span>
      )}
      {from && <span class="s7-was">was “{unit.text.slice(from.start!, from.end!)}”</span>}
      {moving && (
        <span>
          <kbd>Esc</kbd> as it was
        </span>
      )}
      {widened && !moving && <Button onClick={() => take(() => session.keepBoth())} words="Keep both" />}
    </span>
  );
}
