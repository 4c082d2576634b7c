// The discussions of a study: how far each is, and the notes on one text of the one that is looked at.
import { computed, signal } from "@preact/signals";
import type { Answers, Unanswered } from "../shared/session";
import type { Answer, Discussion, Question, Thread } from "./messages";
import { placeIn } from "../shared/words";

interface Host {
  ask(question: Question): void;
  say(words: string): void;
  focus(what: string): void;
  /** Another text comes on the screen. */
  left(): void;
}

export class Discussing {
  /** Whether they are shown instead of the disagreements. */
  readonly open = signal(false);
  /** Null until the kernel has answered. */
  readonly rows = signal<readonly Discussion[] | null>(null);
  private readonly name = signal("");
  readonly place = signal(0);
  readonly here = computed(
    (): Discussion | undefined =>
      this.rows.value?.find(({ name }) => name === this.name.value) ?? this.rows.value?.[0],
  );
  readonly unit = computed(() => this.here.value?.units[this.place.value]);
  private readonly answered = signal<Thread | null>(null);
  readonly thread = computed((): Thread | null => {
    const [here, unit, shown] = [this.here.value, this.unit.value, this.answered.value];
    return here && unit && shown?.name === here.name && shown.unit_id === unit.unit_id ? shown : null;
  });
  /** The note that is written, by the text it is on, and the note that it answers. */
  private readonly drafts = signal<ReadonlyMap<string, string>>(new Map());
  readonly draft = computed(() => this.drafts.value.get(this.key()) ?? "");
  readonly answering = signal<string | null>(null);
  readonly saving = signal(false);
  /** Whether it was asked once to show everybody what the others write. */
  readonly sure = signal(false);

  readonly answers: Answers<Answer, Question> = {
    discussions: ({ rows }, question) => {
      this.sure.value = false;
      this.rows.value = rows;
      this.go(0);
      if (question?.type !== "share") return;
      this.host.focus(".s7"); // its button is gone
      this.host.say("All who discuss can read each other now");
    },
    thread: (answer, question) => {
      this.answered.value = answer;
      if (question?.type !== "say") return;
      this.saving.value = false;
      this.write("", `${question.name}\u001f${question.unit_id}`);
      this.answering.value = null;
      this.host.focus(".s7");
      this.host.say("Note saved");
    },
  };
  readonly unanswered: Unanswered<Question> = { say: () => void (this.saving.value = false) };

  constructor(private readonly host: Host) {}

  toggle(): void {
    this.open.value = !this.open.value;
    if (this.open.value) this.host.ask({ type: "discussions" });
    this.host.focus(".s7");
  }

  choose(name: string): void {
    this.name.value = name;
    this.place.value = 0;
    this.go(0);
  }

  /** Go on by so many texts, and read it. */
  go(by: number): void {
    this.to(this.place.value + by);
  }

  to(place: number): void {
    const here = this.here.value;
    if (!here) return;
    this.place.value = placeIn(here.units.length, place);
    this.answering.value = null;
    this.host.left();
    const unit = this.unit.value;
    if (unit) this.host.ask({ type: "thread", name: here.name, unit_id: unit.unit_id });
  }

  private key(): string {
    return `${this.here.value?.name}\u001f${this.unit.value?.unit_id}`;
  }

  write(text: string, key = this.key()): void {
    this.drafts.value = new Map([...this.drafts.value, [key, text]]);
  }

  answer(memo_id: string | null): void {
    this.answering.value = memo_id;
    this.host.focus(".s7-say");
  }

  say(): void {
    const thread = this.thread.value;
    if (!thread || this.saving.value) return;
    if (!this.draft.value.trim()) return this.host.say("First write a note");
    this.saving.value = true;
    this.host.ask({
      type: "say",
      name: thread.name,
      unit_id: thread.unit_id,
      text: this.draft.value,
      answers: this.answering.value,
    });
  }

  /** Show all who discuss what the others write and revise: asked twice, since it cannot be undone. */
  share(): void {
    const here = this.here.value;
    if (here && this.sure.value) this.host.ask({ type: "share", name: here.name });
    this.sure.value = true;
  }
}

/** The notes in the order of a talk: each before its answers, which are set in. */
export function asTalk(notes: Thread["notes"]): { note: Thread["notes"][number]; depth: number }[] {
  const known = new Set(notes.map(({ memo_id }) => memo_id));
  const below = (parent: string | null, depth: number): ReturnType<typeof asTalk> =>
    notes
      .filter(({ answers }) => (answers !== null && known.has(answers) ? answers : null) === parent)
      .flatMap(note => [{ note, depth }, ...below(note.memo_id, depth + 1)]);
  return below(null, 0);
}
