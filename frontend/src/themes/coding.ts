// The code that is being made of a theme: its draft, the quotes that are ticked, and what is like it.
import { batch, signal } from "@preact/signals";
import type { Answers, Tellings } from "../shared/session";
import type { Act, AlikeCode } from "../shared/protocol";
import { TickedTexts } from "../shared/ticked";
import type { Answer, Draft, Question, Told } from "./messages";

const PAUSE_MS = 250;

export class Coding extends TickedTexts {
  readonly draft = signal<Draft | null>(null);
  readonly label = signal("");
  readonly definition = signal("");
  readonly alike = signal<readonly AlikeCode[]>([]);
  readonly note = signal("");
  readonly byChat = signal(false);
  base = "";
  /** What was written for a theme and not saved: it outlives the form. */
  readonly #kept = new Map<
    number,
    { label: string; definition: string; ticked: ReadonlySet<string>; byChat: boolean }
  >();
  #timer: ReturnType<typeof setTimeout> | undefined;

  readonly answers: Answers<Answer, Question> = {
    alike: ({ codes, note }) =>
      batch(() => {
        this.alike.value = codes;
        this.note.value = note;
      }),
    cost: ({ words }) => void (this.cost.value = words),
  };
  readonly told: Tellings<Told> = { drafted: told => this.#drafted(told) };

  constructor(
    private readonly question: (question: Question) => void,
    private readonly act: (act: Omit<Act, "id">) => void,
  ) {
    super();
  }

  protected get theme(): number | null {
    return this.draft.value?.theme ?? null;
  }

  protected ask(what: "cost" | "chat", theme: number, units: string[]): void {
    this.question(
      what === "cost" ? { type: "cost", theme, units } : { type: "ask_chat", theme, units, consent: true },
    );
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  begin(theme: number): void {
    this.question({ type: "draft", theme });
  }

  /** The form is closed; what was written stays for when it is opened again. */
  end(): void {
    const draft = this.draft.value;
    if (draft && !this.sending.value) {
      this.#kept.set(draft.theme, {
        label: this.label.value,
        definition: this.definition.value,
        ticked: this.ticked.value,
        byChat: this.byChat.value,
      });
    }
    if (draft && this.sending.value) this.#kept.delete(draft.theme);
    clearTimeout(this.#timer);
    batch(() => {
      this.draft.value = null;
      this.sending.value = this.asking.value = false;
      this.note.value = "";
      this.forgetCost();
    });
  }

  forget(theme: number): void {
    this.#kept.delete(theme);
  }

  write(label: string, definition: string): void {
    batch(() => {
      this.label.value = label;
      this.definition.value = definition;
    });
    this.look(false);
  }

  /** Ask what is like it, by words while it is typed, by meaning once the field is left. */
  look(meaning: boolean): void {
    clearTimeout(this.#timer);
    const [label, definition] = [this.label.value, this.definition.value];
    if (!label.trim()) return void (this.alike.value = []);
    this.#timer = setTimeout(
      () => this.question({ type: "alike", label, definition, meaning }),
      meaning ? 0 : PAUSE_MS,
    );
  }

  #drafted({ theme, label, definition }: { theme: number; label: string; definition: string }): void {
    if (this.draft.value?.theme !== theme || !this.asking.value) return;
    batch(() => {
      this.asking.value = this.consented.value = false;
      this.byChat.value = true;
    });
    this.write(label, definition);
  }

  /** Make the code, or propose it; the form stays until it is saved. */
  send(kind: "revise" | "propose" = "revise"): void {
    const draft = this.draft.value;
    if (!draft || this.sending.value || !this.label.value.trim()) return;
    this.sending.value = true;
    const act = {
      kind,
      theme: draft.theme,
      label: this.label.value.trim(),
      definition: this.definition.value.trim(),
    };
    this.act({ ...act, units: [...this.ticked.value], base: this.base, by_chat: this.byChat.value });
  }

  heardDraft(answer: Draft): void {
    const kept = this.#kept.get(answer.theme);
    batch(() => {
      this.draft.value = answer;
      this.label.value = kept?.label ?? answer.label;
      this.definition.value = kept?.definition ?? answer.definition;
      this.byChat.value = kept?.byChat ?? false;
      this.ticked.value = kept?.ticked ?? new Set(answer.quotes.slice(0, 2).map(({ unit_id }) => unit_id));
    });
    this.look(true);
  }
}
