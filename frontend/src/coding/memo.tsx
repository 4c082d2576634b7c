// The unit's memo: saved when it is left, and after a pause in typing.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { ForTeam } from "./memos";
import type { Unit } from "./messages";
import type { Session } from "./session";

export function MemoField({ session, unit }: { session: Session; unit: Unit }) {
  const field = useRef<HTMLTextAreaElement>(null);
  const latest = useRef(unit);
  latest.current = unit;
  const text = unit.memo?.text ?? "";
  const [next, setNext] = useState(false);
  const team = useRef(false);
  team.current = unit.memo ? !!unit.memo.team : next;
  // Some browsers send a last blur when the field is taken away: by then there is nothing to read from it.
  const save = () => field.current && session.saveMemo(latest.current, field.current.value, team.current);
  useEffect(() => {
    const at = field.current!;
    // Never under the person's hands: while they write, what they write counts.
    if ((at.getRootNode() as Document).activeElement !== at) at.value = text;
  }, [text]);
  // A layout effect: its end runs at once when the field goes, while what it saves can still be handed over.
  useLayoutEffect(() => {
    const at = field.current!;
    let pause: ReturnType<typeof setTimeout> | undefined;
    const later = () => {
      clearTimeout(pause);
      pause = setTimeout(save, 1500);
    };
    at.addEventListener("input", later);
    // Before the check for unsaved acts hears of it: a page closed in mid-sentence keeps the sentence.
    addEventListener("beforeunload", save, true);
    return () => {
      clearTimeout(pause);
      removeEventListener("beforeunload", save, true);
      session.saveMemo(latest.current, at.value, team.current);
    };
  }, []);
  return (
    <div class="s7-memo">
      <label>
        <span>Memo</span>
        <textarea ref={field} rows={text ? 3 : 1} placeholder="A thought on this text" defaultValue={text} onBlur={save} />
      </label>
      <ForTeam
        session={session}
        on={team.current}
        onChange={(on) => {
          setNext(on);
          if (unit.memo) session.saveMemo(latest.current, field.current!.value, on);
        }}
      />
    </div>
  );
}
