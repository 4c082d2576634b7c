// The texts of a code that was split: each is told, by one key, which parts it belongs to; or many at once.
import { useEffect, useRef } from "preact/hooks";
import { Button, Space } from "../shared/button";
import { Search } from "../shared/fields";
import { focusIn } from "../shared/keys";
import type { Sorting } from "./messages";
import { QuoteView } from "./quotes";
import type { Session } from "./session";
import type { Sorter } from "./sorter";

/** The codes that were split and whose texts wait. */
export function SplitList({ session }: { session: Session }) {
  const { sorter } = session;
  const found = sorter.found.value;
  return (
    <div class="s7-beside-body">
      {found?.splits.map(({ code, label, n, n_all }) => (
        <Button
          key={code}
          class="s7-split"
          aria-pressed={found.code === code}
          onClick={() => sorter.begin(code)}
        >
          <span dir="auto">{label}</span>: {n_all - n} of {n_all} sorted
        </Button>
      ))}
      {found && !found.splits.length && (
        <p class="s7-hint">No texts that you may see are waiting to be sorted.</p>
      )}
      <p class="s7-hint">
        Your own codings become codings of the part. Other coders’ codings are never changed: your rulings on
        the parts decide consensus, and the coders review their own decisions later.
      </p>
    </div>
  );
}

/** Of which theme the texts are; a theme is what a topic model put together, and never a code. */
function ThemeChoice({ sorter, themes }: { sorter: Sorter; themes: Sorting["themes"] }) {
  const all = themes.reduce((sum, { n }) => sum + n, 0);
  const byMouse = useRef(false);
  const choose = (select: HTMLSelectElement) => {
    sorter.ofTheme(select.value === "" ? null : Number(select.value));
    // Who chose by mouse goes on by keys; by arrow keys one may go on choosing.
    if (byMouse.current) select.closest<HTMLElement>(".s7-sorting")?.focus({ preventScroll: true });
  };
  return (
    <select
      class="s7-of-theme"
      aria-label="Texts of a theme"
      title="Texts of a theme (t: next theme)"
      value={String(sorter.theme.value ?? "")}
      onPointerDown={() => (byMouse.current = true)}
      onKeyDown={() => (byMouse.current = false)}
      onChange={event => choose(event.currentTarget)}
    >
      <option value="">All themes ({all})</option>
      {themes.map(({ theme, label, n }) => (
        <option key={theme} value={String(theme)} selected={theme === sorter.theme.value}>
          {label || "In no theme"} ({n})
        </option>
      ))}
    </select>
  );
}

/** In place of texts that could not be read: those before must not be taken for them. */
function Unread({ sorter }: { sorter: Sorter }) {
  return (
    <p class="s7-hint">
      These texts could not be read.{" "}
      <Button class="s7-read-again" onClick={() => sorter.readAgain()} words="Try again ⏎" />
    </p>
  );
}

function empty(sorter: Sorter): string {
  if (sorter.found.value?.n || sorter.looking.value) return "Loading…";
  if (sorter.find.value.trim()) return "Nothing found.";
  return sorter.theme.value === null
    ? "Nothing found."
    : "All of these are sorted. Press t for the next theme.";
}

export function SortingPane({ session }: { session: Session }) {
  const { sorter } = session;
  const box = useRef<HTMLDivElement>(null);
  const [found, row, chosen] = [sorter.found.value, sorter.row.value, sorter.chosen.value];
  const unread = sorter.unread.value;
  useEffect(() => {
    // Who writes what to find goes on writing.
    if ((row || unread) && box.current && !focusIn(box.current)) box.current.focus({ preventScroll: true });
  }, [found?.code, !row, unread]);
  if (!found?.code && unread)
    return (
      <div class="s7-sorting" ref={box} tabIndex={0} role="group" aria-label="Assign parts">
        <Unread sorter={sorter} />
      </div>
    );
  if (!found?.code) return <p class="s7-hint">There is nothing to sort.</p>;
  return (
    <div class="s7-sorting" ref={box} tabIndex={0} role="group" aria-label="Assign parts">
      <div class="s7-pane-line">
        <h4>{found.n && !unread ? `Text ${sorter.at.value + 1} of ${found.n}` : "No text"}</h4>
        <Space />
        <Button disabled={!found.can_undo} title="z" onClick={() => sorter.undo()} words="Undo" />
      </div>
      <div class="s7-pane-line">
        {found.themes.length > 0 && <ThemeChoice sorter={sorter} themes={found.themes} />}
        <Search
          aria-label="Find among these texts"
          placeholder="Find among these texts"
          defaultValue={sorter.find.value}
          onFind={words => sorter.look(words)}
        />
      </div>
      <div class="s7-parts" role="group" aria-label="Parts">
        {found.parts.map(({ id, label }, n) => (
          <Button key={id} aria-pressed={chosen.includes(id)} onClick={() => sorter.toggle(id)}>
            <kbd>{n + 1}</kbd> <span dir="auto">{label}</span>
          </Button>
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
            <Button
              class="s7-primary"
              disabled={sorter.busy.value}
              onClick={() => sorter.sort(false)}
              words="These parts ⏎"
            />
            <Button disabled={sorter.busy.value} onClick={() => sorter.sort(false, true)}>
              None of them <kbd>0</kbd>
            </Button>
            <Button onClick={() => sorter.step(-1)} words="← Back" />
            <Button onClick={() => sorter.step(1)} words="Later →" />
            {found.n > 1 && sorter.isChosen.value && (
              <Button
                class="s7-sort-all"
                disabled={!chosen.length || sorter.busy.value || sorter.looking.value}
                onClick={() => sorter.sort(true)}
              >
                These parts for all {found.n} found <kbd>⇧⏎</kbd>
              </Button>
            )}
          </div>
        </>
      ) : unread ? (
        <Unread sorter={sorter} />
      ) : (
        <p class="s7-hint">{empty(sorter)}</p>
      )}
    </div>
  );
}
