// One Escape too many costs nothing: the notebook gets the keyboard after two deliberate presses alone.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Leaving } from "./leaving";

let words: string[];
let leaving: Leaving;
let root: HTMLElement;
const notebook = () => document.querySelector<HTMLElement>(".jp-Notebook");
const at = (ms: number, repeat = false) => {
  vi.setSystemTime(ms);
  leaving.escape({ repeat });
};
const isLeft = () => document.activeElement !== root;

beforeEach(() => {
  vi.useFakeTimers();
  document.body.innerHTML =
    '<div class="jp-NotebookPanel"><div class="jp-Notebook" tabindex="-1"><div class="s7" tabindex="0"></div></div></div>';
  root = document.querySelector<HTMLElement>(".s7")!;
  root.focus();
  words = [];
  leaving = new Leaving(
    () => root,
    said => void words.push(said),
  );
});

afterEach(() => {
  leaving.close();
  vi.useRealTimers();
});

test("the first press says how to leave and keeps the focus, the second gives it to the notebook", () => {
  at(1000);
  expect([words, isLeft()]).toEqual([["Press Esc again to return to the notebook"], false]);
  at(1300);
  expect([words.at(-1), document.activeElement]).toEqual(["", notebook()]);
});

test("presses that come faster, however many, leave nothing", () => {
  for (let ms = 1000; ms < 4000; ms += 299) at(ms);
  expect(isLeft()).toBe(false);
});

test("a key that is held down, and a press too late, leave nothing", () => {
  at(1000);
  at(1500, true);
  expect(isLeft()).toBe(false);
  at(4501);
  expect(isLeft()).toBe(false);
  at(5000);
  expect(isLeft()).toBe(true);
});

test("any other key in between begins again, a modifier does not", () => {
  at(1000);
  dispatchEvent(new KeyboardEvent("keydown", { key: "m" }));
  expect(words.at(-1)).toBe("");
  at(1500);
  expect(isLeft()).toBe(false);
  dispatchEvent(new KeyboardEvent("keydown", { key: "Shift" }));
  at(2000);
  expect(isLeft()).toBe(true);
});

test("on a page without a notebook's panel it leaves for the page", () => {
  document.querySelector(".jp-NotebookPanel")!.className = "";
  root.focus();
  at(1000);
  at(2000);
  expect([words[0], document.activeElement]).toEqual([
    "Press Esc again to return to the page",
    document.body,
  ]);
});
