// The second key: facets of the marked coding, by keys and by the mouse.
import { act } from "preact/test-utils";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { shelf } from "../shared/outbox";
import type { Facet } from "../shared/protocol";
import widget from "./widget.test.kit";
import { facet, Kernel } from "./kernel.test.kit";

const TWO = [
  facet("valence", { met: "m", unmet: "u" }),
  facet("intensity", { low: "l", middle: "2", high: "h" }, ["affective"]),
];

let kernel: Kernel;
let el: HTMLElement;
let close: (() => void) | undefined;

const doing = (what: () => void) => act(what);
const find = (selector: string) => el.querySelector<HTMLElement>(selector);
const texts = (selector: string) => [...el.querySelectorAll(selector)].map(found => found.textContent);
const said = () => find(".s7-status")!.textContent;
/** What the record has of the codings on the text, by code. */
const recorded = () => Object.fromEntries(kernel.unit(0).codings.map(({ code, facets }) => [code, facets]));
const words = () => kernel.unit(0).codings.map(({ code, start, end }) => `${code} ${start}–${end}`);

async function press(...keys: string[]): Promise<void> {
  for (const each of keys) {
    const [key, shiftKey] = [each.replace("Shift+", ""), each.includes("Shift+")];
    const event = new KeyboardEvent("keydown", { key, shiftKey, bubbles: true, cancelable: true });
    await doing(() => void find(".s7")!.dispatchEvent(event));
  }
  await doing(() => kernel.answer());
}

async function show(facets: Facet[]): Promise<void> {
  kernel = new Kernel(["It listened.", "It did not."]);
  kernel.facets = facets;
  await doing(() => void (close = widget.render({ model: kernel.model(), el })));
  await doing(() => kernel.answer());
}

beforeEach(() => {
  el = document.createElement("div");
  document.body.replaceChildren(el);
});

afterEach(async () => {
  await doing(() => close?.());
  shelf().clear();
});

describe("by keys", () => {
  test("the second key shows each facet's values with their keys, the next one sets a value", async () => {
    await show(TWO);
    await press("1", "v");
    expect(texts(".s7-strip-name")).toEqual(["Valence", "Intensity"]);
    expect(texts(".s7-strip kbd")).toEqual(["m", "u", "l", "2", "h"]);
    expect(said()).toBe(
      "Facets of Affective. Valence: m met, u unmet. Intensity: l low, 2 middle, h high. Press Escape to close.",
    );
    await press("u");
    expect(find(".s7-strip")).toBeNull();
    expect(recorded()).toEqual({ affective: { valence: "unmet" } });
    expect(said()).toBe("Affective: Valence unmet");
    await press("v", "2");
    expect(recorded()).toEqual({ affective: { valence: "unmet", intensity: "middle" } });
  });

  test("the key of the value that is set takes it away, and leaves the other facet", async () => {
    await show(TWO);
    await press("1", "v", "m", "v", "h", "v", "m");
    expect(recorded()).toEqual({ affective: { intensity: "high" } });
    expect(said()).toBe("Affective: Valence none");
  });

  test("a code shows the facets that are for it alone", async () => {
    await show(TWO);
    await press("2", "v");
    expect(texts(".s7-strip-name")).toEqual(["Valence"]);
    await press("h");
    expect(said()).toBe("No facet has a value with the key h");
    expect(recorded()).toEqual({ cognitive: {} });
  });

  test("where no facet is for the code, that is said", async () => {
    await show([facet("intensity", { low: "l" }, ["affective"])]);
    await press("2", "v");
    expect(said()).toBe("Cognitive has no facets");
  });

  test("while the strip is open, a character is no memo or undo, and Escape or the same key closes", async () => {
    await show(TWO);
    await press("1", "v", "m", "v", "z");
    expect(said()).toBe("No facet has a value with the key z");
    await press("Escape");
    expect(find(".s7-strip")).toBeNull();
    expect(recorded()).toEqual({ affective: { valence: "met" } });
    await press("v", "m");
    await press("v");
    expect(find(".s7-strip")).not.toBeNull();
    await press("v");
    expect(find(".s7-strip")).toBeNull();
    await press("2");
    expect(recorded()).toEqual({ affective: {}, cognitive: {} });
  });

  test("a code's key that is no value's ends the question and applies the code, or takes its own away", async () => {
    await show(TWO);
    await press("1", "v", "3");
    expect([find(".s7-strip"), recorded()]).toEqual([null, { affective: {}, response: {} }]);
    await press("v", "3");
    expect([find(".s7-strip"), recorded()]).toEqual([null, { affective: {} }]);
  });

  test.each([
    ["a word", ["w"], "cognitive 3–11"],
    ["the word before", ["w", "W"], "cognitive 0–2"],
    ["a sentence", ["s"], "cognitive 0–12"],
    ["letters", [" ", "j", "Enter"], "cognitive 3–11"],
    ["an end of the words", ["Shift+ArrowRight"], "cognitive 0–11"],
    ["another coding", ["ArrowUp"], "cognitive 0–2"],
  ])(
    "%s: what is selected by key ends the question, and the next code goes there",
    async (_, keys, coded) => {
      await show(TWO);
      await press("w", "1", "v", ...keys, "2");
      expect(find(".s7-strip")).toBeNull();
      expect(words()).toContain(coded);
      expect(recorded()).toEqual({ affective: {}, cognitive: {} });
    },
  );

  test.each(["0–12", "none"])(
    "what is selected by mouse (%s) ends the question, and the next code goes there, 9 of 9",
    async selected => {
      await show(TWO);
      for (let n = 0; n < 9; n++) {
        await press("w", "1", "v");
        expect(find(".s7-strip")).not.toBeNull();
        const box = find(".s7-text")!;
        await doing(() => {
          box.dispatchEvent(new MouseEvent("pointerdown", { bubbles: true, composed: true }));
          if (selected !== "none") document.getSelection()!.selectAllChildren(box);
          document.dispatchEvent(new MouseEvent("pointerup"));
        });
        await doing(() => new Promise(resolve => setTimeout(resolve, 5)));
        expect(find(".s7-strip")).toBeNull();
        await press("2");
        expect(words()).toEqual([
          "affective 0–2",
          selected === "none" ? "cognitive null–null" : "cognitive 0–12",
        ]);
        await press("z", "z", "Escape", "Escape");
        expect([find(".s7-strip"), words()]).toEqual([null, []]);
      }
    },
  );

  test("keys that write nothing do what they do elsewhere, and the strip closes", async () => {
    await show(TWO);
    await press("1", "v", "Enter");
    expect(kernel.unit(0).finished).toBe(true);
    expect(find(".s7-strip")).toBeNull();
  });

  test("without a coding there is nothing to say more of", async () => {
    await show(TWO);
    await press("v");
    expect(said()).toBe("Apply a code first");
    expect(find(".s7-strip")).toBeNull();
  });

  test("in a burst on a text that loads, the second key waits for the first", async () => {
    await show(TWO);
    await press("ArrowRight");
    await press("ArrowLeft", "1", "v", "u");
    expect(recorded()).toEqual({ affective: { valence: "unmet" } });
  });

  test("one facet without keys goes round, as the help says where there are facets", async () => {
    await show([facet("valence", { met: null, unmet: null })]);
    await press("?");
    expect(find(".s7-help")!.textContent).toContain("Facets of the marked coding");
    await press("1", "v", "v");
    expect(recorded()).toEqual({ affective: { valence: "unmet" } });
    await press("v");
    expect(recorded()).toEqual({ affective: {} });
  });

  test("a codebook without facets says so, and has no key for them", async () => {
    await show([]);
    await press("?");
    expect(find(".s7-help")!.textContent).not.toContain("Facets of the marked coding");
    await press("1", "v");
    expect(said()).toBe("This codebook has no facets");
    expect(find(".s7-strip")).toBeNull();
  });
});

describe("by the mouse", () => {
  const click = async (label: string) => {
    await doing(() => find(`[aria-label="${label}"]`)!.click());
    await doing(() => kernel.answer());
  };

  test("few values stand beside the coding", async () => {
    await show(TWO.slice(0, 1));
    await press("1");
    await click("Affective: Valence met");
    expect(recorded()).toEqual({ affective: { valence: "met" } });
    expect(find("[aria-label='Affective: Valence met']")!.getAttribute("aria-pressed")).toBe("true");
    await click("Affective: Valence met");
    expect(recorded()).toEqual({ affective: {} });
  });

  test("of many only what is set stands there, and a button opens and closes the strip", async () => {
    await show(TWO);
    await press("1");
    expect(texts(".s7-active-bar .s7-facet")).toEqual(["facets", "unsure", "✎", "×"]);
    await click("Affective: facets");
    expect(texts(".s7-strip button")).toEqual(["mmet", "uunmet", "llow", "2middle", "hhigh"]);
    await click("Affective: facets");
    expect(find(".s7-strip")).toBeNull();
    await click("Affective: facets");
    await click("Affective: Intensity high");
    expect(find(".s7-strip")).toBeNull();
    expect(texts(".s7-active-bar .s7-facet")).toEqual(["high", "facets", "unsure", "✎", "×"]);
    expect(recorded()).toEqual({ affective: { intensity: "high" } });
  });
});
