// The adjudication widget on screen: the queue, the text with its readings and the ruling, and the rule of the code.
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { Conversation } from "../shared/conversation";
import { Definition } from "../shared/definition";
import { Help } from "../shared/help";
import { focusIn, hearKeys, isTextField, SCROLLS } from "../shared/keys";
import { useLeaving } from "../shared/leaving";
import { scrollText } from "../shared/more";
import { waitingWords } from "../shared/pressqueue";
import { SaveState } from "../shared/savestate";
import { TextView } from "../shared/textview";
import { ChangeForm } from "./change";
import type { Kind } from "./changing";
import type { Dispute } from "./messages";
import { QueueList, SIGNS } from "./queue";
import { Readings, ReadingsInFull } from "./readings";
import { RulingBar, Standing } from "./ruling";
import { DIFFERENT, type Session } from "./session";
import { SimilarTexts } from "./similar";

const KEYS: [string, string][] = [
  ["a d", "The code applies, does not apply"],
  ["1 … 4", "Then why the coders differed; the next one opens"],
  ["f 5", "Different readings: both stand"],
  ["n", "A note that goes with the ruling (Esc: back)"],
  ["u", "Take the last ruling back (also Ctrl+Z)"],
  ["y", "Do it again (also Ctrl+Shift+Z)"],
  ["→ ←", "The next, the one before (also ↓ ↑)"],
  ["Enter", "The next that is open"],
  ["o", "Another order of the queue"],
  [",", "The queue, or the rule (in narrow windows)"],
  ["t", "The conversation before"],
  ["w", "All codes on the text, or the disputed one alone"],
  ["l", "Coders by letters or by name"],
  ["e c", "The text as an example, as a near miss of the code"],
  ["s", "Sharpen the rule of the code"],
  ["Ctrl+Enter", "In a form: save"],
  ["PgUp PgDn", "Scroll the text"],
  ["?", "Show or hide these keys"],
  ["Esc", "Back; twice, not too fast: leave for the notebook"],
];

/** Keys that open a field. */
const OPENING = ["n", "e", "c", "s"];

function Header({ session }: { session: Session }) {
  const [open, settled] = [session.nOpen.value, session.nSettled.value];
  const all = open + settled;
  return (
    <header class="s7-header">
      <button type="button" class="s7-queue-button" aria-pressed={session.showQueue.value} aria-label="Queue" title="The queue in the place of the rule (,)" onClick={() => (session.showQueue.value = !session.showQueue.value)}>
        ☰
      </button>
      <span class="s7-coder" title="The lead who settles">
        {session.coder.value}
      </span>
      <div class="s7-progress">
        <div class="s7-bar" role="progressbar" aria-label="Settled" aria-valuemin={0} aria-valuemax={all} aria-valuenow={settled}>
          <div style={{ width: `${all ? (100 * settled) / all : 0}%` }} />
        </div>
        <span class="s7-numbers">
          {settled} settled, {open} open
        </span>
      </div>
      <button type="button" class="s7-quiet s7-letters-button" aria-pressed={session.letters.value} title="Coders by letters, so that nobody is judged by who they are (l)" onClick={() => session.call(!session.letters.value)}>
        Coders: {session.letters.value ? "A, B, C" : "by name"}
      </button>
      <SaveState line={session.channel} queued={session.presses.waiting.value.length > 0} />
      <span class="s7-tools">
        <button type="button" aria-expanded={session.showHelp.value} aria-label="Keys" title="Keys (?)" onClick={() => (session.showHelp.value = !session.showHelp.value)}>
          ?
        </button>
      </span>
    </header>
  );
}

function TextPane({ session, dispute }: { session: Session; dispute: Dispute }) {
  const { looks } = session.book;
  const memos = dispute.coders.flatMap((one) => one.memos).flatMap(({ start, end }) => (start === null ? [] : [{ start, end: end! }]));
  const applied = dispute.coders.filter((one) => one.applied).length;
  const decided = dispute.coders.filter((one) => one.applied !== null).length;
  return (
    <section class="s7-case" aria-label="Text and readings">
      <div class="s7-unit-line">
        <span class="s7-disputed" style={{ "--s7-c": looks.value.get(dispute.code)?.colour ?? "currentColor" }} title={session.label(dispute.code)} dir="auto">
          {session.label(dispute.code)}
        </span>
        <span>
          {applied} of {decided} applied it
        </span>
        <Standing session={session} dispute={dispute} />
        {dispute.others.length > 0 && (
          <span class="s7-also" title="Other codes disputed on the text">
            also:{" "}
            {dispute.others.map(({ code, settled }) => (
              <button key={code} type="button" class="s7-quiet" onClick={() => session.openKey({ unit_id: dispute.unit_id, code })}>
                {session.label(code)}
                {settled && ` ${SIGNS[settled][0]}`}
              </button>
            ))}
          </span>
        )}
        <span class="s7-unit-id" dir="auto" title={dispute.unit_id}>
          {dispute.unit_id}
        </span>
      </div>
      <Readings session={session} dispute={dispute} />
      <Conversation unit={dispute} open={session.showConversation.value} onToggle={() => (session.showConversation.value = !session.showConversation.value)} />
      <TextView
        unit={{ unit_id: dispute.unit_id, text: dispute.text, codings: [], memos }}
        book={session.book}
        theirs={session.spans.value}
        selection={null}
        active={-1}
        sought={null}
        frozen={false}
        onMark={() => undefined}
        ended
        onEnd={() => undefined}
      />
      <RulingBar session={session} />
    </section>
  );
}

function Beside({ session, dispute }: { session: Session; dispute: Dispute }) {
  const begin = (kind: Kind) => beginChange(session, kind);
  if (session.changing.draft.value) {
    return (
      <section class="s7-rule" aria-label="The codebook">
        <ChangeForm session={session} />
      </section>
    );
  }
  return (
    <section class="s7-rule" aria-label="Rule and earlier rulings">
      <Definition book={session.book} pins={false} />
      <div class="s7-change-kinds" role="group" aria-label={`Change the code ${session.label(dispute.code)}`}>
        <button type="button" onClick={() => begin("example")}>
          <kbd>e</kbd> Example
        </button>
        <button type="button" onClick={() => begin("counter_example")}>
          <kbd>c</kbd> Near miss
        </button>
        <button type="button" onClick={() => begin("rule")}>
          <kbd>s</kbd> Sharpen rule
        </button>
      </div>
      <ReadingsInFull session={session} dispute={dispute} />
      <SimilarTexts session={session} />
    </section>
  );
}

/** Begin a change of the disputed code, with the words that bear it here. */
function beginChange(session: Session, kind: Kind): void {
  const dispute = session.dispute.value;
  const code = dispute && session.book.codes.value.get(dispute.code);
  if (!dispute || !code) return;
  const span = dispute.coders.flatMap((one) => one.codings).find((coding) => coding.code === dispute.code && coding.start !== null);
  session.changing.begin(kind, code, kind === "example" && span ? dispute.text.slice(span.start!, span.end!) : dispute.text);
  session.focus.value = ".s7-change .s7-first";
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
    if (session.noting.value) return session.endNote();
    if (session.changing.draft.value) session.changing.end();
    else if (session.verdict.value !== null) {
      session.verdict.value = null;
      session.say("");
    }
    else if (session.message.value) session.message.value = null;
    else if (here === root.current) return leaving.escape(event);
    root.current?.focus();
  };

  const inField = (event: KeyboardEvent): boolean => {
    const sent = event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.repeat;
    if (!sent) return false;
    if (session.noting.value) session.endNote();
    else session.changing.save();
    return true;
  };

  const press = (event: KeyboardEvent, target: Element) => {
    if (event.key === "Escape") {
      event.preventDefault();
      return escape(event);
    }
    if (isTextField(target)) return void (inField(event) && event.preventDefault());
    const onControl = target.closest("button, summary") && (event.key === "Enter" || event.key === " ");
    if (onControl) return void (event.repeat && event.preventDefault());
    const box = root.current!.querySelector<HTMLElement>(".s7-text");
    const scrolls = SCROLLS.includes(event.key) && box;
    const command = meant(event);
    if (scrolls || command) event.preventDefault();
    // One that is held down settles nothing twice.
    if (scrolls) scrollText(box, event.key);
    else if (event.key === "?") command?.();
    else if (command && (!event.repeat || event.key.startsWith("Arrow"))) session.presses.take(command, { opens: OPENING.includes(event.key) });
  };

  /** What a key does, on the text that is on screen when its turn comes. */
  const meant = (event: KeyboardEvent): (() => void) | undefined => {
    if (event.ctrlKey || event.metaKey) return event.key.toLowerCase() === "z" ? () => (event.shiftKey ? session.redo() : session.undo()) : undefined;
    if (event.altKey) return undefined;
    const reason = /^[1-9]$/.test(event.key) && session.reasons.value[Number(event.key) - 1];
    return reason ? () => session.because(reason.name) : commands[event.key];
  };

  const commands: Record<string, () => void> = {
    a: () => session.decide(true),
    d: () => session.decide(false),
    f: () => session.because(DIFFERENT),
    n: () => session.beginNote(),
    u: () => session.undo(),
    y: () => session.redo(),
    o: () => session.nextOrder(),
    t: () => (session.showConversation.value = !session.showConversation.value),
    w: () => (session.allCodes.value = !session.allCodes.value),
    l: () => session.call(!session.letters.value),
    e: () => beginChange(session, "example"),
    c: () => beginChange(session, "counter_example"),
    s: () => beginChange(session, "rule"),
    Enter: () => session.toNextOpen(),
    ArrowRight: () => session.go(1),
    ArrowDown: () => session.go(1),
    ArrowLeft: () => session.go(-1),
    ArrowUp: () => session.go(-1),
    ",": () => (session.showQueue.value = !session.showQueue.value),
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

  // A button takes no focus from a click: it may be gone when the next text opens, and the keys with it.
  const down = (event: MouseEvent) => {
    if (!(event.target as Element).closest("button, .s7-queue-row")) return;
    event.preventDefault();
    if (!isTextField(focusIn(root.current!))) root.current!.focus({ preventScroll: true });
  };

  const dispute = session.dispute.value;
  const begun = session.changing.draft.value !== null;
  const empty = session.welcomed.value && !session.rows.value.length;
  return (
    <div class="s7 s7-adjudication-widget" ref={root} tabIndex={0} role="group" aria-label="Disagreements" onMouseDown={down}>
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
      {empty && !begun && (
        <div class="s7-waiting">
          <p>There is no disagreement that may be seen here.</p>
          <p class="s7-hint">{session.words.value}</p>
        </div>
      )}
      {session.welcomed.value && (!empty || begun) && (
        <div class={session.showQueue.value && !begun ? "s7-adjudication s7-with-queue" : "s7-adjudication"}>
          <QueueList session={session} />
          {dispute ? <TextPane session={session} dispute={dispute} /> : <p class="s7-waiting">{empty ? "There is no disagreement that may be seen here." : waitingWords("Reading the text…", session.presses.waiting.value.length)}</p>}
          {dispute ? <Beside session={session} dispute={dispute} /> : <section class="s7-rule">{begun && <ChangeForm session={session} />}</section>}
        </div>
      )}
      <div class="s7-status" role="status">
        {session.announced.value}
      </div>
    </div>
  );
}
