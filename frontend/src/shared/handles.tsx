// The two ends of a marked coding in the text, to be dragged.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { offsetAt, paneOf, TextNodes, whenResized } from "./onscreen";
import type { Span } from "./protocol";
import type { Edge } from "./words";

interface Props {
  text: { current: HTMLElement | null };
  span: Span;
  colour: string;
  /** The edge was dragged to this place of the text; with Alt exactly there. */
  onDrag: (edge: Edge, at: number, exact: boolean) => void;
  onDrop: () => void;
  /** Where the text's blocks begin; when that changes, the handles are measured again. */
  starts: readonly number[];
}

interface Place {
  left: number;
  top: number;
  height: number;
}

/** Beyond the pane's edge the text scrolls by so many pixels with each move of the mouse. */
const SCROLL = 12;

export function Handles({ text, span, colour, onDrag, onDrop, starts }: Props) {
  const [places, setPlaces] = useState<(Record<Edge, Place> & { rightToLeft: boolean }) | null>(null);
  /** Which one is held, and how far from the mouse the place is that it moves. */
  const [grabbed, setGrabbed] = useState<{ edge: Edge; dx: number; dy: number } | null>(null);
  const measure = () => {
    const at = text.current;
    if (!at) return;
    const [nodes, page] = [new TextNodes(at, starts), at.parentElement!.getBoundingClientRect()];
    const rect = (start: number, last: boolean) => {
      const all = nodes.range({ start, end: start + 1 }).getClientRects();
      return all[last ? all.length - 1 : 0] ?? new DOMRect();
    };
    const [first, last] = [rect(span.start, false), rect(span.end - 1, true)];
    const rightToLeft = getComputedStyle(at).direction === "rtl";
    const place = (rect: DOMRect, right: boolean): Place => ({
      left: (right ? rect.right : rect.left) - page.left,
      top: rect.top - page.top,
      height: rect.height,
    });
    setPlaces({ start: place(first, rightToLeft), end: place(last, !rightToLeft), rightToLeft });
  };
  useLayoutEffect(measure, [span.start, span.end, starts]);
  const again = useRef(measure);
  again.current = measure;
  useLayoutEffect(() => whenResized(() => again.current(), text.current!), []);

  const down = (edge: Edge) => (event: PointerEvent) => {
    if (event.button !== 0) return;
    event.preventDefault();
    event.stopPropagation();
    const { left, top, height } = places![edge];
    const page = text.current!.parentElement!.getBoundingClientRect();
    setGrabbed({
      edge,
      dx: page.left + left - event.clientX,
      dy: page.top + top + height / 2 - event.clientY,
    });
    (event.currentTarget as Element).setPointerCapture(event.pointerId);
  };
  const move = (event: PointerEvent) => {
    if (!grabbed) return;
    const [box, pane] = [text.current!.getBoundingClientRect(), paneOf(text.current!)];
    const seen = pane.getBoundingClientRect();
    if (event.clientY < seen.top) pane.scrollTop -= SCROLL;
    if (event.clientY > seen.bottom) pane.scrollTop += SCROLL;
    // A place left or right of a line, or above or below the text, is the nearest in it. Never the very edge
    // of a letter's box.
    const within = (value: number, low: number, high: number) => Math.max(low, Math.min(value, high));
    const x = within(event.clientX + grabbed.dx, box.left + 1, box.right - 1);
    const y = within(
      event.clientY + grabbed.dy,
      Math.max(box.top, seen.top) + 3,
      Math.min(box.bottom, seen.bottom) - 3,
    );
    const offset = offsetAt(text.current!, x, y);
    if (offset !== null) onDrag(grabbed.edge, offset, event.altKey);
  };
  const up = () => {
    if (grabbed) onDrop();
    setGrabbed(null);
  };
  if (!places) return null;
  return (
    <div
      class={grabbed ? "s7-handles s7-grabbed" : "s7-handles"}
      style={{ "--s7-c": colour }}
      aria-hidden="true"
    >
      {(["start", "end"] as const).map(edge => (
        <i
          key={edge}
          class={`s7-handle s7-handle-${edge}${(edge === "start") === places.rightToLeft ? " s7-leftwards" : ""}`}
          style={{
            left: `${places[edge].left}px`,
            top: `${places[edge].top}px`,
            height: `${places[edge].height}px`,
          }}
          onPointerDown={down(edge)}
          onPointerMove={move}
          onPointerUp={up}
          onPointerCancel={up}
          onMouseDown={event => event.stopPropagation()}
        />
      ))}
    </div>
  );
}
