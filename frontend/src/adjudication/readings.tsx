// What each coder decided on the disputed code, coded and wrote: a line each, and beside the text in full.
import { UNKNOWN } from "../shared/colours";
import type { Coding } from "../shared/protocol";
import type { Dispute, Reading } from "./messages";
import type { Session } from "./session";

/** So many lines are always in sight; of more coders, those who decided alike share one. */
const MOST = 6;

/** What a coder decided: a sign, and words for it. */
const DECIDED = { true: ["✓", "applied it"], false: ["–", "did not"], null: ["·", "no decision"] } as const;
const decidedBy = ({ applied }: Reading) => DECIDED[`${applied}`];

/**
 * The readings of each line, those first that applied the code; a line of several is of coders who decided
 * alike.
 */
export function linesOf(readings: readonly Reading[], most = MOST): Reading[][] {
  const alike = [true, false, null].map(applied => readings.filter(one => one.applied === applied));
  const lines = (folded: number) =>
    alike.flatMap((of, at) => (at >= folded && of.length > 1 ? [of] : of.map(one => [one])));
  return [3, 2, 1, 0].map(lines).find(found => found.length <= most) ?? lines(0);
}

export function Readings({ session, dispute }: { session: Session; dispute: Dispute }) {
  return (
    <ul class="s7-readings" aria-label="Readings">
      {linesOf(dispute.coders).map(line => (
        <Line key={line[0]!.coder} session={session} dispute={dispute} line={line} />
      ))}
    </ul>
  );
}

function Line({ session, dispute, line }: { session: Session; dispute: Dispute; line: readonly Reading[] }) {
  const first = line[0]!;
  const [sign, words] = decidedBy(first);
  const names = line.map(({ coder }) => coder).join(", ");
  const said = line.length > 1 ? `${words}: ${names}` : saidBy(first, dispute);
  const codes = otherCodes(line, dispute).map(code => session.label(code));
  return (
    <li
      class={first.applied ? "s7-reading-of s7-applied" : "s7-reading-of"}
      title={[names, said, ...codes].join(" · ")}
    >
      <span class="s7-reading-said" role="img" aria-label={words}>
        {sign}
      </span>
      <span class="s7-reading-who">{line.length > 1 ? line.length : first.coder}</span>
      <span class="s7-reading-what" dir="auto">
        {said}
      </span>
      <span class="s7-reading-others">
        <OtherCodes session={session} dispute={dispute} line={line} />
      </span>
    </li>
  );
}

/** The words that were coded or else the decision, and the memos, as a line that may be cut. */
function saidBy(reading: Reading, dispute: Dispute): string {
  const quotes = codedWith(dispute.code, reading).map(coding => quoted(coding, dispute));
  const memos = reading.memos.map(({ text }) => `✎ ${text}`);
  return [quotes.join(" ") || decidedBy(reading)[1], ...memos].join(" · ");
}

const codedWith = (code: string, { codings }: Reading) => codings.filter(coding => coding.code === code);

function quoted({ start, end, confidence }: Coding, { text }: Dispute): string {
  return `${start === null ? "whole text" : `“${text.slice(start, end!)}”`}${confidence === "unsure" ? " unsure" : ""}`;
}

/** The other codes that were applied here. */
function otherCodes(line: readonly Reading[], dispute: Dispute): string[] {
  const codes = line.flatMap(({ codings }) => codings).map(({ code }) => code);
  return [...new Set(codes)].filter(code => code !== dispute.code);
}

/** Their names, and in full their words. */
function OtherCodes({
  session,
  dispute,
  line,
  full = false,
}: {
  session: Session;
  dispute: Dispute;
  line: readonly Reading[];
  full?: boolean;
}) {
  return (
    <>
      {otherCodes(line, dispute).map(code => (
        <span
          key={code}
          class="s7-other-code"
          style={{ "--s7-c": (session.book.looks.value.get(code) ?? UNKNOWN).colour }}
          dir="auto"
        >
          {full ? session.label(code) : session.short(code)}
          {full && line.flatMap(one => codedWith(code, one)).map(coding => ` ${quoted(coding, dispute)}`)}
        </span>
      ))}
    </>
  );
}

/** What the lines may cut: the words each coder coded, the memos, and the note of the ruling. */
export function ReadingsInFull({ session, dispute }: { session: Session; dispute: Dispute }) {
  const saying = dispute.coders.filter(({ codings, memos }) => codings.length || memos.length);
  if (!saying.length && !dispute.ruling?.note) return null;
  return (
    <section class="s7-in-full" aria-label="Readings in full">
      <h5>Readings in full</h5>
      <ul>
        {saying.map(reading => (
          <li key={reading.coder}>
            <b class="s7-strong">{reading.coder}</b> {decidedBy(reading)[1]}
            {codedWith(dispute.code, reading).map((coding, n) => (
              <span key={n} dir="auto">
                {quoted(coding, dispute)}
              </span>
            ))}
            <OtherCodes session={session} dispute={dispute} line={[reading]} full />
            {reading.memos.map((memo, n) => (
              <span key={n} class="s7-reading-memo" dir="auto">
                ✎ {memo.start !== null && <q>{dispute.text.slice(memo.start, memo.end!)}</q>} {memo.text}
              </span>
            ))}
          </li>
        ))}
        {dispute.ruling?.note && (
          <li>
            <b class="s7-strong">{dispute.ruling.by}</b>
            <span class="s7-reading-memo" dir="auto">
              {dispute.ruling.note}
            </span>
          </li>
        )}
      </ul>
    </section>
  );
}
