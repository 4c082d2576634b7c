// The themes that no code covers, above the proposals: each is proposed by the lead, or as a language model drafts it.
import { Button } from "../shared/button";
import { AskCost, ByChat, TextBoxes } from "../shared/tickedtexts";
import type { LackingTheme } from "./messages";
import type { Session } from "./session";

export function Lacking({ session }: { session: Session }) {
  const found = session.lacking.found.value;
  if (!found?.n_themes) return null;
  const { rows, n_unsure } = found;
  return (
    <section class="s7-lacking" aria-label="Themes without a code">
      <h5>Themes that no code covers</h5>
      {rows.map((row) => (
        <Theme key={row.theme} session={session} row={row} />
      ))}
      {!rows.length && <p class="s7-hint">None, or already among the proposals.</p>}
      {n_unsure > 0 && (
        <p class="s7-hint">
          No verdict on {n_unsure} {n_unsure === 1 ? "theme" : "themes"}: too few decided texts that you may see.
        </p>
      )}
    </section>
  );
}

function Theme({ session, row }: { session: Session; row: LackingTheme }) {
  const { lacking } = session;
  const isOpen = lacking.open.value === row.theme;
  return (
    <article class="s7-lacking-theme" aria-label={row.label}>
      <Button class="s7-lacking-line" aria-expanded={isOpen} onClick={() => lacking.toggle(row.theme)}>
        <span class="s7-lacking-name" dir="auto">{row.label}</span>
        <span class="s7-count">
          {row.n_units} texts, {row.n_cases} people
          {row.sent_back && " · answered before"}
        </span>
      </Button>
      {isOpen && <Open session={session} row={row} />}
    </article>
  );
}

function Open({ session, row }: { session: Session; row: LackingTheme }) {
  const { lacking } = session;
  const [ticked, busy] = [lacking.ticked.value, lacking.sending.value || lacking.asking.value];
  return (
    <div class="s7-lacking-open">
      <p class="s7-hint" dir="auto">
        {row.stable && `Stability: ${row.stable}. `}
        {row.coverage}
      </p>
      <TextBoxes texts={lacking} legend="Texts that show it" rows={lacking.quotes.value} />
      <div class="s7-form-buttons">
        <Button class="s7-primary s7-propose" disabled={busy || !ticked.size} onClick={() => lacking.propose()} words="Propose it" />
        {lacking.found.value?.chats && <AskCost texts={lacking} />}
      </div>
      {!ticked.size && lacking.quotes.value.length > 0 && <p class="s7-hint">Tick a text that shows it.</p>}
      <ByChat texts={lacking} send="Send and propose the draft" />
    </div>
  );
}
