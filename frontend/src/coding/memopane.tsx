// The list of memos beside the text; each leads to what it is about.
import { Button } from "../shared/button";
import { asOptions, Select } from "../shared/fields";
import { Counted, Find } from "../shared/sidepane";
import { shownDate } from "../shared/times";
import { PagedList } from "../shared/virtuallist";
import type { MemoQuery } from "./memolist";
import type { MemoRow } from "./messages";
import type { Session } from "./session";
import { joined } from "../shared/words";

const ROW = 86;

const KINDS: [MemoQuery["on"], string][] = [
  ["", "All memos"],
  ["unit", "On texts"],
  ["span", "On words"],
  ["code", "On codes"],
  ["study", "On the study"],
];
/** Go to what the memo is about: to the text with its words selected, or to the form of a memo on none. */
export function openMemo(session: Session, index: number): void {
  const row = session.memoList.list.pick(index);
  if (!row) return;
  session.texts.leave();
  if (row.place !== null)
    return session.goTo(row.place, row.start === null ? null : { start: row.start, end: row.end! });
  const code = row.code !== null && session.book.codes.value.get(row.code);
  if (code) session.book.definition.ask(code.id);
  if (!row.own) return;
  if (code) session.memos.onCode(code);
  else if (row.on === "study") session.memos.onStudy();
}

export function MemoPane({ session }: { session: Session }) {
  const { memoList } = session;
  const { list } = memoList;
  const [query, n, all] = [memoList.query.value, list.count.value, list.all.value];
  const codes = session.book.list.value;
  const marked = list.rows.value.get(list.cursor.value);
  const theirs =
    marked?.team && !marked.own && marked.place !== null && session.memos.round.value ? marked : null;
  return (
    <>
      <div class="s7-choose">
        <Find
          of={list.id}
          label="Find in memos, quoted words and ids"
          words="Find in memos, words, ids"
          value={query.find}
          onFind={find => memoList.change({ find })}
        />
        <div class="s7-choose-line">
          <Select
            aria-label="Memos on"
            value={query.on}
            options={KINDS}
            onPick={on => memoList.change({ on: on as MemoQuery["on"] })}
          />
          <Select
            aria-label="Memos about a code"
            value={query.code ?? ""}
            options={[["", "Any code"], ...asOptions(codes)]}
            onPick={code => memoList.change({ code: code || null })}
          />
        </div>
        <Counted words={`${n === all ? n : `${n} of ${all}`} ${all === 1 ? "memo" : "memos"}`}>
          <Button
            class="s7-quiet"
            onClick={() => {
              session.texts.leave();
              session.memos.onStudy();
            }}
            words="✎ On the study"
          />
        </Counted>
      </div>
      <PagedList
        list={list}
        label="Memos"
        rowHeight={ROW}
        view={row => <MemoView session={session} row={row} />}
        onOpen={index => openMemo(session, index)}
      />
      {theirs && (
        <Button
          class="s7-quiet s7-refuse"
          onClick={() => answer(session, theirs)}
          words={`Answer ${theirs.coder}`}
        />
      )}
      {!n && (
        <p class="s7-hint">
          {all
            ? "No memo matches."
            : `No memos yet. Select words and press ${session.commands.value.memo ?? "m"}.`}
        </p>
      )}
    </>
  );
}

/** Go to the text of a colleague's memo, and write an answer. */
function answer(session: Session, row: MemoRow): void {
  session.texts.leave();
  session.goTo(row.place!, null);
  session.presses.inTurn(() => session.unit.value && session.memos.answer(session.unit.value, row));
}

/** What the memo is on, in words. */
function about(row: MemoRow, session: Session): string {
  if (row.on === "code") return `Code ${session.label(row.code!)}`;
  if (row.on === "study") return "The study";
  return row.place === null ? row.unit_id! : `${row.place + 1} · ${row.unit_id}`;
}

function MemoView({ session, row }: { session: Session; row: MemoRow }) {
  const who = joined([!row.own && row.coder, row.team && "team"], ", ");
  return (
    <>
      <div class="s7-row-line">
        <span class="s7-row-id">{about(row, session)}</span>
        {who && <span class="s7-sign">{who}</span>}
        <time dateTime={row.at}>{shownDate(row.at)}</time>
      </div>
      {row.words && (
        <div class="s7-row-quote" dir="auto">
          {row.on === "span" ? `“${row.words}”` : row.words}
        </div>
      )}
      <div class="s7-row-words" dir="auto">
        {row.answers && "↳ "}
        {row.text}
      </div>
    </>
  );
}
