// Whether everything is in the record, and what to do when it is not.
import type { Outbox } from "./outbox";

interface Props {
  outbox: Outbox;
  /** Whether anything waits that is not in the outbox yet. */
  queued: boolean;
}

export function SaveState({ outbox, queued }: Props) {
  const waiting = outbox.waiting.value.length;
  if (!waiting && !queued) return <span class="s7-state s7-saved">✓ Saved</span>;
  if (!outbox.late.value) return <span class="s7-state s7-saving">Saving…</span>;
  return (
    <span class="s7-state s7-unsaved" role="alert">
      NOT SAVED – {waiting} {waiting === 1 ? "change waits" : "changes wait"}{" "}
      <button type="button" onClick={() => outbox.retry()}>
        Try now
      </button>
    </span>
  );
}
