// Small drawings beside numbers that stand in words next to them, which is why they are hidden from those who
// hear the page.

/** Agreement under the first line supports no conclusion, above the second it is usually held to be good. */
const LINES = [0.667, 0.8];

/** Where a value lies on an axis from `least` to 1. */
export function place(value: number, least: number): string {
  const share = (value - least) / (1 - least);
  return `${Math.round(1000 * Math.max(0, Math.min(1, share))) / 10}%`;
}

/** Where the axis begins: at 0, or lower where an interval does. */
export function axisFrom(lows: readonly (number | null)[]): number {
  const least = Math.min(0, ...lows.filter(low => low !== null));
  return Math.max(-1, Math.floor(least * 5) / 5);
}

interface Interval {
  value: number | null;
  low: number | null;
  high: number | null;
  outerLow: number | null;
  outerHigh: number | null;
  least: number;
}

/** A dot with two intervals: a thick one on a thin one. */
export function DotAndLine({ value, low, high, outerLow, outerHigh, least }: Interval) {
  const line = (name: string, from: number | null, to: number | null) =>
    from !== null &&
    to !== null && <line class={name} x1={place(from, least)} x2={place(to, least)} y1="10" y2="10" />;
  return (
    <svg class="s7-interval" width="100%" height="20" aria-hidden="true" focusable="false">
      <line class="s7-axis" x1="0%" x2="100%" y1="10" y2="10" />
      {LINES.map(at => (
        <line key={at} class="s7-ruler" x1={place(at, least)} x2={place(at, least)} y1="0" y2="20" />
      ))}
      {line("s7-outer", outerLow, outerHigh)}
      {line("s7-inner", low, high)}
      {value !== null && <circle cx={place(value, least)} cy="10" r="4.5" />}
    </svg>
  );
}

/** Two shares on one axis: a full dot for one coder, a ring for the others. */
export function TwoDots({ at, othersAt, most }: { at: number; othersAt: number; most: number }) {
  const [own, others] = [place(at / most, 0), place(othersAt / most, 0)];
  return (
    <svg class="s7-two-dots" width="100%" height="16" aria-hidden="true" focusable="false">
      <line class="s7-axis" x1="0%" x2="100%" y1="8" y2="8" />
      <line class="s7-apart" x1={own} x2={others} y1="8" y2="8" />
      <circle class="s7-ring-dot" cx={others} cy="8" r="4.5" />
      <circle cx={own} cy="8" r="5" />
    </svg>
  );
}

/** A share as a bar. */
export function ShareBar({ share, most }: { share: number | null; most: number }) {
  return (
    <svg class="s7-share" width="100%" height="12" aria-hidden="true" focusable="false">
      <rect class="s7-share-of" x="0" y="0" width="100%" height="12" rx="2" />
      {share !== null && most > 0 && (
        <rect class="s7-share-bar" x="0" y="0" width={place(share / most, 0)} height="12" rx="2" />
      )}
    </svg>
  );
}

/**
 * Where the points of a line lie in a box of 100 × 100, from the left to the right, 0 below and `most` above.
 */
export function points(values: readonly number[], most: number): [number, number][] {
  return values.map((value, at) => [
    values.length > 1 ? (100 * at) / (values.length - 1) : 50,
    most > 0 ? 100 - (100 * value) / most : 100,
  ]);
}

/** A line through values in their order; in steps, where each holds until the next. */
export function Line({
  values,
  most,
  steps = false,
  height,
}: {
  values: readonly number[];
  most: number;
  steps?: boolean;
  height: number;
}) {
  const path = points(values, most).map(([x, y], at) =>
    at ? (steps ? `H${x}V${y}` : `L${x} ${y}`) : `M${x} ${y}`,
  );
  return (
    <svg
      class="s7-line"
      width="100%"
      height={height}
      viewBox="0 -4 100 108"
      preserveAspectRatio="none"
      aria-hidden="true"
      focusable="false"
    >
      <line class="s7-axis" x1="0" x2="100" y1="100" y2="100" vector-effect="non-scaling-stroke" />
      <path d={path.join("")} vector-effect="non-scaling-stroke" />
    </svg>
  );
}
