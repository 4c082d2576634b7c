// The adjudication widget on screen: the queue, the text with its readings and the ruling, and the rule of
// the code.
import { useRef } from "preact/hooks";
import { Button } from "../shared/button";
import { UNKNOWN } from "../shared/colours";
import { Conversation } from "../shared/conversation";
import { Definition } from "../shared/definition";
import { Bar, Frame, Tool, WAITING, Who } from "../shared/frame";
import type { MarginItem } from "../shared/margin";
import { isTextField } from "../shared/keys";
import { scrollsText } from "../shared/more";
import { waitingWords } from "../shared/pressqueue";
import { TextView } from "../shared/textview";
import { ChangeForm } from "./change";
import type { Kind } from "./changing";
import type { Dispute } from "./messages";
import { QueueList, SIGNS } from "./queue";
import { Room, ToDiscuss } from "./room";
import { Readings, ReadingsInFull } from "./readings";
import { RulingBar, SimilarTexts, Standing } from "./ruling";
import { DIFFERENT, type Session } from "./session";
import { NOT_RULED, Together } from "./together";

const KEYS: [string, string][] = [
  ["a d", "The code applies, does not apply"],
  ["1 … 4", "Then why the coders differed; the next disagreement opens"],
  ["f 5", "Different readings: both are valid"],
  ["b", "Rule on all that the queue shows together (Space: tick; Enter: rule)"],
  ["g", "Put it on the list for a discussion, or take it off"],
  ["G", "The discussions: how far they are, what was revised and said (n: write a note)"],
  ["n", "A note to go with the ruling (Esc: back)"],
  ["u", "Undo the last ruling (also Ctrl+Z)"],
  ["y", "Redo it (also Ctrl+Shift+Z)"],
  ["→ ←", "Next, previous (also ↓ ↑)"],
  ["Enter", "Next open disagreement"],
  ["o", "Change the order of the queue"],
  ["/", "Find words, a code or a coder in the queue (Enter: open the first)"],
  [",", "The queue, or the rule (in narrow windows)"],
  ["t", "The conversation before"],
  ["w", "All codes on the text, or only the disputed one"],
  ["l", "Coders by letter or by name"],
  ["e c", "Make the text an example, a near miss of the code"],
  ["s", "Sharpen the rule of the code"],
  ["Ctrl+Enter", "In a form: save"],
  ["PgUp PgDn", "Scroll the text"],
];

function Header({ session }: { session: Session }) {
  const [open, settled] = [session.nOpen.value, session.nSettled.value];
  return (
    <>
      <Button
        type="button"
        class="s7-queue-button"
        aria-pressed={session.showQueue.value}
        aria-label="Queue"
        title="Show the queue instead of the rule (,)"
        onClick={() => (session.showQueue.value = !session.showQueue.value)}
        words="☰"
      />
      <Who session={session} role="The lead" />
      <div class="s7-progress">
        <Bar label="Settled" done={settled} of={open + settled} />
        <span class="s7-numbers" title={session.words.value}>
          {settled} settled, {open} open
        </span>
      </div>
      <Button
        class="s7-quiet s7-room-button"
        aria-pressed={session.talks.open.value}
        aria-label="Discussions"
        title="The discussions (G)"
        onClick={() => session.talks.toggle()}
        words={
          <>
            ☍<span class="s7-tool-word"> Discussions</span>
          </>
        }
      />
      <Button
        class="s7-quiet s7-letters-button"
        aria-pressed={session.letters.value}
        title="Call coders by letters, so that nobody is judged by who they are (l)"
        onClick={() => session.call(!session.letters.value)}
      >
        Coders: {session.letters.value ? "A, B, C" : "by name"}
      </Button>
    </>
  );
}

function TextPane({ session, dispute }: { session: Session; dispute: Dispute }) {
  const { looks } = session.book;
  const memos = dispute.coders
    .flatMap(one => one.memos)
    .flatMap(({ start, end }) => (start === null ? [] : [{ start, end: end! }]));
  const applied = dispute.coders.filter(one => one.applied).length;
  const decided = dispute.coders.filter(one => one.applied !== null).length;
  const [spans, picked, open] = [session.spans.value, session.picked.value, session.showConversation.value];
  const people = [...new Set(spans.map(({ coder }) => coder))];
  return (
    <section
      class={people.length > WIDE_LANES ? "s7-case s7-many-lanes" : "s7-case"}
      style={{ "--s7-people": people.length }}
      aria-label="Text and readings"
    >
      <div class="s7-unit-line">
        <span
          class="s7-disputed"
          style={{ "--s7-c": looks.value.get(dispute.code)?.colour ?? "currentColor" }}
          title={session.label(dispute.code)}
          dir="auto"
        >
          {session.label(dispute.code)}
        </span>
        <span>
          {applied} of {decided} applied it
        </span>
        <Standing session={session} dispute={dispute} />
        {dispute.others.length > 0 && (
          <span class="s7-also" title="Other codes disputed on this text">
            also:{" "}
            {dispute.others.map(({ code, settled }) => (
              <Button
                key={code}
                class="s7-quiet"
                title={session.label(code)}
                onClick={() => session.openKey({ unit_id: dispute.unit_id, code })}
              >
                {session.short(code)}
                {settled && ` ${SIGNS[settled][0]}`}
              </Button>
            ))}
          </span>
        )}
        <span class="s7-unit-id" dir="auto" title={dispute.unit_id}>
          {dispute.unit_id}
        </span>
      </div>
      <Readings session={session} dispute={dispute} />
      <TextView
        key={dispute.unit_id}
        unit={{ unit_id: dispute.unit_id, text: dispute.text, codings: session.marks.value, memos }}
        book={session.book}
        active={picked}
        sought={session.sought.value}
        onMark={coding => (session.picked.value = session.marks.value.indexOf(coding))}
        before={
          <Conversation
            unit={dispute}
            open={open}
            onToggle={() => (session.showConversation.value = !open)}
          />
        }
        margin={{ label: "Words that were coded", items: laneItems(session, dispute, people), people }}
      />
      <RulingBar session={session} />
    </section>
  );
}

/** With more people than this their lanes are narrower. */
const WIDE_LANES = 4;

/**
 * The words that each coder coded, in a lane for each of those who coded words; a click shows which words
 * they are.
 */
function laneItems(session: Session, { text }: Dispute, people: readonly string[]): MarginItem[] {
  return session.spans.value.map(({ coder, code, start, end }, at) => ({
    id: `${coder}:${code}:${start}:${end}`,
    span: { start: start!, end: end! },
    look: { ...(session.book.looks.value.get(code) ?? UNKNOWN), tag: "" },
    name: session.label(code),
    more: [],
    title: `${coder}: ${session.label(code)}, “${text.slice(start!, end!)}”`,
    names: [],
    active: at === session.picked.value,
    person: people.indexOf(coder),
    onPick: () => (session.picked.value = at),
  }));
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
        <Button onClick={() => begin("example")} press="e" words="Example" />
        <Button onClick={() => begin("counter_example")} press="c" words="Near miss" />
        <Button onClick={() => begin("rule")} press="s" words="Sharpen rule" />
      </div>
      <ToDiscuss session={session} />
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
  const span = dispute.coders
    .flatMap(one => one.codings)
    .find(coding => coding.code === dispute.code && coding.start !== null);
  session.changing.begin(
    kind,
    code,
    kind === "example" && span ? dispute.text.slice(span.start!, span.end!) : dispute.text,
  );
  session.focus.value = ".s7-change .s7-first";
}

export function Page({ session }: { session: Session }) {
  const root = useRef<HTMLDivElement>(null);

  const { batch, talks } = session;
  const back = (target: Element) => {
    if (talks.open.value) {
      if (target.matches(".s7-say")) session.focus.value = ".s7";
      else talks.toggle();
      return true;
    }
    if (session.noting.value) session.endNote();
    else if (target.matches(".s7-batch-note")) session.focus.value = ".s7";
    else if (batch.open.value) session.endBatch(NOT_RULED);
    else if (session.changing.draft.value) session.changing.end();
    else if (isTextField(target) && !session.filter.on.value) session.showQueue.value = false;
    else if (isTextField(target)) session.filter.clear();
    else if (session.verdict.value !== null) {
      session.verdict.value = null;
      session.say("");
    } else return false;
    session.focus.value = ".s7";
    return true;
  };

  const inField = (event: KeyboardEvent, field: Element): boolean => {
    const sent = event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.repeat;
    if (sent && talks.open.value) talks.say();
    else if (sent && session.noting.value) session.endNote();
    else if (sent) session.changing.save();
    const found = !sent && event.key === "Enter" && field.matches(".s7-find");
    if (found) session.toFirstShown();
    const noted = event.key === "Enter" && field.matches(".s7-batch-note");
    if (noted) session.focus.value = ".s7";
    return sent || found || noted;
  };

  const together: Record<string, () => void> = {
    ...Object.fromEntries(
      session.reasons.value.slice(0, 9).map(({ name }, at) => [at + 1, () => batch.because(name)]),
    ),
    a: () => batch.decide(true),
    d: () => batch.decide(false),
    f: () => batch.because(DIFFERENT),
    n: () => void (session.focus.value = ".s7-batch-note"),
    " ": () => batch.tick(batch.cursor.value),
    ArrowDown: () => batch.go(1),
    ArrowUp: () => batch.go(-1),
    Enter: () => session.ruleTogether(),
    b: () => session.endBatch(NOT_RULED),
    u: () => session.undo(),
  };
  const toggleSide = () => void (session.showQueue.value = !session.showQueue.value);
  const room: Record<string, () => void> = {
    ArrowDown: () => talks.go(1),
    ArrowRight: () => talks.go(1),
    ArrowUp: () => talks.go(-1),
    ArrowLeft: () => talks.go(-1),
    n: () => void (session.focus.value = ".s7-say"),
    t: () => void (session.showConversation.value = !session.showConversation.value),
    l: () => session.call(!session.letters.value),
    ",": toggleSide,
    G: () => talks.toggle(),
  };
  const commands: Record<string, () => void> = talks.open.value
    ? room
    : batch.open.value
      ? together
      : {
          ...Object.fromEntries(
            session.reasons.value.slice(0, 9).map(({ name }, at) => [at + 1, () => session.because(name)]),
          ),
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
          b: () => session.beginBatch(),
          g: () => session.discuss(),
          "/": () => session.beginFinding(),
          ",": toggleSide,
          G: () => talks.toggle(),
        };

  const dispute = session.dispute.value;
  const begun = session.changing.draft.value !== null;
  const empty = session.welcomed.value && !session.rows.value.length;
  return (
    <Frame
      {...{ session, root, commands, back, inField }}
      name="adjudication"
      label="Disagreements"
      keys={KEYS}
      opens="necs/"
      home=".s7"
      still="button, .s7-queue-row"
      undo={() => session.undo()}
      redo={() => session.redo()}
      press={event => !batch.open.value && scrollsText(root.current!, event.key)}
      tools={
        <>
          <Tool name="Undo" sign="↶" press="u" ready run={() => session.undo()} />
          <Tool name="Redo" sign="↷" press="y" ready run={() => session.redo()} />
        </>
      }
      bar={<Header session={session} />}
      placeholder={!session.welcomed.value && WAITING}
    >
      {talks.open.value ? (
        <div
          class={
            session.showQueue.value ? "s7-adjudication s7-room s7-with-queue" : "s7-adjudication s7-room"
          }
        >
          <Room session={session} />
        </div>
      ) : empty && !begun ? (
        <div class="s7-waiting">
          <p>There are no disagreements you may see.</p>
          <p class="s7-hint">{session.words.value}</p>
        </div>
      ) : (
        <div class={session.showQueue.value && !begun ? "s7-adjudication s7-with-queue" : "s7-adjudication"}>
          <QueueList session={session} />
          {batch.open.value ? (
            <Together session={session} />
          ) : dispute ? (
            <TextPane session={session} dispute={dispute} />
          ) : (
            <p class="s7-waiting">
              {empty
                ? "There are no disagreements you may see."
                : waitingWords("Reading the text…", session.presses.waiting.value.length)}
            </p>
          )}
          {dispute ? (
            <Beside session={session} dispute={dispute} />
          ) : (
            <section class="s7-rule">{begun && <ChangeForm session={session} />}</section>
          )}
        </div>
      )}
    </Frame>
  );
}
