// Colleagues’ codings beside one's own, once their round is unblinded: asked for and stepped through, never
// changed.
import { computed, effect, signal } from "@preact/signals";
import type { Answers } from "../shared/session";
import type { Host } from "./host";
import type { Answer, Beside, Question, RoundState } from "./messages";

const NONE: readonly never[] = [];

export class Colleagues {
  readonly #host: Pick<Host, "ask" | "say" | "shown">;
  readonly state = signal<RoundState>(null);
  readonly names = signal<readonly string[]>([]);
  readonly on = signal(false);
  /** Whose codings are shown; null for everybody's. */
  readonly chosen = signal<string | null>(null);
  readonly #answered = signal<{ place: number; coders: readonly Beside[] } | null>(null);
  readonly #end: () => void;
  readonly answers: Answers<Answer, Question> = {
    beside: answer => void (this.#answered.value = answer),
    colleagues: ({ state, names }) => {
      this.state.value = state;
      this.names.value = names;
      if (!names.includes(this.chosen.value ?? "")) this.chosen.value = null;
      this.on.value = names.length > 0;
      this.#host.say(this.on.value ? `Next to yours: ${this.words()}` : WHY_NOT[state ?? "none"]);
    },
  };

  /** What stands beside the text on screen. */
  readonly shown = computed((): readonly Beside[] => {
    const [answered, chosen] = [this.#answered.value, this.chosen.value];
    if (!this.on.value || answered?.place !== this.#host.shown.value) return NONE;
    return chosen === null ? answered.coders : answered.coders.filter(({ coder }) => coder === chosen);
  });

  constructor(host: Pick<Host, "ask" | "say" | "shown">) {
    this.#host = host;
    this.#end = effect(() => {
      const place = host.shown.value;
      if (this.on.value && place !== null) host.ask({ type: "beside", place });
    });
  }

  close(): void {
    this.#end();
  }

  /** Show them, read afresh, or hide them. */
  toggle(): void {
    if (!this.on.value) return this.#host.ask({ type: "colleagues" });
    this.on.value = false;
    this.#answered.value = null;
    this.#host.say("Colleagues’ codings are hidden");
  }

  /** From everybody to each by name, and back. */
  next(): void {
    if (!this.on.value) return this.toggle();
    const order = [null, ...this.names.value];
    this.chosen.value = order[(order.indexOf(this.chosen.value) + 1) % order.length]!;
    this.#host.say(`Next to yours: ${this.words()}`);
  }

  words(): string {
    return (
      this.chosen.value ??
      (this.names.value.length > 1 ? `all ${this.names.value.length} colleagues` : this.names.value.join())
    );
  }

  /** One's own act may have changed how they agree. */
  recorded(place: number): void {
    if (this.on.value && place === this.#host.shown.value) this.#host.ask({ type: "beside", place });
  }
}

const WHY_NOT = {
  none: "Colleagues’ codings are shown in rounds, once the lead has unblinded them",
  blind: "This round is blind: colleagues’ codings are shown once the lead has unblinded it",
  open: "This copy of the study has no colleague’s codings of this round",
};
