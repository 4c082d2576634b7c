// A line of what was done: when, where, what, and whether it was taken back; and the day above such lines.
import { shownTime } from "./times";
import type { RowStyle } from "./rowlist";

/** The height of a line. */
export const HISTORY_ROW = 58;

export function DayLine({ day, style }: { day: string; style: RowStyle }) {
  return (
    <div class="s7-day" role="presentation" style={style}>{day}</div>
  );
}

interface Props {
  at: string;
  /** By whom or on which text. */
  where: string;
  what: string;
  /** The words of the text that it is about. */
  quote: string;
  /** What follows: a memo's own words. */
  more?: string;
  /** When it was taken back. */
  taken_back: string | null;
}

/** What a row shows; the row itself is the list's (`listRow`, with the class `s7-act`). */
export function HistoryLine({ at, where, what, quote, more = "", taken_back }: Props) {
  return (
    <>
      <div class="s7-row-line">
        <time dateTime={at}>{shownTime(at)}</time>
        <span class="s7-row-id">{where}</span>
        {taken_back && <span>taken back {shownTime(taken_back)}</span>}
      </div>
      <div class="s7-row-words" dir="auto">
        {quote ? `${what} “${quote}”` : what}
        {more}
      </div>
    </>
  );
}
