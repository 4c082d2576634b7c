// Texts that were finished before a code was there, one key each: does it apply?
import { computed, effect, signal } from "@preact/signals";
import type { Act } from "../shared/protocol";
import type { Host } from "./host";
import type { Unit, Waiting } from "./messages";

/** One question about one text; after the `last` one of a text it is finished again. */
interface Step { place: number; code: string; last: boolean; }

/** A question takes no key before it was on screen for so long: the key was meant for something else. */
export const READ_MS = 600;

type Press = Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey" | "shiftKey">;

export class Decide {
  readonly waiting = signal<Waiting | null>(null);
  /** Whether the person wants to be asked later. */
  readonly later = signal(false);
  private readonly steps = signal<readonly Step[]>([]);
  private readonly at = signal(0);
  /** How many acts each step that was answered made. */
  private made: number[] = [];
  /** The version of the codebook that the questions are about. */
  under = "";

  readonly step = computed(() => this.steps.value[this.at.value] ?? null);
  readonly progress = computed(() => [this.at.value + 1, this.steps.value.length] as const);

  private readonly asks = computed(() => !this.step.value && this.waiting.value !== null && !this.later.value);
  private since = 0;

  constructor(private readonly host: Pick<Host, "leave" | "do" | "unit" | "goto" | "takeBack" | "say" | "book">) {
    effect(() => void (this.asks.value && (this.since = Date.now())));
  }

  /** Whether the question about finished texts takes keys. */
  get isAsked(): boolean {
    return this.asks.value && Date.now() - this.since >= READ_MS;
  }

  /** The codebook is another one: what waits for it now. */
  hear(waiting: Waiting | null, under: string): void {
    this.stop();
    this.under = under;
    if (waiting) this.later.value = false;
    this.waiting.value = waiting;
  }

  labels(codes: readonly string[]): string {
    return codes.map((id) => `‘${this.host.book.codes.value.get(id)?.label ?? id}’`).join(", ");
  }

  begin(): void {
    const items = this.waiting.value?.items ?? [];
    this.made = [];
    this.at.value = 0;
    this.steps.value = items.flatMap(([place, codes]) =>
      codes.map((code, n) => ({ place, code, last: n + 1 === codes.length })),
    );
    if (this.step.value) this.host.goto(this.step.value.place);
  }

  refuse(): void {
    const waiting = this.waiting.value;
    this.waiting.value = null;
    if (!waiting) return;
    this.host.leave(waiting.codes, waiting.no);
    this.host.say(`Those texts stay undecided; a memo on ${this.labels(waiting.codes)} records this`);
  }

  /** What a key does while there are questions: "decide:" with the answer, or null. */
  meaning({ key, ctrlKey, metaKey, altKey, shiftKey }: Press): string | null {
    if (altKey) return null;
    if (this.isAsked && !ctrlKey && !metaKey) return { y: "decide:begin", n: "decide:refuse" }[key] ?? null;
    if (!this.step.value) return null;
    if (key.toLowerCase() === "z" && !shiftKey) return "decide:back";
    if (ctrlKey || metaKey) return null;
    return { y: "decide:yes", n: "decide:no", Backspace: "decide:back" }[key] ?? null;
  }

  do(what: string): void {
    if (what === "begin") this.begin();
    else if (what === "refuse") this.refuse();
    else if (what === "back") this.back();
    else this.answer(what === "yes");
  }

  private answer(applies: boolean): void {
    const [step, unit] = [this.step.value, this.host.unit.value];
    if (!step || !unit) return;
    if (unit.place !== step.place) return this.host.goto(step.place);
    const stands = unit.codings.some(({ code }) => code === step.code);
    if (stands && !applies) return this.host.say("The code is applied to this text: remove it first, or press y");
    const before = this.made.length;
    this.made.push(0);
    if (applies && !stands) this.record({ kind: "apply", code: step.code, start: null, end: null }, unit);
    if (step.last) this.record({ kind: "finish", under: this.under }, unit);
    if (this.made.length !== before + 1) return; // refused at once
    this.at.value += 1;
    const next = this.step.value;
    if (!next) return this.end();
    this.host.goto(next.place);
  }

  private record(act: Omit<Act, "id" | "unit_id">, unit: Unit): void {
    this.host.do(act, unit);
    this.made[this.made.length - 1]! += 1;
  }

  private back(): void {
    const n = this.made.pop();
    if (n === undefined) return this.host.say("This is the first of these texts");
    this.at.value -= 1;
    for (let i = 0; i < n; i++) this.host.takeBack();
    if (!n) this.host.goto(this.step.value!.place);
  }

  /** End the questions; what is not answered goes on waiting. */
  end(): void {
    const step = this.step.value;
    const waiting = this.waiting.value;
    const [n, of] = [this.at.value, this.steps.value.length];
    this.stop();
    if (!waiting || !of) return;
    const left = step ? waiting.items.filter(([place]) => place >= step.place) : [];
    this.waiting.value = left.length ? { ...waiting, items: left } : null;
    this.host.say(left.length ? `${left.length} texts still wait` : `All ${n} are decided`);
  }

  private stop(): void {
    this.steps.value = [];
    this.at.value = 0;
    this.made = [];
  }
}
