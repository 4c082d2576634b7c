// What a search found, marked and gone through in the texts and coded at once; and the passages of a code.
import { act } from "preact/test-utils";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { shelf } from "../shared/outbox";
import { Kernel, TEXTS } from "./kernel.test.kit";
import widget from "./widget.test.kit";

let kernel: Kernel;
let el: HTMLElement;
let close: () => void;

const doing = (what: () => void) => act(what);
const find = <E extends HTMLElement = HTMLElement>(selector: string) => el.querySelector<E>(selector);
const texts = (selector: string) => [...el.querySelectorAll(selector)].map(({ textContent }) => textContent);
const shown = () => find<HTMLInputElement>(".s7-goto input")!.value;
const applied = () =>
  kernel
    .acts()
    .filter(({ kind }) => kind === "apply")
    .map(({ unit_id, code, start, end }) => `${unit_id} ${code} ${start}-${end}`);

async function answer(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await doing(() => kernel.answer());
}

async function press(...keys: string[]): Promise<void> {
  for (const key of keys)
    await doing(
      () =>
        void find(".s7")!.dispatchEvent(
          new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }),
        ),
    );
}

async function look(words: string): Promise<void> {
  await doing(() => {
    const field = find<HTMLInputElement>(".s7-find")!;
    field.value = words;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  });
  await answer();
  await doing(() => find(".s7")!.focus());
}

beforeEach(async () => {
  vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(1300);
  vi.spyOn(HTMLElement.prototype, "clientHeight", "get").mockReturnValue(400);
  el = document.createElement("div");
  document.body.replaceChildren(el);
  kernel = new Kernel(TEXTS);
  await doing(() => void (close = widget.render({ model: kernel.model(), el })));
  await answer();
});

afterEach(async () => {
  await doing(() => close());
  shelf().clear();
  vi.restoreAllMocks();
});

test("hits are marked, and keys pressed in a burst select each and code it, across texts", async () => {
  await look("it");
  expect(texts(".s7-text .s7-hit")).toEqual(["It", "It"]);
  await press(")", "1", ")", "2", ")", "1", ")", "3");
  await answer();
  expect(applied()).toEqual([
    "m0 affective 0-2",
    "m0 cognitive 13-15",
    "m1 affective 0-2",
    "m3 response 16-18",
  ]);
  await press(")", "1");
  expect(find(".s7-status")!.textContent).not.toContain("Selected");
  await answer();
  await press("(", "2");
  await answer();
  expect([shown(), applied().at(-1)]).toEqual(["2", "m1 cognitive 0-2"]);
  await look("");
  expect(texts(".s7-hit")).toEqual([]);
  await press(")");
  expect(find(".s7-status")!.textContent).toBe("Find words in the list of texts first");
});

test("all hits are coded by a key for the code, one for what gets it, and Enter, in one act", async () => {
  await press("w", "1", "f");
  await answer();
  await look("it");
  await doing(() => find(".s7-counted button")!.click());
  await answer();
  const said = () => find(".s7-code-all [role=status]")!.textContent;
  expect(said()).toBe("Press the code’s key, or click the code");
  await press("m", "z", "w", "1", "w");
  expect(said()).toBe("4 hits in 3 texts; 1 has it already; 1 text is finished and stays so");
  await press("s");
  expect(said()).toBe("4 hits in 3 texts; 1 has it already; 1 text is finished and stays so");
  await press("t");
  expect(said()).toBe("3 hits in 3 texts; 1 text is finished and stays so");
  await press("w", "Enter", "Enter");
  const [first, ...others] = kernel.acts().filter(({ found }) => found);
  expect(others).toEqual([]);
  expect(first!.found).toEqual([
    { unit_id: "m0", start: 13, end: 15 },
    { unit_id: "m1", start: 0, end: 2 },
    { unit_id: "m3", start: 16, end: 18 },
  ]);
  expect(texts(".s7-text .s7-pending")).toEqual(["It"]);
  await answer();
  expect(texts(".s7-code-all")).toEqual([]);
  expect(kernel.unit(1).codings.map(({ code }) => code)).toEqual(["affective"]);
  await look("it");
  await doing(() => find(".s7-counted button")!.click());
  await answer();
  await press("1", "w", "Enter");
  expect(said()).toBe("4 hits in 3 texts; 4 have it already; 1 text is finished and stays so");
  await press("Escape");
  expect(texts(".s7-code-all")).toEqual([]);
});

test("passages of the open code lead to their coding, and Backspace back again", async () => {
  await press("w", "1", "ArrowRight");
  await answer();
  await press("1");
  await answer();
  await press('"');
  await answer();
  expect(texts(".s7-panel .s7-row-id")).toEqual(["2 · m1", "1 · m0"]);
  expect(texts(".s7-panel .s7-row-words b")).toEqual(["It"]);
  await doing(() => find(".s7-panel .s7-row:last-child")!.click());
  await answer();
  expect([shown(), texts(".s7-text .s7-active"), texts(".s7-back-to")]).toEqual([
    "1",
    ["It"],
    ["← back to 2"],
  ]);
  expect(texts('.s7-tab[aria-pressed="true"]')).toEqual(["Passages"]);
  await press("Backspace");
  await answer();
  expect([shown(), texts(".s7-back-to"), kernel.unit(0).codings.length]).toEqual(["2", [], 1]);
  await press("2");
  await answer();
  expect(texts(".s7-panel .s7-row-id")).toEqual(["2 · m1"]);
  await press('"');
  expect(texts('.s7-tab[aria-pressed="true"]')).toEqual(["Rule"]);
});
