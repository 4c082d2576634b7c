// The frame of all widgets: header, whether all is saved, message, card of keys, status; and what keys and
// the mouse
// do in every one of them.
import {
  render as draw,
  type ComponentChildren,
  type ComponentType,
  type HTMLAttributes,
  type VNode,
} from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { Button } from "./button";
import type { Model } from "./channel";
import type { WidgetSession } from "./session";
import { focusIn, hearKeys, isTextField, keepFocus, type TextField } from "./keys";
import { useLargeView } from "./largeview";
import { useLeaving } from "./leaving";
import { SaveState } from "./savestate";
import { watchTheme } from "./theme";
import { bringIn } from "./onscreen";

export const WAITING = "Waiting for the kernel… If you restarted it, run the cell again.";

const EVERYWHERE: Rows = [
  ["F", "Large view, over the whole window (F or Esc: back)"],
  ["?", "Show or hide these keys"],
  ["Esc", "Back; twice, not too fast: return to the notebook"],
];

type Session = Pick<
  WidgetSession<never, never, never>,
  | "coder"
  | "message"
  | "announced"
  | "showHelp"
  | "large"
  | "focus"
  | "presses"
  | "held"
  | "isUnsaved"
  | "unsaved"
> & {
  channel: Parameters<typeof SaveState>[0]["line"];
  say(words: string): void;
};

interface Props {
  session: Session;
  root: { current: HTMLDivElement | null };
  name: string;
  label: string;
  /** The card of keys, or what each key does. */
  keys: Rows | VNode;
  /** What each key does, once its turn has come; those that match `repeats` also while they are held down. */
  commands?: Readonly<Record<string, () => void>>;
  repeats?: RegExp;
  /** Keys that open a field: what follows them is meant for that. */
  opens?: string;
  undo?: () => void;
  redo?: () => void;
  /** Close the topmost thing that is open in the page; false where nothing is. */
  back(target: Element): boolean;
  /**
   * What a key does in a field, and what it does before it is looked for among the commands; false: nothing.
   */
  inField?(event: KeyboardEvent, field: TextField): boolean;
  press?(event: KeyboardEvent, target: Element): boolean;
  /** In the place of all of that, for a page whose keys may be others. */
  hear?(event: KeyboardEvent, target: Element, onEscape: () => void): void;
  /**
   * What has the focus while keys are for the desk (else the root). Where it is not given, any part of the
   * desk may.
   */
  home?: string;
  /** What takes no focus from a click: it may be gone when the kernel has answered, and the keys with it. */
  still?: string;
  on?: HTMLAttributes<HTMLDivElement>;
  /**
   * The header before the save state, which may be `quiet`; what stands behind that; and buttons beside the
   * one of the keys.
   */
  bar: VNode;
  quiet?: boolean;
  state?: VNode;
  tools?: ComponentChildren;
  /** At the end of the status line: what may be pressed next. */
  hints?: ComponentChildren;
  /** Words in the place of the page, until there is something to show. */
  placeholder?: string | false | undefined;
  children: ComponentChildren;
}

export function Frame(props: Props) {
  const { session, root } = props;
  const now = useRef(props);
  now.current = props;
  const leaving = useLeaving(root, session);
  const goHome = () =>
    (root.current?.querySelector<HTMLElement>(props.home ?? ".s7") ?? root.current)?.focus({
      preventScroll: true,
    });

  useLargeView(root, session.large.value);
  useLayoutEffect(() => {
    const at = root.current!;
    const show = () => void (at.clientHeight <= innerHeight && bringIn(at));
    let held = false;
    at.addEventListener("pointerdown", () => (held = true), { once: true, capture: true });
    // What the mouse is on must not move before the button is up: the click would be lost. (After a tap, the
    // focus and
    // then mouseup come when the pointer is up already.)
    at.addEventListener(
      "focusin",
      () => (held ? addEventListener("mouseup", () => setTimeout(show), { once: true }) : show()),
      { once: true },
    );
  }, []);
  useEffect(() => {
    const warn = (event: BeforeUnloadEvent) => void (session.isUnsaved && event.preventDefault());
    // A page asks, whose kernel is gone (`sense7-qual code`).
    const tell = (event: Event) => void (event as CustomEvent<string[]>).detail.push(...session.unsaved());
    addEventListener("beforeunload", warn);
    addEventListener("s7-unsaved", tell);
    return () => {
      removeEventListener("beforeunload", warn);
      removeEventListener("s7-unsaved", tell);
    };
  }, []);

  /**
   * One thing after the other is shut: the card, what is open in the page, the message, the large view; then
   * the desk is left.
   */
  const shutOrLeave = (event: KeyboardEvent, target: Element) => {
    const { home, back } = now.current;
    if (session.showHelp.value) return void (session.showHelp.value = false);
    if (back(target)) return;
    if (session.message.value) session.message.value = null;
    else if (!home || target === root.current || target.matches(home))
      return session.large.value ? toggle(session.large) : leaving.escape(event);
    if (home) goHome();
  };

  const press = (event: KeyboardEvent, target: Element) => {
    if (session.showHelp.value && !/^(Escape|\?)$/.test(event.key)) {
      if (scrollCard(root.current!, event.key)) return event.preventDefault();
      session.showHelp.value = false;
    }
    const { hear, inField, press, commands = {}, repeats = /^Arrow/, opens = "", undo, redo } = now.current;
    if (hear) return hear(event, target, () => shutOrLeave(event, target));
    if (event.key === "Escape") {
      event.preventDefault();
      return shutOrLeave(event, target);
    }
    if (isTextField(target)) return void (inField?.(event, target) && event.preventDefault());
    const onControl = target.closest("button, a, summary") && (event.key === "Enter" || event.key === " ");
    if (onControl) return void (event.repeat && event.preventDefault());
    if (press?.(event, target)) return event.preventDefault();
    const held = event.ctrlKey || event.metaKey;
    const turn = event.key.toLowerCase() === "z" ? (event.shiftKey ? redo : undo) : undefined;
    const shown = held || event.altKey ? undefined : { "?": session.showHelp, F: session.large }[event.key];
    const command = held ? turn : event.altKey ? undefined : commands[event.key];
    if (!shown && !command) return;
    event.preventDefault();
    // What is held down does nothing twice.
    if (shown) event.repeat || toggle(shown);
    else if (!event.repeat || repeats.test(event.key))
      session.presses.inTurn(command!, { opens: !held && opens.includes(event.key) });
  };
  useLayoutEffect(() => hearKeys(() => root.current, press), []);
  useLayoutEffect(() => keepFocus(root.current!, goHome), []);

  const wanted = session.focus.value;
  useLayoutEffect(() => {
    if (wanted === null) return;
    session.focus.value = null;
    if (wanted === ".s7" || wanted === props.home) return goHome();
    const give = () => focusOn(root.current?.querySelector<HTMLElement>(wanted));
    give();
    // A part with its own signal is drawn after the page and replaces what was there.
    queueMicrotask(
      () => (root.current && focusIn(root.current)?.matches(wanted)) || give() || root.current?.focus(),
    );
  }, [wanted]);

  const down = (event: MouseEvent) => {
    if (!props.still || !(event.target as Element).closest(props.still)) return;
    event.preventDefault();
    if (!isTextField(focusIn(root.current!))) goHome();
  };

  return (
    <div
      class={`s7 s7-${props.name}-widget`}
      ref={root}
      tabIndex={0}
      role="group"
      aria-label={props.label}
      onMouseDown={down}
      {...props.on}
    >
      <header class="s7-header">
        {props.bar}
        <Saving session={session} quiet={props.quiet ?? false} />
        {props.state}
        <span class="s7-tools">
          {props.tools}
          <Buttons session={session} />
        </span>
      </header>
      <Message session={session} />
      <Card session={session} keys={props.keys} />
      {props.placeholder ? <p class="s7-waiting">{props.placeholder}</p> : props.children}
      <div class="s7-foot">
        <Status session={session} />
        {props.hints}
      </div>
    </div>
  );
}

/* Components of their own: the page is not drawn anew for what each of them shows. */

function Saving({ session, quiet }: { session: Session; quiet: boolean }) {
  // What an earlier view left unsent is known once the kernel has answered.
  if (!session.coder.value) return null;
  return (
    <SaveState
      line={session.channel}
      queued={session.presses.waiting.value.length > 0 || session.held.value}
      quiet={quiet}
    />
  );
}

/** What every header ends with. */
function Buttons({ session: { large, showHelp } }: { session: Session }) {
  return (
    <>
      <Button
        aria-pressed={large.value}
        aria-label="Large view"
        title="Large view (F)"
        onClick={() => toggle(large)}
        words="⤢"
      />
      <Button
        aria-expanded={showHelp.value}
        aria-label="Keys"
        title="Keys (?)"
        onClick={() => toggle(showHelp)}
        words="?"
      />
    </>
  );
}

function Message({ session }: { session: Session }) {
  if (!session.message.value) return null;
  return (
    <p class="s7-message" role="alert">
      {session.message.value}{" "}
      <Button aria-label="Close the message" onClick={() => (session.message.value = null)} words="×" />
    </p>
  );
}

function Card({ session, keys }: { session: Session; keys: Rows | VNode }) {
  if (!session.showHelp.value) return null;
  return (
    <div class="s7-card" tabIndex={0}>
      {Array.isArray(keys) ? <Help rows={[...(keys as Rows), ...EVERYWHERE]} /> : (keys as VNode)}
    </div>
  );
}

/** Whether the key scrolls the card of keys, which it then does; any other key shuts it, and acts. */
function scrollCard(root: HTMLElement, key: string): boolean {
  const [card, by] = [
    root.querySelector(".s7-card")!,
    { ArrowDown: 40, ArrowUp: -40, PageDown: 300, PageUp: -300 }[key],
  ];
  if (by) card.scrollTop += by;
  return by !== undefined;
}

function Status({ session }: { session: Session }) {
  return (
    <div class="s7-status" role="status">
      {session.announced.value}
    </div>
  );
}

function toggle(shown: Session["large"]): void {
  shown.value = !shown.value;
}

/** Give the focus to what is drawn now, all of it in sight. */
function focusOn(to: HTMLElement | null | undefined): boolean {
  to?.focus({ preventScroll: true });
  if (to instanceof HTMLInputElement) to.select();
  if (to instanceof HTMLTextAreaElement) to.setSelectionRange(to.value.length, to.value.length);
  // A drawer opens at the top of the columns, which may be out of sight.
  bringIn(to?.closest(".s7-side")?.firstElementChild ?? to);
  return !!to;
}

/** A button of the header. */
export function Tool({
  name,
  sign,
  press,
  ready,
  run,
}: {
  name: string;
  sign: string;
  press: string;
  ready: boolean;
  run(): void;
}) {
  return (
    <Button aria-label={name} title={`${name} (${press})`} disabled={!ready} onClick={run} words={sign} />
  );
}

/** Who works here, and at what. */
export function Who({
  session,
  role,
  title = "",
}: {
  session: Session;
  role: string;
  title?: string | undefined;
}) {
  return (
    <>
      <span class="s7-coder" title={role}>
        {session.coder.value}
      </span>
      {title !== "" && (
        <span class="s7-book-title" dir="auto">
          {title}
        </span>
      )}
    </>
  );
}

/** How much of it is done. */
export function Bar({ label, done, of }: { label: string; done: number; of: number }) {
  return (
    <div
      class="s7-bar"
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={of}
      aria-valuenow={done}
    >
      <div style={{ width: `${of ? (100 * done) / of : 0}%` }} />
    </div>
  );
}

/** A widget as anywidget loads it: a session and its page in each place where it is shown. */
export function widget<
  Own extends { close(): void; showOther(model: string): void; message: { value: string | null } },
>(Session: new (model: Model) => Own, Page: ComponentType<{ session: Own }>) {
  return {
    render({ model, el }: { model: Model; el: HTMLElement }): () => void {
      const themed = watchTheme();
      let close = begin(model);
      function begin(model: Model): () => void {
        const session = new Session(model);
        session.showOther = async id => {
          const next = await model.widget_manager?.get_model?.(id).catch(() => undefined);
          if (!el.isConnected) return;
          if (!next)
            return void (session.message.value =
              "It cannot be opened here. Open it in a cell, with CodingWidget(…, round=…).");
          close();
          close = begin(next);
          el.querySelector<HTMLElement>(".s7")?.focus({ preventScroll: true });
        };
        draw(<Page session={session} />, el);
        return () => {
          // In this order: a memo in mid-sentence becomes an act when its field goes, and is handed over
          // then.
          draw(null, el);
          session.close();
        };
      }
      return () => {
        close();
        themed();
      };
    },
  };
}

/** Each key with what it does. */
export type Rows = readonly [string, string][];

function Keys({ rows }: { rows: Rows }) {
  return (
    <dl>
      {rows.map(([key, words]) => (
        <div key={words}>
          <dt>
            <kbd>{key}</kbd>
          </dt>
          <dd>{words}</dd>
        </div>
      ))}
    </dl>
  );
}

/** The keys as one list (`rows`), or under a heading for each thing one wants to do (`groups`). */
export function Help({ rows, groups }: { rows?: Rows; groups?: readonly { title: string; rows: Rows }[] }) {
  return (
    <section class="s7-help" aria-label="Keys">
      {rows && <Keys rows={rows} />}
      {groups?.map(group => (
        <section key={group.title} aria-label={group.title}>
          <h3>{group.title}</h3>
          <Keys rows={group.rows} />
        </section>
      ))}
    </section>
  );
}
