// How codes look on screen: a colour, the pattern of a line, a tag; and how marked words are drawn.
import type { Code } from "./protocol";

/**
 * Colours for codes without one. As `looks` mixes them, each keeps 3:1 to the page and to its own tint in the
 * light and the dark theme, and every two can be told apart with each kind of colour vision (see the tests).
 */
export const PALETTE = ["#5a78ff", "#f0a54b", "#960078", "#787800", "#96b4ff", "#4b3c00", "#d23c96", "#2d1ee1"];
/** How much of a colour is its own; the rest is the text's, dark on light pages and light on dark ones. */
export const OWN = 70;
/** How much of a colour stands behind the words, and behind those of the marked coding. */
export const [TINT, ACTIVE_TINT] = [12, 24];
export const MOST_TINTS = 3;

export interface Look {
  colour: string;
  /** Which line is drawn below the words: solid, dashed, dotted, dash and dot. */
  pattern: number;
  /** What stands above the first word: the code's key, or the beginning of its label. */
  tag: string;
}

const PATTERNS = [
  (colour: string) => `linear-gradient(${colour}, ${colour})`,
  (colour: string) => `repeating-linear-gradient(90deg, ${colour} 0 8px, transparent 8px 12px)`,
  (colour: string) => `repeating-linear-gradient(90deg, ${colour} 0 3px, transparent 3px 6px)`,
  (colour: string) =>
    `repeating-linear-gradient(90deg, ${colour} 0 9px, transparent 9px 12px, ${colour} 12px 15px, transparent 15px 18px)`,
];
const [LINE, LANES] = [3, 4];
/** Of colleagues: the height of a hollow line with the room below it, and how many there are one below the other. */
const [THEIR_LINE, THEIR_LANES] = [6, 4];

/** How each code looks: a colour and a line that only codes 32 places apart share, and a tag. */
export function looks(codes: readonly Code[]): Map<string, Look> {
  const free = PALETTE.filter((colour) => !codes.some((code) => code.colour?.toLowerCase() === colour));
  const uses = new Map<string, number>();
  let next = 0;
  return new Map(
    codes.map((code) => {
      const colour = code.colour ?? `color-mix(in srgb, ${free[code.codable ? next++ % free.length : 0]} ${OWN}%, var(--s7-fg))`;
      const [place, used] = [[...uses.keys()].indexOf(colour), uses.get(colour) ?? 0];
      if (code.codable) uses.set(colour, used + 1);
      const pattern = ((place < 0 ? uses.size - 1 : place) + used) % PATTERNS.length;
      return [code.id, { colour, pattern: Math.max(pattern, 0), tag: code.key ?? code.label.slice(0, 6) }];
    }),
  );
}

export const UNKNOWN: Look = { colour: "color-mix(in srgb, #6b7280 70%, var(--s7-fg))", pattern: 0, tag: "?" };

/** The sample of a code's line beside its name. */
export function sample({ colour, pattern }: Look): Record<string, string> {
  return { "background-image": PATTERNS[pattern]!(colour) };
}

export interface Mark extends Look {
  lane: number;
  active: boolean;
  pending: boolean | undefined;
  /** The colleague whose coding it is; undefined for one's own. */
  coder?: string | undefined;
}

/** Of one's own codings the deepest lane, of colleagues' how many lanes there are, in the whole text. */
export interface Depth {
  own: number;
  theirs: number;
}

/**
 * Below the words one line a coding, each in its own of the text's lanes, and behind them their tints, one over the
 * other. Colleagues' codings have hollow lines, below all of one's own, and no tint.
 */
export function markStyle(marks: readonly Mark[], deepest: Depth): Record<string, string> {
  const [depth, below] = [Math.min(deepest.own, LANES - 1), Math.min(deepest.theirs, THEIR_LANES) * THEIR_LINE];
  const lines = marks.map(({ colour, pattern, lane, coder }) =>
    coder === undefined
      ? { image: PATTERNS[pattern]!(colour), place: at(below + (depth - (lane % LANES)) * (LINE + 1), LINE) }
      : { image: hollow(colour), place: at(below - ((lane % THEIR_LANES) + 1) * THEIR_LINE, THEIR_LINE - 1) },
  );
  const tinted = marks.filter(({ pending, coder }) => !pending && coder === undefined).slice(0, MOST_TINTS);
  const tints = tinted.map(({ colour, active }) => `color-mix(in srgb, ${colour} ${active ? ACTIVE_TINT : TINT}%, transparent)`);
  return {
    background: [
      ...lines.map(({ image, place }) => `${image} ${place}`),
      ...tints.map((tint) => `linear-gradient(${tint}, ${tint})`),
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
