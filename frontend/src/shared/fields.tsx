// The parts of forms and lists: a named field, one for text, a choice, a search, and the buttons at the end.
import type { ComponentChildren, PartialInputHTMLAttributes, PartialSelectHTMLAttributes } from "preact";
import { useRef } from "preact/hooks";
import { Button } from "./button";

/** A search begins once nothing was typed for so long. */
const PAUSE_MS = 250;

type InputAttributes = Omit<PartialInputHTMLAttributes<HTMLInputElement>, "name" | "role" | "type" | "value">;

export function Named({ name, children }: { name: ComponentChildren; children: ComponentChildren }) {
  return (
    <label class="s7-field">
      <span class="s7-field-name">{name}</span>
      {children}
    </label>
  );
}

interface TextProps extends InputAttributes {
  name: string;
  value: string;
  /** Lines, where there may be several. */
  rows?: number;
  /** Whether it gets the focus when its form opens. */
  first?: boolean;
  onWrite: (text: string) => void;
}

export function TextInput({ name, rows = 0, first = false, onWrite, ...attributes }: TextProps) {
  const shared = {
    dir: "auto" as const,
    ...(first ? { class: "s7-first" } : {}),
    ...attributes,
    onInput: (event: Event) => onWrite((event.currentTarget as HTMLInputElement).value),
  };
  return (
    <Named name={name}>
      {rows ? <textarea {...(shared as object)} rows={rows} /> : <input type="text" {...shared} />}
    </Named>
  );
}

/** A value with the words for it. */
export type Option = readonly [string, string];

interface SelectProps
  extends Omit<PartialSelectHTMLAttributes<HTMLSelectElement>, "role" | "size" | "value"> {
  value: string;
  options: readonly Option[];
  onPick: (value: string) => void;
}

export function Select({ options, onPick, ...attributes }: SelectProps) {
  return (
    <select {...attributes} onChange={event => onPick(event.currentTarget.value)}>
      {options.map(([name, words]) => (
        <option key={name} value={name} selected={name === attributes.value}>
          {words}
        </option>
      ))}
    </select>
  );
}

/** Codes to choose from. */
export const asOptions = (codes: readonly { id: string; label: string }[]): Option[] =>
  codes.map(({ id, label }) => [id, label]);

/** A field that searches once one stops typing. */
export function Search({ onFind, ...attributes }: InputAttributes & { onFind: (words: string) => void }) {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const look = (words: string) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => onFind(words), PAUSE_MS);
  };
  return <input type="search" {...attributes} onInput={event => look(event.currentTarget.value)} />;
}

export function FormButtons({
  words,
  disabled = false,
  onSend,
  onCancel,
}: {
  words: string;
  disabled?: boolean;
  onSend: () => void;
  onCancel: () => void;
}) {
  return (
    <div class="s7-form-buttons">
      <Button class="s7-primary" disabled={disabled} onClick={onSend} words={words} />
      <Button onClick={onCancel} words="Cancel" />
    </div>
  );
}
