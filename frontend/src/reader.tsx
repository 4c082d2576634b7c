import type { VNode } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { Session } from "./session";
import type { Coding, Unit } from "./protocol";
import { markStyle, sample, UNKNOWN, type Mark } from "./colours";
import { lanes, segments, selectedSpan } from "./spans";

/** The earlier turns of the conversation, the last one in view. */
export function Context({ session, unit }: { session: Session; unit: Unit }) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [unit.unit_id, session.showContext.value]);
  if (!unit.context.length) return null;
  const open = session.showContext.value;
  return (
    <section class="s7-context">
      <button
        type="button"
        class="s7-quiet"
        aria-expanded={open}
        onClick={() => (session.showContext.value = !open)}
      >
        {open ? "▾" : "▸"} Conversation before ({unit.context.length} {unit.context.length === 1 ? "turn" : "turns"})
      </button>
      {open && (
        <div class="s7-turns" ref={box} tabIndex={0} role="log" aria-label="Earlier turns">
          {unit.context.map((turn, index) => (
            <p key={index} class={turn.role === "user" ? "s7-turn s7-user" : "s7-turn"}>
              {turn.role && <span class="s7-role">{turn.role}</span>}
              {turn.text}
            </p>
          ))}
        </div>
      )}
    </section>
  );
}

/** The unit's text with its codings; its text nodes join to exactly the text, so offsets can be counted. */
export function Reader({ session, unit }: { session: Session; unit: Unit }) {
  const box = useRef<HTMLDivElement>(null);
  const drawn = useRef<{ unit_id: string; view: VNode } | null>(null);
  // While the mouse drags over the text, it stays as it is drawn.
  if (session.dragging.value && drawn.current?.unit_id === unit.unit_id) return drawn.current.view;
  const codes = session.codes.value;

  const copy = (event: ClipboardEvent) => {
    const span = session.selection.value;
    if (!span) return;
    event.clipboardData?.setData("text/plain", unit.text.slice(span.start, span.end));
    event.preventDefault();
  };

  // The shortest first, so that a coding within another can be reached; each further click marks the next.
  const mark = (here: Coding[]) => {
    const order = here.toSorted((a, b) => a.end! - a.start! - (b.end! - b.start!));
    const place = order.findIndex((coding) => coding === unit.codings[session.active.value]);
    const coding = order[(place + 1) % order.length]!;
    session.ahead.take(() => (session.marked.value = coding), unit);
  };

  const lane = lanes(unit.codings);
  const look = (index: number): Mark => {
    const { code, pending } = unit.codings[index]!;
    return { ...(session.looks.value.get(code) ?? UNKNOWN), lane: lane[index]!, active: index === session.active.value, pending };
  };
  const tags = (start: number) =>
    unit.codings.flatMap((coding, index) => (coding.start === start ? [look(index).tag] : [])).join(" ");

  const view = (
    <div class="s7-text" ref={box} onCopy={copy} lang="" dir="auto">
      {segments(unit.text, unit.codings, session.selection.value).map((piece) => {
        const here = piece.codings.map((index) => unit.codings[index]!);
        const names = [
          here.length && "s7-mark",
          here.some((coding) => coding.pending) && "s7-pending",
          piece.codings.includes(session.active.value) && "s7-active",
          piece.selected && "s7-selected",
        ];
        return (
          <span
            key={piece.start}
            class={names.filter(Boolean).join(" ") || undefined}
            data-tag={tags(piece.start) || undefined}
            style={here.length ? markStyle(piece.codings.map(look), Math.max(...lane)) : undefined}
            title={here.map((coding) => codes.get(coding.code)?.label ?? coding.code).join(" · ") || undefined}
            onClick={() => here.length && !selectedSpan(box.current!) && mark(here)}
          >
            {unit.text.slice(piece.start, piece.end)}
          </span>
        );
      })}
    </div>
  );
  drawn.current = { unit_id: unit.unit_id, view };
  return view;
}

/** What is coded on this unit, each with its valence, doubt and removal. */
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
  const code = session.codes.value.get(coding.code);
  const label = code?.label ?? coding.code;
  const quote = coding.start === null ? "whole text" : `“${unit.text.slice(coding.start, coding.end!)}”`;
  const names = ["s7-coding", coding.pending && "s7-pending", session.active.value === index && "s7-active"];
  const look = session.looks.value.get(coding.code) ?? UNKNOWN;
  const unsure = coding.confidence === "unsure";
  const take = (action: () => void) => session.ahead.take(action, unit);
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
        {session.codebook.value?.valence.map((valence) => (
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

/** The unit's memo: saved when it is left, and after a pause in typing. */
export function MemoField({ session, unit }: { session: Session; unit: Unit }) {
  const field = useRef<HTMLTextAreaElement>(null);
  const latest = useRef(unit);
  latest.current = unit;
  const text = unit.memo?.text ?? "";
  // Some browsers send a last blur when the field is taken away: by then there is nothing to read from it.
  const save = () => field.current && session.saveMemo(latest.current, field.current.value);
  useEffect(() => {
    const at = field.current!;
    // Never under the person's hands: while they write, what they write counts.
    if ((at.getRootNode() as Document).activeElement !== at) at.value = text;
  }, [text]);
  // A layout effect: its end runs at once when the field goes, while what it saves can still be handed over.
  useLayoutEffect(() => {
    const at = field.current!;
    let pause: ReturnType<typeof setTimeout> | undefined;
    const later = () => {
      clearTimeout(pause);
      pause = setTimeout(save, 1500);
    };
    at.addEventListener("input", later);
    // Before the check for unsaved deeds hears of it: a page closed in mid-sentence keeps the sentence.
    addEventListener("beforeunload", save, true);
    return () => {
      clearTimeout(pause);
      removeEventListener("beforeunload", save, true);
      session.saveMemo(latest.current, at.value);
    };
  }, []);
  return (
    <label class="s7-memo">
      <span>Memo</span>
      <textarea
        ref={field}
        rows={text ? 3 : 1}
        placeholder="A thought on this text, for you and the team"
        defaultValue={text}
        onBlur={save}
      />
    </label>
  );
}
