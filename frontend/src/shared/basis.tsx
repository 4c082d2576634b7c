// What the numbers below rest on, in the kernel's words.

/**
 * All of it where the panel around it scrolls; else it has one place of fixed height, in which a long one
 * scrolls.
 */
export function BasisLine({ words, whole = false }: { words: string; whole?: boolean }) {
  if (whole)
    return (
      <p class="s7-restson s7-whole" dir="auto">
        {words}
      </p>
    );
  return (
    <div
      class="s7-restson"
      role="region"
      tabIndex={0}
      aria-label="What the numbers rest on"
      title={words}
      dir="auto"
    >
      {words}
    </div>
  );
}
