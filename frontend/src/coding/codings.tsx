// What is coded on the unit, each coding with its facets, doubt and removal.
import type { VNode } from "preact";
import { Button } from "../shared/button";
import { sample, UNKNOWN } from "../shared/colours";
import type { Coding } from "../shared/protocol";
import { FacetButtons, FacetStrip } from "./facetbuttons";
import type { Unit } from "./messages";
import { useRowsInSight } from "./rowsinsight";
import type { Session } from "./session";

const MANY = 100;

export function Codings({ session, unit }: { session: Session; unit: Unit }) {
  if (!unit.codings.length) {
    return (
      <p class="s7-hint">Press a code’s key to apply it to the whole text, or select words first. If no code fits, finish without one.</p>
    );
  }
  return <CodingList key={unit.codings.length > MANY} session={session} unit={unit} />;
}

function CodingList({ session, unit }: { session: Session; unit: Unit }) {
  const { codings } = unit;
  const many = codings.length > MANY;
  const active = session.active.value;
  const { box, parts, row, hears } = useRowsInSight(codings.length, many, active);
  const draw = (coding: Coding, place: number): VNode => (
    <CodingRow
      key={`${coding.code}:${coding.start}:${coding.end}`}
      {...{ session, unit, coding, active: place === active }}
      place={many ? { row: place, of: codings.length } : null}
    />
  );
  return (
    <ul ref={box} class={many ? "s7-codings s7-many" : "s7-codings"} aria-label="Codings of this text" {...hears}>
      {parts.flatMap(({ start, end, drawn }) =>
        drawn
          ? codings.slice(start, end).map((coding, index) => draw(coding, start + index))
          : <li key={`left out ${start ? "below" : "above"} ${end === codings.length}`} role="presentation" style={{ height: `${(end - start) * row - 4}px`, flex: "none" }} />,
      )}
    </ul>
  );
}

interface RowProps {
  session: Session;
  unit: Unit;
  coding: Coding;
  active: boolean;
  /** Which row it is, where not all are drawn. */
  place: { row: number; of: number } | null;
}

function CodingRow({ session, unit, coding, active, place }: RowProps) {
  const code = session.book.codes.value.get(coding.code);
  const label = code?.label ?? coding.code;
  const quote = coding.start === null ? "whole text" : `“${unit.text.slice(coding.start, coding.end!)}”`;
  const names = ["s7-coding", coding.pending && "s7-pending", active && "s7-active"];
  const look = session.book.looks.value.get(coding.code) ?? UNKNOWN;
  const unsure = coding.confidence === "unsure";
  const take = (action: () => void) => session.presses.inTurn(action, unit);
  return (
    <li
      class={names.filter(Boolean).join(" ")}
      style={{ "--s7-c": look.colour }}
      data-row={place?.row}
      aria-posinset={place ? place.row + 1 : undefined}
      aria-setsize={place?.of}
      onClick={() => take(() => (session.marked.value = coding))}
    >
      <kbd>{look.tag}</kbd>
      <span class="s7-sample" style={sample(look)} />
      <span class="s7-coding-name"><strong>{label}</strong> <span class="s7-quote" dir="auto">{quote}</span></span>
      <span class="s7-facets">
        <FacetButtons session={session} coding={coding} label={label} take={take} />
        <Button class="s7-facet" aria-pressed={unsure} aria-label={`${label}: unsure`} onClick={() => take(() => session.toggleUnsure(coding))} words="unsure" />
        <Button class="s7-facet s7-remove" aria-label={`Remove ${label}`} onClick={() => take(() => session.remove(coding))} words="×" />
      </span>
      {session.facets.isOn(coding) && <FacetStrip session={session} coding={coding} label={label} take={take} />}
    </li>
  );
}
