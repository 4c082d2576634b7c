// Which text comes next in a list of chosen texts, against a plain list of places.
import { expect, test } from "vitest";
import { bytes, isSet, Listing, orderOf } from "./listing";

const base64 = (values: Uint8Array) => btoa(String.fromCharCode(...values));
const bits = (total: number, places: number[]) => {
  const set = new Uint8Array(Math.ceil(total / 8));
  places.forEach(place => (set[place >> 3]! |= 1 << (place & 7)));
  return set;
};
const listed = (listing: Listing) => Array.from({ length: listing.length }, (_, index) => listing.at(index));
const order = (places: number[]) => orderOf(base64(new Uint8Array(Uint32Array.from(places).buffer)));

test("bits and places come through base64 as they went in", () => {
  const set = bytes(base64(bits(20, [0, 7, 8, 19])));
  expect(Array.from({ length: 20 }, (_, place) => place).filter(place => isSet(set, place))).toEqual([
    0, 7, 8, 19,
  ]);
  expect([...order([70_000, 2, 300, 1].map((_, rank) => [3, 0, 2, 1][rank]!)).places]).toEqual([3, 0, 2, 1]);
  expect([...order([3, 0, 2, 1]).ranks]).toEqual([1, 3, 2, 0]);
});

test("all texts in the order of the plan", () => {
  const all = new Listing(3);
  expect([listed(all), all.n, all.at(3), all.at(-1)]).toEqual([[0, 1, 2], 3, undefined, undefined]);
  expect([all.beside(0, -1), all.beside(1, 1), all.beside(2, 1)]).toEqual([undefined, 2, undefined]);
  expect([[...all.after(1, true)], [...all.after(1, false)], [...all.after(-1, true)]]).toEqual([
    [2, 0, 1],
    [2],
    [0, 1, 2],
  ]);
  expect(listed(new Listing(0))).toEqual([]);
});

test.each([
  [[0, 1, 2, 3, 4, 5], null],
  [
    [4, 1, 5, 0, 3, 2],
    [4, 1, 5, 0, 3, 2],
  ],
])("of chosen texts in the order %s, each other text has its neighbours among them", (places, shuffled) => {
  const chosen = [1, 3, 4];
  const listing = new Listing(6, shuffled && order(shuffled), 3, bits(6, chosen));
  const expected = places.filter(place => chosen.includes(place));
  expect(listed(listing)).toEqual(expected);
  for (const place of places) {
    const rank = places.indexOf(place);
    const before = expected.filter(one => places.indexOf(one) < rank);
    const behind = expected.filter(one => places.indexOf(one) > rank);
    expect([listing.beside(place, -1), listing.beside(place, 1)]).toEqual([before.at(-1), behind[0]]);
    expect([...listing.after(place, false)]).toEqual(behind);
    expect([...listing.after(place, true)]).toEqual([
      ...behind,
      ...expected.filter(one => !behind.includes(one)),
    ]);
    expect(listing.has(place)).toBe(chosen.includes(place));
    if (listing.has(place)) expect(listing.at(listing.indexOf(place))).toBe(place);
  }
});

test("asked for again, what fits no more stays in its place and is not counted", () => {
  const before = new Listing(6, null, 3, bits(6, [1, 3, 4]));
  const after = before.renewed(6, 2, bits(6, [1, 5]));
  expect([listed(after), after.n]).toEqual([[1, 3, 4, 5], 2]);
  expect([1, 3, 4, 5].filter(place => isSet(after.fits, place))).toEqual([1, 5]);
  expect(listed(before.renewed(6, 6, null))).toEqual([0, 1, 2, 3, 4, 5]);
});
