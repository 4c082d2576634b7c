// What is coded on the unit, each coding with its facets, doubt and removal.
import type { VNode } from "preact";
import { useRef } from "preact/hooks";
import { sample, UNKNOWN } from "../shared/colours";
import type { Coding } from "../shared/protocol";
import { FacetButtons, FacetStrip } from "./facetbuttons";
import type { Unit } from "./messages";
import type { Session } from "./session";

const MANY = 100;

export function Codings({ session, unit }: { session: Session; unit: Unit }) {
  const rows = useRef<{ basis: unknown[]; views: Map<string, VNode> }>({ basis: [], views: new Map() });
  if (!unit.codings.length) {
    return (
      <p class="s7-hint">
        Press a code’s key to apply it to the whole text, or select words first. If none fits, finish without a code.
      </p>
    );
  }
  // A row that looks as it did before is not drawn again: a long text has thousands.
  const basis = [unit.unit_id, session.book.codebook.value];
  const same = basis.every((value, index) => value === rows.current.basis[index]);
  const before = same ? rows.current.views : new Map<string, VNode>();
  rows.current = { basis, views: new Map() };
  const row = (coding: Coding, index: number): VNode => {
    const active = session.active.value === index;
    const { code, start, end, facets, confidence, pending } = coding;
    const strip = session.facets.isOn(coding);
    const look = JSON.stringify([code, start, end, facets, confidence, pending, active, strip]);
    const view = before.get(look) ?? <CodingRow key={`${code}:${start}:${end}`} {...{ session, unit, coding, active }} />;
    rows.current.views.set(look, view);
    return view;
  };
  return (
    <ul class={unit.codings.length > MANY ? "s7-codings s7-many" : "s7-codings"} aria-label="Codings on this unit">
      {unit.codings.map(row)}
    </ul>
  );
}

interface RowProps {
  session: Session;
  unit: Unit;
  coding: Coding;
  active: boolean;
}

function CodingRow({ session, unit, coding, active }: RowProps) {
  const code = session.book.codes.value.get(coding.code);
  const label = code?.label ?? coding.code;
  const quote = coding.start === null ? "whole text" : `“${unit.text.slice(coding.start, coding.end!)}”`;
  const names = ["s7-coding", coding.pending && "s7-pending", active && "s7-active"];
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
        <FacetButtons session={session} coding={coding} label={label} take={take} />
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
      {session.facets.isOn(coding) && <FacetStrip session={session} coding={coding} label={label} take={take} />}
    </li>
  );
}
