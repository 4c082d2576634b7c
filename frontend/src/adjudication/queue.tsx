// The queue: in which order disagreements come, which are settled, and what the next ones bring.
import { BasisLine } from "../shared/basis";
import { Button } from "../shared/button";
import { UNKNOWN } from "../shared/colours";
import { Select, type Option } from "../shared/fields";
import { VirtualList } from "../shared/virtuallist";
import type { QueueRow, Settled } from "./messages";
import type { Session } from "./session";

const ORDERS: readonly Option[] = [
  ["split", "Hardest first"],
  ["code", "By code"],
  ["pair", "By pair of coders"],
  ["participant", "By participant"],
];
const ROW_HEIGHT = 48;
/** With more coders, their number is said in figures. */
const MOST_DOTS = 5;

export const SIGNS: Record<Settled | "pending", [string, string]> = {
  applied: ["✓", "applies"],
  absent: ["✗", "does not apply"],
  differing: ["≠", "both readings are valid"],
  pending: ["…", "being saved"],
};

/** A line of the list: the name of a group, or a row of the queue. */
type Line = { group: string; n: number } | { place: number };

function lines(rows: readonly QueueRow[], places: readonly number[]): Line[] {
  const counts = new Map<string, number>();
  for (const at of places) counts.set(rows[at]!.group, (counts.get(rows[at]!.group) ?? 0) + 1);
  return places.flatMap((place, n): Line[] => {
    const { group } = rows[place]!;
    const begins = group !== "" && group !== rows[places[n - 1] ?? -1]?.group;
    return begins ? [{ group, n: counts.get(group)! }, { place }] : [{ place }];
  });
}

export function QueueList({ session }: { session: Session }) {
  const shown = lines(session.rows.value, session.filter.places.value);
  const cursor = Math.max(
    0,
    shown.findIndex(line => "place" in line && line.place === session.place.value),
  );
  return (
    <section class="s7-queue" aria-label="Disagreements">
      <BasisLine words={session.words.value} />
      <Finding session={session} />
      <VirtualList
        count={shown.length}
        rowHeight={ROW_HEIGHT}
        cursor={cursor}
        box={{ class: "s7-queue-rows", role: "listbox", "aria-label": "Disagreements", tabIndex: 0 }}
        row={(index, style) => {
          const line = shown[index]!;
          return "place" in line ? (
            <Row key={index} session={session} place={line.place} style={style} />
          ) : (
            <Group key={index} session={session} line={line} style={style} />
          );
        }}
      />
      <Brings session={session} />
      <OfCodes session={session} />
    </section>
  );
}

/** The field to find in, the order, and what else the queue is narrowed by. */
function Finding({ session }: { session: Session }) {
  const { filter } = session;
  const by = session.by.value;
  const leave = (change: () => void) => {
    change();
    session.focus.value = ".s7";
  };
  return (
    <div class="s7-finding">
      <input
        class="s7-find"
        type="search"
        aria-label="Find in the queue (/)"
        placeholder="Find words, code, coder"
        dir="auto"
        value={filter.query.value}
        onInput={event => (filter.query.value = event.currentTarget.value)}
      />
      <Select
        class="s7-order"
        aria-label="Order (o)"
        value={by}
        options={ORDERS}
        onPick={name => leave(() => session.order(name as typeof by))}
      />
      <span class="s7-count s7-number" role="status" title="Shown in the queue">
        {filter.places.value.length}
      </span>
      <Button
        class="s7-quiet"
        aria-label="Read the study again"
        title="Read the study again"
        onClick={() => session.order(by, true)}
        words="⟳"
      />
      <Select
        aria-label="Code"
        value={filter.code.value}
        options={[
          ["", "All codes"],
          ...filter.codes.value.map((code): Option => [code, session.label(code)]),
        ]}
        onPick={code => leave(() => (filter.code.value = code))}
      />
      <Select
        aria-label="Coder who decided against most of the others"
        value={filter.coder.value}
        options={[
          ["", "All coders"],
          ...filter.coders.value.map((coder): Option => [coder, `${coder} apart`]),
        ]}
        onPick={coder => leave(() => (filter.coder.value = coder))}
      />
      <Button
        aria-pressed={filter.openOnly.value}
        title="Show open disagreements only"
        onClick={() => (filter.openOnly.value = !filter.openOnly.value)}
        words="Open"
      />
    </div>
  );
}

function Group({
  session,
  line,
  style,
}: {
  session: Session;
  line: { group: string; n: number };
  style: Record<string, string>;
}) {
  const name = session.by.value === "code" ? session.label(line.group) : line.group;
  return (
    <div class="s7-queue-group" role="presentation" style={style} dir="auto">
      <span>{name}</span> <span class="s7-count">{line.n}</span>
    </div>
  );
}

function Row({ session, place, style }: { session: Session; place: number; style: Record<string, string> }) {
  const row = session.rows.value[place]!;
  const settled = session.settledOf(row);
  const here = place === session.place.value;
  const look = session.book.looks.value.get(row.code) ?? UNKNOWN;
  const applied = `${row.n_applied} of ${row.n_coders} applied it`;
  const dots =
    row.n_coders > MOST_DOTS
      ? `${row.n_applied} of ${row.n_coders}`
      : "●".repeat(row.n_applied) + "○".repeat(row.n_coders - row.n_applied);
  return (
    <div
      class={["s7-queue-row", here && "s7-here", settled && "s7-is-done"].filter(Boolean).join(" ")}
      role="option"
      aria-selected={here}
      style={style}
      title={`${session.label(row.code)} · ${row.unit_id} · ${applied}`}
      onClick={() => session.choose(place)}
    >
      <span class="s7-queue-words">
        <span class="s7-queue-text" dir="auto">
          {row.words}
        </span>
        <span class="s7-queue-code" style={{ "--s7-c": look.colour }}>
          <span dir="auto">{session.short(row.code)}</span>{" "}
          <span role="img" aria-label={applied}>
            {dots}
          </span>
        </span>
      </span>
      {settled && (
        <span
          class={`s7-settled s7-is-${settled}`}
          role="img"
          aria-label={SIGNS[settled][1]}
          title={SIGNS[settled][1]}
        >
          {SIGNS[settled][0]}
        </span>
      )}
    </div>
  );
}

/**
 * What settling the next ones does to consensus and links; what it would be for agreement if the coders
 * decided them alike.
 */
function Brings({ session }: { session: Session }) {
  const { n, codes } = session.brings.value;
  if (!n) return null;
  return (
    <details class="s7-brings">
      <summary>{n === 1 ? "Settling the last one brings" : `Settling the next ${n} brings`}</summary>
      <ul tabIndex={0} aria-label="What settling the next ones brings">
        {codes.map(({ code, before, after, alpha, narrower }) => (
          <li key={code}>
            <span dir="auto">{session.label(code)}</span>{" "}
            <span class="s7-number" title="Share of the code’s consensus still missing">
              {before} → {after}
            </span>
            <span class="s7-gained">
              {narrower && (
                <span title="Intervals of the code’s links with ratings, from consensus">
                  links {narrower} narrower
                </span>
              )}
              {alpha && (
                <span title="Krippendorff’s alpha if the coders agreed on these; rulings do not change it">
                  α {alpha}
                </span>
              )}
            </span>
          </li>
        ))}
      </ul>
      <p class="s7-hint">
        Share of each code’s consensus still missing. Rulings do not change α; it shows the value if the
        coders agreed on these.
      </p>
    </details>
  );
}

function OfCodes({ session }: { session: Session }) {
  const rows = session.ofCodes.value;
  if (!rows.length) return null;
  return (
    <details class="s7-of-codes">
      <summary>All codes</summary>
      <table>
        <thead>
          <tr>
            <th scope="col">Code</th>
            <th scope="col">Open</th>
            <th scope="col" title="applies · does not apply · both readings are valid">
              ✓ · ✗ · ≠
            </th>
            <th scope="col">Missing</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(row => (
            <tr key={row.code}>
              <th scope="row" dir="auto">
                {session.label(row.code)}
              </th>
              <td class="s7-number">
                {row.n_open} of {row.n_disputed}
              </td>
              <td class="s7-number">
                {row.n_applied} · {row.n_absent} · {row.n_differing}
              </td>
              <td class="s7-number">{row.missing}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
