// Correcting the words of a coding: by keys, by its ends, and by pressing its code on more or fewer words.
import { act } from "preact/test-utils";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { shelf } from "../shared/outbox";
import type { Coding } from "../shared/protocol";
import { KEPT_MS, overlapped } from "./edges";
import { Kernel } from "./kernel.test.kit";
import { withAct } from "./pending";
import widget from "./widget.test.kit";

const TEXT = "It listened to what I said.";

let kernel: Kernel;
let el: HTMLElement;
let close: (() => void) | undefined;

const answer = () => act(() => kernel.answer());
const find = <E extends HTMLElement = HTMLElement>(selector: string) => el.querySelector<E>(selector);
const quote = () => find(".s7-active-bar q")?.textContent;
const was = () => find(".s7-was")?.textContent;
const acts = () =>
  kernel
    .acts()
    .map(({ kind, code, start, end, from, facets }) =>
      [kind, code, start, end, from, facets].filter(part => part !== undefined),
    );

async function press(...keys: string[]): Promise<void> {
  for (const each of keys) {
    const [shiftKey, altKey] = [each.includes("Shift+"), each.includes("Alt+")];
    const key = each.replace(/Alt\+|Shift\+/g, "");
    await act(
      () =>
        void find(".s7")!.dispatchEvent(
          new KeyboardEvent("keydown", { key, shiftKey, altKey, bubbles: true, cancelable: true }),
        ),
    );
  }
}

/** “listened to” with a code, marked, and nothing selected. */
async function coded(): Promise<void> {
  await press("w", "w", "Shift+ArrowRight", "1", "v", "Escape");
  await answer();
  expect(quote()).toBe("“listened to”");
  kernel.acts().length = 0;
}

beforeEach(async () => {
  el = document.createElement("div");
  document.body.replaceChildren(el);
  kernel = new Kernel([TEXT, "It did not."]);
  await act(() => void (close = widget.render({ model: kernel.model(), el })));
  await answer();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
});

afterEach(async () => {
  vi.useRealTimers();
  await act(() => close?.());
  shelf().clear();
});

const MOVED = ["apply", "affective", 3, 19, { start: 3, end: 14 }, { valence: "met" }];

describe("Shift and an arrow, where a coding is marked and nothing is selected", () => {
  test("moves its end by a word, with Alt its start; it is recorded once, after a pause", async () => {
    await coded();
    const before = acts().length;
    await press("Shift+ArrowRight", "Alt+Shift+ArrowLeft", "Alt+Shift+ArrowRight");
    expect([quote(), was(), acts().length]).toEqual(["“listened to what”", "was “listened to”", before]);
    await act(() => void vi.advanceTimersByTime(KEPT_MS - 1));
    expect(acts().length).toBe(before);
    await act(() => void vi.advanceTimersByTime(1));
    expect(acts().slice(before)).toEqual([MOVED]);
    expect([quote(), was()]).toEqual(["“listened to what”", undefined]);
  });

  test("any other key records it, and does what it does; at least one word stays", async () => {
    await coded();
    const before = acts().length;
    await press("Shift+ArrowLeft", "Shift+ArrowLeft", "Shift+ArrowLeft");
    expect(quote()).toBe("“listened”");
    await press("2");
    await answer();
    expect(
      acts()
        .slice(before)
        .map(([kind, code, , end]) => [kind, code, end]),
    ).toEqual([
      ["apply", "affective", 11],
      ["apply", "cognitive", 11],
    ]);
  });

  test("Escape leaves it as it was, and a step back and forth records nothing", async () => {
    await coded();
    const before = acts().length;
    await press("Shift+ArrowRight", "Escape");
    expect([quote(), find(".s7-message")]).toEqual(["“listened to”", null]);
    await press("Shift+ArrowRight", "Shift+ArrowLeft", "ArrowRight");
    await act(() => void vi.advanceTimersByTime(KEPT_MS));
    expect(acts().length).toBe(before);
  });

  test("another text, or a widget that is closed, keeps what was moved", async () => {
    await coded();
    await press("Shift+ArrowRight", "ArrowRight");
    expect(acts().at(-1)).toEqual(MOVED);
    await answer();
    await press("ArrowLeft");
    await answer();
    await press("ArrowDown", "Shift+ArrowLeft");
    await act(() => close!());
    close = undefined;
    expect([...shelf().values()].flat().at(-1)).toMatchObject({
      kind: "apply",
      start: 3,
      end: 14,
      from: { start: 3, end: 19 },
    });
  });
});

test("the same code on words that overlap moves the coding; “Keep both” makes two of it", async () => {
  await coded();
  const before = acts().length;
  await press("w", "w", "Shift+ArrowRight", "Shift+ArrowRight", "1");
  expect(acts().slice(before)).toEqual([MOVED]);
  expect([quote(), was(), find(".s7-status")!.textContent]).toEqual([
    "“listened to what”",
    "was “listened to”",
    "Affective moved to the selection",
  ]);
  await answer();
  await act(() => find(".s7-before button")!.click());
  await answer();
  expect(
    acts()
      .slice(before + 1)
      .map(([kind]) => kind),
  ).toEqual(["undo", "apply"]);
  expect(was()).toBeUndefined();
});

test("of two that overlap the one with more of the selection moves, and the other is named", () => {
  const on = (start: number | null, end: number | null): Coding => ({
    code: "affective",
    start,
    end,
    facets: {},
    confidence: null,
  });
  const codings = [on(0, 4), on(3, 12), on(null, null), on(20, 27)];
  expect(overlapped(codings, "affective", { start: 2, end: 14 })).toEqual({ coding: codings[1], others: 1 });
  expect(overlapped(codings, "affective", { start: 12, end: 20 })).toEqual({ coding: undefined, others: 0 });
  expect(overlapped(codings, "other", { start: 0, end: 27 }).coding).toBeUndefined();
});

test("the memo on exactly these words goes along, unless another coding stands on them", () => {
  const on = (code: string): Coding => ({ code, start: 0, end: 2, facets: {}, confidence: null });
  const unit = {
    ...kernel.unit(0),
    codings: [on("affective")],
    memos: [{ memo_id: "m", start: 0, end: 2, text: "why?" }],
  };
  const moved = {
    id: "x",
    kind: "apply",
    unit_id: unit.unit_id,
    code: "affective",
    start: 0,
    end: 11,
    from: { start: 0, end: 2 },
  } as const;
  const after = withAct(unit, moved);
  expect([after.codings.map(({ end }) => end), after.memos.map(({ end }) => end)]).toEqual([[11], [11]]);
  const shared = withAct({ ...unit, codings: [on("affective"), on("cognitive")] }, moved);
  expect([shared.codings.map(({ end }) => end), shared.memos.map(({ end }) => end)]).toEqual([[11, 2], [2]]);
});
