// What was done, as a person reads it: by day, taken back step by step or back to one, and done again.
import { act } from "preact/test-utils";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { shelf } from "../shared/outbox";
import { described } from "./history";
import widget from "./widget.test.kit";
import { Kernel } from "./kernel.test.kit";
import type { HistoryRow } from "./messages";

const TEXTS = ["It listened. It cared.", "It did not.", "Only facts."];

let kernel: Kernel;
let el: HTMLElement;
let close: (() => void) | undefined;

const doing = (what: () => void) => act(what);
const answer = () => doing(() => kernel.answer());
const find = <E extends HTMLElement = HTMLElement>(selector: string) => el.querySelector<E>(selector);
const lines = () => [...el.querySelectorAll(".s7-act .s7-row-words")].map(line => line.textContent!.trim());
const struck = () =>
  [...el.querySelectorAll(".s7-taken-back .s7-row-words")].map(line => line.textContent!.trim());
const codes = (place: number) => kernel.unit(place).codings.map(({ code }) => code);

async function press(key: string, target: HTMLElement = find(".s7")!, more = {}): Promise<void> {
  await doing(
    () =>
      void target.dispatchEvent(
        new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more }),
      ),
  );
}

async function click(selector: string, words: string): Promise<void> {
  await doing(() =>
    [...el.querySelectorAll<HTMLElement>(selector)]
      .find(({ textContent }) => textContent!.includes(words))!
      .click(),
  );
}

/** The history is asked for anew a while after something was done. */
async function settled(): Promise<void> {
  await answer();
  await doing(() => new Promise<void>(done => setTimeout(done, 250)) as unknown as void);
  await answer();
}

beforeEach(async () => {
  el = document.createElement("div");
  document.body.replaceChildren(el);
  kernel = new Kernel(TEXTS);
  await doing(() => void (close = widget.render({ model: kernel.model(), el })));
  await answer();
  await press("ArrowRight", find(".s7")!, { shiftKey: true });
  await press("1");
  await press("Escape");
  await press("2");
  await answer();
  await press("ArrowRight");
  await answer();
  await press("3");
  await answer();
  await press("<");
  await answer();
});

afterEach(async () => {
  await doing(() => close?.());
  shelf().clear();
});

const list = () => find(".s7-rows")!;

describe("the history", () => {
  test("says what was done, the newest first under its day, and leads to the words of each", async () => {
    expect(lines()).toEqual([
      "applied Response to the whole text",
      "applied Cognitive to the whole text",
      "applied Affective to “It”",
    ]);
    expect(el.querySelectorAll(".s7-day")).toHaveLength(1);
    expect(document.activeElement).toBe(list());
    await press("End", list());
    await press("Enter", list());
    await answer();
    expect(find(".s7-unit-id")!.textContent).toBe("m0");
    expect(find(".s7-selected")!.textContent).toBe("It");
  });

  test("takes one step back, whatever was done after it, and does it again", async () => {
    await press("ArrowDown", list());
    await press("Delete", list());
    await settled();
    expect([codes(0), codes(1)]).toEqual([["affective"], ["response"]]);
    expect(struck()).toEqual(["applied Cognitive to the whole text"]);
    expect(find(".s7-unit-id")!.textContent).toBe("m0");
    await click(".s7-act-buttons button", "Do again");
    await settled();
    expect(codes(0)).toEqual(["affective", "cognitive"]);
    expect(struck()).toEqual([]);
  });

  test("goes back to a step only after it said what that takes back", async () => {
    await press("End", list());
    await press("b", list());
    await answer();
    expect(find(".s7-go-back")!.textContent).toContain("undoes 2 steps on 2 texts");
    expect(kernel.recorded).toHaveLength(3);
    await click(".s7-go-back button", "Take back");
    expect(kernel.acts().at(-1)!.kind).toBe("undo");
    await settled();
    expect([codes(0), codes(1)]).toEqual([["affective"], []]);
    expect(struck()).toHaveLength(2);
    await click(".s7-go-back button", "Do them again");
    await settled();
    expect([codes(0), codes(1)]).toEqual([["affective", "cognitive"], ["response"]]);
    expect(find(".s7-go-back")).toBeNull();
  });

  test("does no code's key", async () => {
    await press("1", list());
    await answer();
    expect(kernel.recorded).toHaveLength(3);
  });
});

test("each kind of act has its words", () => {
  const row: HistoryRow = {
    act_id: "a",
    kind: "apply",
    at: "",
    unit_id: "m0",
    place: 0,
    code: "c",
    on: null,
    start: null,
    end: null,
    quote: "",
    found: 0,
    also: 0,
    moved_from: null,
    facets: {},
    unsure: false,
    words: "",
    state: "stands",
    taken_back: null,
  };
  const said = (more: Partial<HistoryRow>) => described({ ...row, ...more }, () => "Care");
  expect([
    said({ facets: { valence: "met" }, unsure: true }),
    said({ start: 0, end: 2, moved_from: "it said" }),
    said({ kind: "remove", start: 0, end: 2 }),
    said({ kind: "finish" }),
    said({ kind: "reopen" }),
    said({ kind: "propose", words: "Hope" }),
    said({ kind: "memo", on: "study", words: "x", code: null }),
    said({ kind: "memo", on: "code", words: "" }),
  ]).toEqual([
    "applied Care (met, unsure) to the whole text",
    "moved Care from “it said” to",
    "removed Care from",
    "finished the text",
    "took “finished” back",
    "proposed the code “Hope”",
    "wrote a memo on the study",
    "ended the memo on the code Care",
  ]);
});
