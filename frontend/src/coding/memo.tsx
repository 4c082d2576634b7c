// The memo on the text on screen.
import { useRef, useState } from "preact/hooks";
import { ForTeam, MemoField } from "../shared/memoform";
import type { Unit } from "./messages";
import type { Session } from "./session";

export function UnitMemo({ session, unit }: { session: Session; unit: Unit }) {
  const latest = useRef(unit);
  latest.current = unit;
  const [next, setNext] = useState(false);
  const team = useRef(false);
  team.current = unit.memo ? !!unit.memo.team : next;
  return (
    <MemoField label="Memo" placeholder="A thought on this text" text={unit.memo?.text ?? ""} onSave={(text) => session.saveMemo(latest.current, text, team.current)}>
      {(written) => (
        <ForTeam
          round={session.memos.round.value}
          on={team.current}
          onChange={(on) => {
            setNext(on);
            if (unit.memo) session.saveMemo(latest.current, written(), on);
          }}
        />
      )}
    </MemoField>
  );
}
