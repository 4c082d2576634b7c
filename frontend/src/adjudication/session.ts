// What one open view of the adjudication widget shows, and what the lead can do in it.
import { batch, computed, signal } from "@preact/signals";
import type { Model } from "../shared/channel";
import { kept } from "../shared/keeper";
import type { Coding, Theirs } from "../shared/protocol";
import { QueueSession } from "../shared/queue";
import { Batch } from "./batch";
import { Changing } from "./changing";
import { Discussing } from "./discussing";
import { Filter } from "./filter";
import { DIFFERENT, keyOf } from "./keys";
import type {
  Answer,
  Begun,
  Brings,
  By,
  Dispute,
  Done,
  Key,
  OfCode,
  Progress,
  Question,
  Queue,
  QueueRow,
  Reason,
  Settled,
  Similar,
  Told,
  Unsaved,
  Welcome,
} from "./messages";

export { DIFFERENT, keyOf };

const ORDER: By[] = ["split", "code", "pair", "participant"];
/** So many of the next open ones are fetched ahead: presses are faster than answers. */
const N_AHEAD = 3;
/**
 * Similar texts are asked for once a text has been open this long: who settles quickly does not wait for
 * them.
 */
const PAUSE_MS = 200;

/** What is begun, by the work that it belongs to: notes by disagreement, where an empty one is gone. */
export const notes = () => kept<{ notes: ReadonlyMap<string, string>; change: Begun | null }>("notes");

function ofKey(key: string): Key {
  const at = key.lastIndexOf("\u001f");
  return { unit_id: key.slice(0, at), code: key.slice(at + 1) };
}

export class Session extends QueueSession<Question, Answer, Done, Told, QueueRow, Dispute, Unsaved> {
  readonly reasons = signal<readonly Reason[]>([]);
  readonly letters = signal(false);
  readonly by = signal<By>("split");
  readonly nOpen = signal(0);
  readonly nSettled = signal(0);
  readonly ofCodes = signal<readonly OfCode[]>([]);
  readonly brings = signal<Brings>({ n: 0, codes: [] });
  /** How each disagreement is settled in the record. */
  private readonly rulings = signal<ReadonlyMap<string, Settled>>(new Map());
  protected readonly keyOf = keyOf;
  readonly dispute = this.shown;
  readonly filter = new Filter({
    rows: this.rows,
    isOpen: row => this.settledOf(row) === null,
    label: code => this.label(code),
  });
  readonly batch = new Batch({
    rows: this.rows,
    places: this.filter.places,
    isOpen: row => this.settledOf(row) === null,
  });
  /** What is to be discussed, in the order in which it was noted. */
  readonly toDiscuss = signal<readonly Key[]>([]);
  readonly talks = new Discussing({
    ask: question => this.channel.ask(question),
    say: words => this.say(words),
    focus: what => void (this.focus.value = what),
    left: () => void (this.picked.value = 0),
  });
  private readonly answeredSimilar = signal<Similar | null>(null);
  readonly similar = computed((): Similar | null => {
    const [here, shown] = [this.here.value, this.answeredSimilar.value];
    return here && shown && keyOf(here) === keyOf(shown) ? shown : null;
  });
  /** The decision that waits for its reason. */
  readonly verdict = signal<boolean | null>(null);
  /** Notes that were taken away or ruled with: the kernel may not have heard of it. */
  private readonly gone = new Set<string>();
  readonly noting = signal(false);
  readonly allCodes = signal(false);
  /** Whether the queue is in the place of the rule, where there is no room for both. */
  readonly showQueue = signal(false);
  readonly changing = new Changing({
    ask: question => this.channel.ask(question),
    say: words => this.say(words),
    begun: () => this.keep(),
  });
  /** The order that was asked for last: presses are faster than answers. */
  private wanted: By = "split";
  private ordering = false;
  /** The texts after the one on screen, asked for beforehand. */
  private readonly ahead = new Map<string, Dispute>();
  /** What was asked for ahead and has no answer yet: in a burst of rulings each is asked for once. */
  private readonly asked = new Set<string>();
  private timer: ReturnType<typeof setTimeout> | undefined;

  /**
   * The codings of words that are drawn on the text, each with whose it is; those with the disputed code come
   * first.
   */
  readonly spans = computed((): readonly Theirs[] => {
    const shown = this.dispute.value;
    if (!shown) return [];
    const all = shown.coders.flatMap(({ coder, codings }) =>
      codings.map((coding): Theirs => ({ ...coding, coder })),
    );
    const [with_it, other] = [true, false].map(is =>
      all.filter(({ code, start }) => start !== null && (code === shown.code) === is),
    );
    return this.allCodes.value ? [...with_it!, ...other!] : with_it!;
  });
  /** The same as they are drawn on the text; whose they are, the lanes say. */
  readonly marks = computed(() => this.spans.value.map(({ coder: _, ...coding }): Coding => coding));
  /** Which of them is tinted: the first, until another one is clicked. */
  readonly picked = signal(0);
  /** The first words that were coded are brought into sight. */
  readonly sought = computed(() => {
    const first = this.spans.value[0];
    return first ? ({ span: { start: first.start!, end: first.end! }, edge: "start" } as const) : null;
  });

  readonly presses = this.keys(signal(false));

  constructor(model: Model) {
    super(model);
    const queue = (told: Queue) => this.heardQueue(told);
    this.hear(this.keeps, this.changing, this.talks, {
      answers: {
        welcome: answer => this.heardWelcome(answer),
        queue: answer => {
          // Of an order after which another was asked for: the answer to that one is on its way.
          if (answer.by !== this.wanted) return;
          this.ordering = false;
          this.heardQueue(answer);
        },
        dispute: answer => this.heardDispute(answer),
        similar: answer => void (this.answeredSimilar.value = answer),
        discussing: ({ rounds }, question) => {
          if (!(question?.type === "discuss" && question.coder)) this.toDiscuss.value = [];
          this.keep();
          this.focus.value = ".s7"; // its button is gone
          if (this.talks.open.value) this.channel.ask({ type: "discussions" });
          this.say(
            rounds
              .map(
                ({ name, coders, n_units }) =>
                  `“${name}” is open: ${n_units} ${n_units === 1 ? "text" : "texts"} for ${coders.join(", ")}`,
              )
              .join("; "),
          );
        },
        changed_code: ({ code }) => {
          this.changing.end();
          this.focus.value = ".s7";
          this.say(`${this.label(code)}: the codebook is changed`);
        },
      },
      unanswered: {
        queue: () => void ([this.wanted, this.ordering] = [this.by.value, false]),
        dispute: question => {
          // What was asked for beforehand may have left the queue meanwhile.
          if (this.here.value && keyOf(question) !== keyOf(this.here.value)) return false;
          this.missed();
          this.unread.value = keyOf(question);
        },
      },
      told: {
        named: told => {
          // What names coders goes before what calls them otherwise comes.
          batch(() => {
            this.answered.value = null;
            this.ahead.clear();
            this.asked.clear();
            this.answeredSimilar.value = null;
            this.talks.rows.value = null;
          });
          queue(told);
          if (!this.talks.open.value) return;
          this.focus.value = ".s7"; // what had it is gone until the answer comes
          this.channel.ask({ type: "discussions" });
        },
        revised: told => {
          this.book.codebook.value = told.codebook;
          queue(told);
        },
      },
      close: () => clearTimeout(this.timer),
    });
    this.channel.ask({ type: "hello" });
  }

  /* ---- the queue ---- */

  /** How a disagreement is settled, also where that is still on its way. */
  settledOf(key: Key): Settled | "pending" | null {
    const waits = this.outbox.waiting.value.some(
      act => act.kind === "rule" && (act.rows ?? [act as Key]).some(one => keyOf(one) === keyOf(key)),
    );
    return waits ? "pending" : (this.rulings.value.get(keyOf(key)) ?? null);
  }

  /** Go to a row. */
  open(place: number): void {
    const row = this.rows.value[place];
    if (!row) return;
    batch(() => {
      this.place.value = place;
      this.verdict.value = null;
      this.picked.value = 0;
      this.noting.value = false;
      this.changing.end();
      this.book.definition.ask(row.code);
      this.unread.value = "";
      this.answered.value = this.ahead.get(keyOf(row)) ?? this.answered.value;
      this.ahead.delete(keyOf(row));
    });
    this.read();
  }

  /** Ask for what is on screen, and for what comes after it. */
  private read(): void {
    const here = this.here.value;
    if (!here) return;
    const { unit_id, code } = here;
    this.channel.ask({ type: "dispute", unit_id, code });
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.channel.ask({ type: "similar", unit_id, code }), PAUSE_MS);
    for (const at of this.nextOpen(N_AHEAD)) {
      const row = this.rows.value[at]!;
      if (this.ahead.has(keyOf(row)) || this.asked.has(keyOf(row))) continue;
      this.asked.add(keyOf(row));
      this.channel.ask({ type: "dispute", unit_id: row.unit_id, code: row.code });
    }
  }

  /** Go to a disagreement, wherever it stands in the queue. */
  openKey(key: Key): void {
    const at = this.rows.value.findIndex(row => keyOf(row) === keyOf(key));
    if (at >= 0) this.open(at);
  }

  /** The places of the next `n` shown in the queue that are open, from the top again after the last. */
  private nextOpen(n = 1): number[] {
    const [rows, shown, here] = [this.rows.value, this.filter.places.value, this.place.value];
    const ahead = [...shown.filter(at => at > here), ...shown.filter(at => at < here)];
    const places: number[] = [];
    for (const at of ahead) {
      if (places.length === n) break;
      if (this.settledOf(rows[at]!) === null) places.push(at);
    }
    return places;
  }

  override go(by: 1 | -1): void {
    const [shown, here] = [this.filter.places.value, this.place.value];
    const next = by > 0 ? shown.find(at => at > here) : shown.findLast(at => at < here);
    if (next !== undefined) this.open(next);
  }

  toNextOpen(): void {
    const [next] = this.nextOpen();
    if (next !== undefined) return this.open(next);
    const here = this.here.value;
    const among = this.filter.on.value ? " among those shown" : "";
    if (here && this.settledOf(here) === null) return this.say(`This is the last open disagreement${among}`);
    this.open(this.place.value);
    this.say(`All disagreements${among} are settled`);
  }

  beginFinding(): void {
    this.showQueue.value = true;
    this.focus.value = ".s7-find";
  }

  /** Leave the field for the first of what was found. */
  toFirstShown(): void {
    const [first] = this.filter.places.value;
    if (first === undefined) return this.say("Nothing found");
    this.open(first);
    this.focus.value = ".s7";
  }

  order(by: By, fresh = false): void {
    [this.wanted, this.ordering] = [by, true];
    this.channel.ask({ type: "queue", by, ...(fresh ? { fresh } : {}) });
  }

  nextOrder(): void {
    this.order(ORDER[(ORDER.indexOf(this.wanted) + 1) % ORDER.length]!);
  }

  call(letters: boolean): void {
    this.channel.ask({ type: "names", letters });
  }

  /* ---- rulings ---- */

  /** The first press: whether the code applies. It rules on nothing that is not on screen. */
  decide(applied: boolean): void {
    if (!this.dispute.value) return this.say("The text is still loading");
    this.verdict.value = applied;
    this.say(`${applied ? "Applies" : "Does not apply"}: why did they differ?`);
  }

  /** The second press: the reason; both readings stand where that is it. */
  because(reason: string): void {
    const [shown, applied] = [this.dispute.value, this.verdict.value];
    if (!shown) return this.say("The text is still loading");
    if (reason !== DIFFERENT && applied === null) return this.say("First: does the code apply?");
    this.rule(reason === DIFFERENT ? null : applied, reason);
  }

  private rule(applied: boolean | null, reason: string): void {
    const { unit_id, code } = this.dispute.value!;
    this.push({ kind: "rule", unit_id, code, applied, reason, note: this.note.value.trim() });
    this.keepNote("");
    this.verdict.value = null;
    const words = { true: "applies", false: "does not apply", null: "both readings are valid" }[`${applied}`];
    const last = !this.nextOpen().length;
    this.toNextOpen();
    this.say(`${this.label(code)}: ${words}${last ? `. ${this.announced.value}` : ""}`);
  }

  protected leave(): void {
    this.verdict.value = null;
    this.endBatch();
  }

  /** Put what is on screen on the list of what to discuss, or take it off. */
  discuss(): void {
    const here = this.dispute.value;
    if (!here) return;
    const [{ unit_id, code }, listed] = [here, this.toDiscuss.value];
    const left = listed.filter(one => keyOf(one) !== keyOf(here));
    this.toDiscuss.value = left.length < listed.length ? left : [...listed, { unit_id, code }];
    this.keep();
    this.say(
      left.length < listed.length
        ? "No longer to be discussed"
        : `To be discussed: ${this.toDiscuss.value.length}`,
    );
  }

  /** Ask the coder whom the queue is narrowed to, to look again at the texts that it shows. */
  askToLook(): void {
    const rows = this.filter.places.value
      .map(at => this.rows.value[at]!)
      .map(({ unit_id, code }) => ({ unit_id, code }));
    if (rows.length) this.channel.ask({ type: "discuss", rows, coder: this.filter.coder.value });
  }

  openDiscussion(): void {
    if (this.toDiscuss.value.length) this.channel.ask({ type: "discuss", rows: [...this.toDiscuss.value] });
  }

  beginBatch(): void {
    this.batch.begin();
    const n = this.batch.rows.value.length;
    if (n < 2)
      this.endBatch(
        n ? "The queue shows one open disagreement only" : "The queue shows no open disagreement",
      );
    else this.say(`Rule on ${n} together: verdict, reason, then Enter`);
  }

  endBatch(words?: string): void {
    this.batch.end();
    this.focus.value = ".s7";
    if (words) this.say(words);
  }

  /** Rule alike on all that are ticked, as one step. */
  ruleTogether(): void {
    const { batch } = this;
    const [applied, rows] = [
      batch.applied.value,
      batch.chosen.value.map(({ unit_id, code }) => ({ unit_id, code })),
    ];
    if (!batch.ready.value || applied === undefined)
      return this.say(rows.length ? "First choose a verdict and a reason" : "No disagreement is ticked");
    this.push({
      kind: "rule",
      ...rows[0]!,
      rows,
      applied,
      reason: batch.reason.value,
      note: batch.note.value.trim(),
    });
    this.endBatch();
    this.toNextOpen();
    this.say(`${rows.length} rulings made together; u takes them back`);
  }

  /* ---- notes ---- */

  /** The note that goes with the next ruling on what is on screen. */
  readonly note = computed((): string => {
    const here = this.here.value;
    return here ? (this.written.value.get(keyOf(here)) ?? this.dispute.value?.ruling?.note ?? "") : "";
  });

  keepNote(text: string): void {
    const here = this.here.value;
    if (!here) return;
    const [written, key] = [new Map(this.written.value), keyOf(here)];
    if (text.trim()) written.set(key, text);
    else if (written.delete(key)) this.gone.add(key);
    this.written.value = written;
    this.keep();
  }

  /** Keep what is begun for the page, and the kernel, that comes after this one. */
  private keep(): void {
    const [here, draft, written] = [this.here.value, this.changing.draft.value, this.written.value];
    const change: Begun | null =
      here && draft
        ? { unit_id: here.unit_id, code: here.code, change: draft, why: this.changing.why.value }
        : null;
    const gone = [...this.gone].map(key => [key, ""] as const);
    notes().set(this.workId, { notes: new Map([...gone, ...written]), change });
    this.keeper.keep({
      notes: [...written].map(([key, text]) => ({ ...ofKey(key), text })),
      change,
      discuss: [...this.toDiscuss.value],
    });
  }

  /** Go on with what was begun before, as the page has it, or else the kernel; the notes go first. */
  private takeUp({ notes: before = [], change = null, discuss = [] }: Partial<Unsaved>): () => void {
    const kept = notes().get(this.workId);
    this.toDiscuss.value = discuss;
    const all = new Map([...before.map(note => [keyOf(note), note.text] as const), ...(kept?.notes ?? [])]);
    this.written.value = new Map([...all].filter(([, text]) => text));
    [...all].forEach(([key, text]) => void (text || this.gone.add(key)));
    const begun = kept ? kept.change : change;
    return () => {
      if (!begun) return;
      this.openKey(begun);
      this.changing.take(begun.change, begun.why);
      this.say("Your unsaved change of the codebook is back");
    };
  }

  beginNote(): void {
    if (!this.dispute.value) return;
    this.noting.value = true;
    this.focus.value = ".s7-note-field";
  }

  /**
   * The note is written: one on a ruling that stands is ruled again with it, one before a ruling waits for
   * it.
   */
  endNote(): void {
    const [shown, text] = [this.dispute.value, this.note.value];
    this.noting.value = false;
    this.focus.value = ".s7";
    const ruling = shown?.ruling;
    if (!shown || !ruling?.reason || text.trim() === ruling.note || !this.written.value.has(keyOf(shown)))
      return;
    const applied = { applied: true, absent: false, differing: null }[ruling.settled];
    const { unit_id, code } = shown;
    this.push({ kind: "rule", unit_id, code, applied, reason: ruling.reason, note: text.trim() });
    this.keepNote("");
  }

  /* ---- what the kernel says ---- */

  private heardWelcome(welcome: Welcome): void {
    batch(() => {
      this.workId = welcome.work_id;
      this.coder.value = welcome.coder;
      this.reasons.value = welcome.reasons;
      this.book.codebook.value = welcome.codebook;
      this.welcomed.value = true;
    });
    const goOn = this.takeUp(welcome.unsaved);
    this.channel.takeOver(welcome.work_id);
    this.heardQueue(welcome);
    goOn();
  }

  /** Take over the queue, and stay with what is on screen where it is still in it. */
  private heardQueue(queue: Queue): void {
    const before = this.here.value;
    this.ahead.clear();
    this.asked.clear();
    batch(() => {
      this.rows.value = queue.rows;
      this.by.value = queue.by;
      if (!this.ordering) this.wanted = queue.by;
      this.letters.value = queue.letters;
      this.words.value = queue.words;
      this.rulings.value = new Map(
        queue.rows.flatMap(row => (row.settled ? [[keyOf(row), row.settled] as const] : [])),
      );
      this.progress(queue);
    });
    const same = before ? queue.rows.findIndex(row => keyOf(row) === keyOf(before)) : -1;
    if (same < 0) {
      const open = queue.rows.findIndex(row => this.settledOf(row) === null);
      const [begun, why] = [this.changing.draft.value, this.changing.why.value];
      this.open(Math.max(open, 0));
      // The change that is begun may be of the code whose disagreements just left: it stays all the same.
      return begun ? this.changing.take(begun, why) : undefined;
    }
    // What was begun on it, a ruling or a note, goes on.
    this.place.value = same;
    this.read();
  }

  private progress({ n_open, n_settled, by_code, brings }: Progress): void {
    this.nOpen.value = n_open;
    this.nSettled.value = n_settled;
    this.ofCodes.value = by_code;
    this.brings.value = brings;
  }

  private heardDispute(dispute: Dispute): void {
    this.asked.delete(keyOf(dispute));
    const here = this.here.value;
    if (here && keyOf(here) === keyOf(dispute)) this.answered.value = dispute;
    else this.ahead.set(keyOf(dispute), dispute);
  }

  protected override recorded(done: Done, { mine }: { mine: boolean }): void {
    const recorded = new Map(this.rulings.value);
    const every = [done, ...done.also];
    for (const one of every) {
      if (one.ruling) recorded.set(keyOf(one), one.ruling.settled);
      else recorded.delete(keyOf(one));
      this.ahead.delete(keyOf(one));
    }
    batch(() => {
      this.rulings.value = recorded;
      this.progress(done);
      const shown = this.answered.value;
      const now = shown && every.find(one => keyOf(one) === keyOf(shown));
      if (now) this.answered.value = { ...shown, ruling: now.ruling };
    });
    if (!mine || !(done.undone || done.redone)) return;
    this.openKey(done);
    const label = done.also.length ? `${every.length} rulings` : this.label(done.code);
    if (done.undone || done.counts) return this.say(`${done.undone ? "Undone" : "Redone"}: ${label}`);
    // In a narrow window the line of what was done is out of sight; this must be seen.
    const why = done.ruling ? "another ruling is in force" : "its code changed or the text left the queue";
    this.message.value = `${label}: redone, but it settles nothing, because ${why}.`;
  }
}
