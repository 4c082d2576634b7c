// Acts: codings, finishing, memos and taking back.
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { closeAll, kernel, open, place, plugIn, press, ready, shown } from "./kernel.test.kit";

beforeEach(() => vi.useFakeTimers());

afterEach(() => {
  closeAll();
  vi.useRealTimers();
});

describe("codings", () => {
  test("a code goes on the whole unit or on the selection; again removes exactly that", () => {
    const session = ready();
    press(session, "affective");
    session.selecting.next("word", 1);
    press(session, "affective");
    press(session, "cognitive");
    expect(shown(session)).toEqual(["affective?", "affective?", "cognitive?"]);
    press(session, "affective");
    kernel.answer();
    expect(session.unit.value!.codings.map(({ code, start, end }) => [code, start, end])).toEqual([
      ["affective", null, null],
      ["cognitive", 0, 2],
    ]);
    expect(session.announced.value).toBe("Affective removed from the selection");
  });

  test("pending until the record has it", () => {
    const session = ready();
    press(session, "affective");
    expect(shown(session)).toEqual(["affective?"]);
    kernel.answer();
    expect(shown(session)).toEqual(["affective"]);
    expect(session.canUndo.value).toBe(true);
  });

  test("valence goes round on the marked coding, also after the record has moved it to the end", () => {
    const session = ready();
    press(session, "affective");
    press(session, "cognitive");
    kernel.answer();
    session.moveActive(1);
    session.moveActive(1);
    session.moveActive(-1);
    const before = session.unit.value!.codings[session.active.value]!.code;
    for (const expected of ["met", "unmet", null, "met"]) {
      session.facets.press();
      kernel.answer();
      const marked = session.unit.value!.codings[session.active.value]!;
      expect([marked.code, marked.facets.valence ?? null]).toEqual([before, expected]);
    }
    const other = session.unit.value!.codings.find(({ code }) => code !== before)!;
    expect(other.facets).toEqual({});
  });

  test("the coding that is changed by a click is the marked one from then on", () => {
    const session = ready();
    press(session, "affective");
    press(session, "cognitive");
    kernel.answer();
    session.change(session.unit.value!.codings[0], { facets: { valence: "met" } });
    kernel.answer();
    session.toggleUnsure();
    kernel.answer();
    const shown = session.unit.value!.codings.map(({ code, facets, confidence }) => [
      code,
      facets.valence ?? null,
      confidence,
    ]);
    expect(shown).toEqual([
      ["cognitive", null, null],
      ["affective", "met", "unsure"],
    ]);
    expect(session.active.value).toBe(1);
  });

  test("being unsure keeps the valence and the other way round", () => {
    const session = ready();
    press(session, "affective");
    session.toggleUnsure();
    session.facets.press();
    kernel.answer();
    expect(session.unit.value!.codings[0]).toMatchObject({
      facets: { valence: "met" },
      confidence: "unsure",
    });
    session.toggleUnsure();
    kernel.answer();
    expect(session.unit.value!.codings[0]).toMatchObject({ facets: { valence: "met" }, confidence: null });
  });

  test("removing takes the marked coding", () => {
    const session = ready();
    for (const id of ["affective", "cognitive", "response"]) press(session, id);
    session.moveActive(1);
    expect(session.unit.value!.codings[session.active.value]!.code).toBe("affective");
    session.remove();
    kernel.answer();
    expect(shown(session)).toEqual(["cognitive", "response"]);
    expect([session.stands.value, session.activeCoding()!.code]).toEqual([-1, "response"]);
  });

  test("the mark goes round the codings, and nowhere where there are none", () => {
    const session = ready();
    session.moveActive(1);
    session.moveActive(-1);
    expect(session.active.value).toBe(-1);
    for (const id of ["affective", "cognitive", "response"]) press(session, id);
    session.marked.value = null;
    session.moveActive(-1);
    expect(session.active.value).toBe(2);
    session.moveActive(1);
    expect(session.active.value).toBe(0);
    session.moveActive(-1);
    expect(session.active.value).toBe(2);
  });

  test("without a coding there is nothing to change", () => {
    const session = ready();
    session.facets.press();
    session.toggleUnsure();
    session.remove();
    expect(kernel.acts()).toEqual([]);
    expect(session.announced.value.trim()).toBe("Apply a code first");
  });
});

describe("undo and redo", () => {
  test("undo shows the unit where it happened", () => {
    const session = ready();
    press(session, "affective");
    session.goto(5);
    kernel.answer();
    expect(place(session)).toBe(5);
    session.takeBack("undo");
    kernel.answer();
    expect([place(session), shown(session)]).toEqual([0, []]);
    expect([session.canUndo.value, session.canRedo.value]).toEqual([false, true]);
    session.goto(3);
    kernel.answer();
    session.takeBack("redo");
    kernel.answer();
    expect([place(session), shown(session)]).toEqual([0, ["affective"]]);
  });

  test("another view's undo does not take this one elsewhere", () => {
    const session = ready();
    const other = open();
    kernel.answer();
    press(other, "affective");
    kernel.answer();
    session.goto(3);
    kernel.answer();
    other.takeBack("undo");
    kernel.answer();
    expect([place(session), place(other)]).toEqual([3, 0]);
    expect(session.canRedo.value).toBe(true);
  });

  test("with nothing to take back, nothing is sent", () => {
    const session = ready();
    session.takeBack("undo");
    session.takeBack("redo");
    expect(session.announced.value).toBe("Nothing to redo");
    expect(kernel.acts()).toEqual([]);
  });

  test("what is still on its way can be taken back", () => {
    const session = ready();
    press(session, "affective");
    session.takeBack("undo");
    kernel.answer();
    expect(kernel.recorded.map(({ kind }) => kind)).toEqual(["apply", "undo"]);
    expect(shown(session)).toEqual([]);
  });
});

describe("memos", () => {
  test("a memo goes to the unit it was written on, also when another one is on screen", () => {
    const session = ready();
    const written = session.unit.value!;
    session.goto(1);
    session.saveMemo(written, "  on the first ");
    kernel.answer();
    expect(place(session)).toBe(1);
    expect([kernel.unit(0).memo?.text, kernel.unit(1).memo]).toEqual(["on the first", null]);
  });

  test("a memo is revised under its id, also before the first writing was acknowledged", () => {
    const session = ready();
    session.saveMemo(session.unit.value!, "one");
    session.saveMemo(session.unit.value!, "two");
    kernel.answer();
    const [first, second] = kernel.recorded;
    expect(second!.memo_id).toBe(first!.id);
    expect(session.unit.value!.memo).toEqual({ memo_id: first!.id, text: "two" });
    session.saveMemo(session.unit.value!, "");
    kernel.answer();
    expect(session.unit.value!.memo).toBeNull();
  });

  test("an unchanged memo is not saved again", () => {
    const session = ready();
    session.saveMemo(session.unit.value!, "  ");
    session.saveMemo(session.unit.value!, "one");
    kernel.answer();
    session.saveMemo(session.unit.value!, " one\n");
    expect(kernel.acts()).toHaveLength(1);
  });
});

describe("what is said, on the screen and to screen readers", () => {
  test("a new text, with its place, its length and whether it is finished", () => {
    const session = ready();
    expect(session.announced.value).toBe("Text 1 of 6, 4 words, not finished");
    press(session, "affective");
    session.finish();
    expect(session.announced.value).toBe("m0 finished");
    session.finishAndNext();
    expect(session.announced.value).toBe("Text 2 of 6, 3 words, not finished");
    session.step(-1);
    expect(session.announced.value).toBe("Text 1 of 6, 4 words, one coding, finished");
    session.finish();
    expect(session.announced.value).toBe("No longer finished");
  });

  test("with the next text, that the one before was finished; and that you have not seen its end", () => {
    const session = ready();
    session.finishAndNext();
    expect(session.announced.value).toBe("m0 finished. Text 2 of 6, 3 words, not finished");
    session.ended.value = new Set();
    session.atEnd("m1");
    session.finishAndNext();
    expect(session.announced.value).toBe("m1 finished. Text 3 of 6, 2 words, not finished");
    session.finish();
    expect(session.announced.value).toBe("m2 finished, but you have not seen its end");
  });

  test("facets and doubt when they change, and the coding that is marked", () => {
    const session = ready();
    session.moveActive(1);
    expect(session.announced.value).toBe("This text has no codings");
    press(session, "affective");
    const heard = [
      () => session.facets.press(),
      () => session.facets.press(),
      () => session.facets.press(),
      () => session.toggleUnsure(),
    ].map(act => {
      act();
      return session.announced.value;
    });
    expect(heard).toEqual([
      "Affective: Valence met",
      "Affective: Valence unmet",
      "Affective: Valence none",
      "Affective: unsure",
    ]);
    session.facets.press();
    session.selecting.next("word", 1);
    press(session, "cognitive");
    session.moveActive(1);
    expect(session.announced.value).toBe("1 of 2, Affective, Valence met, unsure: the whole text");
    expect(session.selecting.sought.value).toMatchObject({ edge: "start" });
    session.moveActive(1);
    expect(session.announced.value).toBe("2 of 2, Cognitive: It");
    expect(session.selecting.sought.value!.span).toEqual({ start: 0, end: 2 });
  });

  test("the same words twice are heard twice", () => {
    const session = ready();
    session.takeBack("undo");
    const first = session.announced.value;
    session.takeBack("undo");
    expect(session.announced.value).not.toBe(first);
    expect(session.announced.value.trim()).toBe(first);
  });
});

describe("the rating", () => {
  const rated = (show_rating: boolean | "finished") => {
    plugIn();
    kernel.showRating = show_rating;
    const session = open();
    kernel.answer();
    return session;
  };

  test.each([true, false])("%s from the start, until it is toggled", from => {
    const session = rated(from);
    expect(session.ratingShown.value).toBe(from);
    session.toggleRating();
    expect(session.ratingShown.value).toBe(!from);
  });

  test("on finished texts alone: no key shows it before, and it goes when the text is taken up again", () => {
    const session = rated("finished");
    session.toggleRating();
    expect([session.ratingShown.value, session.announced.value]).toEqual([
      false,
      "The rating is shown once this text is finished",
    ]);
    session.finish();
    expect(session.ratingShown.value).toBe(true);
    session.toggleRating();
    expect(session.ratingShown.value).toBe(false);
    session.toggleRating();
    session.step(1);
    expect(session.ratingShown.value).toBe(false);
    session.step(-1);
    expect(session.ratingShown.value).toBe(true);
    session.finish();
    expect([session.ratingShown.value, session.showRating.value]).toEqual([false, false]);
  });
});

test("selecting by keyboard says what is selected", () => {
  const session = ready();
  session.selecting.next("sentence", 1);
  expect([session.selecting.span.value, session.announced.value]).toEqual([
    { start: 0, end: 12 },
    "Selected: It listened.",
  ]);
  session.selecting.move("end", "word", 1);
  expect(session.selecting.span.value).toEqual({ start: 0, end: 15 });
  session.selecting.move("end", "word", -1);
  session.selecting.move("end", "word", -1);
  expect(session.selecting.span.value).toEqual({ start: 0, end: 2 });
});
