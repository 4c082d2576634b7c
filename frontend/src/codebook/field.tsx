// A field that becomes a step when it is left: not at each letter, and never lost where it goes in mid-sentence.
import { useEffect, useRef } from "preact/hooks";

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

export function Field({ label, value, rows = 0, hint, max, class: name, disabled = false, typed, onType, onWrite }: Props) {
  const field = useRef<HTMLInputElement & HTMLTextAreaElement>(null);
  const known = useRef(value);
  const write = useRef(onWrite);
  write.current = (text) => {
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
      {rows ? <textarea {...shared} rows={rows} defaultValue={typed ?? value} /> : <input {...shared} type="text" defaultValue={typed ?? value} />}
    </label>
  );
}
