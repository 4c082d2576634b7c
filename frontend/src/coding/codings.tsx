// What is coded on the unit, each coding with its valence, doubt and removal.
import { sample, UNKNOWN } from "../shared/colours";
import type { Coding } from "../shared/protocol";
import type { Unit } from "./messages";
import type { Session } from "./session";

export function Codings({ session, unit }: { session: Session; unit: Unit }) {
  if (!unit.codings.length) {
    return (
      <p class="s7-hint">
        Press a code’s key to apply it to the whole text, or select words first. If none fits, finish without a code.
      </p>
    );
  }
  return (
    <ul class="s7-codings" aria-label="Codings on this unit">
      {unit.codings.map((coding, index) => (
        <CodingRow key={`${coding.code}:${coding.start}:${coding.end}`} {...{ session, unit, coding, index }} />
      ))}
    </ul>
  );
}

interface RowProps {
  session: Session;
  unit: Unit;
  coding: Coding;
  index: number;
}

function CodingRow({ session, unit, coding, index }: RowProps) {
  const code = session.book.codes.value.get(coding.code);
  const label = code?.label ?? coding.code;
  const quote = coding.start === null ? "whole text" : `“${unit.text.slice(coding.start, coding.end!)}”`;
  const names = ["s7-coding", coding.pending && "s7-pending", session.active.value === index && "s7-active"];
  const look = session.book.looks.value.get(coding.code) ?? UNKNOWN;
  const unsure = coding.confidence === "unsure";
  const take = (action: () => void) => session.presses.take(action, unit);
  return (
    <li
      class={names.filter(Boolean).join(" ")}
      style={{ "--s7-c": look.colour }}
      onClick={() => take(() => (session.marked.value = coding))}
    >
      <kbd>{look.tag}</kbd>
      <span class="s7-sample" style={sample(look)} />
      <span class="s7-coding-name">
        <strong>{label}</strong> <span class="s7-quote" dir="auto">{quote}</span>
      </span>
      <span class="s7-facets">
        {session.book.codebook.value?.valence.map((valence) => (
          <button
            key={valence}
            type="button"
            class="s7-facet"
            aria-pressed={coding.valence === valence}
            aria-label={`${label}: ${valence}`}
            onClick={() => take(() => session.change(coding, { valence: coding.valence === valence ? null : valence }))}
          >
            {valence}
          </button>
        ))}
        <button
          type="button"
          class="s7-facet"
          aria-pressed={unsure}
          aria-label={`${label}: unsure`}
          onClick={() => take(() => session.toggleUnsure(coding))}
        >
          unsure
        </button>
        <button type="button" class="s7-facet s7-remove" aria-label={`Remove ${label}`} onClick={() => take(() => session.remove(coding))}>
          ×
        </button>
      </span>
    </li>
  );
}
