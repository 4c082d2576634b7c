// What waits for the coder: how much, what, and what each opens.
import { signal } from "@preact/signals";
import type { Answers } from "../shared/session";
import type { Host } from "./host";
import type { Answer, InboxItem, Question } from "./messages";
import { placeIn } from "../shared/words";

/** How long the inbox goes without being asked for while texts are finished. */
const EVERY_MS = 60_000;

export class Inbox {
  readonly #host: Pick<Host, "ask" | "say" | "showOther" | "isUnsaved" | "keep" | "waiting">;
  readonly items = signal<readonly InboxItem[]>([]);
  /** How many wait: without the news that was opened and is still on the screen. */
  readonly n = signal(0);
  /** The item that the arrow keys move to, and the one whose wordings are shown. */
  readonly cursor = signal(0);
  readonly shown = signal("");
  #known: ReadonlySet<string> | null = null;
  #asked = 0;
  /** Whether it was asked for while acts were on their way, which the answer may not know. */
  #early = false;
  readonly answers: Answers<Answer, Question> = {
    inbox: ({ items }) => this.#heard(items),
    opened_round: ({ model }) => this.#host.showOther(model),
  };

  constructor(host: Pick<Host, "ask" | "say" | "showOther" | "isUnsaved" | "keep" | "waiting">) {
    this.#host = host;
  }

  /** Ask for it; `read` is news that was opened. */
  renew(read: string | null = null): void {
    this.#asked = Date.now();
    this.#early = this.#host.waiting.peek().length > 0;
    this.#host.ask({ type: "inbox", read });
  }

  /** A text was finished: now the kernel is free, and something may have come. */
  finished(): void {
    const known = !this.#early || this.#host.waiting.peek().length > 0;
    if (!known || Date.now() - this.#asked >= EVERY_MS) this.renew();
  }

  #heard(items: InboxItem[]): void {
    // What was opened stays on the screen until something else is.
    const kept = this.items
      .peek()
      .filter(({ id }) => id === this.shown.peek() && !items.some(item => item.id === id));
    this.items.value = [...kept, ...items];
    this.n.value = items.length;
    const shown = this.items.value.findIndex(({ id }) => id === this.shown.peek());
    this.cursor.value = shown >= 0 ? shown : placeIn(items.length, this.cursor.peek());
    const news = items.find(({ id }) => this.#known && !this.#known.has(id));
    this.#known = new Set(items.map(({ id }) => id));
    if (news) this.#host.say(`New in the inbox: ${news.title}`);
  }

  /** Have the widget of another round in the place of this one. */
  openRound(round: string | null): void {
    this.#host.keep();
    if (this.#host.isUnsaved()) this.#host.say("Open it once everything is saved");
    else this.#host.ask({ type: "open_round", round });
  }

  move(by: number): void {
    this.cursor.value = placeIn(this.items.value.length, this.cursor.value + by);
  }
}
