// What names a disagreement, and the reason of a ruling that keeps both readings.
import type { Key } from "./messages";

/** The reason that goes with no decision: both readings stand. */
export const DIFFERENT = "different_reading";

export const keyOf = ({ unit_id, code }: Key) => `${unit_id}\u001f${code}`;
