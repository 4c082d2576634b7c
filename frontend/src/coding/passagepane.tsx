// The passages of a code in the panel.
import { useEffect } from "preact/hooks";
import { listBox, listRow, type RowStyle } from "../shared/pagedrows";
import { SidePane } from "../shared/sidepane";
import { VirtualList } from "../shared/virtuallist";
import type { Session } from "./session";

const ROW = 78;

export function openPassage(session: Session, index: number): void {
  const { list } = session.passages;
  const row = list.rows.value.get(index);
  if (!row) return;
  list.cursor.value = index;
  if (session.texts.narrow.value) session.panel.leave();
  session.focus.value = ".s7";
  session.passages.leave(row.place);
  session.goTo(row.place, { code: row.code, start: row.start, end: row.end });
}

export function PassagePane({ session }: { session: Session }) {
  const { passages } = session;
  const [code, { list }] = [session.openCode.value, passages];
  const n = list.count.value;
  useEffect(() => passages.of(code), [code]);
  return (
    <SidePane label="Passages">
      <div class="s7-choose s7-passages">
        <input class="s7-find" type="search" aria-label={`Find in the passages of ${session.label(code)}`} placeholder="Find in these passages" value={passages.find.value} aria-controls={`${passages.id}-rows`} onInput={(event) => passages.change(event.currentTarget.value)} />
        <div class="s7-counted">
          <span aria-live="polite">{code && session.label(code)}: {n === passages.all.value ? n : `${n} of ${passages.all.value}`}</span>
        </div>
      </div>
      <VirtualList
        count={n}
        rowHeight={ROW}
        cursor={list.cursor.value}
        onShown={list.want}
        box={listBox(passages.id, "Passages", n, list.cursor.value)}
        row={(index, style) => <PassageView key={index} session={session} index={index} style={style} />}
      />
      {!n && <p class="s7-hint">{passages.all.value ? "No passage matches." : "You have not applied this code yet."}</p>}
    </SidePane>
  );
}

function PassageView({ session, index, style }: { session: Session; index: number; style: RowStyle }) {
  const { id, list } = session.passages;
  const row = list.rows.value.get(index);
  const shared = listRow(id, list, index, style);
  if (!row) return <div {...shared}>…</div>;
  const stated = [...session.facets.words(row), row.confidence === "unsure" && "unsure", row.start === null && "whole text"];
  const [before, words, after] = row.words;
  return (
    <div {...shared} onClick={() => openPassage(session, index)}>
      <div class="s7-row-line">
        <span class="s7-row-id">{row.place + 1} · {row.unit_id}</span>
        <span class="s7-sign">{stated.filter(Boolean).join(", ")}</span>
      </div>
      <div class="s7-row-words" dir="auto">
        {before}
        {row.start === null ? words : <b>{words}</b>}
        {after}
      </div>
    </div>
  );
}
