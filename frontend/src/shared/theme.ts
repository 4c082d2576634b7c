// Whether the page is dark: by JupyterLab's themes (Voilà's too), elsewhere by the browser's setting, as
// base.css has it.
import { signal } from "@preact/signals";

export const dark = signal(false);

/** Look which theme the page has, now and whenever it changes; the answer ends it. */
export function watchTheme(): () => void {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const look = () => (dark.value = isLight(inkOf(document.body, system.matches)));
  const watcher = new MutationObserver(look);
  watcher.observe(document.body, { attributes: true });
  system.addEventListener("change", look);
  look();
  return () => {
    watcher.disconnect();
    system.removeEventListener("change", look);
  };
}

/** The text's colour as the browser works it out: `rgb(…)`. */
function inkOf(body: HTMLElement, isDark: boolean): string {
  const probe = body.appendChild(document.createElement("span"));
  probe.style.color = `var(--jp-content-font-color1, ${isDark ? "#eef0f2" : "#1f2328"})`;
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

export function isLight(colour: string): boolean {
  const [red = 0, green = 0, blue = 0] = (colour.match(/[\d.]+/g) ?? []).map(Number);
  return 0.299 * red + 0.587 * green + 0.114 * blue > (colour.startsWith("color(") ? 0.5 : 127);
}
