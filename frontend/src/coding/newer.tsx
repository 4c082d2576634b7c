// A newer codebook of the study: that there is one, what it would mean for one's codings, and taking it in.
import { effect, signal, type ReadonlySignal } from "@preact/signals";
import type { Notice, TakeAnswer, TakeQuestion } from "./messages";
import type { Session } from "./session";

interface Surroundings {
  ask: (question: TakeQuestion) => void;
  say: (words: string) => void;
  /** Make acts of what is being written. */
  keep: () => void;
  /** Whether anything is on its way to the record, which is to be there under the version that it was done with. */
  unsaved: ReadonlySignal<boolean>;
}

type Meaning = Extract<TakeAnswer, { type: "newer" }>;

export class Newer {
  /** What the coder should know of the codebook; it stays on screen while it is so. */
  readonly notice = signal("");
  /** Whether there is one that can be taken in. */
  readonly there = signal(false);
  /** How many texts are to be looked at again. */
  readonly toReview = signal(0);
  /** What it means for one's codings, where that is to be known before. */
  readonly meaning = signal<Meaning | null>(null);
  /** What is asked for once all is saved. */
  private readonly wanted = signal<TakeQuestion | null>(null);
  private readonly end: () => void;

  constructor(private readonly around: Surroundings) {
    this.end = effect(() => {
      const wanted = this.wanted.value;
      if (!wanted || around.unsaved.value) return;
      this.wanted.value = null;
      around.ask(wanted);
    });
  }

  close(): void {
    this.end();
  }

  noticed({ notice, newer, n_review }: Notice): void {
    this.toReview.value = n_review;
    this.notice.value = notice;
    this.there.value = newer;
    if (!newer) this.meaning.value = null;
  }

  /** Take it in; where that changes what codings mean, only once that was read. */
  take(): void {
    if (!this.there.value) return this.around.say("This is the study’s current codebook");
    this.around.keep();
    this.wanted.value = { type: "take_codebook", agreed: this.meaning.value?.under ?? null };
    if (this.wanted.value) this.around.say("The codebook is taken in once everything is saved");
  }

  /** Go on with the version that is here. */
  leave(): void {
    this.meaning.value = null;
  }

  heard(answer: TakeAnswer): void {
    if (answer.type === "newer") {
      this.meaning.value = answer;
      return this.around.say("Read what the new codebook means for your codings, then take it in or not");
    }
    this.meaning.value = null;
    this.around.say(answer.words ? `The codebook is the current one: ${answer.words}` : "The codebook is the current one");
  }
}

export function CodebookNotice({ session }: { session: Session }) {
  const { newer } = session;
  const meaning = newer.meaning.value;
  if (!newer.notice.value) return null;
  const key = session.commands.value.take_codebook;
  const take = () => session.presses.take(() => newer.take());
  return (
    <div class="s7-notice" role="status">
      <span>{newer.notice.value}</span>
      {newer.there.value && !meaning && (
        <button type="button" class="s7-take" onClick={take}>
          Take it in now {key && <kbd>{key}</kbd>}
        </button>
      )}
      {newer.toReview.value > 0 && !meaning && (
        <button type="button" class="s7-look-again" onClick={() => session.lookAgain()}>
          Show {newer.toReview.value === 1 ? "this text" : `these ${newer.toReview.value} texts`}
        </button>
      )}
      {meaning && (
        <div class="s7-meaning" role="group" aria-label="What the new codebook means for your codings">
          <ul>
            {meaning.words.map((words) => (
              <li key={words}>{words}</li>
            ))}
          </ul>
          <button type="button" class="s7-primary s7-take" onClick={take}>
            Take it in {key && <kbd>{key}</kbd>}
          </button>
          <button type="button" onClick={() => newer.leave()}>
            Not now <kbd>Esc</kbd>
          </button>
        </div>
      )}
    </div>
  );
}
