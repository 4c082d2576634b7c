// The themes that no code covers: which is open, which of its texts are ticked, whether a language model may read them.
import { batch, signal } from "@preact/signals";
import type { Answers, Tellings, Unanswered } from "../shared/session";
import type { Answer, Lacking, Question, ThemeQuote, Told } from "./messages";

const TICKED = 2;

export class LackingThemes {
  readonly found = signal<Lacking | null>(null);
  readonly open = signal<number | null>(null);
  readonly quotes = signal<readonly ThemeQuote[]>([]);
  readonly ticked = signal<ReadonlySet<string>>(new Set());
  /** What would be sent to the language model, in words, once that was asked. */
  readonly cost = signal("");
  readonly consented = signal(false);
  readonly asking = signal(false);
  /** Whether a proposal is on its way. */
  readonly sending = signal(false);

  readonly answers: Answers<Answer, Question> = {
    theme: (answer) => this.opened(answer),
    theme_cost: ({ theme, words }) => {
      if (theme === this.open.value) this.cost.value = words;
    },
  };
  readonly unanswered: Unanswered<Question> = { theme: () => this.refused(), propose_theme: () => this.refused(), theme_chat: () => this.refused() };
  readonly told: Tellings<Told> = { lacking: (told) => this.heardLacking(told) };

  constructor(private readonly ask: (question: Question) => void) {}

  look(): void {
    this.ask({ type: "lacking" });
  }

  /** Open a theme, or close the one that is open. */
  toggle(theme: number): void {
    const opens = this.open.value !== theme;
    batch(() => {
      this.open.value = opens ? theme : null;
      this.quotes.value = [];
      this.forget();
    });
    if (opens) this.ask({ type: "theme", theme });
  }

  /** Other texts are another question: what was agreed to holds no more. */
  tick(unit_id: string): void {
    const ticked = new Set(this.ticked.value);
    if (!ticked.delete(unit_id)) ticked.add(unit_id);
    const asked = this.cost.value !== "";
    batch(() => {
      this.ticked.value = ticked;
      this.forget();
    });
    if (asked && ticked.size) this.askCost();
  }

  propose(): void {
    const theme = this.open.value;
    if (theme === null || !this.ticked.value.size || this.sending.value) return;
    this.sending.value = true;
    this.ask({ type: "propose_theme", theme, units: [...this.ticked.value] });
  }

  askCost(): void {
    if (this.open.value !== null) this.ask({ type: "theme_cost", theme: this.open.value, units: [...this.ticked.value] });
  }

  askChat(): void {
    const theme = this.open.value;
    if (theme === null || !this.consented.value || this.asking.value) return;
    this.asking.value = true;
    this.ask({ type: "theme_chat", theme, units: [...this.ticked.value], consent: true });
  }

  private opened({ theme, quotes }: { theme: number; quotes: ThemeQuote[] }): void {
    if (theme !== this.open.value) return;
    batch(() => {
      this.quotes.value = quotes;
      this.ticked.value = new Set(quotes.slice(0, TICKED).map(({ unit_id }) => unit_id));
    });
  }

  /** A proposal was made of it: it is done with, and out of the list before the kernel has read it anew. */
  drafted(theme: number): void {
    const found = this.found.value;
    batch(() => {
      this.sending.value = this.asking.value = false;
      if (theme === this.open.value) this.toggle(theme);
      if (found) this.found.value = { ...found, rows: found.rows.filter((row) => row.theme !== theme) };
    });
  }

  private heardLacking(found: Lacking): void {
    batch(() => {
      this.found.value = found;
      if (!found.rows.some(({ theme }) => theme === this.open.value)) this.open.value = null;
    });
  }

  /** A question has no answer: the theme may be another meanwhile. */
  private refused(): void {
    batch(() => {
      this.sending.value = this.asking.value = false;
      if (!this.quotes.value.length) this.open.value = null;
    });
    this.look();
  }

  /** Reading the themes, or asking the language model, failed. */
  failed(): void {
    this.sending.value = this.asking.value = false;
  }

  private forget(): void {
    this.cost.value = "";
    this.consented.value = false;
  }
}
