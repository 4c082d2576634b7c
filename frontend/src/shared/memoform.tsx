// Writing a memo: a form of its own, or a field that stands beneath the text; one's own, or for the team.
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { Button, Space } from "./button";
import { bringIn } from "./onscreen";

/** Whether the memo is for the team; nothing outside of a round, which nobody could unblind. */
export function ForTeam({
  round,
  on,
  onChange,
}: {
  round: string | null;
  on: boolean;
  onChange: (team: boolean) => void;
}) {
  if (round === null) return null;
  const when = `once round “${round}” is unblinded`;
  return (
    <label
      class="s7-for-team"
      title={`The others see this memo, with its earlier versions, ${when}. Other memos stay private.`}
    >
      <input type="checkbox" checked={on} onChange={event => onChange(event.currentTarget.checked)} />{" "}
      <span>for the team</span>
    </label>
  );
}

interface FormProps {
  /** What the memo is about, in words; another object, another memo. */
  about: object;
  words: string;
  draft: string;
  onWrite: (text: string) => void;
  /** The person went elsewhere: what was written is saved. */
  onLeave: () => void;
  onSave: () => void;
  onDiscard: () => void;
  /** Of a memo that stands: it is ended. */
  onEnd?: (() => void) | undefined;
  /** Before the buttons. */
  children?: ComponentChildren;
}

export function MemoForm({
  about,
  words,
  draft,
  onWrite,
  onLeave,
  onSave,
  onDiscard,
  onEnd,
  children,
}: FormProps) {
  const box = useRef<HTMLElement>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const latest = useRef(onLeave);
  latest.current = onLeave;
  useLayoutEffect(() => {
    field.current!.focus({ preventScroll: true });
    field.current!.setSelectionRange(field.current!.value.length, field.current!.value.length);
    bringIn(box.current);
  }, [about]);
  useEffect(() => {
    // Before the check for unsaved acts hears of it: a page closed in mid-sentence keeps the sentence.
    const keep = () => latest.current();
    addEventListener("beforeunload", keep, true);
    return () => removeEventListener("beforeunload", keep, true);
  }, []);
  const leave = (event: FocusEvent) => {
    const elsewhere = !box.current?.contains(event.relatedTarget as Node | null);
    if (elsewhere && document.hasFocus()) onLeave();
  };
  const down = (event: MouseEvent) => {
    event.stopPropagation();
    if (!(event.target as Element).closest("textarea")) event.preventDefault();
  };
  return (
    <section
      class="s7-memo-form"
      role="group"
      aria-label="Memo"
      ref={box}
      onFocusOut={leave}
      onMouseDown={down}
      onPointerDown={event => event.stopPropagation()}
    >
      <h4 dir="auto">{words}</h4>
      <textarea
        ref={field}
        rows={3}
        aria-label={words}
        placeholder="A thought"
        value={draft}
        onInput={event => onWrite(event.currentTarget.value)}
      />
      <div class="s7-memo-buttons">
        {children}
        <Space />
        {onEnd && <Button onClick={onEnd} words="End memo" />}
        <Button onClick={onDiscard} words="Discard" />
        <Button class="s7-primary" title="Esc or Ctrl+Enter" onClick={onSave} words="Save" />
      </div>
    </section>
  );
}

interface FieldProps {
  label: string;
  placeholder: string;
  text: string;
  /**
   * Called with what is written when the field is left, goes, and after a pause in typing; also where that is
   * nothing new.
   */
  onSave: (text: string) => void;
  /** Behind the field; it can read what is written there. */
  children?: (written: () => string) => ComponentChildren;
}

/** A memo that is always there to be written; one field for each thing that it is about (`key`). */
export function MemoField({ label, placeholder, text, onSave, children }: FieldProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  const latest = useRef(onSave);
  latest.current = onSave;
  // Some browsers send a last blur when the field is taken away: by then there is nothing to read from it.
  const save = () => field.current && latest.current(field.current.value);
  useEffect(() => {
    const at = field.current!;
    // Never under the person's hands: while they write, what they write counts.
    if ((at.getRootNode() as Document).activeElement !== at) at.value = text;
  }, [text]);
  // A layout effect: its end runs at once when the field goes, while what it saves can still be handed over.
  useLayoutEffect(() => {
    const at = field.current!;
    let pause: ReturnType<typeof setTimeout> | undefined;
    const later = () => {
      clearTimeout(pause);
      pause = setTimeout(save, 1500);
    };
    at.addEventListener("input", later);
    // Before the check for unsaved acts hears of it: a page closed in mid-sentence keeps the sentence.
    addEventListener("beforeunload", save, true);
    return () => {
      clearTimeout(pause);
      removeEventListener("beforeunload", save, true);
      latest.current(at.value);
    };
  }, []);
  return (
    <div class="s7-memo">
      <label>
        <span>{label}</span>
        <textarea
          ref={field}
          rows={text ? 3 : 1}
          placeholder={placeholder}
          defaultValue={text}
          onBlur={save}
        />
      </label>
      {children?.(() => field.current!.value)}
    </div>
  );
}
