// The codebook widget on screen: the tree of codes, the code's fields with its quotes, and what is done with the draft.
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { Help } from "../shared/help";
import { hearKeys, isTextField } from "../shared/keys";
import { useLeaving } from "../shared/leaving";
import { SaveState } from "../shared/savestate";
import { Changes } from "./changes";
import { Fields } from "./fields";
import { Proposals } from "./proposals";
import { TAB, type Session, type Tab } from "./session";
import { SortingPane, SplitList } from "./sorting";
import { CodeTree, pressInTree } from "./tree";
import { Comparison, Versions } from "./versions";

const TABS: [Tab, string, string][] = [
  ["changes", "Draft", "1"],
  ["proposals", "Proposals", "2"],
  ["sorting", "Split texts", "3"],
  ["versions", "Versions", "4"],
];

const KEYS: [string, string][] = [
  ["↑↓", "The code above or below"],
  ["←→", "Fold or unfold; the code above it in the tree"],
  ["Enter", "Edit the code’s fields (Esc: back to the tree)"],
  ["Alt+↑↓", "Move the code up or down"],
  ["Alt+→", "Move it under the code above"],
  ["Alt+←", "Move it out of the code that it stands under"],
  ["+", "Add a code"],
  ["m", "Merge the code into another"],
  ["s", "Split it into parts"],
  ["Del", "Retire it"],
  ["z y", "Undo, redo a step of the draft (also Ctrl+Z, Ctrl+Shift+Z)"],
  ["Alt+1 … 4", "Draft, proposals, split texts, versions"],
  ["w", "Write why, to save"],
  ["Ctrl+Enter", "In the reason: save"],
  ["1 … 9", "Split texts: the part; Enter: these parts and the next text; 0: none of them"],
  ["t T", "Split texts: of the next theme, the one before; Shift+Enter: these parts for all found"],
  ["mouse", "Drag a code to where it belongs"],
  ["?", "Show or hide these keys"],
  ["Esc", "Back; twice, not too fast: leave for the notebook"],
];

function Header({ session }: { session: Session }) {
  const draft = session.draft.value;
  const waiting = session.pending.value.length;
  const n = (draft?.steps.length ?? 0) + waiting;
  return (
    <header class="s7-header">
      <span class="s7-coder" title="The lead who revises">{session.coder.value}</span>
      <span class="s7-book-title" dir="auto">
        {draft?.title}
      </span>
      <span class="s7-space" />
      <SaveState line={session.channel} quiet />
      <span class={n ? "s7-draft-state s7-is-draft" : "s7-draft-state"} role="status">
        {!draft ? "" : n ? `Draft: ${n} ${n === 1 ? "step" : "steps"}, not saved` : "No changes"}
      </span>
      <span class="s7-tools">
        <button type="button" aria-label="Undo" title="Undo (z)" disabled={!draft?.steps.length} onClick={() => session.takeBack("undo")}>
          ↶
        </button>
        <button type="button" aria-label="Redo" title="Redo (y)" disabled={!draft?.undone.length} onClick={() => session.takeBack("redo")}>
          ↷
        </button>
        <button type="button" aria-expanded={session.showHelp.value} aria-label="Keys" title="Keys (?)" onClick={() => (session.showHelp.value = !session.showHelp.value)}>
          ?
        </button>
      </span>
    </header>
  );
}

function Tabs({ session }: { session: Session }) {
  const counts: Partial<Record<Tab, number>> = { changes: session.draft.value?.changes.length ?? 0, proposals: session.nProposals.value };
  return (
    <div class="s7-side-tabs" role="group" aria-label="What stands beside the code">
      {TABS.map(([name, words, key]) => (
        <button key={name} type="button" aria-pressed={session.tab.value === name} title={`${words} (Alt+${key})`} onClick={() => session.open(name)}>
          {words}
          {!!counts[name] && <span class="s7-count"> {counts[name]}</span>}
        </button>
      ))}
    </div>
  );
}

export function Page({ session }: { session: Session }) {
  const root = useRef<HTMLDivElement>(null);
  const leaving = useLeaving(root, session);
  const tab = session.tab.value;

  useEffect(() => {
    const warn = (event: BeforeUnloadEvent) => {
      if (session.draft.value?.steps.length || session.pending.value.length) event.preventDefault();
    };
    addEventListener("beforeunload", warn);
    return () => removeEventListener("beforeunload", warn);
  }, []);

  const tree = () => root.current!.querySelector<HTMLElement>(".s7-tree");
  const escape = (event: KeyboardEvent, target: Element) => {
    if (session.showHelp.value) return void (session.showHelp.value = false);
    if (session.form.value) session.form.value = null;
    else if (session.message.value) session.message.value = null;
    else if (target === tree() || target === root.current) return leaving.escape(event);
    tree()?.focus();
  };

  /** Enter in a field of one line, Ctrl+Enter in any: the form is sent, the field becomes a step. */
  const inField = (event: KeyboardEvent, field: HTMLElement): boolean => {
    const sent = event.key === "Enter" && (event.ctrlKey || event.metaKey || !(field instanceof HTMLTextAreaElement));
    const form = field.closest(".s7-form, .s7-save, .s7-fields");
    if (!sent || event.repeat || !form) return false;
    if (form.matches(".s7-fields")) tree()?.focus();
    else form.querySelector<HTMLElement>(".s7-primary")?.click();
    return true;
  };

  const press = (event: KeyboardEvent, target: Element) => {
    if (event.key === "Escape") {
      event.preventDefault();
      return escape(event, target);
    }
    const number = event.altKey && TABS.find(([, , key]) => event.code === `Digit${key}`);
    if (number) {
      event.preventDefault();
      return session.open(number[0]);
    }
    if (isTextField(target)) return void (inField(event, target) && event.preventDefault());
    if (target.closest("button, a, summary") && (event.key === "Enter" || event.key === " ")) return void (event.repeat && event.preventDefault());
    const used = pressed(event, target);
    if (used) event.preventDefault();
  };

  const pressed = (event: KeyboardEvent, target: Element): boolean => {
    const held = event.ctrlKey || event.metaKey;
    if (held && event.key.toLowerCase() === "z") return session.takeBack(event.shiftKey ? "redo" : "undo"), true;
    if (held) return false;
    if (target.closest(".s7-sorting") && !event.altKey) return session.sorter.press(event.key, event.shiftKey);
    if (pressInTree(event, session)) return true;
    const commands: Record<string, () => void> = {
      z: () => session.takeBack("undo"),
      y: () => session.takeBack("redo"),
      w: () => {
        session.open("changes");
        session.focus.value = ".s7-why";
      },
      "?": () => (session.showHelp.value = !session.showHelp.value),
    };
    const command = event.altKey ? undefined : commands[event.key];
    command?.();
    return command !== undefined;
  };
  useLayoutEffect(() => hearKeys(() => root.current, press), []);

  // What had the focus may be gone with the tab that was left, and the keys with it.
  const isFirst = useRef(true);
  useLayoutEffect(() => {
    if (!isFirst.current && document.activeElement === document.body) root.current?.querySelector<HTMLElement>(TAB)?.focus();
    isFirst.current = false;
  }, [tab]);

  // Once what is to have the focus is drawn: a part that is drawn by itself comes after the page.
  const wanted = session.focus.value;
  useLayoutEffect(() => {
    if (wanted === null) return;
    session.focus.value = null;
    const give = () => {
      const to = root.current?.querySelector<HTMLElement>(wanted);
      to?.focus();
      if (to instanceof HTMLInputElement) to.select();
      return !!to;
    };
    if (!give()) queueMicrotask(give);
  }, [wanted]);

  // A button takes no focus from a click: it may be gone when the kernel has answered, and the keys with it. A field
  // that is left by the click becomes a step first.
  const down = (event: MouseEvent) => {
    if (!(event.target as Element).closest("button")) return;
    event.preventDefault();
    (root.current!.querySelector<HTMLElement>(".s7-sorting") ?? tree())?.focus({ preventScroll: true });
  };

  const draft = session.draft.value;
  return (
    <div class="s7 s7-codebook-widget" ref={root} tabIndex={0} role="group" aria-label="Codebook" onMouseDown={down}>
      <Header session={session} />
      {draft?.moved_on && (
        <p class="s7-notice" role="status">
          Somebody else revised the codebook since this draft was begun. Saving puts both together; where you changed the same thing, you are asked.
        </p>
      )}
      {session.message.value && (
        <p class="s7-message" role="alert">
          {session.message.value}{" "}
          <button type="button" aria-label="Close the message" onClick={() => (session.message.value = null)}>
            ×
          </button>
        </p>
      )}
      {session.showHelp.value && <Help rows={KEYS} />}
      {draft ? (
        <div class="s7-revision">
          <CodeTree session={session} />
          <section class="s7-middle">
            {tab === "sorting" ? <SortingPane session={session} /> : tab === "versions" ? <Comparison session={session} /> : <Fields session={session} />}
          </section>
          <section class="s7-beside" aria-label="Draft and its sources">
            <Tabs session={session} />
            {tab === "changes" && <Changes session={session} />}
            {tab === "proposals" && <Proposals session={session} />}
            {tab === "sorting" && <SplitList session={session} />}
            {tab === "versions" && <Versions session={session} />}
          </section>
        </div>
      ) : (
        <p class="s7-waiting">Waiting for the kernel… If it was restarted, run the cell again.</p>
      )}
      <div class="s7-status" role="status">
        {session.announced.value}
      </div>
    </div>
  );
}
