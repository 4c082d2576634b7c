// What is to be discussed, and the button that opens the discussion.
import { Button } from "../shared/button";
import { UNKNOWN } from "../shared/colours";
import { keyOf, type Session } from "./session";

export function Discussing({ session }: { session: Session }) {
  const listed = session.toDiscuss.value;
  if (!listed.length) return null;
  const rows = listed.flatMap((key) => session.rows.value.find((row) => keyOf(row) === keyOf(key)) ?? []);
  const coders = [...new Set(rows.flatMap((row) => row.coders))].sort();
  return (
    <section class="s7-discussing" aria-label="To be discussed">
      <h5>To be discussed: {rows.length}</h5>
      <ul>
        {rows.map((row) => (
          <li key={keyOf(row)}>
            <Button class="s7-quiet" title={`${session.label(row.code)} · ${row.unit_id}`} onClick={() => session.openKey(row)}>
              <span class="s7-other-code" style={{ "--s7-c": (session.book.looks.value.get(row.code) ?? UNKNOWN).colour }} dir="auto">{session.short(row.code)}</span> {row.words}
            </Button>
          </li>
        ))}
      </ul>
      <Button class="s7-primary" title="Opens a round in which these coders look at the texts again" onClick={() => session.openDiscussion()} words={`Open with ${coders.join(", ")}`} />
    </section>
  );
}
