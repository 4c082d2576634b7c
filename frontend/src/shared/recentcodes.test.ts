// What was used last, and the keys given to it.
import { expect, test } from "vitest";
import { code } from "./code.test.kit";
import { MOST_RECENT, RecentCodes } from "./recentcodes";

const use = (recent: RecentCodes, ...ids: string[]) => ids.forEach(id => recent.use(code(id, null), ["T"]));

test("the last distinct ones keep their places; a new one takes that of the one used longest ago", () => {
  const recent = new RecentCodes();
  const ids = ["a", "b", "c", "d", "e", "f"];
  expect(ids).toHaveLength(MOST_RECENT);
  use(recent, ...ids, "a", "c");
  expect(recent.ids.value).toEqual(ids);
  use(recent, "g");
  expect(recent.ids.value).toEqual(["a", "g", "c", "d", "e", "f"]);
  use(recent, "h", "g", "i");
  expect(recent.ids.value).toEqual(["a", "g", "c", "h", "i", "f"]);
});

test("a code without a key gets a capital letter of its label, which stays its own for the sitting", () => {
  const recent = new RecentCodes();
  use(recent, "trust", "tact", "rat", "ثقة");
  const keys = { trust: "R", tact: "A", rat: "B", ثقة: "C" };
  expect(Object.fromEntries(recent.keys.value)).toEqual(keys);
  use(recent, "one", "two", "three", "four", "five", "six", "seven", "trust");
  expect(Object.fromEntries(recent.keys.value)).toMatchObject(keys);
});

test("a code with a key keeps it, and where no letter is free a code has none", () => {
  const recent = new RecentCodes();
  recent.use(code("joy", "1"), []);
  expect(recent.keys.value.size).toBe(0);
  recent.use(code("care", null), [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"]);
  expect([recent.keys.value.size, recent.ids.value]).toEqual([0, ["joy", "care"]]);
});
