// When something was done, in the reader's own time; and what was done, each day above its own.

/** A line of a list by days: a day, or the item of this index. */
export type Line = { day: string } | { index: number };

/** The items' days, each above its items; `times` in milliseconds, in the list's order. */
export function byDay(times: readonly number[]): Line[] {
  let last = "";
  return times.flatMap((time, index): Line[] => {
    const day = new Date(time).toLocaleDateString([], {
      weekday: "short",
      day: "numeric",
      month: "long",
      year: "numeric",
    });
    const begins = day !== last;
    last = day;
    return begins ? [{ day }, { index }] : [{ index }];
  });
}

/** The minute. */
export function shownTime(at: string): string {
  return new Date(at).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
}

/** The day and minute. */
export function shownDate(at: string): string {
  return new Date(at).toLocaleString([], {
    day: "numeric",
    month: "short",
    hour: "2-digit",
    minute: "2-digit",
  });
}
