// What an act on its way to the record will change of a unit.
import type { Coding, Act } from "../shared/protocol";
import { sameSpan } from "../shared/spans";
import type { Suggestion, Unit } from "./messages";

function withMemo(unit: Unit, act: Act): Unit {
  if (act.answers) return unit; // it stands in the list of memos
  const memo = act.text
    ? { memo_id: act.memo_id ?? act.id, text: act.text, ...(act.team ? { team: true } : {}) }
    : null;
  if (act.target_kind !== "span") return { ...unit, memo };
  const others = unit.memos.filter(({ memo_id }) => memo_id !== act.memo_id);
  return { ...unit, memos: memo ? [...others, { ...memo, start: act.start!, end: act.end! }] : others };
}

/** What becomes of an open suggestion of the act's code. */
function answered(unit: Unit, act: Act, state: (row: Suggestion) => Suggestion["state"]): Unit {
  if (!unit.suggestions) return unit;
  const rows = unit.suggestions.rows.map(row =>
    row.code === act.code && /^(none|rejected)$/.test(row.state) ? { ...row, state: state(row) } : row,
  );
  return { ...unit, suggestions: { ...unit.suggestions, rows } };
}

/**
 * The codings move to other words; a memo on exactly their words goes along, unless another coding has these
 * words.
 */
function withMoved(unit: Unit, { code, also = [], from, start, end }: Act): Unit {
  const isThere = (one: Coding) => sameSpan(one, from!);
  const moves = (one: Coding) => one.code === code || also.includes(one.code);
  const alone = unit.codings.filter(isThere).every(moves);
  const memos = alone ? unit.memos.filter(memo => sameSpan(memo, from!)) : [];
  return {
    ...unit,
    // Each is applied and removed; the first one's application is counted with the act.
    n_acts: unit.n_acts + 1 + 2 * also.length + memos.length,
    codings: unit.codings.map(one =>
      moves(one) && isThere(one) ? { ...one, start: start!, end: end!, pending: true } : one,
    ),
    memos: unit.memos.map(memo => (memos.includes(memo) ? { ...memo, start: start!, end: end! } : memo)),
  };
}

/** The unit as it will stand once `act` is recorded. */
export function withAct(unit: Unit, { with: parts = [], found, ...act }: Act): Unit {
  if (found)
    return found
      .filter(({ unit_id }) => unit_id === unit.unit_id)
      .reduce((now, one) => withAct(now, { ...act, ...one }), unit);
  if (act.unit_id !== unit.unit_id) return unit;
  const before = parts.reduce(
    (now, part) => withAct(now, { ...part, id: act.id, unit_id: now.unit_id }),
    unit,
  );
  return withOne(before, act);
}

function withOne(before: Unit, act: Act): Unit {
  const there = act.from ? withMoved(before, act) : before;
  const unit = { ...there, n_acts: there.n_acts + 1 };
  const target = { start: act.start ?? null, end: act.end ?? null };
  const same = (coding: Coding) => coding.code === act.code && sameSpan(coding, target);
  switch (act.kind) {
    case "apply": {
      const coding: Coding = {
        code: act.code!,
        ...target,
        facets: act.facets ?? {},
        confidence: act.confidence ?? null,
        pending: true,
      };
      // In place, so that a changed facet does not move the coding on screen.
      const at = unit.codings.findIndex(same);
      const codings = at < 0 ? [...unit.codings, coding] : unit.codings.with(at, coding);
      return answered({ ...unit, codings }, act, row => (sameSpan(row, target) ? "accepted" : "edited"));
    }
    case "remove":
      return { ...unit, codings: unit.codings.filter(coding => !same(coding)) };
    case "finish":
    case "reopen":
      return { ...unit, finished: act.kind === "finish" };
    case "reject_suggestion":
      return answered(unit, act, () => "rejected");
    case "memo":
      return withMemo(unit, act);
    default:
      return unit;
  }
}
