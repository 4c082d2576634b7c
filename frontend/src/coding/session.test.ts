// Going about, the kernel's answers, and what is handed over at the end.
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { closeAll, kernel, open, place, plugIn, press, ready, shown, TEXTS } from "./kernel.test.kit";
import { PATIENCE_MS, shelf } from "../shared/outbox";
import { uuid } from "../shared/protocol";

beforeEach(() => vi.useFakeTimers());

afterEach(() => {
  closeAll();
  vi.useRealTimers();
});

test("act ids are version 4 UUIDs in lower case, each another one", () => {
  const made = Array.from({ length: 500 }, uuid);
  for (const id of made)
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(new Set(made).size).toBe(500);
});

describe("welcome", () => {
  test("before it there is nothing to code; after it the first unit", () => {
    plugIn();
    const session = open();
    expect(session.unit.value).toBeNull();
    session.finish();
    session.goto(1);
    expect(kernel.received.map(({ type }) => type)).toEqual(["hello"]);
    kernel.answer();
    expect([session.coder.value, session.total.value, place(session)]).toEqual(["ana", TEXTS.length, 0]);
    expect(session.unit.value!.text).toBe(TEXTS[0]);
  });

  test("a kernel that does not answer is asked again, and no more once it has answered", () => {
    plugIn([]);
    const session = open();
    vi.advanceTimersByTime(2 * PATIENCE_MS);
    expect(kernel.received.filter(({ type }) => type === "hello")).toHaveLength(3);
    expect(new Set(kernel.received.map(({ id }) => id)).size).toBe(1);
    kernel.answer();
    vi.advanceTimersByTime(5 * PATIENCE_MS);
    expect(kernel.received.filter(({ type }) => type === "hello")).toHaveLength(3);
    expect(session.book.codebook.value).not.toBeNull();
    expect(session.unit.value).toBeNull();
  });

  test("a late second welcome does not take the person to another unit", () => {
    plugIn();
    const session = open();
    const { client, id } = kernel.received[0]!;
    kernel.answer();
    session.goto(2);
    kernel.answer();
    kernel.position = 0;
    kernel.model().send({ type: "hello", client, id });
    kernel.answer();
    expect(place(session)).toBe(2);
  });

  test("another view's welcome is not this one's", () => {
    const session = ready();
    session.goto(3);
    kernel.answer();
    open();
    kernel.answer();
    expect(place(session)).toBe(3);
  });

  test("a dead channel is known, and the act kept", () => {
    const session = ready();
    kernel.dead = true;
    press(session, "affective");
    expect([session.channel.cut.value, session.message.value]).toEqual([true, null]);
    expect(session.outbox.waiting.value).toHaveLength(1);
    expect(shown(session)).toEqual(["affective?"]);
  });
});

describe("going about", () => {
  test("the next units are fetched before they are wanted, and only once", () => {
    const session = ready();
    const peeked = () =>
      kernel.received.flatMap(({ type, peek, place }) => (type === "unit" && peek ? [place] : []));
    expect(peeked()).toEqual([1, 2, 3]);
    session.step(1);
    expect(place(session)).toBe(1);
    kernel.answer();
    expect(peeked()).toEqual([1, 2, 3, 4]);
    expect(kernel.position).toBe(1);
  });

  test("while another unit loads there is none, and no key codes anything", () => {
    const session = ready();
    session.goto(5);
    expect(session.unit.value).toBeNull();
    press(session, "affective");
    session.finish();
    session.finishAndNext();
    session.remove();
    session.facets.press();
    session.toggleUnsure();
    session.selecting.next("word", 1);
    session.moveActive(1);
    expect(kernel.acts()).toEqual([]);
    kernel.answer();
    expect(place(session)).toBe(5);
    press(session, "affective");
    expect(kernel.acts().map(({ unit_id }) => unit_id)).toEqual(["m5"]);
  });

  test("a unit that was asked for before, and answers late, is not shown", () => {
    const session = ready();
    session.goto(5);
    session.goto(1);
    expect(place(session)).toBe(1);
    kernel.answer();
    expect(place(session)).toBe(1);
  });

  test("stepping while a unit loads goes on from there", () => {
    const session = ready();
    session.goto(4);
    session.step(1);
    kernel.answer();
    expect(place(session)).toBe(5);
  });

  test.each([-1, 6, 99, 0.5, Number.NaN, Infinity])("there is no place %s", wanted => {
    const session = ready();
    session.goto(wanted);
    kernel.answer();
    expect(place(session)).toBe(0);
    expect(kernel.asked()).toEqual([]);
  });

  test("selection and mark belong to the unit they were made on", () => {
    const session = ready();
    session.selecting.next("word", 1);
    press(session, "affective");
    expect(session.active.value).toBe(0);
    session.step(1);
    expect([session.selecting.span.value, session.active.value]).toEqual([null, -1]);
  });

  test("finishing goes on to the next unfinished unit", () => {
    const session = ready();
    session.goto(1);
    session.finish();
    session.goto(0);
    kernel.answer();
    session.finishAndNext();
    expect(place(session)).toBe(2);
    kernel.answer();
    expect(kernel.recorded.map(({ kind, unit_id }) => [kind, unit_id])).toEqual([
      ["finish", "m1"],
      ["finish", "m0"],
    ]);
    expect([session.finished.value, session.flags.value]).toEqual([2, "ff...."]);
  });

  test("a finish that is still on its way counts as finished", () => {
    const session = ready(TEXTS.slice(0, 3));
    session.finishAndNext();
    session.finishAndNext();
    session.finishAndNext();
    expect(place(session)).toBe(2);
    expect(session.allDone.value).toBe(true);
    kernel.answer();
    expect(kernel.recorded.map(({ unit_id }) => unit_id)).toEqual(["m0", "m1", "m2"]);
  });

  test("from a finished unit it only goes on: nothing is finished twice or reopened", () => {
    const session = ready();
    session.finish();
    kernel.answer();
    session.finishAndNext();
    expect(place(session)).toBe(1);
    kernel.answer();
    expect(kernel.recorded).toHaveLength(1);
  });

  test("from a finished last unit it goes to an unfinished one", () => {
    const session = ready(TEXTS.slice(0, 2));
    session.goto(1);
    session.finish();
    kernel.answer();
    session.finishAndNext();
    expect(place(session)).toBe(0);
  });

  test("finishing a finished unit takes it back", () => {
    const session = ready();
    session.finish();
    expect(session.unit.value!.finished).toBe(true);
    session.finish();
    kernel.answer();
    expect(kernel.recorded.map(({ kind }) => kind)).toEqual(["finish", "reopen"]);
    expect([session.finished.value, session.flags.value[0]]).toEqual([0, "."]);
  });
});

describe("answers", () => {
  test("what another view did is shown here, without touching what waits here", () => {
    const session = ready();
    const other = open();
    kernel.answer();
    press(other, "affective");
    kernel.answer();
    expect(shown(session)).toEqual(["affective"]);
    expect(session.announced.value).toBe("Changed in another window");
    expect(session.canUndo.value).toBe(true);

    other.goto(1);
    kernel.answer();
    press(session, "cognitive");
    other.finish();
    expect(session.outbox.waiting.value).toHaveLength(1);
    kernel.answer();
    expect([session.flags.value, other.flags.value]).toEqual(["cf....", "cf...."]);
    expect(session.finished.value).toBe(1);
    expect(place(session)).toBe(0);
    session.goto(1);
    expect(session.unit.value!.finished).toBe(true);
  });

  test("a refused act is taken off the screen, says why, and lets the next one go on", () => {
    const session = ready();
    kernel.fate = "refused";
    press(session, "affective");
    kernel.answer();
    expect([shown(session), session.message.value]).toEqual([[], "refused: no room"]);
    expect(session.outbox.waiting.value).toEqual([]);
    kernel.fate = "done";
    press(session, "cognitive");
    kernel.answer();
    expect(shown(session)).toEqual(["cognitive"]);
    // Only what was not saved is put right by a later success; what was refused is lost, and stays said.
    expect(session.message.value).toBe("refused: no room");
    session.step(1);
    expect(session.message.value).toBe("refused: no room");
  });

  test("with a refused act goes what followed it on its text, so that no text is finished without its code", () => {
    const session = ready();
    press(session, "affective");
    session.finishAndNext();
    press(session, "cognitive");
    session.takeBack("undo");
    kernel.fate = "refused";
    const first = kernel.received.find(({ type }) => type === "act")!;
    kernel.answerFirst(first.id);
    kernel.fate = "done";
    kernel.answer();
    expect(kernel.recorded.map(({ kind, unit_id, code }) => [kind, unit_id, code])).toEqual([
      ["apply", "m1", "cognitive"],
    ]);
    expect(session.message.value).toBe(
      "Text m0: refused: no room 2 later changes on this text were not saved either.",
    );
    expect(session.flags.value[0]).toBe(".");
  });

  test("a failed act stays, counts as not saved, and is sent again as the same act", () => {
    const session = ready();
    kernel.fate = "failed";
    press(session, "affective");
    press(session, "cognitive");
    kernel.answer();
    expect([session.outbox.late.value, session.message.value]).toEqual([true, "failed: no room"]);
    expect(shown(session)).toEqual(["affective?", "cognitive?"]);
    kernel.fate = "done";
    vi.advanceTimersByTime(PATIENCE_MS);
    kernel.answer();
    expect(kernel.acts().map(({ id }) => id)).toEqual([
      kernel.recorded[0]!.id,
      kernel.recorded[0]!.id,
      kernel.recorded[1]!.id,
    ]);
    expect([shown(session), session.outbox.late.value, session.message.value]).toEqual([
      ["affective", "cognitive"],
      false,
      null,
    ]);
  });

  test("an act whose answer was lost is recorded once", () => {
    const session = ready();
    press(session, "affective");
    const lost = kernel.received.at(-1)!;
    vi.advanceTimersByTime(PATIENCE_MS);
    expect(session.outbox.late.value).toBe(true);
    expect(kernel.received.at(-1)).toEqual(lost);
    kernel.answer();
    expect(kernel.recorded).toHaveLength(1);
    expect(shown(session)).toEqual(["affective"]);
  });
});

describe("closing", () => {
  test("unsent acts are handed to the next view of the same work, in order, as the same acts", () => {
    const session = ready();
    press(session, "affective");
    press(session, "cognitive");
    session.finishAndNext();
    const ids = session.outbox.waiting.value.map(({ id }) => id);
    kernel.lose();
    session.close();

    const next = open();
    expect(shelf().get("work")).toHaveLength(3);
    kernel.answer();
    expect(kernel.recorded.map(({ id }) => id)).toEqual(ids);
    expect(kernel.recorded.map(({ unit_id }) => unit_id)).toEqual(["m0", "m0", "m0"]);
    expect(shelf().size).toBe(0);
    expect([shown(next), next.finished.value]).toEqual([["affective", "cognitive"], 1]);
  });

  test("other work does not take them", () => {
    const session = ready();
    press(session, "affective");
    kernel.lose();
    session.close();
    const kept = shelf().get("work")!;
    shelf().delete("work");
    shelf().set("another study", kept);
    open();
    kernel.answer();
    expect(kernel.recorded).toEqual([]);
    expect(shelf().get("another study")).toEqual(kept);
  });

  test("what was asked and not answered is not asked again", () => {
    plugIn();
    open().close();
    vi.advanceTimersByTime(10 * PATIENCE_MS);
    expect(kernel.received).toHaveLength(1);
  });

  test("with everything saved, nothing is handed over, heard or sent again", () => {
    const session = ready();
    press(session, "affective");
    kernel.answer();
    session.close();
    expect(shelf().size).toBe(0);
    const before = kernel.received.length;
    vi.advanceTimersByTime(10 * PATIENCE_MS);
    expect(kernel.received).toHaveLength(before);
    expect(vi.getTimerCount()).toBe(0);
  });
});
