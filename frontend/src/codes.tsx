import type { Session } from "./session";
import type { Code, Unit } from "./protocol";
import { colourOf } from "./reader";

function depth(code: Code, codes: Map<string, Code>): number {
  let levels = 0;
  for (let above = code.parent; above; above = codes.get(above)?.parent ?? null) levels++;
  return levels;
}

/** The codebook: press a code to apply it; its definition and rules stand below. */
export function CodeList({ session, unit }: { session: Session; unit: Unit | null }) {
  const codebook = session.codebook.value;
  if (!codebook) return null;
  const wanted = session.filter.value.trim().toLowerCase();
  const shown = codebook.codes.filter(
    (code) => !wanted || `${code.label} ${code.id} ${code.definition}`.toLowerCase().includes(wanted),
  );
  return (
    <aside class="s7-codebook" aria-label="Codebook">
      <header>
        <span class="s7-title">{codebook.title}</span>
        {codebook.codes.length > 9 && (
          <input
            class="s7-filter"
            type="search"
            placeholder="Find a code"
            aria-label="Find a code"
            value={session.filter.value}
            onInput={(event) => (session.filter.value = event.currentTarget.value)}
          />
        )}
      </header>
      <ul class="s7-codes">
        {shown.map((code) => (
          <li key={code.id} style={{ "--s7-c": colourOf(code), "--s7-depth": depth(code, session.codes.value) }}>
            {code.codable ? <CodeButton {...{ session, unit, code }} /> : <span class="s7-group">{code.label}</span>}
          </li>
        ))}
        {!shown.length && <li class="s7-hint">No code matches.</li>}
      </ul>
      <Detail code={session.codes.value.get(session.detail.value ?? "") ?? shown[0]} />
    </aside>
  );
}

function CodeButton({ session, unit, code }: { session: Session; unit: Unit | null; code: Code }) {
  const count = unit?.codings.filter((coding) => coding.code === code.id).length ?? 0;
  return (
    <button
      type="button"
      class="s7-code"
      aria-pressed={count > 0}
      disabled={!unit}
      onClick={() => session.toggle(code)}
      onPointerEnter={() => (session.detail.value = code.id)}
      onFocus={() => (session.detail.value = code.id)}
    >
      <kbd>{code.key ?? " "}</kbd>
      <span class="s7-label">{code.label}</span>
      {count > 0 && <span class="s7-count" aria-label={`applied ${count} times here`}>{count === 1 ? "✓" : `✓ ${count}`}</span>}
    </button>
  );
}

function Detail({ code }: { code: Code | undefined }) {
  if (!code) return null;
  const lists: [string, string[]][] = [
    ["Use when", code.use_when],
    ["Not when", code.avoid_when],
    ["Examples", code.examples],
    ["Near misses", code.counter_examples],
  ];
  return (
    <section class="s7-detail" style={{ "--s7-c": colourOf(code) }} tabIndex={0} aria-label={`Definition of ${code.label}`}>
      <h4>{code.label}</h4>
      {code.definition && <p>{code.definition}</p>}
      {lists.map(
        ([title, entries]) =>
          entries.length > 0 && (
            <div key={title}>
              <h5>{title}</h5>
              <ul>
                {entries.map((entry, index) => (
                  <li key={index}>{entry}</li>
                ))}
              </ul>
            </div>
          ),
      )}
    </section>
  );
}
