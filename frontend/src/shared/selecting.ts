// What is selected of the text on screen, by key, by mouse, or by the letters on its words.
import { signal } from "@preact/signals";
import { labels } from "./letters";
import type { Placed } from "./onscreen";
import type { Span } from "./protocol";
import { dragged, moved, nextPiece, pieces, snapped, type Edge, type Granularity, type Step } from "./words";

/** While a span is selected by the letters on its words. */
interface Letters {
  words: readonly Placed[];
  labels: readonly string[];
  typed: string;
  /** The word at one end of the span, once its letters are typed. */
  first: Span | null;
}

/** The selection in one open view; `text` is the text on screen. */
export class Selecting {
  readonly span = signal<Span | null>(null);
  /** What was selected or marked by key, and is to be in sight. */
  readonly sought = signal<{ span: Span; edge: Edge } | null>(null);
  readonly letters = signal<Letters | null>(null);
  /** Whether the mouse is dragging over the text. */
  readonly dragging = signal(false);
  /** Whether the last press was a finger's or a pen's. */
  readonly touched = signal(false);
  /** What taps have selected: the next one extends it. */
  #tapped: Span | null = null;
  settling: ReturnType<typeof setTimeout> | undefined;

  readonly #text: () => string;
  readonly #say: (words: string) => void;

  constructor(text: () => string, say: (words: string) => void) {
    [this.#text, this.#say] = [text, say];
  }

  /** Each selection is an object of its own, so that it can be told from an earlier one of the same words. */
  select(span: Span | null): void {
    this.span.value = span && { ...span };
    if (span) this.#say(`Selected: ${this.#text().slice(span.start, span.end)}`);
  }

  /**
   * A tap takes the word there; the next one extends the selection to its word, and one on the selection
   * drops it.
   */
  tap(at: number): void {
    const [now, text] = [this.span.value, this.#text()];
    if (now && now.start <= at && at < now.end) return this.select(null);
    const word = snapped(text, { start: at, end: at + 1 }, "word");
    if (!word) return;
    const more = now && now === this.#tapped ? around(now, word) : word;
    this.#take(more);
  }

  /** One edge of the selection was dragged to this place. */
  drag(edge: Edge, at: number, exact: boolean): void {
    const span = this.span.value && dragged(this.#text(), this.span.value, edge, at, exact);
    if (span && span.start < span.end) this.#take(span);
  }

  /** Select what the next tap extends. */
  #take(span: Span): void {
    this.select(span);
    this.#tapped = this.span.value;
  }

  /** What is selected was coded: the next tap begins another selection. */
  endTaps(): void {
    this.#tapped = null;
  }

  /** Nothing is selected: another text is on screen. */
  clear(): void {
    this.span.value = null;
    this.sought.value = null;
    this.letters.value = null;
  }

  seek(span: Span | null, edge: Edge): void {
    if (span) this.sought.value = { span, edge };
  }

  /** Select the next (or previous) word or sentence. */
  next(granularity: Granularity, step: Step): void {
    this.select(nextPiece(pieces(this.#text(), granularity), this.span.value, step));
    this.seek(this.span.value, "start");
  }

  /** Move one edge of the selection by a word or a sentence. */
  move(edge: Edge, granularity: Granularity, step: Step): void {
    this.select(moved(pieces(this.#text(), granularity), this.span.value, edge, step));
    this.seek(this.span.value, edge);
  }

  /**
   * Put letters on these words; where they scroll meanwhile, on others, with the first word as it was chosen.
   */
  putLetters(words: readonly Placed[]): void {
    if (!this.letters.value) this.#say("Type the letters on the first word, then those on the last");
    this.letters.value = {
      words,
      labels: labels(words.length),
      typed: "",
      first: this.letters.value?.first ?? null,
    };
  }

  /** No letters any more, and no word about them. */
  leaveLetters(): void {
    if (!this.letters.value) return;
    this.letters.value = null;
    this.#say("");
  }

  /** A letter of a label; without one (Enter) the first word alone is taken. */
  type(letter: string | null): void {
    const letters = this.letters.value;
    if (!letters) return;
    const typed = letters.typed + (letter ?? "");
    const word = letter === null ? letters.first : letters.words[letters.labels.indexOf(typed)]?.span;
    if (!word) {
      const fits = letters.labels.some(label => label.startsWith(typed));
      this.letters.value = { ...letters, typed: fits ? typed : "" };
      return fits ? undefined : this.#say(`No word has the letters ${typed}`);
    }
    const { first } = letters;
    this.letters.value = first ? null : { ...letters, typed: "", first: word };
    this.select(first ? around(first, word) : word);
  }
}

/** From the beginning of one to the end of the other, in either order. */
const around = (one: Span, other: Span): Span => ({
  start: Math.min(one.start, other.start),
  end: Math.max(one.end, other.end),
});
