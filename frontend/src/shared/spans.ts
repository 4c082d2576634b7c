// Spans of a text: cut at codings, in lanes, trimmed, compared.
import type { Coding, Span } from "./protocol";

/** A block has at least as many characters, where the text has more. */
const BLOCK = 1000;

export interface Segment extends Span {
  /** Indices of the span codings that cover the segment. */
  codings: number[];
  selected: boolean;
}

/** Cut the text at every boundary of a coding, and at `more` places; the pieces join to the text again. */
export function segments(text: string, codings: readonly Coding[], more: readonly number[] = []): Segment[] {
  const spans = byStart(codings);
  const cuts = new Set([0, text.length, ...more]);
  for (const { start, end } of spans) cuts.add(start).add(end);
  const places = Float64Array.from(cuts).sort();
  const pieces: Segment[] = [];
  // From left to right: what is open is all that a piece can lie in.
  let [next, open]: [number, number[]] = [0, []];
  for (let i = 0; i + 1 < places.length; i++) {
    const [start, end] = [places[i]!, places[i + 1]!];
    const still = open.filter(index => codings[index]!.end! > start);
    const before = next;
    while (next < spans.length && spans[next]!.start <= start) still.push(spans[next++]!.index);
    open = next > before ? still.sort((a, b) => a - b) : still;
    pieces.push({ start, end, codings: open, selected: false });
  }
  return pieces;
}

/** Cut the pieces at the selection as well; those outside of it are handed out as they are. */
export function withSelection(pieces: readonly Segment[], selection: Span | null): readonly Segment[] {
  if (!selection) return pieces;
  const first = pieces.findIndex(piece => piece.end > selection.start);
  const last = pieces.findLastIndex(piece => piece.start < selection.end);
  const cut = pieces.slice(first, last + 1).flatMap(piece => {
    const [start, end] = [Math.max(piece.start, selection.start), Math.min(piece.end, selection.end)];
    const parts = [
      { ...piece, end: start },
      { ...piece, start, end, selected: true },
      { ...piece, start: end },
    ];
    return parts.filter(part => part.start < part.end);
  });
  return [...pieces.slice(0, first), ...cut, ...pieces.slice(last + 1)];
}

/** For each coding the lane of its line: no two that overlap share one, and there are no more than needed. */
export function lanes(codings: readonly Pick<Coding, "start" | "end">[]): number[] {
  const lane = codings.map(() => 0);
  const ends: number[] = [];
  for (const { start, end, index } of byStart(codings)) {
    const free = ends.findIndex(taken => taken <= start);
    lane[index] = free < 0 ? ends.length : free;
    ends[lane[index]] = end;
  }
  return lane;
}

/** The codings of a span from left to right, of those that begin together the longest first. */
function byStart(codings: readonly Pick<Coding, "start" | "end">[]): (Span & { index: number })[] {
  return codings
    .map(({ start, end }, index) => ({ start, end, index }))
    .filter((span): span is Span & { index: number } => span.start !== null && span.end !== null)
    .sort((a, b) => a.start - b.start || b.end - a.end || a.index - b.index);
}

/** Where the blocks of a text begin: some lines each, so that a change moves only those of its own block. */
export function blocks(text: string): number[] {
  const starts = text ? [0] : [];
  for (
    let at = text.indexOf("\n", BLOCK);
    at >= 0 && at + 1 < text.length;
    at = text.indexOf("\n", at + BLOCK)
  )
    starts.push(at + 1);
  return starts;
}

/** Take white space off both ends; null where nothing is left. */
export function trimmed(text: string, span: Span): Span | null {
  const slice = text.slice(span.start, span.end);
  const start = span.start + (slice.length - slice.trimStart().length);
  const end = span.end - (slice.length - slice.trimEnd().length);
  return start < end ? { start, end } : null;
}

export function sameSpan(a: { start: number | null; end: number | null }, b: typeof a): boolean {
  return a.start === b.start && a.end === b.end;
}
