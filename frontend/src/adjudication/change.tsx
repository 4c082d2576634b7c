// The form in which a settled text becomes an example or a counter-example, or the code's rule is sharpened.
import { useState } from "preact/hooks";
import { Button } from "../shared/button";
import type { Change, Foretold, Rule } from "./messages";
import { shownDate } from "../shared/times";
import type { Session } from "./session";

const TITLES: Record<Change["kind"], string> = {
  example: "A new example of",
  counter_example: "A new near miss of",
  rule: "The rule of",
};

export function ChangeForm({ session }: { session: Session }) {
  const { changing } = session;
  const draft = changing.draft.value;
  if (!draft) return null;
  return (
    <section class="s7-change" aria-label="Change the codebook">
      <h4 dir="auto">
        {TITLES[draft.kind]} {session.label(draft.code)}
      </h4>
      {draft.kind === "rule" ? (
        <RuleFields session={session} draft={draft} />
      ) : (
        <label class="s7-change-field">
          <span>Words</span>
          <textarea
            class="s7-first"
            rows={4}
            dir="auto"
            value={draft.words}
            onInput={event => changing.write({ ...draft, words: event.currentTarget.value })}
          />
        </label>
      )}
      {draft.kind !== "rule" && (
        <p class="s7-hint">
          Examples are published with the codebook. Remove anything that identifies the writer.
        </p>
      )}
      <label class="s7-change-field">
        <span>Why</span>
        <textarea
          class="s7-why"
          rows={2}
          dir="auto"
          value={changing.why.value}
          onInput={event => changing.because(event.currentTarget.value)}
        />
      </label>
      <div class="s7-change-end">
        {changing.problem.value ? (
          <p class="s7-problem" role="alert">
            {changing.problem.value}
          </p>
        ) : (
          <Stale foretold={changing.foretold.value} overtaken={changing.overtaken.value !== null} />
        )}
        <div class="s7-change-buttons">
          <Button
            class="s7-primary"
            disabled={changing.saving.value || !changing.foretold.value}
            title="Ctrl+Enter"
            onClick={() => changing.save()}
            words="Save the codebook"
          />
          <Button
            onClick={() => {
              changing.end();
              session.focus.value = ".s7";
            }}
            words="Cancel"
          />
        </div>
      </div>
    </section>
  );
}

function RuleFields({ session, draft }: { session: Session; draft: Change & { kind: "rule" } }) {
  const fields: [keyof Rule, string][] = [
    ["definition", "Definition"],
    ["use_when", "Use when (one per line)"],
    ["avoid_when", "Not when (one per line)"],
  ];
  const [first, setFirst] = useState(draft.values); // as it was opened, or begun before
  const { theirs = {}, by } = session.changing.overtaken.value ?? {};
  const write = (name: keyof Rule, text: string) => {
    const value =
      name === "definition"
        ? text
        : text
            .split("\n")
            .map(line => line.trim())
            .filter(Boolean);
    session.changing.write({ ...draft, values: { ...draft.values, [name]: value } });
  };
  const choose = (name: keyof Rule, value: string | string[]) => {
    setFirst({ ...draft.values, [name]: value });
    session.changing.choose(name, value);
  };
  return (
    <>
      {by && (
        <p class="s7-problem" role="alert" dir="auto">
          {by.coder} changed the same fields, {shownDate(by.at)}: {by.why}
        </p>
      )}
      {fields.map(([name, words], n) => {
        const others = theirs[name];
        return (
          <div key={name}>
            <label key={asText(first[name])} class="s7-change-field">
              <span>{words}</span>
              <textarea
                class={n ? undefined : "s7-first"}
                rows={n ? 3 : 4}
                dir="auto"
                defaultValue={asText(first[name])}
                onInput={event => write(name, event.currentTarget.value)}
              />
            </label>
            {others !== undefined && (
              <div class="s7-sides" role="group" aria-label={`${words}: which of the two?`}>
                <Side
                  name="Mine"
                  value={draft.values[name] ?? ""}
                  onChoose={() => choose(name, draft.values[name] ?? "")}
                />
                <Side name="Theirs" value={others} onChoose={() => choose(name, others)} />
              </div>
            )}
          </div>
        );
      })}
    </>
  );
}

function Side({ name, value, onChoose }: { name: string; value: string | string[]; onChoose: () => void }) {
  return (
    <Button onClick={onChoose}>
      <b class="s7-strong">{name}</b>
      <span dir="auto">{asText(value) || "nothing"}</span>
    </Button>
  );
}

/** A list has an entry a line. */
function asText(value: string | readonly string[] | undefined): string {
  if (value === undefined) return "";
  return typeof value === "string" ? value : value.join("\n");
}

/** What becomes stale by saving. */
function Stale({ foretold, overtaken }: { foretold: Foretold | null; overtaken: boolean }) {
  if (overtaken)
    return <p class="s7-hint s7-foretold">First choose one of the two, or write a version of both.</p>;
  if (!foretold)
    return <p class="s7-hint s7-foretold">Texts that become stale are counted once you change something.</p>;
  const { by_coder, total, at_least, n_rulings, n_leaving } = foretold;
  if (!by_coder.length && !n_rulings)
    return <p class="s7-hint s7-foretold">Nothing becomes stale: codings keep their meaning.</p>;
  const texts = by_coder.map(
    ({ coder, n, hours }) => `${coder} ${n} ${n === 1 ? "text" : "texts"}${hours ? ` (${hours})` : ""}`,
  );
  return (
    <div class="s7-foretold s7-stale-list" role="status" title={foretold.words}>
      <p>
        To be looked at again: {texts.join(", ")}
        {total ? `; in all ${at_least ? "at least " : ""}${total}` : ""}.
      </p>
      {n_rulings > 0 && (
        <p>
          {n_rulings === 1 ? "1 ruling" : `${n_rulings} rulings`} on this code{" "}
          {n_rulings === 1 ? "no longer counts" : "no longer count"}.
        </p>
      )}
      {n_leaving > 0 && (
        <p>
          {n_leaving === 1 ? "1 disagreement leaves" : `${n_leaving} disagreements leave`} the queue until the
          coders have looked at {n_leaving === 1 ? "it" : "them"} again.
        </p>
      )}
    </div>
  );
}
