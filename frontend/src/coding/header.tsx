// The header of the coding widget: where one is, how far one is, and what takes back; and the keys that come
// next.
import { useLayoutEffect, useRef } from "preact/hooks";
import { Button } from "../shared/button";
import { Bar, Tool, Who } from "../shared/frame";
import { keyLabel } from "../shared/keys";
import { LayoutButtons } from "./grid";
import { InboxButton } from "./inboxpane";
import type { Unit } from "./messages";
import type { Session } from "./session";
import { ListNote, TextsButton } from "./texts";

/**
 * The number of the text on screen, to be written over: nothing but another text writes into it meanwhile.
 */
function Place({ at, of, onPick }: { at: number | undefined; of: number; onPick: (place: number) => void }) {
  const field = useRef<HTMLInputElement>(null);
  const show = () => void (field.current!.value = at === undefined ? "" : `${at + 1}`);
  useLayoutEffect(show, [at]);
  return (
    <input
      ref={field}
      type="number"
      aria-label="Text"
      min={1}
      max={of}
      onChange={event => onPick(event.currentTarget.valueAsNumber - 1)}
      onBlur={show}
    />
  );
}

function Progress({ session, unit }: { session: Session; unit: Unit | null }) {
  const [finished, total] = [session.finished.value, session.total.value];
  const step = (by: number) => session.inTurn("next", () => session.step(by));
  const { back = "", next = "" } = session.commands.value;
  return (
    <>
      {total > 0 && (
        <span class="s7-goto">
          <Button
            class="s7-back"
            aria-label="Previous text"
            title={`Previous text (${keyLabel(back)})`}
            disabled={session.beside(-1) === undefined}
            onClick={() => step(-1)}
            words="‹"
          />
          <Place at={unit?.place} of={total} onPick={place => session.jump(place)} /> <span>of {total}</span>
          <Button
            class="s7-forth"
            aria-label="Next text"
            title={`Next text (${keyLabel(next)})`}
            disabled={session.beside(1) === undefined}
            onClick={() => step(1)}
            words="›"
          />
        </span>
      )}
      {session.texts.isActive.value ? (
        <ListNote session={session} />
      ) : (
        <span class="s7-progress">
          <Bar label="Finished texts" done={finished} of={total} />
          <span class="s7-numbers">{finished} finished</span>
        </span>
      )}
    </>
  );
}

export function Header({ session, unit }: { session: Session; unit: Unit | null }) {
  return (
    <>
      {session.total.value > 0 && <TextsButton session={session} />}
      {session.total.value > 0 && <LayoutButtons session={session} />}
      <Who session={session} role="The coder" />
      <Progress session={session} unit={unit} />
    </>
  );
}

export function Tools({ session }: { session: Session }) {
  const take = (kind: "undo" | "redo") => session.inTurn(kind, () => session.takeBack(kind));
  return (
    <>
      {session.total.value > 0 && <InboxButton session={session} />}
      <Tool name="Undo" sign="↶" press="z" ready={session.canUndo.value} run={() => take("undo")} />
      <Tool name="Redo" sign="↷" press="y" ready={session.canRedo.value} run={() => take("redo")} />
    </>
  );
}

/** From a passage back to the text from which one went there. */
function BackButton({ session }: { session: Session }) {
  const from = session.passages.from.value;
  if (from === null) return null;
  return (
    <Button
      class="s7-quiet s7-back-to"
      title="Backspace"
      onClick={() => session.goBack()}
      words={`← back to ${from + 1}`}
    />
  );
}

/** The keys of the coding that the bar shows; before the keys are heard, how to get there. */
export function Hints({ session }: { session: Session }) {
  const keys = session.commands.value;
  const facet = session.book.hasFacets.value && keys.facet;
  const rows = [
    ["↑↓", "coding"],
    facet && [facet, "facets"],
    keys.unsure && [keys.unsure, "unsure"],
    keys.memo && [keys.memo, "memo"],
  ];
  return (
    <>
      <span class="s7-outside">Click here to use the keys</span>
      <BackButton session={session} />
      {session.active.value >= 0 && (
        <span class="s7-hints" aria-hidden="true">
          {rows.map(
            row =>
              row && (
                <span key={row[1]}>
                  <kbd>{row[0]}</kbd> {row[1]}
                </span>
              ),
          )}
        </span>
      )}
    </>
  );
}
