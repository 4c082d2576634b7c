// A code that the codebook lacks: named without leaving the text, proposed to the lead or added at once.
import { computed, signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { CodebookView } from "../shared/codebook";
import type { Act, Code } from "../shared/protocol";
import type { Answer, NewCodeQuestion, Question, Unit } from "./messages";
import type { Session } from "./session";

/** Longer selections are no label. */
const LONGEST_IN_VIVO = 60;
const PAUSE_MS = 200;

/** The text, or the words of it, in which the code was seen. */
export interface Seen {
  unit: Unit;
  start: number | null;
  end: number | null;
}

interface Host {
  ask(question: NewCodeQuestion): void;
  do(act: Omit<Act, "id" | "unit_id">, unit: Unit): void;
  say(words: string): void;
  book: CodebookView;
  /** The form is closed: the keys are the text's again. */
  left(): void;
}

type Alike = Extract<Answer, { type: "alike" }>["codes"];

export class NewCode {
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
  private readonly likeIds = signal<Alike>([]);
  readonly alike = computed(() =>
    this.likeIds.value.flatMap(({ id, how }) => {
      const code = this.host.book.codes.value.get(id);
      return code ? [{ code, how }] : [];
    }),
  );
  /** The label of the code that was added, as long as applying it is what was done last. */
  justAdded: string | null = null;
  private pause: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly host: Host) {}

  open(unit: Unit, span: { start: number; end: number } | null): void {
    if (this.seen.value) return;
    const words = span ? unit.text.slice(span.start, span.end).replace(/\s+/g, " ").trim() : "";
    this.label.value = words.length <= LONGEST_IN_VIVO ? words : "";
    this.definition.value = "";
    this.example.value = false;
    this.problem.value = null;
    this.note.value = "";
    this.likeIds.value = [];
    this.seen.value = { unit, start: span?.start ?? null, end: span?.end ?? null };
    if (this.label.value) this.compare();
  }

  close(): void {
    clearTimeout(this.pause);
    this.seen.value = null;
    this.busy.value = false;
    this.host.left();
  }

  write(what: "label" | "definition", text: string): void {
    this[what].value = text;
    this.problem.value = null;
    clearTimeout(this.pause);
    this.pause = setTimeout(() => this.compare(), PAUSE_MS);
  }

  /** A key that was pressed before the form was on the screen. */
  typed({ key, ctrlKey, metaKey }: Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey">): void {
    if (key === "Escape") return this.close();
    if (key === "Enter") return this.send();
    if (key === "Backspace") return this.write("label", this.label.value.slice(0, -1));
    if (key.length === 1 && !ctrlKey && !metaKey) this.write("label", this.label.value + key);
  }

  private compare(): void {
    if (this.seen.value) this.host.ask({ type: "alike", label: this.label.value, definition: this.definition.value });
  }

  /** Add the code, or propose it (`mode`). */
  send(mode = this.mode.value): void {
    const seen = this.seen.value;
    const label = this.label.value.replace(/\s+/g, " ").trim();
    const definition = this.definition.value.trim();
    if (!seen || this.busy.value) return;
    if (!label) return void (this.problem.value = "Name the code first.");
    if (label.length > 200 || definition.length > 1000) {
      return void (this.problem.value = "The name can have 200 characters, the definition 1000.");
    }
    const { unit, start, end } = seen;
    if (mode === "propose") {
      this.host.do({ kind: "propose", label, definition, start, end }, unit);
      this.close();
      return this.host.say(`${label} is proposed to the lead`);
    }
    this.busy.value = true;
    this.problem.value = null;
    this.host.ask({ type: "add_code", label, definition, unit_id: unit.unit_id, start, end, example: this.example.value });
  }

  /** Apply a code that is there already, where the new one was seen. */
  use(code: Code): void {
    const seen = this.seen.value;
    if (!seen || !code.codable) return;
    this.host.do({ kind: "apply", code: code.id, start: seen.start, end: seen.end }, seen.unit);
    this.close();
    this.host.say(`${code.label} applied`);
  }

  heard(answer: Answer, question: Question | undefined): void {
    const seen = this.seen.value;
    if (answer.type === "alike") {
      const current = question?.type === "alike" && question.label === this.label.value;
      if (current) [this.likeIds.value, this.note.value] = [answer.codes, answer.note];
    } else if (answer.type === "added" && this.busy.value && seen) {
      this.host.do({ kind: "apply", code: answer.code, start: seen.start, end: seen.end }, seen.unit);
      this.justAdded = answer.label;
      this.close();
      const came = answer.came && `; colleagues’ changes came with it: ${answer.came}`;
      this.host.say(`${answer.label} is in the codebook and applied here${came}`);
    }
  }

  unanswered(question: Question, message: string): void {
    if (question.type !== "add_code" || !this.busy.value) return;
    this.busy.value = false;
    this.problem.value = message;
  }
}

export function NewCodeButton({ session, unit }: { session: Session; unit: Unit }) {
  if (session.newCode.seen.value) return null;
  return (
    <button type="button" class="s7-quiet s7-new-code-button" onClick={() => session.presses.take(() => session.openNewCode(), unit)}>
      + New code
    </button>
  );
}

export function NewCodeForm({ session }: { session: Session }) {
  const { newCode } = session;
  const field = useRef<HTMLInputElement>(null);
  const shown = newCode.seen.value !== null;
  useLayoutEffect(() => {
    if (!shown) return;
    field.current?.focus({ preventScroll: true });
    field.current?.select();
  }, [shown]);
  const seen = newCode.seen.value;
  if (!seen) return null;
  const adds = newCode.mode.value === "add";
  const input = (what: "label" | "definition", words: string, placeholder: string) => (
    <label>
      <span>{words}</span>
      <input
        ref={what === "label" ? field : undefined}
        class={`s7-new-${what}`}
        maxLength={what === "label" ? 200 : 1000}
        placeholder={placeholder}
        value={newCode[what].value}
        onInput={(event) => newCode.write(what, event.currentTarget.value)}
      />
    </label>
  );
  return (
    <section class="s7-new-code" role="group" aria-label="New code">
      {input("label", "Name", "What do you call it?")}
      <div class="s7-alike" role="status">
        {newCode.alike.value.length > 0 && <span>Like it:</span>}
        {newCode.alike.value.map(({ code, how }) => (
          <button type="button" key={code.id} title={code.definition} disabled={!code.codable} onClick={() => newCode.use(code)}>
            Use “{code.label}” instead{how === "meaning" && <i> (alike in meaning)</i>}
          </button>
        ))}
        {newCode.note.value && <span>{newCode.note.value}</span>}
      </div>
      {input("definition", "Definition", "In one line: when does it apply?")}
      {adds && (
        <label class="s7-new-example">
          <input
            type="checkbox"
            checked={newCode.example.value}
            onChange={(event) => (newCode.example.value = event.currentTarget.checked)}
          />{" "}
          <span>
            Keep {seen.start === null ? "this text" : "the selected words"} as an example. A participant’s words in the
            codebook are published with it, and stay there if they withdraw.
          </span>
        </label>
      )}
      {newCode.problem.value && (
        <p class="s7-new-problem" role="alert">
          {newCode.problem.value}
        </p>
      )}
      <div class="s7-new-buttons">
        <button type="button" class="s7-primary s7-new-send" disabled={newCode.busy.value} onClick={() => newCode.send()}>
          {adds ? "Add and apply" : "Propose to the lead"}
        </button>
        {adds && newCode.problem.value && (
          <button type="button" onClick={() => newCode.send("propose")}>
            Propose to the lead
          </button>
        )}
        <button type="button" onClick={() => newCode.close()}>
          Cancel
        </button>
      </div>
    </section>
  );
}
