// What stands beside the text: the list of texts, of memos, or what was done; one at a time.
import type { VNode } from "preact";
import { stepOf } from "../shared/pagedrows";
import { SidePane, SideTabs } from "../shared/sidepane";
import { HistoryPane, openAct, pressInHistory } from "./historypane";
import { InboxPane, openItem } from "./inboxpane";
import { MemoPane, openMemo } from "./memopane";
import { openPassage } from "./passagepane";
import type { Session, SideName } from "./session";
import { TextsPane } from "./texts";

const NAMES: Record<SideName, string> = {
  texts: "Texts",
  memos: "Memos",
  history: "History",
  inbox: "Inbox",
};

/** `children` are shown instead of the rows of texts, where those are elsewhere. */
export function Side({ session, children }: { session: Session; children?: VNode }) {
  const side = session.side.value;
  return (
    <SidePane label={NAMES[side]}>
      <SideTabs
        names={NAMES}
        keys={session.commands.value}
        shown={side}
        onPick={name => session.showSide(name)}
        onClose={() => session.texts.leave(true)}
      />
      {side === "texts" ? (
        <TextsPane session={session}>{children}</TextsPane>
      ) : side === "memos" ? (
        <MemoPane session={session} />
      ) : side === "inbox" ? (
        <InboxPane session={session} />
      ) : (
        <HistoryPane session={session} />
      )}
    </SidePane>
  );
}

/** A key in what stands beside the text; false where it means what it means elsewhere. */
export function pressInSide(
  event: KeyboardEvent,
  target: Element,
  session: Session,
  command: string | null,
): boolean {
  const inPassages = target.closest(".s7-panel .s7-side") && session.panel.shown.value === "passages";
  const side = inPassages ? "passages" : session.side.value;
  const [list, open] = {
    texts: [session.texts, () => session.texts.choose()] as const,
    memos: [session.memoList.list, openMemo] as const,
    history: [session.history.list, openAct] as const,
    inbox: [session.inbox, openItem] as const,
    passages: [session.passages.list, openPassage] as const,
  }[side];
  const done = (action: () => void): true => {
    event.preventDefault();
    action();
    return true;
  };
  if (event.key === "Escape")
    return done(() => (inPassages ? (session.focus.value = ".s7") : session.texts.leave(true)));
  const inFind = target.matches(".s7-find");
  if (!inFind && !target.matches(".s7-rows")) return false;
  const step = stepOf(event.key, inFind);
  if (step) return done(() => list.move(step));
  if (event.key === "Enter") return event.repeat || done(() => open(session, list.cursor.value));
  if (inFind) return false;
  if (side === "history" && pressInHistory(event, session)) return done(() => {});
  // No other key does anything here: a code's key is not meant for the text behind the list.
  return !["find_text", "texts", "memos", "history", "inbox", "passages", "help"].includes(command ?? "");
}
