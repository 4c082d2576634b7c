// The codebook widget on screen: the tree of codes, the code's fields with its quotes, and what is done with
// the draft.
import { useLayoutEffect, useRef } from "preact/hooks";
import { Button, Space } from "../shared/button";
import { Frame, Tool, WAITING, Who } from "../shared/frame";
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
  ["←→", "Fold or unfold; go to its parent"],
  ["Enter", "Edit the code’s fields (Esc: back to the tree)"],
  ["Alt+↑↓", "Move the code up or down"],
  ["Alt+→", "Move it under the code above"],
  ["Alt+←", "Move it out of its parent"],
  ["/", "Find a code by name, where there are twenty or more (Esc: back to the tree)"],
  ["+", "Add a code"],
  ["m", "Merge the code into another"],
  ["s", "Split it into parts"],
  ["Del", "Retire it"],
  ["z y", "Undo, redo a step of the draft (also Ctrl+Z, Ctrl+Shift+Z)"],
  ["Alt+1 … 4", "Draft, proposals, split texts, versions"],
  ["w", "Write the reason, to save"],
  ["Ctrl+Enter", "In the reason: save"],
  ["1 … 9", "Split texts: choose the part; Enter: save and next text; 0: no part"],
  ["t T", "Split texts: next theme, previous theme; Shift+Enter: these parts for all found"],
  ["mouse", "Drag a code to move it"],
];

function DraftState({ session }: { session: Session }) {
  const draft = session.draft.value;
  const n = (draft?.steps.length ?? 0) + session.pending.value.length;
  return (
    <span class={n ? "s7-draft-state s7-is-draft" : "s7-draft-state"} role="status">
      {!draft ? "" : n ? `Draft: ${n} ${n === 1 ? "step" : "steps"}, not saved` : "No changes"}
    </span>
  );
}

function Tabs({ session }: { session: Session }) {
  const counts: Partial<Record<Tab, number>> = {
    changes: session.draft.value?.changes.length ?? 0,
    proposals: session.nProposals.value,
  };
  return (
    <div class="s7-side-tabs" role="group" aria-label="Panel next to the code">
      {TABS.map(([name, words, key]) => (
        <Button
          key={name}
          aria-pressed={session.tab.value === name}
          title={`${words} (Alt+${key})`}
          onClick={() => session.open(name)}
        >
          {words}
          {!!counts[name] && <span class="s7-count"> {counts[name]}</span>}
        </Button>
      ))}
    </div>
  );
}

export function Page({ session }: { session: Session }) {
  const root = useRef<HTMLDivElement>(null);
  const tab = session.tab.value;
  const tree = () => root.current!.querySelector<HTMLElement>(".s7-tree");

  const back = () => {
    if (!session.form.value) return false;
    session.form.value = null;
    session.focus.value = ".s7-tree";
    return true;
  };

  const opensTab = (event: KeyboardEvent): boolean => {
    const found = event.altKey && TABS.find(([, , key]) => event.code === `Digit${key}`);
    if (found) session.open(found[0]);
    return !!found;
  };

  /** Enter in a field of one line, Ctrl+Enter in any: the form is sent, the field becomes a step. */
  const inField = (event: KeyboardEvent, field: HTMLElement): boolean => {
    if (event.key === "Enter" && field.matches(".s7-find-code")) {
      tree()?.focus();
      return true;
    }
    const sent =
      event.key === "Enter" && (event.ctrlKey || event.metaKey || !(field instanceof HTMLTextAreaElement));
    const form = field.closest(".s7-form, .s7-save, .s7-fields");
    if (!sent || event.repeat || !form) return opensTab(event);
    if (form.matches(".s7-fields")) tree()?.focus();
    else form.querySelector<HTMLElement>(".s7-primary")?.click();
    return true;
  };

  const press = (event: KeyboardEvent, target: Element): boolean => {
    if (opensTab(event)) return true;
    if (event.ctrlKey || event.metaKey) return false;
    if (target.closest(".s7-sorting") && !event.altKey)
      return session.sorter.press(event.key, event.shiftKey);
    return pressInTree(event, session);
  };

  const commands = {
    z: () => session.takeBack("undo"),
    y: () => session.takeBack("redo"),
    w: () => {
      session.open("changes");
      session.focus.value = ".s7-why";
    },
  };

  // What had the focus may be gone with the tab that was left, and the keys with it.
  const isFirst = useRef(true);
  useLayoutEffect(() => {
    if (!isFirst.current && document.activeElement === document.body)
      root.current?.querySelector<HTMLElement>(TAB)?.focus();
    isFirst.current = false;
  }, [tab]);

  // A field that is left by a click on a button becomes a step first.
  const down = (event: MouseEvent) => {
    if (!(event.target as Element).closest("button")) return;
    event.preventDefault();
    (root.current!.querySelector<HTMLElement>(".s7-sorting") ?? tree())?.focus({ preventScroll: true });
  };

  const draft = session.draft.value;
  return (
    <Frame
      {...{ session, root, commands, back, inField, press }}
      name="codebook"
      label="Codebook"
      keys={KEYS}
      repeats={/^[zy]$/i}
      home=".s7-tree"
      undo={() => session.takeBack("undo")}
      redo={() => session.takeBack("redo")}
      on={{ onMouseDown: down }}
      bar={
        <>
          <Who session={session} role="The lead" title={draft?.title ?? ""} />
          <Space />
        </>
      }
      quiet
      state={<DraftState session={session} />}
      tools={
        <>
          <Tool
            name="Undo"
            sign="↶"
            press="z"
            ready={!!draft?.steps.length}
            run={() => session.takeBack("undo")}
          />
          <Tool
            name="Redo"
            sign="↷"
            press="y"
            ready={!!draft?.undone.length}
            run={() => session.takeBack("redo")}
          />
        </>
      }
      placeholder={!draft && WAITING}
    >
      <div class="s7-panes s7-revision">
        <CodeTree session={session} />
        <section class="s7-middle">
          {tab === "sorting" ? (
            <SortingPane session={session} />
          ) : tab === "versions" ? (
            <Comparison session={session} />
          ) : (
            <Fields session={session} />
          )}
        </section>
        <section class="s7-beside" aria-label="Draft and its sources">
          <Tabs session={session} />
          {tab === "changes" && <Changes session={session} />}
          {tab === "proposals" && <Proposals session={session} />}
          {tab === "sorting" && <SplitList session={session} />}
          {tab === "versions" && <Versions session={session} />}
        </section>
      </div>
    </Frame>
  );
}
