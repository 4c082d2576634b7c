// The survey grid in one view: how high its rows are, which texts are here, which columns are shown, what
// keys mean.
import { batch, computed, signal, type ReadonlySignal } from "@preact/signals";
import type { Answers, Unanswered } from "../shared/session";
import type { Listing } from "../shared/listing";
import type { Host } from "./host";
import type { Answer, GridRow, Question, Unit } from "./messages";
import { placeIn } from "../shared/words";

/** A row that was never drawn is taken to be so high. */
const ESTIMATE = 60;
const MOST_KEPT = 1000;
const MOST_ASKED = 40;

/** A place in the list: a row, and how far the upper edge of what is in sight is below the row's own. */
export interface Anchor {
  index: number;
  offset: number;
}

/**
 * The heights of any number of rows, most of them never drawn: each change and each question takes log n
 * steps.
 */
export class Heights {
  readonly length: number;
  readonly #own: Float64Array;
  /** A Fenwick tree of the differences from the estimate. */
  readonly #sums: Float64Array;

  constructor(
    readonly listing: Listing,
    /** The heights of the texts that were drawn, by their places. */
    measured: ReadonlyMap<number, number> = new Map(),
    readonly estimate = ESTIMATE,
  ) {
    this.length = listing.length;
    this.#own = new Float64Array(this.length);
    this.#sums = new Float64Array(this.length + 1);
    for (const [place, height] of measured) if (listing.has(place)) this.set(listing.indexOf(place), height);
  }

  get total(): number {
    return this.topOf(this.length);
  }

  heightOf(index: number): number {
    return this.estimate + (this.#own[index] ?? 0);
  }

  set(index: number, height: number): void {
    const more = height - this.heightOf(index);
    this.#own[index]! += more;
    for (let at = index + 1; at <= this.length; at += at & -at) this.#sums[at]! += more;
  }

  topOf(index: number): number {
    let top = index * this.estimate;
    for (let at = Math.min(index, this.length); at > 0; at -= at & -at) top += this.#sums[at]!;
    return top;
  }

  /** The row that stands at this distance from the top, and how far into it that is. */
  at(distance: number): Anchor {
    let [index, top] = [0, 0];
    for (let step = 2 ** Math.floor(Math.log2(Math.max(1, this.length))); step >= 1; step /= 2) {
      if (index + step > this.length) continue;
      const below = top + step * this.estimate + this.#sums[index + step]!;
      if (below <= distance) [index, top] = [index + step, below];
    }
    const last = Math.max(0, this.length - 1);
    return index > last
      ? { index: last, offset: distance - this.topOf(last) }
      : { index, offset: distance - top };
  }
}

const ARROWS: Record<string, string> = {
  ArrowDown: "next",
  ArrowUp: "back",
  ArrowRight: "next_coding",
  ArrowLeft: "previous_coding",
};
/** Up and down, for who keeps the hands on the letters; where a code has the key, it is the code's. */
const LETTERS: Record<string, string> = { j: "next", k: "back" };
/** What changes the row that is meant: never one that is out of sight. */
const CHANGES =
  /^(code:|finish|remove_coding|facet|unsure|memo|new_code|filter|next_word|previous_word|next_sentence|previous_sentence|select_by_letters|start:|end:|choice)/;

type Press = Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey" | "shiftKey">;

export class Grid {
  readonly #host: Pick<Host, "ask" | "came" | "goto" | "say" | "focus" | "place"> & {
    listing: ReadonlySignal<Listing>;
  };
  readonly layout = signal<"text" | "grid">("text");
  readonly on = computed(() => this.layout.value === "grid");
  readonly units = signal<ReadonlyMap<number, Unit>>(new Map());
  /** What a row shows beside its unit. */
  readonly beside = signal<ReadonlyMap<number, Omit<GridRow, "unit">>>(new Map());
  /** The variables that may be shown, null until the kernel named them; and those that are. */
  readonly variables = signal<readonly string[] | null>(null);
  readonly shown = signal<readonly string[]>([]);
  readonly hasRating = signal(false);
  readonly showIds = signal(false);
  readonly showColumns = signal(false);
  /** Whether the codes are shown in the row that keys are meant for, one of them to be clicked. */
  readonly picking = signal(false);
  /** Goes up each time the row that keys are meant for is to be brought into sight. */
  readonly revealed = signal(0);
  /** Whether that row is in sight, and how many rows are. */
  inSight = true;
  rowsInSight = 8;

  #inView: [number, number] = [0, 0];
  #asked = false;

  readonly answers: Answers<Answer, Question> = {
    layout: ({ variables, has_rating }) => {
      this.variables.value = variables;
      this.hasRating.value = has_rating;
    },
    grid: ({ rows }, question) => question?.type === "grid" && this.#heardRows(rows, question.variables),
  };
  readonly unanswered: Unanswered<Question> = { grid: () => void (this.#asked = false) };

  constructor(
    host: Pick<Host, "ask" | "came" | "goto" | "say" | "focus" | "place"> & {
      listing: ReadonlySignal<Listing>;
    },
  ) {
    this.#host = host;
  }

  /** Show the texts as rows, or one by one. */
  begin(layout: "text" | "grid"): void {
    batch(() => {
      this.layout.value = layout;
      // What is not on screen is not kept up to date.
      this.units.value = new Map();
      this.beside.value = new Map();
    });
    this.#host.ask({ type: "layout", layout });
  }

  show(layout: "text" | "grid"): void {
    batch(() => {
      this.begin(layout);
      this.#host.focus(".s7");
    });
    this.#host.say(this.on.value ? "Texts as rows" : "One text at a time");
  }

  /* ---- columns ---- */

  toggleVariable(name: string): void {
    const shown = this.shown.value;
    const chosen = shown.includes(name) ? shown.filter(one => one !== name) : [...shown, name];
    this.shown.value = (this.variables.value ?? []).filter(one => chosen.includes(one));
    this.beside.value = new Map();
    this.#wantRows();
  }

  /* ---- texts ---- */

  /** The rows from `first` to `last` are drawn: ask for those that are not here. */
  readonly want = (first: number, last: number): void => {
    this.#inView = [first, last];
    this.#wantRows();
  };

  #wantRows(): void {
    if (this.#asked || !this.on.peek()) return;
    const [first, last] = this.#inView;
    const wanted = Array.from({ length: Math.max(0, last - first) }, (_, at) =>
      this.#host.listing.peek().at(first + at),
    );
    const places = [...wanted, this.#host.place.peek()].filter(
      place => place != null && !this.#isHere(place),
    ) as number[];
    if (!places.length) return;
    this.#asked = true;
    this.#host.ask({
      type: "grid",
      places: [...new Set(places)].slice(0, MOST_ASKED),
      variables: [...this.shown.peek()],
    });
  }

  #isHere(place: number): boolean {
    return this.units.peek().has(place) && this.beside.peek().has(place);
  }

  #heardRows(rows: readonly GridRow[], variables: readonly string[]): void {
    this.#asked = false;
    batch(() => {
      rows.forEach(({ unit }) => this.#host.came(unit));
      // Rows that were asked for before other columns were chosen lack those.
      if (variables.join("\n") !== this.shown.peek().join("\n")) return;
      const more = rows.map(({ unit, variables, review }) => [unit.place, { variables, review }] as const);
      this.beside.value = new Map([...this.beside.peek(), ...more]);
    });
    this.#wantRows();
  }

  /** All that is here may be another thing now. */
  renew(): void {
    batch(() => {
      this.units.value = new Map();
      this.beside.value = new Map();
    });
    this.#wantRows();
  }

  /** A text as it is now. Of many the ones far from what is in view are forgotten. */
  keep(unit: Unit): void {
    if (!this.on.peek()) return;
    if (this.units.peek().size < MOST_KEPT)
      return void (this.units.value = new Map(this.units.peek()).set(unit.place, unit));
    const listing = this.#host.listing.peek();
    const [first, last] = this.#inView;
    const near = ([place]: readonly [number, unknown]) =>
      listing.indexOf(place) >= first && listing.indexOf(place) < last;
    this.beside.value = new Map([...this.beside.peek()].filter(near));
    this.units.value = new Map([...this.units.peek()].filter(near)).set(unit.place, unit);
  }

  /**
   * Something else than a finish stands in the record: whether the text is to be looked at again, only the
   * kernel knows.
   */
  recorded(kind: string, place: number): void {
    if (!/^(reopen|undo|redo)$/.test(kind) || !this.beside.peek().has(place)) return;
    const others = new Map(this.beside.peek());
    others.delete(place);
    this.beside.value = others;
    this.#wantRows();
  }

  /* ---- keys ---- */

  /** What a press means among rows that elsewhere means `what`. */
  meaning(press: Press, what: string | null): string | null {
    if (!this.on.value || press.shiftKey || press.ctrlKey || press.metaKey || press.altKey) return what;
    const arrow = ARROWS[press.key];
    if (arrow && (what === null || Object.values(ARROWS).includes(what))) return arrow;
    if (what?.startsWith("scroll:")) return `rows:${what.slice("scroll:".length)}`;
    return what ?? LETTERS[press.key] ?? null;
  }

  /** Whether the key may be held down. */
  repeats(what: string | null): boolean {
    return this.on.value && /^(next|back|rows:.*)$/.test(what ?? "");
  }

  /**
   * Bring the row that keys are meant for back into sight before a key changes it; true where that was
   * needed.
   */
  hides(what: string | null): boolean {
    if (!this.on.value || this.inSight || !CHANGES.test(what ?? "")) return false;
    this.revealed.value++;
    this.#host.say(
      `Nothing was changed: the row of text ${(this.#host.place.value ?? 0) + 1} was out of sight. Press again`,
    );
    return true;
  }

  /** Go a page of rows up or down, or to the first or last row. */
  page(key: string): void {
    const [listing, here] = [this.#host.listing.value, this.#host.place.value];
    const by =
      { PageDown: this.rowsInSight, PageUp: -this.rowsInSight, Home: -Infinity, End: Infinity }[key] ?? 0;
    const from = here === null ? 0 : listing.indexOf(here);
    const place = listing.at(placeIn(listing.length, from + by));
    if (place !== undefined) this.#host.goto(place);
  }
}
