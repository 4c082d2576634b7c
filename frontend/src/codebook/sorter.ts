// Going through the texts of a code that was split: which parts each of them belongs to.
import { batch, computed, signal, type ReadonlySignal } from "@preact/signals";
import type { Unanswered } from "../shared/session";
import { PressQueue } from "../shared/pressqueue";
import type { Question, Sorting } from "./messages";

export class Sorter {
  readonly found = signal<Sorting | null>(null);
  readonly find = signal("");
  /** Texts of this theme alone; null: of all. */
  readonly theme = signal<number | null>(null);
  /** The text on screen, by its place among those found. */
  readonly at = signal(0);
  readonly chosen = signal<readonly string[]>([]);
  /** From when a text is sorted until those that are left are on screen. */
  readonly busy = signal(false);
  #saving = false;
  /** The texts that were asked for last: what others were asked for before is no longer meant. */
  #last: Extract<Question, { type: "sorting" }> | null = null;
  /** Whether other texts were asked for and are not there yet. */
  readonly looking = signal(false);
  /** Whether those could not be read. */
  readonly unread = signal(false);
  readonly isChosen = computed(() => this.find.value.trim() !== "" || this.theme.value !== null);
  readonly row = computed(() => {
    if (this.unread.value) return undefined;
    const found = this.found.value;
    return found?.rows[this.at.value - found.first];
  });

  readonly presses: PressQueue;
  readonly unanswered: Unanswered<Question> = {
    sort: question => this.#failed(question),
    sorting: question => this.#failed(question),
  };

  /** `slow`: whether the kernel takes longer than usual to answer. */
  constructor(
    private readonly ask: (question: Question) => void,
    private readonly say: (words: string) => void,
    slow: ReadonlySignal<boolean>,
  ) {
    // Keys wait for the next text, not for texts that a search or another theme brings: nobody has seen
    // those.
    this.presses = new PressQueue(this.busy, slow, () => this.row.value?.unit_id, say);
  }

  /** `fresh`: the record may have changed meanwhile. */
  begin(code: string | null = this.found.value?.code ?? null, fresh = false): void {
    if (code !== (this.found.value?.code ?? null)) this.theme.value = null;
    this.chosen.value = [];
    this.looking.value = true;
    this.#askFrom(0, code, fresh);
  }

  look(find: string): void {
    this.find.value = find;
    this.begin();
  }

  ofTheme(theme: number | null): void {
    this.theme.value = theme;
    this.begin();
  }

  /** The next theme, or the one before; after the last one all texts. */
  turnTheme(by: number): void {
    const themes = this.found.value?.themes ?? [];
    if (!themes.length) return this.say("The study has no recorded themes");
    const all = [null, ...themes.map(({ theme }) => theme)];
    this.ofTheme(all[(all.indexOf(this.theme.value) + by + all.length) % all.length]!);
    const now = themes.find(({ theme }) => theme === this.theme.value);
    this.say(now ? `${now.label || "In no theme"}: ${now.n}` : "All texts");
  }

  #askFrom(first: number, code: string | null = this.found.value?.code ?? null, fresh = false): void {
    this.unread.value = false;
    this.#last = { type: "sorting", code, find: this.find.value, theme: this.theme.value, first, fresh };
    this.ask(this.#last);
  }

  heard(answer: Sorting | { type: "sorted"; n: number }, question: Question): void {
    if (answer.type === "sorted") {
      this.#saving = false;
      this.say(answer.n ? `${answer.n} ${answer.n === 1 ? "text" : "texts"} sorted` : "Undone");
      return this.#askFrom(Math.max(0, this.at.value - 5));
    }
    if (question !== this.#last) return;
    const gone = this.theme.value !== null && !answer.themes.some(({ theme }) => theme === this.theme.value);
    if (gone) return this.ofTheme(null); // themes were recorded anew, or this one was dismissed
    const seen = this.row.value?.unit_id;
    batch(() => {
      this.looking.value = false;
      this.busy.value = this.#saving;
      this.found.value = answer;
      this.at.value = Math.max(answer.first, Math.min(this.at.value, answer.n - 1));
    });
    // What was chosen was said of the text that was on screen.
    if (this.row.value?.unit_id !== seen) this.chosen.value = [];
  }

  toggle(part: string): void {
    const chosen = this.chosen.value;
    this.chosen.value = chosen.includes(part) ? chosen.filter(one => one !== part) : [...chosen, part];
  }

  step(by: number): void {
    const found = this.found.value;
    if (!found) return;
    const to = Math.max(0, Math.min(this.at.value + by, found.n - 1));
    batch(() => {
      this.at.value = to;
      this.chosen.value = [];
    });
    if (!this.row.value) this.#askFrom(Math.max(0, to - 5));
  }

  /** Say it of the text on screen, or of all that were found. */
  sort(all: boolean, none = false): void {
    if (this.unread.value) return this.readAgain();
    const [found, row] = [this.found.value, this.row.value];
    if (!found?.code || !row) return;
    if (this.busy.value) return this.say("Still saving the previous text");
    if (this.looking.value) return this.say("Still looking for these texts");
    if (!this.chosen.value.length && !none) return this.say("Choose a part first, or “None of them”");
    this.busy.value = this.#saving = true;
    this.ask({
      type: "sort",
      code: found.code,
      units: all ? found.ids : [row.unit_id],
      parts: none ? [] : this.chosen.value,
    });
    this.chosen.value = [];
  }

  readAgain(): void {
    const { code, first, fresh } = this.#last!;
    this.say("Loading these texts again");
    this.#askFrom(first, code, fresh);
  }

  undo(): void {
    if (this.found.value?.can_undo) this.ask({ type: "unsort" });
  }

  /**
   * Do what a key means here, once the text that it is meant for is on screen; false where it means nothing.
   */
  press(key: string, shift = false): boolean {
    const action = this.#meant(key, shift);
    if (action) this.presses.inTurn(action);
    return action !== null;
  }

  #meant(key: string, shift: boolean): (() => void) | null {
    const part = /^[1-9]$/.test(key) ? this.found.value?.parts[Number(key) - 1] : undefined;
    if (part) return () => this.toggle(part.id);
    const keys: Record<string, () => void> = {
      Enter: () =>
        !shift
          ? this.sort(false)
          : this.isChosen.value
            ? this.sort(true)
            : this.say("Choose a theme or search first"),
      t: () => this.turnTheme(1),
      T: () => this.turnTheme(-1),
      "0": () => this.sort(false, true),
      ArrowRight: () => this.step(1),
      ArrowDown: () => this.step(1),
      ArrowLeft: () => this.step(-1),
      ArrowUp: () => this.step(-1),
      z: () => this.undo(),
    };
    return keys[key] ?? null;
  }

  /** A question has no answer: nothing is sorted until what is on screen is what was asked for last. */
  #failed(question: Question): void {
    if (question.type === "sort") this.#saving = this.busy.value = false;
    if (question !== this.#last) return;
    if (this.presses.waiting.value.length) this.presses.drop(0);
    this.unread.value = this.looking.value = true;
    this.busy.value = this.#saving;
  }
}
