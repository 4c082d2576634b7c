// Spans of a text: cut at codings, words and sentences, and the browser's selection as offsets.
import type { Coding, Span } from "./protocol";

export interface Segment extends Span {
  /** Indices of the span codings that cover the segment. */
  codings: number[];
  selected: boolean;
}

/** Cut the text at every boundary of a coding or of the selection; the pieces join to the text again. */
export function segments(text: string, codings: readonly Coding[], selection: Span | null): Segment[] {
  const spans = codings
    .map((coding, index) => ({ start: coding.start, end: coding.end, index }))
    .filter((span): span is Span & { index: number } => span.start !== null && span.end !== null);
  const cuts = new Set([0, text.length, ...spans.flatMap((span) => [span.start, span.end])]);
  if (selection) cuts.add(selection.start).add(selection.end);
  const places = [...cuts].sort((a, b) => a - b);
  return places.slice(0, -1).map((start, i) => {
    const end = places[i + 1]!;
    return {
      start,
      end,
      codings: spans.filter((span) => span.start <= start && end <= span.end).map((span) => span.index),
      selected: selection !== null && selection.start <= start && end <= selection.end,
    };
  });
}

/** For each coding the lane of its line: the first that no coding before it takes where the two overlap. */
export function lanes(codings: readonly Coding[]): number[] {
  const placed: number[] = [];
  codings.forEach(({ start, end }, index) => {
    const beside = codings.slice(0, index).map((other) => start! < other.end! && other.start! < end!);
    const taken = new Set(placed.filter((_, other) => beside[other]));
    let lane = 0;
    while (taken.has(lane)) lane++;
    placed.push(lane);
  });
  return placed;
}

/** Take white space off both ends; null where nothing is left. */
export function trimmed(text: string, span: Span): Span | null {
  const slice = text.slice(span.start, span.end);
  const start = span.start + (slice.length - slice.trimStart().length);
  const end = span.end - (slice.length - slice.trimEnd().length);
  return start < end ? { start, end } : null;
}

/** The words (or sentences) of the text as spans without surrounding white space. */
export function pieces(text: string, granularity: "word" | "sentence"): Span[] {
  const found = new Intl.Segmenter(undefined, { granularity }).segment(text);
  return [...found]
    .filter((piece) => granularity === "sentence" || piece.isWordLike)
    .map((piece) => trimmed(text, { start: piece.index, end: piece.index + piece.segment.length }))
    .filter((span): span is Span => span !== null);
}

/** The piece after (or before) the selection, going round at the ends. */
export function nextPiece(spans: readonly Span[], selection: Span | null, step: 1 | -1): Span | null {
  if (!spans.length) return null;
  if (!selection) return spans[step === 1 ? 0 : spans.length - 1]!;
  const at =
    step === 1
      ? spans.findIndex((span) => span.start > selection.start)
      : spans.findLastIndex((span) => span.start < selection.start);
  return spans[at === -1 ? (step === 1 ? 0 : spans.length - 1) : at]!;
}

/** Move the selection's end by one word; without a selection, take the first word. */
export function extended(spans: readonly Span[], selection: Span | null, step: 1 | -1): Span | null {
  if (!selection) return nextPiece(spans, null, 1);
  if (step === 1) {
    const next = spans.find((span) => span.end > selection.end);
    return next ? { start: selection.start, end: next.end } : selection;
  }
  const previous = spans.findLast((span) => span.end < selection.end && span.end > selection.start);
  return previous ? { start: selection.start, end: previous.end } : selection;
}

/** The browser's selection, which is the shadow root's own where there is one. */
export function selectionIn(container: Element): Selection | null {
  const root = container.getRootNode() as Document & { getSelection?: () => Selection | null };
  return root.getSelection?.() ?? document.getSelection();
}

/** Hand a span over to the browser as its selection, so that Shift and a click extend it. */
export function showSelected(container: Element, span: Span): void {
  const nodes = document.createTreeWalker(container, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  for (let before = 0, node = nodes.nextNode(); node; before += node.textContent!.length, node = nodes.nextNode()) {
    const within = (offset: number) => offset >= before && offset <= before + node!.textContent!.length;
    if (within(span.start)) range.setStart(node, span.start - before);
    if (within(span.end)) {
      range.setEnd(node, span.end - before);
      break;
    }
  }
  selectionIn(container)?.setBaseAndExtent(range.startContainer, range.startOffset, range.endContainer, range.endOffset);
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
  if (range.compareBoundaryPoints(Range.END_TO_END, whole) < 0) whole.setEnd(range.endContainer, range.endOffset);
  const before = document.createRange();
  before.selectNodeContents(container);
  before.setEnd(whole.startContainer, whole.startOffset);
  const start = before.toString().length;
  const end = start + whole.toString().length;
  return start < end ? { start, end } : null;
}

export function sameSpan(a: { start: number | null; end: number | null }, b: typeof a): boolean {
  return a.start === b.start && a.end === b.end;
}
