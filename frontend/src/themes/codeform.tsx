// The form that makes a code of a theme: label, definition, examples, and the codes that are like it.
import { Button } from "../shared/button";
import type { Session } from "./session";

function ByChat({ session }: { session: Session }) {
  const { coding } = session;
  if (!coding.cost.value) {
    return (
      <Button class="s7-quiet" disabled={!coding.ticked.value.size} onClick={() => coding.askCost()} words="Let the language model draft it…" />
    );
  }
  return (
    <div class="s7-by-chat" role="group" aria-label="Draft by the language model">
      <p>{coding.cost.value}</p>
      <label>
        <input type="checkbox" checked={coding.consented.value} onChange={(event) => (coding.consented.value = event.currentTarget.checked)} /> I agree that the quotes that are ticked are sent there
      </label>
      <Button
        type="button" disabled={!coding.consented.value || coding.asking.value || !coding.ticked.value.size} onClick={() => coding.askChat()}
        words={coding.asking.value ? "Asking…" : "Send and draft"}
      />
    </div>
  );
}

function LikeIt({ session }: { session: Session }) {
  const { coding, book } = session;
  const rows = coding.alike.value;
  return (
    <div class="s7-like-it" role="status">
      {rows.length > 0 && <p class="s7-hint">Codes that are like it: is it one of these?</p>}
      <ul>
        {rows.map(({ id, how }) => (
          <li key={id} dir="auto">
            <strong>{book.codes.value.get(id)?.label ?? id}</strong> ({how === "meaning" ? "by meaning" : "by words"}) {book.codes.value.get(id)?.definition}
          </li>
        ))}
      </ul>
      {coding.note.value && <p class="s7-hint">{coding.note.value}</p>}
    </div>
  );
}

export function CodeForm({ session }: { session: Session }) {
  const { coding } = session;
  const draft = coding.draft.value;
  if (!draft) return <p class="s7-hint">Drafting…</p>;
  const ready = !coding.sending.value && coding.label.value.trim() !== "";
  const waits = session.theme.value?.proposed === "waiting";
  return (
    <div class="s7-form s7-code-form" role="group" aria-label="Make a code">
      <p class="s7-hint">A draft from its terms: a code is what you make of it. Made, it goes into the codebook as a revision, and coders see it in their widgets; proposed, it waits until somebody takes it.</p>
      <label class="s7-field">
        <span class="s7-field-name">Label</span>
        <input type="text" class="s7-first" dir="auto" maxLength={200} value={coding.label.value} onInput={(event) => coding.write(event.currentTarget.value, coding.definition.value)} onBlur={() => coding.look(true)} />
      </label>
      <label class="s7-field">
        <span class="s7-field-name">Definition</span>
        <textarea dir="auto" rows={3} value={coding.definition.value} onInput={(event) => coding.write(coding.label.value, event.currentTarget.value)} onBlur={() => coding.look(true)} />
      </label>
      <LikeIt session={session} />
      <fieldset>
        <legend>Examples: the quotes that are ticked</legend>
        {draft.quotes.map(({ unit_id, text }) => (
          <label key={unit_id} class="s7-example">
            <input type="checkbox" checked={coding.ticked.value.has(unit_id)} onChange={() => coding.tick(unit_id)} />
            <span dir="auto">{text}</span>
          </label>
        ))}
      </fieldset>
      {session.chats.value && <ByChat session={session} />}
      <div class="s7-form-buttons">
        <Button class="s7-primary" disabled={!ready} onClick={() => coding.send()} words={coding.sending.value ? "Saving…" : "Make this code"} />
        <Button
          class="s7-propose"
          disabled={!ready || !coding.ticked.value.size || waits}
          title={waits ? "It waits for an answer already" : "It waits among the proposals of the codebook widget, and is no code until somebody takes it there"}
          onClick={() => coding.send("propose")}
          words="Propose it"
        />
        <Button onClick={() => session.endForm()} words="Cancel" />
      </div>
      {!waits && !coding.ticked.value.size && <p class="s7-hint">A proposal needs a text that shows it: tick one.</p>}
    </div>
  );
}
