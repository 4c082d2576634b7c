// The quotes widget on screen: the codes, the passages of the open one, and the open passage.
import { useRef } from "preact/hooks";
import { startDrag } from "../shared/drag";
import { Bar, Frame, Tool, WAITING, Who } from "../shared/frame";
import { scrollsText } from "../shared/more";
import { waitingWords } from "../shared/pressqueue";
import type { Step } from "../shared/words";
import { Candidates, Codes } from "./candidates";
import { PassagePane } from "./passage";
import type { Session } from "./session";

const KEYS: [string, string][] = [
  ["a", "Approve it as shown; the next opens"],
  ["r", "Refuse it: it is not printed"],
  ["p", "Paraphrase: printed instead (Esc: done, Ctrl+Enter: approve)"],
  ["c", "Shorten it to the selected words; with none selected, the whole passage again"],
  ["d", "Supports the code, or disconfirms it"],
  ["u", "Undo the last decision (also z, Ctrl+Z)"],
  ["y", "Redo it (also Ctrl+Shift+Z)"],
  ["↓ ↑", "Next passage, previous passage (also j k)"],
  ["→ ←", "Next code, previous code"],
  ["Enter", "Next undecided passage"],
  ["w s", "Select a word, a sentence (Shift: the previous one)"],
  ["Shift+→ ←", "Move the selection’s end by a word, with Alt its start"],
  ["t", "The conversation before"],
  ["PgUp PgDn", "Scroll the text"],
];

function Header({ session }: { session: Session }) {
  const codes = session.progress.value;
  const wanted = codes.reduce((sum, one) => sum + one.n_wanted, 0);
  const approved = codes.reduce((sum, one) => sum + Math.min(one.n_approved, one.n_wanted), 0);
  return (
    <>
      <Who session={session} role="The lead" />
      <div class="s7-progress">
        <Bar label="Approved" done={approved} of={wanted} />
        <span class="s7-numbers">
          {approved} of {wanted} approved
        </span>
      </div>
    </>
  );
}

export function Page({ session }: { session: Session }) {
  const root = useRef<HTMLDivElement>(null);

  const back = () => {
    if (session.writing.value) session.endParaphrase();
    else if (session.selecting.span.value) session.selecting.clear();
    else return false;
    session.focus.value = ".s7";
    return true;
  };

  const inField = (event: KeyboardEvent): boolean => {
    const sent = event.key === "Enter" && (event.ctrlKey || event.metaKey);
    if (sent && !event.repeat) session.approve();
    return sent;
  };

  /** The edge of the selection that an arrow moves together with Shift. */
  const press = (event: KeyboardEvent): boolean => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key] as Step | undefined;
    if (!event.shiftKey || event.ctrlKey || event.metaKey || !by)
      return scrollsText(root.current!, event.key);
    session.presses.inTurn(() => session.selecting.move(event.altKey ? "start" : "end", "word", by));
    return true;
  };

  const commands: Record<string, () => void> = {
    a: () => session.approve(),
    r: () => session.refuse(),
    p: () => session.beginParaphrase(),
    c: () => session.shorten(),
    d: () => session.turn(),
    u: () => session.undo(),
    z: () => session.undo(),
    y: () => session.redo(),
    t: () => (session.showConversation.value = !session.showConversation.value),
    w: () => session.selecting.next("word", 1),
    W: () => session.selecting.next("word", -1),
    s: () => session.selecting.next("sentence", 1),
    S: () => session.selecting.next("sentence", -1),
    j: () => session.go(1),
    k: () => session.go(-1),
    Enter: () => session.toNext(),
    ArrowDown: () => session.go(1),
    ArrowUp: () => session.go(-1),
    ArrowRight: () => session.nextCode(1),
    ArrowLeft: () => session.nextCode(-1),
  };

  const drag = (event: PointerEvent) => {
    if ((event.target as Element).closest(".s7-passage .s7-text")) startDrag(event, session, root.current!);
  };

  const [passage, row] = [session.passage.value, session.here.value];
  return (
    <Frame
      {...{ session, root, commands, back, inField, press }}
      name="quotes"
      label="Quotes"
      keys={KEYS}
      repeats={/^Arrow|^[jkwsWS]$/}
      opens="p"
      home=".s7"
      still="button, .s7-candidate"
      undo={() => session.undo()}
      redo={() => session.redo()}
      on={{ onPointerDown: drag }}
      bar={<Header session={session} />}
      tools={
        <>
          <Tool name="Undo" sign="↶" press="u" ready run={() => session.undo()} />
          <Tool name="Redo" sign="↷" press="y" ready run={() => session.redo()} />
        </>
      }
      placeholder={!session.welcomed.value && WAITING}
    >
      <div class="s7-panes s7-quote-panes">
        <Codes session={session} />
        <Candidates session={session} />
        {passage && row ? (
          <PassagePane session={session} passage={passage} row={row} />
        ) : (
          <p class="s7-passage s7-hint">
            {row
              ? waitingWords("Reading the text…", session.presses.waiting.value.length)
              : "No passage is open."}
          </p>
        )}
      </div>
    </Frame>
  );
}
