// The room of discussions: what is to be discussed, how far each discussion is, and a text with what is said
// about it.
import { Button } from "../shared/button";
import { UNKNOWN } from "../shared/colours";
import { Conversation } from "../shared/conversation";
import { Select } from "../shared/fields";
import type { MarginItem } from "../shared/margin";
import { TextView } from "../shared/textview";
import { shownDate } from "../shared/times";
import { VirtualList } from "../shared/virtuallist";
import { asTalk } from "./discussing";
import type { Discussion, Talker, Thread } from "./messages";
import { keyOf, type Session } from "./session";

const ROW_HEIGHT = 48;

/** What is to be discussed, and the button that opens the discussion. */
export function ToDiscuss({ session }: { session: Session }) {
  const listed = session.toDiscuss.value;
  const rows = listed.flatMap(key => session.rows.value.find(row => keyOf(row) === keyOf(key)) ?? []);
  const coders = [...new Set(rows.flatMap(row => row.coders))].sort();
  const [apart, shown] = [session.filter.coder.value, session.filter.places.value.length];
  if (!listed.length && !apart) return null;
  return (
    <section class="s7-discussing" aria-label="To be discussed">
      {listed.length > 0 && <h5>To be discussed: {rows.length}</h5>}
      <ul>
        {rows.map(row => (
          <li key={keyOf(row)}>
            <Button
              class="s7-quiet"
              title={`${session.label(row.code)} · ${row.unit_id}`}
              onClick={() => session.openKey(row)}
            >
              <span
                class="s7-other-code"
                style={{ "--s7-c": (session.book.looks.value.get(row.code) ?? UNKNOWN).colour }}
                dir="auto"
              >
                {session.short(row.code)}
              </span>{" "}
              {row.words}
            </Button>
          </li>
        ))}
      </ul>
      {listed.length > 0 && (
        <Button
          class="s7-primary"
          title="Opens a round in which these coders look at the texts again"
          onClick={() => session.openDiscussion()}
          words={`Open with ${coders.join(", ")}`}
        />
      )}
      {apart && shown > 0 && (
        <Button
          class="s7-look-again"
          title="Opens a round in which this coder alone looks again at the texts that the queue shows"
          onClick={() => session.askToLook()}
          words={`Ask ${apart} to look again at ${shown === 1 ? "this text" : `the texts of these ${shown}`}`}
        />
      )}
    </section>
  );
}

export function Room({ session }: { session: Session }) {
  const { talks } = session;
  const here = talks.here.value;
  if (!here) {
    return (
      <>
        <section class="s7-queue" aria-label="Discussions">
          <div class="s7-room-foot">
            <ToDiscuss session={session} />
          </div>
        </section>
        <p class="s7-waiting">
          {talks.rows.value === null
            ? "Reading the discussions…"
            : "There is no discussion yet. Press g on a disagreement, then open the discussion here."}
        </p>
        <section class="s7-rule" />
      </>
    );
  }
  return (
    <>
      <Listed session={session} here={here} />
      <Text session={session} here={here} />
      <section class="s7-rule" aria-label="Notes">
        <Opening session={session} here={here} />
        <Notes session={session} />
        <ToDiscuss session={session} />
      </section>
    </>
  );
}

function Listed({ session, here }: { session: Session; here: Discussion }) {
  const { talks } = session;
  const place = talks.place.value;
  return (
    <section class="s7-queue" aria-label="Discussions">
      <div class="s7-finding">
        <Select
          class="s7-order"
          aria-label="Discussion"
          value={here.name}
          options={talks.rows.value!.map(({ name }) => [name, name] as const)}
          onPick={name => {
            talks.choose(name);
            session.focus.value = ".s7";
          }}
        />
      </div>
      <VirtualList
        count={here.units.length}
        rowHeight={ROW_HEIGHT}
        cursor={place}
        box={{ class: "s7-queue-rows", role: "listbox", "aria-label": "Texts under discussion", tabIndex: 0 }}
        row={(at, style) => {
          const unit = here.units[at]!;
          const said = [
            `${unit.n_again} of ${here.coders.length} again`,
            unit.n_changed && `${unit.n_changed} revised`,
            unit.n_notes && `${unit.n_notes} ${unit.n_notes === 1 ? "note" : "notes"}`,
          ]
            .filter(Boolean)
            .join(" · ");
          return (
            <div
              key={at}
              class={at === place ? "s7-queue-row s7-here" : "s7-queue-row"}
              role="option"
              aria-selected={at === place}
              style={style}
              title={unit.unit_id}
              onClick={() => talks.to(at)}
            >
              <span class="s7-queue-words">
                <span class="s7-queue-text" dir="auto">
                  {unit.words}
                </span>
                <span class="s7-room-note">{said}</span>
              </span>
            </div>
          );
        }}
      />
      <Outcome session={session} here={here} />
    </section>
  );
}

/** How far it is, and what it changed: never the agreement that is reported. */
function Outcome({ session, here }: { session: Session; here: Discussion }) {
  return (
    <div class="s7-room-foot" tabIndex={0} role="region" aria-label="What the discussion changed">
      <p>
        <b class="s7-strong">
          {here.n_again} of {here.units.length} looked at again by all
        </b>
      </p>
      <p>{here.coders.map(({ coder, n }) => `${coder} ${n}`).join(" · ")}</p>
      {here.is_open && (
        <p>{here.n_changed === 1 ? "One decision revised" : `${here.n_changed} decisions revised`}</p>
      )}
      {here.revised.length > 0 && (
        <table>
          <thead>
            <tr>
              <th scope="col">Code</th>
              <th scope="col">Revised</th>
              <th scope="col">α</th>
            </tr>
          </thead>
          <tbody>
            {here.revised.map(({ code, n, before, after }) => (
              <tr key={code}>
                <th scope="row" dir="auto">
                  {session.label(code)}
                </th>
                <td class="s7-number">{n}</td>
                <td class="s7-number">
                  {before} → {after}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <p class="s7-hint">The agreement to report is that of the independent coding, before the discussion.</p>
    </div>
  );
}

/** Until the discussion is unblinded, nobody sees what the others write and revise. */
function Opening({ session, here }: { session: Session; here: Discussion }) {
  const { talks } = session;
  if (here.is_open) return null;
  return (
    <section class="s7-opening" aria-label="Who can read it">
      <p>
        Each coder looks again alone: nobody sees yet what the others write or revise here, and neither do
        you.
      </p>
      {here.may_open && (
        <Button
          class={talks.sure.value ? "s7-primary" : ""}
          onClick={() => talks.share()}
          words={talks.sure.value ? "Yes, show it" : "Let all read each other"}
        />
      )}
      {talks.sure.value && <p role="status">This cannot be undone.</p>}
    </section>
  );
}

function Text({ session, here }: { session: Session; here: Discussion }) {
  const { talks } = session;
  const thread = talks.thread.value;
  if (!thread) return <p class="s7-waiting">Reading the text…</p>;
  const people = thread.coders
    .filter(({ codings }) => codings.some(({ start }) => start !== null))
    .map(({ coder }) => coder);
  const spans = thread.coders.flatMap(({ coder, codings }) =>
    codings.filter(({ start }) => start !== null).map(coding => ({ coder, coding })),
  );
  const items = laneItems(session, thread, people);
  const picked = session.picked.value;
  const open = session.showConversation.value;
  return (
    <section class="s7-case" style={{ "--s7-people": people.length }} aria-label="Text under discussion">
      <div class="s7-unit-line">
        <span class="s7-disputed" dir="auto">
          Discussion of ‘{here.of}’
        </span>
        <span>
          text {talks.place.value + 1} of {here.units.length}
        </span>
        <span class="s7-unit-id" dir="auto" title={thread.unit_id}>
          {thread.unit_id}
        </span>
      </div>
      <ul class="s7-readings" aria-label="Who looked again">
        {thread.coders.map(one => (
          <Again key={one.coder} session={session} one={one} />
        ))}
      </ul>
      <TextView
        key={thread.unit_id}
        unit={{
          unit_id: thread.unit_id,
          text: thread.text,
          codings: spans.map(({ coding }) => coding),
          memos: thread.notes.flatMap(({ start, end }) => (start === null ? [] : [{ start, end: end! }])),
        }}
        book={session.book}
        active={picked}
        onMark={coding => (session.picked.value = spans.findIndex(one => one.coding === coding))}
        before={
          <Conversation unit={thread} open={open} onToggle={() => (session.showConversation.value = !open)} />
        }
        margin={{ label: "Words that were coded", items, people }}
      />
      <Say session={session} thread={thread} />
    </section>
  );
}

function Again({ session, one }: { session: Session; one: Talker }) {
  const revised = [
    ...one.added.map(code => `+ ${session.label(code)}`),
    ...one.dropped.map(code => `− ${session.label(code)}`),
  ];
  const said = one.again ? revised.join(" · ") || "as before" : "as before the discussion";
  const codes = [...new Set(one.codings.map(({ code }) => code))];
  return (
    <li
      class={one.again ? "s7-reading-of s7-applied" : "s7-reading-of"}
      title={[one.coder, said, ...codes.map(code => session.label(code))].join(" · ")}
    >
      <span
        class="s7-reading-said"
        role="img"
        aria-label={one.again ? "looked again" : "not seen to have looked again"}
      >
        {one.again ? "✓" : "·"}
      </span>
      <span class="s7-reading-who">{one.coder}</span>
      <span class="s7-reading-what" dir="auto">
        {said}
      </span>
      <span class="s7-reading-others">
        {codes.map(code => (
          <span
            key={code}
            class="s7-other-code"
            style={{ "--s7-c": (session.book.looks.value.get(code) ?? UNKNOWN).colour }}
            dir="auto"
          >
            {session.short(code)}
          </span>
        ))}
      </span>
    </li>
  );
}

function laneItems(session: Session, { coders, text }: Thread, people: readonly string[]): MarginItem[] {
  return coders
    .flatMap(({ coder, codings }) =>
      codings.flatMap(({ code, start, end }) =>
        start === null
          ? []
          : [
              {
                id: `${coder}:${code}:${start}:${end}`,
                span: { start, end: end! },
                look: { ...(session.book.looks.value.get(code) ?? UNKNOWN), tag: "" },
                name: session.label(code),
                more: [],
                title: `${coder}: ${session.label(code)}, “${text.slice(start, end!)}”`,
                names: [],
                person: people.indexOf(coder),
              },
            ],
      ),
    )
    .map((item, at) => ({
      ...item,
      active: at === session.picked.value,
      onPick: () => (session.picked.value = at),
    }));
}

function Notes({ session }: { session: Session }) {
  const { talks } = session;
  const thread = talks.thread.value;
  if (!thread) return null;
  return (
    <section class="s7-thread" aria-label="Notes on this text">
      <h5>Notes on this text</h5>
      {!thread.notes.length && <p class="s7-hint">No notes that you may read.</p>}
      <ul>
        {asTalk(thread.notes).map(({ note, depth }) => (
          <li key={note.memo_id} style={{ "--s7-depth": Math.min(depth, 4) }}>
            <span class="s7-room-note">
              <b class="s7-strong">{note.coder}</b> <time dateTime={note.at}>{shownDate(note.at)}</time>
            </span>
            {note.start !== null && <q dir="auto">{thread.text.slice(note.start, note.end!)}</q>}
            <span class="s7-reading-memo" dir="auto">
              {note.text}
            </span>
            <Button
              class="s7-quiet"
              aria-label={`Answer ${note.coder}`}
              onClick={() => talks.answer(note.memo_id)}
              words="Answer"
            />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Say({ session, thread }: { session: Session; thread: Thread }) {
  const { talks } = session;
  const to = thread.notes.find(({ memo_id }) => memo_id === talks.answering.value);
  return (
    <section class="s7-ruling s7-saying" aria-label="A note to all who discuss">
      <textarea
        class="s7-say"
        rows={2}
        dir="auto"
        aria-label={to ? `Answer to ${to.coder} (n)` : "Note to all who discuss (n)"}
        placeholder={to ? `Answer to ${to.coder}` : "Note to all who discuss (n)"}
        value={talks.draft.value}
        onInput={event => talks.write(event.currentTarget.value)}
      />
      <Button
        class="s7-primary"
        disabled={talks.saving.value || !talks.draft.value.trim()}
        title="Ctrl+Enter"
        onClick={() => talks.say()}
        words={to ? "Answer" : "Send"}
      />
    </section>
  );
}
