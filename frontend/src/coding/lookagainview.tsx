// The texts to look at again on screen: the question, the rule as it was and is; and what a newer codebook
// would mean.
import { Button, Space } from "../shared/button";
import type { Rule as RuleOf } from "./messages";
import type { Session } from "./session";

export function NewerMeaning({ session }: { session: Session }) {
  const { newer } = session;
  const meaning = newer.meaning.value;
  if (!meaning) return null;
  return (
    <div class="s7-notice s7-meaning" role="group" aria-label="What the new codebook means for your codings">
      <ul>
        {meaning.words.map(words => (
          <li key={words}>{words}</li>
        ))}
      </ul>
      <Button class="s7-primary s7-take" onClick={() => session.presses.inTurn(() => newer.take())}>
        Load it <kbd>{session.commands.value.take_codebook}</kbd>
      </Button>
      <Button onClick={() => newer.leave()}>
        Not now <kbd>Esc</kbd>
      </Button>
    </div>
  );
}

export function AgainBar({ session }: { session: Session }) {
  const { again } = session;
  const step = again.step.value;
  if (!step) return null;
  const [n, of] = again.progress.value;
  const take = (action: () => void) => session.inTurn("again", action);
  const quiet: [string, string, string, () => void][] = [
    ["Later", "Leave this text for later (→)", "→", () => again.do("later")],
    ["Back", "Back to the answer before (⌫)", "⌫", () => again.do("back")],
    ["End", "End; what is left goes on waiting (Esc)", "Esc", () => again.end()],
  ];
  return (
    <div class="s7-again" role="group" aria-label="Look at this text again">
      <strong>{session.label(step.rule.code)}?</strong>
      <span>
        {n} of {of}
      </span>
      <Space />
      <Button onClick={() => take(() => again.do("yes"))} press="y" words="Applies" />
      <Button onClick={() => take(() => again.do("no"))} press="n" words="Does not" />
      {quiet.map(([label, title, press, run]) => (
        <Button
          key={label}
          class="s7-quiet"
          aria-label={label}
          {...{ title, press }}
          onClick={() => take(run)}
          words=""
        />
      ))}
    </div>
  );
}

/** A rule with the words that are new underlined, and those that are gone struck out. */
export function Rule({ rule: { what, parts } }: { rule: RuleOf }) {
  return (
    <div class="s7-changed">
      {what && <p class="s7-hint">This code {what}.</p>}
      {parts.map(({ name, words }) => (
        <div key={name}>
          <h5>{name}</h5>
          <p dir="auto">
            {words.map(([sign, run], at) =>
              sign === "+" ? <ins key={at}>{run}</ins> : sign === "-" ? <del key={at}>{run}</del> : run,
            )}
          </p>
        </div>
      ))}
    </div>
  );
}
