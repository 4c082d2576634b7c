// The text on the screen: the browser's selection, places and rectangles as offsets.
import type { Span } from "./protocol";

/** The browser's selection, which is the shadow root's own where there is one. */
export function selectionIn(container: Element): Selection | null {
  const root = container.getRootNode() as Document & { getSelection?: () => Selection | null };
  return root.getSelection?.() ?? document.getSelection();
}

/** Text nodes, and the offset at which each begins. */
interface Nodes {
  nodes: readonly Node[];
  starts: readonly number[];
}

/**
 * The text nodes of a container: turns spans into ranges. Of one whose blocks are known, only those that are
 * asked for are read.
 */
export class TextNodes {
  readonly #container: Element;
  readonly #starts: readonly number[];
  readonly #read = new Map<number, Nodes>();

  constructor(container: Element, starts: readonly number[] = [0]) {
    this.#container = container;
    this.#starts = starts;
  }

  range({ start, end }: Span): Range {
    const range = document.createRange();
    const [from, to] = [this.#holding(start), this.#holding(end - 1)];
    if (from && to) {
      range.setStart(from.node, start - from.start);
      range.setEnd(to.node, end - to.start);
    }
    return range;
  }

  #holding(offset: number): { node: Node; start: number } | null {
    const block = lastUpTo(this.#starts, offset);
    const { nodes, starts } = this.#nodesOf(block);
    const at = lastUpTo(starts, offset);
    return nodes[at] ? { node: nodes[at], start: starts[at]! } : null;
  }

  #nodesOf(block: number): Nodes {
    const known = this.#read.get(block);
    if (known) return known;
    const within = this.#starts.length > 1 ? this.#container.children[block]! : this.#container;
    const walker = document.createTreeWalker(within, NodeFilter.SHOW_TEXT);
    const [nodes, starts]: [Node[], number[]] = [[], []];
    for (
      let at = this.#starts[block] ?? 0, node = walker.nextNode();
      node;
      at += node.textContent!.length, node = walker.nextNode()
    ) {
      nodes.push(node);
      starts.push(at);
    }
    this.#read.set(block, { nodes, starts });
    return { nodes, starts };
  }
}

/** The index of the last start that is not beyond the offset. */
function lastUpTo(starts: readonly number[], offset: number): number {
  return Math.max(0, firstThat(starts, start => start > offset) - 1);
}

/** The index of the first that fits, of a list in which all behind one that fits do so too. */
export function firstThat<T>(list: readonly T[], fits: (one: T) => boolean): number {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (fits(list[middle]!)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Hand a span over to the browser as its selection, so that Shift and a click extend it. */
export function showSelected(container: Element, span: Span): void {
  const { startContainer, startOffset, endContainer, endOffset } = new TextNodes(container).range(span);
  selectionIn(container)?.setBaseAndExtent(startContainer, startOffset, endContainer, endOffset);
}

/** The browser's selection as offsets into the text that `container` shows; null where it is elsewhere. */
export function selectedSpan(container: Element): Span | null {
  const selection = selectionIn(container);
  if (!selection || selection.rangeCount === 0 || selection.isCollapsed) return null;
  const range = selection.getRangeAt(0);
  if (!range.intersectsNode(container)) return null;
  const whole = document.createRange();
  whole.selectNodeContents(container);
  // A drag that leaves the text is cut at its ends.
  if (range.compareBoundaryPoints(Range.START_TO_START, whole) > 0)
    whole.setStart(range.startContainer, range.startOffset);
  if (range.compareBoundaryPoints(Range.END_TO_END, whole) < 0)
    whole.setEnd(range.endContainer, range.endOffset);
  const start = offsetOf(container, whole.startContainer, whole.startOffset);
  const end = start + whole.toString().length;
  return start < end ? { start, end } : null;
}

function offsetOf(container: Element, node: Node, offset: number): number {
  const before = document.createRange();
  before.selectNodeContents(container);
  before.setEnd(node, offset);
  return before.toString().length;
}

/**
 * The offset in the text at a point of the window; null where the text is not there, or the browser cannot
 * tell.
 */
export function offsetAt(container: Element, x: number, y: number): number | null {
  const root = container.getRootNode();
  const shadowRoots = root instanceof ShadowRoot ? [root] : [];
  const caret = document.caretPositionFromPoint?.(x, y, { shadowRoots });
  const range = caret ? null : document.caretRangeFromPoint?.(x, y);
  const [node, offset] = [
    caret?.offsetNode ?? range?.startContainer,
    caret?.offset ?? range?.startOffset ?? 0,
  ];
  return node && container.contains(node) ? offsetOf(container, node, offset) : null;
}

/** A span and where it begins, in pixels from the upper left corner of what holds the pane. */
export interface Placed {
  span: Span;
  left: number;
  top: number;
}

/** Call this whenever one of the elements has another size, and at once. */
export function whenResized(call: () => void, ...elements: Element[]): () => void {
  const observer = new ResizeObserver(call);
  for (const one of elements) observer.observe(one);
  return () => observer.disconnect();
}

/** What scrolls a text. */
export function paneOf(text: Element): HTMLElement {
  return text.closest<HTMLElement>(".s7-scroll") ?? (text as HTMLElement);
}

export function lineHeight(text: Element): number {
  return parseFloat(getComputedStyle(text).lineHeight) || 20;
}

/** Those of the spans, given in reading order, that are in sight in the container. */
export function inSight(container: Element, spans: readonly Span[]): Placed[] {
  const nodes = new TextNodes(container);
  const pane = paneOf(container);
  const [box, corner] = [pane.getBoundingClientRect(), pane.parentElement!.getBoundingClientRect()];
  const [top, bottom] = [Math.max(box.top, 0), Math.min(box.bottom, innerHeight)];
  const place = (span: Span) => nodes.range(span).getClientRects()[0] ?? new DOMRect(box.left, top, 0, 0);
  const middle = (span: Span) => place(span).top + place(span).height / 2;
  const from = firstThat(spans, span => middle(span) >= top);
  const to = firstThat(spans, span => middle(span) > bottom);
  return spans.slice(from, to).map(span => {
    const at = place(span);
    const rightToLeft = getComputedStyle(container).direction === "rtl";
    return { span, left: (rightToLeft ? at.right : at.left) - corner.left, top: at.top - corner.top };
  });
}

/**
 * Scroll the text, and nothing around it, until the span's edge is in sight; its other one too where both
 * fit.
 */
export function reveal(container: Element, span: Span, edge: "start" | "end"): void {
  const [nodes, pane] = [new TextNodes(container), paneOf(container)];
  const box = pane.getBoundingClientRect();
  const edges = [
    { start: span.start, end: span.start + 1 },
    { start: span.end - 1, end: span.end },
  ].map(one => nodes.range(one));
  // The edge that must be in sight comes last.
  for (const range of edge === "end" ? edges : edges.reverse()) {
    const at = range.getBoundingClientRect();
    const [above, below] = [at.top - MARGIN - box.top, at.bottom + MARGIN - box.bottom];
    if (above < 0) pane.scrollTop += above;
    else if (below > 0) pane.scrollTop += below;
  }
}

/** So far from the edge of the pane, the line beside it is in sight too. */
const MARGIN = 40;

/** Scroll only as far as it takes to see this. */
export function bringIn(element: Element | null | undefined): void {
  element?.scrollIntoView?.({ block: "nearest" });
}
