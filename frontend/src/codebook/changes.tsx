// The draft: its steps, what becomes stale by it, saving it, and what to do where somebody else changed the
// same thing.
import { useId } from "preact/hooks";
import { Button } from "../shared/button";
import type { Stale } from "../shared/protocol";
import { shownDate } from "../shared/times";
import type { Choice, Conflict, ConflictRow, Prices, Saved } from "./messages";
import type { Session } from "./session";

const REASONS: Record<string, string> = {
  add: "new code",
  redefine: "new meaning",
  narrow: "narrower, and applied before",
  widen: "wider, and not applied before",
  split: "part of a split code",
};

export function Changes({ session }: { session: Session }) {
  const draft = session.draft.value!;
  return (
    <div class="s7-beside-body">
      {draft.moved_on && (
        <p class="s7-notice" role="status">
          Somebody else has revised the codebook since you started this draft. Saving combines both; if you
          changed the same thing, you choose.
        </p>
      )}
      {session.saved.value && <SavedNote session={session} saved={session.saved.value} />}
      {session.conflict.value && <ConflictForm session={session} conflict={session.conflict.value} />}
      <section aria-label="Steps">
        <h5>{draft.steps.length ? "Steps" : "What to do"}</h5>
        {draft.steps.length ? (
          <ol class="s7-steps">
            {draft.said.map((words, n) => (
              <li key={n}>
                <span dir="auto">{words}</span>
                <Button
                  class="s7-quiet"
                  aria-label={`Take back: ${words}`}
                  title="Take this step back"
                  onClick={() => session.leaveOut(n)}
                  words="×"
                />
              </li>
            ))}
          </ol>
        ) : (
          <ToDo session={session} />
        )}
      </section>
      {session.preview.value?.prices.map(of => (
        <Meaning key={of.code} session={session} of={of} />
      ))}
      {draft.steps.length > 0 && (
        <StaleTable preview={session.preview.value} uncounted={session.uncounted.value} />
      )}
      {draft.steps.length > 0 && <SaveForm session={session} />}
    </div>
  );
}

/** Before anything is changed: what asks for a change. */
function ToDo({ session }: { session: Session }) {
  const [weak, nProposals, nSplit] = [session.weak, session.nProposals.value, session.nSplit.value];
  return (
    <ul class="s7-steps">
      {weak.map(({ id, label }) => (
        <li key={id}>
          <Button class="s7-to-do" onClick={() => session.select(id)}>
            <span dir="auto">{label}</span>: α {session.figures.value![id]!.alpha}, below .667
          </Button>
        </li>
      ))}
      {nProposals > 0 && (
        <li>
          <Button
            class="s7-to-do"
            onClick={() => session.open("proposals")}
            words={`${nProposals} proposed ${nProposals === 1 ? "code waits" : "codes wait"} for an answer`}
          />
        </li>
      )}
      {nSplit > 0 && (
        <li>
          <Button
            class="s7-to-do"
            onClick={() => session.open("sorting")}
            words={`${counted(nSplit)} of split codes to sort`}
          />
        </li>
      )}
      {!weak.length && !nProposals && !nSplit && (
        <li class="s7-hint">
          {session.figures.value ? "Nothing needs a change. " : "Counting… "}Edit a code’s fields, or use keys
          in the tree (?).
        </li>
      )}
    </ul>
  );
}

/** What the change of a code does to its meaning, by what each answer costs. */
function Meaning({ session, of: { code, label, choices } }: { session: Session; of: Prices }) {
  const chosen = session.draft.value!.meaning[code]?.kind ?? "redefine";
  const field = `mean ${code} why`;
  const name = useId();
  return (
    <fieldset class="s7-meaning">
      <legend dir="auto">‘{label}’ changed. What is different?</legend>
      <div class="s7-prices">
        {choices.map(({ kind, words, n, hours }) => (
          <label key={kind}>
            <input
              type="radio"
              name={name}
              checked={kind === chosen}
              onChange={() => session.mean(code, kind)}
            />
            <span>{words}</span>
            <span class="s7-number">
              {counted(n)}
              {n > 0 && hours !== null && `, ${hours}`}
            </span>
          </label>
        ))}
      </div>
      {chosen !== "redefine" && (
        <label class="s7-field">
          <span class="s7-field-name">Why you say so</span>
          <textarea
            rows={1}
            dir="auto"
            value={session.whyMeant(code)}
            placeholder="For the revision table"
            onInput={event => session.typed.put(field, event.currentTarget.value)}
            onChange={() => session.mean(code, chosen)}
          />
        </label>
      )}
    </fieldset>
  );
}

const counted = (n: number) => `${n} ${n === 1 ? "text" : "texts"}`;

function StaleTable({ preview, uncounted }: { preview: Stale | null; uncounted: string }) {
  if (!preview) return <p class="s7-hint">{uncounted || "Counting texts that become stale…"}</p>;
  const several = new Set(preview.by_code.map(({ code }) => code)).size > 1;
  return (
    <section class="s7-stale" aria-label="Texts that become stale">
      <h5>Texts that saving makes stale</h5>
      {preview.by_code.length ? (
        <>
          <table>
            <thead>
              <tr>
                <th scope="col">Code</th>
                <th scope="col">Coder</th>
                <th scope="col" class="s7-number">
                  Texts
                </th>
                <th scope="col" class="s7-number">
                  Time
                </th>
              </tr>
            </thead>
            <tbody>
              {preview.by_code.map((row, at) => (
                <tr key={`${row.code} ${row.coder}`}>
                  {preview.by_code[at - 1]?.code !== row.code && (
                    <td
                      dir="auto"
                      rowSpan={preview.by_code.filter(({ code }) => code === row.code).length}
                      title={REASONS[row.reason ?? ""]}
                    >
                      {row.label}
                    </td>
                  )}
                  <td>{row.coder}</td>
                  <td class="s7-number">{row.n}</td>
                  <td class="s7-number">{row.hours ?? "unknown"}</td>
                </tr>
              ))}
            </tbody>
            <tfoot>
              {(several ? preview.by_coder : []).map(row => (
                <tr key={row.coder}>
                  <td>all, each text once</td>
                  <td>{row.coder}</td>
                  <td class="s7-number">{row.n}</td>
                  <td class="s7-number">{row.hours ?? "unknown"}</td>
                </tr>
              ))}
            </tfoot>
          </table>
          <p class="s7-hint">
            {preview.total ? `In all ${preview.at_least ? "at least " : ""}${preview.total}. ` : ""}
            Time: texts × the coder’s median time per text, without pauses of over five minutes.
          </p>
        </>
      ) : (
        <p class="s7-hint">None: codings keep their meaning.</p>
      )}
      <p class="s7-hint">{preview.words}</p>
    </section>
  );
}

function SaveForm({ session }: { session: Session }) {
  const why = session.typed.of("why") ?? "";
  const open = session.conflict.value?.rows.filter(({ name }) => !session.choices.value[name]).length ?? 0;
  const unexplained = session.unexplained;
  const send = () => {
    if (unexplained !== undefined)
      return session.say(`First say why for ‘${unexplained}’: the revision table will report it`);
    return why.trim() ? session.save(why) : session.say("First say why: the methods section will report it");
  };
  return (
    <section class="s7-save" aria-label="Save">
      <label class="s7-field">
        <span class="s7-field-name">Why</span>
        <textarea
          class="s7-why"
          rows={2}
          dir="auto"
          value={why}
          placeholder="For the methods section"
          onInput={event => session.typed.put("why", event.currentTarget.value)}
        />
      </label>
      <div class="s7-form-buttons">
        <Button
          class="s7-primary s7-save-button"
          disabled={session.saving.value || open > 0}
          onClick={send}
          words={session.conflict.value ? "Save with these choices" : "Save"}
        />
        <Button onClick={() => session.discard()} words="Discard the draft" />
      </div>
    </section>
  );
}

function ConflictForm({ session, conflict }: { session: Session; conflict: Conflict }) {
  const { by } = conflict;
  return (
    <section class="s7-conflict" role="alert" aria-label="Changed by two people">
      <h5>
        {by
          ? `${by.coder} changed the same fields, ${shownDate(by.at)}`
          : "Somebody else changed the same fields"}
      </h5>
      {by && (
        <p class="s7-hint" dir="auto">
          {by.why}
        </p>
      )}
      {conflict.rows.map(row => (
        <ConflictChoice
          key={row.name}
          row={row}
          chosen={session.choices.value[row.name]}
          onChoose={choice => (session.choices.value = { ...session.choices.value, [row.name]: choice })}
        />
      ))}
    </section>
  );
}

function ConflictChoice({
  row,
  chosen,
  onChoose,
}: {
  row: ConflictRow;
  chosen: Choice | undefined;
  onChoose: (choice: Choice) => void;
}) {
  const all: [Choice, string, string[] | null][] = [
    ["mine", "Mine", row.mine],
    ["theirs", "Theirs", row.theirs],
    ["both", "Both", row.both],
  ];
  const sides = all.flatMap(([side, words, lines]) => (lines ? [[side, words, lines] as const] : []));
  return (
    <div class="s7-choice" role="group" aria-label={`${row.label} ${row.field ?? ""}`}>
      <div dir="auto">
        <b class="s7-strong">{row.label || "The codebook"}</b> {row.field ?? "(the whole code)"}
      </div>
      {row.base.length > 0 && <Lines class="s7-base-lines" name="Before" lines={row.base} />}
      <div class="s7-choices">
        {sides.map(([side, words, lines]) => (
          <Button
            key={side}
            class={`s7-${side}`}
            aria-pressed={chosen === side}
            onClick={() => onChoose(side)}
          >
            <Lines name={words} lines={lines} />
          </Button>
        ))}
      </div>
    </div>
  );
}

function Lines({ name, lines, class: as = "" }: { name: string; lines: readonly string[]; class?: string }) {
  return (
    <span class={`s7-lines ${as}`}>
      <span class="s7-side-name">{name}</span>
      {lines.length ? (
        lines.map((line, n) => (
          <span key={n} dir="auto">
            {line}
          </span>
        ))
      ) : (
        <span class="s7-hint">nothing, or removed</span>
      )}
    </span>
  );
}

function SavedNote({ session, saved }: { session: Session; saved: Saved }) {
  return (
    <section class="s7-saved-note" role="status" aria-label="Saved">
      <h5>✓ Saved</h5>
      {saved.queues.length ? (
        <>
          <p>Coders with texts to look at again (of those you may see), and the cell to run:</p>
          {saved.queues.map(({ coder, n, cell }) => (
            <div key={coder}>
              <span>
                {coder}: {n} {n === 1 ? "text" : "texts"}
              </span>
              <code class="s7-cell">{cell}</code>
            </div>
          ))}
        </>
      ) : (
        <p>Of the codings you may see, none needs another look.</p>
      )}
      <Button class="s7-quiet" onClick={() => (session.saved.value = null)} words="Close" />
    </section>
  );
}
