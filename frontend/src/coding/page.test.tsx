// The widget as a person sees it: text, keys, what is saved, memo.
import { act } from "preact/test-utils";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { shelf } from "../shared/outbox";
import { PAUSE_MS } from "../shared/pressqueue";
import widget from "./widget.test.kit";
import { Kernel } from "./kernel.test.kit";

const HOSTILE = "<img src=x onerror=alert(1)> & <b>bold</b>\n👍🏽 cafe\u0301";
const TEXTS = [HOSTILE, "It did not.", "Only facts."];

let kernel: Kernel;
let el: HTMLElement;
let close: (() => void) | undefined;
/** Keys that came through to the page around the widget. */
let leaked: string[];
const leak = (event: KeyboardEvent) => void leaked.push(event.key);

/** Do something and let the widget draw what came of it. */
const doing = (what: () => void) => act(what);
const answer = () => doing(() => kernel.answer());
const find = <E extends HTMLElement = HTMLElement>(selector: string) => el.querySelector<E>(selector);
const texts = (selector: string) => [...el.querySelectorAll(selector)].map(found => found.textContent);
const memo = () => find<HTMLTextAreaElement>(".s7-memo textarea")!;

async function press(key: string, target: HTMLElement = find(".s7")!): Promise<KeyboardEvent> {
  const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true });
  await doing(() => void target.dispatchEvent(event));
  return event;
}

async function show(sample = TEXTS): Promise<void> {
  kernel = new Kernel(sample);
  await doing(() => void (close = widget.render({ model: kernel.model(), el })));
  await answer();
}

/** What a user's typing does to the field. */
async function write(text: string): Promise<void> {
  await doing(() => {
    memo().focus();
    memo().value = text;
    memo().dispatchEvent(new Event("input", { bubbles: true }));
  });
}

beforeEach(() => {
  el = document.createElement("div");
  document.body.replaceChildren(el);
  leaked = [];
  document.addEventListener("keydown", leak);
});

afterEach(async () => {
  await doing(() => close?.());
  close = undefined;
  document.removeEventListener("keydown", leak);
  shelf().clear();
});

test("the number of a text that is being typed stays, whatever is drawn anew meanwhile", async () => {
  await show();
  const field = find<HTMLInputElement>(".s7-goto input")!;
  field.value = "3";
  await press("1");
  await answer();
  expect(field.value).toBe("3");
  await press("ArrowRight");
  await answer();
  expect(field.value).toBe("2");
});

test("nothing is called saved before the kernel has answered: an earlier view may have left something", async () => {
  kernel = new Kernel(TEXTS);
  await doing(() => void (close = widget.render({ model: kernel.model(), el })));
  expect(find(".s7-saved")).toBeNull();
  await answer();
  expect(texts(".s7-saved")).toEqual(["✓ Saved"]);
});

describe("where a dialog of the page took an Enter that was meant for the text", () => {
  const elsewhere = () => document.body.appendChild(document.createElement("button"));
  const coded = () => kernel.recorded.map(({ kind, code }) => [kind, code].filter(Boolean).join(" "));

  async function interrupted(): Promise<void> {
    await show();
    await doing(() => find(".s7")!.focus());
    await press("1");
    await doing(() => elsewhere().focus());
  }

  test("what follows is not taken, and said: the next code would take back the one before", async () => {
    await interrupted();
    await doing(() => find(".s7")!.focus());
    await press("1");
    await press("Enter");
    await answer();
    expect(coded()).toEqual(["apply affective"]);
    expect(find(".s7-message")!.textContent).toMatch(/^2 key presses were ignored/);
  });

  test("a click brings the keys back at once, and so does a pause", async () => {
    await interrupted();
    await doing(
      () => void find(".s7")!.dispatchEvent(new PointerEvent("pointerdown", { bubbles: true, button: 1 })),
    );
    await doing(() => find(".s7")!.focus());
    await press("2");
    await answer();
    const later = vi.spyOn(Date, "now").mockReturnValue(Date.now() + PAUSE_MS + 1);
    await doing(() => elsewhere().focus());
    await doing(() => find(".s7")!.focus());
    await press("3");
    await answer();
    later.mockRestore();
    expect(coded()).toEqual(["apply affective", "apply cognitive", "apply response"]);
  });

  test("within the widget the focus goes where it likes", async () => {
    await show();
    await press("1");
    await doing(() => memo().focus());
    await doing(() => find(".s7")!.focus());
    await press("2");
    await answer();
    expect(coded()).toEqual(["apply affective", "apply cognitive"]);
  });
});

describe("the text", () => {
  test("is shown letter by letter, never as HTML", async () => {
    await show();
    expect(find(".s7-text")!.textContent).toBe(HOSTILE);
    expect(el.querySelector(".s7-text img, .s7-text b")).toBeNull();
  });

  test("stays the same text when codings and the selection cut it", async () => {
    await show(["one two three four"]);
    for (const key of ["ArrowRight", "1"]) await press(key);
    const box = find(".s7-text")!;
    await doing(() => {
      box.dispatchEvent(new MouseEvent("pointerdown", { bubbles: true, composed: true }));
      const range = document.createRange();
      range.setStart(box.querySelector("span")!.firstChild!, 4);
      range.setEnd(box.querySelector("span")!.firstChild!, 13);
      document.getSelection()!.addRange(range);
      document.dispatchEvent(new MouseEvent("pointerup"));
    });
    await doing(() => new Promise(resolve => setTimeout(resolve, 5)));
    expect(texts(".s7-selected")).toEqual(["two three"]);
    await press("2");
    await answer();
    expect(texts(".s7-text span")).toEqual(["one ", "two three", " four"]);
    expect(kernel.recorded.at(-1)).toMatchObject({ code: "cognitive", start: 4, end: 13 });
  });
});

describe("keys", () => {
  test("none but the page's own gets through", async () => {
    await show();
    for (const key of ["d", "d", "x", "0", "1", "Enter", "Home", " ", "q", "z", "Escape"]) await press(key);
    expect(leaked).toEqual([]);
    await press("Tab");
    expect(leaked).toEqual(["Tab"]);
  });

  test("in a text field they write; Escape leaves it", async () => {
    await show();
    await write("a thought");
    for (const key of ["1", "d", "z", "Enter"]) {
      expect((await press(key, memo())).defaultPrevented).toBe(false);
    }
    expect([kernel.acts(), leaked]).toEqual([[], []]);
    await press("Escape", memo());
    expect(document.activeElement).toBe(find(".s7"));
    await answer();
    expect(kernel.recorded.map(({ kind, text }) => [kind, text])).toEqual([["memo", "a thought"]]);
  });

  test("a key held down codes once", async () => {
    await show();
    for (const repeat of [false, true, true]) {
      await doing(
        () =>
          void find(".s7")!.dispatchEvent(new KeyboardEvent("keydown", { key: "1", repeat, bubbles: true })),
      );
    }
    await answer();
    expect(kernel.recorded.map(({ kind }) => kind)).toEqual(["apply"]);
  });

  test("while an input method composes, a digit is no code", async () => {
    await show();
    const composed = new KeyboardEvent("keydown", { key: "1", isComposing: true, bubbles: true });
    await doing(() => void find(".s7")!.dispatchEvent(composed));
    expect([kernel.acts(), leaked]).toEqual([[], []]);
  });

  test("Enter on a button presses the button alone", async () => {
    await show();
    const event = await press("Enter", find(".s7-tools button:last-child")!);
    expect([event.defaultPrevented, kernel.acts()]).toEqual([false, []]);
  });
});

describe("selecting by letters", () => {
  test("Space puts letters on the words; those of two words select from one to the other", async () => {
    await show(["It listened to what I said."]);
    await press(" ");
    expect(texts(".s7-letters b")).toEqual(["f", "j", "d", "k", "s", "l"]);
    expect(find(".s7-text")!.textContent).toBe("It listened to what I said.");
    await press("j");
    expect(texts(".s7-selected")).toEqual(["listened"]);
    await press("k");
    expect([texts(".s7-selected"), find(".s7-letters")]).toEqual([["listened to what"], null]);
    await press("2");
    await answer();
    expect(kernel.recorded).toMatchObject([{ kind: "apply", code: "cognitive", start: 3, end: 19 }]);
  });

  test("letters are no commands meanwhile; Escape ends it and keeps what was selected", async () => {
    await show(["It listened to what I said."]);
    for (const key of [" ", "s", "Escape", "Escape"]) await press(key);
    expect([find(".s7-letters"), find(".s7-selected"), kernel.acts()]).toEqual([null, null, []]);
    expect(find(".s7-status")!.textContent).toBe("");
    for (const key of [" ", "k", "1"]) await press(key);
    expect(find(".s7-letters")).toBeNull();
    expect(kernel.acts()).toMatchObject([{ code: "affective", start: 15, end: 19 }]);
    for (const key of [" ", " ", " ", "ArrowRight"]) await press(key);
    expect([find(".s7-letters"), find(".s7-unit-id")!.textContent]).toEqual([null, "m0"]);
  });
});

describe("the rating", () => {
  test("that is shown on finished texts alone says so, and no key or click shows it before", async () => {
    kernel = new Kernel(TEXTS);
    kernel.showRating = "finished";
    await doing(() => void (close = widget.render({ model: kernel.model(), el })));
    await answer();
    const button = () => find<HTMLButtonElement>(".s7-rating")!;
    expect([button().textContent, button().disabled]).toEqual(["Rating: shown once finished", true]);
    await press("r");
    expect(find(".s7-status")!.textContent).toBe("The rating is shown once this text is finished");
    await doing(() => find(".s7-finish")!.click());
    expect(button().textContent).toBe("Rating: 4");
    await press("r");
    expect(button().textContent).toBe("Show rating");
    await doing(() => find(".s7-finish")!.click());
    expect(button().textContent).toBe("Rating: shown once finished");
  });
});

describe("saved or not", () => {
  test("says saved only once the record has it, and in red when it could not be", async () => {
    await show();
    expect(find(".s7-state")!.textContent).toBe("✓ Saved");
    await press("1");
    expect(find(".s7-saved")).toBeNull();
    expect(texts(".s7-coding.s7-pending strong")).toEqual(["affective"]);
    kernel.fate = "failed";
    await answer();
    expect(find(".s7-unsaved")!.textContent).toContain("Not saved · 1 kept here");
    kernel.fate = "done";
    await doing(() => find(".s7-unsaved button")!.click());
    await answer();
    expect(find(".s7-state")!.textContent).toBe("✓ Saved");
    expect(texts(".s7-coding:not(.s7-pending) strong")).toEqual(["affective"]);
  });

  test("thanks only when every unit is finished in the record, and no longer when one is reopened", async () => {
    await show(TEXTS.slice(0, 2));
    await press("Enter");
    await press("Enter");
    expect(find(".s7-all-done")).toBeNull();
    await answer();
    expect(find(".s7-all-done")!.textContent).toContain("All 2 texts are finished");
    await doing(() => find(".s7-footer button[aria-pressed=true]")!.click());
    await answer();
    expect(find(".s7-all-done")).toBeNull();
  });

  test("a page is not left without a word while something is not saved", async () => {
    await show();
    const leave = () => {
      const event = new Event("beforeunload", { cancelable: true });
      dispatchEvent(event);
      return event.defaultPrevented;
    };
    expect(leave()).toBe(false);
    await write("in mid-sent");
    expect(leave()).toBe(true);
    expect(kernel.acts().map(({ text }) => text)).toEqual(["in mid-sent"]);
    await answer();
    expect(leave()).toBe(false);
  });
});

describe("going to a unit by its number", () => {
  const goTo = (text: string) =>
    doing(() => {
      const field = find<HTMLInputElement>(".s7-goto input")!;
      field.value = text;
      field.dispatchEvent(new Event("change", { bubbles: true }));
    });

  test("shows it", async () => {
    await show();
    await goTo("3");
    await answer();
    expect(find(".s7-unit-id")!.textContent).toBe("m2");
  });

  test.each(["", "0", "4", "1.5"])("%j is no place: the unit stays", async text => {
    await show();
    await goTo(text);
    await answer();
    expect(find(".s7-unit-id")!.textContent).toBe("m0");
  });
});

describe("the memo", () => {
  test("of the unit that is left is saved to that unit, once", async () => {
    await show();
    await write("on the first");
    await doing(() => find(".s7-forth")!.click());
    expect(find(".s7-unit-id")!.textContent).toBe("m1");
    expect(memo().value).toBe("");
    await answer();
    expect(kernel.recorded.map(({ kind, unit_id, text }) => [kind, unit_id, text])).toEqual([
      ["memo", "m0", "on the first"],
    ]);
    await press("ArrowLeft");
    expect(memo().value).toBe("on the first");
  });

  test("in mid-sentence is handed over when the widget is closed", async () => {
    await show();
    await write("half a thou");
    await doing(() => close!());
    close = undefined;
    expect(
      shelf()
        .get("work")!
        .map(({ kind, unit_id, text }) => [kind, unit_id, text]),
    ).toEqual([["memo", "m0", "half a thou"]]);
    await answer();
    await doing(() => void (close = widget.render({ model: kernel.model(), el })));
    await answer();
    expect(kernel.recorded).toHaveLength(1);
    expect(memo().value).toBe("half a thou");
  });

  test("is not erased by the last blur of a field that is taken away", async () => {
    await show();
    await write("kept");
    await doing(() => memo().blur());
    await answer();
    const field = memo();
    await doing(() => find(".s7-forth")!.click());
    await answer();
    expect(field.isConnected).toBe(false);
    await doing(() => void field.dispatchEvent(new Event("blur")));
    await answer();
    expect(kernel.unit(0).memo?.text).toBe("kept");
  });

  test("that another window changes is not put under the hands of who writes", async () => {
    await show();
    await write("mine, unfini");
    const other = document.createElement("div");
    let end = () => {};
    await doing(() => void (end = widget.render({ model: kernel.model(), el: other })));
    kernel.model().send({
      type: "act",
      id: "00000000-0000-4000-8000-000000000001",
      client: "other",
      act: { id: "00000000-0000-4000-8000-000000000001", kind: "memo", unit_id: "m0", text: "theirs" },
    });
    await answer();
    expect(memo().value).toBe("mine, unfini");
    expect(other.querySelector<HTMLTextAreaElement>(".s7-memo textarea")!.value).toBe("theirs");
    await doing(() => end());
  });
});
