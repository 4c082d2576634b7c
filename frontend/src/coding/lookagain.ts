// The texts to look at again, one key a question: does the code apply?
import { computed, signal } from "@preact/signals";
import type { Coding, Part } from "../shared/protocol";
import type { Answers } from "../shared/session";
import type { Host } from "./host";
import type { Again, Answer, InboxItem, Question, Rule, Unit } from "./messages";

/** One question on one text; with the answer to the `last` one the text is finished. */
interface Step {
  place: number;
  rule: Rule;
  last: boolean;
}

type Press = Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey" | "shiftKey">;

const KEYS: Record<string, string> = { y: "yes", n: "no", Backspace: "back", ArrowRight: "later" };

export class LookAgain {
  readonly #host: Pick<
    Host,
    "ask" | "do" | "push" | "leave" | "unit" | "goto" | "say" | "book" | "inboxChanged" | "listAgain"
  >;
  readonly #steps = signal<readonly Step[]>([]);
  readonly #at = signal(0);
  /** The ids of the acts that each answer made. */
  #made: string[][] = [];
  /** The version of the codebook that the questions are about. */
  #under = "";
  readonly step = computed(() => this.#steps.value[this.#at.value] ?? null);
  readonly progress = computed(() => [this.#at.value + 1, this.#steps.value.length] as const);
  readonly answers: Answers<Answer, Question> = {
    again: (answer, question) => question && this.#begin(answer),
  };

  constructor(
    host: Pick<
      Host,
      "ask" | "do" | "push" | "leave" | "unit" | "goto" | "say" | "book" | "inboxChanged" | "listAgain"
    >,
  ) {
    this.#host = host;
  }

  /** Go through the texts of the revision, or those finished before a code existed. */
  open(of: "stale" | "new"): void {
    this.#host.ask({ type: "again", of });
  }

  #begin({ steps, rules, under }: Again): void {
    this.end(false);
    this.#under = under;
    this.#steps.value = steps.map(([place, rule], at) => ({
      place,
      rule: rules[rule]!,
      last: steps[at + 1]?.[0] !== place,
    }));
    if (this.step.value) this.#show();
    else this.#host.listAgain();
  }

  /**
   * Leave the texts as they are that were finished before these codes existed: a memo on each code says so.
   */
  refuse({ codes = [], no = "" }: InboxItem): void {
    this.#host.leave(codes, no);
    this.#host.say("Those texts stay undecided; a memo on the code records this");
    this.#host.inboxChanged();
  }

  #show(): void {
    const { place, rule } = this.step.value!;
    this.#host.book.definition.ask(rule.code);
    if (this.#host.unit.value?.place !== place) this.#host.goto(place);
  }

  /** What a key does in the queue: "again:" with the answer, or null. */
  meaning({ key, ctrlKey, metaKey, altKey, shiftKey }: Press): string | null {
    if (altKey || !this.step.value) return null;
    if (key.toLowerCase() === "z" && !shiftKey) return "again:back";
    return ctrlKey || metaKey || shiftKey || !KEYS[key] ? null : `again:${KEYS[key]}`;
  }

  do(what: string): void {
    if (what === "back") this.#back();
    else if (what === "later") this.next();
    else this.#answer(what === "yes");
  }

  /**
   * Whether a coding is one that the question is about: of its code, or of the code that was split into it.
   */
  isAsked({ code }: Coding): boolean {
    const rule = this.step.value?.rule;
    return !!rule && (code === rule.code || rule.of.includes(code));
  }

  #answer(applies: boolean): void {
    const [step, unit] = [this.step.value, this.#host.unit.value];
    if (!step || !unit) return;
    if (unit.place !== step.place) return this.#host.goto(step.place);
    const { rule, last } = step;
    const more = changes(unit, rule, applies, last);
    const acts = last
      ? [{ kind: "finish" as const, under: this.#under, ...(more.length ? { with: more } : {}) }]
      : more;
    this.#made.push(acts.flatMap(act => this.#host.do(act, unit).map(({ id }) => id)));
    if (!this.step.value) return; // refused at once
    this.#go(this.#at.value + 1);
  }

  /** Leave this text as it is, and go to the next. */
  next(): void {
    const at = this.#steps.value.findIndex(
      ({ place }, at) => at > this.#at.value && place !== this.step.value!.place,
    );
    const to = at < 0 ? this.#steps.value.length : at;
    for (let skipped = this.#at.value; skipped < to; skipped++) this.#made.push([]);
    this.#go(to);
  }

  #go(at: number): void {
    this.#at.value = at;
    if (this.step.value) this.#show();
    else this.end();
  }

  #back(): void {
    const acts = this.#made.pop();
    if (!acts) return this.#host.say("This is the first of these texts");
    this.#at.value -= 1;
    this.#host.push(...acts.toReversed().map(target => ({ kind: "undo" as const, target })));
    if (!acts.length) this.#show();
  }

  /** End the queue; what is not answered goes on waiting. */
  end(says = true): void {
    const n = this.#steps.value.length;
    this.#steps.value = [];
    this.#at.value = 0;
    this.#made = [];
    if (!n || !says) return;
    this.#host.say("End of the texts to look at again");
    this.#host.inboxChanged();
  }
}

/**
 * What an answer changes of the codings: a split code's words go to the part that applies, and with the last
 * answer it goes.
 */
function changes({ codings }: Unit, { code, of }: Rule, applies: boolean, last: boolean): Part[] {
  const stands = codings.filter(coding => coding.code === code);
  const old = codings.filter(coding => of.includes(coding.code));
  const off = [...(applies ? [] : stands), ...(last ? old : [])];
  const on =
    !applies || stands.length
      ? []
      : old.length
        ? old
        : [{ start: null, end: null, facets: {}, confidence: null }];
  return [
    ...on.map(
      ({ start, end, facets, confidence }): Part => ({ kind: "apply", code, start, end, facets, confidence }),
    ),
    ...off.map(({ code, start, end }): Part => ({ kind: "remove", code, start, end })),
  ];
}
