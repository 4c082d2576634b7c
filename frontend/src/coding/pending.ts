// What a deed on its way to the record will change of a unit.
import type { Coding, Deed } from "../shared/protocol";
import { sameSpan } from "../shared/spans";
import type { Unit } from "./messages";

/** The unit as it will stand once `deed` is recorded. */
export function withDeed(unit: Unit, deed: Deed): Unit {
  if (deed.unit_id !== unit.unit_id) return unit;
  const target = { start: deed.start ?? null, end: deed.end ?? null };
  const same = (coding: Coding) => coding.code === deed.code && sameSpan(coding, target);
  switch (deed.kind) {
    case "apply": {
      const coding: Coding = {
        code: deed.code!,
        ...target,
        valence: deed.valence ?? null,
        confidence: deed.confidence ?? null,
        pending: true,
      };
      // In place, so that a changed valence does not move the coding on screen.
      const at = unit.codings.findIndex(same);
      return { ...unit, codings: at < 0 ? [...unit.codings, coding] : unit.codings.with(at, coding) };
    }
    case "remove":
      return { ...unit, codings: unit.codings.filter((coding) => !same(coding)) };
    case "finish":
    case "reopen":
      return { ...unit, finished: deed.kind === "finish" };
    case "memo":
      return { ...unit, memo: deed.text ? { memo_id: deed.memo_id ?? deed.id, text: deed.text } : null };
    default:
      return unit;
  }
}
