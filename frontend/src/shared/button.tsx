// A button, which sends no form; and the space that is left in a row.
import type { ButtonHTMLAttributes, ComponentChildren } from "preact";

interface Props extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** The key that does the same. */
  press?: string | number | undefined;
  /** What it says, behind the key. */
  words?: ComponentChildren;
}

export function Button({ press, words, children, ...attributes }: Props) {
  return (
    <button type="button" {...attributes}>
      {press && <kbd>{press}</kbd>}
      {press && " "}
      {words ?? children}
    </button>
  );
}

export const Space = () => <span class="s7-space" />;
