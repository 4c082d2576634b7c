// Selecting words with the mouse.
import { offsetAt, selectedSpan, selectionIn, showSelected } from "./onscreen";
import type { PressQueue } from "./pressqueue";
import type { CodedText, Span } from "./protocol";
import type { Selecting } from "./selecting";
import { trimmed } from "./spans";
import { snapped } from "./words";

/** What a drag needs of the view in which it begins. */
interface View {
  unit: { readonly value: CodedText | null };
  selecting: Selecting;
  presses: PressQueue;
}

/**
 * Follow a drag of the mouse from its start to its end, and select the words that it covered of the text:
 * with Alt
 * exactly what it covered, after three clicks whole sentences. Until the button is up nothing of the text is
 * drawn
 * anew: the browser ties the drag to the nodes where it began.
 */
export function startDrag(down: PointerEvent, view: View, root: HTMLElement): void {
  const [target, unit] = [down.composedPath()[0] as Element, view.unit.value];
  const box = root.querySelector(".s7-text");
  view.selecting.touched.value = down.pointerType === "touch" || down.pointerType === "pen";
  // A finger taps words, and scrolls; its long press is the browser's.
  if (view.selecting.touched.value) return;
  if (
    !unit ||
    !box ||
    down.button !== 0 ||
    target.closest("button, input, textarea") ||
    onScrollBar(down, target)
  )
    return;
  const inText = box.contains(target);
  // What else was selected on the page would be dragged away, or taken for a part of this text.
  if (!down.shiftKey) selectionIn(box)?.removeAllRanges();
  else if (inText && view.selecting.span.value) showSelected(box, view.selecting.span.value);
  const turn = view.presses.waiting.value.length;
  // The second click of two may come before the first has settled.
  clearTimeout(view.selecting.settling);
  view.selecting.dragging.value = true;
  view.selecting.leaveLetters();
  let clicks = 1;
  const count = (event: MouseEvent) => void (clicks = event.detail);
  addEventListener("mousedown", count, { capture: true, once: true });

  const settle = (release: PointerEvent) => {
    const released = release.type !== "pointercancel";
    const changed = view.unit.value?.unit_id !== unit.unit_id;
    const covered = released && !changed ? selectedSpan(box) : null;
    const exact = down.altKey || release.altKey;
    const span =
      covered &&
      chosen(unit.text, clicks > 2 ? (between(box, down, release) ?? covered) : covered, clicks, exact);
    if (span) selectionIn(box)?.removeAllRanges();
    if (span || (released && inText && !changed)) {
      view.presses.insert(turn, () => view.selecting.select(span), unit.unit_id);
    } else if (changed && view.presses.waiting.value.length > turn) view.presses.drop(0);
    view.selecting.dragging.value = false;
  };
  const end = (event: Event) => {
    // A move without a button: the release was not heard, as when it happens over another window.
    if (event.type === "pointermove" && (event as PointerEvent).buttons & 1) return;
    for (const name of ENDS) removeEventListener(name, end, true);
    removeEventListener("mousedown", count, true);
    // Only after this event has the browser's own selection settled.
    view.selecting.settling = setTimeout(() => settle(event as PointerEvent));
  };
  for (const name of ENDS) addEventListener(name, end, true);
}

function chosen(text: string, covered: Span, clicks: number, exact: boolean): Span | null {
  return exact ? trimmed(text, covered) : snapped(text, covered, clicks > 2 ? "sentence" : "word");
}

/**
 * The text between two presses: three clicks select a paragraph in the browser, and do not say where in it.
 */
function between(box: Element, down: PointerEvent, release: PointerEvent): Span | null {
  const [from, to] = [down, release].map(({ clientX, clientY }) => offsetAt(box, clientX, clientY));
  return from == null || to == null ? null : { start: Math.min(from, to), end: Math.max(from, to) };
}

const ENDS = ["pointerup", "pointercancel", "pointermove"];

/** A press on a scroll bar selects nothing, and its release is not always heard. */
function onScrollBar(press: PointerEvent, target: Element): boolean {
  const { left, top } = target.getBoundingClientRect();
  const [x, y] = [press.clientX - left - target.clientLeft, press.clientY - top - target.clientTop];
  const { clientWidth, clientHeight } = target;
  return clientWidth > 0 && (x < 0 || y < 0 || x >= clientWidth || y >= clientHeight);
}
