// The list of keys.

/** `rows`: each key with what it does. */
export function Help({ rows }: { rows: readonly [string, string][] }) {
  return (
    <section class="s7-help" aria-label="Keys">
      <dl>
        {rows.map(([key, words]) => (
          <div key={words}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{words}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
