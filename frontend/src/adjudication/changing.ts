// A change of the codebook that comes out of settling: an example, a counter-example, or a sharper rule.
import { signal } from "@preact/signals";
import type { Answers, Unanswered } from "../shared/session";
import type { Code } from "../shared/protocol";
import type { Answer, Change, Foretold, Overtaken, Question, Rule } from "./messages";

export type Kind = Change["kind"];

const PAUSE_MS = 300;

/** Why the codebook is changed, as it is suggested; it can be written otherwise. */
export const WHY: Record<Kind, string> = {
  example: "Coders disagreed on this text: the code applies.",
  counter_example: "Coders disagreed on this text: the code does not apply.",
  rule: "Coders disagreed: the rule was unclear.",
};

interface Host {
  ask(question: Question): void;
  say(words: string): void;
  /** What is begun is another than before. */
  begun(): void;
}

export class Changing {
  /** What is being written; null where nothing is. */
  readonly draft = signal<Change | null>(null);
  readonly why = signal("");
  /** What becomes stale by exactly this draft; null until it is counted. */
  readonly foretold = signal<Foretold | null>(null);
  /** What somebody else made of the same fields meanwhile. */
  readonly overtaken = signal<Overtaken | null>(null);
  /** Why it cannot be saved so. */
  readonly problem = signal("");
  readonly saving = signal(false);
  private timer: ReturnType<typeof setTimeout> | undefined;

  readonly answers: Answers<Answer, Question> = {
    change: (answer, question) => this.heard(answer, question),
    overtaken: (answer, question) => this.heard(answer, question),
  };
  readonly unanswered: Unanswered<Question> = {
    change: (_, message) => this.refused(message),
    save_change: (_, message) => this.refused(message),
  };

  constructor(private readonly host: Host) {}

  close(): void {
    clearTimeout(this.timer);
  }

  begin(kind: Kind, code: Code, words: string): void {
    const before: Rule = {
      definition: code.definition,
      use_when: code.use_when,
      avoid_when: code.avoid_when,
    };
    this.why.value = WHY[kind];
    this.write(
      kind === "rule" ? { code: code.id, kind, values: before, before } : { code: code.id, kind, words },
      0,
    );
  }

  /** Go on with what was begun before. */
  take(draft: Change, why: string): void {
    this.why.value = why;
    this.write(draft, 0);
  }

  /** Say why otherwise. */
  because(why: string): void {
    this.why.value = why;
    this.host.begun();
  }

  end(): void {
    clearTimeout(this.timer);
    const was = this.draft.value;
    this.draft.value = this.foretold.value = this.overtaken.value = null;
    this.problem.value = "";
    this.saving.value = false;
    if (was) this.host.begun();
  }

  /** Take over what is written; what it makes stale is counted after a pause. */
  write(draft: Change, pause = PAUSE_MS): void {
    clearTimeout(this.timer);
    this.draft.value = draft;
    this.foretold.value = this.overtaken.value = null;
    this.problem.value = "";
    this.host.begun();
    if (!differs(draft)) return;
    this.timer = setTimeout(() => this.host.ask({ type: "change", ...draft }), pause);
  }

  save(): void {
    const [draft, foretold] = [this.draft.value, this.foretold.value];
    if (!draft || this.saving.value) return;
    if (!differs(draft)) return this.host.say("Nothing has changed yet");
    if (!foretold)
      return this.host.say("The texts that become stale are still being counted: save once they are shown");
    if (!this.why.value.trim()) return this.host.say("First say why: the methods section will report it");
    this.saving.value = true;
    this.host.ask({ type: "save_change", base: foretold.base, why: this.why.value, ...draft });
  }

  private heard(answer: Foretold | Overtaken, question: Question | undefined): void {
    const asked = JSON.stringify({ type: "change", ...this.draft.value });
    if (asked !== JSON.stringify(question)) return;
    if (answer.type === "change") return void (this.foretold.value = answer);
    this.overtaken.value = answer;
    this.problem.value = "";
  }

  /** Of a field that both changed: mine, which goes over theirs knowingly, or theirs. */
  choose<Name extends keyof Rule>(name: Name, value: Rule[Name]): void {
    const [draft, theirs] = [this.draft.value, this.overtaken.value?.theirs[name]];
    if (draft?.kind !== "rule" || theirs === undefined) return;
    this.write(
      { ...draft, before: { ...draft.before, [name]: theirs }, values: { ...draft.values, [name]: value } },
      0,
    );
  }

  /** It cannot be saved so, or somebody else revised the codebook meanwhile: then it is counted anew. */
  private refused(message: string): false {
    const again = this.saving.value;
    this.saving.value = false;
    this.foretold.value = null;
    if (again && this.draft.value) this.write(this.draft.value, 0);
    this.problem.value = message;
    return false;
  }
}

function differs(draft: Change): boolean {
  if (draft.kind !== "rule") return draft.words.trim() !== "";
  return JSON.stringify(draft.values) !== JSON.stringify(draft.before);
}
