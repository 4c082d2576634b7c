// The list of texts without a screen: asking, the last question, rows, and where "next" leads.
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { PATIENCE_MS } from "../shared/outbox";
import { closeAll, kernel, place, press, ready, TEXTS } from "./kernel.test.kit";
import type { Session } from "./session";

beforeEach(() => vi.useFakeTimers());

afterEach(() => {
  closeAll();
  vi.useRealTimers();
});

const asked = (type: string) => kernel.received.filter(message => message.type === type);
const listed = ({ texts }: Session) =>
  Array.from({ length: texts.listing.value.length }, (_, i) => texts.listing.value.at(i));

/** A session in which these texts alone are listed. */
function choosing(part: Parameters<Session["texts"]["change"]>[0]): Session {
  const session = ready();
  session.texts.change(part);
  kernel.answer();
  return session;
}

describe("asking", () => {
  test("until something is chosen nothing is asked, and all texts are there", () => {
    const session = ready();
    expect([session.texts.isActive.value, listed(session)]).toEqual([false, [0, 1, 2, 3, 4, 5]]);
    expect(asked("list")).toEqual([]);
  });

  test("while the kernel answers, only the last of what was typed is asked next", () => {
    const session = ready();
    for (const find of ["i", "it", "it ", "it d"]) session.texts.change({ find });
    expect(asked("list").map(({ find }) => find)).toEqual(["i"]);
    kernel.answer();
    expect(asked("list").map(({ find }) => find)).toEqual(["i", "it d"]);
    expect([listed(session), session.texts.shown.value.find]).toEqual([[1], "it d"]);
  });

  test("what is emptied while an answer is under way shows all texts", () => {
    const session = ready();
    session.texts.change({ find: "i" });
    session.texts.change({ find: "" });
    kernel.answer();
    expect([session.texts.isActive.value, listed(session).length]).toEqual([false, 6]);
    session.texts.change({ find: "no" });
    kernel.answer();
    session.texts.clear();
    expect(listed(session).length).toBe(6);
  });

  test("another view's list is not this one's", () => {
    const session = ready();
    kernel.tell({ type: "list", client: "another", id: "x", n: 0, bits: "AA==", order: null, rows: [] });
    expect(listed(session).length).toBe(6);
  });

  test("an answer that comes twice does not take the place of a newer one", () => {
    const session = ready();
    session.texts.change({ find: "i" });
    vi.advanceTimersByTime(PATIENCE_MS); // asked again, since the kernel is slow
    const twice = asked("list").map(({ id }) => id);
    expect(new Set(twice).size).toBe(twice.length - 1);
    kernel.answerFirst(twice[0]!);
    session.texts.change({ find: "so kind" });
    kernel.answerFirst(asked("list").at(-1)!.id);
    expect([listed(session), session.texts.shown.value.find]).toEqual([[3], "so kind"]);
    kernel.answer();
    expect([listed(session), session.texts.shown.value.find]).toEqual([[3], "so kind"]);
  });

  test("typed on and deleted letter by letter, the list is that of the letters that stand there", () => {
    const session = ready();
    const seen = ["i", "it", "it d", "it", "i", "", "no", "n", "not"].map(find => {
      session.texts.change({ find });
      kernel.answer();
      return [find, listed(session)];
    });
    const alone = seen.map(([find]) => {
      closeAll();
      const other = choosing({ find: find as string });
      return [find, listed(other)];
    });
    expect(seen).toEqual(alone);
  });

  test("what is typed until a question is refused is asked next", () => {
    const session = ready();
    session.texts.change({ find: "f" });
    session.texts.change({ find: "facts" });
    const { id, client } = asked("list")[0]!;
    kernel.lose();
    kernel.tell({ type: "refused", message: "texts: expected …", id, client });
    kernel.answer();
    expect([listed(session), asked("list").length]).toEqual([[2], 2]);
  });

  test("Enter before the answer goes to the first text of that answer", () => {
    const session = ready();
    session.texts.change({ find: "so kind" });
    session.texts.choose();
    expect(place(session)).toBe(0);
    kernel.answer();
    expect(place(session)).toBe(3);
  });

  test("a question that is refused says why, and the next is asked", () => {
    const session = ready();
    session.texts.change({ find: "no" });
    const { id, client } = asked("list")[0]!;
    kernel.lose();
    kernel.tell({ type: "refused", message: "texts: expected …", id, client });
    expect(session.message.value).toBe("texts: expected …");
    session.texts.change({ find: "facts" });
    kernel.answer();
    expect(listed(session)).toEqual([2]);
  });
});

describe("rows", () => {
  test("are asked for once, for what is in view and not here yet", () => {
    const session = ready();
    session.texts.want(0, 3);
    session.texts.want(1, 4);
    expect(asked("rows").map(({ places }) => places)).toEqual([[0, 1, 2]]);
    kernel.answer();
    expect(asked("rows").map(({ places }) => places)).toEqual([[0, 1, 2], [3]]);
    expect([...session.texts.rows.value.keys()]).toEqual([0, 1, 2, 3]);
  });

  test("that were asked for before the words changed are not shown", () => {
    const session = ready();
    session.texts.want(0, 6);
    session.texts.change({ find: "it" });
    kernel.answerFirst(asked("list")[0]!.id);
    const words = () => session.texts.rows.value.get(0)!.words[1];
    expect(words()).toBe("It");
    kernel.answer();
    expect(words()).toBe("It");
  });

  test("show the rating only while it is on screen, and no choice by it outlasts that", () => {
    const session = ready();
    session.texts.askChoices();
    session.texts.want(0, 1);
    kernel.answer();
    expect([session.texts.rows.value.get(0)!.rating, session.texts.choices.value!.ratings]).toEqual([
      null,
      [],
    ]);
    session.showRating.value = true;
    kernel.answer();
    expect([session.texts.rows.value.get(0)!.rating, session.texts.choices.value!.ratings]).toEqual([
      "4",
      ["4"],
    ]);
    session.texts.change({ rating: "4" });
    kernel.answer();
    expect(session.texts.isActive.value).toBe(true);
    session.showRating.value = false;
    kernel.answer();
    expect(session.texts.query.value.rating).toBeNull();
    expect(session.texts.isActive.value).toBe(false);
    expect([...session.texts.rows.value.values()].map(({ rating }) => rating)).toEqual([null]);
    expect(session.texts.choices.value!.ratings).toEqual([]);
  });

  test("follow what is recorded: memo and doubt", () => {
    const session = ready();
    session.texts.want(0, 2);
    kernel.answer();
    session.saveMemo(session.unit.value!, "a thought");
    press(session, "affective");
    session.toggleUnsure();
    expect(session.texts.rows.value.get(0)).toMatchObject({ memo: false, unsure: false });
    kernel.answer();
    expect(session.texts.rows.value.get(0)).toMatchObject({ memo: true, unsure: true });
  });
});

describe("going on within what is chosen", () => {
  test("next and back, from a text that is not among them too", () => {
    const session = choosing({ find: "it" }); // 0, 1, 3
    expect(listed(session)).toEqual([0, 1, 3]);
    const went = [1, 1, -1].map(by => {
      session.step(by);
      kernel.answer();
      return place(session);
    });
    expect(went).toEqual([1, 3, 1]);
    session.goto(2);
    kernel.answer();
    expect([session.beside(-1), session.beside(1)]).toEqual([1, 3]);
    session.goto(5);
    kernel.answer();
    session.step(1);
    expect([place(session), session.announced.value]).toEqual([5, "This is the last text of the list"]);
  });

  test("finish and next takes the next unfinished of them, and says when there is none", () => {
    const session = choosing({ find: "it" });
    for (const expected of [1, 3]) {
      session.finishAndNext();
      kernel.answer();
      expect(place(session)).toBe(expected);
    }
    session.finishAndNext();
    kernel.answer();
    expect([place(session), session.finished.value]).toEqual([3, 3]);
    expect(session.message.value).toContain("All other texts in this list are finished");
    expect(session.allDone.value).toBe(true);
  });

  test("what no longer fits stays in its place, and the number of what fits follows the record", () => {
    const session = choosing({ state: "unfinished" });
    session.finishAndNext();
    kernel.answer();
    vi.advanceTimersByTime(300);
    expect(session.texts.listing.value.n).toBe(6);
    kernel.answer();
    expect([session.texts.listing.value.n, listed(session)]).toEqual([5, [0, 1, 2, 3, 4, 5]]);
    expect([place(session), session.beside(-1)]).toEqual([1, 0]);
    session.texts.change({ state: "unfinished" });
    kernel.answer();
    expect(listed(session)).toEqual([1, 2, 3, 4, 5]);
  });

  test("another order is fetched once, and gone by", () => {
    const session = choosing({ order: "random" });
    expect(listed(session)).toEqual([5, 4, 3, 2, 1, 0]);
    session.texts.change({ order: "random", find: "it" });
    kernel.answer();
    expect(listed(session)).toEqual([3, 1, 0]);
    expect(asked("list").map(({ with_order }) => with_order)).toEqual([true, false]);
    session.step(-1);
    expect(place(session)).toBe(1);
  });

  test("what is likely to come next among them is fetched before", () => {
    ready();
    closeAll();
    const session = ready([...TEXTS, ...TEXTS]);
    session.texts.change({ find: "so kind" });
    kernel.answer();
    session.goto(3);
    kernel.answer();
    expect(asked("unit").flatMap(({ peek, place }) => (peek ? [place] : []))).toContain(9);
  });
});

describe("the cursor", () => {
  test("is where the text on screen stands, else at the top, and stays within the list", () => {
    const session = ready();
    session.goto(4);
    kernel.answer();
    expect(session.texts.cursor.value).toBe(4);
    session.texts.change({ find: "it" });
    kernel.answer();
    expect(session.texts.cursor.value).toBe(0);
    session.texts.move(1);
    session.texts.move(8);
    expect(session.texts.cursor.value).toBe(2);
    session.texts.choose();
    kernel.answer();
    expect([place(session), session.texts.cursor.value]).toEqual([3, 2]);
    session.texts.move(-Infinity);
    expect(session.texts.cursor.value).toBe(0);
  });
});

test("progress is asked for again once what was finished is recorded", () => {
  const session = ready();
  session.texts.showProgress("case_id");
  kernel.answer();
  expect(session.texts.groups.value).toEqual([["p1", 6, 0]]);
  session.finish();
  kernel.answer();
  vi.advanceTimersByTime(300);
  kernel.answer();
  expect(session.texts.groups.value).toEqual([["p1", 6, 1]]);
});

describe("widget.goto", () => {
  test("takes every open view there, once what was pressed before is done", () => {
    const session = ready();
    kernel.tell({ type: "goto", place: 4, client: null, id: null });
    kernel.answer();
    expect(place(session)).toBe(4);
  });
});
