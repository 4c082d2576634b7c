// The panels of the overview: what is next, the rounds with their coders, agreement so far, and how codes are
// used.
import type { ComponentChildren } from "preact";
import { BasisLine } from "../shared/basis";
import { sample, UNKNOWN } from "../shared/colours";
import { axisFrom, DotAndLine, Line, ShareBar, TwoDots } from "./charts";
import type { AgreementRow, CoderRow, LeaningRow, RoundAgreement, RoundRow, Door, UsedRow } from "./messages";
import type { Session } from "./session";
import { Button, Space } from "../shared/button";

interface Props {
  session: Session;
}

function Panel({ name, title, children }: { name: string; title: string; children: ComponentChildren }) {
  return (
    <section class={`s7-board ${name}`} aria-label={title}>
      <h4>{title}</h4>
      {children}
    </section>
  );
}

const Wait = () => <p class="s7-hint">Counting…</p>;

export function Next({ session }: Props) {
  const attention = session.attention.value;
  // The steps of a study in which nothing is coded are about no texts yet.
  const isNew = !!attention?.rows.some(({ door }) => door.of === "begin");
  const ofCoder = attention?.of_coder ?? false;
  const title = ofCoder
    ? `Your inbox: ${attention!.rows.length}`
    : isNew
      ? "How to begin"
      : "What needs attention next";
  return (
    <Panel name="s7-next" title={title}>
      {isNew && <p class="s7-hint">No coding to show yet.</p>}
      {!attention && <Wait />}
      {attention && !attention.rows.length && (
        <p class="s7-hint">{ofCoder ? "Nothing waits for you." : "Nothing that you may see."}</p>
      )}
      {ofCoder && attention!.rows.length > 0 && (
        <p class="s7-hint">Press I in the coding widget to go through it.</p>
      )}
      <ol>
        {attention?.rows.map(({ what, todo, n, door, cell }) => (
          <li key={what}>
            <p class="s7-what" dir="auto">
              {what}{" "}
              {n > 0 && (
                <NumberDoor session={session} door={door} n={n} label={`The texts: ${what}`}>
                  {ofCoder ? "Show" : `${n} ${n === 1 ? "text" : "texts"}`}
                </NumberDoor>
              )}
            </p>
            {todo && (
              <p class="s7-todo" dir="auto">
                {todo}
              </p>
            )}
            {cell && (
              <details open={isNew}>
                <summary>Cell to run</summary>
                <code class="s7-run">{cell}</code>
              </details>
            )}
          </li>
        ))}
      </ol>
    </Panel>
  );
}

export function RoundsPanel({ session }: Props) {
  const rounds = session.rounds.value;
  return (
    <Panel name="s7-rounds" title="Rounds and coders">
      {!rounds && <Wait />}
      {rounds?.rows.map(row => (
        <RoundOf key={row.round} session={session} row={row} />
      ))}
    </Panel>
  );
}

function RoundOf({ session, row }: Props & { row: RoundRow }) {
  const name = row.round ?? "No round";
  return (
    <article class="s7-round" aria-label={name}>
      <h5>
        <span dir="auto">{name}</span>
        {row.state !== "none" && <span class="s7-round-state">{row.state}</span>}
        <Space />
        <NumberDoor
          session={session}
          door={{ of: "planned", round: row.round }}
          n={row.n_units}
          label={`${row.n_units} texts of ${name}`}
        >
          {row.n_units} texts
        </NumberDoor>
        <span class="s7-of">
          {row.n_coders} {row.n_coders === 1 ? "coder" : "coders"}
        </span>
      </h5>
      {row.coders.length > 0 && (
        <table>
          <thead class="s7-unseen">
            <tr>
              {["Coder", "Share", "Finished", "Left", "Time"].map(word => (
                <th key={word} scope="col">
                  {word}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {row.coders.map(coder => (
              <CoderLine key={coder.coder} session={session} round={row.round} row={coder} />
            ))}
          </tbody>
        </table>
      )}
      {row.words && <p class="s7-hint">{row.words}</p>}
    </article>
  );
}

function CoderLine({ session, round, row }: Props & { round: string | null; row: CoderRow }) {
  const { coder, n, done, left, time } = row;
  return (
    <tr>
      <th scope="row">{coder}</th>
      <td class="s7-wide">
        <ShareBar share={n ? done / n : null} most={1} />
      </td>
      <td class="s7-number">
        <NumberDoor
          session={session}
          door={{ of: "finished", round, coder }}
          n={done}
          label={`${done} of ${n} texts finished by ${coder}`}
        >
          {done}
        </NumberDoor>{" "}
        of {n}
      </td>
      <td class="s7-number">
        {left > 0 && (
          <NumberDoor
            session={session}
            door={{ of: "left", round, coder }}
            n={left}
            label={`${left} texts not finished by ${coder}`}
          >
            {left} left
          </NumberDoor>
        )}
        {n > 0 && left === 0 && "done"}
      </td>
      <td class="s7-time">{time}</td>
    </tr>
  );
}

/**
 * One line a code: the coder who differs most; the others behind “1 more”. Hidden where nobody surely
 * differs.
 */
export function LeaningPanel({ session }: Props) {
  const rows = session.leaning.value?.rows ?? [];
  if (!rows.length) return null;
  const most = Math.max(...rows.flatMap(({ at, others_at }) => [at, others_at]));
  const codes = [...new Set(rows.map(({ code }) => code))];
  return (
    <Panel name="s7-leaning" title="Who codes differently">
      {codes.map(code => {
        const [first, ...more] = rows.filter(row => row.code === code);
        return (
          <div key={code} class="s7-leans">
            <LeaningLine session={session} row={first!} most={most} />
            {more.length > 0 && (
              <details>
                <summary>{more.length} more</summary>
                {more.map(row => (
                  <LeaningLine key={row.coder} session={session} row={row} most={most} />
                ))}
              </details>
            )}
          </div>
        );
      })}
      <p class="s7-hint">
        Share of texts with the code, ● the coder, ○ the others, on texts where most of the others agree.
        Listed if the difference is beyond chance, all coders and codes taken together. It says who to talk
        to, not who is right.
      </p>
    </Panel>
  );
}

function LeaningLine({ session, row, most }: Props & { row: LeaningRow; most: number }) {
  const { coder, code, label, n, at, others_at, share, others, n_apart } = row;
  return (
    <div class="s7-leaning-line">
      <CodeSample session={session} code={code} label={label} />
      <b class="s7-strong">{coder}</b>
      <span>
        {share} of {n}
      </span>
      <span class="s7-hint">the others {others}</span>
      <TwoDots at={at} othersAt={others_at} most={most} />
      <NumberDoor
        session={session}
        door={{ of: "against", coder, code }}
        n={n_apart}
        label={`${n_apart} texts on which ${coder} decided against the others on ${label}`}
      >
        {n_apart} {n_apart === 1 ? "text" : "texts"}
      </NumberDoor>
    </div>
  );
}

export function AgreementPanel({ session }: Props) {
  const agreement = session.agreement.value;
  const rows = agreement?.rows ?? [];
  const least = axisFrom(rows.flatMap(({ low, look_low }) => [low, look_low]));
  return (
    <Panel name="s7-agreement" title="Agreement so far">
      {!agreement && <Wait />}
      {agreement && <BasisLine words={agreement.basis} whole />}
      {rows.length > 0 && (
        <table>
          <thead>
            <tr>
              <th scope="col">Code</th>
              <th scope="col">
                <span class="s7-scale">
                  <span>{least === 0 ? "0" : `−${-least}`}</span>
                  <span>1</span>
                </span>
              </th>
              <th scope="col">alpha</th>
              <th scope="col" class="s7-number">
                by two
              </th>
              <th scope="col">still needed</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(row => (
              <AgreementLine key={row.code} session={session} row={row} least={least} />
            ))}
          </tbody>
        </table>
      )}
      {agreement?.words.map(words => (
        <p key={words} class="s7-hint">
          {words}
        </p>
      ))}
      {agreement && agreement.by_round.length > 0 && (
        <ByRound session={session} rows={rows} rounds={agreement.by_round} />
      )}
    </Panel>
  );
}

/** Alpha of each code in each round by itself, with the interval for one look and how many texts it is of. */
function ByRound({ session, rows, rounds }: Props & { rows: AgreementRow[]; rounds: RoundAgreement[] }) {
  return (
    <div class="s7-by-round" role="region" tabIndex={0} aria-label="Agreement in each round">
      <table>
        <thead>
          <tr>
            <th scope="col">Code</th>
            {rounds.map(({ round }) => (
              <th key={round ?? ""} scope="col" dir="auto">
                {round === null ? "no round" : `round ${round}`}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ code, label }) => (
            <tr key={code}>
              <CodeName session={session} code={code} label={label} />
              {rounds.map(({ round, codes }) => (
                <td key={round ?? ""} title={codes[code]?.why || undefined}>
                  {codes[code] && !codes[code].value && codes[code].waits ? (
                    <span class="s7-unreviewed">{codes[code].waits}</span>
                  ) : codes[code] ? (
                    <>
                      <b>{codes[code].value}</b> {codes[code].interval}{" "}
                      <span class="s7-hint">n = {codes[code].n}</span>
                    </>
                  ) : (
                    "–"
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rounds.map(({ round, basis }) => (
        <BasisLine
          key={round ?? ""}
          words={`${round === null ? "No round" : `Round ${round}`}: ${basis}`}
          whole
        />
      ))}
    </div>
  );
}

function AgreementLine({ session, row, least }: Props & { row: AgreementRow; least: number }) {
  return (
    <tr title={row.why || undefined}>
      <CodeName session={session} code={row.code} label={row.label} />
      {row.waits && !row.value ? (
        <td class="s7-unreviewed" colSpan={2}>
          {row.waits}
        </td>
      ) : row.alpha === null && row.why ? (
        <td class="s7-alpha" colSpan={2}>
          <b>{row.value}</b>
          <span class="s7-why-not">{row.why}</span>
        </td>
      ) : (
        <>
          <td class="s7-wide">
            <DotAndLine
              value={row.alpha}
              low={row.low}
              high={row.high}
              outerLow={row.look_low}
              outerHigh={row.look_high}
              least={least}
            />
          </td>
          <td class="s7-alpha">
            <b>{row.value}</b> <span class="s7-between">{row.interval}</span>
          </td>
        </>
      )}
      <td class="s7-number">
        {(row.value || !row.waits) && (
          <NumberDoor
            session={session}
            door={{ of: "double", code: row.code }}
            n={row.n}
            label={`${row.n} texts decided by two or more coders: ${row.label}`}
          >
            {row.n}
          </NumberDoor>
        )}
      </td>
      <td class="s7-more-texts">{row.value && row.waits ? row.waits : row.more}</td>
    </tr>
  );
}

/** What waits for review has no rank: it stands after the others. */
const rank = ({ n, waits }: UsedRow) => (waits ? -1 : (n ?? -1));

export function UsedPanel({ session }: Props) {
  const used = session.used.value;
  const most = Math.max(0, ...(used?.rows ?? []).map(({ share }) => share ?? 0));
  const mostOfParts = Math.max(0, ...(used?.rows ?? []).flatMap(({ parts }) => parts));
  return (
    <Panel name="s7-used" title="Codes by frequency">
      {!used && <Wait />}
      {used && <BasisLine words={used.words} whole />}
      {used && (
        <table>
          <thead>
            <tr>
              <th scope="col">Code</th>
              <th scope="col">share of decisions</th>
              <th scope="col">over time</th>
              <th scope="col" class="s7-number">
                texts
              </th>
            </tr>
          </thead>
          <tbody>
            {[...used.rows]
              .sort((a, b) => rank(b) - rank(a))
              .map(row => (
                <tr key={row.code}>
                  <CodeName session={session} code={row.code} label={row.label} />
                  {row.n === null ? (
                    <td class="s7-unreviewed" colSpan={3}>
                      {row.waits}
                    </td>
                  ) : (
                    <>
                      <td class="s7-wide">
                        <span class="s7-bar-and-number">
                          <ShareBar share={row.share} most={most} />
                          <span class="s7-percent">{row.percent}</span>
                        </span>
                      </td>
                      <td class="s7-over-time">
                        {row.waits ? (
                          <span class="s7-unreviewed">{row.waits}</span>
                        ) : (
                          row.parts.length > 0 && <Line values={row.parts} most={mostOfParts} height={18} />
                        )}
                      </td>
                      <td class="s7-number">
                        <NumberDoor
                          session={session}
                          door={{ of: "applied", code: row.code }}
                          n={row.n}
                          label={`${row.n} texts with ${row.label}`}
                        >
                          {row.n}
                        </NumberDoor>
                      </td>
                    </>
                  )}
                </tr>
              ))}
          </tbody>
        </table>
      )}
      {used && (
        <p class="s7-hint">
          {used.n_finished} {used.n_finished === 1 ? "text" : "texts"}.
          {mostOfParts > 0 &&
            " Over time: the share in equal parts of the coding order, same scale for all codes."}
        </p>
      )}
    </Panel>
  );
}

export function ChangePanel({ session }: Props) {
  const change = session.change.value;
  return (
    <Panel name="s7-change" title="Drift and new codes">
      {!change && <Wait />}
      {change && (
        <>
          {change.alarms.map(alarm => (
            <p key={`${alarm.coder} ${alarm.code}`} class="s7-alarm" dir="auto">
              {alarm.words}{" "}
              <NumberDoor
                session={session}
                door={{ of: "later", coder: alarm.coder, code: alarm.code }}
                n={alarm.n_later}
                label={`${alarm.n_later} later texts of ${alarm.coder}: ${alarm.label}`}
              >
                {alarm.n_later} texts
              </NumberDoor>
            </p>
          ))}
          <p class="s7-hint s7-drift">{change.drift_words}</p>
          {change.came.length > 1 && change.came[0] !== change.came.at(-1) && (
            <figure class="s7-came">
              <span class="s7-most">{change.came.at(-1)}</span>
              <Line values={change.came} most={change.came.at(-1)!} steps height={44} />
              <figcaption>codes applied so far, by participant</figcaption>
            </figure>
          )}
          {change.came_words && <p class="s7-hint">{change.came_words}</p>}
        </>
      )}
    </Panel>
  );
}

function CodeName({ session, code, label }: Props & { code: string; label: string }) {
  return (
    <th scope="row">
      <CodeSample session={session} code={code} label={label} />
    </th>
  );
}

function CodeSample({ session, code, label }: Props & { code: string; label: string }) {
  return (
    <span class="s7-code-name">
      <span class="s7-sample" style={sample(session.book.looks.value.get(code) ?? UNKNOWN)} />
      <span dir="auto">{label}</span>
    </span>
  );
}

interface NumberProps {
  session: Session;
  door: Door;
  /** How many texts it counts: behind 0 there is nothing to open. */
  n: number;
  /** What is counted, for those who hear the page. */
  label: string;
  children: ComponentChildren;
}

function NumberDoor({ session, door, n, label, children }: NumberProps) {
  if (!n) return <span class="s7-none">{children}</span>;
  const key = JSON.stringify([door.of, door.round ?? null, door.coder ?? null, door.code ?? null]);
  const opener = `.s7-door[data-door="${CSS.escape(key)}"]`;
  return (
    <Button
      class="s7-door"
      data-door={key}
      aria-label={label}
      title={label}
      onClick={() => session.open(door, opener)}
      words={children}
    />
  );
}
