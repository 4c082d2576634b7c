// Codes beyond the keys: found by a letter or two, used again by a key of their own, read while others are
// used.
import { act } from "preact/test-utils";
import { afterEach, beforeEach, expect, test } from "vitest";
import { code } from "../shared/code.test.kit";
import { shelf } from "../shared/outbox";
import widget from "./widget.test.kit";
import { Kernel, TEXTS } from "./kernel.test.kit";

let kernel: Kernel;
let el: HTMLElement;
let close: () => void;

const doing = (what: () => void) => act(what);
const find = <E extends HTMLElement = HTMLElement>(selector: string) => el.querySelector<E>(selector);
const texts = (selector: string) => [...el.querySelectorAll(selector)].map(({ textContent }) => textContent);
const field = () => find<HTMLInputElement>(".s7-filter")!;
const recorded = () =>
  kernel.recorded.map(({ kind, unit_id, code }) => [kind, unit_id, code].filter(Boolean).join(" "));

async function answer(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await doing(() => kernel.answer());
}

/** Press keys where the focus is, as a browser does: in a field letters write. */
async function press(...keys: string[]): Promise<void> {
  for (const key of keys) await doing(() => send(key));
}

function send(key: string, more: KeyboardEventInit = {}): void {
  const target = document.activeElement as HTMLElement;
  const event = new KeyboardEvent("keydown", {
    key,
    bubbles: true,
    cancelable: true,
    composed: true,
    ...more,
  });
  target.dispatchEvent(event);
  if (event.defaultPrevented || key.length > 1 || target !== field()) return;
  field().value += key;
  field().dispatchEvent(new Event("input", { bubbles: true }));
}

const goTo = (place: string) =>
  doing(() => {
    find<HTMLInputElement>(".s7-goto input")!.value = place;
    find(".s7-goto input")!.dispatchEvent(new Event("change", { bubbles: true }));
  });

beforeEach(async () => {
  el = document.createElement("div");
  document.body.replaceChildren(el);
  kernel = new Kernel(TEXTS);
  kernel.codes = [
    ...kernel.codes,
    code("joy", null),
    { ...code("cu", null), label: "Constant Use" },
    code("jolt", null),
  ];
  await doing(() => void (close = widget.render({ model: kernel.model(), el })));
  await answer();
  find(".s7")!.focus();
});

afterEach(async () => {
  await doing(() => close());
  shelf().clear();
});

test("a letter or two and Enter apply the code, and the focus is back on the text", async () => {
  await press("/", "c", "u");
  expect(texts(".s7-chosen .s7-label")).toEqual(["Constant Use"]);
  expect(field().getAttribute("aria-activedescendant")).toBe(find(".s7-chosen")!.id);
  await press("Enter");
  expect([document.activeElement, field().value]).toEqual([find(".s7"), ""]);
  await press("1");
  await answer();
  expect(recorded()).toEqual(["apply m0 cu", "apply m0 affective"]);
});

test("↓ chooses the next match; Escape leaves without applying", async () => {
  await press("/", "j", "ArrowDown");
  expect(texts(".s7-chosen .s7-label")).toEqual(["Jolt"]);
  await press("Enter", "/", "j", "Escape");
  expect([document.activeElement, field().value, texts(".s7-chosen")]).toEqual([find(".s7"), "", []]);
  await answer();
  expect(recorded()).toEqual(["apply m0 jolt"]);
});

test("a code that stands already is shown so, and Enter does not remove it", async () => {
  await press("/", "j", "o", "y", "Enter", "/", "j", "o", "y");
  expect(find(".s7-chosen")!.dataset.stands).toBe("true");
  await press("Enter");
  await answer();
  expect(recorded()).toEqual(["apply m0 joy"]);
});

test("what is typed while the text loads codes that text, before it is finished", async () => {
  await goTo("6");
  await press("/", "j", "ArrowDown", "o", "ArrowDown", "Enter", "Enter");
  expect(kernel.acts()).toEqual([]);
  await answer();
  expect(recorded()).toEqual(["apply m5 jolt", "finish m5"]);
});

test("a code looked for on one text is not applied to another that came since", async () => {
  await press("/", "j", "o", "y");
  await goTo("2");
  await answer();
  await press("Enter");
  await answer();
  expect(recorded()).toEqual([]);
  expect(find(".s7-message")!.textContent).toMatch(/^One key press was ignored/);
});

test("what was used last is shown with a key, which applies it again", async () => {
  expect(find(".s7-recent")).toBeNull();
  await press("/", "j", "o", "y", "Enter", "ArrowRight");
  expect(texts(".s7-recent .s7-code")).toEqual(["Jjoy"]);
  await doing(() => send("J"));
  await doing(() => send("J", { shiftKey: true }));
  await press("ArrowRight");
  await doing(() => find(".s7-recent .s7-code")!.click());
  await answer();
  expect(recorded()).toEqual(["apply m0 joy", "apply m1 joy", "apply m2 joy"]);
});

test("a pinned definition stays while others are used; Alt with a key shows another until the next press", async () => {
  const open = () => texts(".s7-detail h4")[0];
  await press("2", "-");
  expect([open(), find(".s7-pin")!.getAttribute("aria-pressed")]).toEqual(["Cognitive", "true"]);
  await press("1");
  expect(open()).toBe("Cognitive");
  await doing(() => send("3", { altKey: true }));
  expect(open()).toBe("Response");
  await press("ArrowRight");
  expect(open()).toBe("Cognitive");
  await doing(() => find(".s7-pin")!.click());
  await press("1");
  expect(open()).toBe("Affective");
});

test("a codebook where each code has its key shows neither the field nor what was used last", async () => {
  await doing(() => close());
  kernel = new Kernel(TEXTS);
  await doing(() => void (close = widget.render({ model: kernel.model(), el })));
  await answer();
  find(".s7")!.focus();
  await press("1", "2");
  expect([find(".s7-recent"), field().classList.contains("s7-seldom")]).toEqual([null, true]);
  // Its key works all the same: the letters after it must not mean commands and codes.
  await press("/", "r", "e", "Enter");
  await answer();
  expect(recorded()).toEqual(["apply m0 affective", "apply m0 cognitive", "apply m0 response"]);
});
