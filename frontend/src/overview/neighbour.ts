// Which of the numbers on the page an arrow key goes to: the nearest one in its direction.

export interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** Pixels by which two boxes may overlap and yet lie one beyond the other. */
const SLACK = 4;
/** How much more it counts to be off the line than to be far along it. */
const [ACROSS, DOWN] = [3, 2];

/** The index of the box to which a key goes from the one at `at`; null where there is none. */
export function neighbour(boxes: readonly Box[], at: number, key: string): number | null {
  if (key === "Home" || key === "End") return boxes.length ? (key === "Home" ? 0 : boxes.length - 1) : null;
  const from = boxes[at];
  if (!from) return boxes.length ? 0 : null;
  let [best, least]: [number | null, number] = [null, Infinity];
  boxes.forEach((box, index) => {
    const way = distance(from, box, key);
    if (index !== at && way < least) [best, least] = [index, way];
  });
  return best;
}

function distance(from: Box, to: Box, key: string): number {
  const along = {
    ArrowRight: to.left - from.right,
    ArrowLeft: from.left - to.right,
    ArrowDown: to.top - from.bottom,
    ArrowUp: from.top - to.bottom,
  }[key];
  if (along === undefined || along < -SLACK) return Infinity;
  const isAcross = key === "ArrowRight" || key === "ArrowLeft";
  const off = isAcross
    ? Math.abs(middle(from.top, from.bottom) - middle(to.top, to.bottom))
    : Math.abs(middle(from.left, from.right) - middle(to.left, to.right));
  return along + off * (isAcross ? ACROSS : DOWN);
}

function middle(one: number, other: number): number {
  return (one + other) / 2;
}
