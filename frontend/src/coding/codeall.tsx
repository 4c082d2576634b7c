// The line that asks with which code all that was found is coded, and what of it; and says what that means.
import { Button } from "../shared/button";
import type { What } from "./hits";
import type { Session } from "./session";

const WHATS: readonly [What, string][] = [
  ["word", "Words"],
  ["sentence", "Sentences"],
  ["text", "Whole texts"],
];

export function CodeAllButton({ session }: { session: Session }) {
  const { texts, hits } = session;
  if (!texts.shown.value.find.trim() || !texts.listing.value.n) return null;
  const open = () => {
    texts.leave();
    hits.openAll();
  };
  return <Button class="s7-quiet" onClick={open} words="Code all shown…" />;
}

export function CodeAll({ session }: { session: Session }) {
  const { hits } = session;
  if (!hits.found.value) return null;
  const [code, n] = [hits.code.value, hits.plan.value.found.length];
  return (
    <div class="s7-strip s7-code-all" role="group" aria-label="Code all hits">
      <div class="s7-strip-facet">
        <strong>
          {code ? session.label(code) : `Code all hits of “${session.texts.shown.value.find.trim()}”`}
        </strong>
        {code &&
          WHATS.map(([what, words]) => (
            <Button
              key={what}
              class="s7-facet"
              aria-pressed={hits.what.value === what}
              onClick={() => hits.do(what)}
            >
              <kbd>{what[0]}</kbd>
              {words}
            </Button>
          ))}
      </div>
      <div class="s7-strip-facet">
        <span role="status">{hits.words()}</span>
        {n > 0 && <Button class="s7-primary" onClick={() => hits.apply()} words={`Apply to ${n} ⏎`} />}
        <Button onClick={() => (hits.found.value = null)} words="Cancel" />
      </div>
    </div>
  );
}
