// Presses that come faster than texts: each is done on the text that it was meant for, or not at all.
import { effect, signal, type ReadonlySignal } from "@preact/signals";

/** After presses were not taken, those that follow without such a pause belong to the same burst. */
export const PAUSE_MS = 1000;

/** Words for a text that is on its way, and for the presses that wait for it. */
export function waitingWords(words: string, waiting: number): string {
  return waiting ? `${words} (${waiting} ${waiting === 1 ? "key press" : "key presses"} waiting)` : words;
}

interface Request {
  action: () => void;
  /** The unit that was on screen when it was asked for, where only that one can be meant. */
  unit_id: string | undefined;
  opens: boolean;
}

interface Options {
  mustWait?: boolean;
  unit_id?: string | undefined;
  /** Whether it opens a field: what was pressed after it was meant for that field, and is no command. */
  opens?: boolean;
}

/**
 * What is asked for faster than texts come: done in the order in which it was asked for, each once the text
 * is
 * shown that it was meant for. Where that cannot be (the kernel hangs, another text comes on screen) none of
 * it
 * is done, nor the rest of the burst: a finish without the code before it would count as "coded absent".
 */
export class PressQueue {
  readonly waiting = signal<readonly Request[]>([]);
  #refused = 0;
  /** Until when presses belong to a burst of which some were not taken. */
  #quietFrom = 0;
  #pressed = 0;
  readonly #ends: (() => void)[];

  readonly #busy: ReadonlySignal<boolean>;
  readonly #stuck: ReadonlySignal<boolean>;
  readonly #shown: () => string | undefined;
  readonly #tell: (words: string) => void;

  constructor(
    busy: ReadonlySignal<boolean>,
    stuck: ReadonlySignal<boolean>,
    shown: () => string | undefined,
    tell: (words: string) => void,
  ) {
    [this.#busy, this.#stuck, this.#shown, this.#tell] = [busy, stuck, shown, tell];
    this.#ends = [
      // One at a time, since each may change what the next one has to wait for.
      effect(() => void (!busy.value && this.waiting.value.length && queueMicrotask(this.#next))),
      effect(() => void (stuck.value && this.waiting.peek().length && this.drop(0))),
    ];
  }

  inTurn(action: () => void, { mustWait = this.#busy.value, unit_id, opens = false }: Options = {}): void {
    this.#pressed = Date.now();
    const later = mustWait || this.waiting.value.length > 0;
    if ((mustWait && this.#stuck.value) || Date.now() < this.#quietFrom) this.drop(1);
    else if (later) this.insert(this.waiting.value.length, action, unit_id, opens);
    else if (unit_id !== undefined && unit_id !== this.#shown()) this.drop(1);
    else action();
  }

  /**
   * Put a request where it belongs although others were asked for since (what a drag selects, at its end).
   */
  insert(at: number, action: () => void, unit_id: string | undefined, opens = false): void {
    this.waiting.value = this.waiting.value.toSpliced(at, 0, { action, unit_id, opens });
  }

  /** Do nothing of what waits, nor `more` that was just asked for, and say so. */
  drop(more: number): void {
    this.#refused = (Date.now() < this.#quietFrom ? this.#refused : 0) + this.waiting.value.length + more;
    this.#quietFrom = Date.now() + PAUSE_MS;
    this.waiting.value = [];
    const [number, was] =
      this.#refused === 1 ? ["One key press", "was"] : [`${this.#refused} key presses`, "were"];
    const why = "because the text was not on screen yet or something else had the keyboard";
    this.#tell(`${number} ${was} ignored, ${why}. Look at the text and press again.`);
  }

  /** Whether the last press was just now, so that another one is to be expected. */
  isBurst(): boolean {
    return Date.now() <= this.#pressed + PAUSE_MS;
  }

  /**
   * In a burst something else had the keyboard and gave it back, such as a dialog of the host that an Enter
   * closed.
   * That Enter was meant for the text, and what follows it for the text after that one: it is not taken.
   */
  interrupted(): void {
    this.#refused = 0;
    this.#quietFrom = Date.now() + PAUSE_MS;
  }

  close(): void {
    this.#ends.forEach(end => end());
  }

  readonly #next = (): void => {
    const first = this.waiting.value[0];
    if (!first || this.#busy.value) return;
    if (first.unit_id !== undefined && first.unit_id !== this.#shown()) return this.drop(0);
    first.action();
    this.waiting.value = this.waiting.value.slice(1);
    if (first.opens && this.waiting.value.length) this.drop(0);
  };
}
