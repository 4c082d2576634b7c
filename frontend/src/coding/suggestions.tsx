// What a model suggests for the text on screen: shown once the text is finished (or as the lead settled it), never a coding.
import { computed, effect, signal, type ReadonlySignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { UNKNOWN } from "../shared/colours";
import { keyLabel } from "../shared/keys";
import type { Suggestion, SuggestionsAnswer, SuggestionsQuestion, SuggestionState, Unit } from "./messages";
import type { Session } from "./session";

interface Surroundings {
  ask: (question: SuggestionsQuestion) => void;
  say: (words: string) => void;
  came: (unit: Unit) => void;
  /** Nothing is left to look at on the text that was just finished. */
  goOn: () => void;
  /** The text on screen as the record has it; null while another one is loading. */
  here: ReadonlySignal<Unit | null>;
  /** The text on screen with what is on its way to the record. */
  unit: ReadonlySignal<Unit | null>;
}

export class Suggestions {
  readonly when = signal<"finished" | "shown" | null>(null);
  /** The text of which nothing is there yet, and why. */
  private readonly pending = signal<{ place: number; words: string } | null>(null);
  private readonly near = signal<{ place: number; quotes: Record<string, string[]> } | null>(null);
  /** The text that was finished to go on, which happens once it is clear that nothing is suggested. */
  private goingOn: number | null = null;
  private readonly end: () => void;

  private readonly place = computed(() => {
    const unit = this.around.here.value;
    return unit && this.when.value && (this.when.value === "shown" || unit.finished) ? unit.place : null;
  });
  readonly shown = computed(() => (this.place.value === null ? null : (this.around.unit.value?.suggestions ?? null)));
  readonly open = computed(() => this.shown.value?.rows.find(({ state }) => state === "none") ?? null);
  readonly words = computed(() => (this.pending.value?.place === this.place.value ? this.pending.value?.words : undefined));

  constructor(private readonly around: Surroundings) {
    this.end = effect(() => {
      const place = this.place.value;
      if (place !== null) around.ask({ type: "suggestions", place });
    });
  }

  close(): void {
    this.end();
  }

  /** Whether Enter stays on the text until it is known what is suggested. */
  stays(unit: Unit): boolean {
    if (this.when.value !== "finished") return false;
    this.goingOn = unit.place;
    return true;
  }

  quotes(code: string): string[] {
    return this.near.value?.place === this.place.value ? (this.near.value?.quotes[code] ?? []) : [];
  }

  heard(answer: SuggestionsAnswer): void {
    if (answer.state !== "shown") {
      const words = answer.state === "failed" ? `No suggestions: ${answer.message}` : "Looking for suggestions… Enter goes on without them.";
      this.pending.value = { place: answer.place, words };
      if (answer.state === "failed") this.around.say(words);
      return;
    }
    this.pending.value = null;
    this.near.value = { place: answer.place, quotes: answer.quotes };
    this.around.came(answer.unit);
    const n = answer.unit.suggestions?.rows.filter(({ state }) => state === "none").length ?? 0;
    const goesOn = this.goingOn === answer.place;
    this.goingOn = null;
    if (answer.place !== this.place.peek()) return;
    if (n > 0) this.around.say(n === 1 ? "One code is suggested" : `${n} codes are suggested`);
    else if (goesOn) this.around.goOn();
  }

  /** What was asked for too early is there. */
  ready(place: number): void {
    if (place === this.place.peek()) this.around.ask({ type: "suggestions", place });
  }
}

const STATES: Record<SuggestionState, string> = {
  none: "",
  agreed: "you coded it too",
  accepted: "applied as suggested",
  edited: "applied on other words",
  rejected: "rejected",
  withdrawn: "you coded it, and took it away",
};

export function SuggestionsPanel({ session, unit }: { session: Session; unit: Unit }) {
  const { shown, words, open } = session.suggestions;
  if (words.value) return <p class="s7-suggestions-wait">{words.value}</p>;
  if (!shown.value?.rows.length) return null;
  const { accept_suggestion: yes = "", reject_suggestion: no = "" } = session.commands.value;
  return (
    <div class="s7-suggestions" role="region" aria-label="What a model suggests for this text" tabIndex={0}>
      <p class="s7-suggestions-head">
        <strong>Suggested by a model</strong>
        {open.value && (
          <span class="s7-hint">
            <kbd>{keyLabel(yes)}</kbd> applies, <kbd>{keyLabel(no)}</kbd> rejects the marked one. Enter goes on.
          </span>
        )}
      </p>
      {shown.value.rows.map((row) => (
        <Row key={row.code} {...{ session, unit, row }} current={row === open.value} />
      ))}
    </div>
  );
}

function Row({ session, unit, row, current }: { session: Session; unit: Unit; row: Suggestion; current: boolean }) {
  const { code, probability, start, end, state } = row;
  const take = (action: () => void) => session.presses.take(action, unit);
  const look = session.book.looks.value.get(code) ?? UNKNOWN;
  const quotes = session.suggestions.quotes(code);
  const root = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => void (current && root.current?.scrollIntoView?.({ block: "nearest" })), [current]);
  const select = () => {
    const span = { start: start!, end: end! };
    session.selecting.select(span);
    session.selecting.seek(span, "start");
  };
  return (
    <div ref={root} class={["s7-suggestion", `s7-suggestion-${state}`, current && "s7-current"].filter(Boolean).join(" ")} aria-current={current ? "true" : undefined}>
      <p class="s7-suggestion-line">
        <kbd>{look.tag}</kbd> <strong>{session.label(code)}</strong>
        {probability !== null && <span title="How probable the model finds it, calibrated on texts of other participants">{Math.round(100 * probability)} %</span>}
        {state !== "none" && <span class="s7-suggestion-state">{STATES[state]}</span>}
        {state === "none" && (
          <span class="s7-suggestion-buttons">
            <button type="button" aria-label={`Apply ${session.label(code)} as suggested`} onClick={() => take(() => session.acceptSuggestion(row))}>
              Apply
            </button>
            <button type="button" aria-label={`Reject ${session.label(code)}`} onClick={() => take(() => session.rejectSuggestion(row))}>
              Reject
            </button>
          </span>
        )}
      </p>
      {state === "none" && (
        <p class="s7-suggestion-words">
          {start === null ? (
            "The whole text"
          ) : (
            <button type="button" class="s7-quiet" lang="" dir="auto" title="Select these words: on others, press the code’s key" onClick={() => take(select)}>
              “{unit.text.slice(start, end!)}”
            </button>
          )}
        </p>
      )}
      {state === "none" && quotes.length > 0 && (
        <p class="s7-suggestion-near">
          You coded so:{" "}
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
