// What can stand beside the text, and which of it does.
import { SideTabs } from "../shared/sidepane";
import type { Session, SideName } from "./session";

export const NAMES: Record<SideName, string> = { texts: "Texts", memos: "Memos", history: "History" };

export function Tabs({ session }: { session: Session }) {
  return <SideTabs names={NAMES} keys={session.commands.value} shown={session.side.value} onPick={(side) => session.showSide(side)} />;
}
