// What the coder should know of the codebook, and what taking in a newer one would mean.
import { Button } from "../shared/button";
import type { Session } from "./session";

export function CodebookNotice({ session }: { session: Session }) {
  const { newer } = session;
  const meaning = newer.meaning.value;
  if (!newer.notice.value) return null;
  const key = session.commands.value.take_codebook;
  const take = () => session.presses.inTurn(() => newer.take());
  return (
    <div class="s7-notice" role="status">
      <span>{newer.notice.value}</span>
      {newer.there.value && !meaning && (
        <Button class="s7-take" onClick={take}>Load it now {key && <kbd>{key}</kbd>}</Button>
      )}
      {newer.toReview.value > 0 && !meaning && (
        <Button class="s7-look-again" onClick={() => session.lookAgain()}>
          Show {newer.toReview.value === 1 ? "this text" : `these ${newer.toReview.value} texts`}
        </Button>
      )}
      {meaning && (
        <div class="s7-meaning" role="group" aria-label="What the new codebook means for your codings">
          <ul>
            {meaning.words.map((words) => (
              <li key={words}>{words}</li>
            ))}
          </ul>
          <Button class="s7-primary s7-take" onClick={take}>Load it {key && <kbd>{key}</kbd>}</Button>
          <Button onClick={() => newer.leave()}>Not now <kbd>Esc</kbd></Button>
        </div>
      )}
    </div>
  );
}

export function DecideBanner({ session }: { session: Session }) {
  const { decide } = session;
  const [step, waiting] = [decide.step.value, decide.waiting.value];
  const take = (action: () => void) => session.presses.inTurn(action, { mustWait: session.mustWait("decide") });
  if (step) {
    const [n, of] = decide.progress.value;
    return (
      <div class="s7-decide" role="group" aria-label="Decide on a new code">
        <strong>decide: {decide.labels([step.code]).slice(1, -1)}</strong>
        <Button onClick={() => take(() => decide.do("yes"))} press="y" words="applies" />
        <Button onClick={() => take(() => decide.do("no"))} press="n" words="does not" />
        <Button onClick={() => take(() => decide.do("back"))} press="⌫" words="back" />
        <Button onClick={() => take(() => decide.end())} press="Esc" words="ends" />
        <span>{n} of {of}</span>
      </div>
    );
  }
  if (!waiting || decide.later.value) return null;
  const n = waiting.items.length;
  return (
    <div class="s7-decide" role="group" aria-label="Look again at finished texts">
      <span>Check the {n === 1 ? "text" : `${n} texts`} you finished earlier for {decide.labels(waiting.codes)}?</span>
      <Button class="s7-primary" onClick={() => take(() => decide.begin())}>Yes <kbd>y</kbd></Button>
      <Button onClick={() => (decide.later.value = true)}>Later <kbd>Esc</kbd></Button>
      <Button onClick={() => decide.refuse()}>No <kbd>n</kbd></Button>
    </div>
  );
}
