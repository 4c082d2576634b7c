// The list of themes: the same content as the map, by keys.
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { Button } from "../shared/button";
import type { Theme } from "./messages";
import type { Session } from "./session";
import { bringIn } from "../shared/onscreen";

const VERDICTS = { covered: "covered", uncovered: "not covered", "": "no verdict" };

function outside(n: number): string {
  if (!n) return "Every text is in a theme";
  return n === 1 ? "One text is in no theme" : `${n} texts are in no theme`;
}

function Line({ session, row, id }: { session: Session; row: Theme; id: string }) {
  const open = row.theme === session.open.value;
  const palette = session.palette.value;
  const onMap = session.places.value !== null && !session.by.value;
  const names = ["s7-row s7-theme-row", open && "s7-here", row.dismissed && "s7-dismissed"]
    .filter(Boolean)
    .join(" ");
  const share = row.stability === null ? "–" : row.stability.toFixed(2);
  return (
    <div id={id} class={names} role="option" aria-selected={open} onClick={() => session.show(row.theme)}>
      <span class="s7-theme-name" dir="auto">
        {onMap && (
          <span
            class="s7-theme-dot"
            style={{ "--s7-c": palette[row.theme % palette.length] }}
            aria-hidden="true"
          />
        )}
        {row.label}
      </span>
      <span class="s7-theme-figures">
        <span>
          {row.n_units} {row.n_units === 1 ? "text" : "texts"}
        </span>
        <span>
          {row.n_cases} {row.n_cases === 1 ? "participant" : "participants"}
        </span>
        <span class={`s7-is-${row.stable || "unknown"}`}>
          {row.stable || "stability"} {share}
        </span>
        <span class={row.verdict === "uncovered" ? "s7-uncovered" : undefined}>
          {row.code ? "has a code" : VERDICTS[row.verdict]}
        </span>
        {row.dismissed && <span>dismissed</span>}
      </span>
    </div>
  );
}

export function ThemeList({ session }: { session: Session }) {
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  const [themes, open] = [session.themes.value, session.open.value];
  useLayoutEffect(() => bringIn(box.current?.querySelector(".s7-here")), [open]);
  const rows = session.rows.value;
  return (
    <section class="s7-theme-list" aria-label="Themes">
      <div class="s7-line-of">
        <h4>{rows.length ? `${rows.filter(row => !row.dismissed).length} themes` : "Themes"}</h4>
        <Button
          type="button"
          class="s7-begin-run"
          title="Compute themes (r)"
          onClick={() => session.begin("run")}
          disabled={!session.embeds.value}
          words={themes?.recorded ? "Compute again" : "Compute themes"}
        />
      </div>
      <div
        ref={box}
        class="s7-theme-rows s7-box"
        role="listbox"
        tabIndex={0}
        aria-label="Themes"
        aria-activedescendant={open === null ? undefined : `${id}-${open}`}
      >
        {rows.map(row => (
          <Line key={row.theme} session={session} row={row} id={`${id}-${row.theme}`} />
        ))}
      </div>
      {themes && !themes.recorded && (
        <p class="s7-hint">
          {session.embeds.value
            ? "No themes are recorded yet: compute them."
            : "No themes are recorded yet. To compute them, open the widget with embed=qual.models.embedder()."}
        </p>
      )}
      {themes?.recorded && (
        <p class="s7-hint">
          {outside(themes.n_outside)}
          {themes.n_later > 0 && `, ${themes.n_later} came after the run`}. {themes.words}
        </p>
      )}
      <p class="s7-hint">Themes are what texts are about, not how their writers feel.</p>
    </section>
  );
}
