// The list of keys.

/** Each key with what it does. */
export type Rows = readonly [string, string][];

function Keys({ rows }: { rows: Rows }) {
  return (
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
  );
}

/** The keys as one list (`rows`), or under a heading for each thing one wants to do (`groups`). */
export function Help({ rows, groups }: { rows?: Rows; groups?: readonly { title: string; rows: Rows }[] }) {
  return (
    <section class="s7-help" aria-label="Keys">
      {rows && <Keys rows={rows} />}
      {groups?.map((group) => (
        <section key={group.title} aria-label={group.title}>
          <h3>{group.title}</h3>
          <Keys rows={group.rows} />
        </section>
      ))}
    </section>
  );
}
