// What keys do in the frame of every widget: one thing is shut after the other, and nothing is lost or left
// by a slip.
import { useRef } from "preact/hooks";
import { act } from "preact/test-utils";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Model } from "./channel";
import { WidgetSession } from "./session";
import { Frame, widget } from "./frame";

class Session extends WidgetSession<{ type: "hello" }, { type: "welcome" }, never> {
  readonly presses = this.queue();
}

let el: HTMLElement;
let session: Session;
let close: () => void;
let done: string[];
let form: boolean;

function Page({ session: mine }: { session: Session }) {
  const root = useRef<HTMLDivElement>(null);
  session = mine;
  const back = () => form && !(form = false);
  const note = (what: string) => () => void done.push(what);
  return (
    <Frame
      {...{ session, root, back }}
      name="test"
      label="Test"
      keys={[["a", "All of it"]]}
      commands={{ a: note("a"), ArrowDown: note("down") }}
      undo={note("undo")}
      redo={note("redo")}
      home=".s7"
      still="button"
      bar={<b>Test</b>}
      placeholder={false}
    >
      <button type="button" class="other">
        Other
      </button>
      <textarea />
    </Frame>
  );
}

const find = <E extends HTMLElement>(selector: string) => el.querySelector<E>(selector);
const press = (key: string, more: KeyboardEventInit = {}, target: Element = find(".s7")!) =>
  act(
    () =>
      void target.dispatchEvent(
        new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more }),
      ),
  );

beforeEach(async () => {
  [done, form] = [[], false];
  el = document.createElement("div");
  document.body.replaceChildren(el);
  const model: Model = { send: () => undefined, on: () => undefined, off: () => undefined };
  await act(() => void (close = widget(Session, Page).render({ model, el })));
  find(".s7")!.focus();
});
afterEach(() => close());

test("Escape shuts the card, then what is open in the page, then the message, and leaves only after that", async () => {
  form = true;
  await press("?");
  await act(() => void (session.message.value = "Look"));
  const stands = () => [!!find(".s7-help"), form, !!find(".s7-message")];
  expect(stands()).toEqual([true, true, true]);
  await press("Escape");
  expect(stands()).toEqual([false, true, true]);
  await press("Escape");
  expect(stands()).toEqual([false, false, true]);
  await press("Escape");
  expect([stands(), session.announced.value]).toEqual([[false, false, false], ""]);
  await press("Escape");
  expect(session.announced.value).toBe("Press Esc again to return to the page");
  expect(document.activeElement).toBe(find(".s7"));
});

test("Escape brings the focus home before it leaves", async () => {
  find(".other")!.focus();
  await press("Escape", {}, find(".other")!);
  expect([document.activeElement === find(".s7"), session.announced.value]).toEqual([true, ""]);
});

test("a key held down does nothing twice but for the arrows, and Ctrl+Z turns back", async () => {
  for (const repeat of [false, true]) for (const key of ["a", "ArrowDown"]) await press(key, { repeat });
  await press("z", { ctrlKey: true });
  await press("Z", { ctrlKey: true, shiftKey: true });
  await press("a", { altKey: true });
  expect(done).toEqual(["a", "down", "down", "undo", "redo"]);
  await press("a", {}, find("textarea")!);
  expect(done.length).toBe(5);
});

test("where what has the focus is removed or disabled, the next key is still the widget's", async () => {
  const [other, last] = [find<HTMLButtonElement>(".other")!, find<HTMLTextAreaElement>("textarea")!];
  other.focus();
  other.disabled = true;
  await new Promise(seen => setTimeout(seen));
  expect(document.activeElement).toBe(find(".s7"));
  last.focus();
  last.remove();
  await new Promise(seen => setTimeout(seen));
  expect(document.activeElement).toBe(find(".s7"));
});

test("what was left by a click elsewhere takes no focus back when it is removed", async () => {
  const other = find(".other")!;
  other.focus();
  other.blur();
  await new Promise(seen => setTimeout(seen));
  other.remove();
  await new Promise(seen => setTimeout(seen));
  expect(document.activeElement).toBe(document.body);
});

test("a button takes no focus from a click, and what is to have it gets it once it is drawn", async () => {
  const click = new MouseEvent("mousedown", { bubbles: true, cancelable: true });
  await act(() => void find(".other")!.dispatchEvent(click));
  expect(click.defaultPrevented).toBe(true);
  await act(() => void (session.focus.value = "textarea"));
  expect(document.activeElement).toBe(find("textarea"));
  await act(
    () =>
      void find(".other")!.dispatchEvent(new MouseEvent("mousedown", { bubbles: true, cancelable: true })),
  );
  expect(document.activeElement).toBe(find("textarea"));
  await act(() => void (session.focus.value = ".gone"));
  await Promise.resolve();
  expect(document.activeElement).toBe(find(".s7"));
});

test("the card ends with the keys that all widgets have", async () => {
  await press("?");
  expect([...el.querySelectorAll(".s7-help kbd")].map(kbd => kbd.textContent)).toEqual([
    "a",
    "F",
    "?",
    "Esc",
  ]);
});

test("the card of keys is shut by any other key, which does what it does; arrows scroll it", async () => {
  await press("?");
  await press("ArrowDown");
  expect([!!find(".s7-help"), done]).toEqual([true, []]);
  await press("a");
  expect([!!find(".s7-help"), done]).toEqual([false, ["a"]]);
});

test("F shows the widget over the whole window and back without drawing it again", async () => {
  const [root, field] = [find(".s7")!, find("textarea")!];
  const isLarge = () => [root.classList.contains("s7-large"), root.popover, el.style.minHeight !== ""];
  await press("F");
  expect(isLarge()).toEqual([true, "manual", true]);
  await press("F", { repeat: true });
  expect(isLarge()[0]).toBe(true);
  await press("F", {}, field);
  expect(isLarge()[0]).toBe(true);
  form = true;
  await press("Escape");
  expect([form, isLarge()[0]]).toEqual([false, true]);
  await press("Escape");
  expect([isLarge(), session.announced.value]).toEqual([[false, null, false], ""]);
  await press("F");
  await press("F");
  expect([isLarge()[0], find("textarea") === field, done]).toEqual([false, true, []]);
});

test("where a window is as long as the notebook, large is what fits the screen", async () => {
  const height = innerHeight;
  Object.defineProperty(screen, "height", { value: 900, configurable: true });
  Object.defineProperty(screen, "availHeight", { value: 860, configurable: true });
  Object.assign(globalThis, { innerHeight: 9000 });
  await press("F");
  const root = find(".s7")!;
  expect([root.style.getPropertyValue("--s7-frame"), root.classList.contains("s7-large")]).toEqual([
    "680px",
    false,
  ]);
  await press("F");
  expect(root.style.getPropertyValue("--s7-frame")).toBe("min(640px, 640px)");
  Object.assign(globalThis, { innerHeight: height });
});
