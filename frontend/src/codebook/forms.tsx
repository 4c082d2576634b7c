// The forms: a code that is new, what a code is merged into, and the parts that it is split into.
import { useState } from "preact/hooks";
import { Button } from "../shared/button";
import type { DraftCode } from "./messages";
import type { Session } from "./session";

/** A field of a form that is not sent yet. */
function Line({ label, value, onInput, rows = 0, first = false }: { label: string; value: string; onInput: (text: string) => void; rows?: number; first?: boolean }) {
  const shared = { dir: "auto" as const, class: first ? "s7-first" : undefined, value, onInput: (event: Event) => onInput((event.currentTarget as HTMLInputElement).value) };
  return (
    <label class="s7-field">
      <span class="s7-field-name">{label}</span>
      {rows ? <textarea {...shared} rows={rows} /> : <input type="text" {...shared} />}
    </label>
  );
}

function Buttons({ words, disabled = false, onSend, onCancel }: { words: string; disabled?: boolean; onSend: () => void; onCancel: () => void }) {
  return (
    <div class="s7-form-buttons">
      <Button class="s7-primary" disabled={disabled} onClick={onSend} words={words} />
      <Button onClick={onCancel} words="Cancel" />
    </div>
  );
}

export function AddForm({ session }: { session: Session }) {
  const here = session.code.value;
  const [label, definition] = [session.typed.of("add label") ?? "", session.typed.of("add definition") ?? ""];
  const [parent, setParent] = useState(here && !here.codable ? here.id : (here?.parent ?? ""));
  const send = () => {
    if (!label.trim()) return session.say("Name the code first");
    session.step({ do: "add", label, definition, parent: parent || null });
    session.endForm();
  };
  const alike = session.alike.value.map(({ id }) => session.book.codes.value.get(id)?.label ?? id);
  return (
    <div class="s7-form s7-add-form" role="group" aria-label="New code">
      <h4>A new code</h4>
      <Line
        first
        label="Label"
        value={label}
        onInput={(text) => {
          session.typed.put("add label", text);
          session.askAlike(text, definition);
        }}
      />
      <Line label="Definition" rows={3} value={definition} onInput={(text) => session.typed.put("add definition", text)} />
      <label class="s7-field">
        <span class="s7-field-name">Under</span>
        <select value={parent} onChange={(event) => setParent(event.currentTarget.value)}>
          <option value="">no other code</option>
          {session.codes.value.map((code) => (
            <option key={code.id} value={code.id} selected={code.id === parent}>
              {code.label}
            </option>
          ))}
        </select>
      </label>
      {label.trim() && alike.length > 0 && <p class="s7-hint">Like it: {alike.join(", ")}</p>}
      <Buttons words="Add" onSend={send} onCancel={() => session.endForm()} />
    </div>
  );
}

export function MergeForm({ session, code }: { session: Session; code: DraftCode }) {
  const others = session.codes.value.filter((one) => one.codable && one.id !== code.id);
  const [into, setInto] = useState(others[0]?.id ?? "");
  const send = () => {
    session.step({ do: "merge", code: code.id, into });
    session.endForm();
    session.select(into);
  };
  return (
    <div class="s7-form s7-merge-form" role="group" aria-label="Merge">
      <p class="s7-hint">What was coded with it counts as the other code from then on; nobody needs to look at it again.</p>
      <label class="s7-field">
        <span class="s7-field-name">Merge into</span>
        <select class="s7-first" value={into} onChange={(event) => setInto(event.currentTarget.value)}>
          {others.map((one) => (
            <option key={one.id} value={one.id} selected={one.id === into}>
              {one.label}
            </option>
          ))}
        </select>
      </label>
      <Buttons words="Merge" disabled={!into} onSend={send} onCancel={() => session.endForm()} />
    </div>
  );
}

export function SplitForm({ session, code }: { session: Session; code: DraftCode }) {
  const named = (n: number, name: "label" | "definition") => `split ${code.id} ${n} ${name}`;
  const there = Object.keys(session.typed.words.value).map((name) => (name.startsWith(`split ${code.id} `) ? Number(name.split(" ")[2]) + 1 : 0));
  const [more, setMore] = useState(0);
  const parts = Array.from({ length: Math.max(2, ...there, more) }, (_, n) => ({ label: session.typed.of(named(n, "label")) ?? "", definition: session.typed.of(named(n, "definition")) ?? "" }));
  const put = (n: number, name: "label" | "definition", text: string) => session.typed.put(named(n, name), text);
  const send = () => {
    if (parts.some(({ label }) => !label.trim())) return session.say("Name each part first");
    session.step({ do: "split", code: code.id, parts });
    session.endForm();
  };
  return (
    <div class="s7-form s7-split-form" role="group" aria-label="Split">
      <p class="s7-hint">Texts that bear it must be told which part they belong to: under “Split texts”, once this is saved. Where it is absent, so are its parts.</p>
      {parts.map((part, n) => (
        <div key={n} class="s7-part">
          <Line first={n === 0} label={`Part ${n + 1}`} value={part.label} onInput={(text) => put(n, "label", text)} />
          <Line label={`Definition of part ${n + 1}`} rows={2} value={part.definition} onInput={(text) => put(n, "definition", text)} />
        </div>
      ))}
      <Button class="s7-quiet" onClick={() => setMore(parts.length + 1)} words="+ another part" />
      <Buttons words="Split" onSend={send} onCancel={() => session.endForm()} />
    </div>
  );
}
