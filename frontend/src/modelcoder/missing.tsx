// The answers that are missing, by reason; a click opens the text.
import { useLayoutEffect, useRef } from "preact/hooks";
import { Button, Space } from "../shared/button";
import type { Wanting } from "./messages";
import type { Session } from "./session";
import { bringIn } from "../shared/onscreen";

export function Missing({ session, rows }: { session: Session; rows: readonly Wanting[] }) {
  const box = useRef<HTMLDivElement>(null);
  const cursor = session.cursor.value;
  useLayoutEffect(() => bringIn(box.current?.querySelector(".s7-here")), [cursor, rows]);
  const n = rows.reduce((sum, one) => sum + one.n, 0);
  let at = 0;
  return (
    <section class="s7-said" aria-label="Missing answers">
      <div class="s7-said-line">
        <h4>
          {n} missing {n === 1 ? "answer" : "answers"}
        </h4>
        <Space />
        <Button onClick={() => session.list()} press="m" words="Back to the text" />
      </div>
      <p class="s7-hint">Missing is never absent: these count neither for nor against a code.</p>
      <div class="s7-box" ref={box} tabIndex={0} role="region" aria-label="By reason">
        {rows.map(({ reason, words, n, n_hidden, texts }) => (
          <section key={reason} class="s7-reason" aria-label={words}>
            <h5>
              {words[0]!.toUpperCase() + words.slice(1)} <span class="s7-count">{n}</span>
            </h5>
            {texts.map(({ place, unit_id, code }) => {
              const here = at++;
              return (
                <div
                  key={`${place} ${code}`}
                  class={here === cursor ? "s7-row s7-wanting s7-here" : "s7-row s7-wanting"}
                  aria-current={here === cursor ? "true" : undefined}
                  onClick={() => session.openMissing(here)}
                >
                  <span class="s7-row-id" dir="auto">
                    {unit_id}
                  </span>{" "}
                  <span dir="auto">{session.label(code)}</span>
                </div>
              );
            })}
            {n - n_hidden > texts.length && <p class="s7-hint">{n - n_hidden - texts.length} more</p>}
            {n_hidden > 0 && <p class="s7-hint">{n_hidden} on texts that you have yet to code</p>}
          </section>
        ))}
        {!rows.length && <p class="s7-hint">No answer is missing.</p>}
      </div>
    </section>
  );
}
