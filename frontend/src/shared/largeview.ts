// The widget over all of the window, and back to its place in the notebook: nothing in it is drawn again.
import { useLayoutEffect } from "preact/hooks";
import { bringIn } from "./onscreen";

/**
 * Whether the window is as long as the notebook in it, as in VS Code: its height says nothing of what is on
 * the screen.
 */
const isEndless = () => innerHeight > screen.height;

/**
 * Show the widget in `root` large or in its place. The browser's top layer needs no permission and leaves the
 * node
 * where it is; where there is none, the widget lies fixed over what is around it. Its place is kept free
 * meanwhile.
 */
export function useLargeView(root: { current: HTMLElement | null }, large: boolean): void {
  useLayoutEffect(() => {
    const at = root.current!;
    const place = at.parentElement;
    if (isEndless())
      at.style.setProperty(
        "--s7-frame",
        large ? `${screen.availHeight - 180}px` : `min(640px, ${screen.availHeight - 220}px)`,
      );
    if (!large) return;
    if (place) place.style.minHeight = `${place.offsetHeight}px`;
    if (!isEndless()) {
      at.classList.add("s7-large");
      at.popover = "manual";
      at.showPopover?.();
    }
    return () => {
      at.classList.remove("s7-large");
      at.popover = null;
      if (place) place.style.minHeight = "";
      bringIn(at);
    };
  }, [large]);
}
