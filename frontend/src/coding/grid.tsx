// The survey grid on screen: the listed texts as rows of any height, of which only those in sight are drawn.
import type { VNode } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Button, Space } from "../shared/button";
import { offsetAt } from "../shared/onscreen";
import type { RowStyle } from "../shared/pagedrows";
import { trimmed } from "../shared/spans";
import { scrolledTo } from "../shared/virtuallist";
import { joined, snapped } from "../shared/words";
import { Cells, type Column } from "./gridcells";
import { Heights, type Anchor } from "./gridrows";
import type { Unit } from "./messages";
import { withAct } from "./pending";
import type { Session } from "./session";
import { Side } from "./side";
import { isFitting } from "./texts";

/** Rows that are drawn beyond either edge. */
const BEYOND = 3;
/** Of a row so much is in sight that it can be recognised. */
const GLIMPSE = 18;
/** From this many pixels on, a press that is moved is a drag. */
const DRAG = 5;

export function LayoutButtons({ session }: { session: Session }) {
  const on = session.grid.on.value;
  const key = session.commands.value.layout ?? "";
  return (
    <span class="s7-layout" role="group" aria-label="Layout">
      <Button
        aria-pressed={!on}
        title={`One text at a time (${key})`}
        onClick={() => session.grid.show("text")}
        words="Text"
      />
      <Button
        class="s7-layout-button"
        aria-pressed={on}
        title={`Many texts as rows (${key})`}
        onClick={() => session.grid.show("grid")}
        words="Rows"
      />
    </span>
  );
}

export function GridPane({ session }: { session: Session }) {
  const bar = <Bar session={session} />;
  return (
    <div class={session.outbox.turning.value ? "s7-grid-pane s7-undoing" : "s7-grid-pane"}>
      {session.texts.isOpen.value && session.side.value === "texts" ? (
        <Side session={session}>{bar}</Side>
      ) : (
        bar
      )}
      <Rows session={session} />
    </div>
  );
}

/** Which columns there are, beside those that are always there. */
function Bar({ session }: { session: Session }) {
  const { grid } = session;
  const [open, variables, shown] = [grid.showColumns.value, grid.variables.value ?? [], grid.shown.value];
  const box = (name: string, words: string, checked: boolean, pick: () => void) => (
    <label key={name}>
      <input type="checkbox" checked={checked} onChange={pick} /> {words}
    </label>
  );
  const rated = ratingsShown(session);
  return (
    <div class="s7-grid-bar">
      <Button class="s7-quiet" aria-expanded={open} onClick={() => (grid.showColumns.value = !open)}>
        {open ? "▾" : "▸"} Columns
      </Button>
      {open && (
        <span class="s7-grid-columns" role="group" aria-label="Columns">
          {box("id", "Text id", grid.showIds.value, () => (grid.showIds.value = !grid.showIds.value))}
          {variables.map(name =>
            box(`v:${name}`, name, shown.includes(name), () => grid.toggleVariable(name)),
          )}
        </span>
      )}
      <Space />
      {grid.hasRating.value && session.ratingOfFinished.value === null && (
        <Button
          class="s7-quiet"
          aria-pressed={rated}
          onClick={() => session.toggleRating()}
          words={rated ? "Hide ratings" : "Show ratings"}
        />
      )}
      {grid.hasRating.value && session.ratingOfFinished.value !== null && (
        <span class="s7-hint">Ratings: shown once finished</span>
      )}
    </div>
  );
}

/** Whether there is a column of ratings: on rows that are not finished it may be empty all the same. */
function ratingsShown(session: Session): boolean {
  return session.grid.hasRating.value && (session.ratingOfFinished.value ?? session.showRating.value);
}

function columnsOf(session: Session): Column[] {
  const { grid } = session;
  const rating: Column[] = ratingsShown(session) ? [{ kind: "rating", name: "Rating" }] : [];
  return [...rating, ...grid.shown.value.map((name): Column => ({ kind: "variable", name }))];
}

function Rows({ session }: { session: Session }) {
  const { texts, grid } = session;
  const listing = texts.listing.value;
  const columns = columnsOf(session);
  const here = session.unit.value?.place ?? null;
  const rows = useDrawnRows(session);
  const { box, head, heights, first, last, scrolling } = useScrolling(session);
  useEffect(() => grid.want(first, last), [first, last, listing, here]);

  const elsewhere = here !== null && !listing.has(here);
  const basis = [session.book.codebook.value, columns.map(({ name }) => name).join("\n"), grid.showIds.value];
  const draw = (place: number, index: number | null, style?: RowStyle) =>
    rows(basis, place, [index, style?.top, place === here, index === texts.cursor.value], {
      style,
      id: index === null ? `${texts.id}-else` : `${texts.id}-${index}`,
      number: index === null ? 2 : index + 2,
      fits: index !== null && (listing.fits === null || isFitting(listing.fits, place)),
      here: place === here,
      marked: index === texts.cursor.value,
      columns,
    });
  const drawn = Array.from({ length: Math.max(0, last - first) }, (_, i) => first + i);
  const marked = elsewhere ? `${texts.id}-else` : `${texts.id}-${texts.cursor.value}`;
  return (
    <div
      class="s7-grid"
      ref={box}
      role="grid"
      tabIndex={0}
      id={`${texts.id}-rows`}
      aria-label="Texts as rows"
      aria-rowcount={listing.length + 1}
      aria-activedescendant={marked}
      style={
        columns.length ? { "--s7-more-columns": `repeat(${columns.length}, minmax(50px, 8%))` } : undefined
      }
      {...scrolling}
    >
      <div class="s7-grid-head" role="rowgroup" ref={head}>
        <div class="s7-grid-row s7-grid-titles" role="row" aria-rowindex={1}>
          {["No.", "Answer", "Codes", ...columns.map(({ name }) => name), "State"].map((name, at, all) => (
            <span
              key={name}
              role="columnheader"
              class={at > 2 && at < all.length - 1 ? "s7-cell-more" : undefined}
              title={name}
            >
              {name}
            </span>
          ))}
        </div>
        {elsewhere && draw(here, null)}
      </div>
      <div class="s7-grid-rows" role="rowgroup" style={{ height: `${heights.total}px` }}>
        {drawn.map(index => draw(listing.at(index)!, index, { top: `${heights.topOf(index)}px` }))}
      </div>
      {!listing.length && <p class="s7-hint">No text matches.</p>}
    </div>
  );
}

interface Look {
  style: RowStyle | undefined;
  id: string;
  number: number;
  fits: boolean;
  here: boolean;
  marked: boolean;
  columns: readonly Column[];
}

/** What draws a row: one that looks as it did before is not drawn again. */
function useDrawnRows(session: Session) {
  const kept = useRef({
    basis: [] as unknown[],
    views: new Map<number, { given: unknown[]; view: VNode }>(),
  });
  const { grid, outbox } = session;
  const [units, beside, flags, waiting] = [
    grid.units.value,
    grid.beside.value,
    session.flags.value,
    outbox.waiting.value,
  ];
  const acts = new Map(waiting.map(({ unit_id, kind }) => [unit_id, kind]));
  const of = (place: number): Unit | undefined => {
    const unit = units.get(place) ?? (session.unit.value?.place === place ? session.unit.value : undefined);
    return unit && waiting.reduce(withAct, unit);
  };
  const before = kept.current.views;
  const views: typeof before = (kept.current.views = new Map());
  return (basis: unknown[], place: number, places: unknown[], look: Look): VNode => {
    const [unit, more, flag] = [of(place), beside.get(place), flags[place]!];
    const kind = unit && acts.get(unit.unit_id);
    const given = [...basis, ...places, unit, more, flag, kind, look.fits, look.here && session.unit.value];
    const old = before.get(place);
    const same = old?.given.every((one, at) => one === given[at]) && old.given.length === given.length;
    const view = same ? (
      old!.view
    ) : (
      <Row key={place} {...{ session, place, unit, flag, kind, more, ...look }} />
    );
    views.set(place, { given, view });
    return view;
  };
}

interface RowProps extends Look {
  session: Session;
  place: number;
  unit: Unit | undefined;
  flag: string;
  /** What an act on its way does to it. */
  kind: string | undefined;
  more: { variables: Record<string, string | null>; review: string[] | null } | undefined;
}

function Row(props: RowProps) {
  const { session, place, unit, here, fits, marked, style, id, number } = props;
  const live = here && session.unit.value?.place === place ? session.unit.value : null;
  const pressed = useRef<PointerEvent | null>(null);
  useLayoutEffect(() => {
    if (live) session.drawn.value = live.unit_id;
  }, [live?.unit_id]);
  const names = [
    "s7-grid-row",
    here && "s7-here",
    marked && "s7-cursor",
    !fits && "s7-gone",
    style && "s7-placed",
  ];
  return (
    <div
      id={id}
      class={joined(names)}
      role="row"
      aria-rowindex={number}
      aria-selected={here}
      aria-busy={!unit}
      data-place={place}
      style={style}
      // Of the row that keys are meant for, the page follows the drag.
      onPointerDown={event => {
        pressed.current = event;
        if (!here) event.stopPropagation();
      }}
      onClick={event => !here && goTo(session, place, unit, pressed.current, event)}
    >
      <Cells {...props} live={live} />
    </div>
  );
}

/** Go to a row that was clicked, and select the words over which the mouse was dragged. */
function goTo(
  session: Session,
  place: number,
  unit: Unit | undefined,
  from: MouseEvent | null,
  to: MouseEvent,
): void {
  const words = (to.currentTarget as Element).querySelector(".s7-cell-words");
  const dragged = from && Math.hypot(to.clientX - from.clientX, to.clientY - from.clientY) > DRAG;
  const [start, end] = [from, dragged ? to : null].map(
    at => words && at && offsetAt(words, at.clientX, at.clientY),
  );
  if (!unit || start == null || end == null || start === end) return session.jump(place);
  const covered = { start: Math.min(start, end), end: Math.min(Math.max(start, end), unit.text.length) };
  session.goTo(place, to.altKey ? trimmed(unit.text, covered) : snapped(unit.text, covered, "word"));
}

/**
 * Where the rows stand. What is kept is the row at the upper edge: where rows above it turn out higher than
 * they
 * were taken to be, what is in sight does not move.
 */
function useScrolling(session: Session) {
  const { texts, grid } = session;
  const [listing, cursor, jumps] = [texts.listing.value, texts.cursor.value, grid.revealed.value];
  const [box, head] = [useRef<HTMLDivElement>(null), useRef<HTMLDivElement>(null)];
  const [, setDrawing] = useState({});
  const at = useRef({
    anchor: { index: 0, offset: 0 } as Anchor,
    heights: new Heights(listing),
    measured: new Map<number, number>(),
    /** Until the person scrolls elsewhere, the row that keys are meant for is kept in sight. */
    follows: true,
    scrolled: 0,
    size: { width: 0, height: 0, head: 0 },
  }).current;
  if (at.heights.listing !== listing) {
    const place = at.heights.listing.at(at.anchor.index);
    at.heights = new Heights(listing, at.measured);
    if (place !== undefined) at.anchor = { ...at.anchor, index: listing.indexOf(place) };
  }
  const { heights, size } = at;
  const room = Math.max(0, size.height - size.head);
  const lowest = Math.max(0, heights.total - room);
  const top = Math.max(0, Math.min(heights.topOf(at.anchor.index) + at.anchor.offset, lowest));
  const first = Math.max(0, heights.at(top).index - BEYOND);
  const last = Math.min(listing.length, heights.at(top + room).index + 1 + BEYOND);

  const wanted = `${cursor} ${jumps}`;
  const followed = useRef<{ wanted: string; listing: unknown }>({ wanted: "", listing: null });
  if (followed.current.wanted !== wanted || followed.current.listing !== listing) {
    at.follows = true;
    followed.current = { wanted, listing };
  }

  useMeasuring(box, head, at, first, last, () => setDrawing({}));
  useLayoutEffect(() => {
    const [rowTop, rowHeight] = [heights.topOf(cursor), heights.heightOf(cursor)];
    if (at.follows && room && cursor < listing.length) {
      const to = scrolledTo(rowTop, Math.min(rowHeight, room), top, room);
      if (Math.abs(to - top) > 1) {
        at.anchor = heights.at(to);
        return setDrawing({});
      }
    }
    if (Math.abs(box.current!.scrollTop - top) > 1) box.current!.scrollTop = top;
    at.scrolled = box.current!.scrollTop;
    const elsewhere = session.unit.value !== null && !listing.has(session.unit.value.place);
    const within = Math.min(rowTop + rowHeight, top + room) - Math.max(rowTop, top);
    grid.inSight = elsewhere || !room || within >= Math.min(GLIMPSE, rowHeight);
    grid.rowsInSight = Math.max(1, heights.at(top + room).index - heights.at(top).index);
  });
  const redraw = () => {
    const { scrollTop } = box.current!;
    if (Math.abs(scrollTop - at.scrolled) <= 1) return;
    // What scrolled without a hand (a notebook takes a cell out of the page and puts it back) is scrolled
    // back, but
    // within a row that is higher than the box: what has the focus there, or is read aloud, came into sight.
    const [rowTop, rowHeight] = [at.heights.topOf(cursor), at.heights.heightOf(cursor)];
    const covered = Math.min(rowTop + rowHeight, scrollTop + room) - Math.max(rowTop, scrollTop);
    if (rowHeight > room && covered > room / 2) at.follows = false;
    if (!at.follows) at.anchor = at.heights.at(scrollTop);
    setDrawing({});
  };
  const byHand = (event: Event) => {
    if (event.type !== "pointerdown" || event.target === box.current) at.follows = false;
  };
  return {
    box,
    head,
    heights,
    first,
    last,
    scrolling: { onScroll: redraw, onWheel: byHand, onTouchMove: byHand, onPointerDown: byHand },
  };
}

interface Scrolling {
  heights: Heights;
  measured: Map<number, number>;
  size: { width: number; height: number; head: number };
}

/** Measure the rows that are drawn, and the box, each time one of them changes its size. */
function useMeasuring(
  box: { current: HTMLDivElement | null },
  head: { current: HTMLDivElement | null },
  at: Scrolling,
  first: number,
  last: number,
  redraw: () => void,
): void {
  const observer = useRef<ResizeObserver | null>(null);
  const measure = useRef(() => {});
  measure.current = () => {
    if (!box.current) return;
    const { clientWidth: width, clientHeight: height } = box.current;
    let changed =
      width !== at.size.width || height !== at.size.height || head.current!.offsetHeight !== at.size.head;
    // Rows that are out of sight have other heights in another width.
    if (width !== at.size.width) {
      at.measured.clear();
      at.heights = new Heights(at.heights.listing);
    }
    at.size = { width, height, head: head.current!.offsetHeight };
    for (const row of box.current.querySelectorAll<HTMLElement>(".s7-placed")) {
      markLong(row);
      const [place, own] = [Number(row.dataset.place), row.getBoundingClientRect().height];
      const index = at.heights.listing.indexOf(place);
      if (!own || Math.abs(at.heights.heightOf(index) - own) < 0.1) continue;
      at.measured.set(place, own);
      at.heights.set(index, own);
      changed = true;
    }
    if (changed) redraw();
  };
  useLayoutEffect(() => {
    observer.current = new ResizeObserver(() => measure.current());
    observer.current.observe(box.current!);
    observer.current.observe(head.current!);
    return () => observer.current!.disconnect();
  }, []);
  useLayoutEffect(() => {
    for (const row of box.current!.querySelectorAll(".s7-placed")) observer.current!.observe(row);
  }, [first, last, at.heights.listing]);
}

/** Mark a row whose answer goes on below what it shows: there it says so. */
function markLong(row: HTMLElement): void {
  const words = row.querySelector<HTMLElement>(".s7-cell-words, .s7-text");
  const long = !!words && (words.scrollHeight > words.clientHeight + 2 || words.dataset.cut !== undefined);
  if (long !== "long" in row.dataset) row.toggleAttribute("data-long", long);
}
