// What one open view of the overview shows, and what can be asked in it.
import { batch, effect, signal } from "@preact/signals";
import type { Model } from "../shared/channel";
import { WidgetSession } from "../shared/session";
import { PagedRows } from "../shared/pagedrows";
import type {
  Agreement,
  Answer,
  Attention,
  Book,
  Change,
  Door,
  Leaning,
  Part,
  Question,
  Rounds,
  Told,
  UnitRow,
  UnitText,
  Used,
} from "./messages";

/**
 * A recount waits this long after an act, and at least this many times what the last one took: others work
 * in this kernel, too.
 */
const [WAIT_MS, REST] = [1_000, 3];

export class Session extends WidgetSession<Question, Answer, never, Told> {
  readonly presses = this.queue();
  readonly rounds = signal<Rounds | null>(null);
  readonly used = signal<Used | null>(null);
  readonly agreement = signal<Agreement | null>(null);
  readonly leaning = signal<Leaning | null>(null);
  readonly change = signal<Change | null>(null);
  readonly attention = signal<Attention | null>(null);
  readonly counting = signal(false);
  /** Whether acts came in that are not counted yet. */
  readonly older = signal(false);
  /** Whether the page can be seen: what nobody sees is not recounted. */
  readonly inSight = signal(true);
  /** The number whose texts are listed, and what it counts in words. */
  readonly door = signal<Door | null>(null);
  readonly title = signal("");
  readonly find = signal("");
  readonly list: PagedRows<UnitRow> = new PagedRows((first, renewed) => {
    const door = this.door.peek();
    if (door) this.channel.ask({ type: "units", door, first, find: this.find.peek(), renewed });
  });
  readonly text = signal<UnitText | null>(null);
  /** The button that the list was opened by. */
  #opener = "";
  #begun = 0;
  #took = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(model: Model) {
    super(model);
    const ends = [effect(() => this.#askText()), effect(() => this.#countWhenSeen())];
    const show = (part: Part) => this.#show(part);
    this.hear({
      answers: {
        welcome: answer =>
          batch(() => {
            this.coder.value = answer.coder;
            this.#showBook(answer.book);
            answer.parts.forEach(show);
          }),
        units: (answer, question) => {
          if (question?.type !== "units") return;
          this.list.heard(answer.first, answer.n, answer.rows, question.renewed);
          if (question.door === this.door.value) this.title.value = answer.title;
        },
        unit: answer => {
          const row = this.list.rows.peek().get(this.list.cursor.peek());
          if (this.door.peek() && row?.unit_id === answer.unit_id) this.text.value = answer;
        },
      },
      unanswered: { units: () => this.list.unanswered() },
      told: {
        counted: () => {
          this.#took = Date.now() - this.#begun;
          this.counting.value = false;
          if (this.door.value) this.list.renew();
        },
        acted: () => void (this.older.value = true),
        uncounted: ({ message }) =>
          batch(() => {
            this.counting.value = false;
            this.message.value = message;
          }),
        rounds: show,
        codes: show,
        agreement: show,
        leaning: show,
        change: show,
        attention: show,
      },
      close: () => {
        clearTimeout(this.#timer);
        ends.forEach(end => end());
      },
    });
    this.#begin({ type: "hello" });
  }

  /** Recount everything. */
  count(): void {
    this.#begin({ type: "count" });
  }

  /** List the texts behind a number; `opener` finds the button that it stands on. */
  open(door: Door, opener: string): void {
    this.#opener = opener;
    batch(() => {
      this.door.value = door;
      this.title.value = this.find.value = "";
      this.list.count.value = this.list.cursor.value = 0;
      this.list.rows.value = new Map();
      this.text.value = null;
      this.focus.value = ".s7-rows";
    });
    this.list.renew();
  }

  search(find: string): void {
    this.find.value = find;
    this.list.cursor.value = 0;
    this.list.renew();
  }

  /** Back from the list to the number. */
  back(): void {
    batch(() => {
      this.door.value = this.text.value = null;
      this.focus.value = this.#opener;
    });
  }

  #begin(question: Question): void {
    clearTimeout(this.#timer);
    batch(() => {
      this.counting.value = true;
      this.older.value = false;
    });
    this.#begun = Date.now();
    this.channel.ask(question);
  }

  /** The text of the marked row, once that is here. */
  #askText(): void {
    const row = this.list.rows.value.get(this.list.cursor.value);
    if (this.door.value && row && row.unit_id !== this.text.peek()?.unit_id)
      this.channel.ask({ type: "unit", unit_id: row.unit_id });
  }

  #countWhenSeen(): void {
    clearTimeout(this.#timer);
    if (!this.older.value || !this.inSight.value || this.counting.value) return;
    this.#timer = setTimeout(() => this.count(), Math.max(WAIT_MS, REST * this.#took));
  }

  #show(part: Part): void {
    batch(() => {
      if (part.type === "rounds") {
        this.rounds.value = part;
        this.#showBook(part.book);
      } else if (part.type === "codes") this.used.value = part;
      else if (part.type === "agreement") this.agreement.value = part;
      else if (part.type === "leaning") this.leaning.value = part;
      else if (part.type === "change") this.change.value = part;
      else if (part.type === "attention") this.attention.value = part;
    });
  }

  #showBook({ title, codes }: Book): void {
    this.book.codebook.value = { title, version: "", facets: [], codes };
  }
}
