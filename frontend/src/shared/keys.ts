// What a key press means, and which presses are the widget's own.
import type { Code } from "./protocol";

type Press = Pick<
  KeyboardEvent,
  "key" | "code" | "ctrlKey" | "metaKey" | "altKey" | "shiftKey" | "isComposing" | "keyCode"
>;

/**
 * Hear the presses within `root` before the page does, until the function that is returned is called. The one
 * listener is on the window and before all others: Notebook 7 listens on the document before the widget's own
 * nodes hear anything, and there "d d" deletes a cell and "m" turns it into Markdown.
 */
export function hearKeys(
  root: () => Element | null,
  press: (event: KeyboardEvent, target: Element) => void,
): () => void {
  const hear = (event: KeyboardEvent) => {
    const target = event.composedPath()[0];
    if (!(target instanceof Element) || !root()?.contains(target) || isThePages(event)) return;
    event.stopPropagation();
    if (!isComposing(event) && !isModifier(event)) press(event, target);
  };
  addEventListener("keydown", hear, true);
  return () => removeEventListener("keydown", hear, true);
}

/**
 * Where what has the focus in `root` is removed or disabled, call `home` before another key can be pressed:
 * it would
 * go to the page, and in a notebook change a cell. Until the function that is returned is called.
 */
export function keepFocus(root: HTMLElement, home: () => void): () => void {
  let last: EventTarget | null = null;
  const isGone = () => last instanceof HTMLElement && (!last.isConnected || last.matches(":disabled"));
  const went = (event: FocusEvent) => {
    const target = event.composedPath()[0]!;
    last = root.contains(target as Node) ? target : null;
  };
  // What is only left (by a click elsewhere, by Escape) is still there once the script has ended.
  const left = () => queueMicrotask(() => void (isGone() || focusIn(root) || (last = null)));
  const seen = new MutationObserver(() => {
    const active = focusIn(root);
    if (isGone() && (!active || active === last)) home();
  });
  seen.observe(root, { childList: true, subtree: true, attributeFilter: ["disabled"] });
  addEventListener("focusin", went);
  root.addEventListener("focusout", left);
  return () => {
    seen.disconnect();
    removeEventListener("focusin", went);
  };
}

/** Keys that the page keeps: focus, saving the notebook, the command palette. */
export function isThePages(press: Press): boolean {
  const modified = press.ctrlKey || press.metaKey;
  const key = press.key.toLowerCase();
  return (
    press.key === "Tab" || (modified && ((key === "s" && !press.shiftKey) || (key === "c" && press.shiftKey)))
  );
}

export type TextField = HTMLInputElement | HTMLTextAreaElement;

export function isTextField(target: EventTarget | null): target is TextField {
  return target instanceof HTMLElement && target.matches("textarea, input, select, [contenteditable=true]");
}

/** While an input method composes, keys belong to it (229 is how some browsers say so). */
export function isComposing(press: Press): boolean {
  return press.isComposing || press.keyCode === 229;
}

export function isModifier(press: Press): boolean {
  return ["Shift", "Control", "Alt", "AltGraph", "Meta", "CapsLock"].includes(press.key);
}

/** The element in `root` that has the focus. */
export function focusIn(root: HTMLElement): HTMLElement | null {
  const active = (root.getRootNode() as Document | ShadowRoot).activeElement;
  return active instanceof HTMLElement && root.contains(active) ? active : null;
}

/** Do in the field what the browser would have done, had the field been there when the key was pressed. */
export function write(field: TextField, press: Press): void {
  const text = press.key === "Enter" ? "\n" : press.key;
  const [start, end] = [field.selectionStart ?? 0, field.selectionEnd ?? 0];
  if (press.key === "Backspace")
    field.setRangeText("", start === end ? Math.max(0, start - 1) : start, end, "end");
  else if (text.length === 1 && !press.ctrlKey && !press.metaKey) field.setRangeText(text, start, end, "end");
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

export interface Keymap {
  /** The key of each command. */
  commands: Record<string, string>;
  codes: readonly Code[];
  /** Code id → a capital letter, for codes that got a key when they were used. */
  given: ReadonlyMap<string, string>;
}

/** What an arrow moves together with Shift, the end of the selection; with Alt or Ctrl as well, its start. */
const ARROWS: Record<string, string> = {
  ArrowRight: "word:1",
  ArrowLeft: "word:-1",
  ArrowDown: "sentence:1",
  ArrowUp: "sentence:-1",
};
export const SCROLLS = ["PageDown", "PageUp", "Home", "End"];

/**
 * What the press means: a command's name, or one of `code:` and `detail:` with an id, `end:` and `start:`
 * with what
 * that edge of the selection moves by, `scroll:` with the key; or null.
 */
export function meaning(press: Press, { commands, codes, given }: Keymap): string | null {
  const arrow = press.shiftKey && ARROWS[press.key];
  if (arrow) return `${press.altKey || press.ctrlKey || press.metaKey ? "start" : "end"}:${arrow}`;
  if (press.ctrlKey || press.metaKey) {
    const key = press.key.toLowerCase();
    if (key === "z") return press.shiftKey ? "redo" : "undo";
    return key === "y" && !press.shiftKey ? "redo" : null;
  }
  // Caps Lock alone makes no capital letter: it would code where a command is meant.
  const used =
    press.shiftKey &&
    [...given].find(([, key]) => key === press.key || (press.altKey && `Key${key}` === press.code));
  if (press.altKey) {
    if (press.key === "ArrowDown") return "scroll_down";
    if (press.key === "ArrowUp") return "scroll_up";
    if (used) return `detail:${used[0]}`;
    // With Alt some keyboards write another character (Alt+1 is ¡ on a Mac): then the key's place counts.
    const plain = press.code.replace(/^(Digit|Key|Numpad)/, "").toLowerCase();
    const code =
      codes.find(({ key }) => key === press.key) ?? codes.find(({ key }) => key?.toLowerCase() === plain);
    return code ? `detail:${code.id}` : null;
  }
  const code = codes.find(code => code.codable && code.key === press.key);
  if (code) return `code:${code.id}`;
  const command = Object.keys(commands).find(name => commands[name] === press.key);
  if (command) return press.shiftKey && press.key.length > 1 ? null : command;
  if (used) return `code:${used[0]}`;
  const lower = press.key.toLowerCase();
  if (press.shiftKey && lower === commands.next_word) return "previous_word";
  if (press.shiftKey && lower === commands.next_sentence) return "previous_sentence";
  if (SCROLLS.includes(press.key) && !press.shiftKey) return `scroll:${press.key}`;
  return press.key === "Backspace" ? "remove_coding" : null;
}

/** Words for a key on screen. */
export function keyLabel(key: string): string {
  const words: Record<string, string> = {
    ArrowLeft: "←",
    ArrowRight: "→",
    ArrowUp: "↑",
    ArrowDown: "↓",
    Delete: "Del",
    " ": "Space",
  };
  return words[key] ?? key;
}
