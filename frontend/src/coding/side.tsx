// What stands beside the text: the list of texts, of memos, or what was done; one at a time.
import { HistoryPane, openAct, pressInHistory } from "./history";
import { MemoPane, openMemo } from "./memolist";
import type { Session } from "./session";
import { pressInTexts, Texts } from "./texts";

const PAGE = 6;

export type Side = "texts" | "memos" | "history";

const NAMES: Record<Side, string> = { texts: "Texts", memos: "Memos", history: "History" };

export function SideTabs({ session }: { session: Session }) {
  return (
    <div class="s7-side-tabs" role="group" aria-label="What stands beside the text">
      {(Object.keys(NAMES) as Side[]).map((side) => (
        <button key={side} type="button" aria-pressed={session.side.value === side} title={`${NAMES[side]} (${session.commands.value[side] ?? ""})`} onClick={() => session.side.value === side || session.showSide(side)}>
          {NAMES[side]}
        </button>
      ))}
    </div>
  );
}

export function SidePane({ session }: { session: Session }) {
  const side = session.side.value;
  if (side === "texts") return <Texts session={session} />;
  const stop = (event: Event) => event.stopPropagation();
  const down = (event: MouseEvent) => {
    event.stopPropagation();
    const target = event.target as Element;
    if (!target.closest("input, select, .s7-rows") || target.closest(".s7-row")) event.preventDefault();
  };
  return (
    <section class="s7-texts" aria-label={NAMES[side]} onPointerDown={stop} onMouseDown={down}>
      {side === "memos" ? <MemoPane session={session} /> : <HistoryPane session={session} />}
    </section>
  );
}

/** A key in what stands beside the text; false where it means what it means elsewhere. */
export function pressInSide(event: KeyboardEvent, target: Element, session: Session, command: string | null): boolean {
  if (session.side.value === "texts") return pressInTexts(event, target, session.texts, command);
  const isHistory = session.side.value === "history";
  const list = isHistory ? session.history.list : session.memoList.list;
  const done = (action: () => void): true => {
    event.preventDefault();
    action();
    return true;
  };
  if (event.key === "Escape") return done(() => session.texts.leave());
  const inFind = target.matches(".s7-find");
  if (!inFind && !target.matches(".s7-rows")) return false;
  const moves: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: PAGE, PageUp: -PAGE, ...(inFind ? {} : { Home: -Infinity, End: Infinity }) };
  if (event.key in moves) return done(() => list.move(moves[event.key]!));
  if (event.key === "Enter") return event.repeat || done(() => (isHistory ? openAct : openMemo)(session, list.cursor.value));
  if (inFind) return false;
  if (isHistory && pressInHistory(event, session)) return done(() => {});
  return !["find_text", "texts", "memos", "history", "help"].includes(command ?? "");
}
