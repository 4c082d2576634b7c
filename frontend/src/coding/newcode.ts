// A code that the codebook lacks: named without leaving the text, proposed to the lead or added at once.
import { computed, signal } from "@preact/signals";
import type { Answers, Unanswered } from "../shared/session";
import type { Code } from "../shared/protocol";
import type { Host } from "./host";
import type { Answer, Question, Unit } from "./messages";

/** Longer selections are no label. */
const LONGEST_IN_VIVO = 60;
const PAUSE_MS = 200;

/** The text, or the words of it, in which the code was seen. */
export interface Seen {
  unit: Unit;
  start: number | null;
  end: number | null;
}

type Alike = Extract<Answer, { type: "alike" }>["codes"];

export class NewCode {
  readonly #host: Pick<Host, "ask" | "do" | "say" | "book" | "focus" | "inboxChanged">;
  /** What happens with a new code in this study. */
  readonly mode = signal<"add" | "propose">("propose");
  /** What the form is about; null while there is none. */
  readonly seen = signal<Seen | null>(null);
  readonly label = signal("");
  readonly definition = signal("");
  readonly example = signal(false);
  readonly problem = signal<string | null>(null);
  readonly note = signal("");
  readonly busy = signal(false);
  readonly #likeIds = signal<Alike>([]);
  readonly alike = computed(() =>
    this.#likeIds.value.flatMap(({ id, how }) => {
      const code = this.#host.book.codes.value.get(id);
      return code ? [{ code, how }] : [];
    }),
  );
  /** The label of the code that was added, as long as applying it is what was done last. */
  justAdded: string | null = null;
  #pause: ReturnType<typeof setTimeout> | undefined;
  readonly answers: Answers<Answer, Question> = {
    alike: ({ codes, note }, question) => {
      if (question?.type === "alike" && question.label === this.label.value)
        [this.#likeIds.value, this.note.value] = [codes, note];
    },
    added: answer => {
      const seen = this.seen.value;
      if (!this.busy.value || !seen) return;
      this.#host.do({ kind: "apply", code: answer.code, start: seen.start, end: seen.end }, seen.unit);
      this.#host.inboxChanged(); // only now: on this text the code is decided
      this.justAdded = answer.label;
      this.close();
      const came = answer.came && `; this also brought in colleagues’ changes: ${answer.came}`;
      this.#host.say(`${answer.label} is in the codebook and applied here${came}`);
    },
  };
  readonly unanswered: Unanswered<Question> = {
    alike: () => false,
    add_code: (_, message) => {
      if (this.busy.value) this.problem.value = message;
      this.busy.value = false;
      return false;
    },
  };

  constructor(host: Pick<Host, "ask" | "do" | "say" | "book" | "focus" | "inboxChanged">) {
    this.#host = host;
  }

  open(unit: Unit, span: { start: number; end: number } | null): void {
    if (this.seen.value) return;
    const words = span ? unit.text.slice(span.start, span.end).replace(/\s+/g, " ").trim() : "";
    this.label.value = words.length <= LONGEST_IN_VIVO ? words : "";
    this.definition.value = "";
    this.example.value = false;
    this.problem.value = null;
    this.note.value = "";
    this.#likeIds.value = [];
    this.seen.value = { unit, start: span?.start ?? null, end: span?.end ?? null };
    if (this.label.value) this.#compare();
  }

  close(): void {
    clearTimeout(this.#pause);
    this.seen.value = null;
    this.busy.value = false;
    this.#host.focus(".s7");
  }

  write(what: "label" | "definition", text: string): void {
    this[what].value = text;
    this.problem.value = null;
    clearTimeout(this.#pause);
    this.#pause = setTimeout(() => this.#compare(), PAUSE_MS);
  }

  /** A key that was pressed before the form was on the screen. */
  typed({ key, ctrlKey, metaKey }: Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey">): void {
    if (key === "Escape") return this.close();
    if (key === "Enter") return this.send();
    if (key === "Backspace") return this.write("label", this.label.value.slice(0, -1));
    if (key.length === 1 && !ctrlKey && !metaKey) this.write("label", this.label.value + key);
  }

  #compare(): void {
    if (this.seen.value)
      this.#host.ask({ type: "alike", label: this.label.value, definition: this.definition.value });
  }

  /** Add the code, or propose it (`mode`). */
  send(mode = this.mode.value): void {
    const seen = this.seen.value;
    const label = this.label.value.replace(/\s+/g, " ").trim();
    const definition = this.definition.value.trim();
    if (!seen || this.busy.value) return;
    if (!label) return void (this.problem.value = "Name the code first.");
    if (label.length > 200 || definition.length > 1000) {
      return void (this.problem.value = "The name may have up to 200 characters, the definition up to 1000.");
    }
    const { unit, start, end } = seen;
    if (mode === "propose") {
      this.#host.do({ kind: "propose", label, definition, start, end }, unit);
      this.close();
      return this.#host.say(`${label} is proposed to the lead`);
    }
    this.busy.value = true;
    this.problem.value = null;
    this.#host.ask({
      type: "add_code",
      label,
      definition,
      unit_id: unit.unit_id,
      start,
      end,
      example: this.example.value,
    });
  }

  /** Apply a code that is there already, where the new one was seen. */
  use(code: Code): void {
    const seen = this.seen.value;
    if (!seen || !code.codable) return;
    this.#host.do({ kind: "apply", code: code.id, start: seen.start, end: seen.end }, seen.unit);
    this.close();
    this.#host.say(`${code.label} applied`);
  }
}
