// A round of training: how far one is, and after each finished text where and why it differs from gold.
import { computed, effect, signal } from "@preact/signals";
import type { Answers } from "../shared/session";
import type { Host } from "./host";
import type { Answer, Feedback, Question, TrainingProgress } from "./messages";
import { joined } from "../shared/words";

export class Training {
  readonly progress = signal<TrainingProgress | null>(null);
  readonly #answered = signal<Feedback | null>(null);
  readonly answers: Answers<Answer, Question> = { feedback: answer => this.#heard(answer) };
  /** The place of the text on screen if the record has it finished, else null. */
  readonly #finished = computed(() => (this.host.known.value?.finished ? this.host.known.value.place : null));
  readonly isOn = computed(() => this.progress.value !== null);
  /** What differs on the text on screen: nothing before it is finished. */
  readonly feedback = computed(() => {
    const answered = this.#answered.value;
    return answered?.place === this.#finished.value ? answered : null;
  });
  readonly #end: () => void;

  constructor(private readonly host: Pick<Host, "ask" | "say" | "known">) {
    this.#end = effect(() => {
      const place = this.#finished.value;
      if (this.isOn.value && place !== null) host.ask({ type: "feedback", place });
    });
  }

  close(): void {
    this.#end();
  }

  #heard(feedback: Feedback): void {
    this.#answered.value = feedback;
    this.progress.value = feedback.progress;
    const n = feedback.rows.filter(({ state }) => state !== "same").length;
    const words =
      n === 0
        ? "All codes match the gold decisions"
        : `${n === 1 ? "One code differs" : `${n} codes differ`} from the gold decisions`;
    this.host.say(joined([words, feedback.progress.words], ". "));
  }
}
