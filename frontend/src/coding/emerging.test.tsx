// Codes that emerge, as a person sees it: the form for a new code.
import { act } from "preact/test-utils";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { shelf } from "../shared/outbox";
import widget from "./widget.test.kit";
import { Kernel } from "./kernel.test.kit";

const TEXTS = ["It listened. It cared.", "It did not.", "Only facts.", "So kind."];

let kernel: Kernel;
let el: HTMLElement;
let close: (() => void) | undefined;

const doing = (what: () => void) => act(what);
const answer = () => doing(() => kernel.answer());
const find = <E extends HTMLElement = HTMLElement>(selector: string) => el.querySelector<E>(selector);
const words = (selector: string) => find(selector)?.textContent ?? null;
const label = () => find<HTMLInputElement>(".s7-new-label");
const recorded = () =>
  kernel.acts().map(({ kind, unit_id, code }) => [kind, unit_id, code].filter(Boolean).join(" "));

async function press(key: string, target: HTMLElement = find(".s7")!): Promise<void> {
  await doing(
    () => void target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true })),
  );
}

async function click(selector: string, nth = 0): Promise<void> {
  await doing(() => el.querySelectorAll<HTMLElement>(selector)[nth]!.click());
}

async function type(field: HTMLInputElement, text: string): Promise<void> {
  await doing(() => {
    field.value = text;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  });
}

async function show(prepare: (kernel: Kernel) => void = () => {}): Promise<void> {
  kernel = new Kernel(TEXTS);
  prepare(kernel);
  await doing(() => void (close = widget.render({ model: kernel.model(), el })));
  await answer();
}

const pause = () => doing(() => new Promise<void>(done => setTimeout(done, 250)) as unknown as void);

beforeEach(() => {
  el = document.createElement("div");
  document.body.replaceChildren(el);
});

afterEach(async () => {
  await doing(() => close?.());
  close = undefined;
  shelf().clear();
});

describe("a code that is missing", () => {
  test("is proposed by keys alone, and the keys are the text's again", async () => {
    await show();
    await press("+");
    expect(document.activeElement).toBe(label());
    await type(label()!, "  Hope ");
    await press("Enter", label()!);
    const definition = find<HTMLInputElement>(".s7-new-definition")!;
    expect(document.activeElement).toBe(definition);
    await type(definition, "Looks forward.");
    await press("Enter", definition);
    expect(kernel.acts()).toMatchObject([
      { kind: "propose", unit_id: "m0", label: "Hope", definition: "Looks forward.", start: null, end: null },
    ]);
    expect(label()).toBeNull();
    expect(document.activeElement).toBe(find(".s7"));
    await answer();
    await press("1");
    expect(recorded()).toEqual(["propose m0", "apply m0 affective"]);
  });

  test("is called by the selected words, and belongs to them", async () => {
    await show();
    const wider = { key: "ArrowRight", shiftKey: true, bubbles: true, cancelable: true };
    await doing(() => void find(".s7")!.dispatchEvent(new KeyboardEvent("keydown", wider)));
    await doing(() => void find(".s7")!.dispatchEvent(new KeyboardEvent("keydown", wider)));
    await click(".s7-new-code-button");
    expect(label()!.value).toBe("It listened");
    await press("Escape", label()!);
    expect(label()).toBeNull();
    expect(recorded()).toEqual([]);
    await press("+");
    await click(".s7-new-send");
    expect(kernel.acts()).toMatchObject([{ kind: "propose", label: "It listened", start: 0, end: 11 }]);
  });

  test("shows the codes that are like it, one of which is used instead", async () => {
    await show(on => (on.alike = ["cognitive", "gone"]));
    await press("+");
    await type(label()!, "Cognition");
    await pause();
    await answer();
    expect(words(".s7-alike button")).toBe("Use “Cognitive” instead");
    expect(el.querySelectorAll(".s7-alike button")).toHaveLength(1);
    await click(".s7-alike button");
    expect(recorded()).toEqual(["apply m0 cognitive"]);
    expect(label()).toBeNull();
  });

  test("is added at once where the study has it so: it is live, applied, and what waited is saved", async () => {
    await show(on => (on.newCodes = "add"));
    await press("2");
    await press("+");
    expect(find<HTMLInputElement>(".s7-new-example input")!.checked).toBe(false);
    expect(words(".s7-new-example")).toContain("published");
    await type(label()!, "Hope");
    await click(".s7-new-send");
    await answer();
    expect(recorded()).toEqual(["apply m0 cognitive", "apply m0 hope"]);
    expect(kernel.recorded).toHaveLength(2);
    expect(kernel.inboxAskedAfter.at(-1)).toBe(2);
    expect(kernel.inboxAskedAfter).not.toContain(1); // on this text the new code would seem to wait
    expect(words(".s7-codebook")).toContain("Hope");
    await press("9");
    await answer();
    expect(recorded().at(-1)).toBe("remove m0 hope");
    await press("z");
    expect(words(".s7-status")).toBe("Undone");
  });

  test("stays in the codebook when its first coding is taken back, which is said", async () => {
    await show(on => (on.newCodes = "add"));
    await press("+");
    await type(label()!, "Hope");
    await click(".s7-new-send");
    await answer();
    await press("z");
    await answer();
    expect(words(".s7-status")).toContain("Undone on this text; the code Hope stays in the codebook");
    expect([kernel.unit(0).codings, words(".s7-codebook")!.includes("Hope")]).toEqual([[], true]);
  });

  test("that cannot be added keeps what was written, says why, and can be proposed", async () => {
    await show(on => ([on.newCodes, on.fate] = ["add", "refused"]));
    await press("+");
    await type(label()!, "Hope");
    await click(".s7-new-send");
    await answer();
    expect(words(".s7-new-problem")).toBe("refused: no room");
    expect(label()!.value).toBe("Hope");
    kernel.fate = "done";
    await click(".s7-new-buttons button", 1);
    await answer();
    expect(recorded()).toEqual(["propose m0"]);
  });

  test("without a name is none, and what is typed before the form is drawn is its name", async () => {
    await show();
    await doing(() => {
      for (const key of ["+", "1", "x"])
        find(".s7")!.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    });
    expect(label()!.value).toBe("1x");
    expect(recorded()).toEqual([]);
    await type(label()!, " ");
    await click(".s7-new-send");
    expect(words(".s7-new-problem")).toBe("Name the code first.");
  });
});
