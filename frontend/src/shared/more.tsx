// How a text goes on below what is in sight: said on the pane until its end has been on the screen.
import { useLayoutEffect, useState } from "preact/hooks";
import { Button } from "./button";
import { SCROLLS } from "./keys";
import { lineHeight, paneOf, whenResized } from "./onscreen";

/** The text begins no lower than this in its pane: what comes before it is scrolled away. */
const LOWEST = 0.4;

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
    const [at, pane] = [box.current!, paneOf(box.current!)];
    pane.scrollTop = 0;
    pane.scrollTop = Math.max(
      0,
      at.getBoundingClientRect().top - pane.getBoundingClientRect().top - LOWEST * pane.clientHeight,
    );
    const count = () => setBelow(linesBelow(at));
    const end = whenResized(count, pane, at, ...at.children);
    pane.addEventListener("scroll", count);
    count();
    return () => {
      end();
      pane.removeEventListener("scroll", count);
    };
  }, [unit_id]);
  useLayoutEffect(() => {
    // On the screen: neither scrolled out of the pane, nor the pane out of the window.
    const seen = new IntersectionObserver(list => list.some(one => one.isIntersecting) && onEnd?.());
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

function linesBelow(text: HTMLElement): number {
  const [end, pane] = [
    text.querySelector(".s7-end")!.getBoundingClientRect(),
    paneOf(text).getBoundingClientRect(),
  ];
  return Math.max(0, Math.round((end.bottom - pane.bottom) / lineHeight(text)));
}

/** Scroll the text by a key's name: a page less a line, or to an end. */
export function scrollText(text: HTMLElement, key: string): void {
  const [box, line] = [paneOf(text), lineHeight(text)];
  const page = Math.max(box.clientHeight - line, line);
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
