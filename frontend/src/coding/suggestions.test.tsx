// A model's suggestions as a person sees them: nothing before a text is finished, answered by keys, and Enter
// goes on.
import { act } from "preact/test-utils";
import { afterEach, beforeEach, expect, test } from "vitest";
import { shelf } from "../shared/outbox";
import widget from "./widget.test.kit";
import { Kernel, TEXTS } from "./kernel.test.kit";
import type { Suggestion } from "./messages";

let kernel: Kernel;
let el: HTMLElement;
let close: (() => void) | undefined;

const find = <E extends HTMLElement = HTMLElement>(selector: string) => el.querySelector<E>(selector);
const answer = () => act(() => kernel.answer());
const asked = () => kernel.received.filter(({ type }) => type === "suggestions").map(({ place }) => place);
const here = () => find(".s7-unit-id")!.textContent;
const acts = (kind: string) =>
  kernel.received.filter(({ type, act }) => type === "act" && act?.kind === kind).map(({ act }) => act!);
const states = () =>
  [...el.querySelectorAll(".s7-suggestion")].map(row => row.className.replace(/s7-suggestion-?/g, "").trim());

async function press(...keys: string[]): Promise<void> {
  for (const key of keys)
    await act(
      () =>
        void find(".s7")!.dispatchEvent(
          new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }),
        ),
    );
  await answer();
}

const suggested = (code: string, start: number | null, end: number | null): Suggestion => ({
  code,
  probability: 0.8,
  start,
  end,
  state: "none",
});

beforeEach(async () => {
  el = document.createElement("div");
  document.body.append(el);
  kernel = new Kernel(TEXTS);
  kernel.suggest = "finished";
  kernel.suggestions = {
    0: [suggested("affective", 0, 2), suggested("cognitive", null, null)],
    1: [],
    2: [suggested("affective", 0, 2)],
  };
  await act(() => void (close = widget.render({ model: kernel.model(), el })));
  await answer();
  find(".s7")!.focus();
});

afterEach(() => {
  close?.();
  el.remove();
  shelf().clear();
});

test("nothing is asked before a text is finished, and Enter stays while something is suggested", async () => {
  expect(asked()).toEqual([]);
  await press("Enter");
  expect(here()).toBe("m0");
  expect(asked()).toEqual([0]);
  expect(states()).toEqual(["none s7-current", "none"]);
  expect(find(".s7-suggestion")!.textContent).toContain("80 %");
  expect(find(".s7-suggestion-words")!.textContent).toBe(`“${TEXTS[0]!.slice(0, 2)}”`);
  expect(find(".s7-suggestion-near")!.textContent).toContain("“as I coded before”");
  await press("Enter"); // on, to the next: of that one nothing is suggested
  expect(here()).toBe("m1");
  await press("Enter");
  expect(here()).toBe("m2");
  expect(find(".s7-suggestions")).toBeNull();
});

test("two presses at once answer two suggestions, and undo opens the last one again", async () => {
  await press("Enter");
  await press("*", "!");
  expect(acts("apply")).toMatchObject([{ code: "affective", start: 0, end: 2 }]);
  expect(acts("reject_suggestion")).toMatchObject([{ code: "cognitive", unit_id: "m0" }]);
  expect(states()).toEqual(["accepted", "rejected"]);
  await press("!");
  expect(find(".s7-status")!.textContent).toContain("There is no suggestion to reject");
  expect(acts("reject_suggestion").length).toBe(1);
  await press("z");
  expect(states()).toEqual(["accepted", "none s7-current"]);
});

test("what is worked out too late is asked for again once it is there, and a model that fails is named", async () => {
  kernel.late.add(0);
  await press("Enter");
  expect(here()).toBe("m0");
  expect(find(".s7-suggestions-wait")!.textContent).toContain("Looking for suggestions");
  kernel.late.clear();
  await act(() => kernel.tell({ type: "suggested", place: 0, id: null, client: null }));
  await answer();
  expect(states().length).toBe(2);
  kernel.failing = true;
  await press("Enter");
  await press("Enter");
  expect(here()).toBe("m1");
  expect(find(".s7-suggestions-wait")!.textContent).toBe("No suggestions: the model failed (KeyError)");
  await press("Enter");
  expect(here()).toBe("m2");
});

test("codes that a model found absent are dimmed, can be pressed as ever, and nothing is recorded of it", async () => {
  const dimmed = () => [...el.querySelectorAll<HTMLElement>(".s7-dimmed")].map(row => row.dataset.code);
  kernel.absent = { 0: ["cognitive", "response"], 1: ["affective"] };
  expect(dimmed()).toEqual([]);
  await press("Enter");
  expect(dimmed()).toEqual(["cognitive", "response"]);
  expect(find(".s7-status")!.textContent).toContain(
    "2 codes are suggested; 2 dimmed: a model found them absent; apply them where they fit",
  );
  expect(kernel.received.filter(({ type }) => type === "act").length).toBe(1); // the finishing itself
  const code = find<HTMLButtonElement>(".s7-dimmed[data-code=cognitive]")!;
  expect([code.disabled, code.title]).toEqual([
    false,
    "A model found this code absent here. Apply it where it fits.",
  ]);
  await act(() => code.click());
  await answer();
  expect(acts("apply")).toMatchObject([{ code: "cognitive", unit_id: "m0" }]);
  expect(dimmed()).toEqual(["response"]); // what is applied looks as ever
  await press("Enter");
  expect([here(), dimmed()]).toEqual(["m1", []]); // of a text that is not finished nothing is known
});
