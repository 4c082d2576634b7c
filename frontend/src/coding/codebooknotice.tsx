// What the coder should know of the codebook, and what taking in a newer one would mean.
import { Button } from "../shared/button";
import type { Session } from "./session";

export function CodebookNotice({ session }: { session: Session }) {
  const { newer } = session;
  const meaning = newer.meaning.value;
  if (!newer.notice.value) return null;
  const key = session.commands.value.take_codebook;
  const take = () => session.presses.inTurn(() => newer.take());
  return (
    <div class="s7-notice" role="status">
      <span>{newer.notice.value}</span>
      {newer.there.value && !meaning && (
        <Button class="s7-take" onClick={take}>Take it in now {key && <kbd>{key}</kbd>}</Button>
      )}
      {newer.toReview.value > 0 && !meaning && (
        <Button class="s7-look-again" onClick={() => session.lookAgain()}>
          Show {newer.toReview.value === 1 ? "this text" : `these ${newer.toReview.value} texts`}
        </Button>
      )}
      {meaning && (
        <div class="s7-meaning" role="group" aria-label="What the new codebook means for your codings">
          <ul>
            {meaning.words.map((words) => (
              <li key={words}>{words}</li>
            ))}
          </ul>
          <Button class="s7-primary s7-take" onClick={take}>Take it in {key && <kbd>{key}</kbd>}</Button>
          <Button onClick={() => newer.leave()}>Not now <kbd>Esc</kbd></Button>
        </div>
      )}
    </div>
  );
}
