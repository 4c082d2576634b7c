// What each coder decided on the disputed code, coded and wrote.
import { UNKNOWN } from "../shared/colours";
import type { Coding } from "../shared/protocol";
import type { Dispute, Reading } from "./messages";
import type { Session } from "./session";

export function Readings({ session, dispute }: { session: Session; dispute: Dispute }) {
  return (
    <ul class="s7-readings" aria-label="Readings" tabIndex={0}>
      {dispute.coders.map((reading) => (
        <li key={reading.coder} class={reading.applied ? "s7-reading-of s7-applied" : "s7-reading-of"}>
          <span class="s7-reading-who">{reading.coder}</span>
          <span class="s7-reading-said">{reading.applied === null ? "decided nothing" : reading.applied ? "✓ applied it" : "✗ did not"}</span>
          <span class="s7-reading-what">
            <Quotes text={dispute.text} codings={reading.codings.filter(({ code }) => code === dispute.code)} />
            <Others session={session} dispute={dispute} reading={reading} />
            {reading.memos.map((memo, n) => (
              <span key={n} class="s7-reading-memo" dir="auto">
                ✎ {memo.start !== null && <q>{dispute.text.slice(memo.start, memo.end!)}</q>} {memo.text}
              </span>
            ))}
          </span>
        </li>
      ))}
    </ul>
  );
}

function Quotes({ text, codings }: { text: string; codings: readonly Coding[] }) {
  return (
    <>
      {codings.map(({ start, end, confidence }, n) => (
        <span key={n} class="s7-reading-quote" dir="auto">
          {start === null ? "whole text" : `“${text.slice(start, end!)}”`}
          {confidence === "unsure" && <i> unsure</i>}
        </span>
      ))}
    </>
  );
}

/** The other codes that this coder applied here; with their words where all codes are shown. */
function Others({ session, dispute, reading }: { session: Session; dispute: Dispute; reading: Reading }) {
  const others = reading.codings.filter(({ code }) => code !== dispute.code);
  const codes = [...new Set(others.map(({ code }) => code))];
  if (!codes.length) return null;
  return (
    <span class="s7-reading-others">
      {codes.map((code) => (
        <span key={code} class="s7-other-code" style={{ "--s7-c": (session.book.looks.value.get(code) ?? UNKNOWN).colour }} dir="auto">
          {session.label(code)}
          {session.allCodes.value && <Quotes text={dispute.text} codings={others.filter((coding) => coding.code === code)} />}
        </span>
      ))}
    </span>
  );
}
