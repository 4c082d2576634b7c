// The themes widget on screen: the list, the theme that is open, the map, and what keys do.
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { Help } from "../shared/help";
import { focusIn, hearKeys, isTextField } from "../shared/keys";
import { useLeaving } from "../shared/leaving";
import { SaveState } from "../shared/savestate";
import { ThemeList } from "./list";
import { MapPane } from "./map";
import type { Session } from "./session";
import { OpenTheme } from "./theme";

const KEYS: [string, string][] = [
  ["↑↓", "The theme above or below"],
  ["←→", "Earlier or further texts of it"],
  ["c", "Make a code of it"],
  ["n", "Name it"],
  ["m", "Merge it into another"],
  ["s", "Split it: into its sub-themes, or the texts selected on the map"],
  ["d", "Dismiss it, or bring it back"],
  ["u", "Undo the last step (also Ctrl+Z)"],
  ["r", "Compute themes, anew or for the first time"],
  ["x", "Select no texts"],
  ["Ctrl+Enter", "In a form: send it (Enter, in a line)"],
  ["mouse", "On the map: draw around texts to select them; click one for its theme"],
  ["?", "Show or hide these keys"],
  ["Esc", "Back; twice, not too fast: leave for the notebook"],
];

function Header({ session }: { session: Session }) {
  return (
    <header class="s7-header">
      <span class="s7-coder" title="The lead who reads the themes">
        {session.coder.value}
      </span>
      <span class="s7-book-title" dir="auto">
        {session.book.codebook.value?.title}
      </span>
      <span class="s7-space" />
      <SaveState line={session.channel} />
      <span class="s7-tools">
        <button type="button" aria-label="Undo" title="Undo (u)" disabled={!session.themes.value?.can_undo} onClick={() => session.undo()}>
          ↶
        </button>
        <button type="button" aria-expanded={session.showHelp.value} aria-label="Keys" title="Keys (?)" onClick={() => (session.showHelp.value = !session.showHelp.value)}>
          ?
        </button>
      </span>
    </header>
  );
}

export function Page({ session }: { session: Session }) {
  const root = useRef<HTMLDivElement>(null);
  const leaving = useLeaving(root, session);

  useEffect(() => {
    const warn = (event: BeforeUnloadEvent) => {
      if (session.outbox.waiting.value.length) event.preventDefault();
    };
    addEventListener("beforeunload", warn);
    return () => removeEventListener("beforeunload", warn);
  }, []);

  const escape = (event: KeyboardEvent) => {
    const here = focusIn(root.current!);
    if (session.showHelp.value) return void (session.showHelp.value = false);
    if (session.form.value) return session.endForm();
    if (session.message.value) session.message.value = null;
    else if (here === root.current || here?.matches(".s7-theme-rows")) return leaving.escape(event);
    root.current?.querySelector<HTMLElement>(".s7-theme-rows")?.focus();
  };

  const inField = (event: KeyboardEvent, target: Element): boolean => {
    const isLine = !(target instanceof HTMLTextAreaElement);
    const sent = event.key === "Enter" && !event.repeat && (event.ctrlKey || event.metaKey || isLine);
    if (sent) target.closest(".s7-form")?.querySelector<HTMLElement>(".s7-primary:not(:disabled)")?.click();
    return sent;
  };

  const press = (event: KeyboardEvent, target: Element) => {
    if (event.key === "Escape") {
      event.preventDefault();
      return escape(event);
    }
    if (isTextField(target)) return void (inField(event, target) && event.preventDefault());
    if (target.closest("button, summary") && (event.key === "Enter" || event.key === " ")) return void (event.repeat && event.preventDefault());
    if (pressed(event)) event.preventDefault();
  };

  /** What a key does; one that is held down does nothing twice, but for the arrows. */
  const pressed = (event: KeyboardEvent): boolean => {
    if (event.ctrlKey || event.metaKey) return event.key.toLowerCase() === "z" && !event.shiftKey && (event.repeat || session.undo(), true);
    const command = event.altKey ? undefined : commands[event.key];
    if (!command) return false;
    if (!event.repeat || event.key.startsWith("Arrow")) command();
    return true;
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
    "?": () => (session.showHelp.value = !session.showHelp.value),
  };
  useLayoutEffect(() => hearKeys(() => root.current, press), []);

  // Once what is to have the focus is drawn: a part that is drawn by itself comes after the page, and a draft later.
  const [wanted, drafted] = [session.focus.value, session.coding.draft.value];
  useLayoutEffect(() => {
    if (wanted === null) return;
    const give = () => {
      const to = root.current?.querySelector<HTMLElement>(wanted);
      if (!to) return;
      session.focus.value = null;
      to.focus({ preventScroll: !wanted.includes("form") });
      if (to instanceof HTMLInputElement) to.select();
    };
    give();
    queueMicrotask(() => session.focus.value === wanted && give());
  }, [wanted, drafted]);

  // A button takes no focus from a click: it may be gone when the kernel has answered, and the keys with it.
  const down = (event: MouseEvent) => {
    if (!(event.target as Element).closest("button, .s7-theme-row, canvas")) return;
    event.preventDefault();
    if (!isTextField(focusIn(root.current!))) root.current!.querySelector<HTMLElement>(".s7-theme-rows")?.focus({ preventScroll: true });
  };

  return (
    <div class="s7 s7-themes-widget" ref={root} tabIndex={0} role="group" aria-label="Themes" onMouseDown={down}>
      <Header session={session} />
      {session.message.value && (
        <p class="s7-message" role="alert">
          {session.message.value}{" "}
          <button type="button" aria-label="Close the message" onClick={() => (session.message.value = null)}>
            ×
          </button>
        </p>
      )}
      {session.showHelp.value && <Help rows={KEYS} />}
      {session.coder.value && session.themes.value ? (
        <div class="s7-themes">
          <ThemeList session={session} />
          <OpenTheme session={session} />
          <MapPane session={session} />
        </div>
      ) : (
        <p class="s7-waiting">{session.coder.value ? "Reading the themes…" : "Waiting for the kernel… If it was restarted, run the cell again."}</p>
      )}
      <div class="s7-status" role="status">
        {session.announced.value}
      </div>
    </div>
  );
}
