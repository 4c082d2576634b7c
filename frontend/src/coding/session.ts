// What one open view of the coding widget shows, and what a person can do in it.
import { computed, signal, type ReadonlySignal } from "@preact/signals";
import type { Model } from "../shared/channel";
import { WidgetSession } from "../shared/session";
import type { Act, Code, Coding, Span } from "../shared/protocol";
import { ActiveWords, isOn, WHOLE } from "./activewords";
import { Colleagues } from "./colleagues";
import { Edges, moveTo, overlapped } from "./edges";
import { Facets, type Mark } from "./facets";
import { Grid } from "./gridrows";
import { History } from "./history";
import { Hits } from "./hits";
import type { Host } from "./host";
import { Inbox } from "./inbox";
import { LookAgain } from "./lookagain";
import { MemoList } from "./memolist";
import { Memos } from "./memos";
import type {
  Answer,
  Counts,
  Done,
  Elsewhere,
  Notice,
  OfTheCodebook,
  Question,
  Told,
  Unit,
  Welcome,
} from "./messages";
import { NewCode } from "./newcode";
import { Newer } from "./newer";
import { Panel } from "./panels";
import { Passages } from "./passages";
import { joined, pieces, type Step } from "../shared/words";
import { withAct } from "./pending";
import { PressQueue } from "../shared/pressqueue";
import { Selecting } from "../shared/selecting";
import { TextList } from "./textlist";
import { Suggestions } from "./suggestions";
import { Training } from "./training";

const CACHED_UNITS = 100;
const AHEAD = 3;
/** How many places are looked at for those to be fetched ahead. */
const LOOKED_AT = 1000;

export type SideName = "texts" | "memos" | "history" | "inbox";

/** Codings as they are read: of the whole text first, then from left to right. */
export function inOrder(codings: readonly Coding[]): Coding[] {
  return codings.toSorted((a, b) => (a.start ?? -1) - (b.start ?? -1));
}

/** One open view of the coding widget. */
export class Session extends WidgetSession<Question, Answer, Done, Told> {
  readonly commands = signal<Record<string, string>>({});
  readonly flags = signal<string>("");
  readonly finished = signal(0);
  readonly canUndo = signal(false);
  readonly canRedo = signal(false);
  /** What is to be said together with the next text. */
  #before = "";
  /** The texts whose end has been on the screen; null where that cannot be known. */
  readonly ended = signal<ReadonlySet<string> | null>(null);
  readonly selecting: Selecting = new Selecting(
    () => this.unit.value?.text ?? "",
    words => this.say(words),
  );
  readonly facets = new Facets(this);
  readonly showRating = signal(false);
  /** Where the rating appears on finished texts alone: whether it does, or was hidden by hand; else null. */
  readonly ratingOfFinished = signal<boolean | null>(null);
  readonly ratingShown = computed(() => {
    const ofFinished = this.ratingOfFinished.value;
    return ofFinished === null ? this.showRating.value : ofFinished && !!this.unit.value?.finished;
  });
  readonly showContext = signal(true);
  readonly allDone = signal(false);
  /** What the kernel last said of the unit on screen. */
  readonly #known = signal<Unit | null>(null);
  readonly #target = signal<number | null>(null);
  readonly #units = new Map<number, Unit>();
  /** What was refused is lost: that message stays until it is closed. */
  #lasting: string | null = null;
  /** The text of which that was. */
  #refusedOn: string | undefined;

  readonly loading = computed(() => this.book.codebook.value === null || this.#target.value !== null);
  /** The unit whose text is drawn; undefined while there is no screen. */
  readonly drawn = signal<string | undefined>(undefined);
  readonly #onScreen = computed(() => {
    const [drawn, shown] = [this.drawn.value, this.unit.value?.unit_id];
    return drawn === undefined || shown === undefined || drawn === shown;
  });

  /**
   * The unit on screen, with the acts that are still on their way. None while another one is loading, so
   * that no key can code a text that is no longer meant.
   */
  readonly #still = computed(() => {
    const unit = this.#target.value === null ? this.#known.value : null;
    return unit && this.outbox.waiting.value.reduce(withAct, unit);
  });
  readonly marked = signal<Mark | null>(null);
  readonly words: ActiveWords = new ActiveWords(this.marked, this.selecting.span, () => this.unit.value);
  readonly edges: Edges = new Edges(this, this.#still, (act, unit) => void this.#do(act, unit));
  readonly unit: ReadonlySignal<Unit | null> = this.edges.shown;
  override readonly held = computed(() => this.edges.moving.value !== null);
  /**
   * The coding whose words became the selection because its code's key was pressed on some of them, and from
   * where.
   */
  readonly widened = signal<{ from: Coding; to: Mark } | null>(null);
  /** Its index on the unit on screen, -1 where it does not stand there. */
  readonly stands = computed(() => {
    const mark = this.marked.value;
    return this.unit.value?.codings.findIndex(coding => mark && isOn(coding, mark)) ?? -1;
  });
  /** The index of the coding that the next key changes: the marked one, or else the last. */
  readonly active = computed(() =>
    this.stands.value >= 0 ? this.stands.value : (this.unit.value?.codings.length ?? 0) - 1,
  );
  readonly total = computed(() => this.flags.value.length);
  /** A step to another hit that waits until it is known where the hits of the text on screen are. */
  readonly #due = signal<Step | 0>(0);
  readonly presses = new PressQueue(
    computed(
      () =>
        this.selecting.dragging.value ||
        this.#due.value !== 0 ||
        this.loading.value ||
        this.outbox.turning.value ||
        !this.#onScreen.value,
    ),
    computed(
      () =>
        (this.loading.value && this.channel.slow.value) ||
        (this.outbox.turning.value && this.outbox.late.value),
    ),
    () => this.unit.value?.unit_id,
    words => void (this.message.value = words),
  );
  readonly #host: Host = {
    ask: question => this.channel.ask(question),
    say: words => this.say(words),
    do: (act, unit) => (unit ? this.#do(act, unit) : this.push(act)),
    listAgain: () => this.lookAgain(),
    inboxChanged: () => this.inbox.renew(),
    push: (...acts) => this.push(...acts),
    takeBack: () => this.takeBack("undo"),
    came: unit => this.#heardUnit(unit),
    goto: place => this.goto(place),
    goOn: () => this.nextUnfinished(),
    focus: selector => void (this.focus.value = selector),
    keep: () => this.memos.keep(),
    showOther: model => this.showOther(model),
    isUnsaved: () => this.isUnsaved,
    leave: (codes, line) => codes.forEach(code => this.memos.addLine(code, line)),
    toReview: () => this.newer.toReview.peek(),
    book: this.book,
    total: this.total,
    showRating: this.showRating,
    waiting: this.outbox.waiting,
    unit: this.unit,
    known: computed(() => (this.#target.value === null ? this.#known.value : null)),
    place: computed(() => this.#target.value ?? this.#known.value?.place ?? null),
    shown: computed(() => this.unit.value?.place ?? null),
  };
  readonly texts = new TextList(this.#host);
  readonly hits: Hits = new Hits({
    ...this.#host,
    texts: this.texts,
    due: this.#due,
    label: code => this.label(code),
    selected: () => this.selecting.span.value,
    seek: (place, span) => this.#reach(place, span),
  });
  readonly passages = new Passages(this.#host);
  readonly colleagues = new Colleagues(this.#host);
  readonly grid = new Grid({ ...this.#host, listing: this.texts.listing });
  readonly training = new Training(this.#host);
  readonly suggestions = new Suggestions(this.#host);
  readonly newCode = new NewCode(this.#host);
  readonly memos = new Memos(this.#host);
  readonly memoList = new MemoList(this.#host);
  readonly history = new History(this.#host);
  readonly newer = new Newer(this.#host);
  readonly inbox = new Inbox(this.#host);
  readonly again = new LookAgain(this.#host);
  /** What stands beside the text, where that is open. */
  readonly side = signal<SideName>("texts");
  /** The code whose passages are shown: that of the marked coding, or the one whose definition is open. */
  readonly openCode = computed(
    () => (this.stands.value >= 0 ? this.marked.value?.code : this.book.open.value?.id) ?? "",
  );
  readonly panel = new Panel(this);
  /** What is done once a text is on screen. */
  #arriving: { place: number; then: () => void } | null = null;

  constructor(model: Model) {
    super(model);
    this.hear(
      this.memos,
      this.history,
      this.memoList,
      this.texts,
      this.colleagues,
      this.grid,
      this.training,
      this.suggestions,
      this.newCode,
      this.newer,
      this.inbox,
      this.again,
      this.hits,
      this.passages,
      {
        answers: {
          // A second welcome (a busy kernel was asked twice) must not take the person to another unit.
          welcome: (answer, question) => {
            this.newer.noticed(answer);
            if (question) this.#heardWelcome(answer);
          },
          unit: answer => {
            this.#noticed(answer);
            this.#heardUnit(answer.unit);
          },
        },
        unanswered: {
          // The unit before stays, and what was pressed for this one is not done to that.
          unit: ({ peek, place }) => (peek || place !== this.#target.value ? false : this.#stay()),
          hello: () => this.#stay(),
        },
        told: {
          // Somebody called `widget.goto` in the notebook.
          goto: ({ place }) => this.jump(place),
          elsewhere: told => this.#heardElsewhere(told),
          codebook: told => {
            this.newer.noticed(told);
            this.channel.rename(told.work_id);
            this.#heardCodebook(told);
            this.#askAgain();
          },
        },
      },
    );
    this.channel.ask({ type: "hello" });
  }

  /**
   * Whether a command waits for what is under way. Going on overtakes a text that is loading, undoing both.
   */
  mustWait(command: string | null): boolean {
    if (/^(undo|redo)$/.test(command ?? "")) return this.selecting.dragging.value;
    const loading = !/^(next|back|next_unfinished)$/.test(command ?? "") && this.loading.value;
    return this.selecting.dragging.value || this.#due.value !== 0 || this.outbox.turning.value || loading;
  }

  /** Do this once it is the turn of what is like the command. */
  inTurn(command: string | null, action: () => void): void {
    this.presses.inTurn(action, { mustWait: this.mustWait(command) });
  }

  /* ---- what the kernel says ---- */

  #heardCodebook({ codebook, flags, n_finished }: OfTheCodebook): void {
    this.book.codebook.value = codebook;
    this.flags.value = flags;
    this.finished.value = n_finished;
    this.again.end(false);
    if (!this.newCode.busy.value) this.inbox.renew();
  }

  /** The inbox says that the codebook was revised. */
  #noticed(notice: Notice): void {
    const before = this.newer.there.value;
    this.newer.noticed(notice);
    if (this.newer.there.value && !before) this.inbox.renew();
  }

  /** The same coder did something in another window, which an answer of the kernel's brought along. */
  #heardElsewhere({ words, places, flags, memos, ...rest }: Elsewhere): void {
    this.flags.value = flags;
    this.#count(rest);
    this.newer.noticed(rest);
    this.memos.known.value = memos;
    this.#askAgain();
    this.texts.changed(places);
    this.#showLists(true);
    this.say(words);
  }

  /** What was recorded may change the list beside the text. */
  #showLists(ofMemos: boolean): void {
    if (!this.texts.isOpen.value) return;
    if (this.side.value === "history") this.history.changed();
    if (ofMemos && this.side.value === "memos") this.memoList.list.renew();
  }

  /** What Shift and an arrow moves: an edge of codings, or of the selection. */
  get mover(): Pick<Edges, "move"> {
    return this.edges.isReady ? this.edges : this.selecting;
  }

  override close(): void {
    this.edges.keep();
    super.close();
  }

  /** Under another version of the codebook, what stands on a text may be another thing. */
  #askAgain(): void {
    this.#units.clear();
    this.grid.renew();
    const here = this.#known.peek()?.place;
    if (here !== undefined) this.channel.ask({ type: "unit", place: here, peek: true }, false);
  }

  #stay(): void {
    if (this.presses.waiting.value.length) this.presses.drop(0);
    this.#target.value = null;
  }

  protected override refused(message: string, unit_id: string | undefined, n: number): void {
    const elsewhere = unit_id !== undefined && unit_id !== this.#known.value?.unit_id;
    const [later, were] = n === 1 ? ["One later change", "was"] : [`${n} later changes`, "were"];
    const more = n ? ` ${later} on this text ${were} not saved either.` : "";
    this.#lasting = `${elsewhere ? `Text ${unit_id}: ` : ""}${message}${more}`;
    this.message.value = this.#lasting;
    this.#refusedOn = unit_id;
    this.again.end();
  }

  #heardWelcome(welcome: Welcome): void {
    this.#heardCodebook(welcome);
    this.newCode.mode.value = welcome.new_codes ?? "propose";
    this.coder.value = welcome.coder;
    this.colleagues.state.value = welcome.colleagues ?? null;
    this.training.progress.value = welcome.training ?? null;
    this.suggestions.when.value = welcome.suggest ?? null;
    this.memos.round.value = welcome.round;
    this.memos.known.value = welcome.memos;
    this.commands.value = welcome.commands;
    this.showRating.value = welcome.show_rating === true;
    this.ratingOfFinished.value = welcome.show_rating === "finished" ? true : null;
    this.#count(welcome);
    if (welcome.layout === "grid") this.grid.begin("grid");
    if (welcome.unit) this.#heardUnit(welcome.unit, true);
    if (welcome.again) this.again.open("stale");
    this.channel.takeOver(welcome.work_id);
  }

  #heardUnit(unit: Unit, show = false): void {
    this.#units.set(unit.place, unit);
    if (this.#units.size > CACHED_UNITS) this.#units.delete(this.#units.keys().next().value!);
    this.grid.keep(unit);
    if (show || unit.place === (this.#target.value ?? this.#known.value?.place)) this.#show(unit);
  }

  protected override recorded(done: Done, { mine, settled }: { mine: boolean; settled: boolean }): void {
    const [before, held] = [this.unit.value, this.words.codings.value];
    if (mine) this.#noticed(done);
    if (mine && done.kind === "finish") this.inbox.finished();
    this.flags.value =
      this.flags.value.slice(0, done.unit.place) + done.flag + this.flags.value.slice(done.unit.place + 1);
    this.#count(done);
    const mended = mine && done.kind === "finish" && done.unit.unit_id === this.#refusedOn;
    if (mended && this.message.value === this.#lasting) this.message.value = null;
    // Taking something back shows the unit where that happened.
    const more = this.outbox.waiting.value.some(({ kind }) => kind === done.kind);
    const takesBack = done.kind === "undo" || done.kind === "redo";
    if (settled && takesBack && !more) this.#target.value = done.unit.place;
    this.#heardUnit(done.unit);
    if (takesBack && before?.unit_id === this.unit.value?.unit_id) this.words.follow(before!, held);
    this.texts.recorded(done);
    this.colleagues.recorded(done.unit.place);
    this.grid.recorded(done.kind, done.unit.place);
    this.#showLists(["memo", "undo", "redo"].includes(done.kind));
    if (this.panel.shown.value === "passages") this.passages.list.renew();
    if (done.memos) this.memos.known.value = done.memos;
    if (!mine && !done.memos && this.#known.value?.place === done.unit.place)
      this.say("Changed in another window");
  }

  #count(counts: Partial<Counts>): void {
    this.finished.value = counts.n_finished ?? 0;
    this.canUndo.value = counts.can_undo ?? false;
    this.canRedo.value = counts.can_redo ?? false;
  }

  /* ---- going about ---- */

  #show(unit: Unit): void {
    const other = this.#known.value?.place !== unit.place;
    if (other) this.edges.keep();
    this.#known.value = unit;
    this.#target.value = null;
    if (!other) return;
    this.selecting.clear();
    this.marked.value = null;
    this.facets.close();
    this.grid.picking.value = false;
    this.allDone.value = false;
    if (this.history.scope.value === "text") this.history.changed();
    this.say(`${this.#before}${this.#introduced(this.unit.value ?? unit)}`);
    this.#before = "";
    const arriving = this.#arriving;
    this.#arriving = null;
    if (arriving?.place === unit.place) arriving.then();
    for (const place of this.#following(unit.place)) {
      if (!this.#units.has(place)) this.channel.ask({ type: "unit", place, peek: true }, false);
    }
  }

  #introduced({ place, text, finished, codings }: Unit): string {
    const [n, coded] = [pieces(text, "word").length, codings.length];
    const parts = [
      `Text ${place + 1} of ${this.total.value}`,
      n === 1 ? "one word" : `${n} words`,
      coded && (coded === 1 ? "one coding" : `${coded} codings`),
      finished ? "finished" : "not finished",
    ];
    return joined(parts, ", ");
  }

  /** The places that are likely to be wanted next: fetched before they are. */
  #following(here: number): Set<number> {
    const next: number[] = [];
    const unfinished: number[] = [];
    let n = 0;
    for (const place of this.texts.listing.value.after(here, false)) {
      if (next.length < AHEAD) next.push(place);
      if (!this.#isFinished(place)) unfinished.push(place);
      if (unfinished.length === AHEAD || ++n === LOOKED_AT) break;
    }
    return new Set([...next, ...unfinished]);
  }

  goto(place: number): void {
    if (!Number.isInteger(place) || place < 0 || place >= this.total.value) return;
    if (this.message.value !== this.#lasting) this.message.value = null;
    this.edges.keep();
    this.#target.value = place;
    const cached = this.#units.get(place) ?? this.grid.units.value.get(place);
    if (cached) this.#show(cached);
    this.channel.ask({ type: "unit", place }, !cached);
  }

  /** Go to a text that was chosen elsewhere; presses that wait are done first, or not at all. */
  jump(place: number): void {
    this.inTurn("next", () => this.goto(place));
  }

  /**
   * Go to a text that was chosen elsewhere, and select words of it or mark a coding; presses that wait are
   * done first.
   */
  goTo(place: number, what: Span | Mark | null): void {
    this.inTurn("next", () => this.#reach(place, what));
  }

  /** Go there at once. */
  #reach(place: number, what: Span | Mark | null): void {
    const then = () => {
      if (what && "code" in what) this.words.mark(what);
      else this.selecting.select(what);
      if (what && what.start !== null) this.selecting.seek({ start: what.start, end: what.end! }, "start");
    };
    if (place === this.#known.value?.place && this.#target.value === null) return then();
    this.#arriving = { place, then };
    this.goto(place);
  }

  /** Show the passages of the open code, or the rule again. */
  showPassages(): void {
    if (!this.openCode.value) return this.say("Open a code first");
    if (this.panel.shown.value === "passages") return this.panel.leave();
    if (!this.texts.wide.value) this.texts.leave(true);
    this.panel.pick("passages");
    this.focus.value = ".s7-panel .s7-rows";
  }

  goBack(): void {
    this.inTurn("next", () => this.passages.back());
  }

  /** Show something beside the text; what stands there already is folded. */
  showSide(side: SideName, focus: "find" | "rows" = "rows"): void {
    const other = this.side.value !== side || !this.texts.isOpen.value;
    this.side.value = side;
    if (side === "memos" && other) this.memoList.opened();
    if (side === "inbox" && other) this.inbox.renew();
    if (side === "history" && other) this.history.list.renew();
    if (other || focus === "find") this.texts.open(focus);
    else this.texts.toggle();
  }

  /** Show colleagues' codings of the texts of this discussion. */
  compare(): void {
    if (!this.colleagues.on.value) this.colleagues.toggle();
    this.panel.pick("compare");
    this.nextUnfinished();
  }

  /** List the texts that are to be looked at again, and go to the first. */
  lookAgain(): void {
    this.side.value = "texts";
    this.texts.lookAgain();
  }

  /** The text before or after the one on screen; while texts are chosen, among those. */
  beside(by: number): number | undefined {
    const place = this.#target.value ?? this.#known.value?.place;
    return place === undefined ? undefined : this.texts.listing.value.beside(place, by);
  }

  step(by: number): void {
    const place = this.beside(by);
    if (place !== undefined) this.goto(place);
    else if (this.texts.isActive.value) this.say(`This is the ${by > 0 ? "last" : "first"} text of the list`);
  }

  /** Whether the unit at `place` is finished, or will be by an act on its way. */
  #isFinished(place: number): boolean {
    return "fu".includes(this.flags.value[place]!);
  }

  nextUnfinished(): void {
    if (this.again.step.value) return this.again.next();
    const here = this.#target.value ?? this.#known.value?.place ?? -1;
    const onItsWay = new Set(
      this.outbox.waiting.value.filter(act => act.kind === "finish").map(act => act.unit_id),
    );
    for (const place of this.texts.listing.value.after(here, true)) {
      const justFinished = onItsWay.has(this.#units.get(place)?.unit_id);
      if (!this.#isFinished(place) && !justFinished && place !== here) return this.goto(place);
    }
    this.allDone.value = this.unit.value?.finished ?? false;
    this.say(`${this.#before}All other texts are finished`);
    if (this.texts.isActive.value)
      this.message.value = "All other texts in this list are finished. Show all texts to go on.";
    this.#before = "";
  }

  /* ---- acts ---- */

  #do(act: Omit<Act, "id" | "unit_id">, unit = this.unit.value): readonly Act[] {
    if (!unit) return [];
    this.facets.close();
    this.newCode.justAdded = null;
    this.widened.value = null;
    const { unit_id } = unit;
    // What was done just before counts as seen.
    const { n_acts } = this.unit.value?.unit_id === unit_id ? this.unit.value : unit;
    return this.push({ ...act, ...(act.kind === "finish" ? { seen: n_acts } : {}), unit_id });
  }

  /** Whether the code is on what is selected, or else on the whole text. */
  #stands({ id }: Code): boolean {
    const target = { code: id, ...(this.selecting.span.value ?? WHOLE) };
    return !!this.unit.value?.codings.some(coding => isOn(coding, target));
  }

  /** Apply the code to the selection or the whole unit; where it stands there already, remove it. */
  toggle(code: Code): void {
    const unit = this.unit.value;
    if (!unit || !code.codable) return;
    const span = this.selecting.span.value;
    const stands = this.#stands(code);
    this.selecting.endTaps();
    const { coding: before, others } = overlapped(unit.codings, code.id, stands ? null : span);
    if (before) return this.#widen(before, span!, others);
    this.#do({ kind: stands ? "remove" : "apply", code: code.id, ...(span ?? WHOLE) });
    const where = span ? "the selection" : "the whole text";
    this.say(`${code.label} ${stands ? "removed from" : "applied to"} ${where}`);
    this.book.definition.ask(code.id);
    if (!stands) this.book.recent.use(code, this.#takenKeys());
    if (stands) this.words.remark();
    else this.words.add(code.id);
  }

  /**
   * The words of a coding with this code that overlap the selection become the selection; what it states
   * stays.
   */
  #widen(from: Coding, to: Span, others: number): void {
    this.#do(moveTo(from, to));
    this.words.add(from.code);
    this.widened.value = { from, to: { code: from.code, ...to } };
    const more = others
      ? `; ${others === 1 ? "another one overlaps" : `${others} others overlap`} these words`
      : "";
    this.say(`${this.label(from.code)} moved to the selection${more}`);
    this.book.definition.ask(from.code);
  }

  /** Both stay: the coding on its words as before, and another one on the selection. */
  keepBoth(): void {
    const { to } = this.widened.value ?? {};
    if (!to) return;
    this.takeBack("undo");
    this.#do({ kind: "apply", ...to });
    this.marked.value = to;
    this.say(`${this.label(to.code)} applied there too`);
  }

  /** Keys that mean something already, with Shift too. */
  #takenKeys(): string[] {
    const { next_word = "", next_sentence = "", ...others } = this.commands.value;
    const codes = this.book.list.value.flatMap(({ key }) => key ?? []);
    return [...codes, ...Object.values(others), next_word.toUpperCase(), next_sentence.toUpperCase()];
  }

  /** Apply the code; where it stands there already, leave it. */
  apply(code: Code): void {
    if (this.#stands(code)) this.say(`${code.label} is already applied there`);
    else this.toggle(code);
  }

  /** The coding that the next key changes. */
  activeCoding(): Coding | undefined {
    return this.unit.value?.codings[this.active.value];
  }

  change(coding: Coding | undefined, more: Partial<Pick<Coding, "facets" | "confidence">>): void {
    if (!coding) return this.say("Apply a code first");
    const { code, start, end, facets, confidence } = coding;
    this.#do({ kind: "apply", code, start, end, facets, confidence, ...more });
    this.marked.value = { code, start, end };
    if ("confidence" in more)
      this.say(`${this.label(code)}: ${more.confidence === "unsure" ? "unsure" : "no longer unsure"}`);
  }

  toggleUnsure(coding = this.activeCoding()): void {
    this.change(coding, { confidence: coding?.confidence === "unsure" ? null : "unsure" });
  }

  remove(coding = this.activeCoding()): void {
    if (!coding) return;
    const { code, start, end } = coding;
    this.#do({ kind: "remove", code, start, end });
    this.words.remark();
    this.say(`${this.label(code)} removed`);
  }

  /** Apply a suggested code on the words that carry it. */
  acceptSuggestion(suggestion = this.suggestions.open.value): void {
    if (!suggestion) return this.say("There is no suggestion to apply");
    const { code, start, end } = suggestion;
    this.#do({ kind: "apply", code, start, end });
    this.words.mark(suggestion);
    this.say(`${this.label(code)} applied as suggested`);
  }

  rejectSuggestion(suggestion = this.suggestions.open.value): void {
    if (!suggestion) return this.say("There is no suggestion to reject");
    this.#do({ kind: "reject_suggestion", code: suggestion.code });
    this.say(`${this.label(suggestion.code)} rejected`);
  }

  finish(): void {
    const unit = this.unit.value;
    if (!unit) return;
    this.#do({ kind: unit.finished ? "reopen" : "finish" });
    this.say(unit.finished ? "No longer finished" : this.#finishedWords(unit));
  }

  /** Also the rating that appears on finished texts alone, which the next text would hide at once. */
  #finishedWords({ unit_id, rating }: Unit): string {
    const unread = this.ended.value && !this.ended.value.has(unit_id);
    const rated = this.ratingOfFinished.value && rating !== null ? `, rating ${rating}` : "";
    return `${unit_id} finished${rated}${unread ? ", but you have not seen its end" : ""}`;
  }

  /** The end of the text is on the screen. */
  atEnd(unit_id: string): void {
    this.ended.value = new Set(this.ended.value).add(unit_id);
  }

  finishAndNext(): void {
    const unit = this.unit.value;
    if (!unit) return;
    if (unit.finished) return this.beside(1) !== undefined ? this.step(1) : this.nextUnfinished();
    if (this.training.isOn.value) return this.finish(); // what differs is looked at first
    if (this.suggestions.stays(unit)) return this.finish(); // what is suggested is looked at first
    this.#do({ kind: "finish" });
    this.#before = `${this.#finishedWords(unit)}. `;
    this.nextUnfinished();
  }

  /** Name a code that the codebook lacks: the selected words are its label. */
  openNewCode(): void {
    if (this.unit.value) this.newCode.open(this.unit.value, this.selecting.span.value);
  }

  saveMemo(unit: Unit, text: string, team = unit.memo?.team ?? false): void {
    this.memos.save({ on: "unit", unit, span: null, code: null, memo: unit.memo }, text, team);
  }

  /** Write a memo on the selected words; false where there are none. */
  memoOnSelection(): boolean {
    const [unit, span] = [this.unit.value, this.selecting.span.value];
    if (unit && span) this.memos.onSpan(unit, span);
    return !!unit && !!span;
  }

  takeBack(kind: "undo" | "redo"): void {
    this.widened.value = null;
    const waits = this.outbox.waiting.value.length > 0;
    if (!waits && !(kind === "undo" ? this.canUndo : this.canRedo).value)
      return this.say(`Nothing to ${kind}`);
    this.push({ kind });
    const added = this.newCode.justAdded;
    this.newCode.justAdded = null;
    const stays =
      added === null
        ? ""
        : ` on this text; the code ${added} stays in the codebook, and only the lead can remove it`;
    this.say(kind === "undo" ? `Undone${stays}` : "Done again");
  }

  moveActive(step: 1 | -1): void {
    const unit = this.unit.value;
    const codings = inOrder(unit?.codings ?? []);
    const from =
      this.stands.value < 0 ? (step === 1 ? -1 : 0) : codings.indexOf(unit!.codings[this.stands.value]!);
    const coding = codings[(from + step + codings.length) % codings.length];
    if (!coding) return this.say("This text has no codings");
    this.words.mark(coding);
    this.say(`${codings.indexOf(coding) + 1} of ${codings.length}, ${this.described(coding, unit!)}`);
    if (coding.start !== null) this.selecting.seek({ start: coding.start, end: coding.end! }, "start");
  }

  /** A coding in words: its code, what it states, and on what. */
  described(coding: Coding, { text }: Unit): string {
    const { code, start, end } = coding;
    const what = [this.label(code), ...this.facets.words(coding)].join(", ");
    return `${what}: ${start === null ? "the whole text" : text.slice(start, end!)}`;
  }

  /** A code's name where there is little room. */
  shortName(code: string): string {
    return this.book.codes.value.get(code)?.look.short ?? code;
  }

  /** Show or hide the rating. */
  toggleRating(): void {
    if (this.ratingOfFinished.value === null) this.showRating.value = !this.showRating.value;
    else if (this.unit.value?.finished) this.ratingOfFinished.value = !this.ratingOfFinished.value;
    else this.say("The rating is shown once this text is finished");
  }
}
