import type { Session } from "./session";
import type { Code, Unit } from "./protocol";
import { sample, UNKNOWN } from "./colours";

const lookOf = (session: Session, code: Code) => session.looks.value.get(code.id) ?? UNKNOWN;

function depth(code: Code, codes: Map<string, Code>): number {
  let levels = 0;
  for (let above = code.parent; above; above = codes.get(above)?.parent ?? null) levels++;
  return levels;
}

/** The codes that the filter leaves. */
function filtered(session: Session): Code[] {
  const wanted = session.filter.value.trim().toLowerCase();
  return (session.codebook.value?.codes ?? []).filter(
    (code) => !wanted || `${code.label} ${code.id} ${code.definition}`.toLowerCase().includes(wanted),
  );
}

/** The code that Enter in the filter applies: one that is called so, or else the first. */
function chosen(session: Session): Code | undefined {
  const wanted = session.filter.value.trim().toLowerCase();
  const codes = wanted ? filtered(session).filter(({ codable }) => codable) : [];
  const called = (code: Code) => [code.label, code.id].some((name) => name.toLowerCase() === wanted);
  return codes.find(called) ?? codes.find(({ label }) => label.toLowerCase().includes(wanted)) ?? codes[0];
}

/** Apply what was looked for, and show all codes again. */
export function applyFiltered(session: Session): void {
  const code = chosen(session);
  session.filter.value = "";
  if (code) session.apply(code);
}

/** The codebook: press a code to apply it; its definition and rules stand below. */
export function CodeList({ session, unit }: { session: Session; unit: Unit | null }) {
  const codebook = session.codebook.value;
  if (!codebook) return null;
  const shown = filtered(session);
  const first = chosen(session);
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
          <li key={code.id} style={{ "--s7-c": lookOf(session, code).colour, "--s7-depth": depth(code, session.codes.value) }}>
            {code.codable ? <CodeButton {...{ session, unit, code }} chosen={code === first} /> : <span class="s7-group">{code.label}</span>}
          </li>
        ))}
        {!shown.length && <li class="s7-hint">No code matches.</li>}
      </ul>
      <Detail session={session} code={first ?? session.codes.value.get(session.detail.value ?? "") ?? shown[0]} />
    </aside>
  );
}

interface ButtonProps {
  session: Session;
  unit: Unit | null;
  code: Code;
  chosen: boolean;
}

function CodeButton({ session, unit, code, chosen }: ButtonProps) {
  const count = unit?.codings.filter((coding) => coding.code === code.id).length ?? 0;
  return (
    <button
      type="button"
      class={chosen ? "s7-code s7-chosen" : "s7-code"}
      aria-pressed={count > 0}
      disabled={session.total.value === 0}
      onClick={() => session.ahead.take(() => session.toggle(code), { unit_id: unit?.unit_id })}
      onPointerEnter={() => (session.detail.value = code.id)}
      onFocus={() => (session.detail.value = code.id)}
    >
      <kbd>{code.key ?? " "}</kbd>
      <span class="s7-sample" style={sample(lookOf(session, code))} />
      <span class="s7-label">{code.label}</span>
      {count > 0 && <span class="s7-count" aria-label={`applied ${count} times here`}>{count === 1 ? "✓" : `✓ ${count}`}</span>}
    </button>
  );
}

function Detail({ session, code }: { session: Session; code: Code | undefined }) {
  if (!code) return null;
  const lists: [string, string[]][] = [
    ["Use when", code.use_when],
    ["Not when", code.avoid_when],
    ["Examples", code.examples],
    ["Near misses", code.counter_examples],
  ];
  return (
    <section class="s7-detail" style={{ "--s7-c": lookOf(session, code).colour }} tabIndex={0} aria-label={`Definition of ${code.label}`}>
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
