// How a text goes on below what is in sight: said on the pane until its end has been on the screen.
import { useLayoutEffect, useState } from "preact/hooks";
import { Button } from "./button";
import { SCROLLS } from "./keys";

interface Props {
  box: { current: HTMLElement | null };
  unit_id: string;
  /** Whether the end of this text has been on the screen. */
  ended: boolean;
  /** Called when the end is on the screen. */
  onEnd: (() => void) | undefined;
}

export function More({ box, unit_id, ended, onEnd }: Props) {
  const [below, setBelow] = useState(0);
  useLayoutEffect(() => {
    const at = box.current!;
    at.scrollTop = 0;
    const count = () => setBelow(linesBelow(at));
    const resized = new ResizeObserver(count);
    for (const part of [at, ...at.children]) resized.observe(part);
    at.addEventListener("scroll", count);
    count();
    return () => {
      resized.disconnect();
      at.removeEventListener("scroll", count);
    };
  }, [unit_id]);
  useLayoutEffect(() => {
    // On the screen: neither scrolled out of the pane, nor the pane out of the window.
    const seen = new IntersectionObserver((list) => list.some((one) => one.isIntersecting) && onEnd?.());
    seen.observe(box.current!.querySelector(".s7-end")!);
    return () => seen.disconnect();
  }, [unit_id]);
  if (!below) return null;
  return (
    <div class="s7-below">
      {!ended && (
        <Button class="s7-more" tabIndex={-1} onClick={() => scrollText(box.current!, "PageDown")}>
          ↓ {below} more {below === 1 ? "line" : "lines"}
        </Button>
      )}
    </div>
  );
}

function lineHeight(box: HTMLElement): number {
  return parseFloat(getComputedStyle(box).lineHeight) || 20;
}

function linesBelow(box: HTMLElement): number {
  return Math.max(0, Math.round((box.scrollHeight - box.clientHeight - box.scrollTop) / lineHeight(box)));
}

/** Scroll the text by a key's name: a page less a line, or to an end. */
export function scrollText(box: HTMLElement, key: string): void {
  const page = Math.max(box.clientHeight - lineHeight(box), lineHeight(box));
  const places: Record<string, number> = {
    PageDown: box.scrollTop + page,
    PageUp: box.scrollTop - page,
    Home: 0,
    End: box.scrollHeight,
  };
  box.scrollTop = places[key] ?? box.scrollTop;
}

/** Whether the key scrolls the text in `root`, which it then does. */
export function scrollsText(root: HTMLElement, key: string): boolean {
  const box = root.querySelector<HTMLElement>(".s7-text");
  if (!box || !SCROLLS.includes(key)) return false;
  scrollText(box, key);
  return true;
}
