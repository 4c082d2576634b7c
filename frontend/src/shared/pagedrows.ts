// The rows of a long list that the kernel hands out in pages, by their index.
import { batch, signal, type ReadonlySignal } from "@preact/signals";
import type { HTMLAttributes } from "preact";
import { uuid } from "./protocol";
import { joined, placeIn } from "./words";

export class PagedRows<Row> {
  /** Names its elements: several views can be on one page. */
  readonly id = `s7-${uuid()}`;
  readonly count = signal(0);
  /** How many there are, whatever is looked for among them. */
  readonly all = signal(0);
  readonly rows = signal<ReadonlyMap<number, Row>>(new Map());
  /** The row that the arrow keys move. */
  readonly cursor = signal(0);
  #inView: [number, number] = [0, 0];
  #asking = false;
  #again = false;

  /** `ask` asks for the page that begins at `first`; with `renewed` the list may be another. */
  constructor(private readonly ask: (first: number, renewed: boolean) => void) {}

  /** The rows from `first` to `last` are drawn: ask for those that are not here. */
  readonly want = (first: number, last: number): void => {
    this.#inView = [first, last];
    if (this.#asking) return;
    for (let index = first; index < Math.min(last, this.count.peek()); index++) {
      if (!this.rows.peek().has(index)) return this.#send(index, false);
    }
  };

  /** The list may be another: ask for it anew. One question at a time. */
  renew(): void {
    if (this.#asking) this.#again = true;
    else this.#send(0, true);
  }

  heard(first: number, count: number, rows: readonly Row[], renewed: boolean, all = count): void {
    this.#asking = false;
    if (this.#again) {
      this.#again = false;
      return this.renew();
    }
    batch(() => {
      this.count.value = count;
      this.all.value = all;
      this.rows.value = new Map([
        ...(renewed ? [] : this.rows.peek()),
        ...rows.map((row, n): [number, Row] => [first + n, row]),
      ]);
      this.cursor.value = placeIn(count, this.cursor.peek());
    });
    this.want(...this.#inView);
  }

  /** A question has no answer: what is on screen stays. */
  unanswered(): void {
    this.#asking = this.#again = false;
  }

  /** The list is another one, or is searched for something else. */
  restart(): void {
    this.cursor.value = 0;
    this.renew();
  }

  /** The row at `index`, which becomes the marked one. */
  pick(index: number): Row | undefined {
    const row = this.rows.peek().get(index);
    if (row) this.cursor.value = index;
    return row;
  }

  move(by: number): void {
    this.cursor.value = placeIn(this.count.value, this.cursor.value + by);
  }

  #send(first: number, renewed: boolean): void {
    this.#asking = true;
    this.ask(first, renewed);
  }
}

/** What puts a row in its place. */
export type RowStyle = Record<string, string>;

/** Rows that PageUp and PageDown go. */
const PAGE = 6;

/** Attributes of the box; `id` names the list's elements. */
export function listBox(
  id: string,
  label: string,
  count: number,
  cursor: number,
): HTMLAttributes<HTMLDivElement> {
  const marked = count ? `${id}-${cursor}` : undefined;
  return {
    id: `${id}-rows`,
    class: "s7-rows",
    role: "listbox",
    tabIndex: 0,
    "aria-label": label,
    "aria-activedescendant": marked,
  };
}

/** Attributes of the row at `index`; `names` are classes of its own. */
export function listRow(
  list: Pick<PagedRows<unknown>, "id"> & { readonly [each in "count" | "cursor"]: ReadonlySignal<number> },
  index: number,
  style: RowStyle,
  names: readonly (string | false | undefined)[] = [],
) {
  const marked = index === list.cursor.value;
  return {
    id: `${list.id}-${index}`,
    class: joined(["s7-row", ...names, marked && "s7-cursor"]),
    role: "option" as const,
    "aria-selected": marked,
    "aria-setsize": list.count.value,
    "aria-posinset": index + 1,
    style,
  };
}

/**
 * How far a key moves the marked row, from the list or (with fewer keys) from the field that searches it; 0
 * for others.
 */
export function stepOf(key: string, inField = false): number {
  const steps: Record<string, number> = {
    ArrowDown: 1,
    ArrowUp: -1,
    PageDown: PAGE,
    PageUp: -PAGE,
    ...(inField ? {} : { Home: -Infinity, End: Infinity }),
  };
  return steps[key] ?? 0;
}
