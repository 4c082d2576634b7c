// What one open view of a widget is, whatever it shows: its line to the kernel, what it hears and says, its
// queue of keys.
import { signal, type ReadonlySignal } from "@preact/signals";
import { KernelChannel, type Listener, type Model } from "./channel";
import { CodebookView } from "./codebook";
import { PressQueue } from "./pressqueue";
import { uuid, type Act } from "./protocol";

/** A message: what it is stands in its type. */
interface Kind {
  type: string;
}

/** Those of a union of messages that have this type. */
type Of<Message, Type> = Message extends { type: infer Own } ? (Type extends Own ? Message : never) : never;

/** What is made of an answer, by its type; the question is undefined where it was answered before. */
export type Answers<Answer extends Kind, Question> = {
  [Type in Answer["type"]]?: (answer: Of<Answer, Type>, question: Question | undefined) => void;
};

/** What is made of a question that failed; after `false` nothing more is said of it. */
export type Unanswered<Question extends Kind> = {
  [Type in Question["type"]]?: (question: Of<Question, Type>, message: string) => false | void;
};

/** What is made of what the kernel says to all views. */
export type Tellings<Told extends Kind> = { [Type in Told["type"]]?: (told: Of<Told, Type>) => void };

/** A part of a widget: which messages are its own, and what it makes of them. */
export interface Feature<Question extends Kind, Answer extends Kind, Told extends Kind = never> {
  answers?: Answers<Answer, Question>;
  unanswered?: Unanswered<Question>;
  told?: Tellings<Told>;
  close?(): void;
}

type Handler = (message: unknown, more?: unknown) => unknown;

/** The functions of all features by the type of message, each of which belongs to one of them. */
function joined(maps: readonly (object | undefined)[]): ReadonlyMap<string, Handler> {
  const all = new Map<string, Handler>();
  for (const [type, handler] of maps.flatMap(map => Object.entries(map ?? {}))) {
    if (all.has(type))
      throw new Error(
        `expected one feature for each type of message – found two for “${type}” – name one otherwise`,
      );
    all.set(type, handler);
  }
  return all;
}

const NEVER = signal(false);

export abstract class WidgetSession<
  Question extends Kind,
  Answer extends Kind,
  Done,
  Told extends Kind = never,
> {
  readonly channel: KernelChannel<Question, Answer, Done>;
  readonly book = new CodebookView();
  readonly coder = signal("");
  readonly message = signal<string | null>(null);
  /** What was done last, on the screen and to screen readers. */
  readonly announced = signal("");
  readonly showHelp = signal(false);
  /** Whether the widget takes the whole window. */
  readonly large = signal(false);
  /** Whether something was done that is recorded in a moment. */
  readonly held: ReadonlySignal<boolean> = NEVER;
  /** What gets the focus once it is drawn. */
  readonly focus = signal<string | null>(null);
  /** Show another of the kernel's widgets in the place of this one. */
  showOther: (model: string) => void = () => undefined;
  abstract readonly presses: PressQueue;
  #features: readonly Feature<Question, Answer, Told>[] = [];
  #answers = joined([]);
  #unanswered = joined([]);
  #tellings = joined([]);

  constructor(model: Model) {
    this.channel = new KernelChannel<Question, Answer, Done>(model, {
      answered: (answer, question) => void this.#answers.get(answer.type)?.(answer, question),
      unanswered: (question, message) => {
        if (this.#unanswered.get(question.type)?.(question, message) !== false) this.message.value = message;
      },
      recorded: (done, from) => this.recorded(done, from),
      refused: (message, unit_id, dropped) => this.refused(message, unit_id, dropped),
      told: reply => void this.#tellings.get(reply.type)?.(reply),
      unsaved: message => void (this.message.value = message),
    });
  }

  close(): void {
    this.#features.forEach(feature => feature.close?.());
    this.presses.close();
    this.channel.close();
  }

  get outbox() {
    return this.channel.outbox;
  }

  /** Whether something would be lost with the page. */
  get isUnsaved(): boolean {
    return this.held.value || this.outbox.waiting.value.length > 0 || this.presses.waiting.value.length > 0;
  }

  /** The same in words, none of them a participant's. */
  unsaved(): string[] {
    const words = ({ kind, code, unit_id }: Act) => [
      kind !== "apply" && kind.replace("_", " "),
      code && `“${this.label(code)}”`,
      unit_id && `on text ${unit_id}`,
    ];
    const keys = this.presses.waiting.value.length + +this.held.value;
    return [
      ...this.outbox.waiting.value.map(act => words(act).filter(Boolean).join(" ")),
      ...(keys ? ["what was pressed last"] : []),
    ];
  }

  /** Say it on the screen and to screen readers, which hear only what differs from the words before. */
  say(words: string): void {
    this.announced.value = this.announced.value === words ? `${words}\u00a0` : words;
  }

  /** What the code is called. */
  label(code: string): string {
    return this.book.codes.value.get(code)?.label ?? code;
  }

  /** What the code is called where there is little room. */
  short(code: string): string {
    return this.book.codes.value.get(code)?.look.short ?? code;
  }

  /** Send these to the record, in this order. */
  push(...acts: Omit<Act, "id">[]): readonly Act[] {
    const named = acts.map((act): Act => ({ ...act, id: uuid() }));
    this.outbox.push(...named);
    return named;
  }

  /** Hear the kernel with these features, which are closed with the session. */
  protected hear(...features: Feature<Question, Answer, Told>[]): void {
    this.#features = features;
    this.#answers = joined(features.map(feature => feature.answers));
    this.#unanswered = joined(features.map(feature => feature.unanswered));
    this.#tellings = joined(features.map(feature => feature.told));
  }

  /** The queue of keys: they wait while `busy`, each for the text (`shown`) that it was meant for. */
  protected queue(
    busy: ReadonlySignal<boolean> = NEVER,
    shown: () => string | undefined = () => undefined,
  ): PressQueue {
    return new PressQueue(busy, this.channel.slow, shown, words => this.say(words));
  }

  protected recorded(_done: Done, _from: Parameters<Listener<Question, Answer, Done>["recorded"]>[1]): void {}

  protected refused(message: string, _unit_id: string | undefined, dropped: number): void {
    this.message.value = dropped ? `${message} (${dropped} more not done)` : message;
  }
}
