// Words and sentences of a text as spans: found, gone through, and snapped to.
import type { Span } from "./protocol";
import { trimmed } from "./spans";

export type Granularity = "word" | "sentence";
export type Step = 1 | -1;
export type Edge = "start" | "end";

const segmenters = {
  word: new Intl.Segmenter(undefined, { granularity: "word" }),
  sentence: new Intl.Segmenter(undefined, { granularity: "sentence" }),
};
/** The text on screen is asked for at each key; a long one takes as long to cut as to draw. */
const latest: Partial<Record<Granularity, { text: string; spans: readonly Span[] }>> = {};

/** The words (or sentences) of the text as spans without surrounding white space. */
export function pieces(text: string, granularity: Granularity): readonly Span[] {
  if (latest[granularity]?.text !== text) latest[granularity] = { text, spans: cut(text, granularity) };
  return latest[granularity]!.spans;
}

function cut(text: string, granularity: Granularity): Span[] {
  return [...segmenters[granularity].segment(text)]
    .filter(piece => granularity === "sentence" || piece.isWordLike)
    .map(piece => trimmed(text, { start: piece.index, end: piece.index + piece.segment.length }))
    .filter((span): span is Span => span !== null);
}

/** The piece after (or before) the selection, going round at the ends. */
export function nextPiece(spans: readonly Span[], selection: Span | null, step: Step): Span | null {
  if (!spans.length) return null;
  if (!selection) return spans[step === 1 ? 0 : spans.length - 1]!;
  const at =
    step === 1
      ? spans.findIndex(span => span.start > selection.start)
      : spans.findLastIndex(span => span.start < selection.start);
  return spans[at === -1 ? (step === 1 ? 0 : spans.length - 1) : at]!;
}

/** Move one edge of the selection to the next word's (or sentence's); it never passes the other edge. */
export function moved(spans: readonly Span[], selection: Span | null, edge: Edge, step: Step): Span | null {
  if (!selection) return nextPiece(spans, null, 1);
  const { start, end } = selection;
  const places = spans
    .map(span => span[edge])
    .filter(place => (edge === "end" ? place > start : place < end));
  const place =
    step === 1 ? places.find(at => at > selection[edge]) : places.findLast(at => at < selection[edge]);
  return place === undefined ? selection : { ...selection, [edge]: place };
}

/**
 * The span with one edge dragged to this place: to whole words, or exactly there; the other edge stays. Null
 * where nothing is left.
 */
export function dragged(
  text: string,
  { start, end }: Span,
  edge: Edge,
  at: number,
  exact: boolean,
): Span | null {
  const wide =
    edge === "start" ? { start: Math.min(at, end - 1), end } : { start, end: Math.max(at, start + 1) };
  const span = exact ? wide : snapped(text, wide, "word");
  return span && (edge === "start" ? { start: span.start, end } : { start, end: span.end });
}

/**
 * Widen the span to whole words (or sentences), without white space around them; null where nothing is left.
 */
export function snapped(text: string, span: Span, granularity: Granularity): Span | null {
  const cut = segmenters[granularity].segment(text);
  const around = (offset: number): Span => {
    const piece = cut.containing(Math.min(Math.max(offset, 0), text.length - 1));
    return piece ? { start: piece.index, end: piece.index + piece.segment.length } : span;
  };
  if (!text) return null;
  // Behind the span's last character, which may be the whole of it.
  return trimmed(text, {
    start: around(span.start).start,
    end: around(Math.max(span.start, span.end - 1)).end,
  });
}

/** Those parts that there are, as one line. */
export const joined = (parts: readonly unknown[], by = " ") => parts.filter(Boolean).join(by);

/** The place in a list of so many, or the one at the end that is nearer to it. */
export const placeIn = (count: number, place: number) => Math.max(0, Math.min(place, count - 1));
