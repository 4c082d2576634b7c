// What each key press means, and whose it is.
import { beforeEach, describe, expect, test } from "vitest";
import { code } from "./code.test.kit";
import { isComposing, isTextField, isThePages, keyLabel, meaning, type Keymap } from "./keys";
import type { Code } from "./protocol";

const COMMANDS: Record<string, string> = {
  finish_and_next: "Enter",
  finish: "f",
  next: "ArrowRight",
  back: "ArrowLeft",
  next_unfinished: "n",
  next_word: "w",
  next_sentence: "s",
  next_coding: "ArrowDown",
  previous_coding: "ArrowUp",
  remove_coding: "Delete",
  facet: "v",
  unsure: "u",
  memo: "m",
  rating: "r",
  context: "c",
  filter: "/",
  pin: "-",
  undo: "z",
  redo: "y",
  help: "?",
};

const press = (key: string, more: Partial<KeyboardEvent> = {}) => ({
  key,
  code: /^[a-z]$/i.test(key) ? `Key${key.toUpperCase()}` : /^\d$/.test(key) ? `Digit${key}` : key,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  shiftKey: false,
  isComposing: false,
  keyCode: 0,
  ...more,
});

let keymap: Keymap;
const means = (key: string, more: Partial<KeyboardEvent> = {}) => meaning(press(key, more), keymap);

function setUp(commands: Record<string, string>, codes: Code[]): void {
  keymap = { commands, codes, given: new Map() };
}

beforeEach(() => {
  setUp(COMMANDS, [
    code("group", null, false),
    code("one", "1"),
    code("bee", "b"),
    code("low", "t"),
    code("cap", "T"),
  ]);
});

describe("what a press means", () => {
  test.each(Object.entries(COMMANDS))("%s is %s", (command, key) => {
    expect(means(key, { shiftKey: key === "?" })).toBe(command);
  });

  test("a code's key is its code, whatever the key's case", () => {
    expect(means("1")).toBe("code:one");
    expect(means("b")).toBe("code:bee");
    expect(means("t")).toBe("code:low");
    expect(means("T", { shiftKey: true })).toBe("code:cap");
    // French keyboards write digits with Shift.
    expect(means("1", { shiftKey: true, code: "Digit1" })).toBe("code:one");
  });

  test("a code's key wins over a Shift variant of a command", () => {
    setUp(COMMANDS, [code("wide", "W")]);
    expect(means("W", { shiftKey: true })).toBe("code:wide");
  });

  test("a code that only groups others cannot be applied", () => {
    setUp(COMMANDS, [code("group", "g", false)]);
    expect(means("g")).toBeNull();
  });

  test("Shift with a word's or sentence's key goes back; with the arrows it moves the selection's end", () => {
    expect(means("W", { shiftKey: true })).toBe("previous_word");
    expect(means("S", { shiftKey: true })).toBe("previous_sentence");
    expect(means("ArrowRight", { shiftKey: true })).toBe("end:word:1");
    expect(means("ArrowLeft", { shiftKey: true })).toBe("end:word:-1");
  });

  test("Shift with another named key is left alone", () => {
    expect(means("Enter", { shiftKey: true })).toBeNull();
    expect(means("Delete", { shiftKey: true })).toBeNull();
    expect(means("PageDown", { shiftKey: true })).toBeNull();
  });

  test("Shift and an arrow move the selection's end by a word or a sentence, with Alt or Ctrl its start", () => {
    const arrows = ["ArrowRight", "ArrowLeft", "ArrowDown", "ArrowUp"];
    const by = ["word:1", "word:-1", "sentence:1", "sentence:-1"];
    expect(arrows.map(key => means(key, { shiftKey: true }))).toEqual(by.map(what => `end:${what}`));
    for (const more of [{ altKey: true }, { ctrlKey: true }, { metaKey: true }]) {
      expect(arrows.map(key => means(key, { shiftKey: true, ...more }))).toEqual(
        by.map(what => `start:${what}`),
      );
    }
  });

  test("the keys of a page scroll, unless a command has them", () => {
    expect(["PageDown", "PageUp", "Home", "End"].map(key => means(key))).toEqual(
      ["PageDown", "PageUp", "Home", "End"].map(key => `scroll:${key}`),
    );
    setUp({ ...COMMANDS, next: "PageDown" }, []);
    expect(means("PageDown")).toBe("next");
  });

  test("a capital letter is not the letter", () => {
    expect(means("N", { shiftKey: true })).toBeNull();
    expect(means("B", { shiftKey: true })).toBeNull();
  });

  test.each([{ ctrlKey: true }, { metaKey: true }])("undo and redo with %o", modifier => {
    expect(means("z", modifier)).toBe("undo");
    expect(means("Z", { ...modifier, shiftKey: true })).toBe("redo");
    expect(means("y", modifier)).toBe("redo");
    expect(means("Y", { ...modifier, shiftKey: true })).toBeNull();
  });

  test("no other key with Ctrl means anything", () => {
    for (const key of ["1", "b", "Enter", "f", "ArrowRight", "Delete", "a"]) {
      expect(means(key, { ctrlKey: true })).toBeNull();
    }
    // AltGr is both at once.
    expect(means("1", { ctrlKey: true, altKey: true })).toBeNull();
  });

  test("Alt with a code's key shows its definition, also where Alt writes another character", () => {
    expect(means("1", { altKey: true })).toBe("detail:one");
    expect(means("¡", { altKey: true, code: "Digit1" })).toBe("detail:one");
    expect(means("1", { altKey: true, code: "Numpad1" })).toBe("detail:one");
    expect(means("∫", { altKey: true, code: "KeyB" })).toBe("detail:bee");
    expect(means("Enter", { altKey: true })).toBeNull();
    expect(means("m", { altKey: true })).toBeNull();
  });

  test("Alt goes by what is printed on the key before its place", () => {
    setUp(COMMANDS, [code("zed", "z"), code("why", "y")]);
    // A German keyboard has z where an American one has y.
    expect(means("z", { altKey: true, code: "KeyY" })).toBe("detail:zed");
  });

  test("Backspace removes a coding too, unless it means something else", () => {
    expect(means("Backspace")).toBe("remove_coding");
    setUp({ ...COMMANDS, memo: "Backspace" }, []);
    expect(means("Backspace")).toBe("memo");
  });

  test("remapped commands answer to their new key alone", () => {
    setUp({ ...COMMANDS, memo: "i", next_word: "j", finish_and_next: "F2" }, [code("em", "m")]);
    expect(means("i")).toBe("memo");
    expect(means("m")).toBe("code:em");
    expect(means("J", { shiftKey: true })).toBe("previous_word");
    expect(means("w")).toBeNull();
    expect(means("W", { shiftKey: true })).toBeNull();
    expect(means("F2")).toBe("finish_and_next");
    expect(means("Enter")).toBeNull();
  });

  test("a key that a code was given when it was used needs Shift; Caps Lock alone does not make it", () => {
    keymap = {
      commands: COMMANDS,
      codes: [code("cap", "T")],
      given: new Map([
        ["trust", "T"],
        ["joy", "J"],
      ]),
    };
    expect(means("J", { shiftKey: true })).toBe("code:joy");
    expect(means("J")).toBeNull();
    expect(means("J", { shiftKey: true, altKey: true })).toBe("detail:joy");
    // With Alt a Mac writes another character.
    expect(means("Ô", { shiftKey: true, altKey: true, code: "KeyJ" })).toBe("detail:joy");
    expect(means("T", { shiftKey: true })).toBe("code:cap");
  });

  test("Alt with an arrow scrolls the definition", () => {
    expect([means("ArrowDown", { altKey: true }), means("ArrowUp", { altKey: true })]).toEqual([
      "scroll_down",
      "scroll_up",
    ]);
  });

  test("what has no meaning has none", () => {
    for (const key of ["x", "0", " ", "F5", "d", "Escape"]) expect(means(key)).toBeNull();
    setUp(COMMANDS, []);
    expect(means("1")).toBeNull();
  });
});

describe("whose the key is", () => {
  test.each([
    ["Tab", {}, true],
    ["Tab", { shiftKey: true }, true],
    ["s", { ctrlKey: true }, true],
    ["s", { metaKey: true }, true],
    ["S", { ctrlKey: true }, true],
    ["S", { ctrlKey: true, shiftKey: true }, false],
    ["C", { ctrlKey: true, shiftKey: true }, true],
    ["c", { metaKey: true, shiftKey: true }, true],
    ["c", { ctrlKey: true }, false],
    ["s", {}, false],
    ["d", {}, false],
    ["z", { ctrlKey: true }, false],
    ["Enter", { ctrlKey: true }, false],
    ["Enter", { shiftKey: true }, false],
  ])("%s with %o: the page's = %s", (key, more, expected) => {
    expect(isThePages(press(key, more))).toBe(expected);
  });

  test("while an input method composes, the keys are its own", () => {
    expect(isComposing(press("1", { isComposing: true }))).toBe(true);
    expect(isComposing(press("Process", { keyCode: 229 }))).toBe(true);
    expect(isComposing(press("1"))).toBe(false);
  });

  test("text fields", () => {
    for (const name of ["textarea", "input", "select"])
      expect(isTextField(document.createElement(name))).toBe(true);
    const editable = document.createElement("div");
    expect(isTextField(editable)).toBe(false);
    editable.setAttribute("contenteditable", "true");
    expect(isTextField(editable)).toBe(true);
    expect(isTextField(null)).toBe(false);
    expect(isTextField(document)).toBe(false);
  });
});

test("keys on screen", () => {
  expect(["ArrowLeft", "Delete", "w", "?"].map(keyLabel)).toEqual(["←", "Del", "w", "?"]);
});
