// What stands beside the text: the list of texts, of memos, or what was done; one at a time.
import { stepOf } from "../shared/rowlist";
import { SidePane } from "../shared/sidepane";
import { HistoryPane, openAct, pressInHistory } from "./historypane";
import { MemoPane, openMemo } from "./memopane";
import type { Session } from "./session";
import { NAMES } from "./sidetabs";
import { pressInTexts, Texts } from "./texts";

export function Side({ session }: { session: Session }) {
  const side = session.side.value;
  if (side === "texts") return <Texts session={session} />;
  return <SidePane label={NAMES[side]}>{side === "memos" ? <MemoPane session={session} /> : <HistoryPane session={session} />}</SidePane>;
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
  const step = stepOf(event.key, inFind);
  if (step) return done(() => list.move(step));
  if (event.key === "Enter") return event.repeat || done(() => (isHistory ? openAct : openMemo)(session, list.cursor.value));
  if (inFind) return false;
  if (isHistory && pressInHistory(event, session)) return done(() => {});
  return !["find_text", "texts", "memos", "history", "help"].includes(command ?? "");
}
