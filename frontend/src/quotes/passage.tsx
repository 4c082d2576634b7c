// The open passage: its text, what is printed of it, and what can be decided.
import { Button } from "../shared/button";
import { Conversation } from "../shared/conversation";
import { TextView } from "../shared/textview";
import { shownDate } from "../shared/times";
import { Flagged, SIGNS } from "./candidates";
import type { Candidate, Passage } from "./messages";
import type { Session } from "./session";

export function PassagePane({
  session,
  passage,
  row,
}: {
  session: Session;
  passage: Passage;
  row: Candidate;
}) {
  return (
    <section class="s7-passage" aria-label="The passage">
      <div class="s7-unit-line">
        <span class="s7-unit-id" dir="auto">
          {row.unit_id}
        </span>
        <span dir="auto">{row.case_id ?? "participant unknown"}</span>
        {row.rating && <span>{`${session.ratingName.value} ${row.rating}`}</span>}
      </div>
      <Conversation
        unit={passage}
        open={session.showConversation.value}
        onToggle={() => (session.showConversation.value = !session.showConversation.value)}
      />
      <TextView
        unit={{ unit_id: passage.unit_id, text: passage.text, codings: [] }}
        book={session.book}
        theirs={passage.coded.filter(one => one.start !== null)}
        selection={session.selecting.span.value}
        sought={session.selecting.sought.value}
        frozen={session.selecting.dragging.value}
      />
      <div class="s7-beneath">
        <Standing session={session} passage={passage} row={row} />
        <InPrint session={session} passage={passage} row={row} />
      </div>
      <Buttons session={session} row={row} />
    </section>
  );
}

/** The words and, beside them, what stands in their place. */
function InPrint({ session, passage, row }: { session: Session; passage: Passage; row: Candidate }) {
  const quote = row.quote?.state === "refused" ? null : row.quote;
  const shortened = quote !== null && (quote.start !== row.start || quote.end !== row.end);
  const said = quote?.paraphrase;
  return (
    <div class="s7-in-print">
      <figure class={said ? "s7-original s7-replaced" : "s7-original"}>
        <figcaption>
          {said
            ? "The participant’s words (not printed)"
            : shortened
              ? "Printed, shortened to"
              : "The participant’s words"}
        </figcaption>
        <blockquote dir="auto" lang="">
          <Flagged {...(shortened ? quote.words : passage.whole)} />
        </blockquote>
      </figure>
      <figure>
        <figcaption>Printed instead</figcaption>
        {session.writing.value ? (
          <textarea
            class="s7-paraphrase"
            rows={3}
            dir="auto"
            aria-label="Paraphrase, printed instead of the participant’s words"
            placeholder="In words of your own"
            value={session.draft.value}
            onInput={event => session.write(event.currentTarget.value)}
          />
        ) : said ? (
          <blockquote dir="auto">{said}</blockquote>
        ) : (
          <p class="s7-hint">
            <kbd>p</kbd> writes a paraphrase{session.isBegun ? " (you have started one)" : ""}
          </p>
        )}
      </figure>
    </div>
  );
}

function Standing({ session, passage, row }: { session: Session; passage: Passage; row: Candidate }) {
  const { quote } = row;
  return (
    <ul class="s7-notes">
      {quote && (
        <li>
          {SIGNS[quote.state][0]} {SIGNS[quote.state][1]} · <span dir="auto">{quote.by}</span>,{" "}
          {shownDate(quote.at)}
        </li>
      )}
      {row.removed && (
        <li>
          <span class="s7-flag">Its coding was removed.</span> You can only refuse it.
        </li>
      )}
      {row.identifies && (
        <li>
          <span class="s7-flag">May identify somebody: {row.identifies}.</span> It is printed if you approve
          it.
        </li>
      )}
      {passage.others.map(one => (
        <li key={one.code}>
          Some of these words are also quoted under <span dir="auto">{session.label(one.code)}</span> (
          {SIGNS[one.state][1]}
          {one.paraphrase ? ", as a paraphrase" : ""}).
        </li>
      ))}
    </ul>
  );
}

function Buttons({ session, row }: { session: Session; row: Candidate }) {
  const against = (row.quote ?? row).role === "disconfirms";
  return (
    <div class="s7-footer" role="group" aria-label="Decision">
      <Button class="s7-primary" onClick={() => session.approve()} press="a" words="Approve" />
      <Button onClick={() => session.refuse()} press="r" words="Refuse" />
      {session.writing.value ? (
        <Button onClick={() => session.endParaphrase()} press="Esc" words="Done" />
      ) : (
        <Button onClick={() => session.beginParaphrase()} press="p" words="Paraphrase" />
      )}
      <Button
        title="To the selected words; with none selected, the whole passage again"
        onClick={() => session.shorten()}
        press="c"
        words="Shorten"
      />
      <Button
        aria-pressed={against}
        title="Whether it disconfirms the code"
        onClick={() => session.turn()}
        press="d"
        words="Against"
      />
    </div>
  );
}
