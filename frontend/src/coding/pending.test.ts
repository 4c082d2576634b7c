// A unit with deeds that are still on their way.
import { describe, expect, test } from "vitest";
import type { Coding, Deed } from "../shared/protocol";
import type { Unit } from "./messages";
import { withDeed } from "./pending";

const coding = (start: number | null, end: number | null, code = "a"): Coding => ({
  code,
  start,
  end,
  valence: null,
  confidence: null,
});

describe("withDeed", () => {
  const unit: Unit = {
    place: 0,
    unit_id: "m1",
    text: "It listened.",
    context: [],
    rating: null,
    finished: false,
    codings: [coding(0, 2), coding(null, null), coding(0, 2, "b")],
    memo: null,
  };
  const deed = (rest: Partial<Deed> & Pick<Deed, "kind">): Deed => ({ id: "d1", unit_id: "m1", ...rest });

  test("a deed on another unit changes nothing", () => {
    expect(withDeed(unit, deed({ kind: "finish", unit_id: "m2" }))).toBe(unit);
  });

  test("a new coding comes last, as pending", () => {
    const after = withDeed(unit, deed({ kind: "apply", code: "a", start: 3, end: 11 }));
    expect(after.codings).toHaveLength(4);
    expect(after.codings[3]).toEqual({ ...coding(3, 11), pending: true });
    expect(unit.codings).toHaveLength(3);
  });

  test("a coding that is applied again changes in place", () => {
    const after = withDeed(unit, deed({ kind: "apply", code: "a", start: 0, end: 2, valence: "met" }));
    expect(after.codings.map(({ code, valence }) => [code, valence])).toEqual([["a", "met"], ["a", null], ["b", null]]);
  });

  test("removing takes the coding of exactly this code and span", () => {
    expect(withDeed(unit, deed({ kind: "remove", code: "a" })).codings).toEqual([coding(0, 2), coding(0, 2, "b")]);
    expect(withDeed(unit, deed({ kind: "remove", code: "a", start: 0, end: 1 })).codings).toHaveLength(3);
  });

  test("finishing and reopening", () => {
    const finished = withDeed(unit, deed({ kind: "finish" }));
    expect(finished.finished).toBe(true);
    expect(withDeed(finished, deed({ kind: "reopen" })).finished).toBe(false);
  });

  test("a new memo has the deed's id, a revised one keeps its own, an empty one ends", () => {
    const first = withDeed(unit, deed({ kind: "memo", text: "one" }));
    expect(first.memo).toEqual({ memo_id: "d1", text: "one" });
    const second = withDeed(first, deed({ id: "d2", kind: "memo", memo_id: "d1", text: "two" }));
    expect(second.memo).toEqual({ memo_id: "d1", text: "two" });
    expect(withDeed(second, deed({ kind: "memo", memo_id: "d1", text: "" })).memo).toBeNull();
  });

  test("undoing waits for the kernel, which alone knows what it undoes", () => {
    expect(withDeed(unit, deed({ kind: "undo" }))).toBe(unit);
  });
});
