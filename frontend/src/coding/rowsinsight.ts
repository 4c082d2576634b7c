// Which rows of a list of hundreds are drawn: those in sight, and the one that has the focus.
import { useLayoutEffect, useRef, useState } from "preact/hooks";

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
