// What is coded on the unit, each coding with its facets, doubt and removal.
import type { VNode } from "preact";
import { Button } from "../shared/button";
import { sample, UNKNOWN } from "../shared/colours";
import type { Coding } from "../shared/protocol";
import { FacetButtons, FacetStrip } from "./facetbuttons";
import type { Unit } from "./messages";
import type { Session } from "./session";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

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

/** Rows that are drawn beyond either edge. */
const BEYOND = 6;
/** How high a row is until one was measured, in pixels. */
const ROW = 40;

/** Rows of a list in order, from `start` to before `end`, drawn or left out. */
export interface Stretch { start: number; end: number; drawn: boolean; }

/** The rows cut into those that are drawn and those that are left out, whose room is kept. */
export function stretches(count: number, first: number, last: number, focused: number): Stretch[] {
  const drawn = [[first, last], ...(focused >= 0 && focused < count && (focused < first || focused >= last) ? [[focused, focused + 1]] : [])] as [number, number][];
  const cut: Stretch[] = [];
  let at = 0;
  for (const [start, end] of drawn.sort(([one], [other]) => one - other)) {
    if (start > at) cut.push({ start: at, end: start, drawn: false });
    cut.push({ start, end, drawn: true });
    at = end;
  }
  if (at < count) cut.push({ start: at, end: count, drawn: false });
  return cut;
}

/** What is in sight of a list of `count` rows, and what its box has to hear; all rows where they are not `many`. */
export function useRowsInSight(count: number, many: boolean, active: number) {
  const box = useRef<HTMLUListElement>(null);
  const [{ top, height, row }, setSeen] = useState({ top: 0, height: 400, row: ROW });
  const [focused, setFocused] = useState(-1);
  useLayoutEffect(() => {
    if (!many) return;
    // Once the page is laid out: measured at another time, it would be laid out for that alone.
    const observer = new ResizeObserver(() => {
      const rows = [...box.current!.querySelectorAll<HTMLElement>(".s7-coding")];
      const lowest = Math.min(...rows.map((one) => one.offsetHeight).filter(Boolean));
      setSeen({ top: box.current!.scrollTop, height: box.current!.clientHeight, row: Number.isFinite(lowest) ? lowest + 4 : ROW });
    });
    observer.observe(box.current!);
    return () => observer.disconnect();
  }, [many]);
  useLayoutEffect(() => {
    if (!many || active < 0) return;
    const held = Math.min(top, Math.max(0, count * row - height));
    const isSeen = active * row >= held && (active + 1) * row <= held + height;
    if (!isSeen) setSeen((seen) => ({ ...seen, top: (box.current!.scrollTop = Math.max(0, active * row - (height - row) / 2)) }));
  }, [many, active]);

  // The coding that the next key acts on is in sight; only this list scrolls for it, and only before it is drawn.
  useLayoutEffect(() => {
    if (many || active < 0) return;
    const frame = requestAnimationFrame(() => {
      const [pane, one] = [box.current, box.current?.children[active]];
      if (!pane || !one) return;
      const [inside, outside] = [one.getBoundingClientRect(), pane.getBoundingClientRect()];
      pane.scrollTop += Math.min(0, inside.top - outside.top) || Math.max(0, inside.bottom - outside.bottom);
    });
    return () => cancelAnimationFrame(frame);
  }, [many, active, count]);

  if (!many) return { box, parts: [{ start: 0, end: count, drawn: true }], row, hears: {} };
  const first = Math.max(0, Math.min(count - 1, Math.floor(top / row)) - BEYOND);
  const last = Math.min(count, Math.ceil((top + height) / row) + BEYOND);
  const hears = {
    onScroll: (event: { currentTarget: HTMLElement }) => {
      const { scrollTop } = event.currentTarget;
      setSeen((seen) => (seen.top === scrollTop ? seen : { ...seen, top: scrollTop }));
    },
    // A row that is scrolled out of sight stays while it has the focus, which would be lost with it.
    onFocusIn: (event: { target: EventTarget | null }) => {
      const place = (event.target as Element | null)?.closest<HTMLElement>(".s7-coding")?.dataset.row;
      setFocused(place === undefined ? -1 : Number(place));
    },
    onFocusOut: () => setFocused(-1),
  };
  return { box, parts: stretches(count, first, last, focused), row, hears };
}
