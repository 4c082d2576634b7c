// What one open view of the codebook widget shows, and what the lead can do in it.
import { batch, computed, signal } from "@preact/signals";
import { KernelChannel, type Model, type Reply } from "../shared/channel";
import { CodebookView } from "../shared/codebook";
import { drafts, type Kept } from "./drafts";
import type { Answer, Choice, Compare, Conflict, Draft, DraftCode, Figures, Preview, Proposal, Question, Quote, Saved, Step, Told, Version, Welcome } from "./messages";
import { dropped, isWithin, moved, type Drop, type Place, type Way } from "./moving";
import { LackingThemes } from "./lackingthemes";
import { Sorter } from "./sorter";
import { Typed } from "./typed";

/** The tab that is open: what had the focus may be gone once the kernel has answered. */
export const TAB = '.s7-side-tabs [aria-pressed="true"]';

export type Tab = "changes" | "proposals" | "sorting" | "versions";

/** One open view of the codebook widget. */
export class Session {
  readonly channel: KernelChannel<Question, Answer, never>;
  readonly book = new CodebookView();
  readonly coder = signal("");
  readonly draft = signal<Draft | null>(null);
  readonly codes = computed((): DraftCode[] => this.draft.value?.codes ?? []);
  /** The code whose fields are open. */
  readonly selected = signal<string | null>(null);
  readonly code = computed(() => this.codes.value.find(({ id }) => id === this.selected.value));
  readonly figures = signal<Record<string, Figures> | null>(null);
  readonly preview = signal<Preview | null>(null);
  /** Why nothing could be counted. */
  readonly uncounted = signal("");
  readonly tab = signal<Tab>("changes");
  readonly quotes = signal<{ code: string; n: number; n_all: number; coders: string[]; rows: Quote[] } | null>(null);
  readonly find = signal("");
  readonly ofCoder = signal("");
  readonly proposals = signal<Proposal[]>([]);
  readonly versions = signal<Version[]>([]);
  readonly compared = signal<Compare | null>(null);
  readonly conflict = signal<Conflict | null>(null);
  readonly choices = signal<Record<string, Choice>>({});
  readonly saved = signal<Saved | null>(null);
  readonly saving = signal(false);
  /** What is being written: a new code, or the parts of one. */
  readonly form = signal<"add" | "split" | "merge" | null>(null);
  readonly alike = signal<{ id: string; how: string }[]>([]);
  readonly message = signal<string | null>(null);
  readonly announced = signal("");
  readonly showHelp = signal(false);
  /** What gets the focus once it is drawn. */
  readonly focus = signal<string | null>(null);
  readonly nProposals = signal(0);
  readonly sorter: Sorter;
  readonly lacking: LackingThemes;
  readonly typed: Typed;
  /** Steps that are on their way. */
  readonly pending = signal<readonly Step[]>([]);
  private outbox = "";
  /** Whether the kernel has been heard: before that, what a page kept of a draft is left alone. */
  private welcomed = false;

  constructor(model: Model) {
    this.channel = new KernelChannel(model, {
      answered: (answer, question) => this.heard(answer, question),
      unanswered: (question, message) => this.unanswered(question, message),
      recorded: () => undefined,
      refused: (message) => void (this.message.value = message),
      unsaved: (message) => void (this.message.value = message),
      told: (reply) => this.told(reply as Reply & Told),
    });
    this.sorter = new Sorter((question) => this.channel.ask(question), (words) => this.say(words), this.channel.slow);
    this.lacking = new LackingThemes((question) => this.channel.ask(question));
    this.typed = new Typed((typed) => this.channel.ask({ type: "keep", typed }, false), () => this.keep());
    this.channel.ask({ type: "hello" });
  }

  close(): void {
    this.keep();
    this.typed.close();
    this.sorter.presses.close();
    this.channel.close();
  }

  say(words: string): void {
    this.announced.value = words;
  }

  /* ---- what the lead does ---- */

  step(step: Step): void {
    this.pending.value = [...this.pending.value, step];
    this.keep();
    this.channel.ask({ type: "step", step });
  }

  edit(code: string, values: Record<string, unknown>): void {
    this.step({ do: "edit", code, values });
  }

  move(way: Way): void {
    const [id, code] = [this.selected.value, this.code.value];
    const place = id === null ? null : moved(this.codes.value, id, way);
    if (!id || !code || !place) return this.say("It cannot go there");
    if (way === "in") this.book.fold([place.parent!], false);
    this.step({ do: "move", code: id, ...place });
    this.say(`${code.label}: moved ${way}`);
  }

  /** Where a code that is dragged would go; null where nothing would change. */
  placeFor(id: string, on: string, drop: Drop): Place | null {
    return dropped(this.codes.value, id, on, drop, this.isOpen(on));
  }

  /** Whether codes below this one are in sight. */
  isOpen(id: string): boolean {
    return !this.book.folded.value.has(id) && this.codes.value.some(({ parent }) => parent === id);
  }

  drop(id: string, on: string, drop: Drop): void {
    const place = this.placeFor(id, on, drop);
    if (!place) return this.say("It stays where it is");
    this.step({ do: "move", code: id, ...place });
    if (isWithin(this.codes.value, on, id)) return; // the kernel says why not
    if (place.parent) this.book.fold([place.parent], false);
    this.say(`${this.codes.value.find((code) => code.id === id)!.label}: moved`);
  }

  /** Open a form, in the middle. */
  begin(form: "add" | "split" | "merge"): void {
    if (form !== "add" && !this.code.value?.codable) return this.say("That code only groups others");
    batch(() => {
      if (this.tab.value === "sorting" || this.tab.value === "versions") this.tab.value = "changes";
      this.form.value = form;
      this.alike.value = [];
      this.focus.value = ".s7-form .s7-first";
    });
  }

  /** The form is done with; what is typed in it goes. */
  endForm(): void {
    if (this.form.value) this.typed.drop(this.form.value === "split" ? `split ${this.selected.value}` : this.form.value);
    this.form.value = null;
    this.focus.value = ".s7-tree";
  }

  /** Take a proposal, as a code or into one. */
  take(proposal: string, as: Record<string, unknown>): void {
    this.focus.value = TAB;
    this.step({ do: "take", proposal, ...as });
  }

  /** Open a code's fields. */
  select(id: string): void {
    if (id === this.selected.value) return;
    batch(() => {
      this.selected.value = id;
      if (this.form.value !== "add") this.form.value = null;
      this.find.value = this.ofCoder.value = "";
    });
    this.askQuotes(0);
  }

  /** Go along the tree. */
  go(by: number): void {
    const rows = this.book.rows.value;
    const at = rows.findIndex(({ code }) => code.id === this.selected.value);
    const to = rows[Math.max(0, Math.min(at + by, rows.length - 1))];
    if (to) this.select(to.code.id);
  }

  takeBack(which: "undo" | "redo"): void {
    this.channel.ask({ type: which });
  }

  leaveOut(place: number): void {
    this.focus.value = TAB;
    this.channel.ask({ type: "leave_out", place });
  }

  discard(): void {
    this.focus.value = ".s7-tree";
    this.typed.drop("why", "add", "field", "split");
    this.channel.ask({ type: "discard" });
  }

  askAlike(label: string, definition: string): void {
    if (label.trim()) this.channel.ask({ type: "alike", label, definition });
    else this.alike.value = [];
  }

  askQuotes(first: number): void {
    const code = this.selected.value;
    if (code !== null) this.channel.ask({ type: "quotes", code, find: this.find.value, coder: this.ofCoder.value, first });
  }

  open(tab: Tab): void {
    this.tab.value = tab;
    if (tab === "proposals") {
      this.channel.ask({ type: "proposals", fresh: true });
      this.lacking.look();
    }
    if (tab === "versions") this.channel.ask({ type: "versions" });
    if (tab === "sorting") this.sorter.begin(undefined, true);
  }

  sendBack(proposal: string, why: string): void {
    this.focus.value = TAB;
    this.channel.ask({ type: "send_back", proposal, why });
  }

  compare(one: string, other: string): void {
    this.channel.ask({ type: "compare", one, other });
  }

  save(why: string): void {
    this.saving.value = true;
    this.channel.ask({ type: "save", why, choices: this.choices.value });
  }

  /* ---- what the kernel says ---- */

  private heard(answer: Answer, question: Question | undefined): void {
    if (question?.type === "step") this.arrived(question.step);
    if (question?.type === "keep") this.typed.answered();
    switch (answer.type) {
      case "welcome":
        return question ? this.heardWelcome(answer) : undefined;
      case "alike":
        return void (this.alike.value = answer.codes);
      case "quotes": {
        if (answer.code !== this.selected.value) return;
        const before = answer.first ? (this.quotes.value?.rows ?? []) : [];
        return void (this.quotes.value = { ...answer, rows: [...before.slice(0, answer.first), ...answer.rows] });
      }
      case "proposals":
        return void batch(() => {
          this.proposals.value = answer.rows;
          this.nProposals.value = answer.rows.filter(({ taken }) => taken === null).length;
        });
      case "sent_back":
        this.typed.drop(`proposal ${answer.proposal}`);
        this.say("Sent back; its coder sees why once the round is unblinded");
        this.lacking.look();
        return this.channel.ask({ type: "proposals" });
      case "theme":
      case "theme_cost":
      case "theme_proposed":
        this.lacking.heard(answer);
        return answer.type === "theme_proposed" ? this.proposed() : undefined;
      case "versions":
        return this.heardVersions(answer.versions);
      case "compare":
        return void (this.compared.value = answer);
      case "conflict":
        this.saving.value = false;
        return void (this.conflict.value = answer);
      case "saved_draft":
        return this.heardSaved(answer);
      case "sorting":
      case "sorted":
        if (this.sorter.unread.value) this.message.value = null;
        return question && this.sorter.heard(answer, question); // once: a busy kernel is asked twice
    }
  }

  private unanswered(question: Question, message: string): void {
    if (question.type === "step") this.arrived(question.step);
    if (question.type === "keep") this.typed.answered();
    if (question.type === "save") this.saving.value = false;
    if (question.type === "sort" || question.type === "sorting") this.sorter.unanswered(question);
    if (question.type === "theme" || question.type === "propose_theme" || question.type === "theme_chat") this.lacking.unanswered();
    this.message.value = message;
  }

  private told(told: Told): void {
    if (told.type === "draft") this.heardDraft(told);
    else if (told.type === "preview") this.preview.value = told;
    else if (told.type === "unkept") this.message.value = `The draft is in this page alone. ${told.message}`;
    else if (told.type === "lacking") this.lacking.told(told);
    else if (told.type === "theme_drafted") {
      this.lacking.drafted(told.theme);
      this.proposed();
    } else if (told.type === "lacking_failed") {
      this.lacking.failed();
      this.message.value = told.message;
    } else if (told.type === "uncounted") this.uncounted.value = told.message;
    else if (told.type === "figures") {
      batch(() => {
        this.figures.value = told.figures;
        this.nProposals.value = told.n_proposals;
        this.uncounted.value = "";
      });
      if (this.selected.value !== null) this.askQuotes(0);
    }
  }

  /** A theme is among the proposals now. */
  private proposed(): void {
    this.say("It is among the proposals");
    if (this.tab.value === "proposals") this.focus.value = TAB;
    this.channel.ask({ type: "proposals", fresh: true });
  }

  private heardWelcome(welcome: Welcome): void {
    const kept = drafts().get(welcome.outbox);
    batch(() => {
      this.outbox = welcome.outbox;
      this.coder.value = welcome.coder;
      this.show(welcome);
      this.selected.value ??= welcome.codes[0]?.id ?? null;
      this.takeUp(kept?.typed ?? welcome.typed); // what the page kept is later: the kernel may have died meanwhile
      if (welcome.n_lost) this.message.value = `${welcome.n_lost} of the steps that were kept cannot be taken any more, and are left out.`;
    });
    this.welcomed = true;
    this.askQuotes(0);
    if (kept && isFurther(kept, welcome)) this.restore(kept);
  }

  /** Go on with what was typed and not sent: the form is open again, or the code whose field it was. */
  private takeUp(typed: Readonly<Record<string, string>>): void {
    const names = Object.keys(typed);
    if (!names.length) return;
    this.typed.take(typed);
    const [what, code] = (names.find((name) => /^(field|split) /.test(name)) ?? "").split(" ");
    if (code && this.codes.value.some(({ id }) => id === code)) this.selected.value = code;
    this.form.value = names.some((name) => name.startsWith("add ")) ? "add" : what === "split" ? "split" : null;
    this.say("What was begun to be written is here again");
  }

  /** Hand the kernel the steps that an earlier one had. */
  private restore({ base, steps, undone, pending }: Kept): void {
    const all = [...steps, ...pending];
    this.channel.ask({ type: "restore", base, steps: all, undone: pending.length ? [] : undone });
    this.say(`${all.length} steps of the draft were taken over`);
  }

  private heardDraft(draft: Draft): void {
    const before = new Set(this.codes.value.map(({ id }) => id));
    const [added, ...more] = draft.codes.filter(({ id }) => !before.has(id));
    batch(() => {
      this.show(draft);
      this.saved.value = draft.steps.length ? null : this.saved.value;
      if (added && !more.length && before.size) this.selected.value = added.id;
      if (!this.code.value) this.selected.value = draft.codes[0]?.id ?? null;
    });
    this.typed.drop(...Object.keys(draft.taken).map((proposal) => `proposal ${proposal}`));
    this.keep();
    if (this.tab.value === "proposals") this.channel.ask({ type: "proposals" });
  }

  private show(draft: Draft): void {
    this.draft.value = draft;
    this.book.codebook.value = { title: draft.title, version: "", facets: [], codes: draft.codes };
  }

  private heardVersions(versions: Version[]): void {
    this.versions.value = versions;
    const [last] = versions;
    if (!this.compared.value && last) this.compare(last.base ?? last.version, last.base === null ? "draft" : last.version);
  }

  private heardSaved(saved: Saved): void {
    batch(() => {
      this.saving.value = false;
      this.conflict.value = null;
      this.choices.value = {};
      this.typed.drop("why");
      this.saved.value = saved;
      this.focus.value = ".s7-tree";
      this.message.value = saved.unanswered ? "The codebook is saved; what became of the proposals could not be written. Take them once more." : null;
    });
    this.say("Saved");
  }

  /** A step was answered, either way. */
  private arrived(step: Step): void {
    this.pending.value = this.pending.value.filter((one) => one !== step);
    this.keep();
  }

  /** Keep the draft for the kernel that comes after this one. */
  private keep(): void {
    const [draft, pending] = [this.draft.value, this.pending.value];
    if (!this.welcomed || !draft) return;
    // That nothing is typed any more is kept, too: a kernel that died may not have heard of it.
    if (draft.steps.length || draft.undone.length || pending.length || this.typed.isTouched) {
      drafts().set(this.outbox, { base: draft.base, steps: draft.steps, undone: draft.undone, pending, typed: this.typed.words.peek() });
    } else drafts().delete(this.outbox);
  }
}

/** Whether a kept draft goes on where the kernel's ends. */
function isFurther({ base, steps, pending }: Kept, draft: Draft): boolean {
  const all = [...steps, ...pending];
  const begins = draft.steps.every((step, n) => JSON.stringify(step) === JSON.stringify(all[n]));
  return begins && all.length > draft.steps.length && (draft.steps.length === 0 || draft.base === base);
}
