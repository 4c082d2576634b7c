// Computing themes: how far it is, and what recording the run would change.
import { useState } from "preact/hooks";
import { Button } from "../shared/button";
import { TextInput } from "../shared/fields";
import { stageWords } from "./map";
import type { RanRow } from "./messages";
import type { Session } from "./session";

const WHAT = { stays: "keeps its number", new: "new", ends: "ends" };

function Row({ row }: { row: RanRow }) {
  const like = row.alike === null ? "" : ` · ${row.alike} % the same texts`;
  return (
    <tr>
      <td>{WHAT[row.what]}</td>
      <td dir="auto">
        {row.before && row.before !== row.label ? `${row.before} → ` : ""}
        {row.label}
      </td>
      <td class="s7-number">
        {row.what === "ends" ? "" : `${row.n_units} texts`}
        {row.what !== "new" && like}
      </td>
    </tr>
  );
}

export function RunForm({ session }: { session: Session }) {
  const [going, ran] = [session.running.value, session.ran.value];
  const [granularity, setGranularity] = useState("");
  const [expected, setExpected] = useState(false);
  const wanted = granularity.trim() ? Number(granularity.replace(",", ".")) : null;
  const isWrong = wanted !== null && !(wanted > 0 && Number.isFinite(wanted));
  return (
    <section class="s7-form s7-run-form" aria-label="Compute themes">
      <h4>Compute themes</h4>
      {!going && (
        <>
          <TextInput
            first
            name="Granularity (leave empty to choose it by resampling; higher is finer)"
            inputMode="decimal"
            value={granularity}
            aria-invalid={isWrong}
            onWrite={setGranularity}
          />
          <label>
            <input
              type="checkbox"
              checked={expected}
              onChange={event => setExpected(event.currentTarget.checked)}
            />{" "}
            Start from the definitions and examples of the codebook
          </label>
          <div class="s7-form-buttons">
            <Button
              class={ran ? undefined : "s7-primary"}
              disabled={isWrong}
              onClick={() => session.run(wanted, expected)}
              words="Compute"
            />
            {!ran && <Button onClick={() => session.endForm()} words="Cancel" />}
          </div>
        </>
      )}
      {going && (
        <p class="s7-going" role="status">
          {stageWords(going)}{" "}
          {going.total > 0 && (
            <progress aria-label="Progress of the run" value={going.done} max={going.total} />
          )}
        </p>
      )}
      {ran && (
        <>
          <p>
            {ran.rows.length - ran.ends} themes of {ran.n_units} texts, {ran.n_nowhere} in none (granularity{" "}
            {ran.granularity}). If you record them, {ran.stays} keep their number, {ran.new} are new, and{" "}
            {ran.ends} end.
          </p>
          <div class="s7-ran" tabIndex={0} role="group" aria-label="What would change">
            <table>
              <tbody>
                {ran.rows.map(row => (
                  <Row key={`${row.what}${row.theme}`} row={row} />
                ))}
              </tbody>
            </table>
          </div>
          <div class="s7-form-buttons">
            <Button
              class="s7-primary s7-record"
              onClick={() => session.record()}
              words="Record these themes"
            />
            <Button onClick={() => session.discard()} words="Discard the run" />
          </div>
        </>
      )}
    </section>
  );
}
