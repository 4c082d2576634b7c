// A paragraph of many lines, cut where lines begin: it looks like one, and after a change the browser lays out
// only the piece that changed.
import { useLayoutEffect, useState } from "preact/hooks";
import { TextNodes, whenResized } from "./onscreen";
import { blocks } from "./spans";

/** A paragraph is cut where more characters follow, each time after so many. */
const [LONG, PIECE] = [2000, 1000];
/** While the pane changes its width nothing is cut: the lines are measured once it has not for so long. */
export const SETTLED_MS = 150;
/** Of a text of more characters, paragraphs out of sight are not painted; their heights are kept. */
const VERY_LONG = 20_000;
/**
 * Of text that runs from right to left, the end of a line may look another way where its paragraph ends
 * there.
 */
const RIGHT_TO_LEFT =
  /[\u0590-\u08ff\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/**
 * Where the blocks of the text in `box` begin, once long paragraphs were drawn and measured; null where it
 * has none.
 * `spacing` is what changes the lines' height. Layout effects alone end at once when another text is drawn.
 */
export function useLongParagraphs(
  box: { current: HTMLElement | null },
  text: string,
  frozen: boolean,
  spacing: unknown,
): readonly number[] | null {
  const [width, setWidth] = useState(0);
  const [cut, setCut] = useState<{ text: string; width: number; starts: readonly number[] | null } | null>(
    null,
  );
  const isCut = cut !== null && cut.text === text && cut.width === width;
  // Not in whole pixels: a part of one can be what a word needs.
  useLayoutEffect(
    () => whenResized(() => setWidth(box.current?.getBoundingClientRect().width ?? 0), box.current!),
    [],
  );
  useLayoutEffect(() => {
    if (isCut || frozen || !width || text.length <= LONG) return;
    const timer = setTimeout(
      () => setCut({ text, width, starts: cutAtLines(text, lineIn(box.current!)) }),
      SETTLED_MS,
    );
    return () => clearTimeout(timer);
  }, [text, width, isCut, frozen]);
  useLayoutEffect(
    () => (isCut && cut.starts ? whenLinesChange(box.current!, () => setCut(null)) : undefined),
    [isCut, cut, spacing],
  );
  useLayoutEffect(() => {
    if (!isCut || text.length <= VERY_LONG) return;
    const timer = setTimeout(() => skipUnseen(box.current!), SETTLED_MS);
    return () => {
      clearTimeout(timer);
      if (box.current) showAll(box.current);
    };
  }, [text, width, isCut, spacing]);
  return isCut ? cut.starts : null;
}

/**
 * Calls where a piece has got another number of lines. Browsers round the width of each stretch of a line up,
 * mostly
 * to 1/64 px: where a line was full, a coding or a selection that begins in it moves its last word to the
 * next line,
 * and words that ended a piece would stand on a line of their own.
 */
function whenLinesChange(box: HTMLElement, changed: () => void): () => void {
  const heights = new Map<Element, number>();
  const observer = new ResizeObserver(entries => {
    const others = entries.filter(
      ({ target, contentRect }) =>
        Math.abs((heights.get(target) ?? contentRect.height) - contentRect.height) > 1,
    );
    for (const { target, contentRect } of entries) heights.set(target, contentRect.height);
    if (others.length) changed();
  });
  for (const paragraph of box.querySelectorAll(":scope > div:not(.s7-end)")) observer.observe(paragraph);
  return () => observer.disconnect();
}

/**
 * Lets paragraphs out of sight go unpainted, each as high as it is: how far one can scroll stays the same.
 */
function skipUnseen(box: HTMLElement): void {
  const paragraphs = [...box.querySelectorAll<HTMLElement>(":scope > div:not(.s7-end)")];
  const heights = paragraphs.map(paragraph => paragraph.getBoundingClientRect().height); // all before any is changed
  paragraphs.forEach(({ style }, index) => {
    style.setProperty("contain-intrinsic-block-size", `auto ${heights[index]}px`);
    style.setProperty("content-visibility", "auto");
  });
}

function showAll(box: HTMLElement): void {
  for (const { style } of box.querySelectorAll<HTMLElement>(":scope > div:not(.s7-end)")) {
    style.removeProperty("content-visibility");
    style.removeProperty("contain-intrinsic-block-size");
  }
}

/**
 * Whether the character at an offset stands on a lower line than the one at another; null where that cannot
 * be told.
 */
type IsLower = (offset: number, than: number) => boolean | null;

export function cutAtLines(text: string, isLower: IsLower): number[] | null {
  const starts = blocks(text);
  const cut = starts.flatMap((start, index) => {
    const [cuts, end] = [[start], starts[index + 1] ?? text.length];
    if (RIGHT_TO_LEFT.test(text.slice(start, end))) return cuts;
    for (let at = start; end - at > LONG; cuts.push(at)) {
      const next = nextLine(at + PIECE, end, isLower);
      if (next === null) break;
      at = next;
    }
    return cuts;
  });
  return cut.length > starts.length ? cut : null;
}

/** Where the line below that of `from` begins; null where none is found. */
function nextLine(from: number, end: number, isLower: IsLower): number | null {
  let step = 64;
  while (from + step < end && !isLower(from + step, from)) step *= 2;
  let [low, high] = [from, Math.min(from + step, end - 1)];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (isLower(middle, from)) high = middle;
    else low = middle;
  }
  return isLower(high, from) && isLower(low, from) === false ? high : null;
}

function lineIn(box: HTMLElement): IsLower {
  const nodes = new TextNodes(box);
  const at = (offset: number) => [...nodes.range({ start: offset, end: offset + 1 }).getClientRects()].at(-1);
  return (offset, than) => {
    const [one, other] = [at(offset), at(than)];
    return one && other ? one.top + one.height / 2 > other.top + other.height : null;
  };
}
