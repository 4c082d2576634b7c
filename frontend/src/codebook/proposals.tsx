// The codes that coders or models proposed: each becomes a code, goes into one, or back with a reason.
import { useState } from "preact/hooks";
import { Button } from "../shared/button";
import { asOptions, Select, TextInput } from "../shared/fields";
import { shownDate } from "../shared/times";
import type { Proposal, LackingTheme } from "./messages";
import type { Session } from "./session";
import { AskCost, ByChat, TextBoxes } from "../shared/tickedtexts";

export function Proposals({ session }: { session: Session }) {
  const rows = session.proposals.value;
  return (
    <div class="s7-beside-body">
      {rows.map(row => (
        <Card key={row.proposal_id} session={session} row={row} />
      ))}
      {!rows.length && (
        <p class="s7-hint">No proposals are waiting. Those of a blind round appear once it is unblinded.</p>
      )}
      <Lacking session={session} />
    </div>
  );
}

function Card({ session, row }: { session: Session; row: Proposal }) {
  const typed = (name: string) => session.typed.of(`proposal ${row.proposal_id} ${name}`);
  const type = (name: string) => (text: string) =>
    session.typed.put(`proposal ${row.proposal_id} ${name}`, text);
  const [label, definition, why] = [
    typed("label") ?? row.label,
    typed("definition") ?? row.definition,
    typed("why") ?? "",
  ];
  const codable = session.codes.value.filter(({ codable }) => codable);
  const nearest = row.alike[0]?.id;
  const [into, setInto] = useState(nearest ?? codable[0]?.id ?? "");
  const [asExamples, setAsExamples] = useState(row.origin !== "");
  const nWords = 1 + row.examples.length;
  const takenAs = row.taken !== null && (session.book.codes.value.get(row.taken)?.label ?? row.taken);
  return (
    <article class="s7-proposal" aria-label={row.label}>
      <div class="s7-quote-of">
        {row.origin && <span class="s7-origin">{row.origin}</span>}
        {row.coder} · {row.unit_id} · {shownDate(row.at)}
        {row.round && ` · ${row.round}`}
      </div>
      {[row.words, ...row.examples].map((words, n) => (
        <blockquote key={n} class="s7-quote-words" dir="auto">
          {words}
        </blockquote>
      ))}
      {takenAs ? (
        <p class="s7-hint" dir="auto">
          In the draft: {takenAs}.{" "}
          {row.origin ? "Its origin is recorded with it." : "Its coder is told once it is saved."}
        </p>
      ) : (
        <>
          <TextInput name="Label" value={label} onWrite={type("label")} />
          <TextInput name="Definition" rows={2} value={definition} onWrite={type("definition")} />
          <label class="s7-as-examples">
            <input
              type="checkbox"
              checked={asExamples}
              onChange={event => setAsExamples(event.currentTarget.checked)}
            />{" "}
            with the {nWords === 1 ? "quote as its example" : `${nWords} quotes as its examples`}
          </label>
          <div class="s7-form-buttons">
            <Button
              class="s7-primary s7-take"
              onClick={() =>
                session.take(row.proposal_id, { label, definition, parent: null, with_examples: asExamples })
              }
              words="Take as a code"
            />
          </div>
          <div class="s7-form-buttons">
            <Select aria-label="Existing code" value={into} options={asOptions(codable)} onPick={setInto} />
            <Button
              disabled={!into}
              onClick={() => session.take(row.proposal_id, { into })}
              words="Take into this code"
            />
          </div>
          <div class="s7-form-buttons">
            <input
              type="text"
              dir="auto"
              aria-label="Why it is sent back"
              placeholder="Why not?"
              value={why}
              onInput={event => type("why")(event.currentTarget.value)}
            />
            <Button
              class="s7-send-back"
              disabled={!why.trim()}
              onClick={() => session.sendBack(row.proposal_id, why)}
              words="Send back"
            />
          </div>
        </>
      )}
    </article>
  );
}

export function Lacking({ session }: { session: Session }) {
  const found = session.lacking.found.value;
  if (!found?.n_themes) return null;
  const { rows, n_unsure } = found;
  return (
    <section class="s7-lacking" aria-label="Themes without a code">
      <h5>Themes that no code covers</h5>
      {rows.map(row => (
        <Theme key={row.theme} session={session} row={row} />
      ))}
      {!rows.length && <p class="s7-hint">None, or already among the proposals.</p>}
      {n_unsure > 0 && (
        <p class="s7-hint">
          No verdict on {n_unsure} {n_unsure === 1 ? "theme" : "themes"}: too few decided texts that you may
          see.
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
        <span class="s7-lacking-name" dir="auto">
          {row.label}
        </span>
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
        <Button
          class="s7-primary s7-propose"
          disabled={busy || !ticked.size}
          onClick={() => lacking.propose()}
          words="Propose it"
        />
        {lacking.found.value?.chats && <AskCost texts={lacking} />}
      </div>
      {!ticked.size && lacking.quotes.value.length > 0 && <p class="s7-hint">Tick a text that shows it.</p>}
      <ByChat texts={lacking} send="Send and propose the draft" />
    </div>
  );
}
