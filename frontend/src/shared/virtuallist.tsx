// A list of any length, of which only the rows in view are drawn.
import type { ComponentChildren, HTMLAttributes } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { listBox, listRow, type PagedRows, type RowStyle } from "./pagedrows";
import { whenResized } from "./onscreen";

/** Rows that are drawn beyond either edge. */
const BEYOND = 4;

interface Props {
  count: number;
  rowHeight: number;
  /** The row that is kept in view when it changes; another `jump` brings it back into view. */
  cursor: number;
  jump?: unknown;
  /** What is drawn of a row; `style` puts it in its place. */
  row: (index: number, style: RowStyle) => ComponentChildren;
  /** Which rows are drawn, the last excluded. */
  onShown?: (first: number, last: number) => void;
  /** Which rows are wholly in sight, the last excluded. */
  onSeen?: (first: number, last: number) => void;
  /** Attributes of the box that scrolls. */
  box: HTMLAttributes<HTMLDivElement>;
}

export function VirtualList({ count, rowHeight, cursor, jump, row, onShown, onSeen, box }: Props) {
  const at = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(0);

  useLayoutEffect(() => {
    // Once the page is laid out: asked for at another time, how far it is scrolled means laying it out for
    // that alone.
    const measure = () => {
      setHeight(at.current!.clientHeight);
      setTop(at.current!.scrollTop);
    };
    setHeight(at.current!.clientHeight);
    return whenResized(measure, at.current!);
  }, []);

  useLayoutEffect(() => {
    if (!height) return;
    // A list that became short scrolls back by itself.
    const held = Math.min(top, Math.max(0, count * rowHeight - height));
    const wanted = scrolledTo(cursor * rowHeight, rowHeight, held, height);
    if (wanted !== top) setTop((at.current!.scrollTop = wanted));
  }, [cursor, count, jump, height > 0]);

  const first = Math.max(0, Math.min(Math.floor(top / rowHeight), count) - BEYOND);
  const last = Math.min(count, Math.ceil((top + height) / rowHeight) + BEYOND);
  useEffect(() => onShown?.(first, last), [first, last, onShown]);

  const [seen, unseen] = [
    Math.ceil(top / rowHeight),
    Math.min(count, Math.floor((top + height) / rowHeight)),
  ];
  useEffect(() => void (height && onSeen?.(seen, unseen)), [seen, unseen, height > 0]);

  return (
    <div {...box} ref={at} onScroll={event => setTop(event.currentTarget.scrollTop)}>
      <div role="presentation" style={{ position: "relative", height: `${count * rowHeight}px` }}>
        {Array.from({ length: Math.max(0, last - first) }, (_, i) =>
          row(first + i, {
            position: "absolute",
            "inset-inline": "0",
            top: `${(first + i) * rowHeight}px`,
            height: `${rowHeight}px`,
          }),
        )}
      </div>
    </div>
  );
}

interface PagedProps<Row> {
  list: PagedRows<Row>;
  label: string;
  rowHeight: number;
  /** What a row shows. */
  view: (row: Row) => ComponentChildren;
  onOpen: (index: number) => void;
}

/** A list whose rows the kernel hands out in pages. */
export function PagedList<Row>({ list, label, rowHeight, view, onOpen }: PagedProps<Row>) {
  const [n, cursor, rows] = [list.count.value, list.cursor.value, list.rows.value];
  const row = (index: number, style: RowStyle) => {
    const there = rows.get(index);
    return (
      <div key={index} {...listRow(list, index, style)} onClick={() => onOpen(index)}>
        {there ? view(there) : "…"}
      </div>
    );
  };
  return (
    <VirtualList
      count={n}
      rowHeight={rowHeight}
      cursor={cursor}
      onShown={list.want}
      box={listBox(list.id, label, n, cursor)}
      row={row}
    />
  );
}

/**
 * How far a list is scrolled to show a row: as little as can be, and a row that is far away in the middle.
 */
export function scrolledTo(rowTop: number, rowHeight: number, top: number, height: number): number {
  const [above, below] = [top - rowTop, rowTop + rowHeight - (top + height)];
  if (above <= 0 && below <= 0) return top;
  if (Math.max(above, below) > height) return Math.max(0, rowTop - (height - rowHeight) / 2);
  return above > 0 ? rowTop : rowTop + rowHeight - height;
}
