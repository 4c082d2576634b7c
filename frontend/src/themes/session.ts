// What one open view of the themes widget shows, and what a person can do in it.
import { batch, computed, signal } from "@preact/signals";
import type { Model } from "../shared/channel";
import { WidgetSession } from "../shared/session";
import { dark } from "../shared/theme";
import { Coding } from "./coding";
import type {
  Answer,
  Done,
  Going,
  Places,
  Question,
  Quotes,
  Ran,
  SelectedRow,
  Theme,
  Themes,
  Told,
} from "./messages";
import { placeIn } from "../shared/words";

export type Form = "name" | "merge" | "split" | "code" | "run" | null;

/** What gets the focus in a form. */
const FIRST = ".s7-form .s7-first";

const SAID: Record<string, string> = {
  name: "Named",
  merge_into: "Merged",
  parts: "Split",
  dismissed: "Done",
  undo: "Undone",
  record: "Themes recorded",
  code: "Code added to the codebook",
  propose: "Added to the proposals in the codebook widget",
};

export class Session extends WidgetSession<Question, Answer, Done, Told> {
  readonly presses = this.queue();
  readonly embeds = signal(false);
  readonly chats = signal(false);
  readonly themes = signal<Themes | null>(null);
  readonly rows = computed((): readonly Theme[] => this.themes.value?.rows ?? []);
  /** The theme that is open. */
  readonly open = signal<number | null>(null);
  readonly theme = computed(() => this.rows.value.find(({ theme }) => theme === this.open.value));
  readonly quotes = signal<Quotes | null>(null);
  readonly form = signal<Form>(null);
  readonly coding = new Coding(
    question => this.channel.ask(question),
    act => this.push(act),
  );
  /** How far the run is, and the map. */
  readonly running = signal<Going | null>(null);
  readonly mapping = signal<Going | null>(null);
  readonly ran = signal<Ran | null>(null);
  readonly places = signal<Places | null>(null);
  /** By what the map is coloured: "" for themes, or a code. */
  readonly by = signal("");
  readonly colours = signal<readonly number[]>([]);
  /** The colours of themes, on the map and in the list. */
  readonly palette = computed(() =>
    (this.themes.value?.palette ?? []).map(({ light, dark: other }) => (dark.value ? other : light)),
  );
  /** Which texts are selected, by their place on the map. */
  readonly lassoed = signal<ReadonlySet<number>>(new Set());
  readonly nSelected = signal(0);
  readonly selected = signal<readonly SelectedRow[]>([]);

  constructor(model: Model) {
    super(model);
    this.hear(this.coding, {
      answers: {
        welcome: answer => this.#heardWelcome(answer),
        quotes: answer => {
          if (answer.theme === this.open.value) this.quotes.value = answer;
        },
        map: answer => {
          this.places.value = answer.x.length ? answer : null;
          this.colour(this.by.value);
        },
        colours: ({ by, values }) => {
          if (by === this.by.value) this.colours.value = values;
        },
        chosen: ({ n }) => {
          batch(() => {
            this.nSelected.value = n;
            this.selected.value = [];
          });
          this.say(`${n} ${n === 1 ? "text" : "texts"} selected`);
          this.more();
        },
        selected: ({ first, n, rows }, question) => {
          if (question?.type === "selected" && first === this.selected.value.length)
            this.selected.value = [...this.selected.value, ...rows];
          this.nSelected.value = n;
        },
        draft: answer => {
          this.coding.heardDraft(answer);
          if (this.form.value === "code") this.focus.value = FIRST;
        },
      },
      told: {
        themes: told => this.#heardThemes(told),
        running: told => void (this.running.value = told),
        mapping: told => void (this.mapping.value = told),
        mapped: () => {
          this.mapping.value = null;
          this.channel.ask({ type: "map" });
        },
        ran: told =>
          batch(() => {
            this.running.value = null;
            this.ran.value = told;
            this.form.value = "run";
          }),
        undone: ({ what, message }) =>
          batch(() => {
            if (what === "run") this.running.value = null;
            if (what === "map") this.mapping.value = null;
            this.coding.asking.value = false;
            this.message.value = message;
          }),
      },
    });
    this.channel.ask({ type: "hello" });
  }

  /** What the theme is called. */
  named(theme: number): string {
    return (
      this.rows.value.find(row => row.theme === theme)?.label ??
      (theme < 0 ? "in no theme" : `theme ${theme}`)
    );
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
    const to = rows[placeIn(rows.length, at + by)];
    if (to) this.show(to.theme);
  }

  /** Show the page of quotes that begins with the one at `first`. */
  page(first: number): void {
    if (this.open.value !== null) this.channel.ask({ type: "quotes", theme: this.open.value, first });
  }

  /* ---- what is done with a theme ---- */

  begin(form: Form): void {
    const theme = this.theme.value;
    if (form === "run" ? !this.embeds.value : !theme)
      return this.say(
        form === "run" ? "The widget was opened without an embedding model" : "Choose a theme first",
      );
    if (form === "merge" && this.rows.value.length < 2) return this.say("There is no other theme");
    batch(() => {
      this.form.value = form;
      if (form !== "code") this.focus.value = FIRST;
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
    this.push({ kind: "edit_theme", theme, what, value });
    this.endForm();
  }

  undo(): void {
    this.push({ kind: "undo" });
  }

  record(): void {
    this.push({ kind: "record_themes" });
  }

  /* ---- runs ---- */

  run(granularity: number | null, expected: boolean): void {
    batch(() => {
      this.ran.value = null;
      this.running.value = { stage: "embed", done: 0, total: 0 };
    });
    this.channel.ask({ type: "run", granularity, expected });
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

  #heardWelcome(answer: Answer & { type: "welcome" }): void {
    batch(() => {
      this.coder.value = answer.coder;
      this.embeds.value = answer.embeds;
      this.chats.value = answer.chats;
    });
    this.channel.takeOver(answer.work_id);
    if (answer.mapped) this.channel.ask({ type: "map" });
  }

  protected override recorded(done: Done, { mine }: { mine: boolean }): void {
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

  protected override refused(message: string, unit_id: string | undefined, dropped: number): void {
    this.coding.sending.value = false;
    super.refused(message, unit_id, dropped);
  }

  #heardThemes(told: Themes): void {
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
