// Which points lie within a line that was drawn around them, and where a point of the map is on the canvas.
import type { Places } from "./messages";

export type Point = readonly [number, number];

/** Room around the map on its canvas, in pixels. */
const EDGE = 10;

/** Where the place `n` is drawn on a square canvas; null for a text without a place. */
export function onCanvas({ side, x, y }: Places, n: number, size: number): Point | null {
  if (x[n]! < 0) return null;
  const scale = (size - 2 * EDGE) / side;
  return [EDGE + x[n]! * scale, size - EDGE - y[n]! * scale];
}

/** Whether a point is within a closed line (the even-odd rule). */
export function isWithin([x, y]: Point, line: readonly Point[]): boolean {
  let inside = false;
  for (let one = 0, before = line.length - 1; one < line.length; before = one++) {
    const [[ax, ay], [bx, by]] = [line[one]!, line[before]!];
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) inside = !inside;
  }
  return inside;
}

/** The places within the line. */
export function placesWithin(places: Places, line: readonly Point[], size: number): number[] {
  const found: number[] = [];
  for (let n = 0; n < places.x.length; n++) {
    const at = onCanvas(places, n, size);
    if (at && isWithin(at, line)) found.push(n);
  }
  return found;
}

/** The place that is drawn nearest to a point, at most `reach` pixels away; null where there is none. */
export function nearestPlace(places: Places, [x, y]: Point, size: number, reach = 8): number | null {
  let [nearest, least] = [null as number | null, reach * reach];
  for (let n = 0; n < places.x.length; n++) {
    const at = onCanvas(places, n, size);
    const away = at ? (at[0] - x) ** 2 + (at[1] - y) ** 2 : Infinity;
    if (away < least) [nearest, least] = [n, away];
  }
  return nearest;
}
