// The forms: a code that is new, what a code is merged into, and the parts that it is split into.
import { useState } from "preact/hooks";
import { Button } from "../shared/button";
import { asOptions, FormButtons, Named, Select, TextInput } from "../shared/fields";
import type { DraftCode } from "./messages";
import type { Session } from "./session";

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
      <TextInput
        first
        name="Label"
        value={label}
        onWrite={text => {
          session.typed.put("add label", text);
          session.askAlike(text, definition);
        }}
      />
      <TextInput
        name="Definition"
        rows={3}
        value={definition}
        onWrite={text => session.typed.put("add definition", text)}
      />
      <Named name="Under">
        <Select
          value={parent}
          options={[["", "(top level)"], ...asOptions(session.codes.value)]}
          onPick={setParent}
        />
      </Named>
      {label.trim() && alike.length > 0 && <p class="s7-hint">Similar codes: {alike.join(", ")}</p>}
      <FormButtons words="Add" onSend={send} onCancel={() => session.endForm()} />
    </div>
  );
}

export function MergeForm({ session, code }: { session: Session; code: DraftCode }) {
  const others = session.codes.value.filter(one => one.codable && one.id !== code.id);
  const [into, setInto] = useState(others[0]?.id ?? "");
  const send = () => {
    session.step({ do: "merge", code: code.id, into });
    session.endForm();
    session.select(into);
  };
  return (
    <div class="s7-form s7-merge-form" role="group" aria-label="Merge">
      <p class="s7-hint">Its codings then count as the other code; nobody needs to look at them again.</p>
      <Named name="Merge into">
        <Select class="s7-first" value={into} options={asOptions(others)} onPick={setInto} />
      </Named>
      <FormButtons words="Merge" disabled={!into} onSend={send} onCancel={() => session.endForm()} />
    </div>
  );
}

export function SplitForm({ session, code }: { session: Session; code: DraftCode }) {
  const named = (n: number, name: "label" | "definition") => `split ${code.id} ${n} ${name}`;
  const there = Object.keys(session.typed.words.value).map(name =>
    name.startsWith(`split ${code.id} `) ? Number(name.split(" ")[2]) + 1 : 0,
  );
  const [more, setMore] = useState(0);
  const parts = Array.from({ length: Math.max(2, ...there, more) }, (_, n) => ({
    label: session.typed.of(named(n, "label")) ?? "",
    definition: session.typed.of(named(n, "definition")) ?? "",
  }));
  const put = (n: number, name: "label" | "definition", text: string) =>
    session.typed.put(named(n, name), text);
  const send = () => {
    if (parts.some(({ label }) => !label.trim())) return session.say("Name each part first");
    session.step({ do: "split", code: code.id, parts });
    session.endForm();
  };
  return (
    <div class="s7-form s7-split-form" role="group" aria-label="Split">
      <p class="s7-hint">
        Once this is saved, assign its texts to parts under “Split texts”. Texts without the code have none of
        its parts.
      </p>
      {parts.map((part, n) => (
        <div key={n} class="s7-part">
          <TextInput
            first={n === 0}
            name={`Part ${n + 1}`}
            value={part.label}
            onWrite={text => put(n, "label", text)}
          />
          <TextInput
            name={`Definition of part ${n + 1}`}
            rows={2}
            value={part.definition}
            onWrite={text => put(n, "definition", text)}
          />
        </div>
      ))}
      <Button class="s7-quiet" onClick={() => setMore(parts.length + 1)} words="+ Another part" />
      <FormButtons words="Split" onSend={send} onCancel={() => session.endForm()} />
    </div>
  );
}
