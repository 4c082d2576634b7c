// What is selected and what is coded are the same words: whatever is pressed and dragged, the record has what
// the screen shows.
import { act } from "preact/test-utils";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { numbers } from "../shared/numbers.test.kit";
import { shelf } from "../shared/outbox";
import { KEPT_MS } from "./edges";
import { Kernel } from "./kernel.test.kit";
import widget from "./widget.test.kit";

const TEXT = "It listened to what I said. Then it asked how I had slept.";
/** The keys of the codes, as they are called on the screen. */
const CODES: Record<string, string> = { 1: "Affective", 2: "Cognitive", 3: "Response" };

let kernel: Kernel;
let el: HTMLElement;
let close: (() => void) | undefined;

const find = <E extends Element = HTMLElement>(selector: string) => el.querySelector<E>(selector);
const quote = () => find(".s7-active-bar q")?.textContent?.slice(1, -1);
const answer = () => act(() => kernel.answer());
/** Answer, and let pass the time after which what was moved is recorded. */
async function settle(): Promise<void> {
  await act(() => void vi.advanceTimersByTime(KEPT_MS));
  await answer();
}

async function press(...keys: string[]): Promise<void> {
  for (const each of keys) {
    const [shiftKey, altKey] = [each.includes("Shift+"), each.includes("Alt+")];
    const key = each.replace(/Alt\+|Shift\+/g, "");
    await act(
      () =>
        void find(".s7")!.dispatchEvent(
          new KeyboardEvent("keydown", { key, shiftKey, altKey, bubbles: true, cancelable: true }),
        ),
    );
  }
}

/** A press on a handle, and its release over this place of the text. */
async function dragHandle(edge: "start" | "end", to: number): Promise<void> {
  const box = find(".s7-text")!;
  const handle = find(`.s7-handle-${edge}`)!;
  handle.setPointerCapture = () => {};
  const caret = () => {
    const walker = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
    for (
      let at = to, node = walker.nextNode();
      node;
      at -= node.textContent!.length, node = walker.nextNode()
    ) {
      if (at <= node.textContent!.length) return { offsetNode: node, offset: at };
    }
    return null;
  };
  Object.assign(document, { caretPositionFromPoint: caret });
  for (const name of ["pointerdown", "pointermove", "pointerup"]) {
    await act(() => void handle.dispatchEvent(new PointerEvent(name, { bubbles: true, button: 0 })));
  }
  Object.assign(document, { caretPositionFromPoint: undefined });
}

/** Drag the mouse over these words. */
async function dragOver(start: number, end: number): Promise<void> {
  const box = find(".s7-text")!;
  await act(() => {
    box.dispatchEvent(new MouseEvent("pointerdown", { bubbles: true, composed: true }));
    const [range, walker] = [document.createRange(), document.createTreeWalker(box, NodeFilter.SHOW_TEXT)];
    for (
      let at = 0, node = walker.nextNode();
      node;
      at += node.textContent!.length, node = walker.nextNode()
    ) {
      const here = (place: number) => place >= at && place <= at + node!.textContent!.length;
      if (here(start)) range.setStart(node, start - at);
      if (here(end)) range.setEnd(node, end - at);
    }
    document.getSelection()!.addRange(range);
    document.dispatchEvent(new MouseEvent("pointerup"));
  });
  await act(() => void vi.advanceTimersByTime(5));
}

/** A click on the text at this place. */
const clickAt = (at: number) =>
  act(() => {
    for (const piece of el.querySelectorAll<HTMLElement>(".s7-text span")) {
      if ((at -= piece.textContent!.length) < 0) return piece.click();
    }
  });

/** From where to where the text is drawn so; null where it is not. */
function drawn(is: (piece: HTMLElement) => boolean): string | null {
  let [at, start, end] = [0, -1, -1];
  for (const piece of el.querySelectorAll<HTMLElement>(".s7-text span")) {
    const length = piece.textContent!.length;
    if (is(piece)) [start, end] = [start < 0 ? at : start, at + length];
    at += length;
  }
  return start < 0 ? null : `${start}–${end}`;
}

const selected = () => drawn(piece => piece.classList.contains("s7-selected"));
const words = ({ start, end }: { start?: number | null; end?: number | null }) =>
  start == null ? null : `${start}–${end}`;
const recorded = () =>
  kernel
    .unit(0)
    .codings.map(({ code, ...on }) => `${code} ${words(on)}`)
    .sort();
/** The words of the text that carry a code, for each code, on the screen and in the record. */
const coverage = (carries: (label: string, at: number) => boolean) =>
  Object.values(CODES).map(label => [...TEXT].map((_, at) => (carries(label, at) ? "x" : ".")).join(""));
function onScreen(): string[] {
  const labels = [...el.querySelectorAll<HTMLElement>(".s7-text span")].flatMap(piece =>
    [...piece.textContent!].map(() => piece.title.split(" · ")),
  );
  return coverage((label, at) => labels[at]!.includes(label));
}
function inRecord(): string[] {
  const { codings } = kernel.unit(0);
  return coverage((label, at) =>
    codings.some(
      ({ code, start, end }) => code === label.toLowerCase() && start !== null && start <= at && at < end!,
    ),
  );
}

async function show(): Promise<void> {
  await act(() => close?.());
  el = document.createElement("div");
  document.body.replaceChildren(el);
  document.getSelection()!.removeAllRanges();
  shelf().clear();
  kernel = new Kernel([TEXT, "It did not."]);
  await act(() => void (close = widget.render({ model: kernel.model(), el })));
  await answer();
}

beforeEach(async () => {
  await show();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
});

afterEach(async () => {
  vi.useRealTimers();
  await act(() => close?.());
  close = undefined;
  shelf().clear();
});

describe("once a code's key was pressed, what is selected and what is coded are the same words", () => {
  test("a handle makes both shorter, and the second code goes to the words as they are now", async () => {
    await dragOver(3, 19);
    await press("1");
    await dragHandle("end", 11);
    expect([selected(), quote()]).toEqual(["3–11", "listened"]);
    await press("2");
    await settle();
    expect(recorded()).toEqual(["affective 3–11", "cognitive 3–11"]);
  });

  test("so do Shift and the arrows, with Alt at the start", async () => {
    await press("w", "w", "Shift+ArrowRight", "1", "Shift+ArrowLeft", "Alt+Shift+ArrowLeft");
    expect([selected(), quote()]).toEqual(["0–11", "It listened"]);
    await settle();
    expect(recorded()).toEqual(["affective 0–11"]);
    await press("2");
    await answer();
    expect(recorded()).toEqual(["affective 0–11", "cognitive 0–11"]);
  });

  test("all codes that were given to the selection move with it, in one step; what each states stays", async () => {
    await press("w", "w", "Shift+ArrowRight", "1", "u", "2", "v", "3", "Shift+ArrowLeft");
    expect(find(".s7-status")!.textContent).toBe("Response, Affective, Cognitive: listened");
    await settle();
    expect(recorded()).toEqual(["affective 3–11", "cognitive 3–11", "response 3–11"]);
    expect(
      kernel
        .unit(0)
        .codings.map(({ code, confidence, facets }) => [code, confidence, facets.valence])
        .sort(),
    ).toEqual([
      ["affective", "unsure", undefined],
      ["cognitive", null, "met"],
      ["response", null, undefined],
    ]);
    await press("z");
    await answer();
    expect(recorded()).toEqual(["affective 3–14", "cognitive 3–14", "response 3–14"]);
    expect([selected(), quote()]).toEqual(["3–14", "listened to"]);
    await press("Shift+ArrowLeft");
    await settle();
    expect(recorded()).toEqual(["affective 3–11", "cognitive 3–11", "response 3–11"]);
  });

  test("one that is marked alone moves alone, and says which words it has", async () => {
    await press("w", "w", "Shift+ArrowRight", "1", "2", "ArrowUp", "Shift+ArrowLeft");
    await settle();
    expect(recorded()).toEqual(["affective 3–11", "cognitive 3–14"]);
  });

  test("a click on a coding, and an arrow to it, select its words for the next code", async () => {
    await press("w", "w", "1", "Escape");
    expect(selected()).toBeNull();
    await clickAt(4);
    expect(selected()).toBe("3–11");
    await press("2", "Escape", "ArrowUp");
    await answer();
    expect(selected()).toBe("3–11");
    await press("1");
    await answer();
    expect(recorded()).toEqual(["cognitive 3–11"]);
    expect([selected(), quote()]).toEqual(["3–11", "listened"]);
  });

  test("Escape lets go of the words: no ends to drag, and the next code is of the whole text", async () => {
    await press("w", "w", "1");
    expect(find(".s7-handle")).not.toBeNull();
    await press("Escape");
    expect(find(".s7-handle")).toBeNull();
    await press("2");
    await answer();
    expect(recorded()).toEqual(["affective 3–11", "cognitive null"]);
  });

  test("a new selection moves nothing, also one of the very words of a coding", async () => {
    await press("w", "w", "1", "w", "Shift+W", "Shift+ArrowRight");
    expect([selected(), find(".s7-handle")]).toEqual(["3–14", null]);
    await settle();
    expect(recorded()).toEqual(["affective 3–11"]);
    await press("2");
    await answer();
    expect(recorded()).toEqual(["affective 3–11", "cognitive 3–14"]);
  });

  test("taken back, a code leaves its words selected; done again, they are its own again", async () => {
    await press("w", "w", "1", "z");
    await answer();
    expect([selected(), recorded()]).toEqual(["3–11", []]);
    await press("2", "z", "y");
    await answer();
    await press("Shift+ArrowRight");
    await settle();
    expect(recorded()).toEqual(["cognitive 3–14"]);
    await press("z", "z", "y", "y");
    await answer();
    expect([selected(), recorded()]).toEqual(["3–14", ["cognitive 3–14"]]);
  });

  test("the words of a coding that a code's key widened stay selected when that is taken back", async () => {
    await press("w", "w", "1", "w", "Shift+W", "Shift+ArrowRight", "1");
    await answer();
    expect(recorded()).toEqual(["affective 3–14"]);
    await press("z");
    await answer();
    expect([selected(), recorded()]).toEqual(["3–14", ["affective 3–11"]]);
  });

  test("where one of them has the code there already, none moves and nothing is lost", async () => {
    await press("w", "w", "1", "w", "Shift+W", "Shift+ArrowRight", "2", "ArrowUp", "Escape", "w", "w", "2");
    await answer();
    expect(recorded()).toEqual(["affective 3–11", "cognitive 3–11"]);
  });
});

/* ---- drawn sequences ---- */

const MOVES = ["Shift+ArrowRight", "Shift+ArrowLeft", "Alt+Shift+ArrowRight", "Alt+Shift+ArrowLeft"];
const SELECTS = ["w", "W", "s", "Escape", "ArrowDown", "ArrowUp"];
/** How many are drawn, and how many steps each has. */
const [SEQUENCES, STEPS] = [20, 24];

/**
 * A code's key: what it records is on the words that were selected when it was pressed, or else on the whole
 * text.
 */
async function pressCode(key: string): Promise<void> {
  const target = selected();
  await press(key);
  await answer();
  const made = kernel.acts().at(-1)!;
  expect([made.kind, made.code, words(made)]).toEqual([
    expect.stringMatching(/apply|remove/),
    CODES[key]!.toLowerCase(),
    target,
  ]);
}

/**
 * An end moves, by a key or by its handle: with handles, codings of the selected words and the selection;
 * else neither or one of them.
 */
async function moveEnd(random: (below: number) => number): Promise<void> {
  const [handle, before, held] = [!!find(".s7-handle"), recorded(), selected()];
  if (handle && random(2)) await dragHandle(random(2) ? "end" : "start", random(TEXT.length));
  else await press(MOVES[random(MOVES.length)]!);
  const [shown, now, name] = [selected(), quote(), find(".s7-active-bar strong")?.title.toLowerCase()];
  if (handle) expect(TEXT.slice(...(shown!.split("–").map(Number) as [number, number]))).toBe(now);
  if (!random(3)) return pressCode(String(1 + random(3)));
  await settle();
  const after = recorded();
  expect(after).toHaveLength(before.length);
  if (handle)
    expect(after).toEqual(
      expect.arrayContaining([`${name} ${shown}`, ...before.filter(one => !one.endsWith(` ${held}`))]),
    );
  else if (held) expect(after).toEqual(before);
}

/** What the text, the chips and the bar show is what is recorded. */
function compare(): void {
  const chips = [...el.querySelectorAll<HTMLElement>(".s7-whole li button")].map(({ title }) =>
    title.split(/[,:]/)[0]!.toLowerCase(),
  );
  expect(onScreen()).toEqual(inRecord());
  expect(chips.sort().map(code => `${code} null`)).toEqual(recorded().filter(one => one.endsWith("null")));
}

async function step(random: (below: number) => number): Promise<void> {
  const [before, kind] = [recorded(), random(12)];
  if (kind < 4) await pressCode(String(1 + random(3)));
  else if (kind < 7) await moveEnd(random);
  else if (kind < 9) await press(SELECTS[random(SELECTS.length)]!);
  else if (kind === 9)
    await (random(2) ? clickAt(random(TEXT.length)) : dragOver(random(28), 29 + random(TEXT.length - 29)));
  else await press(["u", "v", "Delete", "z"][random(4)]!);
  await settle();
  compare();
  const after = recorded();
  if (kind > 9 || kernel.acts().length === 0 || JSON.stringify(before) === JSON.stringify(after) || random(2))
    return;
  await press("z", "y");
  await settle();
  expect(recorded()).toEqual(after);
  compare();
}

test("whatever is pressed, dragged, clicked and undone, the record has what the screen shows", async () => {
  const moved = { alone: 0, together: 0 };
  for (let n = 1; n <= SEQUENCES; n++) {
    const random = numbers(1000 + 7919 * n);
    for (let at = 0; at < STEPS; at++) {
      await step(random).catch((error: Error) => {
        error.message = `sequence ${n}, step ${at}: ${error.message}`;
        throw error;
      });
    }
    for (const { from, also } of kernel.acts()) if (from) moved[also?.length ? "together" : "alone"]++;
    // All of it, taken back step by step.
    for (let at = 0; at < 2 * STEPS && kernel.unit(0).codings.length; at++)
      await press("z"), await settle(), compare();
    expect(recorded()).toEqual([]);
    await show();
  }
  expect([moved.alone > SEQUENCES, moved.together > SEQUENCES / 4]).toEqual([true, true]);
}, 600_000);
