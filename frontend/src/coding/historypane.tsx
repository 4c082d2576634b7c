// What was done, as a list beside the text: each line leads to its text, and can be taken back or done again.
import { Button } from "../shared/button";
import { Select } from "../shared/fields";
import { listBox, listRow, type RowStyle } from "../shared/pagedrows";
import { shownTime } from "../shared/times";
import { VirtualList } from "../shared/virtuallist";
import { counted, described } from "./history";
import type { HistoryQuestion } from "./messages";
import type { Session } from "./session";
import { joined } from "../shared/words";
import { Counted } from "../shared/sidepane";

const ROW = 58;

const SCOPES: [HistoryQuestion["scope"], string][] = [
  ["sitting", "Since you opened this"],
  ["text", "On this text"],
  ["all", "Everything"],
];

/** Go to the text of an act, with its words selected. */
export function openAct(session: Session, index: number): void {
  const row = session.history.list.pick(index);
  if (!row) return;
  if (row.place === null) return session.say("This step is not about a text shown here");
  session.texts.leave();
  session.goTo(row.place, row.start === null ? null : { start: row.start, end: row.end! });
}

/** A key on the list of acts: Delete takes the marked one back, or does it again; b goes back to it. */
export function pressInHistory(event: KeyboardEvent, session: Session): boolean {
  const { history } = session;
  const row = history.list.rows.value.get(history.list.cursor.value);
  if (!row || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return false;
  if (event.key === "Delete" || event.key === "Backspace") {
    if (row.state !== "fixed")
      session.presses.inTurn(() => history.take(row.state === "undone" ? "redo" : "undo", row));
  } else if (event.key === "b") history.askBack(row);
  else return false;
  return true;
}

export function HistoryPane({ session }: { session: Session }) {
  const { history } = session;
  const [lines, n, cursor] = [history.lines.value, history.list.count.value, history.list.cursor.value];
  return (
    <>
      <div class="s7-choose">
        <Select
          aria-label="Which acts"
          value={history.scope.value}
          options={SCOPES}
          onPick={scope => history.choose(scope as HistoryQuestion["scope"])}
        />
        <Counted words={counted(n, "step")} />
        <GoBack session={session} />
      </div>
      <VirtualList
        count={lines.length}
        rowHeight={ROW}
        cursor={history.lineOf.value[cursor] ?? 0}
        onShown={history.want}
        box={listBox(history.list.id, "What was done", n, cursor)}
        row={(place, style) => {
          const line = lines[place]!;
          if ("day" in line)
            return (
              <div key={line.day} class="s7-day" role="presentation" style={style}>
                {line.day}
              </div>
            );
          return <ActView key={line.index} session={session} index={line.index} style={style} />;
        }}
      />
      {n ? <ActButtons session={session} /> : <p class="s7-hint">Nothing yet.</p>}
    </>
  );
}

/** What going back would do, said beforehand; and the way back from it. */
function GoBack({ session }: { session: Session }) {
  const { history } = session;
  const [back, undone] = [history.back.value, history.undone.value];
  const take = (action: () => void) => session.presses.inTurn(action);
  if (back) {
    return (
      <div class="s7-go-back" role="alert">
        <span>
          Going back undoes {counted(back.ids.length, "step")} on {counted(back.n_texts, "text")}.
        </span>
        <Button class="s7-primary" onClick={() => take(() => history.goBack())} words="Take back" />
        <Button onClick={() => (history.back.value = null)} words="Cancel" />
      </div>
    );
  }
  if (!undone.length) return null;
  return (
    <div class="s7-go-back" role="status">
      <span>{counted(undone.length, "step")} taken back.</span>
      <Button onClick={() => take(() => history.doAgain())} words="Do them again" />
    </div>
  );
}

function ActView({ session, index, style }: { session: Session; index: number; style: RowStyle }) {
  const { history } = session;
  const row = history.list.rows.value.get(index);
  const undone = row?.state === "undone";
  const shared = listRow(history.list, index, style, ["s7-act", undone && "s7-taken-back"]);
  if (!row) return <div {...shared}>…</div>;
  const what = described(row, code => session.label(code));
  const where = row.place === null ? (row.unit_id ?? "") : `${row.place + 1} · ${row.unit_id}`;
  return (
    <div
      {...shared}
      aria-label={joined([shownTime(row.at), undone && "taken back", row.unit_id, what, row.quote], ", ")}
      onClick={() => openAct(session, index)}
    >
      <div class="s7-row-line">
        <time dateTime={row.at}>{shownTime(row.at)}</time>
        <span class="s7-row-id">{where}</span>
        {undone && row.taken_back && <span>taken back {shownTime(row.taken_back)}</span>}
      </div>
      <div class="s7-row-words" dir="auto">
        {row.quote ? `${what} “${row.quote}”` : what}
        {row.kind === "memo" && row.words && `: ${row.words}`}
      </div>
    </div>
  );
}

/** The buttons of the marked act, beneath the list. */
function ActButtons({ session }: { session: Session }) {
  const { history } = session;
  const row = history.list.rows.value.get(history.list.cursor.value);
  if (!row) return null;
  const undone = row.state === "undone";
  return (
    <div class="s7-act-buttons">
      <Button
        disabled={row.state === "fixed"}
        title={row.state === "fixed" ? "This step is from another round" : "Del"}
        onClick={() => session.presses.inTurn(() => history.take(undone ? "redo" : "undo", row))}
      >
        {undone ? "Do again" : "Take back"} <kbd>Del</kbd>
      </Button>
      <Button title="b" onClick={() => history.askBack(row)}>
        Back to here <kbd>b</kbd>
      </Button>
    </div>
  );
}
