// Colleagues’ codings beside one's own, on screen.
import { Button } from "../shared/button";
import { CodersTable } from "../shared/coderstable";
import { keyLabel } from "../shared/keys";
import type { Unit } from "./messages";
import type { Session } from "./session";

/** Who is compared, and the next one; or all of it hidden. */
export function ColleaguesButtons({ session }: { session: Session }) {
  const { colleagues } = session;
  if (colleagues.state.value !== "open") return null;
  const [on, { colleagues: key = "", next_colleague: next = "" }] = [
    colleagues.on.value,
    session.commands.value,
  ];
  return (
    <span class="s7-colleagues-buttons">
      <Button
        class="s7-quiet"
        aria-pressed={on}
        title={`Show or hide colleagues’ codings (${keyLabel(key)})`}
        onClick={() => colleagues.toggle()}
        words="Colleagues"
      />
      {on && colleagues.names.value.length > 1 && (
        <Button
          class="s7-quiet"
          title={`The next colleague (${keyLabel(next)})`}
          aria-label={`Next to yours: ${colleagues.words()}. The next colleague`}
          onClick={() => colleagues.next()}
        >
          {colleagues.words()} ▸
        </Button>
      )}
    </span>
  );
}

/** Mine, theirs, and how they agree. */
export function BesideTable({ session, unit }: { session: Session; unit: Unit }) {
  const coders = session.colleagues.shown.value;
  const own = { coder: `${session.coder.value} (you)`, finished: unit.finished, codings: unit.codings };
  const marked = unit.codings[session.active.value]?.code;
  return (
    <>
      <ColleaguesButtons session={session} />
      {coders.length > 0 && (
        <CodersTable
          label="Colleagues’ codings next to yours"
          text={unit.text}
          book={session.book}
          columns={[own, ...coders]}
          compact
          wordsOf={marked}
        />
      )}
    </>
  );
}
