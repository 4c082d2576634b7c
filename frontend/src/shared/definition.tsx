// The open definition: what a code means, its rules and examples; pinned, it stays while others are used.
import type { VNode } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { Button } from "./button";
import type { CodebookView } from "./codebook";
import type { Code } from "./protocol";

const STEP = 60;

interface Props {
  book: CodebookView;
  beside?: ((code: Code) => VNode) | undefined;
  /** Whether it can be kept open while others are used; not where nothing but the one is ever open. */
  pins?: boolean;
}

export function Definition({ book, beside, pins = true }: Props) {
  const box = useRef<HTMLElement>(null);
  const code = book.open.value;
  useLayoutEffect(() => void (box.current && (box.current.scrollTop = 0)), [code?.id]);
  if (!code) return null;
  const pinned = book.definition.pinned.value === code.id;
  const lists: [string, string[]][] = [
    ["Use when", code.use_when],
    ["Not when", code.avoid_when],
    ["Examples", code.examples],
    ["Near misses", code.counter_examples],
  ];
  return (
    <section
      class="s7-detail"
      ref={box}
      style={{ "--s7-c": book.look(code.id).colour }}
      tabIndex={0}
      aria-label={`Definition of ${code.label}`}
    >
      {pins && (
        <Button
          type="button"
          class="s7-pin"
          aria-pressed={pinned}
          aria-label="Keep this definition open"
          title="Keep this definition open (-)"
          onClick={() => book.definition.togglePin(code.id)}
          words={pinned ? "Pinned" : "Pin"}
        />
      )}
      <h4 dir="auto">{code.label}</h4>
      {beside?.(code)}
      {code.definition && <p dir="auto">{code.definition}</p>}
      {lists.map(
        ([title, entries]) =>
          entries.length > 0 && (
            <div key={title}>
              <h5>{title}</h5>
              <ul>
                {entries.map((entry, index) => (
                  <li key={index} dir="auto">
                    {entry}
                  </li>
                ))}
              </ul>
            </div>
          ),
      )}
    </section>
  );
}

/** Scroll the definition in `root` by a few lines. */
export function scrollDefinition(root: Element, step: 1 | -1): void {
  root.querySelector(".s7-detail")?.scrollBy({ top: step * STEP });
}
