// Rulings made together: the rows of the queue with their words and ticks, one verdict, one reason, one note.
import { Button } from "../shared/button";
import { UNKNOWN } from "../shared/colours";
import { VirtualList } from "../shared/virtuallist";
import { NOT, SHORT } from "./ruling";
import { DIFFERENT, type Session } from "./session";

const ROW_HEIGHT = 48;
export const NOT_RULED = "Back to the text; nothing was ruled";

export function Together({ session }: { session: Session }) {
  const { batch } = session;
  const n = batch.chosen.value.length;
  const applied = batch.applied.value;
  return (
    <section class="s7-case s7-batch" aria-label="Rule on several">
      <div class="s7-unit-line">
        <strong class="s7-strong">
          Rule on {n} of {batch.rows.value.length} open disagreements
        </strong>
        <Button
          class="s7-quiet"
          onClick={() => session.endBatch(NOT_RULED)}
          title="Back without ruling (Esc)"
          words="Cancel"
        />
      </div>
      <VirtualList
        count={batch.rows.value.length}
        rowHeight={ROW_HEIGHT}
        cursor={batch.cursor.value}
        onSeen={(first, last) => batch.saw(first, last)}
        box={{
          class: "s7-batch-rows",
          role: "listbox",
          "aria-label": "Open disagreements",
          "aria-multiselectable": true,
          tabIndex: 0,
        }}
        row={(at, style) => <Row key={at} session={session} at={at} style={style} />}
      />
      <div class="s7-ruling">
        <div class="s7-verdicts" role="group" aria-label="Does the code apply?">
          <Button
            class="s7-verdict"
            aria-pressed={applied === true}
            onClick={() => batch.decide(true)}
            press="a"
            words="Applies"
          />
          <Button
            class="s7-verdict"
            aria-pressed={applied === false}
            onClick={() => batch.decide(false)}
            press="d"
            words={NOT}
          />
          <Button
            class="s7-verdict"
            aria-pressed={applied === null}
            onClick={() => batch.because(DIFFERENT)}
            press="f"
            words="Both valid"
          />
        </div>
        <div class="s7-reasons" role="group" aria-label="Why did the coders differ?">
          {session.reasons.value.map(
            ({ name, label }, at) =>
              name !== DIFFERENT && (
                <Button
                  key={name}
                  aria-pressed={batch.reason.value === name}
                  title={label}
                  onClick={() => batch.because(name)}
                  press={at + 1}
                  words={SHORT[name] ?? label}
                />
              ),
          )}
        </div>
        <div class="s7-verdicts">
          <input
            class="s7-batch-note"
            dir="auto"
            aria-label="Note on all of them (n)"
            placeholder="Note (n)"
            value={batch.note.value}
            onInput={event => (batch.note.value = event.currentTarget.value)}
          />
          <Button
            class="s7-primary"
            disabled={!batch.ready.value}
            title="Enter"
            onClick={() => session.ruleTogether()}
            words={`Rule on ${n} · ${batch.nSeen.value} of ${n} on screen`}
          />
        </div>
      </div>
    </section>
  );
}

function Row({ session, at, style }: { session: Session; at: number; style: Record<string, string> }) {
  const { batch } = session;
  const row = batch.rows.value[at]!;
  const [chosen, here] = [batch.isChosen(row), at === batch.cursor.value];
  return (
    <div
      class={here ? "s7-queue-row s7-here" : "s7-queue-row"}
      role="option"
      aria-selected={chosen}
      style={style}
      title={`${session.label(row.code)} · ${row.unit_id}`}
      onClick={() => batch.tick(at)}
    >
      <span class="s7-tick" aria-hidden="true">
        {chosen ? "☑" : "☐"}
      </span>
      <span class="s7-queue-words">
        <span class="s7-queue-text" dir="auto">
          {row.words}
        </span>
        <span
          class="s7-queue-code"
          style={{ "--s7-c": (session.book.looks.value.get(row.code) ?? UNKNOWN).colour }}
        >
          <span dir="auto">{session.label(row.code)}</span>{" "}
          <span>
            {row.n_applied} of {row.n_coders} applied it
          </span>
        </span>
      </span>
    </div>
  );
}
