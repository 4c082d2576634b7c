// Codes that emerge, as a person sees it: the form, and the finished texts that wait for a new code.
import { act } from "preact/test-utils";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
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
const recorded = () => kernel.acts().map(({ kind, unit_id, code }) => [kind, unit_id, code].filter(Boolean).join(" "));

async function press(key: string, target: HTMLElement = find(".s7")!): Promise<void> {
  await doing(() => void target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true })));
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

const pause = () => doing(() => new Promise<void>((done) => setTimeout(done, 250)) as unknown as void);

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
    expect(kernel.acts()).toMatchObject([{ kind: "propose", unit_id: "m0", label: "Hope", definition: "Looks forward.", start: null, end: null }]);
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
    await show((on) => (on.alike = ["cognitive", "gone"]));
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
    await show((on) => (on.newCodes = "add"));
    await press("2");
    await press("+");
    expect(find<HTMLInputElement>(".s7-new-example input")!.checked).toBe(false);
    expect(words(".s7-new-example")).toContain("published");
    await type(label()!, "Hope");
    await click(".s7-new-send");
    await answer();
    expect(recorded()).toEqual(["apply m0 cognitive", "apply m0 hope"]);
    expect(kernel.recorded).toHaveLength(2);
    expect(words(".s7-codebook")).toContain("Hope");
    await press("9");
    await answer();
    expect(recorded().at(-1)).toBe("remove m0 hope");
    await press("z");
    expect(words(".s7-status")).toBe("Undone");
  });

  test("stays in the codebook when its first coding is taken back, which is said", async () => {
    await show((on) => (on.newCodes = "add"));
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
    await show((on) => ([on.newCodes, on.fate] = ["add", "refused"]));
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
      for (const key of ["+", "1", "x"]) find(".s7")!.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    });
    expect(label()!.value).toBe("1x");
    expect(recorded()).toEqual([]);
    await type(label()!, " ");
    await click(".s7-new-send");
    expect(words(".s7-new-problem")).toBe("Name the code first.");
  });
});

describe("texts that were finished before a code was there", () => {
  const wait = (items: [number, string[]][]) => (on: Kernel) =>
    (on.waiting = { codes: ["affective"], items, no: "Left as they are." });
  const both: [number, string[]][] = [[1, ["affective"]], [3, ["affective"]]];

  async function decideOn(items = both): Promise<void> {
    await show(wait(items));
    await click(".s7-decide button");
    await answer();
  }

  test("are asked about once: yes, later or no", async () => {
    await show(wait(both));
    expect(words(".s7-decide")).toContain("Check the 2 texts you finished earlier for ‘Affective’?");
    await click(".s7-decide button", 1);
    expect(find(".s7-decide")).toBeNull();
    await doing(() => close!());
    await show(wait(both));
    await click(".s7-decide button", 2);
    expect(find(".s7-decide")).toBeNull();
    expect(kernel.acts()).toMatchObject([{ kind: "memo", target_kind: "code", code: "affective", text: "Left as they are." }]);
    expect(words(".s7-status")).toContain("a memo on ‘Affective’ records this");
  });

  test("no stands beneath what the memo on the code says, once", async () => {
    await show((on) => {
      wait(both)(on);
      on.recordAtFirst({ id: "a1", kind: "memo", target_kind: "code", code: "affective", text: "Broad." });
    });
    await click(".s7-decide button", 2);
    await answer();
    expect(kernel.freeMemos()).toMatchObject([{ memo_id: "a1", text: "Broad.\nLeft as they are." }]);
    await doing(() => kernel.tell(kernel.ofCodebook("f2", "w")));
    await click(".s7-decide button", 2);
    expect(kernel.acts()).toHaveLength(1);
  });

  test("the question takes y, n and Escape once it could be read, and no key that was meant for something else", async () => {
    const now = vi.spyOn(Date, "now").mockReturnValue(5000);
    await show(wait(both));
    await press("y");
    await press("n");
    expect([words(".s7-decide"), recorded()]).toEqual([expect.stringContaining("Check the 2 texts"), []]);
    now.mockReturnValue(5600);
    await press("Escape");
    expect(find(".s7-decide")).toBeNull();
    await doing(() => kernel.tell(kernel.ofCodebook("f2", "w")));
    now.mockReturnValue(6300);
    await press("n");
    await answer();
    expect(kernel.freeMemos()).toHaveLength(1);
    await doing(() => kernel.tell(kernel.ofCodebook("f3", "w")));
    now.mockReturnValue(7000);
    await press("y");
    await answer();
    expect(words(".s7-decide strong")).toBe("decide: Affective");
    now.mockRestore();
  });

  test("are decided with one key each", async () => {
    await decideOn();
    expect(words(".s7-decide strong")).toBe("decide: Affective");
    expect(words(".s7-decide span")).toBe("1 of 2");
    await press("y");
    await answer();
    expect(words(".s7-decide span")).toBe("2 of 2");
    expect(words(".s7-unit-id")).toBe("m3");
    await press("n");
    await answer();
    expect(recorded()).toEqual(["apply m1 affective", "finish m1", "finish m3"]);
    expect(kernel.acts().filter(({ kind }) => kind === "finish").map(({ under }) => under)).toEqual(["f1", "f1"]);
    expect(find(".s7-decide")).toBeNull();
    await press("n");
    await answer();
    expect(recorded()).toHaveLength(3);
  });

  test("go back one at a time: both acts of a decision are taken back", async () => {
    await decideOn();
    await press("Backspace");
    expect(recorded()).toEqual([]);
    await press("y");
    await answer();
    await press("Backspace");
    await answer();
    expect(recorded().slice(2)).toEqual(["undo", "undo"]);
    expect(words(".s7-unit-id")).toBe("m1");
    expect(words(".s7-decide span")).toBe("1 of 2");
    expect(kernel.unit(1)).toMatchObject({ finished: false, codings: [] });
    await press("n");
    await answer();
    expect(recorded().slice(4)).toEqual(["finish m1"]);
  });

  test("with two new codes are finished after the last question alone", async () => {
    await decideOn([[1, ["affective", "response"]]]);
    await press("n");
    await answer();
    expect(recorded()).toEqual([]);
    expect(words(".s7-decide strong")).toBe("decide: Response");
    await press("y");
    await answer();
    expect(recorded()).toEqual(["apply m1 response", "finish m1"]);
  });

  test("wait on where it is ended, and where another code is added meanwhile", async () => {
    await decideOn();
    await press("y");
    await answer();
    await press("Escape");
    expect(words(".s7-decide")).toContain("Check the text you finished earlier");
    await click(".s7-decide button");
    await answer();
    expect(words(".s7-unit-id")).toBe("m3");
    kernel.newCodes = "add";
    kernel.waiting = null;
    await doing(() => kernel.tell(kernel.ofCodebook("f2", "w")));
    expect(find(".s7-decide")).toBeNull();
    const before = recorded().length;
    await press("y");
    expect(recorded().slice(before).filter((what) => what.startsWith("apply"))).toEqual([]);
  });

  test("a code that stands is not left out by a slip, and a text elsewhere is not decided", async () => {
    await decideOn();
    await press("1");
    await answer();
    await press("n");
    await answer();
    expect(recorded()).toEqual(["apply m1 affective"]);
    await press("ArrowRight");
    await answer();
    await press("n");
    await answer();
    expect(recorded()).toEqual(["apply m1 affective"]);
    expect(words(".s7-unit-id")).toBe("m1");
    await press("y");
    await answer();
    expect(recorded()).toEqual(["apply m1 affective", "finish m1"]);
  });

  test("an act that is refused ends the questions", async () => {
    await decideOn();
    kernel.fate = "refused";
    await press("n");
    await answer();
    expect(words(".s7-message")).toContain("refused");
    expect(find(".s7-decide strong")).toBeNull();
  });
});
