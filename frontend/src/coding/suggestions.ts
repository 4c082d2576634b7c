// What a model suggests for the text on screen: shown once the text is finished (or as the lead settled it),
// never a coding.
import { computed, effect, signal } from "@preact/signals";
import type { Answers, Tellings } from "../shared/session";
import type { Host } from "./host";
import { joined } from "../shared/words";
import type { Answer, Question, SuggestionsAnswer, Told, Unit } from "./messages";

type Shown = Extract<SuggestionsAnswer, { state: "shown" }>;

export class Suggestions {
  readonly #host: Pick<Host, "ask" | "say" | "came" | "goOn" | "known" | "unit">;
  readonly when = signal<"finished" | "shown" | null>(null);
  /** The text of which nothing is there yet, and why. */
  readonly #pending = signal<{ place: number; words: string } | null>(null);
  readonly #near = signal<Pick<Shown, "place" | "quotes" | "absent"> | null>(null);
  /** The text that was finished to go on, which happens once it is clear that nothing is suggested. */
  #goingOn: number | null = null;
  readonly #end: () => void;
  readonly answers: Answers<Answer, Question> = { suggestions: answer => this.#heard(answer) };
  readonly told: Tellings<Told> = {
    // What was asked for too early is there.
    suggested: ({ place }) => {
      if (place === this.#place.peek()) this.#host.ask({ type: "suggestions", place });
    },
  };

  readonly #place = computed(() => {
    const unit = this.#host.known.value;
    return unit && this.when.value && (this.when.value === "shown" || unit.finished) ? unit.place : null;
  });
  readonly shown = computed(() =>
    this.#place.value === null ? null : (this.#host.unit.value?.suggestions ?? null),
  );
  readonly open = computed(() => this.shown.value?.rows.find(({ state }) => state === "none") ?? null);
  readonly words = computed(() =>
    this.#pending.value?.place === this.#place.value ? this.#pending.value?.words : undefined,
  );

  /** The codes that a model found absent here: they are dimmed, and can be applied as ever. */
  readonly absent = computed(
    (): ReadonlySet<string> =>
      new Set(this.#near.value?.place === this.#place.value ? this.#near.value?.absent : []),
  );

  constructor(host: Pick<Host, "ask" | "say" | "came" | "goOn" | "known" | "unit">) {
    this.#host = host;
    this.#end = effect(() => {
      const place = this.#place.value;
      if (place !== null) host.ask({ type: "suggestions", place });
    });
  }

  close(): void {
    this.#end();
  }

  /** Whether Enter stays on the text until it is known what is suggested. */
  stays(unit: Unit): boolean {
    if (this.when.value !== "finished") return false;
    this.#goingOn = unit.place;
    return true;
  }

  quotes(code: string): string[] {
    return this.#near.value?.place === this.#place.value ? (this.#near.value?.quotes[code] ?? []) : [];
  }

  #heard(answer: SuggestionsAnswer): void {
    if (answer.state !== "shown") {
      const words =
        answer.state === "failed"
          ? `No suggestions: ${answer.message}`
          : "Looking for suggestions… Press Enter to go on without them.";
      this.#pending.value = { place: answer.place, words };
      if (answer.state === "failed") this.#host.say(words);
      return;
    }
    this.#pending.value = null;
    this.#near.value = answer;
    this.#host.came(answer.unit);
    const n = answer.unit.suggestions?.rows.filter(({ state }) => state === "none").length ?? 0;
    const goesOn = this.#goingOn === answer.place;
    this.#goingOn = null;
    if (answer.place !== this.#place.peek()) return;
    const dimmed = this.absent.peek().size;
    const words = joined(
      [
        n > 0 && (n === 1 ? "One code is suggested" : `${n} codes are suggested`),
        dimmed > 0 && `${dimmed} dimmed: a model found them absent; apply them where they fit`,
      ],
      "; ",
    );
    if (words) this.#host.say(words);
    if (!n && goesOn) this.#host.goOn();
  }
}
