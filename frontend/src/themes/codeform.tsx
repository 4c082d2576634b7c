// The form that makes a code of a theme: label, definition, examples, and the codes that are like it.
import { Button } from "../shared/button";
import { TextInput } from "../shared/fields";
import { AskCost, ByChat, TextBoxes } from "../shared/tickedtexts";
import type { Session } from "./session";

function LikeIt({ session }: { session: Session }) {
  const { coding, book } = session;
  const rows = coding.alike.value;
  return (
    <div class="s7-like-it" role="status">
      {rows.length > 0 && <p class="s7-hint">Similar codes. Is it one of these?</p>}
      <ul>
        {rows.map(({ id, how }) => (
          <li key={id} dir="auto">
            <strong>{book.codes.value.get(id)?.label ?? id}</strong> (
            {how === "meaning" ? "by meaning" : "by words"}) {book.codes.value.get(id)?.definition}
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
      <p class="s7-hint">
        This draft comes from the theme’s terms; edit it. “Make this code” adds it to the codebook as a
        revision, which coders see in their widgets. “Propose it” lets somebody decide later.
      </p>
      <TextInput
        first
        name="Label"
        maxLength={200}
        value={coding.label.value}
        onWrite={text => coding.write(text, coding.definition.value)}
        onBlur={() => coding.look(true)}
      />
      <TextInput
        name="Definition"
        rows={3}
        value={coding.definition.value}
        onWrite={text => coding.write(coding.label.value, text)}
        onBlur={() => coding.look(true)}
      />
      <LikeIt session={session} />
      <TextBoxes texts={coding} legend="Examples: the ticked quotes" rows={draft.quotes} />
      {session.chats.value && <AskCost texts={coding} quiet />}
      <ByChat texts={coding} send="Send and draft" />
      <div class="s7-form-buttons">
        <Button
          class="s7-primary"
          disabled={!ready}
          onClick={() => coding.send()}
          words={coding.sending.value ? "Saving…" : "Make this code"}
        />
        <Button
          class="s7-propose"
          disabled={!ready || !coding.ticked.value.size || waits}
          title={
            waits
              ? "It is already proposed"
              : "It goes to the proposals in the codebook widget and becomes a code only when somebody takes it there"
          }
          onClick={() => coding.send("propose")}
          words="Propose it"
        />
        <Button onClick={() => session.endForm()} words="Cancel" />
      </div>
      {!waits && !coding.ticked.value.size && (
        <p class="s7-hint">To propose it, tick a text that shows it.</p>
      )}
    </div>
  );
}
