// The survey grid without a screen: heights of rows, what is asked of the kernel, and what keys mean among
// rows.
import { afterEach, expect, test } from "vitest";
import { code } from "../shared/code.test.kit";
import { Heights } from "./gridrows";
import { closeAll, kernel, open, place, plugIn, press, ready, TEXTS } from "./kernel.test.kit";
import { Listing } from "../shared/listing";

afterEach(closeAll);

/* ---- heights ---- */

test("each row stands below the rows before it, whichever of them were measured", () => {
  const rows = Array.from({ length: 137 }, (_, place) => 20 + ((place * 37) % 90));
  const measured = new Map(
    rows.map((height, place): [number, number] => [place, height]).filter(([place]) => place % 3 > 0),
  );
  const heights = new Heights(new Listing(137), measured, 50);
  let top = 0;
  rows.forEach((height, index) => {
    const own = index % 3 ? height : 50;
    expect([heights.topOf(index), heights.heightOf(index)]).toEqual([top, own]);
    expect(heights.at(top)).toEqual({ index, offset: 0 });
    expect(heights.at(top + own - 1)).toEqual({ index, offset: own - 1 });
    top += own;
  });
  expect(heights.total).toBe(top);
  expect(heights.at(top + 10)).toEqual({ index: 136, offset: heights.heightOf(136) + 10 });
});

test("a row that is measured again moves those below it alone", () => {
  const heights = new Heights(new Listing(100_000), new Map(), 60);
  heights.set(500, 100);
  heights.set(500, 84);
  expect([heights.topOf(500), heights.topOf(501), heights.total]).toEqual([30_000, 30_084, 6_000_024]);
});

test("heights are the texts', wherever these stand in the list", () => {
  const order = { places: Uint32Array.from([2, 0, 1]), ranks: Uint32Array.from([1, 2, 0]) };
  const heights = new Heights(new Listing(3, order), new Map([[2, 90]]), 60);
  expect([0, 1, 2].map(index => heights.topOf(index))).toEqual([0, 90, 150]);
  expect(new Heights(new Listing(3, null, 1, Uint8Array.from([0b010])), new Map([[2, 90]]), 60).total).toBe(
    60,
  );
  expect(new Heights(new Listing(0)).at(0)).toEqual({ index: 0, offset: 0 });
});

/* ---- what the kernel is asked ---- */

const questions = (type: string) => kernel.received.filter(message => message.type === type);

function inGrid() {
  const session = ready();
  session.grid.show("grid");
  session.grid.want(0, 4);
  kernel.answer();
  return session;
}

test("only the rows that are drawn are asked for, one question at a time", () => {
  const session = inGrid();
  expect(questions("grid").map(({ places }) => places)).toEqual([[0, 1, 2, 3]]);
  session.grid.want(2, 5);
  session.grid.want(3, 6);
  expect(questions("grid")).toHaveLength(2);
  kernel.answer();
  expect(questions("grid").map(({ places }) => places)).toEqual([[0, 1, 2, 3], [4], [5]]);
  expect([...session.grid.units.value.keys()]).toEqual([0, 1, 2, 3, 4, 5]);
});

test("a row that is here is on screen at once when it is gone to", () => {
  const session = inGrid();
  session.step(1);
  expect([place(session), session.loading.value]).toEqual([1, false]);
});

test("what was done stands in its row, also when another window did it", () => {
  const [session, other] = [inGrid(), open()];
  kernel.answer();
  press(other, "affective");
  kernel.answer();
  expect(session.grid.units.value.get(0)!.codings.map(({ code }) => code)).toEqual(["affective"]);
});

test("variables are asked for once they are chosen, and not otherwise", () => {
  const session = inGrid();
  expect(session.grid.variables.value).toEqual(["condition"]);
  expect(questions("grid")[0]).toMatchObject({ variables: [] });
  session.grid.toggleVariable("condition");
  kernel.answer();
  expect(questions("grid").at(-1)).toMatchObject({ places: [0, 1, 2, 3], variables: ["condition"] });
  expect(session.grid.beside.value.get(1)!.variables).toEqual({ condition: "warm" });
  session.grid.toggleVariable("nowhere");
  expect(session.grid.shown.value).toEqual(["condition"]);
});

test("rows that lack a variable chosen meanwhile are asked for again", () => {
  const session = ready();
  session.grid.show("grid");
  kernel.answer();
  session.grid.want(0, 2);
  session.grid.toggleVariable("condition");
  kernel.answer();
  expect(session.grid.beside.value.get(0)!.variables).toEqual({ condition: "cold" });
});

test("a code key in the grid takes off the coding of the whole text, never one of words", () => {
  const session = inGrid();
  session.selecting.select({ start: 0, end: 2 });
  press(session, "affective");
  session.selecting.clear();
  press(session, "affective");
  press(session, "affective");
  kernel.answer();
  expect(session.unit.value!.codings.map(({ code, start }) => [code, start])).toEqual([["affective", 0]]);
});

test("a view begins as the one before it was left", () => {
  const session = inGrid();
  expect(session.grid.on.value).toBe(true);
  const next = open();
  kernel.answer();
  expect(next.grid.on.value).toBe(true);
  next.grid.show("text");
  kernel.answer();
  expect(questions("layout").map(({ layout }) => layout)).toEqual(["grid", "grid", "text"]);
  const last = open();
  kernel.answer();
  expect(last.grid.on.value).toBe(false);
});

test("what is not taken after an error is asked for again", () => {
  const session = inGrid();
  session.grid.unanswered.grid!({ type: "grid", places: [4], variables: [] }, "");
  session.grid.want(4, 5);
  kernel.answer();
  expect(session.grid.units.value.has(4)).toBe(true);
});

/* ---- keys ---- */

const key = (key: string, more = {}) => ({
  key,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  shiftKey: false,
  ...more,
});

test("arrows and free letters go through rows, in the grid alone", () => {
  const session = ready();
  const { grid } = session;
  expect([grid.meaning(key("ArrowDown"), "next_coding"), grid.meaning(key("j"), null)]).toEqual([
    "next_coding",
    null,
  ]);
  grid.show("grid");
  const means = (name: string, what: string | null) => grid.meaning(key(name), what);
  expect(means("ArrowDown", "next_coding")).toBe("next");
  expect(means("ArrowUp", "previous_coding")).toBe("back");
  expect(means("ArrowRight", "next")).toBe("next_coding");
  expect(means("ArrowLeft", "back")).toBe("previous_coding");
  expect([means("j", null), means("k", null)]).toEqual(["next", "back"]);
  expect(means("j", "code:joy")).toBe("code:joy");
  expect(means("ArrowDown", "memo")).toBe("memo"); // somebody gave it that key
  expect(means("PageDown", "scroll:PageDown")).toBe("rows:PageDown");
  expect(grid.meaning(key("ArrowDown", { shiftKey: true }), "end:sentence:1")).toBe("end:sentence:1");
});

test("a row out of sight is not changed by a key: it comes into sight first", () => {
  const { grid } = inGrid();
  grid.inSight = false;
  expect(
    ["code:affective", "finish_and_next", "unsure", "remove_coding"].map(what => grid.hides(what)),
  ).toEqual([true, true, true, true]);
  expect(["next", "undo", "help", "layout", null].map(what => grid.hides(what))).toEqual([
    false,
    false,
    false,
    false,
    false,
  ]);
  expect(grid.revealed.value).toBe(4);
  grid.inSight = true;
  expect(grid.hides("code:affective")).toBe(false);
});

test("pages of rows stop at the ends of the list", () => {
  const session = inGrid();
  session.grid.rowsInSight = 4;
  session.grid.page("PageDown");
  kernel.answer();
  expect(place(session)).toBe(4);
  session.grid.page("PageDown");
  kernel.answer();
  expect(place(session)).toBe(5);
  session.grid.page("Home");
  expect(place(session)).toBe(0);
  session.grid.page("End");
  expect(place(session)).toBe(5);
});

test("of very many rows those far from what is in view are forgotten", () => {
  plugIn(Array.from({ length: 1300 }, (_, place) => TEXTS[place % TEXTS.length]!));
  kernel.codes = [code("affective", "1")];
  const session = open();
  kernel.answer();
  session.grid.show("grid");
  for (let first = 0; first < 1300; first += 40) {
    session.grid.want(first, Math.min(1300, first + 40));
    kernel.answer();
  }
  expect(session.grid.units.value.size).toBeLessThan(1000);
  expect([...session.grid.units.value.keys()]).toEqual(expect.arrayContaining([1299]));
});
