// The theme that is open: its figures, what can be done with it, and its texts in full length.
import { useState } from "preact/hooks";
import { Button } from "../shared/button";
import { FormButtons, Named, Select, TextInput } from "../shared/fields";
import { CodeForm } from "./codeform";
import type { Theme } from "./messages";
import { RunForm } from "./run";
import type { Session } from "./session";

const PAGE = 5;

function NameForm({ session, row }: { session: Session; row: Theme }) {
  const [name, setName] = useState(row.named ? row.label : "");
  return (
    <div class="s7-form s7-name-form" role="group" aria-label="Name">
      <TextInput
        first
        name="Name (leave empty to use its terms)"
        maxLength={200}
        value={name}
        onWrite={setName}
      />
      <FormButtons
        words="Name it"
        onSend={() => session.edit("name", name.trim())}
        onCancel={() => session.endForm()}
      />
    </div>
  );
}

function MergeForm({ session, row }: { session: Session; row: Theme }) {
  const others = session.rows.value.filter(({ theme }) => theme !== row.theme);
  const [into, setInto] = useState(String(others[0]?.theme ?? ""));
  return (
    <div class="s7-form s7-merge-form" role="group" aria-label="Merge">
      <Named name="Merge into">
        <Select
          class="s7-first"
          value={into}
          options={others.map(({ theme, label }) => [String(theme), label])}
          onPick={setInto}
        />
      </Named>
      <FormButtons
        words="Merge"
        disabled={!into}
        onSend={() => session.edit("merge_into", Number(into))}
        onCancel={() => session.endForm()}
      />
    </div>
  );
}

function SplitForm({ session, row }: { session: Session; row: Theme }) {
  const n = session.nSelected.value;
  return (
    <div class="s7-form s7-split-form" role="group" aria-label="Split">
      <p class="s7-hint">The largest part keeps the number and the name; the others become new themes.</p>
      <div class="s7-form-buttons">
        <Button
          type="button"
          class={row.n_subs ? "s7-primary s7-first" : "s7-primary"}
          disabled={!row.n_subs}
          onClick={() => session.edit("parts", "subs")}
          words={row.n_subs ? `Into its ${row.n_subs} sub-themes` : "It has no sub-themes"}
        />
        <Button
          type="button"
          class={row.n_subs ? undefined : "s7-first"}
          disabled={!n}
          onClick={() => session.edit("parts", "selected")}
          words={
            n ? `Take out the selected texts (${n} on the map)` : "Select texts on the map to take them out"
          }
        />
        <Button
          class={row.n_subs || n ? undefined : "s7-first"}
          onClick={() => session.endForm()}
          words="Cancel"
        />
      </div>
    </div>
  );
}

function Quotes({ session }: { session: Session }) {
  const quotes = session.quotes.value;
  if (!quotes) return <p class="s7-hint">Reading the texts…</p>;
  const { first, n, rows } = quotes;
  return (
    <section class="s7-theme-texts" aria-label="Texts of the theme">
      <div class="s7-line-of">
        <h4>Texts, most typical first</h4>
        <span class="s7-count" role="status">
          {n ? `${first + 1}–${Math.min(first + rows.length, n)} of ${n}` : "none"}
        </span>
        <Button
          aria-label="Previous texts"
          title="Previous texts (←)"
          disabled={first === 0}
          onClick={() => session.page(Math.max(0, first - PAGE))}
          words="‹"
        />
        <Button
          aria-label="Next texts"
          title="Next texts (→)"
          disabled={first + PAGE >= n}
          onClick={() => session.page(first + PAGE)}
          words="›"
        />
      </div>
      <ol class="s7-texts" start={first + 1}>
        {rows.map(({ unit_id, text, n_same }) => (
          <li key={unit_id}>
            <span class="s7-unit-id" dir="auto">
              {unit_id}
              {n_same > 0 && `, and ${n_same} identical`}
            </span>
            <p dir="auto">{text}</p>
          </li>
        ))}
      </ol>
    </section>
  );
}

function Open({ session, row }: { session: Session; row: Theme }) {
  const form = session.form.value;
  const code = row.code && (session.book.codes.value.get(row.code)?.label ?? row.code);
  return (
    <>
      <h3 dir="auto">{row.label}</h3>
      <dl class="s7-facts">
        <dt>Size</dt>
        <dd>
          {row.n_units} texts ({row.n_texts} different) of {row.n_cases} participants
          {row.merged > 1 && `; merged from ${row.merged} themes`}
        </dd>
        <dt>Stability</dt>
        <dd>
          {row.stable && <strong>{row.stable}: </strong>}
          {row.stability_words}
        </dd>
        <dt>Codebook</dt>
        <dd dir="auto">
          {row.verdict && <strong>{row.verdict === "covered" ? "Covered. " : "Not covered. "}</strong>}
          {row.coverage}
        </dd>
        {row.expected && <dt>Expected</dt>}
        {row.expected && <dd dir="auto">{row.expected}</dd>}
        {row.proposed && <dt>Proposal</dt>}
        {row.proposed && (
          <dd>
            {row.proposed === "waiting"
              ? "waiting in the codebook widget"
              : "answered in the codebook widget"}
          </dd>
        )}
        {code && <dt>Code</dt>}
        {code && <dd dir="auto">{code}</dd>}
        <dt>Terms</dt>
        <dd dir="auto">{row.terms.join(", ") || "none"}</dd>
      </dl>
      <div class="s7-theme-tools" role="group" aria-label="Actions">
        <Button class="s7-primary" onClick={() => session.begin("code")} press="c" words="Make it a code" />
        <Button onClick={() => session.begin("name")} press="n" words="Name" />
        <Button onClick={() => session.begin("merge")} press="m" words="Merge" />
        <Button onClick={() => session.begin("split")} press="s" words="Split" />
        <Button
          onClick={() => session.edit("dismissed", !row.dismissed)}
          press="d"
          words={row.dismissed ? "Bring back" : "Dismiss"}
        />
      </div>
      {form === "name" && <NameForm key={row.theme} session={session} row={row} />}
      {form === "merge" && <MergeForm key={row.theme} session={session} row={row} />}
      {form === "split" && <SplitForm session={session} row={row} />}
      {form === "code" && <CodeForm session={session} />}
      <Quotes session={session} />
    </>
  );
}

export function OpenTheme({ session }: { session: Session }) {
  const row = session.theme.value;
  return (
    <section class="s7-theme" aria-label="The theme">
      {session.form.value === "run" && <RunForm session={session} />}
      {row && <Open session={session} row={row} />}
    </section>
  );
}
