// What several coders coded on one text: one row a code, one column a coder, with signs of how they agree.
import type { CodebookView } from "./codebook";
import type { CoderColumn, Coding, Sign } from "./protocol";

interface Props {
  label: string;
  text: string;
  book: CodebookView;
  /** The first is the one that the others are compared with. */
  columns: readonly CoderColumn[];
  /** The code whose words are shown, where there is no room for those of all. */
  wordsOf?: string | undefined;
  compact?: boolean;
}

export function CodersTable({ label, text, book, columns, wordsOf, compact = false }: Props) {
  const there = new Set(columns.flatMap(({ codings }) => codings.map(({ code }) => code)));
  const codes = [...book.list.value.map(({ id }) => id).filter(id => there.delete(id)), ...there];
  return (
    <div class={compact ? "s7-coders s7-compact" : "s7-coders"} role="region" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">Code</th>
            {columns.map(({ coder, finished }) => (
              <th scope="col" key={coder}>
                {coder}
                {!finished && <span class="s7-unfinished"> not finished</span>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {codes.map(code => (
            <tr key={code}>
              <th scope="row">
                <kbd>{book.look(code).tag}</kbd>{" "}
                {(compact ? book.codes.value.get(code)?.look.short : book.codes.value.get(code)?.label) ??
                  code}
              </th>
              {columns.map(({ coder, codings, signs }) => (
                <td key={coder} class={signs?.[code] && `s7-sign-${signs[code]}`}>
                  {signs?.[code] && <SignOf sign={signs[code]} coder={coder} />}
                  {compact ? (
                    !signs?.[code] && <b>{codings.some(coding => coding.code === code) ? "✓" : "–"}</b>
                  ) : (
                    <Quotes text={text} codings={codings} code={code} />
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {wordsOf !== undefined &&
        columns.map(({ coder, codings }) => (
          <p key={coder}>
            <b>{coder}</b> <Quotes text={text} codings={codings} code={wordsOf} />
          </p>
        ))}
      {!codes.length && <p class="s7-hint">Nobody applied a code here.</p>}
    </div>
  );
}

/** Where the code stands, in the words of the text. */
function Quotes({ text, codings, code }: { text: string; codings: readonly Coding[]; code: string }) {
  const quotes = codings
    .filter(coding => coding.code === code)
    .map(({ start, end }) => (start === null ? "whole text" : `“${text.slice(start, end!)}”`));
  return (
    <span class="s7-quotes" dir="auto" title={quotes.join(" ") || undefined}>
      {quotes.join(" ") || "–"}
    </span>
  );
}

const SIGNS: Record<Sign, [string, (coder: string) => string]> = {
  both: ["=", () => "the same"],
  elsewhere: ["≈", () => "the same code on other words"],
  own: ["−", () => "only you"],
  theirs: ["+", coder => `only ${coder}`],
};

function SignOf({ sign, coder }: { sign: Sign; coder: string }) {
  const [mark, words] = SIGNS[sign];
  return (
    <span class="s7-sign-of" role="img" aria-label={words(coder)} title={words(coder)}>
      {mark}
    </span>
  );
}
