// The quotes widget on screen: the codes, the passages of the open one, and the open passage.
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { startDrag } from "../shared/drag";
import { Help } from "../shared/help";
import { focusIn, hearKeys, isTextField, SCROLLS } from "../shared/keys";
import { useLeaving } from "../shared/leaving";
import { scrollText } from "../shared/more";
import { waitingWords } from "../shared/pressqueue";
import { SaveState } from "../shared/savestate";
import { Candidates, Codes } from "./candidates";
import { PassagePane } from "./passage";
import type { Session } from "./session";

const KEYS: [string, string][] = [
  ["a", "Approve it as it stands; the next opens"],
  ["r", "Refuse it: it is not printed"],
  ["p", "A paraphrase, printed in its place (Esc: done, Ctrl+Enter: approve)"],
  ["c", "Shorten it to the words selected; without any, the whole again"],
  ["d", "It shows the code, or speaks against it"],
  ["u", "Take the last decision back (also z, Ctrl+Z)"],
  ["y", "Do it again (also Ctrl+Shift+Z)"],
  ["↓ ↑", "The next passage, the one before (also j k)"],
  ["→ ←", "The next code, the one before"],
  ["Enter", "The next that is not decided on"],
  ["w s", "Select a word, a sentence (Shift: the one before)"],
  ["Shift+→ ←", "Move the selection’s end by a word, with Alt its start"],
  ["t", "The conversation before"],
  ["PgUp PgDn", "Scroll the text"],
  ["?", "Show or hide these keys"],
  ["Esc", "Back; twice, not too fast: leave for the notebook"],
];

function Header({ session }: { session: Session }) {
  const codes = session.progress.value;
  const wanted = codes.reduce((sum, one) => sum + one.n_wanted, 0);
  const approved = codes.reduce((sum, one) => sum + Math.min(one.n_approved, one.n_wanted), 0);
  return (
    <header class="s7-header">
      <span class="s7-coder" title="The lead who decides">
        {session.coder.value}
      </span>
      <div class="s7-progress">
        <div class="s7-bar" role="progressbar" aria-label="Approved" aria-valuemin={0} aria-valuemax={wanted} aria-valuenow={approved}>
          <div style={{ width: `${wanted ? (100 * approved) / wanted : 0}%` }} />
        </div>
        <span class="s7-numbers">
          {approved} of {wanted} approved
        </span>
      </div>
      <SaveState line={session.channel} queued={session.presses.waiting.value.length > 0} />
      <span class="s7-tools">
        <button type="button" aria-expanded={session.showHelp.value} aria-label="Keys" title="Keys (?)" onClick={() => (session.showHelp.value = !session.showHelp.value)}>
          ?
        </button>
      </span>
    </header>
  );
}

export function Page({ session }: { session: Session }) {
  const root = useRef<HTMLDivElement>(null);
  const leaving = useLeaving(root, session);

  useEffect(() => {
    const warn = (event: BeforeUnloadEvent) => {
      if (session.outbox.waiting.value.length) event.preventDefault();
    };
    addEventListener("beforeunload", warn);
    return () => removeEventListener("beforeunload", warn);
  }, []);

  const escape = (event: KeyboardEvent) => {
    const here = focusIn(root.current!);
    if (session.showHelp.value) return void (session.showHelp.value = false);
    if (session.writing.value) return session.endParaphrase();
    if (session.selecting.span.value) session.selecting.clear();
    else if (session.message.value) session.message.value = null;
    else if (here === root.current) return leaving.escape(event);
    root.current?.focus();
  };

  const press = (event: KeyboardEvent, target: Element) => {
    if (event.key === "Escape") {
      event.preventDefault();
      return escape(event);
    }
    if (isTextField(target)) {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      return event.repeat ? undefined : session.approve();
    }
    const onControl = target.closest("button, summary") && (event.key === "Enter" || event.key === " ");
    if (onControl) return void (event.repeat && event.preventDefault());
    const box = root.current!.querySelector<HTMLElement>(".s7-text");
    const scrolls = SCROLLS.includes(event.key) && box;
    const command = meant(event);
    if (scrolls || command) event.preventDefault();
    // One that is held down decides nothing twice.
    if (scrolls) scrollText(box, event.key);
    else if (event.key === "?") command?.();
    else if (command && (!event.repeat || /^Arrow|^[jkwsWS]$/.test(event.key))) session.presses.take(command, { opens: event.key === "p" });
  };

  /** What a key does, on the passage that is on screen when its turn comes. */
  const meant = (event: KeyboardEvent): (() => void) | undefined => {
    if (event.ctrlKey || event.metaKey) return event.key.toLowerCase() === "z" ? () => (event.shiftKey ? session.redo() : session.undo()) : undefined;
    if (event.shiftKey && (event.key === "ArrowRight" || event.key === "ArrowLeft")) {
      return () => session.selecting.move(event.altKey ? "start" : "end", "word", event.key === "ArrowRight" ? 1 : -1);
    }
    return event.altKey ? undefined : commands[event.key];
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
    "?": () => (session.showHelp.value = !session.showHelp.value),
  };
  useLayoutEffect(() => hearKeys(() => root.current, press), []);

  const wanted = session.focus.value;
  useLayoutEffect(() => {
    if (wanted === null) return;
    session.focus.value = null;
    const give = () => {
      const to = wanted === ".s7" ? root.current : root.current?.querySelector<HTMLElement>(wanted);
      to?.focus({ preventScroll: true });
      if (to instanceof HTMLTextAreaElement) {
        to.setSelectionRange(to.value.length, to.value.length);
        to.scrollIntoView?.({ block: "nearest" });
      }
      return !!to;
    };
    if (!give()) queueMicrotask(give);
  }, [wanted]);

  // A button takes no focus from a click: it may be gone when the next passage opens, and the keys with it.
  const down = (event: MouseEvent) => {
    if (!(event.target as Element).closest("button, .s7-candidate")) return;
    event.preventDefault();
    if (!isTextField(focusIn(root.current!))) root.current!.focus({ preventScroll: true });
  };
  const drag = (event: PointerEvent) => {
    if ((event.target as Element).closest(".s7-passage .s7-text")) startDrag(event, session, root.current!);
  };

  const [passage, row] = [session.passage.value, session.here.value];
  return (
    <div class="s7 s7-quotes-widget" ref={root} tabIndex={0} role="group" aria-label="Quotes" onMouseDown={down} onPointerDown={drag}>
      <Header session={session} />
      {session.message.value && (
        <p class="s7-message" role="alert">
          {session.message.value}{" "}
          <button type="button" aria-label="Close the message" onClick={() => (session.message.value = null)}>
            ×
          </button>
        </p>
      )}
      {session.showHelp.value && <Help rows={KEYS} />}
      {!session.welcomed.value && <p class="s7-waiting">Waiting for the kernel… If it was restarted, run the cell again.</p>}
      {session.welcomed.value && (
        <div class="s7-quote-desk">
          <Codes session={session} />
          <Candidates session={session} />
          {passage && row ? <PassagePane session={session} passage={passage} row={row} /> : <p class="s7-passage s7-hint">{row ? waitingWords("Reading the text…", session.presses.waiting.value.length) : "Nothing is open."}</p>}
        </div>
      )}
      <div class="s7-status" role="status">
        {session.announced.value}
      </div>
    </div>
  );
}
