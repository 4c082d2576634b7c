// What one open view of the themes widget shows, and what a person can do in it.
import { batch, computed, signal } from "@preact/signals";
import { KernelChannel, type Model, type Reply } from "../shared/channel";
import { CodebookView } from "../shared/codebook";
import { uuid, type Act } from "../shared/protocol";
import { dark } from "../shared/theme";
import { Coding } from "./coding";
import type { Answer, Done, Going, Places, Question, Quotes, Ran, SelectedRow, Theme, Themes, Told } from "./messages";

export type Form = "name" | "merge" | "split" | "code" | "run" | null;

const SAID: Record<string, string> = {
  name: "Named",
  merge_into: "Merged",
  parts: "Split",
  dismissed: "Done",
  undo: "Taken back",
  record: "The themes are recorded",
  code: "The code is in the codebook",
  propose: "It waits among the proposals of the codebook widget",
};

export class Session {
  readonly channel: KernelChannel<Question, Answer, Done>;
  readonly book = new CodebookView();
  readonly coder = signal("");
  readonly embeds = signal(false);
  readonly chats = signal(false);
  readonly themes = signal<Themes | null>(null);
  readonly rows = computed((): readonly Theme[] => this.themes.value?.rows ?? []);
  /** The theme that is open. */
  readonly open = signal<number | null>(null);
  readonly theme = computed(() => this.rows.value.find(({ theme }) => theme === this.open.value));
  readonly quotes = signal<Quotes | null>(null);
  readonly form = signal<Form>(null);
  readonly coding: Coding;
  /** How far the run is, and the map. */
  readonly running = signal<Going | null>(null);
  readonly mapping = signal<Going | null>(null);
  readonly ran = signal<Ran | null>(null);
  readonly places = signal<Places | null>(null);
  /** By what the map is coloured: "" for themes, or a code. */
  readonly by = signal("");
  readonly colours = signal<readonly number[]>([]);
  /** The colours of themes, on the map and in the list. */
  readonly palette = computed(() => (this.themes.value?.palette ?? []).map(({ light, dark: other }) => (dark.value ? other : light)));
  /** Which texts are selected, by their place on the map. */
  readonly lassoed = signal<ReadonlySet<number>>(new Set());
  readonly nSelected = signal(0);
  readonly selected = signal<readonly SelectedRow[]>([]);
  readonly message = signal<string | null>(null);
  readonly announced = signal("");
  readonly showHelp = signal(false);
  /** What gets the focus once it is drawn. */
  readonly focus = signal<string | null>(null);

  constructor(model: Model) {
    this.channel = new KernelChannel(model, {
      answered: (answer, question) => this.heard(answer, question),
      unanswered: (_, message) => void (this.message.value = message),
      recorded: (done, { mine }) => this.heardDone(done, mine),
      refused: (message, _, dropped) => this.refused(message, dropped),
      unsaved: (message) => void (this.message.value = message),
      told: (reply) => this.told(reply as Reply & Told),
    });
    this.coding = new Coding((question) => this.channel.ask(question), (act) => this.act(act));
    this.channel.ask({ type: "hello" });
  }

  close(): void {
    this.coding.close();
    this.channel.close();
  }

  get outbox() {
    return this.channel.outbox;
  }

  say(words: string): void {
    this.announced.value = words;
  }

  label(theme: number): string {
    return this.rows.value.find((row) => row.theme === theme)?.label ?? (theme < 0 ? "in no theme" : `theme ${theme}`);
  }

  /* ---- the list ---- */

  show(theme: number): void {
    if (theme === this.open.value) return;
    batch(() => {
      this.open.value = theme;
      this.quotes.value = null;
      if (this.form.value !== "run") this.endForm(false);
    });
    this.page(0);
  }

  go(by: number): void {
    const rows = this.rows.value;
    const at = rows.findIndex(({ theme }) => theme === this.open.value);
    const to = rows[Math.max(0, Math.min(at + by, rows.length - 1))];
    if (to) this.show(to.theme);
  }

  /** Show the page of quotes that begins with the one at `first`. */
  page(first: number): void {
    if (this.open.value !== null) this.channel.ask({ type: "quotes", theme: this.open.value, first });
  }

  /* ---- what is done with a theme ---- */

  begin(form: Form): void {
    const theme = this.theme.value;
    if (form === "run" ? !this.embeds.value : !theme) return this.say(form === "run" ? "The widget was opened without a model" : "Choose a theme first");
    if (form === "merge" && this.rows.value.length < 2) return this.say("There is no other theme");
    batch(() => {
      this.form.value = form;
      this.focus.value = ".s7-form .s7-first";
    });
    if (form === "code") this.coding.begin(theme!.theme);
  }

  endForm(back = true): void {
    this.form.value = null;
    this.coding.end();
    if (back) this.focus.value = ".s7-theme-rows";
  }

  edit(what: "name" | "merge_into" | "parts" | "dismissed", value: string | number | boolean): void {
    const theme = this.open.value;
    if (theme === null) return;
    this.act({ kind: "edit_theme", theme, what, value });
    this.endForm();
  }

  undo(): void {
    this.act({ kind: "undo" });
  }

  record(): void {
    this.act({ kind: "record_themes" });
  }

  private act(act: Omit<Act, "id">): void {
    this.outbox.push({ id: uuid(), ...act });
  }

  /* ---- runs ---- */

  run(granularity: number | null): void {
    batch(() => {
      this.ran.value = null;
      this.running.value = { stage: "embed", done: 0, total: 0 };
    });
    this.channel.ask({ type: "run", granularity });
  }

  discard(): void {
    this.ran.value = null;
    this.channel.ask({ type: "discard" });
    this.endForm();
  }

  /* ---- the map ---- */

  colour(by: string): void {
    this.by.value = by;
    this.channel.ask({ type: "colours", by });
  }

  lasso(places: readonly number[]): void {
    this.lassoed.value = new Set(places);
    this.channel.ask({ type: "select", places: [...places] });
  }

  more(): void {
    this.channel.ask({ type: "selected", first: this.selected.value.length });
  }

  /* ---- what the kernel says ---- */

  private heard(answer: Answer, question: Question | undefined): void {
    switch (answer.type) {
      case "welcome":
        return this.heardWelcome(answer);
      case "quotes":
        if (answer.theme === this.open.value) this.quotes.value = answer;
        return;
      case "map":
        this.places.value = answer.x.length ? answer : null;
        return this.colour(this.by.value);
      case "colours":
        if (answer.by === this.by.value) this.colours.value = answer.values;
        return;
      case "chosen":
        batch(() => {
          this.nSelected.value = answer.n;
          this.selected.value = [];
        });
        this.say(`${answer.n} ${answer.n === 1 ? "text" : "texts"} selected`);
        return this.more();
      case "selected":
        if (question?.type === "selected" && answer.first === this.selected.value.length) this.selected.value = [...this.selected.value, ...answer.rows];
        return void (this.nSelected.value = answer.n);
      case "draft":
      case "alike":
      case "cost":
        return this.coding.heard(answer);
    }
  }

  private heardWelcome(answer: Answer & { type: "welcome" }): void {
    batch(() => {
      this.coder.value = answer.coder;
      this.embeds.value = answer.embeds;
      this.chats.value = answer.chats;
    });
    this.channel.takeOver(answer.outbox);
    if (answer.mapped) this.channel.ask({ type: "map" });
  }

  private heardDone(done: Done, mine: boolean): void {
    if (!mine) return;
    this.say(SAID[done.what] ?? "Done");
    if (done.kind === "record_themes") {
      this.ran.value = null;
      this.endForm();
    }
    if (done.kind !== "revise" && done.kind !== "propose") return;
    if (this.form.value === "code") this.endForm();
    else this.coding.forget(done.theme);
  }

  private refused(message: string, dropped: number): void {
    this.coding.sending.value = false;
    this.message.value = dropped ? `${message} (${dropped} more not done)` : message;
  }

  private told(told: Told): void {
    switch (told.type) {
      case "themes":
        return this.heardThemes(told);
      case "running":
        return void (this.running.value = told);
      case "mapping":
        return void (this.mapping.value = told);
      case "mapped":
        this.mapping.value = null;
        return this.channel.ask({ type: "map" });
      case "ran":
        return void batch(() => {
          this.running.value = null;
          this.ran.value = told;
          this.form.value = "run";
        });
      case "drafted":
        return this.coding.drafted(told);
      case "undone":
        return void batch(() => {
          if (told.what === "run") this.running.value = null;
          if (told.what === "map") this.mapping.value = null;
          this.coding.asking.value = false;
          this.message.value = told.message;
        });
    }
  }

  private heardThemes(told: Themes): void {
    const { title, codes } = told.book;
    batch(() => {
      this.themes.value = told;
      this.book.codebook.value = { title, version: "", facets: [], codes };
      if (!this.theme.value) {
        this.open.value = told.rows[0]?.theme ?? null;
        this.quotes.value = null;
        if (this.form.value !== "run") this.endForm(false);
      }
    });
    this.coding.base = told.base;
    if (this.open.value !== null) this.page(this.quotes.value?.first ?? 0);
    if (this.places.value) this.colour(this.by.value);
  }
}
