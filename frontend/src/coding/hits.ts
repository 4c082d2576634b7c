// What a search found in the texts: marked in the one on screen, gone through across them, and coded at once.
import { batch, computed, effect, signal, untracked, type Signal } from "@preact/signals";
import type { Code, Span } from "../shared/protocol";
import type { Answers, Unanswered } from "../shared/session";
import { joined, snapped, type Step } from "../shared/words";
import { counted } from "./history";
import type { Host } from "./host";
import type { Answer, FoundText, Hit, Query, Question } from "./messages";
import type { TextList } from "./textlist";

interface Parts extends Pick<Host, "ask" | "say" | "push" | "shown" | "showRating" | "book"> {
  texts: TextList;
  /** A step that waits for an answer; all keys wait with it. */
  due: Signal<Step | 0>;
  label: (code: string) => string;
  selected: () => Span | null;
  /** Go there and select it. */
  seek: (place: number, span: Span) => void;
}

/** A hit, or what is coded with it. */
export type What = "word" | "sentence" | "text";
type Target = { unit_id: string; start: number | null; end: number | null };

const NONE: readonly [number, number][] = [];
const spanOf = ([start, end]: readonly [number, number]): Span => ({ start, end });

export class Hits {
  readonly #parts: Parts;
  readonly #answered = signal<(Answer & { type: "hits"; query: Query }) | null>(null);
  readonly #here = computed(() => {
    const [answer, place] = [this.#answered.value, this.#parts.shown.value];
    return answer && answer.place === place && answer.query === this.#parts.texts.shown.value ? answer : null;
  });
  /** Where they are in the text on screen. */
  readonly spans = computed(() => this.#here.value?.spans ?? NONE);

  /** All of them, where they are to be coded at once; with which code, and what of their texts. */
  readonly found = signal<readonly FoundText[] | null>(null);
  readonly code = signal<string | null>(null);
  readonly what = signal<What | null>(null);
  readonly plan = computed(() => planned(this.found.value ?? [], this.code.value, this.what.value));

  readonly #end: () => void;
  readonly answers: Answers<Answer, Question> = {
    hits: (answer, question) => {
      const query = this.#parts.texts.shown.peek();
      if (question?.type !== "hits" || question.find !== query.find) return;
      batch(() => {
        this.#answered.value = { ...answer, query };
        const due = this.#parts.due.peek();
        if (!this.#here.peek()) return;
        this.#parts.due.value = 0;
        if (due) this.step(due);
      });
    },
    all_hits: ({ rows }, question) => {
      if (!question) return;
      [this.code.value, this.what.value, this.found.value] = [null, null, rows];
    },
  };
  readonly unanswered: Unanswered<Question> = { hits: () => void (this.#parts.due.value = 0) };

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#end = effect(() => {
      const [query, place] = [parts.texts.shown.value, parts.shown.value];
      untracked(() => {
        if (query.find.trim() && place !== null)
          this.#parts.ask({ type: "hits", ...query, show_rating: parts.showRating.peek(), place });
        else parts.due.value = 0;
      });
    });
  }

  close(): void {
    this.#end();
  }

  /** Select the hit after (or before) the selection, in this text or in the nearest of the list. */
  step(by: Step): void {
    const [hits, place, span] = [this.#here.peek(), this.#parts.shown.peek(), this.#parts.selected()];
    if (!this.#parts.texts.shown.peek().find.trim())
      return this.#parts.say("Find words in the list of texts first");
    if (!hits || place === null) return void (this.#parts.due.value = by);
    const next =
      by > 0
        ? hits.spans.find(([start]) => !span || start > span.start)
        : hits.spans.findLast(([start]) => !span || start < span.start);
    if (next) return this.#parts.seek(place, spanOf(next));
    const there: Hit | null = by > 0 ? hits.after : hits.before;
    if (!there) return this.#parts.say(by > 0 ? "This is the last hit" : "This is the first hit");
    this.#parts.seek(there.place, spanOf(there.span));
  }

  /* ---- all at once ---- */

  openAll(): void {
    this.#parts.ask({
      type: "all_hits",
      ...this.#parts.texts.shown.peek(),
      show_rating: this.#parts.showRating.peek(),
    });
  }

  /** What a key does meanwhile: it chooses a code, what is coded, or does it; no other one does anything. */
  meaning(key: string, usual: string | null): string | null {
    if (!this.found.value || /^scroll:|^help$/.test(usual ?? "")) return null;
    const what = this.code.value && { w: "word", s: "sentence", t: "text" }[key];
    return `all:${key === "Enter" ? "apply" : (what ?? usual ?? "")}`;
  }

  /** Choose the code; false where none is asked for. */
  choose(code: Code): boolean {
    if (!this.found.value) return false;
    this.code.value = code.id;
    this.#parts.book.definition.ask(code.id);
    return true;
  }

  do(what: string): void {
    const code = what.startsWith("code:") && this.#parts.book.codes.value.get(what.slice(5));
    if (code) this.choose(code);
    else if (/^(word|sentence|text)$/.test(what)) this.what.value = what as What;
    else if (what === "apply") this.apply();
  }

  apply(): void {
    const [{ found }, code] = [this.plan.value, this.code.value];
    if (!found.length || code === null) return this.#parts.say(this.words());
    this.#parts.push({ kind: "apply", code, unit_id: found[0]!.unit_id, found });
    this.found.value = null;
    this.#parts.say(`${this.#parts.label(code)} applied ${counted(found.length, "time")}`);
  }

  words(): string {
    const { found, there, texts, finished } = this.plan.value;
    if (this.code.value === null) return "Press the code’s key, or click the code";
    if (this.what.value === null) return "What gets the code?";
    const [are, stay] = finished === 1 ? ["is", "stays"] : ["are", "stay"];
    const rest = [
      there && `${there} ${there === 1 ? "has" : "have"} it already`,
      finished && `${counted(finished, "text")} ${are} finished and ${stay} so`,
    ];
    return joined([`${counted(found.length + there, "hit")} in ${counted(texts, "text")}`, ...rest], "; ");
  }
}

/** What gets the code, without what has it already; in how many texts, of which so many are finished. */
function planned(rows: readonly FoundText[], code: string | null, what: What | null) {
  const plan = {
    found: [] as Target[],
    there: 0,
    texts: rows.length,
    finished: rows.filter(({ finished }) => finished).length,
  };
  for (const { unit_id, text, spans, codings } of code && what ? rows : []) {
    const own = codings.filter(one => one.code === code && (one.start === null) === (what === "text"));
    if (what === "text") {
      if (own.length) plan.there++;
      else plan.found.push({ unit_id, start: null, end: null });
      continue;
    }
    let last = 0;
    for (const hit of spans) {
      const span = snapped(text, spanOf(hit), what as "word" | "sentence");
      if (!span || span.start < last) continue;
      last = span.end;
      if (own.some(({ start, end }) => start! < span.end && span.start < end!)) plan.there++;
      else plan.found.push({ unit_id, ...span });
    }
  }
  return plan;
}
