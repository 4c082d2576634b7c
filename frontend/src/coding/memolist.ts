// The list of memos: one's own, and the team's once their round is unblinded; each leads to what it is about.
import { signal } from "@preact/signals";
import type { Answers, Unanswered } from "../shared/session";
import { PagedRows } from "../shared/pagedrows";
import type { Host } from "./host";
import type { Answer, MemoQuestion, MemoRow, Question } from "./messages";

export type MemoQuery = Pick<MemoQuestion, "find" | "on" | "code">;

const ANY: MemoQuery = { find: "", on: "", code: null };

export class MemoList {
  readonly query = signal<MemoQuery>(ANY);
  readonly list = new PagedRows<MemoRow>((first, renewed) =>
    this.host.ask({ type: "memos", ...this.query.peek(), first, fresh: renewed && this.#fresh }),
  );
  /** Whether the team's memos are to be read anew. */
  #fresh = true;

  readonly answers: Answers<Answer, Question> = {
    memos: ({ n, n_all, first, rows }, question) => {
      if (!question) return;
      this.#fresh = false;
      this.list.heard(first, n, rows, first === 0, n_all);
    },
  };
  readonly unanswered: Unanswered<Question> = { memos: () => this.list.unanswered() };

  constructor(private readonly host: Pick<Host, "ask">) {}

  opened(): void {
    this.#fresh = true;
    this.list.renew();
  }

  change(part: Partial<MemoQuery>): void {
    this.query.value = { ...this.query.value, ...part };
    this.list.restart();
  }
}
