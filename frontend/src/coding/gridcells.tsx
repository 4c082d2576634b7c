// What a row of the survey grid shows: its number, the answer, the codings on it, its variables, how far it
// is.
import { Button } from "../shared/button";
import { sample } from "../shared/colours";
import type { Code, Coding } from "../shared/protocol";
import { LiveText } from "./livetext";
import type { Unit } from "./messages";
import type { Session } from "./session";
import { statusOf } from "./texts";
import { joined } from "../shared/words";

/** No row shows more of an answer, which may have the length of a book. */
const MOST_LETTERS = 700;
const QUOTED = 22;

export interface Column {
  kind: "rating" | "variable";
  name: string;
}

interface Props {
  session: Session;
  place: number;
  unit: Unit | undefined;
  /** The same text as the one that keys are meant for, where it is. */
  live: Unit | null;
  flag: string;
  kind: string | undefined;
  more: { variables: Record<string, string | null>; review: string[] | null } | undefined;
  columns: readonly Column[];
  fits: boolean;
}

export function Cells(props: Props) {
  const { session, place, unit, live, more, columns } = props;
  const value = ({ kind, name }: Column) =>
    kind === "rating" ? ratingOf(session, live ?? unit) : more?.variables[name];
  return (
    <>
      <div role="rowheader" class="s7-cell-number">
        {place + 1}
      </div>
      <div role="gridcell" class="s7-cell-answer">
        {session.grid.showIds.value && unit && <div class="s7-unit-id">{unit.unit_id}</div>}
        {live ? <LiveText session={session} unit={live} /> : <Answer unit={unit} />}
        <Button
          class="s7-quiet s7-open"
          tabIndex={live ? 0 : -1}
          title="Open the text"
          onClick={() => open(session, place)}
        >
          … more ({session.commands.value.layout})
        </Button>
      </div>
      <div role="gridcell" class="s7-cell-codes">
        <Chips {...props} />
      </div>
      <div role="none" class="s7-cells-more">
        {columns.map(column => (
          <div key={column.name} role="gridcell" class="s7-cell-more">
            <span class="s7-cell-name">{column.name}: </span>
            {value(column) ?? "–"}
          </div>
        ))}
      </div>
      <State {...props} />
      {live && session.grid.picking.value && (
        <div role="gridcell" class="s7-cell-beside">
          <RowCodes session={session} unit={live} />
        </div>
      )}
    </>
  );
}

function ratingOf(session: Session, unit: Unit | undefined): string | null | undefined {
  if (session.ratingOfFinished.value !== null && !unit?.finished) return null;
  return unit?.rating;
}

function open(session: Session, place: number): void {
  if (session.unit.value?.place !== place) session.jump(place);
  session.presses.inTurn(() => session.grid.show("text"));
}

function Answer({ unit }: { unit: Unit | undefined }) {
  if (!unit) return <div class="s7-cell-words s7-hint">…</div>;
  const cut = unit.text.length > MOST_LETTERS;
  return (
    <div class="s7-cell-words" lang="" dir="auto" data-cut={cut ? "" : undefined}>
      {cut ? `${unit.text.slice(0, MOST_LETTERS)}…` : unit.text}
    </div>
  );
}

/** The codes in the row, one of them to be clicked. */
function RowCodes({ session, unit }: { session: Session; unit: Unit }) {
  const choose = (code: Code) => {
    session.grid.picking.value = false;
    session.presses.inTurn(() => session.toggle(code), unit);
  };
  const codes = session.book.list.value.filter(({ codable }) => codable);
  return (
    <div class="s7-row-codes" role="group" aria-label={`Codes for text ${unit.place + 1}`}>
      {codes.map(code => (
        <Button key={code.id} title={code.definition} onClick={() => choose(code)}>
          <kbd>{session.book.look(code.id).tag}</kbd> {code.label}
        </Button>
      ))}
    </div>
  );
}

function Chips({ session, place, unit: known, live }: Props) {
  const unit = live ?? known;
  if (!unit) return null;
  // A click in another row goes there first; what it does there waits for that row.
  const take = (action: () => void) => {
    if (session.unit.value?.place !== place) session.jump(place);
    session.presses.inTurn(action, { unit_id: unit.unit_id });
  };
  const pick = (event: MouseEvent) => {
    event.stopPropagation();
    const root = (event.currentTarget as Element).closest<HTMLElement>(".s7")!;
    // Where all codes are on the screen there is no field to find one.
    const field = root.querySelector<HTMLElement>(".s7-filter:not(.s7-seldom)");
    take(() => (field ? field.focus() : (session.grid.picking.value = true)));
  };
  return (
    <>
      {unit.codings.map((coding, index) => (
        <Chip
          key={`${coding.code}:${coding.start}:${coding.end}`}
          {...{ session, unit, coding, take }}
          active={!!live && session.active.value === index}
          tabbed={!!live}
        />
      ))}
      <Button
        class="s7-add-code"
        tabIndex={live ? 0 : -1}
        aria-label={`Code text ${place + 1}`}
        onClick={pick}
      >
        + code
      </Button>
    </>
  );
}

interface ChipProps {
  session: Session;
  unit: Unit;
  coding: Coding;
  active: boolean;
  tabbed: boolean;
  take: (action: () => void) => void;
}

function Chip({ session, unit, coding, active, tabbed, take }: ChipProps) {
  const { code, start, end, pending } = coding;
  const look = session.book.look(code);
  const [label, quote] = [session.label(code), start === null ? null : unit.text.slice(start, end!)];
  const names = ["s7-chip", pending && "s7-pending", active && "s7-active", quote !== null && "s7-of-span"];
  const mark = (event: MouseEvent) => {
    event.stopPropagation();
    take(() => session.words.mark(coding));
  };
  const remove = (event: MouseEvent) => {
    event.stopPropagation();
    take(() => session.remove(coding));
  };
  return (
    <span
      class={joined(names)}
      style={{ "--s7-c": look.colour }}
      title={quote === null ? label : `${label}: “${quote}”`}
      onClick={mark}
    >
      <kbd>{look.tag}</kbd>
      <span class="s7-chip-name">
        <span class="s7-chip-label">{label}</span>
        <span class="s7-sample" style={sample(look)} />
      </span>
      {quote !== null && (
        <span class="s7-quote" dir="auto">
          “{quote.length > QUOTED ? `${quote.slice(0, QUOTED).trimEnd()}…` : quote}”
        </span>
      )}
      {session.facets.words(coding, true).map(words => (
        <span key={words} class="s7-stated">
          {words === "unsure" ? "unsure?" : words}
        </span>
      ))}
      {pending && <span class="s7-unseen">not saved yet</span>}
      <Button
        class="s7-remove"
        tabIndex={tabbed ? 0 : -1}
        aria-label={`Remove ${label}${quote === null ? "" : ` from “${quote.slice(0, QUOTED)}”`}`}
        onClick={remove}
      >
        ×
      </Button>
    </span>
  );
}

function State({ session, unit: known, live, flag, kind, more, fits }: Props) {
  const unit = live ?? known;
  const status = statusOf(flag, kind);
  const review = !unit?.finished && more?.review;
  const signs: [string, string | false | undefined | null][] = [
    [
      "?",
      unit?.codings.some(({ confidence }) => confidence === "unsure") && status.sign !== "✓?" && "unsure",
    ],
    ["✎", !!(unit?.memo || unit?.memos.length) && "memo"],
    [
      "↻",
      review &&
        `to look at again${review.length ? `: ${review.map(code => session.label(code)).join(", ")}` : ""}`,
    ],
    [
      "⤫",
      !fits &&
        (live && !session.texts.listing.value.has(live.place)
          ? "not among the chosen texts"
          : "no longer matches the filter"),
    ],
  ];
  const there = signs.filter(([, words]) => words);
  const words = [status.words, ...there.map(([, words]) => words)].join(", ");
  return (
    <div role="gridcell" class="s7-cell-state" title={words} aria-label={words}>
      <span class={`s7-row-status s7-${status.name}`}>{status.sign}</span>
      {there.map(([sign]) => (
        <span key={sign} class="s7-sign">
          {sign}
        </span>
      ))}
    </div>
  );
}
