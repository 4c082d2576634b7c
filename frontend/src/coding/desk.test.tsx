// The desk as a person sees it: what the next key acts on, what the panel shows, and what Escape shuts.
import { act } from "preact/test-utils";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { shelf } from "../shared/outbox";
import { Kernel } from "./kernel.test.kit";
import widget from "./widget.test.kit";

let kernel: Kernel;
let el: HTMLElement;
let close: (() => void) | undefined;

const answer = () => act(() => kernel.answer());
const find = <E extends HTMLElement = HTMLElement>(selector: string) => el.querySelector<E>(selector);
const texts = (selector: string) => [...el.querySelectorAll(selector)].map(found => found.textContent);
const bar = () => [find(".s7-active-bar .s7-whole-name")?.textContent, find(".s7-active-bar q")?.textContent];
const tab = () => find(".s7-tab[aria-pressed=true]")?.textContent;

async function press(...keys: string[]): Promise<void> {
  for (const key of keys) {
    await act(
      () =>
        void find(".s7")!.dispatchEvent(
          new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }),
        ),
    );
    await answer();
  }
}

beforeEach(async () => {
  el = document.createElement("div");
  document.body.replaceChildren(el);
  kernel = new Kernel(["It listened. It cared.", "It did not."]);
  await act(() => void (close = widget.render({ model: kernel.model(), el })));
  await answer();
});

afterEach(async () => {
  await act(() => close?.());
  shelf().clear();
  vi.restoreAllMocks();
});

describe("the bar", () => {
  test("says what to do where nothing is coded, then what the next key acts on", async () => {
    expect(find(".s7-active-bar")!.textContent).toContain("Press a code’s key");
    await press("1", "w", "2");
    expect(bar()).toEqual(["Cognitive", "“It”"]);
    await press("ArrowUp");
    expect(bar()).toEqual(["Affective", "whole text"]);
    await press("u");
    expect(kernel.recorded.at(-1)).toMatchObject({ code: "affective", confidence: "unsure" });
    await press("Delete");
    expect(bar()).toEqual(["Cognitive", "“It”"]);
    await press("u");
    expect(kernel.recorded.at(-1)).toMatchObject({ code: "cognitive", confidence: "unsure" });
  });

  test("marks with a click on a chip or a label", async () => {
    await press("1", "w", "2");
    await act(() => find(".s7-whole li button")!.click());
    expect(bar()).toEqual(["Affective", "whole text"]);
    await act(() => find(".s7-margin li button")!.click());
    expect(bar()).toEqual(["Cognitive", "“It”"]);
    expect(texts(".s7-margin li.s7-active strong")).toEqual(["cognitive"]);
  });
});

test("the arrows go through the codings as they are read: the whole text first, then from left to right", async () => {
  await press("w", "w", "1", "Escape", "w", "2", "Escape", "3");
  const heard: (string | null)[] = [];
  for (let n = 0; n < 3; n++) {
    await press("ArrowDown");
    heard.push(find(".s7-status")!.textContent);
  }
  expect(heard).toEqual([
    "2 of 3, Cognitive: It",
    "3 of 3, Affective: listened",
    "1 of 3, Response: the whole text",
  ]);
});

describe("the panel", () => {
  test("shows the rule; what was opened last in its place, and the tabs lead back", async () => {
    expect([tab(), !!find(".s7-detail")]).toEqual(["Rule", true]);
    await press("w", "m");
    await act(() => {
      const field = find<HTMLTextAreaElement>(".s7-memo-form textarea")!;
      field.value = "why?";
      field.dispatchEvent(new Event("input", { bubbles: true }));
    });
    await press("Escape");
    await act(() => find(".s7-tab:nth-child(3)")!.click());
    expect([tab(), texts(".s7-memo-row")]).toEqual(["Memos 1", ["✎ “It” why?"]]);
    await press("ArrowRight");
    expect([tab(), texts(".s7-tab")]).toEqual(["Rule", ["Rule", "Passages"]]);
  });

  test("is a sheet where there is one column, which Escape shuts before anything else", async () => {
    await act(() => close!());
    vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(465);
    await act(() => void (close = widget.render({ model: kernel.model(), el })));
    await answer();
    await press("w", "1");
    expect(find(".s7-open-panel")).toBeNull();
    await act(() => find(".s7-active-bar strong")!.click());
    expect(find(".s7-open-panel .s7-detail")).not.toBeNull();
    await press("Escape");
    expect(find(".s7-open-panel")).toBeNull();
  });
});
