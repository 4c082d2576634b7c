// The memos on words of the text on screen, and the form in which one is written.
import { Button } from "../shared/button";
import { ForTeam, MemoForm, MemoField } from "../shared/memoform";
import type { Code } from "../shared/protocol";
import type { About } from "./memos";
import type { Unit } from "./messages";
import type { Session } from "./session";
import { useRef, useState } from "preact/hooks";

/** What the memo is about, in words. */
function heading({ on, unit, span, code, answers }: About, session: Session): string {
  if (answers) return `Answer to ${answers.coder}: “${answers.text}”`;
  if (on === "span") return `Memo on “${unit!.text.slice(span!.start, span!.end)}”`;
  if (on === "code") return `Memo on the code ${session.label(code!)}`;
  return on === "study" ? "Memo on the study" : "Memo on this text";
}

/** The memos on words of the text on screen; a click opens one. */
export function SpanMemos({ session, unit }: { session: Session; unit: Unit }) {
  if (!unit.memos.length) return null;
  const inOrder = [...unit.memos].sort((a, b) => a.start - b.start || b.end - a.end);
  return (
    <ul class="s7-memos" aria-label="Memos on words of this text">
      {inOrder.map(({ memo_id, start, end, text, team }) => (
        <li key={memo_id}>
          <Button
            class="s7-memo-row"
            title="Open this memo"
            onClick={() => session.presses.inTurn(() => session.memos.onSpan(unit, { start, end }), unit)}
          >
            <span aria-hidden="true">✎ </span>
            <span class="s7-quote" dir="auto">
              “{unit.text.slice(start, end)}”
            </span>{" "}
            <span dir="auto">{text}</span>
            {team && <i> (team)</i>}
          </Button>
        </li>
      ))}
    </ul>
  );
}

/** Opens the memo on a code, beside its definition. */
export function CodeMemoButton({ session, code }: { session: Session; code: Code }) {
  const memo = session.memos.ofCode(code.id);
  const key = session.commands.value.code_memo;
  return (
    <Button
      class="s7-code-memo"
      disabled={!session.total.value}
      title={`${memo ? "Read and change" : "Write"} a memo on this code${key ? ` (${key})` : ""}`}
      onClick={() => session.presses.inTurn(() => session.memos.onCode(code))}
    >
      ✎ {memo ? memo.text.split("\n", 1)[0]!.slice(0, 60) : "Memo"}
    </Button>
  );
}

export function OpenMemo({ session }: { session: Session }) {
  const { memos } = session;
  const about = memos.open.value;
  if (!about) return null;
  return (
    <MemoForm
      about={about}
      words={heading(about, session)}
      draft={memos.draft.value}
      onWrite={text => (memos.draft.value = text)}
      onLeave={() => memos.keep()}
      onSave={() => memos.close()}
      onDiscard={() => memos.discard()}
      onEnd={about.memo ? () => memos.end() : undefined}
    >
      {!about.answers && (
        <ForTeam
          round={memos.round.value}
          on={memos.team.value}
          onChange={team => (memos.team.value = team)}
        />
      )}
    </MemoForm>
  );
}

export function UnitMemo({ session, unit }: { session: Session; unit: Unit }) {
  const latest = useRef(unit);
  latest.current = unit;
  const [next, setNext] = useState(false);
  const team = useRef(false);
  team.current = unit.memo ? !!unit.memo.team : next;
  return (
    <MemoField
      label="Memo"
      placeholder="A thought on this text"
      text={unit.memo?.text ?? ""}
      onSave={text => session.saveMemo(latest.current, text, team.current)}
    >
      {written => (
        <ForTeam
          round={session.memos.round.value}
          on={team.current}
          onChange={on => {
            setNext(on);
            if (unit.memo) session.saveMemo(latest.current, written(), on);
          }}
        />
      )}
    </MemoField>
  );
}
