// Colleagues' codings in one view: asked for by a key, nothing while the round is blind, drawn apart from
// one's own.
import { act } from "preact/test-utils";
import { afterEach, beforeEach, expect, test } from "vitest";
import { shelf } from "../shared/outbox";
import widget from "./widget.test.kit";
import { Kernel, TEXTS } from "./kernel.test.kit";
import type { Beside } from "./messages";

let kernel: Kernel;
let el: HTMLElement;
let close: (() => void) | undefined;

const coding = (code: string, start: number | null, end: number | null) => ({
  code,
  start,
  end,
  facets: {},
  confidence: null,
});
const BEN: Beside = {
  coder: "ben",
  finished: true,
  codings: [coding("affective", 3, 11), coding("response", null, null)],
  signs: { affective: "both", cognitive: "own", response: "theirs" },
};
const CLEO: Beside = { coder: "cleo", finished: false, codings: [coding("cognitive", 3, 11)], signs: {} };

const find = <E extends HTMLElement = HTMLElement>(selector: string) => el.querySelector<E>(selector);
const all = (selector: string) => [...el.querySelectorAll(selector)].map(found => found.textContent);
const answer = () => act(() => kernel.answer());
const asked = (type: string) => kernel.received.filter(message => (message.type as string) === type);

async function press(key: string): Promise<void> {
  await act(
    () =>
      void find(".s7")!.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true })),
  );
  await answer();
}

async function show(): Promise<void> {
  kernel = new Kernel(TEXTS);
  kernel.round = "open";
  kernel.colleagues = { 0: [BEN, CLEO] };
  await act(() => void (close = widget.render({ model: kernel.model(), el })));
  await answer();
  find(".s7")!.focus();
}

beforeEach(async () => {
  el = document.createElement("div");
  document.body.append(el);
  await show();
});

afterEach(() => {
  close?.();
  el.remove();
  shelf().clear();
});

test("nothing is asked before the key, and in a blind round nothing is shown after it", async () => {
  expect(asked("beside")).toEqual([]);
  kernel.round = "blind";
  await press("=");
  expect(find(".s7-status")!.textContent).toMatch(/^This round is blind/);
  await press("ArrowRight");
  expect(asked("beside")).toEqual([]);
  expect(el.textContent).not.toContain("ben");
  expect(find(".s7-colleagues-buttons")).toBeNull();
});

test("codings of words stand in the margin in a lane of their coder's, and a click selects the words", async () => {
  await press("1");
  const before = find(".s7-text")!.textContent;
  await press("=");
  expect(find(".s7-text")!.textContent).toBe(before);
  expect(all(".s7-lane-name")).toEqual(["you", "ben", "cleo"]);
  const theirs = [...el.querySelectorAll<HTMLElement>(".s7-of-colleague")];
  expect(theirs.map(({ title }) => title)).toEqual(["ben: Affective: listened", "cleo: Cognitive: listened"]);
  expect(all(".s7-coding strong")).toEqual(["affective"]); // one's own list is one's own
  await act(() => theirs[0]!.click());
  expect(all(".s7-selected")).toEqual(["listened"]);
  await press("=");
  expect([find(".s7-of-colleague"), find(".s7-lane-name")]).toEqual([null, null]);
});

test("code by code it is seen what is the same, mine alone, theirs alone, and what is not finished", async () => {
  await press("=");
  expect(all(".s7-coders thead th")).toEqual(["Code", "ana (you) not finished", "ben", "cleo not finished"]);
  const rows = [...el.querySelectorAll(".s7-coders tbody tr")].map(row =>
    [...row.children].map(cell => cell.textContent),
  );
  expect(rows).toEqual([
    ["1 affective", "–", "=", "–"],
    ["2 cognitive", "–", "−", "✓"],
    ["3 response", "–", "+", "–"],
  ]);
});

test("another key goes from all to each, and the next text is asked for", async () => {
  await press("=");
  await press(";");
  expect(all(".s7-coders thead th")).toEqual(["Code", "ana (you) not finished", "ben"]);
  await press(";");
  expect(all(".s7-coders thead th")[2]).toContain("cleo");
  await press(";");
  expect(all(".s7-coders thead th").length).toBe(4);
  await press("ArrowRight");
  expect(asked("beside").map(({ place }) => place)).toEqual([0, 1]);
  expect(find(".s7-coders")).toBeNull();
});

test("one's own act asks afresh how they agree; theirs are never changed", async () => {
  await press("=");
  await press("2");
  expect(asked("beside").length).toBe(2);
  expect(kernel.acts().map(({ kind, code }) => [kind, code])).toEqual([["apply", "cognitive"]]);
});

test("by mouse: a button, and one for the next; the filter is offered once the round is open", async () => {
  const click = async (selector: string) => {
    await act(() => find(selector)!.click());
    await answer();
  };
  await act(() =>
    [...el.querySelectorAll<HTMLElement>(".s7-tab")].find(tab => tab.textContent === "Compare")!.click(),
  );
  await answer();
  expect(find(".s7-coders")).not.toBeNull();
  await click(".s7-colleagues-buttons button:nth-child(2)");
  expect(find(".s7-colleagues-buttons")!.textContent).toBe("Colleaguesben ▸");
  await press(",");
  expect(all("select[aria-label='Which texts'] option")).toContain("Different from a colleague");
});

test("where the round is blind the filter is not offered", async () => {
  kernel.round = "blind";
  await press("=");
  await press(",");
  expect(all("select[aria-label='Which texts'] option")).not.toContain("Different from a colleague");
});
