// The earlier turns of the conversation, the last one in view.
import { useEffect, useRef } from "preact/hooks";
import { Button } from "./button";
import type { Turn } from "./protocol";

interface Props { unit: { unit_id: string; context: readonly Turn[] }; open: boolean; onToggle: () => void; }

export function Conversation({ unit, open, onToggle }: Props) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [unit.unit_id, open]);
  if (!unit.context.length) return null;
  return (
    <section class="s7-context">
      <Button class="s7-quiet" aria-expanded={open} onClick={onToggle}>
        {open ? "▾" : "▸"} Conversation before ({unit.context.length} {unit.context.length === 1 ? "turn" : "turns"})
      </Button>
      {open && (
        <div class="s7-turns" ref={box} tabIndex={0} role="log" aria-label="Earlier turns">
          {unit.context.map((turn, index) => (
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
