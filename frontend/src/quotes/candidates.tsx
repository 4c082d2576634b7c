// The codes with how many quotes each has, and the passages of the open code.
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { BasisLine } from "../shared/basis";
import { Button } from "../shared/button";
import type { Candidate, OfCode, Quote, Words } from "./messages";
import { keyOf, type Session } from "./session";

export const SIGNS: Record<Quote["state"] | "pending", [string, string]> = {
  approved: ["✓", "approved"],
  refused: ["✗", "refused"],
  chosen: ["○", "chosen, not approved yet"],
  stale: ["!", "its code has changed: decide again"],
  erased: ["!", "its paraphrase was erased: write a new one"],
  pending: ["…", "being saved"],
};

export function Codes({ session }: { session: Session }) {
  const open = session.code.value;
  return (
    <nav class="s7-quote-codes" aria-label="Codes">
      <BasisLine words={session.words.value} />
      <ul>
        {session.progress.value.map(one => (
          <li key={one.code}>
            <Button
              class="s7-quiet s7-quote-code"
              aria-current={one.code === open ? "true" : undefined}
              style={{ "--s7-c": session.book.looks.value.get(one.code)?.colour ?? "currentColor" }}
              onClick={() => session.openCode(one.code)}
            >
              <span class="s7-quote-label" dir="auto">
                {session.label(one.code)}
              </span>
              <Approved of={one} />
            </Button>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function Approved({ of }: { of: OfCode }) {
  const words = [
    `${of.n_approved} of ${of.n_wanted} approved`,
    of.n_waiting && `${of.n_waiting} not approved yet`,
    of.n_against ? "a disconfirming case" : "no disconfirming case yet",
  ];
  return (
    <span
      class={of.n_approved >= of.n_wanted ? "s7-number s7-enough" : "s7-number"}
      title={words.filter(Boolean).join(", ")}
    >
      {of.n_approved} of {of.n_wanted}
      {of.n_waiting ? ` +${of.n_waiting}` : ""}
      {of.n_against ? " ≠" : ""}
    </span>
  );
}

/** Words with a mark on what may tell who somebody is. */
export function Flagged({ words, marks, cut }: Words) {
  const pieces: ComponentChildren[] = [];
  let at = 0;
  for (const [start, end] of marks) {
    pieces.push(words.slice(at, start), <mark class="s7-flag">{words.slice(start, end)}</mark>);
    at = end;
  }
  return (
    <>
      {pieces}
      {words.slice(at)}
      {cut && " […]"}
    </>
  );
}

export function Candidates({ session }: { session: Session }) {
  const rows = session.rows.value;
  const box = useRef<HTMLDivElement>(null);
  const place = session.place.value;
  const waits = session.progress.value.find(({ code }) => code === session.code.value)?.waits;
  useLayoutEffect(() => {
    const list = box.current;
    const row = list?.querySelector<HTMLElement>(".s7-here");
    if (!list || !row) return;
    const [above, below] = [
      row.offsetTop - list.scrollTop,
      row.offsetTop + row.offsetHeight - list.scrollTop - list.clientHeight,
    ];
    if (above < 0) list.scrollTop += above;
    else if (below > 0) list.scrollTop += below;
  }, [place, rows.length, session.code.value]);
  return (
    <section class="s7-candidates" aria-label="Passages">
      <h4 dir="auto">
        {session.label(session.code.value)}{" "}
        <span class="s7-count">
          {session.n.value} {session.n.value === 1 ? "passage" : "passages"}
          {waits && ` · ${waits}`}
        </span>
        <Button
          type="button"
          class="s7-quiet s7-reread"
          aria-label="Read the study again"
          title="Read the study again and propose again"
          onClick={() => session.openCode(session.code.value, true)}
          words="⟳"
        />
      </h4>
      <div class="s7-box" ref={box}>
        <div
          class="s7-candidate-rows"
          role={rows.length ? "listbox" : undefined}
          aria-label="Passages"
          tabIndex={0}
        >
          {rows.map((row, at) => (
            <Row key={keyOf(row)} session={session} row={row} at={at} />
          ))}
        </div>
        {rows.length < session.n.value && (
          <Button class="s7-quiet s7-more-passages" onClick={() => session.more()} words="More" />
        )}
      </div>
      {!rows.length && <p class="s7-hint">You may not see any passage with this code yet.</p>}
    </section>
  );
}

function Row({ session, row, at }: { session: Session; row: Candidate; at: number }) {
  const here = at === session.place.value;
  const state = session.stateOf(row);
  const quote = row.quote?.state === "refused" ? null : row.quote;
  const role = quote?.role ?? row.role;
  return (
    <div
      class={["s7-row s7-candidate", here && "s7-here", state === "refused" && "s7-is-out"]
        .filter(Boolean)
        .join(" ")}
      role="option"
      aria-selected={here}
      onClick={() => session.choose(at)}
    >
      <p class="s7-candidate-words" dir="auto" lang="">
        {quote?.paraphrase ? quote.paraphrase : <Flagged {...(quote?.words ?? row)} />}
      </p>
      <p class="s7-candidate-about">
        {state && (
          <span
            class={`s7-quote-state s7-is-${state}`}
            role="img"
            aria-label={SIGNS[state][1]}
            title={SIGNS[state][1]}
          >
            {SIGNS[state][0]}
          </span>
        )}
        {role === "disconfirms" && <span class="s7-quote-badge">against</span>}
        {quote?.paraphrase && <span class="s7-quote-badge">paraphrase</span>}
        {row.identifies && <span class="s7-quote-badge s7-flag">{row.identifies}</span>}
        <span dir="auto">{row.case_id ?? "participant unknown"}</span>
        {row.rating && <span>{`${session.ratingName.value} ${row.rating}`}</span>}
        {row.coders && <span dir="auto">{row.coders}</span>}
      </p>
      {row.removed && <p class="s7-why s7-proposed">Its coding was removed: press r to refuse it</p>}
      {row.why && (
        <p class={row.drawn ? "s7-why s7-proposed" : "s7-why"}>
          {row.drawn ? `Proposed – ${row.why}` : `Not proposed: ${row.why}`}
        </p>
      )}
    </div>
  );
}
