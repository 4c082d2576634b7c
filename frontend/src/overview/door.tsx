// A number that can be opened: the texts that it counts are listed.
import type { ComponentChildren } from "preact";
import { Button } from "../shared/button";
import type { Door } from "./messages";
import type { Session } from "./session";

interface Props {
  session: Session;
  door: Door;
  /** How many texts it counts: behind 0 there is nothing to open. */
  n: number;
  /** What is counted, for those who hear the page. */
  label: string;
  children: ComponentChildren;
}

export function NumberDoor({ session, door, n, label, children }: Props) {
  if (!n) return <span class="s7-none">{children}</span>;
  const key = JSON.stringify([door.of, door.round ?? null, door.coder ?? null, door.code ?? null]);
  const opener = `.s7-door[data-door="${CSS.escape(key)}"]`;
  return (
    <Button class="s7-door" data-door={key} aria-label={label} title={label} onClick={() => session.open(door, opener)} words={children} />
  );
}
