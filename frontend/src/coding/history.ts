// What was done, the newest first, by day: each line leads to its text, and can be taken back or done again.
import { computed, signal } from "@preact/signals";
import type { Answers, Unanswered } from "../shared/session";
import { bytes } from "../shared/listing";
import { PagedRows } from "../shared/pagedrows";
import type { Act } from "../shared/protocol";
import { byDay } from "../shared/times";
import type { Host } from "./host";
import type { Answer, BackAnswer, HistoryQuestion, HistoryRow, Question } from "./messages";

const SETTLED_MS = 200;

export class History {
  readonly #host: Pick<Host, "ask" | "push" | "unit" | "say">;
  readonly scope = signal<HistoryQuestion["scope"]>("sitting");
  /** When each act was done, in milliseconds. */
  readonly #times = signal<readonly number[]>([]);
  readonly lines = computed(() => byDay(this.#times.value));
  /** The line of each act. */
  readonly lineOf = computed(() =>
    this.lines.value.flatMap((line, place) => ("index" in line ? [place] : [])),
  );
  readonly list = new PagedRows<HistoryRow>(first => this.#ask(first));
  /** What going back would take back; null while nobody asked. */
  readonly back = signal<BackAnswer | null>(null);
  /** What going back took back last. */
  readonly undone = signal<readonly string[]>([]);
  #settling: ReturnType<typeof setTimeout> | undefined;
  readonly answers: Answers<Answer, Question> = {
    history: (answer, question) => {
      if (!question) return;
      if (answer.times !== null)
        this.#times.value = [...new Uint32Array(bytes(answer.times).buffer)].map(seconds => 1000 * seconds);
      this.list.heard(answer.first, answer.n, answer.rows, answer.times !== null);
    },
    back: answer => {
      if (answer.ids.length) this.back.value = answer;
      else this.#host.say("Nothing after it is left to take back");
    },
  };
  readonly unanswered: Unanswered<Question> = {
    history: () => this.list.unanswered(),
    back: () => this.list.unanswered(),
  };

  constructor(host: Pick<Host, "ask" | "push" | "unit" | "say">) {
    this.#host = host;
  }

  #ask(first: number): void {
    const unit_id = this.#host.unit.peek()?.unit_id;
    const scope = this.scope.peek() === "text" && unit_id === undefined ? "all" : this.scope.peek();
    this.#host.ask({ type: "history", scope, first, ...(scope === "text" ? { unit_id } : {}) });
  }

  close(): void {
    clearTimeout(this.#settling);
  }

  choose(scope: HistoryQuestion["scope"]): void {
    this.scope.value = scope;
    this.back.value = null;
    this.list.restart();
  }

  /** Something was done, or another text is on the screen. */
  changed(): void {
    clearTimeout(this.#settling);
    this.#settling = setTimeout(() => this.list.renew(), SETTLED_MS);
  }

  readonly want = (first: number, last: number): void => {
    const shown = this.lines
      .peek()
      .slice(first, last)
      .flatMap(line => ("index" in line ? [line.index] : []));
    if (shown.length) this.list.want(shown[0]!, shown.at(-1)! + 1);
  };

  take(kind: "undo" | "redo", { act_id }: HistoryRow): void {
    this.#host.push({ kind, target: act_id });
    this.#host.say(kind === "undo" ? "Taken back" : "Done again");
  }

  /** Ask what going back to this act would take back. */
  askBack({ act_id }: HistoryRow): void {
    this.#host.ask({ type: "back", act_id });
  }

  goBack(): void {
    const back = this.back.value;
    if (!back) return;
    this.#host.push(...back.ids.map((target): Omit<Act, "id"> => ({ kind: "undo", target })));
    this.undone.value = back.ids;
    this.back.value = null;
    this.#host.say(`${counted(back.ids.length, "step")} taken back`);
  }

  /** Do again all that going back took back, the oldest first. */
  doAgain(): void {
    this.#host.push(
      ...[...this.undone.value].reverse().map((target): Omit<Act, "id"> => ({ kind: "redo", target })),
    );
    this.#host.say(`${counted(this.undone.value.length, "step")} done again`);
    this.undone.value = [];
  }
}

export const counted = (n: number, what: string) => `${n} ${what}${n === 1 ? "" : "s"}`;

/** What was done, in words, without the quote. */
export function described(row: HistoryRow, label: (code: string) => string): string {
  const facets = [...Object.values(row.facets), ...(row.unsure ? ["unsure"] : [])].join(", ");
  const code = row.code === null ? "" : label(row.code);
  if (row.moved_from !== null)
    return `moved ${code}${row.also ? ` and ${row.also} more` : ""} from “${row.moved_from}” to`;
  if (row.found) return `applied ${code} to ${counted(row.found, "hit")} of a search, the first`;
  switch (row.kind) {
    case "apply":
      return `applied ${code}${facets && ` (${facets})`} to ${row.start === null ? "the whole text" : ""}`.trimEnd();
    case "remove":
      return `removed ${code} from ${row.start === null ? "the whole text" : ""}`.trimEnd();
    case "finish":
      return "finished the text";
    case "reopen":
      return "took “finished” back";
    case "reject_suggestion":
      return `rejected the suggestion ${code}`;
    case "propose":
      return `proposed the code “${row.words}”`;
    default: {
      const on = { unit: "the text", span: "", code: `the code ${code}`, study: "the study" }[
        row.on ?? "unit"
      ];
      return `${row.words ? "wrote a memo on" : "ended the memo on"} ${on}`.trimEnd();
    }
  }
}
