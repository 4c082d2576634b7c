// The themes that no code covers: which is open, which of its texts are ticked, whether a language model may
// read them.
import { batch, signal } from "@preact/signals";
import type { Answers, Tellings, Unanswered } from "../shared/session";
import type { ThemeText } from "../shared/protocol";
import { TickedTexts } from "../shared/ticked";
import type { Answer, Lacking, Question, Told } from "./messages";

const TICKED = 2;

export class LackingThemes extends TickedTexts {
  readonly found = signal<Lacking | null>(null);
  readonly open = signal<number | null>(null);
  readonly quotes = signal<readonly ThemeText[]>([]);

  readonly answers: Answers<Answer, Question> = {
    theme: answer => this.#opened(answer),
    theme_cost: ({ theme, words }) => {
      if (theme === this.open.value) this.cost.value = words;
    },
  };
  readonly unanswered: Unanswered<Question> = {
    theme: () => this.#refused(),
    propose_theme: () => this.#refused(),
    theme_chat: () => this.#refused(),
  };
  readonly told: Tellings<Told> = { lacking: told => this.#heardLacking(told) };

  constructor(private readonly question: (question: Question) => void) {
    super();
  }

  protected get theme(): number | null {
    return this.open.value;
  }

  protected ask(what: "cost" | "chat", theme: number, units: string[]): void {
    this.question(
      what === "cost"
        ? { type: "theme_cost", theme, units }
        : { type: "theme_chat", theme, units, consent: true },
    );
  }

  look(): void {
    this.question({ type: "lacking" });
  }

  /** Open a theme, or close the one that is open. */
  toggle(theme: number): void {
    const opens = this.open.value !== theme;
    batch(() => {
      this.open.value = opens ? theme : null;
      this.quotes.value = [];
      this.forgetCost();
    });
    if (opens) this.question({ type: "theme", theme });
  }

  propose(): void {
    const theme = this.open.value;
    if (theme === null || !this.ticked.value.size || this.sending.value) return;
    this.sending.value = true;
    this.question({ type: "propose_theme", theme, units: [...this.ticked.value] });
  }

  #opened({ theme, quotes }: { theme: number; quotes: ThemeText[] }): void {
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
      if (found) this.found.value = { ...found, rows: found.rows.filter(row => row.theme !== theme) };
    });
  }

  #heardLacking(found: Lacking): void {
    batch(() => {
      this.found.value = found;
      if (!found.rows.some(({ theme }) => theme === this.open.value)) this.open.value = null;
    });
  }

  /** A question has no answer: the theme may be another meanwhile. */
  #refused(): void {
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
}
