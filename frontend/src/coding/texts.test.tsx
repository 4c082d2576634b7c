// The list of texts as a person sees it: pane and drawer, find, keys, status of each row.
import { act } from "preact/test-utils";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { shelf } from "../shared/outbox";
import widget from "./widget.test.kit";
import { Kernel, TEXTS } from "./kernel.test.kit";

let kernel: Kernel;
let el: HTMLElement;
let close: (() => void) | undefined;

const doing = (what: () => void) => act(what);
const answer = () => doing(() => kernel.answer());
const find = <E extends HTMLElement = HTMLElement>(selector: string) => el.querySelector<E>(selector);
const texts = (selector: string) => [...el.querySelectorAll(selector)].map(found => found.textContent);
const field = () => find<HTMLInputElement>(".s7-find")!;
const focused = () => (document.activeElement as HTMLElement).className;
const click = (selector: string) =>
  doing(() => {
    const target = find(selector)!;
    target.dispatchEvent(new MouseEvent("mousedown", { bubbles: true, cancelable: true }));
    target.click();
  });

async function press(
  key: string,
  target: HTMLElement = document.activeElement as HTMLElement,
): Promise<KeyboardEvent> {
  const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true });
  await doing(() => void target.dispatchEvent(event));
  return event;
}

async function type(words: string): Promise<void> {
  await doing(() => {
    field().value = words;
    field().dispatchEvent(new Event("input", { bubbles: true }));
  });
  await answer();
}

async function pick(label: string, value: string): Promise<void> {
  await doing(() => {
    const select = find<HTMLSelectElement>(`select[aria-label="${label}"]`)!;
    select.value = value;
    select.dispatchEvent(new Event("change", { bubbles: true }));
  });
  await answer();
}

/** The widget, so and so wide, with its first unit on screen. */
async function show(width: number, sample = TEXTS): Promise<void> {
  vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(width);
  kernel = new Kernel(sample);
  await doing(() => void (close = widget.render({ model: kernel.model(), el })));
  await answer();
  await answer();
  find(".s7")!.focus();
}

beforeEach(() => {
  vi.spyOn(HTMLElement.prototype, "clientHeight", "get").mockReturnValue(400);
  el = document.createElement("div");
  document.body.replaceChildren(el);
});

afterEach(async () => {
  await doing(() => close?.());
  close = undefined;
  shelf().clear();
  vi.restoreAllMocks();
});

describe("the pane", () => {
  test("stands beside the text in a wide widget until it is folded, from text to text", async () => {
    await show(1200);
    expect(texts(".s7-row-words")).toEqual(TEXTS);
    expect(focused()).toBe("s7 s7-coding-widget");
    await press(",");
    expect([find(".s7-side"), focused()]).toEqual([null, "s7 s7-coding-widget"]);
    await press("ArrowRight");
    await answer();
    expect(find(".s7-side")).toBeNull();
    await click(".s7-texts-button");
    expect([texts(".s7-row").length, focused()]).toEqual([6, "s7-rows"]);
  });

  test("takes the panel's place in a narrower one, until Escape is pressed", async () => {
    await show(899);
    expect(find(".s7-side")).toBeNull();
    await press(",");
    await answer();
    expect([texts(".s7-row").length, focused()]).toEqual([6, "s7-rows"]);
    await press("Escape");
    expect([find(".s7-side"), focused()]).toEqual([null, "s7 s7-coding-widget"]);
    await press(".");
    expect(focused()).toBe("s7-find");
    await press("Escape");
    await press(",");
    for (const key of ["ArrowDown", "ArrowDown", "Enter"]) await press(key);
    await answer();
    expect([focused(), find(".s7-unit-id")!.textContent]).toEqual(["s7 s7-coding-widget", "m2"]);
    await click(".s7-text");
    expect(find(".s7-panel .s7-side")).not.toBeNull();
    await press("Escape");
    expect(find(".s7-side")).toBeNull();
  });

  test("is a sheet where there is one column, which a click on the text closes", async () => {
    await show(700);
    await click(".s7-texts-button");
    await answer();
    expect(find(".s7-open-panel .s7-side")).not.toBeNull();
    await click(".s7-text");
    expect(find(".s7-side")).toBeNull();
  });

  test("goes where a row is clicked, and back to the keys of the text", async () => {
    await show(1200);
    await click(".s7-row:nth-child(4)");
    await answer();
    expect([find(".s7-unit-id")!.textContent, focused()]).toEqual(["m3", "s7 s7-coding-widget"]);
    expect(find(".s7-row[aria-selected=true]")!.textContent).toContain("m3");
    await press("1");
    expect(kernel.acts()).toMatchObject([{ kind: "apply", unit_id: "m3" }]);
  });
});

describe("finding", () => {
  test("as it is typed, marks what was found; Enter goes to the row of the cursor", async () => {
    await show(1200);
    await press(".");
    await type("it");
    expect(texts(".s7-row-words mark")).toEqual(["It", "It", "it"]);
    expect(find(".s7-counted")!.textContent).toContain("3 of 6 texts");
    expect(find(".s7-list-note")!.textContent).toContain("3 of 6 · “it”");
    await press("ArrowDown");
    await press("Enter");
    await answer();
    expect([find(".s7-unit-id")!.textContent, focused()]).toEqual(["m1", "s7 s7-coding-widget"]);
    await click(".s7-clear");
    expect([find(".s7-list-note"), texts(".s7-row").length, field().value, focused()]).toEqual([
      null,
      6,
      "",
      "s7 s7-coding-widget",
    ]);
  });

  test("letters are the field's, and no key of the list codes the text behind it", async () => {
    await show(1200);
    await press(".");
    for (const key of ["1", "n", "z", ","]) expect((await press(key)).defaultPrevented).toBe(false);
    await press("Escape");
    await press(",");
    await press(",");
    expect(focused()).toBe("s7-rows");
    for (const key of ["1", "m", "z", " ", "ArrowRight"]) await press(key);
    expect([kernel.acts(), focused()]).toEqual([[], "s7-rows"]);
    await press("End");
    await press("Enter");
    await answer();
    expect(find(".s7-unit-id")!.textContent).toBe("m5");
  });

  test("says that the text on screen is not among what was found", async () => {
    await show(1200);
    await type("facts");
    expect(find(".s7-list-note")!.textContent).toContain("not including this text");
    await type("nowhere at all");
    expect(texts(".s7-row")).toEqual([]);
    expect(find(".s7-side .s7-hint")!.textContent).toBe("No text matches.");
  });
});

describe("choosing", () => {
  test("by state, code, condition and order; by rating only while it is shown", async () => {
    await show(1200);
    await press("1");
    await answer();
    await click(".s7-filters-button");
    await answer();
    expect([...el.querySelectorAll(".s7-filters select")].map(one => one.getAttribute("aria-label"))).toEqual(
      ["Order", "Code", "condition"],
    );
    await pick("Code", "affective");
    expect(texts(".s7-row-id")).toEqual(["1 · m0"]);
    await pick("Which texts", "memo");
    expect(find(".s7-list-note")!.textContent).toContain("0 of 6 · with a memo, Affective");
    await click(".s7-unit-line .s7-quiet");
    await answer();
    await pick("Rating", "4");
    expect(find(".s7-list-note")!.textContent).toContain("rating 4");
    await click(".s7-unit-line .s7-quiet");
    await answer();
    expect(find('select[aria-label="Rating"]')).toBeNull();
    expect(find(".s7-list-note")!.textContent).not.toContain("rating");
  });
});

describe("a row says how far its text is", () => {
  const status = () => texts(".s7-row-status").slice(0, 2);

  test("in signs and words, and that an act is not saved yet", async () => {
    await show(1200);
    expect(status()).toEqual(["○", "○"]);
    await press("1");
    expect(status()).toEqual(["○…", "○"]);
    await answer();
    expect(status()).toEqual(["◐", "○"]);
    await press("Enter");
    expect(status()).toEqual(["✓…", "○"]);
    expect(find(".s7-row")!.getAttribute("aria-label")).toContain("finished, not saved yet");
    kernel.fate = "failed";
    await answer();
    expect(status()).toEqual(["✓…", "○"]);
    kernel.fate = "done";
    await doing(() => find(".s7-unsaved button")!.click());
    await answer();
    expect(status()).toEqual(["✓", "○"]);
    expect(find(".s7-row")!.getAttribute("aria-label")).toContain("1, finished, m0");
  });
});

test("progress by participant is folded, and a press chooses the participant's texts", async () => {
  await show(1200);
  expect(find(".s7-groups")).toBeNull();
  await click(".s7-progress-by button");
  await answer();
  expect(texts(".s7-group-row")).toEqual(["p10 of 6"]);
  await click(".s7-group-row");
  await answer();
  expect(find(".s7-list-note")!.textContent).toContain("participant p1");
});
