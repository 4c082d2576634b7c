// A round of training on screen: how far one is, and where and why a finished text differs from gold.
import type { Code, Sign } from "../shared/protocol";
import type { Differs } from "./messages";
import type { Session } from "./session";

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

const STATES: Record<Differs, [string, string, Sign]> = {
  missed: ["−", "missed: gold has it", "theirs"],
  added: ["+", "added: gold does not have it", "own"],
  same: ["=", "the same", "both"],
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
      {rows.map(
        ({ code, state }) =>
          state !== "same" && <Rule key={code} code={session.book.codes.value.get(code)} />,
      )}
      {!rows.length && <p>= No code, as in the gold decisions.</p>}
      <p class="s7-hint">Press Enter for the next text. Only how you first finished each text counts.</p>
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
  const [mark, words, sign] = STATES[state];
  const [hits, misses, alarms] = counts ?? [0, 0, 0];
  return (
    <div class={`s7-feedback-row s7-sign-${sign}`}>
      <span class="s7-sign-of" aria-hidden="true">
        {mark}
      </span>
      <kbd>{session.book.look(id).tag}</kbd>
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
    <div class="s7-gold-rule">
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
