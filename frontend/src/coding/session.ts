// What one open view of the coding widget shows, and what a person can do in it.
import { computed, signal } from "@preact/signals";
import { KernelChannel, type Model } from "../shared/channel";
import { CodebookView } from "../shared/codebook";
import type { Outbox } from "../shared/outbox";
import { uuid, type Code, type Coding, type Deed, type Span, type Valence } from "../shared/protocol";
import { extended, nextPiece, pieces, sameSpan } from "../shared/spans";
import type { Answer, Counts, Done, Question, Unit, Welcome } from "./messages";
import { withDeed } from "./pending";
import { PressQueue } from "./pressqueue";

const CACHED_UNITS = 100;
const AHEAD = 3;
const WHOLE = { start: null, end: null };

/** Which coding of a unit is meant: its place in the list can change, this does not. */
type Mark = Pick<Coding, "code" | "start" | "end">;

/** One open view of the coding widget. */
export class Session {
  private readonly channel: KernelChannel<Question, Answer, Done>;
  readonly outbox: Outbox;
  readonly presses: PressQueue;
  readonly book = new CodebookView();
  readonly coder = signal("");
  readonly commands = signal<Record<string, string>>({});
  readonly flags = signal<string>("");
  readonly finished = signal(0);
  readonly canUndo = signal(false);
  readonly canRedo = signal(false);
  readonly message = signal<string | null>(null);
  /** What the coder should know of the codebook; it stays on screen while it is so. */
  readonly notice = signal("");
  readonly announced = signal("");
  readonly selection = signal<Span | null>(null);
  readonly showRating = signal(false);
  readonly showContext = signal(true);
  readonly showHelp = signal(false);
  readonly allDone = signal(false);
  /** What the kernel last said of the unit on screen. */
  private readonly known = signal<Unit | null>(null);
  private readonly target = signal<number | null>(null);
  private readonly units = new Map<number, Unit>();
  /** What was refused is lost: that message stays until it is closed. */
  private lasting: string | null = null;

  /** Whether the mouse is dragging over the text. */
  readonly dragging = signal(false);
  settling: ReturnType<typeof setTimeout> | undefined;
  readonly loading = computed(() => this.book.codebook.value === null || this.target.value !== null);
  /** Whether something is being taken back: only the kernel knows on which unit. */
  readonly undoing = computed(() => this.outbox.waiting.value.some(({ unit_id }) => unit_id === undefined));
  /** The unit whose text is drawn; undefined while there is no screen. */
  readonly drawn = signal<string | undefined>(undefined);
  private readonly onScreen = computed(() => {
    const [drawn, shown] = [this.drawn.value, this.unit.value?.unit_id];
    return drawn === undefined || shown === undefined || drawn === shown;
  });

  /**
   * The unit on screen, with the deeds that are still on their way. None while another one is loading, so
   * that no key can code a text that is no longer meant.
   */
  readonly unit = computed(() => {
    const unit = this.target.value === null ? this.known.value : null;
    return unit && this.outbox.waiting.value.reduce(withDeed, unit);
  });
  /** The coding that the next key changes. */
  readonly marked = signal<Mark | null>(null);
  /** Its index on the unit on screen, -1 where it does not stand there. */
  readonly active = computed(() => {
    const mark = this.marked.value;
    return this.unit.value?.codings.findIndex((coding) => mark && coding.code === mark.code && sameSpan(coding, mark)) ?? -1;
  });
  readonly total = computed(() => this.flags.value.length);

  constructor(model: Model) {
    this.channel = new KernelChannel(model, {
      answered: (answer, question) => this.heardAnswer(answer, question !== undefined),
      unanswered: (question, message) => this.heardNoUnit(question, message),
      recorded: (done, from) => this.heardDone(done, from),
      refused: (message, unit_id, dropped) => this.heardRefusal(message, unit_id, dropped),
      unsaved: (message) => (this.message.value = message),
    });
    this.outbox = this.channel.outbox;
    this.presses = new PressQueue(
      computed(() => this.dragging.value || this.loading.value || this.undoing.value || !this.onScreen.value),
      computed(() => (this.loading.value && this.channel.slow.value) || (this.undoing.value && this.outbox.late.value)),
      () => this.unit.value?.unit_id,
      (words) => (this.message.value = words),
    );
    this.channel.ask({ type: "hello" });
  }

  close(): void {
    this.presses.close();
    this.channel.close();
  }

  /** Whether a command waits for what is under way. Going on overtakes a text that is loading, undoing both. */
  mustWait(command: string | null): boolean {
    if (/^(undo|redo)$/.test(command ?? "")) return this.dragging.value;
    const loading = !/^(next|back|next_unfinished)$/.test(command ?? "") && this.loading.value;
    return this.dragging.value || this.undoing.value || loading;
  }

  /* ---- what the kernel says ---- */

  private heardAnswer(answer: Answer, awaited: boolean): void {
    this.notice.value = answer.notice;
    if (answer.type === "unit") this.heardUnit(answer.unit);
    // A second welcome (a busy kernel was asked twice) must not take the person to another unit.
    else if (awaited) this.heardWelcome(answer);
  }

  /** A unit that cannot be shown: the one before stays, and what was pressed for it is not done to that one. */
  private heardNoUnit(question: Question, message: string): void {
    if (question.type === "unit" && (question.peek || question.place !== this.target.value)) return;
    if (this.presses.waiting.value.length) this.presses.drop(0);
    this.target.value = null;
    this.message.value = message;
  }

  private heardRefusal(message: string, unit_id: string | undefined, n: number): void {
    const elsewhere = unit_id !== undefined && unit_id !== this.known.value?.unit_id;
    const more = n && ` What followed it on this text (${n === 1 ? "one deed" : `${n} deeds`}) was not done either.`;
    this.lasting = `${elsewhere ? `Text ${unit_id}: ` : ""}${message}${more || ""}`;
    this.message.value = this.lasting;
  }

  private heardWelcome(welcome: Welcome): void {
    this.book.codebook.value = welcome.codebook;
    this.coder.value = welcome.coder;
    this.commands.value = welcome.commands;
    this.flags.value = welcome.flags;
    this.showRating.value = welcome.show_rating;
    this.count(welcome);
    if (welcome.unit) this.heardUnit(welcome.unit, true);
    this.channel.takeOver(welcome.outbox);
  }

  private heardUnit(unit: Unit, show = false): void {
    this.units.set(unit.place, unit);
    if (this.units.size > CACHED_UNITS) this.units.delete(this.units.keys().next().value!);
    if (show || unit.place === (this.target.value ?? this.known.value?.place)) this.show(unit);
  }

  private heardDone(done: Done, { mine, settled }: { mine: boolean; settled: boolean }): void {
    if (mine) this.notice.value = done.notice;
    this.flags.value =
      this.flags.value.slice(0, done.unit.place) + done.flag + this.flags.value.slice(done.unit.place + 1);
    this.count(done);
    // Taking something back shows the unit where that happened.
    if (settled && (done.kind === "undo" || done.kind === "redo")) this.target.value = done.unit.place;
    this.heardUnit(done.unit);
    if (!mine && this.known.value?.place === done.unit.place) this.say("Changed in another window");
  }

  private count(counts: Partial<Counts>): void {
    this.finished.value = counts.n_finished ?? 0;
    this.canUndo.value = counts.can_undo ?? false;
    this.canRedo.value = counts.can_redo ?? false;
  }

  /* ---- going about ---- */

  private show(unit: Unit): void {
    const other = this.known.value?.place !== unit.place;
    this.known.value = unit;
    this.target.value = null;
    if (!other) return;
    this.selection.value = null;
    this.marked.value = null;
    this.allDone.value = false;
    for (const place of this.following(unit.place)) {
      if (!this.units.has(place)) this.channel.ask({ type: "unit", place, peek: true });
    }
  }

  /** The places that are likely to be wanted next: fetched before they are. */
  private following(here: number): Set<number> {
    const places = Array.from({ length: this.total.value - here - 1 }, (_, i) => here + 1 + i);
    const unfinished = places.filter((place) => !this.isFinished(place));
    return new Set([...places.slice(0, AHEAD), ...unfinished.slice(0, AHEAD)]);
  }

  goto(place: number): void {
    if (!Number.isInteger(place) || place < 0 || place >= this.total.value) return;
    if (this.message.value !== this.lasting) this.message.value = null;
    this.target.value = place;
    const cached = this.units.get(place);
    if (cached) this.show(cached);
    this.channel.ask({ type: "unit", place });
  }

  step(by: number): void {
    const place = this.target.value ?? this.known.value?.place;
    if (place !== undefined) this.goto(place + by);
  }

  /** Whether the unit at `place` is finished, or will be by a deed on its way. */
  private isFinished(place: number): boolean {
    return "fu".includes(this.flags.value[place]!);
  }

  nextUnfinished(): void {
    const here = this.target.value ?? this.known.value?.place ?? -1;
    const onItsWay = new Set(
      this.outbox.waiting.value.filter((deed) => deed.kind === "finish").map((deed) => deed.unit_id),
    );
    for (let i = 1; i <= this.total.value; i++) {
      const place = (here + i) % this.total.value;
      const justFinished = onItsWay.has(this.units.get(place)?.unit_id);
      if (!this.isFinished(place) && !justFinished && place !== here) return this.goto(place);
    }
    this.allDone.value = this.unit.value?.finished ?? false;
    this.say("No other unit is unfinished");
  }

  /* ---- deeds ---- */

  private do(deed: Omit<Deed, "id" | "unit_id">, unit = this.unit.value): void {
    if (!unit) return;
    this.outbox.push({ ...deed, id: uuid(), unit_id: unit.unit_id });
  }

  /** Apply the code to the selection or the whole unit; where it stands there already, remove it. */
  toggle(code: Code): void {
    const unit = this.unit.value;
    if (!unit || !code.codable) return;
    const target = this.selection.value ?? WHOLE;
    const stands = unit.codings.some((coding) => coding.code === code.id && sameSpan(coding, target));
    this.do({ kind: stands ? "remove" : "apply", code: code.id, ...target });
    const where = this.selection.value ? "the selection" : "the whole text";
    this.say(`${code.label} ${stands ? "removed from" : "applied to"} ${where}`);
    this.book.detail.value = code.id;
    this.marked.value = stands ? null : { code: code.id, ...target };
  }

  /** Apply the code; where it stands there already, leave it. */
  apply(code: Code): void {
    const target = this.selection.value ?? WHOLE;
    const stands = this.unit.value?.codings.some((coding) => coding.code === code.id && sameSpan(coding, target));
    if (stands) this.say(`${code.label} stands there already`);
    else this.toggle(code);
  }

  private activeCoding(): Coding | undefined {
    const codings = this.unit.value?.codings ?? [];
    return codings[this.active.value] ?? codings.at(-1);
  }

  change(coding: Coding | undefined, facets: Partial<Pick<Coding, "valence" | "confidence">>): void {
    if (!coding) return this.say("Apply a code first");
    const { code, start, end, valence, confidence } = coding;
    this.do({ kind: "apply", code, start, end, valence, confidence, ...facets });
    this.marked.value = { code, start, end };
  }

  cycleValence(): void {
    const order: (Valence | null)[] = [null, ...(this.book.codebook.value?.valence ?? [])];
    if (order.length === 1) return this.say("This codebook has no valence");
    const coding = this.activeCoding();
    const next = order[(order.indexOf(coding?.valence ?? null) + 1) % order.length]!;
    this.change(coding, { valence: next });
  }

  toggleUnsure(coding = this.activeCoding()): void {
    this.change(coding, { confidence: coding?.confidence === "unsure" ? null : "unsure" });
  }

  remove(coding = this.activeCoding()): void {
    if (!coding) return;
    const { code, start, end } = coding;
    this.do({ kind: "remove", code, start, end });
    this.marked.value = null;
    this.say(`${this.book.codes.value.get(code)?.label ?? code} removed`);
  }

  finish(): void {
    const unit = this.unit.value;
    if (unit) this.do({ kind: unit.finished ? "reopen" : "finish" });
  }

  finishAndNext(): void {
    const unit = this.unit.value;
    if (!unit) return;
    if (unit.finished) return unit.place + 1 < this.total.value ? this.step(1) : this.nextUnfinished();
    this.do({ kind: "finish" });
    this.nextUnfinished();
  }

  saveMemo(unit: Unit, text: string): void {
    const memo = unit.memo;
    if (text.trim() === (memo?.text ?? "").trim()) return;
    this.do({ kind: "memo", text: text.trim(), ...(memo ? { memo_id: memo.memo_id } : {}) }, unit);
  }

  takeBack(kind: "undo" | "redo"): void {
    const waits = this.outbox.waiting.value.length > 0;
    if (!waits && !(kind === "undo" ? this.canUndo : this.canRedo).value) return this.say(`Nothing to ${kind}`);
    this.outbox.push({ id: uuid(), kind });
    this.say(kind === "undo" ? "Undone" : "Done again");
  }

  /* ---- selecting by keyboard ---- */

  selectNext(granularity: "word" | "sentence", step: 1 | -1): void {
    const text = this.unit.value?.text ?? "";
    this.select(nextPiece(pieces(text, granularity), this.selection.value, step));
  }

  extend(step: 1 | -1): void {
    const text = this.unit.value?.text ?? "";
    this.select(extended(pieces(text, "word"), this.selection.value, step));
  }

  select(span: Span | null): void {
    this.selection.value = span;
    if (span) this.say(`Selected: ${this.unit.value!.text.slice(span.start, span.end)}`);
  }

  moveActive(step: 1 | -1): void {
    const codings = this.unit.value?.codings ?? [];
    const from = Math.max(this.active.value, step === 1 ? -1 : 0);
    this.marked.value = codings[(from + step + codings.length) % codings.length] ?? null;
  }

  say(words: string): void {
    this.announced.value = words;
  }
}
