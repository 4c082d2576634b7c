// The code picker: press a code to apply it; its definition and rules stand below.
import type { CodebookView } from "./codebook";
import { sample, UNKNOWN } from "./colours";
import type { Code, Coding } from "./protocol";

interface Props {
  book: CodebookView;
  /** What is coded on the text on screen. */
  codings: readonly Coding[];
  disabled: boolean;
  onPick: (code: Code) => void;
}

export function CodePicker(props: Props) {
  const { book } = props;
  const codebook = book.codebook.value;
  if (!codebook) return null;
  const [shown, codes, chosen] = [book.filtered.value, book.codes.value, book.chosen.value];
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
            value={book.filter.value}
            onInput={(event) => (book.filter.value = event.currentTarget.value)}
          />
        )}
      </header>
      <ul class="s7-codes">
        {shown.map((code) => (
          <li key={code.id} style={{ "--s7-c": lookOf(book, code).colour, "--s7-depth": depth(code, codes) }}>
            {code.codable ? <CodeButton {...props} code={code} /> : <span class="s7-group">{code.label}</span>}
          </li>
        ))}
        {!shown.length && <li class="s7-hint">No code matches.</li>}
      </ul>
      <Detail book={book} code={chosen ?? codes.get(book.detail.value ?? "") ?? shown[0]} />
    </aside>
  );
}

const lookOf = (book: CodebookView, code: Code) => book.looks.value.get(code.id) ?? UNKNOWN;

function depth(code: Code, codes: Map<string, Code>): number {
  let levels = 0;
  for (let above = code.parent; above; above = codes.get(above)?.parent ?? null) levels++;
  return levels;
}

function CodeButton({ book, codings, disabled, onPick, code }: Props & { code: Code }) {
  const count = codings.filter((coding) => coding.code === code.id).length;
  return (
    <button
      type="button"
      class={code === book.chosen.value ? "s7-code s7-chosen" : "s7-code"}
      aria-pressed={count > 0}
      disabled={disabled}
      onClick={() => onPick(code)}
      onPointerEnter={() => (book.detail.value = code.id)}
      onFocus={() => (book.detail.value = code.id)}
    >
      <kbd>{code.key ?? " "}</kbd>
      <span class="s7-sample" style={sample(lookOf(book, code))} />
      <span class="s7-label">{code.label}</span>
      {count > 0 && <span class="s7-count" aria-label={`applied ${count} times here`}>{count === 1 ? "✓" : `✓ ${count}`}</span>}
    </button>
  );
}

function Detail({ book, code }: { book: CodebookView; code: Code | undefined }) {
  if (!code) return null;
  const lists: [string, string[]][] = [
    ["Use when", code.use_when],
    ["Not when", code.avoid_when],
    ["Examples", code.examples],
    ["Near misses", code.counter_examples],
  ];
  return (
    <section class="s7-detail" style={{ "--s7-c": lookOf(book, code).colour }} tabIndex={0} aria-label={`Definition of ${code.label}`}>
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
