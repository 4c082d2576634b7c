// A unit with acts that are still on their way.
import { describe, expect, test } from "vitest";
import type { Coding, Act } from "../shared/protocol";
import type { Unit } from "./messages";
import { withAct } from "./pending";

const coding = (start: number | null, end: number | null, code = "a"): Coding => ({
  code,
  start,
  end,
  facets: {},
  confidence: null,
});

describe("withAct", () => {
  const unit: Unit = {
    place: 0,
    unit_id: "m1",
    text: "It listened.",
    context: [],
    rating: null,
    finished: false,
    codings: [coding(0, 2), coding(null, null), coding(0, 2, "b")],
    memo: null,
    memos: [],
    n_acts: 3,
  };
  const act = (rest: Partial<Act> & Pick<Act, "kind">): Act => ({ id: "d1", unit_id: "m1", ...rest });

  test("an act on another unit changes nothing", () => {
    expect(withAct(unit, act({ kind: "finish", unit_id: "m2" }))).toBe(unit);
  });

  test("a new coding comes last, as pending", () => {
    const after = withAct(unit, act({ kind: "apply", code: "a", start: 3, end: 11 }));
    expect(after.codings).toHaveLength(4);
    expect(after.codings[3]).toEqual({ ...coding(3, 11), pending: true });
    expect(unit.codings).toHaveLength(3);
  });

  test("a coding that is applied again changes in place", () => {
    const after = withAct(
      unit,
      act({ kind: "apply", code: "a", start: 0, end: 2, facets: { valence: "met" } }),
    );
    expect(after.codings.map(({ code, facets }) => [code, facets])).toEqual([
      ["a", { valence: "met" }],
      ["a", {}],
      ["b", {}],
    ]);
  });

  test("removing takes the coding of exactly this code and span", () => {
    expect(withAct(unit, act({ kind: "remove", code: "a" })).codings).toEqual([
      coding(0, 2),
      coding(0, 2, "b"),
    ]);
    expect(withAct(unit, act({ kind: "remove", code: "a", start: 0, end: 1 })).codings).toHaveLength(3);
  });

  test("finishing and reopening", () => {
    const finished = withAct(unit, act({ kind: "finish" }));
    expect(finished.finished).toBe(true);
    expect(withAct(finished, act({ kind: "reopen" })).finished).toBe(false);
  });

  test("a new memo has the act's id, a revised one keeps its own, an empty one ends", () => {
    const first = withAct(unit, act({ kind: "memo", text: "one" }));
    expect(first.memo).toEqual({ memo_id: "d1", text: "one" });
    const second = withAct(first, act({ id: "d2", kind: "memo", memo_id: "d1", text: "two" }));
    expect(second.memo).toEqual({ memo_id: "d1", text: "two" });
    expect(withAct(second, act({ kind: "memo", memo_id: "d1", text: "" })).memo).toBeNull();
  });

  test("undoing waits for the kernel, which alone knows what it undoes", () => {
    expect(withAct(unit, act({ kind: "undo" }))).toEqual({ ...unit, n_acts: 4 });
  });
});
