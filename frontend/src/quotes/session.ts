// What one open view of the quotes widget shows, and what the lead can do in it.
import { batch, computed, signal } from "@preact/signals";
import type { Model } from "../shared/channel";
import { kept } from "../shared/keeper";
import type { Span } from "../shared/protocol";
import { QueueSession } from "../shared/queue";
import { Selecting } from "../shared/selecting";
import type {
  Answer,
  Candidate,
  Done,
  Draft,
  Key,
  OfCode,
  Page,
  Passage,
  Question,
  Quote,
  Role,
  State,
  Welcome,
} from "./messages";

/** Paraphrases that are begun, by study, then by passage; an empty one was taken away again. */
export const drafts = () => kept<ReadonlyMap<string, string>>("paraphrases");

export const keyOf = ({ unit_id, code, start, end }: Key) =>
  [unit_id, code, start ?? "", end ?? ""].join("\u001f");

function ofKey(key: string): Key {
  const [unit_id, code, start, end] = key.split("\u001f") as [string, string, string, string];
  return { unit_id, code, start: start ? Number(start) : null, end: end ? Number(end) : null };
}

export class Session extends QueueSession<
  Question,
  Answer,
  Done,
  never,
  Candidate,
  Passage,
  { drafts: Draft[] }
> {
  readonly ratingName = signal("");
  readonly progress = signal<readonly OfCode[]>([]);
  /** The code whose passages are listed. */
  readonly code = signal("");
  readonly n = signal(0);
  protected readonly keyOf = keyOf;
  readonly passage = this.shown;
  /** Whether the passages of a code were asked for and are not there yet. */
  readonly #reading = signal(false);
  readonly selecting = new Selecting(
    () => this.passage.value?.text ?? "",
    words => this.say(words),
  );
  /** The text in which is selected. */
  readonly unit = computed(() => {
    const shown = this.passage.value;
    return shown && { unit_id: shown.unit_id, text: shown.text, codings: [] };
  });
  readonly writing = signal(false);
  /** Where to go once the passages of another code are there. */
  #wanted: string | null = null;

  readonly presses = this.keys(this.#reading);

  constructor(model: Model) {
    super(model);
    this.hear(this.keeps, {
      answers: {
        welcome: answer => this.#heardWelcome(answer),
        code: answer => this.#heardPage(answer),
        text: answer => {
          if (this.here.value && keyOf(answer) === keyOf(this.here.value)) this.answered.value = answer;
        },
      },
      unanswered: {
        code: () => {
          this.missed();
          this.#reading.value = false;
        },
        text: question => {
          this.missed();
          this.unread.value = keyOf(question);
        },
      },
    });
    this.channel.ask({ type: "hello" });
  }

  ofCode(code: string): OfCode | undefined {
    return this.progress.value.find(one => one.code === code);
  }

  /* ---- codes and passages ---- */

  openCode(code: string, fresh = false): void {
    if (!code) return;
    batch(() => {
      if (code !== this.code.value) {
        this.rows.value = [];
        this.n.value = 0;
        this.place.value = 0;
      }
      this.code.value = code;
      this.#reading.value = true;
      this.leave();
    });
    this.book.definition.ask(code);
    this.channel.ask({ type: "code", code, first: 0, ...(fresh ? { fresh } : {}) });
  }

  /** The next code (or the one before), going round. */
  nextCode(by: 1 | -1): void {
    const codes = this.progress.value.map(one => one.code);
    const at = codes.indexOf(this.code.value);
    this.openCode(codes[(at + by + codes.length) % codes.length] ?? "");
  }

  open(place: number): void {
    const row = this.rows.value[place];
    if (!row) return;
    batch(() => {
      this.place.value = place;
      this.leave();
    });
    this.#read(row);
    if (place >= this.rows.value.length - 5) this.more();
  }

  protected leave(): void {
    this.writing.value = false;
    this.selecting.clear();
  }

  #read({ unit_id, code, start, end }: Key): void {
    this.unread.value = "";
    this.channel.ask({ type: "text", unit_id, code, start, end });
  }

  more(): void {
    const known = this.rows.value.length;
    if (known && known < this.n.value)
      this.channel.ask({ type: "code", code: this.code.value, first: known });
  }

  /** What is decided about a passage, also where that is still on its way. */
  stateOf(row: Candidate): Quote["state"] | "pending" | null {
    const waits = this.outbox.waiting.value.some(
      act => act.kind === "quote" && act.unit_id === row.unit_id && act.code === row.code,
    );
    return waits ? "pending" : (row.quote?.state ?? null);
  }

  /** The next passage about which nothing is decided. */
  toNext(): void {
    const rows = this.rows.value;
    const is_open = (row: Candidate) => this.stateOf(row) === null || row.quote?.state === "chosen";
    const order = [...rows.keys()].map(step => (this.place.value + 1 + step) % rows.length);
    const next = order.find(
      at => at !== this.place.value && is_open(rows[at]!) && this.stateOf(rows[at]!) !== "pending",
    );
    if (next === undefined) return this.say("All listed passages are decided");
    this.open(next);
  }

  /* ---- decisions ---- */

  /** Decide about the passage on screen: as it stands there, or otherwise in some point. */
  #decide(
    state: State,
    other: { span?: Span | null; paraphrase?: string | null; role?: Role } = {},
  ): boolean {
    const shown = this.passage.value;
    const here = this.here.value;
    if (!shown || !here) {
      this.say("The text is still loading");
      return false;
    }
    if (here.removed && state !== "refused") {
      this.say("Its coding was removed, so you can only refuse it (r)");
      return false;
    }
    const before = here.quote?.state === "refused" ? null : here.quote;
    const { start, end } = other.span === undefined ? (before ?? here) : (other.span ?? here);
    const paraphrase =
      state === "refused"
        ? null
        : other.paraphrase === undefined
          ? before?.paraphrase || null
          : other.paraphrase;
    this.push({
      kind: "quote",
      unit_id: here.unit_id,
      code: here.code,
      start,
      end,
      state,
      role: other.role ?? before?.role ?? here.role,
      paraphrase,
    });
    return true;
  }

  approve(): void {
    const text = this.writing.value ? this.draft.value.trim() : undefined;
    // What was approved were these words, which are no more there; the participant's own were not to be
    // printed.
    if (this.here.value?.quote?.state === "erased" && !text)
      return this.say("Its paraphrase was erased: write a new one (p)");
    if (!this.#decide("approved", text ? { paraphrase: text } : {})) return;
    if (text !== undefined) this.#endDraft();
    this.#settled("approved");
  }

  refuse(): void {
    if (this.#decide("refused")) this.#settled("refused");
  }

  #settled(state: string): void {
    const code = this.code.value;
    this.toNext();
    this.say(`${this.label(code)}: ${state}`);
  }

  /** Shorten the quote to the words that are selected; with none, it is the whole passage again. */
  shorten(): void {
    const [here, selected] = [this.here.value, this.selecting.span.value];
    const shown = this.passage.value;
    if (!here || !shown) return this.say("The text is still loading");
    const [first, last] = [here.start ?? 0, here.end ?? shown.text.length];
    if (!selected) {
      if (here.quote && this.#decide("chosen", { span: null })) this.say("The whole passage again");
      else if (!here.quote) this.say("Select the words to keep");
      return;
    }
    const span = { start: Math.max(first, selected.start), end: Math.min(last, selected.end) };
    if (span.start >= span.end) return this.say("Select words of the passage");
    if (this.#decide("chosen", { span })) this.say("Shortened; approve it to print it");
    this.selecting.clear();
  }

  /** It shows the code, or speaks against it. */
  turn(): void {
    const here = this.here.value;
    const role = (here?.quote ?? here)?.role === "shows" ? "disconfirms" : "shows";
    if (this.#decide("chosen", { role }))
      this.say(role === "shows" ? "Supports the code" : "Disconfirms the code");
  }

  /* ---- paraphrases ---- */

  /**
   * What stands in the field: what is begun, or the paraphrase there is, also one of the same words
   * elsewhere.
   */
  readonly draft = computed((): string => {
    const here = this.here.value;
    if (!here) return "";
    const elsewhere = this.passage.value?.others.find(one => one.paraphrase)?.paraphrase;
    return (
      this.written.value.get(keyOf(here)) ??
      (here.quote?.state === "refused" ? null : here.quote?.paraphrase) ??
      elsewhere ??
      ""
    );
  });

  get isBegun(): boolean {
    return this.here.value !== undefined && this.written.value.has(keyOf(this.here.value));
  }

  beginParaphrase(): void {
    if (!this.passage.value) return this.say("The text is still loading");
    this.writing.value = true;
    this.focus.value = ".s7-paraphrase";
  }

  write(text: string): void {
    const here = this.here.value;
    if (!here) return;
    this.written.value = new Map(this.written.value).set(keyOf(here), text);
    this.#keep();
  }

  #endDraft(): void {
    const [here, written] = [this.here.value, new Map(this.written.value)];
    if (here && written.delete(keyOf(here))) this.written.value = written;
    this.writing.value = false;
    this.focus.value = ".s7";
    this.#keep();
  }

  /** The paraphrase is written: it stands beside the words, and waits for approval. */
  endParaphrase(): void {
    const [here, text] = [this.here.value, this.draft.value.trim()];
    const before = here?.quote?.state === "refused" ? "" : (here?.quote?.paraphrase ?? "");
    const isNew = this.isBegun && text !== before;
    if (isNew && this.#decide("chosen", { paraphrase: text || null }))
      this.say(text ? "Paraphrased; approve it to print it" : "In the participant’s own words again");
    this.#endDraft();
  }

  #keep(): void {
    const written = this.written.value;
    drafts().set(this.workId, written);
    this.keeper.keep({ drafts: [...written].map(([key, text]) => ({ ...ofKey(key), text })) });
  }

  /* ---- what the kernel says ---- */

  #heardWelcome(welcome: Welcome): void {
    const before = drafts().get(welcome.work_id);
    batch(() => {
      this.workId = welcome.work_id;
      this.coder.value = welcome.coder;
      this.ratingName.value = welcome.rating;
      this.words.value = welcome.words;
      this.book.codebook.value = welcome.codebook;
      this.progress.value = welcome.progress;
      this.written.value =
        before ?? new Map((welcome.unsaved.drafts ?? []).map(one => [keyOf(one), one.text]));
      this.welcomed.value = true;
    });
    this.channel.takeOver(welcome.work_id);
    const begun = [...this.written.value.keys()].map(ofKey)[0];
    const first =
      welcome.progress.find(one => one.n_candidates && one.n_approved < one.n_wanted) ??
      welcome.progress.find(one => one.n_candidates) ??
      welcome.progress[0];
    this.#wanted = begun ? keyOf(begun) : null;
    this.openCode(this.code.value || (begun?.code ?? first?.code ?? ""));
  }

  #heardPage(page: Page): void {
    this.progress.value = page.progress;
    if (page.code !== this.code.value) return;
    const before = this.here.value;
    this.rows.value = page.first ? [...this.rows.value.slice(0, page.first), ...page.rows] : page.rows;
    this.n.value = page.n;
    if (page.first) return;
    this.#reading.value = false;
    const sought = this.#wanted ?? (before && keyOf(before));
    const same = sought ? page.rows.findIndex(row => keyOf(row) === sought) : -1;
    const undecided = page.rows.findIndex(row => this.stateOf(row) === null);
    const isBegun = same >= 0 && this.#wanted !== null && this.written.value.has(this.#wanted);
    this.#wanted = null;
    this.open(same >= 0 ? same : Math.max(0, undecided));
    if (isBegun) this.writing.value = true;
  }

  protected override recorded(done: Done, { mine }: { mine: boolean }): void {
    const now = new Map(done.rows.map(row => [keyOf(row), row]));
    batch(() => {
      this.progress.value = done.progress;
      if (done.code === this.code.value)
        this.rows.value = this.rows.value.map(row => now.get(keyOf(row)) ?? row);
    });
    if (!mine || !(done.undone || done.redone)) return;
    const first = done.rows[0];
    this.say(`${done.undone ? "Undone" : "Redone"}: ${this.label(done.code)}`);
    if (done.code !== this.code.value) {
      this.#wanted = first ? keyOf(first) : null;
      return this.openCode(done.code);
    }
    const at = this.rows.value.findIndex(row => row.unit_id === done.unit_id);
    if (at >= 0 && this.here.value?.unit_id !== done.unit_id) this.open(at);
  }
}
