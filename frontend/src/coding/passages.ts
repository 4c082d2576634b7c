// One's own passages of a code, newest first; each leads to its text, and from there back to where one was.
import { computed, signal } from "@preact/signals";
import { PagedRows } from "../shared/pagedrows";
import type { Answers, Unanswered } from "../shared/session";
import type { Host } from "./host";
import type { Answer, PassageRow, Question } from "./messages";

export class Passages {
  readonly find = signal("");
  #code = "";
  readonly list = new PagedRows<PassageRow>(first =>
    this.host.ask({ type: "passages", code: this.#code, find: this.find.peek(), first }),
  );
  /** From which text one went to a passage, and where that is. */
  readonly #way = signal<{ from: number; to: number } | null>(null);
  /** The text to go back to. */
  readonly from = computed(() =>
    this.#way.value?.to === this.host.place.value ? (this.#way.value?.from ?? null) : null,
  );

  readonly answers: Answers<Answer, Question> = {
    passages: ({ n, n_all, first, rows }, question) =>
      question && this.list.heard(first, n, rows, first === 0, n_all),
  };
  readonly unanswered: Unanswered<Question> = { passages: () => this.list.unanswered() };

  constructor(private readonly host: Pick<Host, "ask" | "place" | "goto">) {}

  /** List the passages of this code, as they are now. */
  of(code: string): void {
    if (code !== this.#code) this.list.cursor.value = 0;
    this.#code = code;
    if (code) this.list.renew();
  }

  change(find: string): void {
    this.find.value = find;
    this.list.restart();
  }

  /** One goes to this passage, maybe from another one. */
  leave(to: number): void {
    const here = this.host.place.peek();
    if (here !== null && here !== to) this.#way.value = { from: this.from.peek() ?? here, to };
  }

  back(): void {
    const from = this.from.peek();
    this.#way.value = null;
    if (from !== null) this.host.goto(from);
  }
}
