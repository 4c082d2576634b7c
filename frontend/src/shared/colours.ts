// How codes look on screen: a colour, the pattern of a line, a tag; and how marked words are drawn.
import type { Code } from "./protocol";

/**
 * How much of a colour is behind the words; next to a margin of codings, behind those of the marked one
 * alone.
 */
export const [TINT, ACTIVE_TINT] = [10, 14];
export const MOST_TINTS = 3;

export interface Look {
  colour: string;
  /** Which line is drawn below the words: solid, dashed, dotted, dash and dot. */
  pattern: number;
  /** What stands above the first word: the code's key, or its short name. */
  tag: string;
}

const PATTERNS = [
  (colour: string) => `linear-gradient(${colour}, ${colour})`,
  (colour: string, to = "90deg") => `repeating-linear-gradient(${to}, ${colour} 0 8px, transparent 8px 12px)`,
  (colour: string, to = "90deg") => `repeating-linear-gradient(${to}, ${colour} 0 3px, transparent 3px 6px)`,
  (colour: string, to = "90deg") =>
    `repeating-linear-gradient(${to}, ` +
    `${colour} 0 9px, transparent 9px 12px, ${colour} 12px 15px, transparent 15px 18px)`,
];
const LINE = 3;
/**
 * Of colleagues: the height of a hollow line with the room below it, and how many there are one below the
 * other.
 */
const [THEIR_LINE, THEIR_LANES] = [6, 4];

/** How each code looks, in the colours that the kernel says for the theme. */
export function looks(codes: readonly Code[], dark: boolean): Map<string, Look> {
  return new Map(
    codes.map(({ id, key, look }) => [
      id,
      { colour: dark ? look.dark : look.light, pattern: look.line, tag: key ?? look.short },
    ]),
  );
}

export const UNKNOWN: Look = {
  colour: "color-mix(in srgb, #6b7280 70%, var(--s7-fg))",
  pattern: 0,
  tag: "?",
};

/** The sample of a code's line beside its name. */
export function sample({ colour, pattern }: Look): Record<string, string> {
  return { "background-image": PATTERNS[pattern]!(colour) };
}

/** The same line, vertical, next to the words. */
export function sideOf({ colour, pattern }: Look): Record<string, string> {
  return { "background-image": PATTERNS[pattern]!(colour, "180deg") };
}

export interface Mark extends Look {
  lane: number;
  active: boolean;
  pending: boolean | undefined;
  /** The colleague whose coding it is; undefined for one's own. */
  coder?: string | undefined;
}

/**
 * Of one's own codings the deepest lane, of colleagues' how many lanes there are, in the whole text; whether
 * a margin names them.
 */
export interface Depth {
  own: number;
  theirs: number;
  margin?: boolean;
}

/**
 * Below the words one line a coding, each in its own of the text's lanes, and behind them their tints, one
 * over the
 * other. Colleagues' codings have hollow lines, below all of one's own, and no tint.
 */
export function markStyle(marks: readonly Mark[], deepest: Depth): Record<string, string> {
  const most = deepest.margin ? 3 : 4;
  const [depth, below] = [
    Math.min(deepest.own, most - 1),
    Math.min(deepest.theirs, THEIR_LANES) * THEIR_LINE,
  ];
  const lines = marks.map(({ colour, pattern, lane, coder }) =>
    coder === undefined
      ? { image: PATTERNS[pattern]!(colour), place: at(below + (depth - (lane % most)) * (LINE + 1), LINE) }
      : { image: hollow(colour), place: at(below - ((lane % THEIR_LANES) + 1) * THEIR_LINE, THEIR_LINE - 1) },
  );
  const tinted = marks
    .filter(({ pending, active, coder }) => (deepest.margin ? active : !pending) && coder === undefined)
    .slice(0, MOST_TINTS);
  const tints = tinted.map(
    ({ colour, active }) => `color-mix(in srgb, ${colour} ${active ? ACTIVE_TINT : TINT}%, transparent)`,
  );
  return {
    background: [
      ...lines.map(({ image, place }) => `${image} ${place}`),
      ...tints.map(tint => `linear-gradient(${tint}, ${tint})`),
    ].join(", "),
    "padding-bottom": `${depth * (LINE + 1) + LINE - 1 + below}px`,
  };
}

function at(fromBottom: number, height: number): string {
  return `0 calc(100% - ${fromBottom}px) / 100% ${height}px no-repeat`;
}

/** Two thin lines with nothing between them. */
function hollow(colour: string): string {
  return `linear-gradient(${colour} 0 1.5px, transparent 1.5px ${THEIR_LINE - 2.5}px, ${colour} ${THEIR_LINE - 2.5}px)`;
}
