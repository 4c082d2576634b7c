// Colleagues' codings beside one's own, once their round is unblinded: asked for, stepped through, drawn; never changed.
import { computed, effect, signal, type ReadonlySignal } from "@preact/signals";
import { CodersTable } from "../shared/coderstable";
import { keyLabel } from "../shared/keys";
import type { Theirs } from "../shared/protocol";
import type { Beside, ColleaguesAnswer, ColleaguesQuestion, RoundState, Unit } from "./messages";
import type { Session } from "./session";

interface Surroundings {
  ask: (question: ColleaguesQuestion) => void;
  say: (words: string) => void;
  /** The place of the text on screen. */
  here: ReadonlySignal<number | null>;
}

const NONE: readonly never[] = [];

export class Colleagues {
  readonly state = signal<RoundState>(null);
  readonly names = signal<readonly string[]>([]);
  readonly on = signal(false);
  /** Whose codings are shown; null for everybody's. */
  readonly chosen = signal<string | null>(null);
  private readonly answered = signal<{ place: number; coders: readonly Beside[] } | null>(null);
  private readonly end: () => void;

  /** What stands beside the text on screen. */
  readonly shown = computed((): readonly Beside[] => {
    const [answered, chosen] = [this.answered.value, this.chosen.value];
    if (!this.on.value || answered?.place !== this.around.here.value) return NONE;
    return chosen === null ? answered.coders : answered.coders.filter(({ coder }) => coder === chosen);
  });
  /** Their codings of words, each with whose it is. */
  readonly spans = computed((): readonly Theirs[] => {
    const all = this.shown.value.flatMap(({ coder, codings }) => codings.map((coding): Theirs => ({ ...coding, coder })));
    const spans = all.filter(({ start }) => start !== null);
    return spans.length ? spans : NONE;
  });

  constructor(private readonly around: Surroundings) {
    this.end = effect(() => {
      const place = around.here.value;
      if (this.on.value && place !== null) around.ask({ type: "beside", place });
    });
  }

  close(): void {
    this.end();
  }

  /** Show them, read afresh, or hide them. */
  toggle(): void {
    if (!this.on.value) return this.around.ask({ type: "colleagues" });
    this.on.value = false;
    this.answered.value = null;
    this.around.say("Colleagues’ codings are hidden");
  }

  /** From everybody to each by name, and back. */
  next(): void {
    if (!this.on.value) return this.toggle();
    const order = [null, ...this.names.value];
    this.chosen.value = order[(order.indexOf(this.chosen.value) + 1) % order.length]!;
    this.around.say(`Beside yours: ${this.words()}`);
  }

  words(): string {
    return this.chosen.value ?? (this.names.value.length > 1 ? `all ${this.names.value.length} colleagues` : this.names.value.join());
  }

  heard(answer: ColleaguesAnswer): void {
    if (answer.type === "beside") return void (this.answered.value = answer);
    this.state.value = answer.state;
    this.names.value = answer.names;
    if (!answer.names.includes(this.chosen.value ?? "")) this.chosen.value = null;
    this.on.value = answer.names.length > 0;
    this.around.say(this.on.value ? `Beside yours: ${this.words()}` : WHY_NOT[answer.state ?? "none"]);
  }

  /** One's own act may have changed how they agree. */
  recorded(place: number): void {
    if (this.on.value && place === this.around.here.value) this.around.ask({ type: "beside", place });
  }
}

const WHY_NOT = {
  none: "Colleagues’ codings are shown in a round, once its lead has unblinded it",
  blind: "This round is blind: colleagues’ codings are shown once its lead has unblinded it",
  open: "No colleague has coded in this round, as far as this copy of the study knows",
};

export function ColleaguesButtons({ session }: { session: Session }) {
  const { colleagues } = session;
  if (colleagues.state.value !== "open") return null;
  const [on, { colleagues: key = "", next_colleague: next = "" }] = [colleagues.on.value, session.commands.value];
  return (
    <span class="s7-colleagues-buttons">
      <button type="button" class="s7-quiet" aria-pressed={on} title={`Show or hide colleagues’ codings (${keyLabel(key)})`} onClick={() => colleagues.toggle()}>
        Colleagues
      </button>
      {on && colleagues.names.value.length > 1 && (
        <button type="button" class="s7-quiet" title={`The next colleague (${keyLabel(next)})`} aria-label={`Beside yours: ${colleagues.words()}. The next colleague`} onClick={() => colleagues.next()}>
          {colleagues.words()} ▸
        </button>
      )}
    </span>
  );
}

/** Mine, theirs, and how they agree. */
export function BesideTable({ session, unit }: { session: Session; unit: Unit }) {
  const coders = session.colleagues.shown.value;
  if (!coders.length) return null;
  const own = { coder: `${session.coder.value} (you)`, finished: unit.finished, codings: unit.codings };
  return <CodersTable label="Colleagues’ codings beside yours" text={unit.text} book={session.book} columns={[own, ...coders]} />;
}
