// The list of texts in one view: what is asked of it, its rows, its cursor, and whether it is open.
import { batch, computed, effect, signal, untracked, type ReadonlySignal } from "@preact/signals";
import { uuid } from "../shared/protocol";
import { bytes, Listing, orderOf, type Order } from "../shared/listing";
import type { Answers, Unanswered } from "../shared/session";
import type { Host } from "./host";
import type { Answer, Choices, Done, Group, GroupBy, ListAnswer, Query, Question, Row } from "./messages";
import { placeIn } from "../shared/words";

export const EVERYTHING: Query = {
  find: "",
  state: "",
  code: null,
  rating: null,
  group: null,
  conditions: {},
  order: "plan",
};
const MOST_ROWS = 2000;
const MOST_ASKED = 200;
/** After an act the list is asked for again, once no further one has followed for so long. */
const SETTLED_MS = 250;

export class TextList {
  readonly #host: Pick<Host, "ask" | "goto" | "focus" | "total" | "place" | "showRating" | "toReview">;
  /** Names its elements: several views can be on one page. */
  readonly id = `s7-${uuid()}`;
  readonly query = signal<Query>(EVERYTHING);
  /** What the kernel answered, and to which question; null where all texts stand in the order of the plan. */
  readonly #answered = signal<{ query: Query; listing: Listing } | null>(null);
  readonly listing = computed(() => this.#answered.value?.listing ?? new Listing(this.total.value));
  /** Whether “next” goes by this list rather than by the plan. */
  readonly isActive = computed(() => this.#answered.value !== null);
  /** The question whose answer is on screen. */
  readonly shown = computed(() => this.#answered.value?.query ?? EVERYTHING);
  readonly rows = signal<ReadonlyMap<number, Row>>(new Map());
  readonly choices = signal<Choices | null>(null);
  readonly groups = signal<Group[] | null>(null);
  readonly groupBy = signal<GroupBy | null>(null);
  readonly showFilters = signal(false);
  readonly count = computed(() => this.listing.value.length);
  /** The row that the arrow keys move. */
  readonly cursor = signal(0);
  readonly total: ReadonlySignal<number>;

  /**
   * Whether the list has a column next to the text; otherwise it replaces the panel, which may be a sheet
   * over the text.
   */
  readonly wide = signal(false);
  readonly narrow = signal(false);
  readonly #folded = signal(false);
  readonly #drawn = signal(false);
  readonly isOpen = computed(() => (this.wide.value ? !this.#folded.value : this.#drawn.value));
  readonly #orders = new Map<string, Order>();
  #asking: Query | null = null;
  #askAgain = false;
  #chooseThen = false;
  #firstThen = false;
  #inView: [number, number] = [0, 0];
  #rowsAsked = false;
  #choicesAsked = false;
  #settling: ReturnType<typeof setTimeout> | undefined;
  readonly #ends: (() => void)[];
  readonly answers: Answers<Answer, Question> = {
    choices: (answer, question) => void (question && (this.choices.value = answer)),
    progress: ({ groups }, question) => void (question && (this.groups.value = groups)),
    list: (answer, question) => question && this.#heardList(answer),
    rows: ({ rows }, question) =>
      question?.type === "rows" && this.#heardRows(rows, question.find, question.show_rating),
  };
  /** Where a question has no answer, what is on screen stays. */
  readonly unanswered: Unanswered<Question> = {
    list: () => {
      this.#asking = null;
      this.#firstThen = false;
      this.#askWhatCameMeanwhile();
    },
    rows: () => void (this.#rowsAsked = false),
    choices: () => void (this.#choicesAsked = false),
  };

  constructor(host: Pick<Host, "ask" | "goto" | "focus" | "total" | "place" | "showRating" | "toReview">) {
    this.#host = host;
    this.total = host.total;
    this.#ends = [
      effect(() => this.#follow(host.place.value, this.listing.value)),
      effect(() => {
        const shown = host.showRating.value;
        untracked(() => this.#heedRating(shown));
      }),
    ];
  }

  close(): void {
    clearTimeout(this.#settling);
    this.#ends.forEach(end => end());
  }

  /* ---- open and folded ---- */

  open(focus: "find" | "rows"): void {
    batch(() => {
      (this.wide.value ? this.#folded : this.#drawn).value = !this.wide.value;
      this.#host.focus(`.s7-${focus}`);
    });
    this.#follow(this.#host.place.peek(), this.listing.peek());
  }

  toggle(): void {
    if (!this.isOpen.value) return this.open("rows");
    batch(() => {
      (this.wide.value ? this.#folded : this.#drawn).value = this.wide.value;
      this.#host.focus(".s7");
    });
  }

  /** Go back to the text: a sheet over it closes, and with `shut` what is in the panel's place. */
  leave(shut = this.narrow.value): void {
    batch(() => {
      if (shut) this.#drawn.value = false;
      this.#chooseThen = false;
      this.#host.focus(".s7");
    });
  }

  /* ---- what is asked for ---- */

  change(part: Partial<Query>): void {
    this.#chooseThen = this.#firstThen = false;
    this.query.value = { ...this.query.value, ...part };
    if (isEverything(this.query.value) && !this.#asking) this.#showAll();
    else this.#renew();
  }

  clear(): void {
    this.change(EVERYTHING);
  }

  /** Choose the texts that are to be looked at again, and go to the first. */
  lookAgain(): void {
    this.change({ ...EVERYTHING, state: "review" });
    if (this.wide.value) this.#folded.value = false;
    this.#firstThen = true;
  }

  /** Ask by what texts can be chosen; the kernel gets ready for searching. */
  askChoices(): void {
    if (this.#choicesAsked) return;
    this.#choicesAsked = true;
    this.#host.ask({ type: "choices", show_rating: this.#host.showRating.peek() });
  }

  showProgress(by: GroupBy | null): void {
    this.groupBy.value = by;
    if (by) this.#host.ask({ type: "progress", by });
  }

  /** One question at a time: of those asked for meanwhile, the last one counts. */
  #renew(): void {
    if (this.#asking) return void (this.#askAgain = true);
    const query = (this.#asking = this.query.value);
    this.#host.ask({
      type: "list",
      ...query,
      show_rating: this.#host.showRating.peek(),
      here: this.#host.place.peek(),
      with_order: !this.#orders.has(query.order),
    });
  }

  /** Ask for what was chosen while another answer was under way; false where nothing was. */
  #askWhatCameMeanwhile(): boolean {
    if (!this.#askAgain) return false;
    this.#askAgain = false;
    if (isEverything(this.query.value)) this.#showAll();
    else this.#renew();
    return true;
  }

  #showAll(): void {
    const found = this.shown.peek().find;
    this.#answered.value = null;
    if (found) this.#dropRows();
    this.#wantRows();
  }

  /** The rows from `first` to `last` are drawn: ask for those that are not here. */
  readonly want = (first: number, last: number): void => {
    this.#inView = [first, last];
    this.#wantRows();
  };

  #wantRows(): void {
    if (this.#rowsAsked) return;
    const [listing, missing] = [this.listing.peek(), [] as number[]];
    for (let index = this.#inView[0]; index < Math.min(this.#inView[1], listing.length); index++) {
      const place = listing.at(index)!;
      if (!this.rows.peek().has(place)) missing.push(place);
    }
    if (!missing.length) return;
    this.#rowsAsked = true;
    const { find } = this.shown.peek();
    this.#host.ask({
      type: "rows",
      places: missing.slice(0, MOST_ASKED),
      find,
      show_rating: this.#host.showRating.peek(),
    });
  }

  /* ---- what the kernel says ---- */

  #heardList(answer: ListAnswer & { type: "list" }): void {
    const query = this.#asking!;
    this.#asking = null;
    if (answer.order) this.#orders.set(query.order, orderOf(answer.order));
    if (this.#askWhatCameMeanwhile()) return;
    batch(() => {
      const before = this.#answered.peek();
      const fits = answer.bits === null ? null : bytes(answer.bits);
      const listing =
        before?.query === query
          ? before.listing.renewed(this.total.peek(), answer.n, fits)
          : new Listing(this.total.peek(), this.#orders.get(query.order) ?? null, answer.n, fits);
      if (query.find !== this.shown.peek().find) this.#dropRows();
      this.#keepRows(answer.rows);
      this.#answered.value = { query, listing };
    });
    this.#wantRows();
    if (this.#chooseThen) this.choose();
    if (this.#firstThen) this.pick(0);
    this.#firstThen = false;
  }

  #heardRows(rows: Row[], find: string, withRating: boolean): void {
    this.#rowsAsked = false;
    // Rows that were asked for before the words or the rating changed show the wrong ones.
    if (find === this.shown.peek().find && withRating === this.#host.showRating.peek()) this.#keepRows(rows);
    this.#wantRows();
  }

  #dropRows(): void {
    this.rows.value = new Map();
  }

  #keepRows(rows: Row[]): void {
    const kept = this.rows.peek().size + rows.length > MOST_ROWS ? [] : this.rows.peek();
    this.rows.value = new Map([...kept, ...rows.map((row): [number, Row] => [row.place, row])]);
  }

  /** An act stands in the record: its row, the list where it may have changed, and the progress follow. */
  recorded({ unit, kind, flag }: Done): void {
    const row = this.rows.peek().get(unit.place);
    if (row) {
      const unsure = unit.codings.some(({ confidence }) => confidence === "unsure");
      const review = "fu".includes(flag) ? null : row.review;
      this.#keepRows([{ ...row, memo: unit.memo !== null || unit.memos.length > 0, unsure, review }]);
      // What was finished and is taken up again may be one to be looked at: only the kernel knows.
      if (kind !== "finish" && row.review === null && this.#host.toReview()) this.changed([unit.place]);
    }
    this.#settle();
  }

  /** These texts were changed in another window. */
  changed(places: readonly number[]): void {
    const rows = new Map(this.rows.peek());
    places.forEach(place => rows.delete(place));
    this.rows.value = rows;
    this.#wantRows();
    this.#settle();
  }

  /** The list and the progress follow once nothing more has changed for a while. */
  #settle(): void {
    clearTimeout(this.#settling);
    this.#settling = setTimeout(() => {
      const { state, code, find } = this.shown.peek();
      if (this.isActive.peek() && (state || code || find) && this.shown.peek() === this.query.peek())
        this.#renew();
      if (this.groupBy.peek()) this.showProgress(this.groupBy.peek());
    }, SETTLED_MS);
  }

  /** A rating is in the list, and chosen by, only while it is on screen. */
  #heedRating(shown: boolean): void {
    if (!shown && this.query.peek().rating) this.change({ rating: null });
    this.#dropRows();
    this.#wantRows();
    if (this.#choicesAsked) this.#host.ask({ type: "choices", show_rating: shown });
  }

  /* ---- the cursor ---- */

  #follow(here: number | null, listing: Listing): void {
    this.cursor.value = here !== null && listing.has(here) ? listing.indexOf(here) : 0;
  }

  move(by: number): void {
    this.cursor.value = placeIn(this.listing.value.length, this.cursor.value + by);
  }

  /** Go to the text under the cursor: once the answer is here, where the list is being asked for. */
  choose(): void {
    this.#chooseThen = this.#asking !== null;
    const place = this.listing.value.at(this.cursor.value);
    if (this.#chooseThen || place === undefined) return;
    this.leave();
    this.#host.goto(place);
  }

  pick(index: number): void {
    this.cursor.value = index;
    this.#chooseThen = false;
    const place = this.listing.value.at(index);
    this.leave();
    if (place !== undefined) this.#host.goto(place);
  }
}

export function isEverything({ find, conditions, ...rest }: Query): boolean {
  return (
    !find.trim() &&
    !Object.keys(conditions).length &&
    !rest.state &&
    !rest.code &&
    !rest.rating &&
    !rest.group &&
    rest.order === "plan"
  );
}
