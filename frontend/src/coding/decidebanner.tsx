// The question whether a new code applies to texts that were finished before it, on screen.
import type { Session } from "./session";

export function DecideBanner({ session }: { session: Session }) {
  const { decide } = session;
  const [step, waiting] = [decide.step.value, decide.waiting.value];
  const take = (action: () => void) => session.presses.take(action, { waits: session.mustWait("decide") });
  if (step) {
    const [n, of] = decide.progress.value;
    return (
      <div class="s7-decide" role="group" aria-label="Decide on a new code">
        <strong>decide: {decide.labels([step.code]).slice(1, -1)}</strong>
        <button type="button" onClick={() => take(() => decide.do("yes"))}>
          <kbd>y</kbd> applies
        </button>
        <button type="button" onClick={() => take(() => decide.do("no"))}>
          <kbd>n</kbd> does not
        </button>
        <button type="button" onClick={() => take(() => decide.do("back"))}>
          <kbd>⌫</kbd> back
        </button>
        <button type="button" onClick={() => take(() => decide.end())}>
          <kbd>Esc</kbd> ends
        </button>
        <span>
          {n} of {of}
        </span>
      </div>
    );
  }
  if (!waiting || decide.later.value) return null;
  const n = waiting.items.length;
  return (
    <div class="s7-decide" role="group" aria-label="Look again at finished texts">
      <span>
        Look at the {n === 1 ? "text" : `${n} texts`} that you finished before for {decide.labels(waiting.codes)}?
      </span>
      <button type="button" class="s7-primary" onClick={() => take(() => decide.begin())}>
        Yes <kbd>y</kbd>
      </button>
      <button type="button" onClick={() => (decide.later.value = true)}>
        Later <kbd>Esc</kbd>
      </button>
      <button type="button" onClick={() => decide.refuse()}>
        No <kbd>n</kbd>
      </button>
    </div>
  );
}
