// What was done, the newest first, by day: each line leads to its text, and can be taken back or done again.
import { computed, signal } from "@preact/signals";
import { DayLine, HISTORY_ROW, HistoryLine } from "../shared/historyrow";
import { bytes } from "../shared/listing";
import { PagedRows } from "../shared/pagedrows";
import { uuid, type Act } from "../shared/protocol";
import { listBox, listRow } from "../shared/rowlist";
import { byDay, shownTime } from "../shared/times";
import { VirtualList, type RowStyle } from "../shared/virtuallist";
import type { Back, BackAnswer, HistoryAnswer, HistoryQuestion, HistoryRow } from "./messages";
import type { Session } from "./session";
import { Tabs } from "./side";

const SETTLED_MS = 200;

const SCOPES: [HistoryQuestion["scope"], string][] = [
  ["sitting", "Since this was opened"],
  ["text", "On this text"],
  ["all", "All that was done"],
];

interface Host {
  ask(question: HistoryQuestion | Back): void;
  /** Take back, or do again. */
  push(...acts: Omit<Act, "id">[]): void;
  unit_id(): string | undefined;
  say(words: string): void;
}

export class History {
  readonly id = `s7-${uuid()}`;
  readonly scope = signal<HistoryQuestion["scope"]>("sitting");
  /** When each act was done, in milliseconds. */
  private readonly times = signal<readonly number[]>([]);
  readonly lines = computed(() => byDay(this.times.value));
  /** The line of each act. */
  readonly lineOf = computed(() => this.lines.value.flatMap((line, place) => ("index" in line ? [place] : [])));
  readonly list = new PagedRows<HistoryRow>((first) => this.ask(first));
  /** What going back would take back; null while nobody asked. */
  readonly back = signal<BackAnswer | null>(null);
  /** What going back took back last. */
  readonly undone = signal<readonly string[]>([]);
  private settling: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly host: Host) {}

  private ask(first: number): void {
    const unit_id = this.host.unit_id();
    const scope = this.scope.peek() === "text" && unit_id === undefined ? "all" : this.scope.peek();
    this.host.ask({ type: "history", scope, first, ...(scope === "text" ? { unit_id } : {}) });
  }

  close(): void {
    clearTimeout(this.settling);
  }

  choose(scope: HistoryQuestion["scope"]): void {
    this.scope.value = scope;
    this.list.cursor.value = 0;
    this.back.value = null;
    this.list.renew();
  }

  /** Something was done, or another text is on the screen. */
  changed(): void {
    clearTimeout(this.settling);
    this.settling = setTimeout(() => this.list.renew(), SETTLED_MS);
  }

  heard(answer: HistoryAnswer): void {
    if (answer.times !== null) this.times.value = [...new Uint32Array(bytes(answer.times).buffer)].map((seconds) => 1000 * seconds);
    this.list.heard(answer.first, answer.n, answer.rows, answer.times !== null);
  }

  readonly want = (first: number, last: number): void => {
    const shown = this.lines.peek().slice(first, last).flatMap((line) => ("index" in line ? [line.index] : []));
    if (shown.length) this.list.want(shown[0]!, shown.at(-1)! + 1);
  };

  take(kind: "undo" | "redo", { act_id }: HistoryRow): void {
    this.host.push({ kind, target: act_id });
    this.host.say(kind === "undo" ? "Taken back" : "Done again");
  }

  /** Ask what going back to this act would take back. */
  askBack({ act_id }: HistoryRow): void {
    this.host.ask({ type: "back", act_id });
  }

  heardBack(answer: BackAnswer): void {
    if (answer.ids.length) this.back.value = answer;
    else this.host.say("Nothing stands that was done after it");
  }

  goBack(): void {
    const back = this.back.value;
    if (!back) return;
    this.host.push(...back.ids.map((target): Omit<Act, "id"> => ({ kind: "undo", target })));
    this.undone.value = back.ids;
    this.back.value = null;
    this.host.say(`${counted(back.ids.length, "step")} taken back`);
  }

  /** Do again all that going back took back, the oldest first. */
  doAgain(): void {
    this.host.push(...[...this.undone.value].reverse().map((target): Omit<Act, "id"> => ({ kind: "redo", target })));
    this.host.say(`${counted(this.undone.value.length, "step")} done again`);
    this.undone.value = [];
  }
}

const counted = (n: number, what: string) => `${n} ${what}${n === 1 ? "" : "s"}`;

/** What was done, in words, without the quote. */
export function described(row: HistoryRow, label: (code: string) => string): string {
  const facets = [...Object.values(row.facets), ...(row.unsure ? ["unsure"] : [])].join(", ");
  const code = row.code === null ? "" : label(row.code);
  switch (row.kind) {
    case "apply":
      return `applied ${code}${facets && ` (${facets})`} to ${row.start === null ? "the whole text" : ""}`.trimEnd();
    case "remove":
      return `removed ${code} from ${row.start === null ? "the whole text" : ""}`.trimEnd();
    case "finish":
      return "finished the text";
    case "reopen":
      return "took “finished” back";
    case "reject_suggestion":
      return `rejected the suggestion ${code}`;
    case "propose":
      return `proposed the code “${row.words}”`;
    default: {
      const on = { unit: "the text", span: "", code: `the code ${code}`, study: "the study" }[row.on ?? "unit"];
      return `${row.words ? "wrote a memo on" : "ended the memo on"} ${on}`.trimEnd();
    }
  }
}

/** Go to the text of an act, with its words selected. */
export function openAct(session: Session, index: number): void {
  const row = session.history.list.rows.value.get(index);
  if (!row) return;
  session.history.list.cursor.value = index;
  if (row.place === null) return session.say("This was done on no text that is shown here");
  session.texts.leave();
  session.goTo(row.place, row.unit_id!, row.start === null ? null : { start: row.start, end: row.end! });
}

/** A key on the list of acts: Delete takes the marked one back, or does it again; b goes back to it. */
export function pressInHistory(event: KeyboardEvent, session: Session): boolean {
  const { history } = session;
  const row = history.list.rows.value.get(history.list.cursor.value);
  if (!row || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return false;
  if (event.key === "Delete" || event.key === "Backspace") {
    if (row.state !== "fixed") session.presses.take(() => history.take(row.state === "undone" ? "redo" : "undo", row));
  } else if (event.key === "b") history.askBack(row);
  else return false;
  return true;
}

export function HistoryPane({ session }: { session: Session }) {
  const { history } = session;
  const [lines, n, cursor] = [history.lines.value, history.list.count.value, history.list.cursor.value];
  return (
    <>
      <Tabs session={session} />
      <div class="s7-choose">
        <select aria-label="Which acts" value={history.scope.value} onChange={(event) => history.choose(event.currentTarget.value as HistoryQuestion["scope"])}>
          {SCOPES.map(([name, words]) => (
            <option key={name} value={name} selected={name === history.scope.value}>
              {words}
            </option>
          ))}
        </select>
        <div class="s7-counted">
          <span aria-live="polite">{counted(n, "step")}</span>
        </div>
        <GoBack session={session} />
      </div>
      <VirtualList
        count={lines.length}
        rowHeight={HISTORY_ROW}
        cursor={history.lineOf.value[cursor] ?? 0}
        onShown={history.want}
        box={listBox(history.id, "What was done", n, cursor)}
        row={(place, style) => {
          const line = lines[place]!;
          if ("day" in line) return <DayLine key={line.day} day={line.day} style={style} />;
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
  const take = (action: () => void) => session.presses.take(action);
  if (back) {
    return (
      <div class="s7-go-back" role="alert">
        <span>
          Going back takes back {counted(back.ids.length, "step")} on {counted(back.n_texts, "text")}.
        </span>
        <button type="button" class="s7-primary" onClick={() => take(() => history.goBack())}>
          Take back
        </button>
        <button type="button" onClick={() => (history.back.value = null)}>
          Cancel
        </button>
      </div>
    );
  }
  if (!undone.length) return null;
  return (
    <div class="s7-go-back" role="status">
      <span>{counted(undone.length, "step")} taken back.</span>
      <button type="button" onClick={() => take(() => history.doAgain())}>
        Do them again
      </button>
    </div>
  );
}

function ActView({ session, index, style }: { session: Session; index: number; style: RowStyle }) {
  const { history } = session;
  const row = history.list.rows.value.get(index);
  const undone = row?.state === "undone";
  const shared = listRow(history.id, history.list, index, style, ["s7-act", undone && "s7-taken-back"]);
  if (!row) return <div {...shared}>…</div>;
  const what = described(row, (code) => session.label(code));
  const where = row.place === null ? (row.unit_id ?? "") : `${row.place + 1} · ${row.unit_id}`;
  return (
    <div {...shared} aria-label={[shownTime(row.at), undone && "taken back", row.unit_id, what, row.quote].filter(Boolean).join(", ")} onClick={() => openAct(session, index)}>
      <HistoryLine at={row.at} where={where} what={what} quote={row.quote} more={row.kind === "memo" && row.words ? `: ${row.words}` : ""} taken_back={undone ? row.taken_back : null} />
    </div>
  );
}

/** The buttons of the marked act, beneath the list. */
export function ActButtons({ session }: { session: Session }) {
  const { history } = session;
  const row = history.list.rows.value.get(history.list.cursor.value);
  if (!row) return null;
  const undone = row.state === "undone";
  return (
    <div class="s7-act-buttons">
      <button type="button" disabled={row.state === "fixed"} title={row.state === "fixed" ? "It was done in another round" : "Del"} onClick={() => session.presses.take(() => history.take(undone ? "redo" : "undo", row))}>
        {undone ? "Do again" : "Take back"} <kbd>Del</kbd>
      </button>
      <button type="button" title="b" onClick={() => history.askBack(row)}>
        Back to here <kbd>b</kbd>
      </button>
    </div>
  );
}
