// The earlier turns of the conversation, the last one in view; above them the question that the text answers.
import { useEffect, useRef } from "preact/hooks";
import { Button } from "./button";
import type { Turn } from "./protocol";
import { joined } from "./words";

interface Props {
  unit: { unit_id: string; context: readonly Turn[] };
  open: boolean;
  onToggle: () => void;
  /** Whether its last turn stays where it is folded. */
  keepsLast?: boolean;
}

export function Conversation({ unit, open, onToggle, keepsLast = false }: Props) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [unit.unit_id, open]);
  if (!unit.context.length) return null;
  const question = unit.context[0]?.role === "question";
  const turns = unit.context.length - Number(question);
  const before = turns > 0 && `Conversation before (${turns} ${turns === 1 ? "turn" : "turns"})`;
  const heading = joined([question && "Question", before], " · ");
  const shown = open ? unit.context : keepsLast ? unit.context.slice(-1) : [];
  return (
    <section class="s7-context">
      <Button class="s7-quiet" aria-expanded={open} onClick={onToggle}>
        {open ? "▾" : "▸"} {heading}
      </Button>
      {shown.length > 0 && (
        <div class="s7-turns" ref={box} tabIndex={0} role="log" aria-label={heading}>
          {shown.map((turn, index) => (
            <p key={index} class={turn.role === "user" ? "s7-turn s7-user" : "s7-turn"}>
              {turn.role && <span class="s7-role">{turn.role}</span>}
              {turn.text}
            </p>
          ))}
        </div>
      )}
    </section>
  );
}
