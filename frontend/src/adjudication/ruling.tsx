// The ruling: first whether the code applies, then why the coders differed; a note where there is something
// to say.
import { Button } from "../shared/button";
import type { Dispute } from "./messages";
import { SIGNS } from "./queue";
import { DIFFERENT, keyOf, type Session } from "./session";
import { shownDate } from "../shared/times";

/** The verdict of no, its last word only where there is room. */
export const NOT = (
  <>
    Does not<span class="s7-tool-word"> apply</span>
  </>
);

/** The reasons in as few words as their buttons have room for. */
export const SHORT: Record<string, string> = {
  slip: "Slip",
  unclear_rule: "Rule unclear",
  ambiguous_text: "Ambiguous",
  missing_code: "Code missing",
};

export function RulingBar({ session }: { session: Session }) {
  const verdict = session.verdict.value;
  const here = session.dispute.value;
  const listed = !!here && session.toDiscuss.value.some(one => keyOf(one) === keyOf(here));
  return (
    <section class="s7-ruling" aria-label="Ruling">
      {session.noting.value && (
        <label class="s7-note">
          <span>Note</span>
          <textarea
            class="s7-note-field"
            rows={2}
            dir="auto"
            placeholder="Recorded with the ruling; Esc: back"
            value={session.note.value}
            onInput={event => session.keepNote(event.currentTarget.value)}
            onBlur={() => session.noting.value && session.endNote()}
          />
        </label>
      )}
      <div class="s7-verdicts" role="group" aria-label="Does the code apply?">
        <Button
          class="s7-verdict"
          aria-pressed={verdict === true}
          onClick={() => session.decide(true)}
          press="a"
          words="Applies"
        />
        <Button
          class="s7-verdict"
          aria-pressed={verdict === false}
          onClick={() => session.decide(false)}
          press="d"
          words={NOT}
        />
        <Button
          class="s7-verdict"
          title="Both readings are valid: consensus has no row here"
          onClick={() => session.because(DIFFERENT)}
          press="f"
          words="Both valid"
        />
        <span class="s7-ruling-tools">
          <Button
            class="s7-quiet"
            aria-expanded={session.noting.value}
            title="A note in words (n)"
            onClick={() => session.beginNote()}
          >
            ✎<span class="s7-tool-word"> Note</span>
            {session.note.value && " ·"}
          </Button>
          <Button
            class="s7-quiet"
            aria-pressed={listed}
            title="Put it on the list for a discussion (g)"
            onClick={() => session.discuss()}
          >
            ☍<span class="s7-tool-word"> Discuss</span>
            {listed && " ·"}
          </Button>
        </span>
      </div>
      <div
        class={verdict === null ? "s7-reasons s7-waits" : "s7-reasons"}
        role="group"
        aria-label="Why did the coders differ?"
      >
        {session.reasons.value.map(
          ({ name, label }, n) =>
            // That one needs no decision before it: its button stands above, its number works all the same.
            name !== DIFFERENT && (
              <Button
                key={name}
                disabled={verdict === null}
                title={label}
                onClick={() => session.because(name)}
                press={n + 1}
                words={SHORT[name] ?? label}
              />
            ),
        )}
      </div>
    </section>
  );
}

/** How it is settled already; the whole of it where the line is cut. */
export function Standing({ session, dispute: { ruling } }: { session: Session; dispute: Dispute }) {
  if (!ruling) return null;
  const label = session.reasons.value.find(({ name }) => name === ruling.reason)?.label;
  const [sign, words] = SIGNS[ruling.settled];
  const rest = [label, ruling.by, shownDate(ruling.at), ruling.note].filter(Boolean).join(" · ");
  return (
    <span class="s7-standing" role="status" title={rest} dir="auto">
      <b class="s7-strong">
        {sign} {words}
      </b>{" "}
      · {rest}
    </span>
  );
}

export function SimilarTexts({ session }: { session: Session }) {
  const found = session.similar.value;
  return (
    <section class="s7-similar" aria-label="Earlier rulings on similar texts">
      <h5>Earlier rulings on similar texts</h5>
      {!found && <p class="s7-hint">Looking…</p>}
      {found && !found.rows.length && (
        <p class="s7-hint">
          {found.n_ruled
            ? `None of the ${found.n_ruled} texts settled on this code is similar.`
            : "No ruling on this code yet."}
        </p>
      )}
      {found?.note && <p class="s7-hint">{found.note}</p>}
      <ul>
        {found?.rows.map(row => (
          <li key={row.unit_id}>
            <span class="s7-similar-line">
              <b class="s7-strong">
                {SIGNS[row.settled][0]} {SIGNS[row.settled][1]}
              </b>{" "}
              <span class="s7-unit-id">
                {row.unit_id} ·{" "}
                {session.reasons.value.find(({ name }) => name === row.reason)?.label ?? "no reason"} · by{" "}
                {row.how}
              </span>
            </span>
            <span class="s7-similar-text" dir="auto">
              {row.text}
              {row.cut && "…"}
            </span>
            {row.note && (
              <span class="s7-similar-note" dir="auto">
                ✎ {row.note}
              </span>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
