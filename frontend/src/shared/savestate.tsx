// Whether everything is in the record, and what to do when it is not.
import { useEffect, useState } from "preact/hooks";
import { Button } from "./button";
import type { Line } from "./channel";

type SaveName = "saved" | "saving" | "waiting" | "failed" | "cut";

/** What is known of the changes that wait, and of the kernel. */
export interface Facts {
  /** So many changes are kept here. */
  kept: number;
  /** Whether anything else waits: presses, or a question that was asked long ago. */
  asked: boolean;
  /** Whether the kernel has said nothing for longer than usual. */
  late: boolean;
  /** Whether the kernel said that saving failed. */
  failed: boolean;
  /** Whether this page has no kernel any more that would hear of it. */
  cut: boolean;
}

/**
 * Red words (`failed`, `cut`) are for what somebody must do something about; a kernel that runs a cell is
 * none of it.
 */
export function saveName({ kept, asked, late, failed, cut }: Facts): SaveName {
  if (cut) return "cut";
  if (!kept && !asked) return "saved";
  if (failed) return "failed";
  return late ? "waiting" : "saving";
}

/** What is saved sooner changes nothing on screen. */
const AT_ONCE_MS = 400;

const LOOKS: Record<SaveName, string> = {
  saved: "s7-saved",
  saving: "s7-saving",
  waiting: "s7-late",
  failed: "s7-unsaved",
  cut: "s7-unsaved",
};

interface Props {
  line: Line;
  /** Whether anything waits that is not in the outbox yet. */
  queued?: boolean;
  /** Whether only what keeps somebody waiting is said. */
  quiet?: boolean;
}

export function SaveState({ line, queued = false, quiet = false }: Props) {
  const { outbox, slow, cut } = line;
  const kept = outbox.waiting.value.length;
  const facts = {
    kept,
    asked: queued || slow.value,
    late: slow.value || outbox.late.value,
    failed: outbox.failed.value,
    cut: cut.value,
  };
  const name = saveName(facts);
  const said = useSaid(name);
  if (quiet && (said === "saved" || said === "saving")) return null;
  const isRed = said === "failed" || said === "cut";
  return (
    <span class={`s7-state ${LOOKS[said === "saved" ? name : said]}`} role={isRed ? "alert" : undefined}>
      {said === "saved" && "✓ Saved"}
      {said === "saving" && "Saving…"}
      {said === "waiting" && (
        <>
          ◷{" "}
          <span role="status">
            Waiting<span class="s7-state-more"> for the kernel</span>
          </span>
        </>
      )}
      {said === "failed" && "Not saved"}
      {said === "cut" && "Cut off"}
      {said !== "saved" && said !== "saving" && kept > 0 && (
        <>
          {` · ${kept}`}
          <span class="s7-state-more"> kept here</span>
        </>
      )}
      {said === "failed" && (
        <>
          {" · "}
          <Button onClick={() => outbox.retry()} words="Try now" />
        </>
      )}
      {said === "cut" && " · run the cell again"}
    </span>
  );
}

/**
 * What is said of it: that it is being saved only where that takes a while, and until then what was said
 * before.
 */
function useSaid(name: SaveName): SaveName {
  const [said, setSaid] = useState(name);
  useEffect(() => {
    if (name !== "saving") return setSaid(name);
    const timer = setTimeout(() => setSaid(name), AT_ONCE_MS);
    return () => clearTimeout(timer);
  }, [name]);
  return name === "saving" ? said : name;
}
