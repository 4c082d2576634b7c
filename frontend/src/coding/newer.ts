// A newer codebook of the study: that there is one, what it would mean for one's codings, and taking it in.
import { effect, signal } from "@preact/signals";
import type { Answers } from "../shared/session";
import type { Host } from "./host";
import type { Answer, Notice, Question, TakeAnswer, TakeQuestion } from "./messages";

type Meaning = Extract<TakeAnswer, { type: "newer" }>;

export class Newer {
  readonly #host: Pick<Host, "ask" | "say" | "keep" | "waiting">;
  /** Whether there is one that can be taken in. */
  readonly there = signal(false);
  /** How many texts are to be looked at again. */
  readonly toReview = signal(0);
  /** What it means for one's codings, where that is to be known before. */
  readonly meaning = signal<Meaning | null>(null);
  /** What is asked for once all is saved. */
  readonly #wanted = signal<TakeQuestion | null>(null);
  readonly #end: () => void;
  readonly answers: Answers<Answer, Question> = {
    newer: answer => {
      this.meaning.value = answer;
      this.#host.say("Read what the new codebook means for your codings, then load it or leave it");
    },
    taken: ({ words }) => {
      this.meaning.value = null;
      this.#host.say(
        words ? `You now have the current codebook: ${words}` : "You now have the current codebook",
      );
    },
  };

  constructor(host: Pick<Host, "ask" | "say" | "keep" | "waiting">) {
    this.#host = host;
    this.#end = effect(() => {
      const wanted = this.#wanted.value;
      if (!wanted || host.waiting.value.length) return;
      this.#wanted.value = null;
      host.ask(wanted);
    });
  }

  close(): void {
    this.#end();
  }

  noticed({ newer, n_review }: Notice): void {
    this.toReview.value = n_review;
    this.there.value = newer;
    if (!newer) this.meaning.value = null;
  }

  /** Take it in; where that changes what codings mean, only once that was read. */
  take(): void {
    if (!this.there.value) return this.#host.say("You already have the current codebook");
    this.#host.keep();
    this.#wanted.value = { type: "take_codebook", agreed: this.meaning.value?.under ?? null };
    if (this.#wanted.value) this.#host.say("The codebook will be taken in once everything is saved");
  }

  /** Go on with the version that is here. */
  leave(): void {
    this.meaning.value = null;
  }
}
