// What one open view of the codebook widget shows, and what the lead can do in it.
import { batch, computed, signal } from "@preact/signals";
import type { Model } from "../shared/channel";
import { WidgetSession } from "../shared/session";
import { kept } from "../shared/keeper";
import type { AlikeCode } from "../shared/protocol";
import type {
  Answer,
  Choice,
  Compare,
  Conflict,
  Draft,
  DraftCode,
  Figures,
  MeaningKind,
  Preview,
  Proposal,
  Question,
  Quotes,
  Saved,
  Sorting,
  Step,
  Told,
  Version,
  Welcome,
} from "./messages";
import { dropped, isWithin, moved, type Drop, type Place, type Way } from "./moving";
import { LackingThemes } from "./lackingthemes";
import { Sorter } from "./sorter";
import { Typed } from "./typed";
import { placeIn } from "../shared/words";

/** The tab that is open: what had the focus may be gone once the kernel has answered. */
export const TAB = '.s7-side-tabs [aria-pressed="true"]';

interface Kept {
  base: string;
  steps: readonly Step[];
  undone: readonly Step[];
  /** Asked for, and not answered yet. */
  pending: readonly Step[];
  /** What is typed and is no step yet. */
  typed: Readonly<Record<string, string>>;
}

/** Drafts by the work that they belong to. */
export const drafts = () => kept<Kept>("drafts");

/** Under this alpha no conclusion is supported (Krippendorff 2004, p. 241). */
const LEAST = 0.667;

export type Tab = "changes" | "proposals" | "sorting" | "versions";

/** One open view of the codebook widget. */
export class Session extends WidgetSession<Question, Answer, never, Told> {
  readonly draft = signal<Draft | null>(null);
  readonly codes = computed((): DraftCode[] => this.draft.value?.codes ?? []);
  /** The code whose fields are open. */
  readonly selected = signal<string | null>(null);
  readonly code = computed(() => this.codes.value.find(({ id }) => id === this.selected.value));
  readonly figures = signal<Record<string, Figures> | null>(null);
  /** What they rest on. */
  readonly basis = signal("");
  readonly preview = signal<Preview | null>(null);
  /** Why nothing could be counted. */
  readonly uncounted = signal("");
  readonly tab = signal<Tab>("changes");
  readonly quotes = signal<Quotes | null>(null);
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
  readonly alike = signal<AlikeCode[]>([]);
  readonly nProposals = signal(0);
  /** How many texts of split codes wait for their parts. */
  readonly nSplit = signal(0);
  readonly sorter = new Sorter(
    question => this.channel.ask(question),
    words => this.say(words),
    this.channel.slow,
  );
  readonly presses = this.sorter.presses;
  readonly lacking = new LackingThemes(question => this.channel.ask(question));
  readonly typed = new Typed(
    typed => this.channel.ask({ type: "keep", typed }, false),
    () => this.#keep(),
  );
  /** Steps that are on their way. */
  readonly pending = signal<readonly Step[]>([]);
  #work = "";
  /** Whether the kernel has been heard: before that, what a page kept of a draft is left alone. */
  #welcomed = false;

  constructor(model: Model) {
    super(model);
    const stepped = ({ step }: { step: Step }) => this.#arrived(step);
    this.hear(this.typed, this.sorter, this.lacking, {
      answers: {
        welcome: (answer, question) => question && this.#heardWelcome(answer),
        changed: (_, question) => question?.type === "step" && stepped(question),
        alike: ({ codes }) => void (this.alike.value = codes),
        quotes: answer => this.#heardQuotes(answer),
        proposals: ({ rows }) =>
          batch(() => {
            this.proposals.value = rows;
            this.nProposals.value = rows.filter(({ taken }) => taken === null).length;
          }),
        sent_back: ({ proposal }) => {
          this.typed.drop(`proposal ${proposal}`);
          this.say("Sent back; its coder sees the reason in the inbox");
          this.lacking.look();
          this.channel.ask({ type: "proposals" });
        },
        theme_proposed: ({ theme }) => this.#proposed(theme),
        versions: ({ versions }) => this.#heardVersions(versions),
        compare: answer => void (this.compared.value = answer),
        conflict: answer => {
          this.saving.value = false;
          this.conflict.value = answer;
        },
        saved_draft: answer => this.#heardSaved(answer),
        sorting: (answer, question) => this.#heardSorting(answer, question),
        sorted: (answer, question) => this.#heardSorting(answer, question),
      },
      unanswered: {
        step: stepped,
        save: () => void (this.saving.value = false),
      },
      told: {
        draft: told => this.#heardDraft(told),
        preview: told => void (this.preview.value = told),
        unkept: ({ message }) =>
          void (this.message.value = `The draft is kept in this page only. ${message}`),
        theme_drafted: ({ theme }) => this.#proposed(theme),
        lacking_failed: ({ message }) => {
          this.lacking.failed();
          this.message.value = message;
        },
        uncounted: ({ message }) => void (this.uncounted.value = message),
        figures: ({ figures, words, n_proposals, n_split }) => {
          batch(() => {
            this.figures.value = figures;
            this.basis.value = words;
            this.nProposals.value = n_proposals;
            this.nSplit.value = n_split;
            this.uncounted.value = "";
          });
          if (this.selected.value !== null) this.askQuotes(0);
        },
      },
    });
    this.channel.ask({ type: "hello" });
  }

  override close(): void {
    this.#keep();
    super.close();
  }

  override get isUnsaved(): boolean {
    return (this.draft.value?.steps.length ?? 0) > 0 || this.pending.value.length > 0;
  }

  /* ---- what the lead does ---- */

  step(step: Step): void {
    this.pending.value = [...this.pending.value, step];
    this.#keep();
    this.channel.ask({ type: "step", step });
  }

  edit(code: string, values: Record<string, unknown>): void {
    this.step({ do: "edit", code, values });
  }

  /** Say what the change of a code does to its meaning, with the reason that is typed. */
  mean(code: string, kind: MeaningKind): void {
    this.step({ do: "mean", code, kind, why: this.whyMeant(code) });
  }

  whyMeant(code: string): string {
    return this.typed.of(`mean ${code} why`) ?? this.draft.value?.meaning[code]?.why ?? "";
  }

  /** A code with a claim about its meaning that has no reason. */
  get unexplained(): string | undefined {
    const meaning = this.draft.value?.meaning ?? {};
    return this.preview.value?.prices.find(
      ({ code }) => (meaning[code]?.kind ?? "redefine") !== "redefine" && !this.whyMeant(code).trim(),
    )?.label;
  }

  move(way: Way): void {
    const [id, code] = [this.selected.value, this.code.value];
    const place = id === null ? null : moved(this.codes.value, id, way);
    if (!id || !code || !place) return this.say("It cannot move there");
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
    this.say(`${this.codes.value.find(code => code.id === id)!.label}: moved`);
  }

  /** Open a form, in the middle. */
  begin(form: "add" | "split" | "merge"): void {
    if (form !== "add" && !this.code.value?.codable) return this.say("This code only groups others");
    batch(() => {
      if (this.tab.value === "sorting" || this.tab.value === "versions") this.tab.value = "changes";
      this.form.value = form;
      this.alike.value = [];
      this.focus.value = ".s7-form .s7-first";
    });
  }

  /** The form is done with; what is typed in it goes. */
  endForm(): void {
    if (this.form.value)
      this.typed.drop(this.form.value === "split" ? `split ${this.selected.value}` : this.form.value);
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

  /** Codes on which coders agree too little for any conclusion, the lowest alpha first. */
  get weak(): DraftCode[] {
    const alpha = ({ id }: DraftCode) => this.figures.value?.[id]?.value ?? 1;
    return this.codes.value
      .filter(code => alpha(code) < LEAST)
      .sort((one, other) => alpha(one) - alpha(other));
  }

  /** Go to the first code whose label or id has these words. */
  findCode(words: string): void {
    const wanted = words.trim().toLowerCase();
    const found =
      wanted && this.codes.value.find(({ id, label }) => `${label} ${id}`.toLowerCase().includes(wanted));
    if (!found) return void (wanted && this.say("No code is called so"));
    for (let up = found.parent; up; up = this.codes.value.find(({ id }) => id === up)?.parent ?? null)
      this.book.fold([up], false);
    this.select(found.id);
  }

  /** Go along the tree. */
  go(by: number): void {
    const rows = this.book.rows.value;
    const at = rows.findIndex(({ code }) => code.id === this.selected.value);
    const to = rows[placeIn(rows.length, at + by)];
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
    if (code !== null)
      this.channel.ask({ type: "quotes", code, find: this.find.value, coder: this.ofCoder.value, first });
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

  #heardQuotes(answer: Quotes): void {
    if (answer.code !== this.selected.value) return;
    const before = answer.first ? (this.quotes.value?.rows ?? []) : [];
    this.quotes.value = { ...answer, rows: [...before.slice(0, answer.first), ...answer.rows] };
  }

  #heardSorting(answer: Sorting | { type: "sorted"; n: number }, question: Question | undefined): void {
    if (this.sorter.unread.value) this.message.value = null;
    if (question) this.sorter.heard(answer, question); // once: a busy kernel is asked twice
  }

  /** A theme is among the proposals now. */
  #proposed(theme: number): void {
    this.lacking.drafted(theme);
    this.say("Added to the proposals");
    if (this.tab.value === "proposals") this.focus.value = TAB;
    this.channel.ask({ type: "proposals", fresh: true });
  }

  #heardWelcome(welcome: Welcome): void {
    const before = drafts().get(welcome.work_id);
    batch(() => {
      this.#work = welcome.work_id;
      this.coder.value = welcome.coder;
      this.#show(welcome);
      this.selected.value ??= welcome.codes[0]?.id ?? null;
      this.#takeUp(before?.typed ?? welcome.typed); // what the page kept is later: the kernel may have died meanwhile
      if (welcome.n_lost)
        this.message.value = `${welcome.n_lost} steps of the kept draft no longer work and were left out.`;
    });
    this.#welcomed = true;
    this.askQuotes(0);
    if (before && isFurther(before, welcome)) this.#restore(before);
  }

  /** Go on with what was typed and not sent: the form is open again, or the code whose field it was. */
  #takeUp(typed: Readonly<Record<string, string>>): void {
    const names = Object.keys(typed);
    if (!names.length) return;
    this.typed.take(typed);
    const [what, code] = (names.find(name => /^(field|split) /.test(name)) ?? "").split(" ");
    if (code && this.codes.value.some(({ id }) => id === code)) this.selected.value = code;
    this.form.value = names.some(name => name.startsWith("add ")) ? "add" : what === "split" ? "split" : null;
    this.say("Your unsaved text is back");
  }

  /** Hand the kernel the steps that an earlier one had. */
  #restore({ base, steps, undone, pending }: Kept): void {
    const all = [...steps, ...pending];
    this.channel.ask({ type: "restore", base, steps: all, undone: pending.length ? [] : undone });
    this.say(`${all.length} steps of the draft were restored`);
  }

  #heardDraft(draft: Draft): void {
    const before = new Set(this.codes.value.map(({ id }) => id));
    const [added, ...more] = draft.codes.filter(({ id }) => !before.has(id));
    batch(() => {
      this.#show(draft);
      this.saved.value = draft.steps.length ? null : this.saved.value;
      if (added && !more.length && before.size) this.selected.value = added.id;
      if (!this.code.value) this.selected.value = draft.codes[0]?.id ?? null;
    });
    this.typed.drop(...Object.keys(draft.taken).map(proposal => `proposal ${proposal}`));
    this.#keep();
    if (this.tab.value === "proposals") this.channel.ask({ type: "proposals" });
  }

  #show(draft: Draft): void {
    this.draft.value = draft;
    this.book.codebook.value = { title: draft.title, version: "", facets: [], codes: draft.codes };
  }

  #heardVersions(versions: Version[]): void {
    this.versions.value = versions;
    const [last] = versions;
    if (!this.compared.value && last)
      this.compare(last.base ?? last.version, last.base === null ? "draft" : last.version);
  }

  #heardSaved(saved: Saved): void {
    batch(() => {
      this.saving.value = false;
      this.conflict.value = null;
      this.choices.value = {};
      this.typed.drop("why", "mean");
      this.saved.value = saved;
      this.focus.value = ".s7-tree";
      this.message.value = saved.unanswered
        ? "The codebook is saved, but the answers to the proposals were not. Take the proposals again."
        : null;
    });
    this.say("Saved");
  }

  /** A step was answered, either way. */
  #arrived(step: Step): void {
    this.pending.value = this.pending.value.filter(one => one !== step);
    this.#keep();
  }

  /** Keep the draft for the kernel that comes after this one. */
  #keep(): void {
    const [draft, pending] = [this.draft.value, this.pending.value];
    if (!this.#welcomed || !draft) return;
    // That nothing is typed any more is kept, too: a kernel that died may not have heard of it.
    if (draft.steps.length || draft.undone.length || pending.length || this.typed.isTouched) {
      drafts().set(this.#work, {
        base: draft.base,
        steps: draft.steps,
        undone: draft.undone,
        pending,
        typed: this.typed.words.peek(),
      });
    } else drafts().delete(this.#work);
  }
}

/** Whether a kept draft goes on where the kernel's ends. */
function isFurther({ base, steps, pending }: Kept, draft: Draft): boolean {
  const all = [...steps, ...pending];
  const begins = draft.steps.every((step, n) => JSON.stringify(step) === JSON.stringify(all[n]));
  return begins && all.length > draft.steps.length && (draft.steps.length === 0 || draft.base === base);
}
