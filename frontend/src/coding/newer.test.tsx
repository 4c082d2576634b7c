// A newer codebook, as a person takes it in: at once, or after reading what it means for their codings.
import { act } from "preact/test-utils";
import { afterEach, beforeEach, expect, test } from "vitest";
import { shelf } from "../shared/outbox";
import widget from "./widget.test.kit";
import { Kernel } from "./kernel.test.kit";

const TEXTS = ["It listened. It cared.", "It did not.", "Only facts."];

let kernel: Kernel;
let el: HTMLElement;
let close: (() => void) | undefined;

const doing = (what: () => void) => act(what);
const answer = () => doing(() => kernel.answer());
const find = <E extends HTMLElement = HTMLElement>(selector: string) => el.querySelector<E>(selector);
const words = (selector: string) => find(selector)?.textContent ?? null;
const asked = () =>
  kernel.received.filter(({ type }) => type === "take_codebook").map(({ agreed }) => agreed);

async function press(key: string, more = {}): Promise<void> {
  const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more });
  await doing(() => void find(".s7")!.dispatchEvent(event));
}

async function show(prepare: (kernel: Kernel) => void = () => {}): Promise<void> {
  kernel = new Kernel(TEXTS);
  kernel.newer = true;
  kernel.inbox = [
    { id: "newer:", what: "newer", title: "The codebook was revised", more: "", is_news: false },
  ];
  prepare(kernel);
  await doing(() => void (close = widget.render({ model: kernel.model(), el })));
  await answer();
}

beforeEach(() => {
  el = document.createElement("div");
  document.body.replaceChildren(el);
});

afterEach(async () => {
  await doing(() => close?.());
  shelf().clear();
});

test("a key takes it in: place, selection, codings and history stay, and the new code has its key", async () => {
  await show();
  await press("ArrowRight");
  await answer();
  await press("1");
  await press("ArrowRight", { shiftKey: true });
  await answer();
  await press(">");
  await answer();
  expect(asked()).toEqual([null]);
  expect(find(".s7-notice")).toBeNull();
  expect([
    words(".s7-unit-id"),
    words(".s7-selected"),
    words(".s7-active-bar strong .s7-whole-name"),
  ]).toEqual(["m1", "It", "Affective"]);
  expect(words(".s7-status")).toContain("‘Hope’ is new");
  await press("9");
  await answer();
  expect(kernel.unit(1).codings.map(({ code, start }) => [code, start])).toEqual([
    ["affective", null],
    ["hope", 0],
  ]);
  await press("z");
  await press("z");
  await answer();
  expect(kernel.unit(1).codings).toEqual([]);
});

test("one that changes what codings mean says so first, and is taken in or not", async () => {
  await show(on => (on.meaning = ["‘Affective’ is gone.", "Your 2 codings with it count no more."]));
  await press(">");
  await answer();
  expect(words(".s7-meaning ul")).toBe("‘Affective’ is gone.Your 2 codings with it count no more.");
  expect(words(".s7-codebook")).toContain("Affective");
  await press("Escape");
  expect(find(".s7-meaning")).toBeNull();
  expect(asked()).toEqual([null]);
  await press(">");
  await answer();
  await doing(() => find(".s7-meaning .s7-take")!.click());
  await answer();
  expect(asked()).toEqual([null, null, "f3"]);
  expect([find(".s7-notice"), words(".s7-codebook")!.includes("Affective")]).toEqual([null, false]);
});

test("what is on its way is recorded first, and so is a memo that is being written", async () => {
  await show();
  await doing(() => find(".s7-inbox-button")!.click());
  await answer();
  await doing(() => find(".s7")!.focus());
  await press("1", { altKey: true });
  await press("M");
  await doing(() => {
    find<HTMLTextAreaElement>(".s7-memo-form textarea")!.value = "why?";
    find(".s7-memo-form textarea")!.dispatchEvent(new Event("input", { bubbles: true }));
  });
  await doing(() => find(".s7-item")!.click());
  expect(asked()).toEqual([]);
  expect(words(".s7-status")).toContain("once everything is saved");
  await answer();
  expect(kernel.freeMemos().map(({ text }) => text)).toEqual(["why?"]);
  expect(asked()).toEqual([null]);
});

test("what is not saved stays, and the codebook that it belongs to as well", async () => {
  await show(on => (on.fate = "failed"));
  await press("1");
  await answer();
  await press(">");
  await answer();
  expect([asked(), words(".s7-unsaved")]).toEqual([[], expect.stringContaining("Not saved")]);
});

test("where there is none, the key says so", async () => {
  await show(on => (on.newer = false));
  await press(">");
  expect([asked(), words(".s7-status")]).toEqual([[], "You already have the current codebook"]);
});
