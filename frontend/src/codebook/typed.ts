// What is typed in fields and forms and is no step yet, by field: for the page, and the kernel, that comes
// after this one.
import { signal } from "@preact/signals";
import type { Answers, Unanswered } from "../shared/session";
import { Keeper } from "../shared/keeper";
import type { Answer, Question } from "./messages";

/** "why", "add label", "field warm definition", "split warm 1 label", "proposal 17 definition" … */
export type FieldName = string;

export class Typed {
  readonly answers: Answers<Answer, Question> = {
    kept: (_, question) => question && this.#keeper.answered(),
  };
  readonly unanswered: Unanswered<Question> = { keep: () => this.#keeper.answered() };
  readonly words = signal<Readonly<Record<FieldName, string>>>({});
  /** Whether anything was typed, or taken over. */
  isTouched = false;
  readonly #keeper: Keeper<Readonly<Record<FieldName, string>>>;

  constructor(
    send: (words: Readonly<Record<FieldName, string>>) => void,
    private readonly kept: () => void,
  ) {
    this.#keeper = new Keeper(send);
  }

  of(name: FieldName): string | undefined {
    return this.words.value[name];
  }

  put(name: FieldName, text: string): void {
    if (this.words.peek()[name] === text) return;
    this.#become({ ...this.words.peek(), [name]: text });
  }

  /** Nothing is typed any more in the fields whose names begin so. */
  drop(...names: FieldName[]): void {
    const words = this.words.peek();
    const rest = Object.fromEntries(
      Object.entries(words).filter(
        ([name]) => !names.some(one => name === one || name.startsWith(`${one} `)),
      ),
    );
    if (Object.keys(rest).length < Object.keys(words).length) this.#become(rest);
  }

  /** Take over what was typed before. */
  take(words: Readonly<Record<FieldName, string>>): void {
    this.isTouched = true;
    this.words.value = words;
  }

  close(): void {
    this.#keeper.close();
  }

  #become(words: Readonly<Record<FieldName, string>>): void {
    this.words.value = words;
    this.isTouched = true;
    this.kept();
    this.#keeper.keep(words);
  }
}
