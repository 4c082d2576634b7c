// Memos, as a person writes and finds them: on words, codes and the study, for the team, and in their list.
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
const field = () => find<HTMLTextAreaElement>(".s7-memo-form textarea");
const acts = () =>
  kernel
    .acts()
    .map(({ kind, target_kind, unit_id, code, start, end, text, team }) =>
      [kind, target_kind, unit_id, code, start, end, text, team].filter(one => one !== undefined).join(" "),
    );

async function press(key: string, target: HTMLElement = find(".s7")!, more = {}): Promise<KeyboardEvent> {
  const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more });
  await doing(() => void target.dispatchEvent(event));
  return event;
}

async function write(text: string): Promise<void> {
  await doing(() => {
    field()!.value = text;
    field()!.dispatchEvent(new Event("input", { bubbles: true }));
  });
}

async function click(selector: string, nth = 0): Promise<void> {
  await doing(() => el.querySelectorAll<HTMLElement>(selector)[nth]!.click());
}

async function show(prepare: (kernel: Kernel) => void = () => {}): Promise<void> {
  kernel = new Kernel(TEXTS);
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
  close = undefined;
  shelf().clear();
});

/** Select the first word and write a memo on it. */
async function onFirstWord(text: string): Promise<void> {
  await press("ArrowRight", find(".s7")!, { shiftKey: true });
  await press("m");
  await write(text);
  await press("Escape", field()!);
}

describe("a memo on words", () => {
  test("is written by keys alone, stands on the text, and is opened again", async () => {
    await show();
    await onFirstWord("  why?  ");
    expect(acts()).toEqual(["memo span m0 0 2 why?"]);
    expect(document.activeElement).toBe(find(".s7"));
    await answer();
    expect(find(".s7-noted")!.textContent).toBe("It");
    expect(find(".s7-memo-label")!.title).toBe("Memo on “It”: why?");
    expect(find(".s7-text")!.textContent).toBe(TEXTS[0]);
    await doing(() =>
      [...el.querySelectorAll<HTMLElement>(".s7-tab")].find(tab => tab.textContent === "Memos 1")!.click(),
    );
    expect(find(".s7-memo-row")!.textContent).toContain("“It” why?");
    await press("m");
    expect(field()!.value).toBe("why?");
    await write("because");
    await press("Enter", field()!, { ctrlKey: true });
    await answer();
    expect(kernel.unit(0).memos.map(({ text }) => text)).toEqual(["because"]);
    expect(kernel.acts()[1]!.memo_id).toBe(kernel.acts()[0]!.id);
  });

  test("takes what is typed before its form is on the screen, and codes nothing", async () => {
    await show();
    await press("ArrowRight", find(".s7")!, { shiftKey: true });
    await doing(() => {
      for (const key of ["m", "1", "z", "Enter", ":", "Escape"])
        find(".s7")!.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    });
    expect(acts()).toEqual(["memo span m0 0 2 1z\n:"]);
    expect(field()).toBeNull();
  });

  test("is ended, discarded, or saved when the person goes elsewhere", async () => {
    await show();
    await onFirstWord("one");
    await answer();
    await click(".s7-noted");
    await write("two");
    await click(".s7-memo-buttons button", 1);
    expect(acts()).toEqual(["memo span m0 0 2 one"]);
    await click(".s7-memo-label");
    await write("three");
    await doing(() => close!());
    expect([...shelf().values()].flat().map(({ text }) => text)).toEqual(["three"]);
    close = undefined;
    await doing(() => void (close = widget.render({ model: kernel.model(), el })));
    await answer();
    expect(kernel.unit(0).memos[0]!.text).toBe("three");
    await click(".s7-memo-label");
    await click(".s7-memo-buttons button", 0);
    await answer();
    expect([kernel.unit(0).memos, find(".s7-noted"), find(".s7-memos")]).toEqual([[], null, null]);
  });

  test("is not saved until the kernel has it, and one that is refused takes no memo on a code along", async () => {
    await show(one => (one.fate = "refused"));
    await onFirstWord("lost");
    await press("1", find(".s7")!, { altKey: true });
    await press("M");
    await write("kept");
    await press("Escape", field()!);
    await doing(() => {
      kernel.answerFirst(kernel.received.filter(({ type }) => type === "act")[0]!.id);
      kernel.fate = "done";
    });
    await answer();
    expect(find(".s7-message")!.textContent).toContain("refused");
    expect(kernel.freeMemos().map(({ text }) => text)).toEqual(["kept"]);
  });
});

describe("a memo on a code", () => {
  test("is written beside its definition, is shown there, and holds up no press", async () => {
    await show();
    await press("1", find(".s7")!, { altKey: true });
    await press("M");
    await write("broad");
    await press("Escape", field()!);
    expect(acts()).toEqual(["memo code affective broad"]);
    expect(find(".s7-code-memo")!.textContent).toContain("broad");
    await press("1");
    expect(find(".s7-coding")!.textContent).toContain("affective");
    await answer();
    expect(kernel.freeMemos()).toMatchObject([{ on: "code", code: "affective", text: "broad" }]);
    await press("z");
    await press("z");
    await answer();
    expect(kernel.freeMemos()).toEqual([]);
    expect(find(".s7-code-memo")!.textContent).not.toContain("broad");
  });
});

describe("for the team", () => {
  test("there is no such choice outside of a round", async () => {
    await show();
    expect(find(".s7-for-team")).toBeNull();
    expect(find(".s7-memo textarea")!.getAttribute("placeholder")).toBe("A thought on this text");
  });

  test("a memo is one's own unless it is chosen, and is shared by another in its place", async () => {
    await show(one => (one.roundName = "one"));
    await onFirstWord("mine");
    await answer();
    await press("m");
    await click(".s7-memo-form .s7-for-team input");
    await press("Escape", field()!);
    await answer();
    expect(acts()).toEqual(["memo span m0 0 2 mine", "memo span m0 0 2 ", "memo span m0 0 2 mine true"]);
    expect(kernel.unit(0).memos).toMatchObject([{ text: "mine", team: true }]);
    expect(kernel.acts()[1]!.memo_id).toBe(kernel.acts()[0]!.id);
    expect(kernel.acts()[2]!.memo_id).toBeUndefined();
  });

  test("a colleague's memo is answered on its text, and the answer is no memo of one's own on the text", async () => {
    const theirs = {
      memo_id: "b1",
      on: "unit" as const,
      code: null,
      start: null,
      end: null,
      text: "Is that warm?",
      team: true,
      coder: "ben",
      own: false,
      at: "2026-01-31T12:00:00.000Z",
      answers: null,
      unit_id: "m1",
      place: 1,
      words: "",
    };
    await show(one => {
      one.roundName = "talk";
      one.theirMemos = [theirs];
    });
    await press(":");
    await answer();
    await doing(() =>
      [...el.querySelectorAll("button")].find(one => one.textContent === "Answer ben")!.click(),
    );
    await answer();
    expect(find(".s7-memo-form h4")!.textContent).toBe("Answer to ben: “Is that warm?”");
    await write("I think so.");
    await press("Enter", field()!, { ctrlKey: true });
    await answer();
    const { kind, unit_id, text, team, answers, memo_id } = kernel.acts().at(-1)!;
    expect([kind, unit_id, text, team, answers, memo_id]).toEqual([
      "memo",
      "m1",
      "I think so.",
      true,
      "b1",
      undefined,
    ]);
  });
});

describe("the list of memos", () => {
  test("shows them in pages, filters, and goes to the words of one", async () => {
    await show();
    await onFirstWord("on words");
    await answer();
    await press("ArrowRight");
    await answer();
    await press(":");
    await answer();
    const list = find(".s7-rows")!;
    expect(document.activeElement).toBe(list);
    expect(find(".s7-counted")!.textContent).toContain("1 memo");
    await press("Enter", list);
    await answer();
    expect(find(".s7-unit-id")!.textContent).toBe("m0");
    expect(find(".s7-selected")!.textContent).toBe("It");
  });

  test("does no code's key, and Escape goes back to the text", async () => {
    await show();
    await press(":");
    await answer();
    await press("1", find(".s7-rows")!);
    await press("Escape", find(".s7-rows")!);
    expect(acts()).toEqual([]);
    expect(document.activeElement).toBe(find(".s7"));
  });
});
