// Selecting words with the mouse.
import { selectedSpan, selectionIn, showSelected, trimmed } from "../shared/spans";
import type { Session } from "./session";

/**
 * Follow a drag of the mouse from its start to its end, and select what it covered of the text. Until the
 * button is up nothing of the text is drawn anew: the browser ties the drag to the nodes where it began.
 */
export function startDrag(down: PointerEvent, session: Session, root: HTMLElement): void {
  const [target, unit] = [down.composedPath()[0] as Element, session.unit.value];
  const box = root.querySelector(".s7-text");
  if (!unit || !box || down.button !== 0 || target.closest("button, input, textarea") || onScrollBar(down, target)) return;
  const inText = box.contains(target);
  // What else was selected on the page would be dragged away, or taken for a part of this text.
  if (!down.shiftKey) selectionIn(box)?.removeAllRanges();
  else if (inText && session.selection.value) showSelected(box, session.selection.value);
  const turn = session.presses.waiting.value.length;
  // The second click of two may come before the first has settled.
  clearTimeout(session.settling);
  session.dragging.value = true;

  const settle = (released: boolean) => {
    const changed = session.unit.value?.unit_id !== unit.unit_id;
    const covered = released && !changed ? selectedSpan(box) : null;
    const span = covered && trimmed(unit.text, covered);
    if (span) selectionIn(box)?.removeAllRanges();
    if (span || (released && inText && !changed)) {
      session.presses.insert(turn, () => session.select(span), unit.unit_id);
    } else if (changed && session.presses.waiting.value.length > turn) session.presses.drop(0);
    session.dragging.value = false;
  };
  const end = (event: Event) => {
    // A move without a button: the release was not heard, as when it happens over another window.
    if (event.type === "pointermove" && (event as PointerEvent).buttons & 1) return;
    for (const name of ENDS) removeEventListener(name, end, true);
    // Only after this event has the browser's own selection settled.
    session.settling = setTimeout(() => settle(event.type !== "pointercancel"));
  };
  for (const name of ENDS) addEventListener(name, end, true);
}

const ENDS = ["pointerup", "pointercancel", "pointermove"];

/** A press on a scroll bar selects nothing, and its release is not always heard. */
function onScrollBar(press: PointerEvent, target: Element): boolean {
  const { left, top } = target.getBoundingClientRect();
  const [x, y] = [press.clientX - left - target.clientLeft, press.clientY - top - target.clientTop];
  const { clientWidth, clientHeight } = target;
  return clientWidth > 0 && (x < 0 || y < 0 || x >= clientWidth || y >= clientHeight);
}
