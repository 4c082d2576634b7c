// The code that is open: its fields, edited in place; what can be done with it; and its quotes beneath.
import { useState, useEffect, useRef } from "preact/hooks";
import { Button, Space } from "../shared/button";
import { AddForm, MergeForm, SplitForm } from "./forms";
import type { DraftCode } from "./messages";
import { QuoteList } from "./quotes";
import type { Session } from "./session";

type ListName = "use_when" | "avoid_when" | "examples" | "counter_examples";
const LISTS: [ListName, string][] = [
  ["use_when", "Use when"],
  ["avoid_when", "Not when"],
  ["examples", "Examples"],
  ["counter_examples", "Near misses"],
];

export function Fields({ session }: { session: Session }) {
  const code = session.code.value;
  const form = session.form.value;
  if (form === "add") return <AddForm session={session} />;
  if (!code) return <p class="s7-hint">Choose a code, or add one.</p>;
  return (
    <>
      <div class="s7-pane-line">
        <h4 dir="auto">{code.label}</h4>
        <span class="s7-unit-id">{code.id}</span>
        <Space />
        <span class="s7-code-deeds">
          {code.codable && (
            <>
              <Button
                title="Merge into another code (m)"
                onClick={() => session.begin("merge")}
                words="Merge…"
              />
              <Button title="Split into parts (s)" onClick={() => session.begin("split")} words="Split…" />
            </>
          )}
          <Button
            title="Retire the code (Del)"
            onClick={() => session.step({ do: "retire", code: code.id })}
            words="Retire"
          />
        </span>
      </div>
      {form === "merge" && <MergeForm key={code.id} session={session} code={code} />}
      {form === "split" && <SplitForm key={code.id} session={session} code={code} />}
      <CodeFields key={code.id} session={session} code={code} />
      <QuoteList session={session} />
    </>
  );
}

function CodeFields({ session, code }: { session: Session; code: DraftCode }) {
  const edit = (name: string, value: unknown) => session.edit(code.id, { [name]: value });
  /** What is typed in a field before it is a step. */
  const kept = (name: string) => {
    const as = `field ${code.id} ${name}`;
    return {
      typed: session.typed.words.peek()[as],
      onType: (text: string | null) => (text === null ? session.typed.drop(as) : session.typed.put(as, text)),
    };
  };
  const lines = (name: ListName) => code[name].join("\n");
  return (
    <div class="s7-fields">
      <div class="s7-field-line">
        <Field
          label="Label"
          class="s7-label-field"
          value={code.label}
          max={400}
          {...kept("label")}
          onWrite={text => edit("label", text)}
        />
        <Field
          label="Key"
          class="s7-key-field"
          value={code.key ?? ""}
          max={2}
          onWrite={text => edit("key", text)}
        />
        <ColourField value={code.colour} shown={code.look.light} onWrite={text => edit("colour", text)} />
      </div>
      <Field
        label="Definition"
        class="s7-definition-field"
        value={code.definition}
        rows={3}
        {...kept("definition")}
        onWrite={text => edit("definition", text)}
      />
      <div class="s7-field-pairs">
        {LISTS.map(([name, words]) => {
          const broken = code[name].some(entry => entry.includes("\n"));
          const hint = broken ? "contains line breaks: edit it in a file" : "one per line";
          return (
            <Field
              key={name}
              class="s7-list-field"
              label={words}
              hint={hint}
              disabled={broken}
              value={lines(name)}
              rows={2}
              {...kept(name)}
              onWrite={text => edit(name, text.split("\n"))}
            />
          );
        })}
      </div>
    </div>
  );
}

function ColourField({
  value,
  shown,
  onWrite,
}: {
  value: string | null;
  shown: string;
  onWrite: (text: string) => void;
}) {
  const [open, setOpen] = useState(false);
  const write = (text: string) => text !== (value ?? "") && onWrite(text);
  return (
    <div class="s7-field">
      <span class="s7-field-name">Colour</span>
      <span class="s7-colour-line">
        {value || open ? (
          <>
            <input
              type="color"
              aria-label="Colour"
              value={value ?? shown}
              onChange={event => write(event.currentTarget.value)}
            />
            <Button
              title="Remove the colour: one is chosen automatically"
              onClick={() => {
                setOpen(false);
                write("");
              }}
              words="×"
            />
          </>
        ) : (
          <Button
            title="Chosen automatically; click to pick one"
            onClick={() => setOpen(true)}
            words="automatic"
          />
        )}
      </span>
    </div>
  );
}

interface Props {
  label: string;
  value: string;
  rows?: number;
  hint?: string;
  max?: number;
  class?: string;
  disabled?: boolean;
  /** What was typed in it before, by this page or one that is gone. */
  typed?: string;
  /** Each letter; and null once it has become a step, or is as it was. */
  onType?: (text: string | null) => void;
  onWrite: (text: string) => void;
}

export function Field({
  label,
  value,
  rows = 0,
  hint,
  max,
  class: name,
  disabled = false,
  typed,
  onType,
  onWrite,
}: Props) {
  const field = useRef<HTMLInputElement & HTMLTextAreaElement>(null);
  const known = useRef(value);
  const write = useRef(onWrite);
  write.current = text => {
    onType?.(null);
    onWrite(text);
  };
  // What comes from the kernel is shown, unless it is being written over.
  useEffect(() => {
    if (field.current && field.current.value === known.current) field.current.value = value;
    known.current = value;
  }, [value]);
  const leave = () => {
    const text = field.current?.value;
    if (text === undefined || text === known.current) return;
    known.current = text;
    write.current(text);
  };
  useEffect(() => {
    const at = field.current;
    return () => {
      if (at && at.value !== known.current) write.current(at.value);
    };
  }, []);
  const shared = {
    ref: field,
    class: name,
    disabled,
    maxLength: max,
    dir: "auto" as const,
    onInput: (event: Event) => {
      const text = (event.currentTarget as HTMLInputElement).value;
      onType?.(text === known.current ? null : text);
    },
    onBlur: leave,
  };
  return (
    <label class="s7-field">
      <span class="s7-field-name">
        {label}
        {hint && <span class="s7-field-hint"> ({hint})</span>}
      </span>
      {rows ? (
        <textarea {...shared} rows={rows} defaultValue={typed ?? value} />
      ) : (
        <input {...shared} type="text" defaultValue={typed ?? value} />
      )}
    </label>
  );
}
