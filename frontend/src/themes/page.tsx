// The themes widget on screen: the list, the theme that is open, the map, and what keys do.
import { useRef } from "preact/hooks";
import { Frame, Tool, WAITING, Who } from "../shared/frame";
import { ThemeList } from "./list";
import { MapPane } from "./map";
import type { Session } from "./session";
import { OpenTheme } from "./theme";
import { Space } from "../shared/button";

const KEYS: [string, string][] = [
  ["↑↓", "The theme above or below"],
  ["←→", "Previous or next texts"],
  ["c", "Make it a code"],
  ["n", "Name it"],
  ["m", "Merge it into another"],
  ["s", "Split it into its sub-themes, or take out the texts selected on the map"],
  ["d", "Dismiss it, or bring it back"],
  ["u", "Undo the last step (also Ctrl+Z)"],
  ["r", "Compute themes"],
  ["x", "Clear the selection"],
  ["Ctrl+Enter", "In a form: send it (Enter in a one-line field)"],
  ["mouse", "On the map: draw around texts to select them; click one for its theme"],
];

export function Page({ session }: { session: Session }) {
  const root = useRef<HTMLDivElement>(null);

  const back = () => {
    if (!session.form.value) return false;
    session.endForm();
    return true;
  };

  const inField = (event: KeyboardEvent, field: Element): boolean => {
    const isLine = !(field instanceof HTMLTextAreaElement);
    const sent = event.key === "Enter" && !event.repeat && (event.ctrlKey || event.metaKey || isLine);
    if (sent) field.closest(".s7-form")?.querySelector<HTMLElement>(".s7-primary:not(:disabled)")?.click();
    return sent;
  };

  const turn = (by: number) => {
    const quotes = session.quotes.value;
    const first = (quotes?.first ?? 0) + by;
    if (quotes && first >= 0 && first < quotes.n) session.page(first);
  };
  const commands: Record<string, () => void> = {
    c: () => session.begin("code"),
    n: () => session.begin("name"),
    m: () => session.begin("merge"),
    s: () => session.begin("split"),
    d: () => session.theme.value && session.edit("dismissed", !session.theme.value.dismissed),
    u: () => session.undo(),
    r: () => session.begin("run"),
    x: () => session.lasso([]),
    ArrowDown: () => session.go(1),
    ArrowUp: () => session.go(-1),
    ArrowRight: () => turn(5),
    ArrowLeft: () => turn(-5),
  };

  return (
    <Frame
      {...{ session, root, commands, back, inField }}
      name="themes"
      label="Themes"
      keys={KEYS}
      home=".s7-theme-rows"
      still="button, .s7-theme-row, canvas"
      undo={() => session.undo()}
      bar={
        <>
          <Who session={session} role="The lead" title={session.book.codebook.value?.title ?? ""} />
          <Space />
        </>
      }
      tools={
        <Tool
          name="Undo"
          sign="↶"
          press="u"
          ready={session.themes.value?.can_undo ?? false}
          run={() => session.undo()}
        />
      }
      placeholder={!session.coder.value ? WAITING : !session.themes.value && "Reading the themes…"}
    >
      <div class="s7-panes s7-themes">
        <ThemeList session={session} />
        <OpenTheme session={session} />
        <MapPane session={session} />
      </div>
    </Frame>
  );
}
