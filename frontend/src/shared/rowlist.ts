// What makes a box of paged rows a list: its attributes, those of its rows, and the keys that go through it.
import type { HTMLAttributes } from "preact";
import type { PagedRows } from "./pagedrows";

/** What puts a row in its place. */
export type RowStyle = Record<string, string>;

/** Rows that PageUp and PageDown go. */
const PAGE = 6;

/** Attributes of the box; `id` names the list's elements, since several views can be on one page. */
export function listBox(id: string, label: string, count: number, cursor: number): HTMLAttributes<HTMLDivElement> {
  const marked = count ? `${id}-${cursor}` : undefined;
  return { id: `${id}-rows`, class: "s7-rows", role: "listbox", tabIndex: 0, "aria-label": label, "aria-activedescendant": marked };
}

/** Attributes of the row at `index`; `names` are classes of its own. */
export function listRow(id: string, list: Pick<PagedRows<unknown>, "count" | "cursor">, index: number, style: RowStyle, names: readonly (string | false | undefined)[] = []) {
  const marked = index === list.cursor.value;
  return {
    id: `${id}-${index}`,
    class: ["s7-row", ...names, marked && "s7-cursor"].filter(Boolean).join(" "),
    role: "option" as const,
    "aria-selected": marked,
    "aria-setsize": list.count.value,
    "aria-posinset": index + 1,
    style,
  };
}

/** How far a key moves the marked row, from the list or (with fewer keys) from the field that searches it; 0 for others. */
export function stepOf(key: string, inField = false): number {
  const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: PAGE, PageUp: -PAGE, ...(inField ? {} : { Home: -Infinity, End: Infinity }) };
  return steps[key] ?? 0;
}
