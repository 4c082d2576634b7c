// What one open view is that goes through a queue of things to be decided, one by one: where it is, what is
// on screen,
// and what was begun and not decided.
import { computed, signal, type ReadonlySignal } from "@preact/signals";
import { Keeper } from "./keeper";
import { WidgetSession, type Feature } from "./session";
import { placeIn } from "./words";

interface Typed {
  type: string;
}

/** `Row` names a thing in the queue, `Shown` is that thing on screen, `Begun` what is begun. */
export abstract class QueueSession<
  Question extends Typed,
  Answer extends Typed,
  Done,
  Told extends Typed,
  Row,
  Shown extends { unit_id: string },
  Begun extends object,
> extends WidgetSession<Question, Answer, Done, Told> {
  /** What is counted and what is not. */
  readonly words = signal("");
  readonly welcomed = signal(false);
  readonly rows = signal<readonly Row[]>([]);
  /** Where the view is in the queue. */
  readonly place = signal(0);
  readonly here = computed((): Row | undefined => this.rows.value[this.place.value]);
  protected readonly answered = signal<Shown | null>(null);
  /** What is on screen; null until it is there. */
  protected readonly shown = computed((): Shown | null => {
    const [here, shown] = [this.here.value, this.answered.value];
    return here && shown && this.keyOf(here) === this.keyOf(shown) ? shown : null;
  });
  /** What could not be read. */
  protected readonly unread = signal("");
  /** What is written and goes with no decision yet, by what it is about. */
  protected readonly written = signal<ReadonlyMap<string, string>>(new Map());
  protected readonly keeper = new Keeper<Begun>(begun =>
    this.channel.ask({ type: "keep", ...begun } as unknown as Question, false),
  );
  protected workId = "";
  readonly showConversation = signal(false);

  protected abstract readonly keyOf: (thing: Row | Shown) => string;
  abstract open(place: number): void;

  /** What is begun is kept by the kernel, which says so. */
  protected readonly keeps = {
    answers: { kept: (_: unknown, question: unknown) => question && this.keeper.answered() },
    unanswered: { keep: () => this.keeper.answered() },
    close: () => this.keeper.close(),
  } as Feature<Question, Answer, Told>;

  /**
   * Keys wait for the text, and for what is taken back, which opens elsewhere: what is pressed after it is
   * meant for that.
   */
  protected keys(reading: ReadonlySignal<boolean>) {
    const opening = () =>
      !this.shown.value && !!this.here.value && this.keyOf(this.here.value) !== this.unread.value;
    return this.queue(
      computed(() => this.outbox.turning.value || reading.value || opening()),
      () => this.shown.value?.unit_id,
    );
  }

  /** Go to a row that was clicked, after the presses that wait. */
  choose(place: number): void {
    this.presses.inTurn(() => this.open(place), { mustWait: false });
  }

  go(by: 1 | -1): void {
    this.open(placeIn(this.rows.value.length, this.place.value + by));
  }

  /** Nothing came of a question: what was pressed for its text is not done. */
  protected missed(): void {
    if (this.presses.waiting.value.length) this.presses.drop(0);
  }

  /** What is being decided is left as it is. */
  protected abstract leave(): void;

  undo(): void {
    this.leave();
    this.push({ kind: "undo" });
  }

  redo(): void {
    this.leave();
    this.push({ kind: "redo" });
  }
}
