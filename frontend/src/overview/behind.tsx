// The texts behind a number: the list, and beside it the marked text with the codings that may be seen.
import { Button } from "../shared/button";
import { CodersTable } from "../shared/coderstable";
import { Search } from "../shared/fields";
import type { Theirs } from "../shared/protocol";
import { TextView } from "../shared/textview";
import { PagedList } from "../shared/virtuallist";
import type { UnitText } from "./messages";
import type { Session } from "./session";

const ROW_HEIGHT = 64;

export function Behind({ session }: { session: Session }) {
  const { list } = session;
  const count = list.count.value;
  return (
    <div class="s7-panes s7-behind">
      <section class="s7-listed" aria-label={session.title.value || "Texts"}>
        <div class="s7-back-line">
          <Button class="s7-back" title="Back (Esc)" onClick={() => session.back()} words="← Overview" />
          <span class="s7-of" role="status">
            {count} {count === 1 ? "text" : "texts"}
          </span>
          <Search
            class="s7-find"
            aria-label="Find in these texts"
            placeholder="Find (/)"
            defaultValue={session.find.value}
            onFind={words => session.search(words)}
          />
        </div>
        <h4 dir="auto">{session.title.value}</h4>
        <PagedList
          list={list}
          label={session.title.value || "Texts"}
          rowHeight={ROW_HEIGHT}
          view={({ unit_id, note, words }) => (
            <>
              <span class="s7-row-line">
                <span class="s7-row-id">{unit_id}</span>
                <span class="s7-row-note" dir="auto" title={note ?? undefined}>
                  {note}
                </span>
              </span>
              <span class="s7-row-words" dir="auto">
                {words}
              </span>
            </>
          )}
          onOpen={index => (list.cursor.value = index)}
        />
      </section>
      <section class="s7-opened" aria-label="The text">
        {session.text.value && <Opened session={session} text={session.text.value} />}
      </section>
    </div>
  );
}

function Opened({ session, text }: { session: Session; text: UnitText }) {
  const own = text.coders.find(({ coder }) => coder === text.viewer)?.codings ?? [];
  const others = text.coders.filter(({ coder }) => coder !== text.viewer);
  const theirs = others.flatMap(({ coder, codings }) =>
    codings.filter(({ start }) => start !== null).map((coding): Theirs => ({ ...coding, coder })),
  );
  return (
    <>
      <h4 class="s7-unit-id">{text.unit_id}</h4>
      <TextView
        key={text.unit_id}
        unit={{ unit_id: text.unit_id, text: text.text, codings: [...own] }}
        book={session.book}
        theirs={theirs}
      />
      {text.coders.length ? (
        <CodersTable label="Who coded what" text={text.text} book={session.book} columns={text.coders} />
      ) : (
        <p class="s7-hint">Nobody has finished it yet, or you may not see their coding.</p>
      )}
      {text.coders
        .filter(({ again }) => again.length)
        .map(({ coder, again }) => (
          <p key={coder} class="s7-hint" dir="auto">
            {coder} needs to decide again on: {again.join(", ")}.
          </p>
        ))}
    </>
  );
}
