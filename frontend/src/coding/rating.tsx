// The rating of a text: hidden or shown as the person likes, or with the text's finishing.
import { Button } from "../shared/button";
import type { Unit } from "./messages";
import type { Session } from "./session";

export function Rating({ session, unit }: { session: Session; unit: Unit }) {
  if (unit.rating === null) return null;
  const shown = session.ratingShown.value;
  const waits = session.ratingOfFinished.value !== null && !unit.finished;
  const words = waits ? "Rating: shown once finished" : shown ? `Rating: ${unit.rating}` : "Show rating";
  return (
    <Button class="s7-quiet s7-rating" aria-pressed={shown} disabled={waits} onClick={() => session.toggleRating()} words={words} />
  );
}
