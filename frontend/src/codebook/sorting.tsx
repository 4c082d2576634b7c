// The texts of a code that was split: each is told, by one key, which parts it belongs to; or many at once.
import { useEffect, useRef } from "preact/hooks";
import { QuoteView } from "./quotes";
import type { Session } from "./session";

const PAUSE_MS = 250;

/** The codes that were split and whose texts wait. */
export function SplitList({ session }: { session: Session }) {
  const { sorter } = session;
  const found = sorter.found.value;
  return (
    <div class="s7-beside-body">
      {found?.splits.map(({ code, label, n, n_all }) => (
        <button key={code} type="button" class="s7-split" aria-pressed={found.code === code} onClick={() => sorter.begin(code)}>
          <span dir="auto">{label}</span>: {n_all - n} of {n_all} sorted
        </button>
      ))}
      {found && !found.splits.length && <p class="s7-hint">No text waits for being sorted, of what may be seen here.</p>}
      <p class="s7-hint">
        Your own codings become codings of the part. Other coders’ codings are never changed: the parts are ruled on, so that consensus is decided, and the coders’ own
        decisions wait for their review.
      </p>
    </div>
  );
}

export function SortingPane({ session }: { session: Session }) {
  const { sorter } = session;
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const box = useRef<HTMLDivElement>(null);
  const [found, row, chosen] = [sorter.found.value, sorter.row.value, sorter.chosen.value];
  useEffect(() => {
    if (row) box.current?.focus({ preventScroll: true });
  }, [found?.code, !row]);
  if (!found?.code) return <p class="s7-hint">Nothing is to be sorted.</p>;
  const look = (text: string) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => sorter.look(text), PAUSE_MS);
  };
  return (
    <div class="s7-sorting" ref={box} tabIndex={0} role="group" aria-label="Which part">
      <div class="s7-pane-line">
        <h4>{found.n ? `Text ${sorter.at.value + 1} of ${found.n}` : "No text"}</h4>
        <span class="s7-space" />
        <input type="search" aria-label="Find among these texts" placeholder="Find among these texts" defaultValue={sorter.find.value} onInput={(event) => look(event.currentTarget.value)} />
        <button type="button" disabled={!found.can_undo} title="z" onClick={() => sorter.undo()}>
          Take back
        </button>
      </div>
      <div class="s7-parts" role="group" aria-label="Parts">
        {found.parts.map(({ id, label }, n) => (
          <button key={id} type="button" aria-pressed={chosen.includes(id)} onClick={() => sorter.toggle(id)}>
            <kbd>{n + 1}</kbd> <span dir="auto">{label}</span>
          </button>
        ))}
      </div>
      {row ? (
        <>
          <p class="s7-sorted-text" dir="auto">
            {row.text}
          </p>
          <ul class="s7-quote-rows">
            {row.quotes.map((quote, n) => (
              <li key={n}>
                <QuoteView quote={quote} />
              </li>
            ))}
          </ul>
          <div class="s7-form-buttons">
            <button type="button" class="s7-primary" disabled={sorter.busy.value} onClick={() => sorter.sort(false)}>
              These parts ⏎
            </button>
            <button type="button" disabled={sorter.busy.value} onClick={() => sorter.sort(false, true)}>
              None of them <kbd>0</kbd>
            </button>
            <button type="button" onClick={() => sorter.step(-1)}>
              ← Back
            </button>
            <button type="button" onClick={() => sorter.step(1)}>
              Later →
            </button>
            {found.n > 1 && sorter.find.value && (
              <button type="button" class="s7-sort-all" disabled={!chosen.length || sorter.busy.value} onClick={() => sorter.sort(true)}>
                These parts for all {found.n} found
              </button>
            )}
          </div>
        </>
      ) : (
        <p class="s7-hint">{found.n ? "Loading…" : "Nothing is found."}</p>
      )}
    </div>
  );
}
