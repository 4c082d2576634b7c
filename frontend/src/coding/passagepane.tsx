// The passages of a code in the panel.
import { useEffect } from "preact/hooks";
import { Counted, Find, SidePane } from "../shared/sidepane";
import { PagedList } from "../shared/virtuallist";
import type { PassageRow } from "./messages";
import type { Session } from "./session";
import { joined } from "../shared/words";

const ROW = 78;

export function openPassage(session: Session, index: number): void {
  const row = session.passages.list.pick(index);
  if (!row) return;
  if (session.texts.narrow.value) session.panel.leave();
  session.focus.value = ".s7";
  session.passages.leave(row.place);
  session.goTo(row.place, { code: row.code, start: row.start, end: row.end });
}

export function PassagePane({ session }: { session: Session }) {
  const { passages } = session;
  const [code, { list }] = [session.openCode.value, passages];
  const [n, all] = [list.count.value, list.all.value];
  useEffect(() => passages.of(code), [code]);
  return (
    <SidePane label="Passages">
      <div class="s7-choose s7-passages">
        <Find
          of={list.id}
          label={`Find in the passages of ${session.label(code)}`}
          words="Find in these passages"
          value={passages.find.value}
          onFind={words => passages.change(words)}
        />
        <Counted words={`${code && session.label(code)}: ${n === all ? n : `${n} of ${all}`}`} />
      </div>
      <PagedList
        list={list}
        label="Passages"
        rowHeight={ROW}
        view={row => <PassageView session={session} row={row} />}
        onOpen={index => openPassage(session, index)}
      />
      {!n && <p class="s7-hint">{all ? "No passage matches." : "You have not applied this code yet."}</p>}
    </SidePane>
  );
}

function PassageView({ session, row }: { session: Session; row: PassageRow }) {
  const stated = [...session.facets.words(row), row.start === null && "whole text"];
  const [before, words, after] = row.words;
  return (
    <>
      <div class="s7-row-line">
        <span class="s7-row-id">
          {row.place + 1} · {row.unit_id}
        </span>
        <span class="s7-sign">{joined(stated, ", ")}</span>
      </div>
      <div class="s7-row-words" dir="auto">
        {before}
        {row.start === null ? words : <b>{words}</b>}
        {after}
      </div>
    </>
  );
}
