// A round of training: how far one is, and after each finished text where and why it differs from gold.
import { computed, effect, signal, type ReadonlySignal } from "@preact/signals";
import { UNKNOWN } from "../shared/colours";
import type { Code } from "../shared/protocol";
import type { Differs, Feedback, FeedbackQuestion, TrainingProgress } from "./messages";
import type { Session } from "./session";

interface Surroundings {
  ask: (question: FeedbackQuestion) => void;
  say: (words: string) => void;
  /** The place of the text on screen if the record has it finished, else null. */
  finished: ReadonlySignal<number | null>;
}

export class Training {
  readonly progress = signal<TrainingProgress | null>(null);
  private readonly answered = signal<Feedback | null>(null);
  readonly isOn = computed(() => this.progress.value !== null);
  /** What differs on the text on screen: nothing before it is finished. */
  readonly feedback = computed(() => {
    const answered = this.answered.value;
    return answered?.place === this.around.finished.value ? answered : null;
  });
  private readonly end: () => void;

  constructor(private readonly around: Surroundings) {
    this.end = effect(() => {
      const place = around.finished.value;
      if (this.isOn.value && place !== null) around.ask({ type: "feedback", place });
    });
  }

  close(): void {
    this.end();
  }

  heard(feedback: Feedback): void {
    this.answered.value = feedback;
    this.progress.value = feedback.progress;
    const n = feedback.rows.filter(({ state }) => state !== "same").length;
    const words = n === 0 ? "Every code as in the gold decisions" : `${n === 1 ? "One code differs" : `${n} codes differ`} from the gold decisions`;
    this.around.say([words, feedback.progress.words].filter(Boolean).join(". "));
  }
}

export function TrainingBanner({ session }: { session: Session }) {
  const progress = session.training.progress.value;
  if (!progress) return null;
  const { n, most, kappa, verdict, words } = progress;
  return (
    <p class={`s7-training s7-training-${verdict.replace(" ", "-")}`} role="status">
      <strong>Training:</strong> {n} of at most {most} texts{kappa && `; so far kappa ${kappa}`}. {words}
    </p>
  );
}

const STATES: Record<Differs, [string, string]> = {
  missed: ["−", "missed: gold has it"],
  added: ["+", "added: gold does not have it"],
  same: ["=", "the same"],
};

/** Code by code, and below them the rule of each that differs. */
export function FeedbackPanel({ session }: { session: Session }) {
  const feedback = session.training.feedback.value;
  if (!feedback) return null;
  const order: Differs[] = ["missed", "added", "same"];
  const rows = [...feedback.rows].sort((a, b) => order.indexOf(a.state) - order.indexOf(b.state));
  return (
    <div class="s7-feedback" role="region" aria-label="Your text and the gold decisions" tabIndex={0}>
      {rows.map(({ code, state }) => (
        <FeedbackRow key={code} {...{ session, state }} id={code} counts={feedback.counts[code]} />
      ))}
      {rows.map(({ code, state }) => state !== "same" && <Rule key={code} code={session.book.codes.value.get(code)} />)}
      {!rows.length && <p>= No code, as in the gold decisions.</p>}
      <p class="s7-hint">Enter goes on to the next text. What counts is how each text was first finished.</p>
    </div>
  );
}

interface RowProps {
  session: Session;
  id: string;
  state: Differs;
  counts: [number, number, number] | undefined;
}

function FeedbackRow({ session, id, state, counts }: RowProps) {
  const [sign, words] = STATES[state];
  const [hits, misses, alarms] = counts ?? [0, 0, 0];
  return (
    <div class={`s7-feedback-row s7-${state}`}>
      <span class="s7-sign-of" aria-hidden="true">
        {sign}
      </span>
      <kbd>{(session.book.looks.value.get(id) ?? UNKNOWN).tag}</kbd>
      <span>
        <strong>{session.label(id)}</strong> {words}
      </span>
      <span class="s7-counts">
        so far {hits} right, {misses} missed, {alarms} added
      </span>
    </div>
  );
}

/** Why: what the codebook says of a code that differs. */
function Rule({ code }: { code: Code | undefined }) {
  if (!code) return null;
  const rules: [string, readonly string[]][] = [
    ["Use when", code.use_when],
    ["Not when", code.avoid_when],
  ];
  return (
    <div class="s7-rule">
      <p>
        <strong>{code.label}:</strong> {code.definition}
      </p>
      {rules.map(
        ([words, items]) =>
          items.length > 0 && (
            <p key={words}>
              <strong>{words}:</strong> {items.join(" · ")}
            </p>
          ),
      )}
    </div>
  );
}
