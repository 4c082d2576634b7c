// What a model suggests for the text on screen, and the buttons that take or reject it.
import { useLayoutEffect, useRef } from "preact/hooks";
import { Button } from "../shared/button";
import { keyLabel } from "../shared/keys";
import type { Suggestion, SuggestionState, Unit } from "./messages";
import type { Session } from "./session";
import { joined } from "../shared/words";
import { bringIn } from "../shared/onscreen";

const STATES: Record<SuggestionState, string> = {
  none: "",
  agreed: "you coded it, too",
  accepted: "applied as suggested",
  edited: "applied to other words",
  rejected: "rejected",
  withdrawn: "you coded it and removed it",
};

export function SuggestionsPanel({ session, unit }: { session: Session; unit: Unit }) {
  const { shown, words, open } = session.suggestions;
  if (words.value) return <p class="s7-suggestions-wait">{words.value}</p>;
  if (!shown.value?.rows.length) return null;
  const { accept_suggestion: yes = "", reject_suggestion: no = "" } = session.commands.value;
  return (
    <div class="s7-suggestions" role="region" aria-label="A model’s suggestions for this text" tabIndex={0}>
      {open.value && (
        <p class="s7-hint">
          <kbd>{keyLabel(yes)}</kbd> applies, <kbd>{keyLabel(no)}</kbd> rejects the marked one. Enter goes on.
        </p>
      )}
      {shown.value.rows.map(row => (
        <Row key={row.code} {...{ session, unit, row }} current={row === open.value} />
      ))}
    </div>
  );
}

function Row({
  session,
  unit,
  row,
  current,
}: {
  session: Session;
  unit: Unit;
  row: Suggestion;
  current: boolean;
}) {
  const { code, probability, start, end, state } = row;
  const take = (action: () => void) => session.presses.inTurn(action, unit);
  const look = session.book.look(code);
  const quotes = session.suggestions.quotes(code);
  const root = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => void (current && bringIn(root.current)), [current]);
  const select = () => {
    const span = { start: start!, end: end! };
    session.selecting.select(span);
    session.selecting.seek(span, "start");
  };
  return (
    <div
      ref={root}
      class={joined(["s7-suggestion", `s7-suggestion-${state}`, current && "s7-current"])}
      aria-current={current ? "true" : undefined}
    >
      <p class="s7-suggestion-line">
        <kbd>{look.tag}</kbd> <strong>{session.label(code)}</strong>
        {probability !== null && (
          <span title="The model’s probability, calibrated on texts of other participants">
            {Math.round(100 * probability)} %
          </span>
        )}
        {state !== "none" && <span class="s7-suggestion-state">{STATES[state]}</span>}
        {state === "none" && (
          <span class="s7-suggestion-buttons">
            <Button
              aria-label={`Apply ${session.label(code)} as suggested`}
              onClick={() => take(() => session.acceptSuggestion(row))}
              words="Apply"
            />
            <Button
              aria-label={`Reject ${session.label(code)}`}
              onClick={() => take(() => session.rejectSuggestion(row))}
              words="Reject"
            />
          </span>
        )}
      </p>
      {state === "none" && (
        <p class="s7-suggestion-words">
          {start === null ? (
            "The whole text"
          ) : (
            <Button
              class="s7-quiet"
              lang=""
              dir="auto"
              title="Select these words. To code other words, select them and press the code’s key"
              onClick={() => take(select)}
            >
              “{unit.text.slice(start, end!)}”
            </Button>
          )}
        </p>
      )}
      {state === "none" && quotes.length > 0 && (
        <p class="s7-suggestion-near">
          You coded these like it:{" "}
          {quotes.map((quote, n) => (
            <span key={n} lang="" dir="auto">
              “{quote}”{" "}
            </span>
          ))}
        </p>
      )}
    </div>
  );
}
