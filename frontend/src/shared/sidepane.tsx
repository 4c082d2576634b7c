// What stands beside the text, in a pane or, where there is no room, in a drawer over it; and tabs, where it
// is one of several.
import type { ComponentChildren } from "preact";
import { Button, Space } from "./button";

interface Props<Name extends string> {
  /** What there is, each with its words; and the key that shows it, where there is one. */
  names: Readonly<Record<Name, string>>;
  keys: Readonly<Record<string, string>>;
  shown: Name;
  onPick: (name: Name) => void;
  onClose: () => void;
}

export function SideTabs<Name extends string>({ names, keys, shown, onPick, onClose }: Props<Name>) {
  const tabs = Object.entries(names) as [Name, string][];
  return (
    <div class="s7-side-tabs" role="group" aria-label="Panel next to the text">
      {tabs.map(([name, words]) => (
        <Button
          key={name}
          aria-pressed={shown === name}
          title={keys[name] ? `${words} (${keys[name]})` : words}
          onClick={() => shown === name || onPick(name)}
          words={words}
        />
      ))}
      <Space />
      <Button aria-label="Close" title="Close (Esc)" onClick={onClose} words="×" />
    </div>
  );
}

interface FindProps {
  /** Of which list. */
  of: string;
  label: string;
  words: string;
  value: string;
  onFind: (words: string) => void;
  onFocus?: () => void;
  /** The row that Enter opens. */
  marked?: string;
}

export function Find({ of, label, words, value, onFind, onFocus, marked }: FindProps) {
  return (
    <input
      class="s7-find"
      type="search"
      aria-controls={`${of}-rows`}
      aria-activedescendant={marked}
      aria-label={label}
      placeholder={words}
      value={value}
      onFocus={onFocus}
      onInput={event => onFind(event.currentTarget.value)}
    />
  );
}

export function SidePane({ label, children }: { label: string; children: ComponentChildren }) {
  const down = (event: MouseEvent) => {
    event.stopPropagation();
    // Buttons and rows leave the focus where it is.
    const target = event.target as Element;
    if (!target.closest("input, select, .s7-rows, .s7-groups") || target.closest(".s7-row"))
      event.preventDefault();
  };
  return (
    <section
      class="s7-side"
      aria-label={label}
      onPointerDown={event => event.stopPropagation()}
      onMouseDown={down}
    >
      {children}
    </section>
  );
}

/** How many there are, which is read aloud when it changes, and what stands next to it. */
export function Counted({ words, children }: { words: string | number; children?: ComponentChildren }) {
  return (
    <div class="s7-counted">
      <span aria-live="polite">{words}</span>
      {children}
    </div>
  );
}
