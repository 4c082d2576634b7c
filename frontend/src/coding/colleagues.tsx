// Colleagues' codings beside one's own, once their round is unblinded: asked for, stepped through, drawn; never changed.
import { computed, effect, signal, type ReadonlySignal } from "@preact/signals";
import { UNKNOWN } from "../shared/colours";
import { keyLabel } from "../shared/keys";
import type { Coding, Theirs } from "../shared/protocol";
import type { Beside, ColleaguesAnswer, ColleaguesQuestion, RoundState, Sign, Unit } from "./messages";
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

/** One row a code, one column a coder: mine, theirs, and how they agree. */
export function BesideTable({ session, unit }: { session: Session; unit: Unit }) {
  const coders = session.colleagues.shown.value;
  if (!coders.length) return null;
  const there = new Set([unit, ...coders].flatMap(({ codings }) => codings.map(({ code }) => code)));
  const codes = [...session.book.list.value.map(({ id }) => id).filter((id) => there.delete(id)), ...there];
  return (
    <div class="s7-beside" role="region" aria-label="Colleagues’ codings beside yours" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">Code</th>
            <th scope="col">
              {session.coder.value} (you){!unit.finished && <Unfinished />}
            </th>
            {coders.map(({ coder, finished }) => (
              <th scope="col" key={coder}>
                {coder}
                {!finished && <Unfinished />}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {codes.map((code) => (
            <BesideRow key={code} {...{ session, unit, code, coders }} />
          ))}
        </tbody>
      </table>
      {!codes.length && <p class="s7-hint">Nobody applied a code here.</p>}
    </div>
  );
}

const Unfinished = () => <span class="s7-unfinished"> not finished</span>;

interface RowProps {
  session: Session;
  unit: Unit;
  code: string;
  coders: readonly Beside[];
}

function BesideRow({ session, unit, code, coders }: RowProps) {
  const look = session.book.looks.value.get(code) ?? UNKNOWN;
  return (
    <tr>
      <th scope="row">
        <kbd>{look.tag}</kbd> {session.label(code)}
      </th>
      <td>
        <Quotes text={unit.text} codings={unit.codings} code={code} />
      </td>
      {coders.map(({ coder, codings, signs }) => (
        <td key={coder} class={signs[code] && `s7-sign-${signs[code]}`}>
          {signs[code] && <SignOf sign={signs[code]} coder={coder} />}
          <Quotes text={unit.text} codings={codings} code={code} />
        </td>
      ))}
    </tr>
  );
}

/** Where the code stands, in the words of the text. */
function Quotes({ text, codings, code }: { text: string; codings: readonly Coding[]; code: string }) {
  const quotes = codings
    .filter((coding) => coding.code === code)
    .map(({ start, end }) => (start === null ? "whole text" : `“${text.slice(start, end!)}”`));
  return (
    <span class="s7-quotes" dir="auto" title={quotes.join(" ") || undefined}>
      {quotes.join(" ") || "–"}
    </span>
  );
}

const SIGNS: Record<Sign, [string, (coder: string) => string]> = {
  both: ["=", () => "the same"],
  elsewhere: ["≈", () => "the same code on other words"],
  own: ["−", () => "only you"],
  theirs: ["+", (coder) => `only ${coder}`],
};

function SignOf({ sign, coder }: { sign: Sign; coder: string }) {
  const [mark, words] = SIGNS[sign];
  return (
    <span class="s7-sign-of" role="img" aria-label={words(coder)} title={words(coder)}>
      {mark}
    </span>
  );
}
