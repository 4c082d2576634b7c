// The coding widget on screen: its header, the unit with its codings, the codebook; and what each key does there.
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { CodePicker } from "../shared/codepicker";
import { Conversation } from "../shared/conversation";
import { focusIn, hearKeys, isTextField, keyLabel, meaning, write, type TextField } from "../shared/keys";
import type { Code } from "../shared/protocol";
import { SaveState } from "../shared/savestate";
import { TextView } from "../shared/textview";
import { Codings } from "./codings";
import { startDrag } from "./drag";
import { MemoField } from "./memo";
import type { Unit } from "./messages";
import type { Session } from "./session";

const COMMAND_WORDS: Record<string, string> = {
  finish_and_next: "Finish this text and go to the next",
  finish: "Finish, or take “finished” back",
  next: "Next text",
  back: "Back",
  next_unfinished: "Next unfinished text",
  next_word: "Select the next word (Shift: previous)",
  next_sentence: "Select the next sentence (Shift: previous)",
  next_coding: "Next coding on this text",
  previous_coding: "Previous coding",
  remove_coding: "Remove the marked coding",
  valence: "Valence of the marked coding",
  unsure: "Unsure about the marked coding",
  memo: "Write a memo",
  rating: "Show or hide the rating",
  context: "Show or hide the conversation",
  filter: "Find a code",
  undo: "Undo (also Ctrl+Z)",
  redo: "Redo (also Ctrl+Shift+Z)",
  help: "Show or hide these keys",
};

function Progress({ session, unit }: { session: Session; unit: Unit | null }) {
  const [finished, total] = [session.finished.value, session.total.value];
  return (
    <div class="s7-progress">
      {total > 0 && (
        <label class="s7-goto">
          Text{" "}
          <input
            type="number"
            min={1}
            max={total}
            value={unit ? unit.place + 1 : undefined}
            onChange={(event) => {
              const place = event.currentTarget.valueAsNumber - 1;
              session.presses.take(() => session.goto(place), { waits: session.mustWait("next") });
            }}
          />{" "}
          of {total}
        </label>
      )}
      <div
        class="s7-bar"
        role="progressbar"
        aria-label="Finished texts"
        aria-valuemin={0}
        aria-valuemax={total}
        aria-valuenow={finished}
      >
        <div style={{ width: `${total ? (100 * finished) / total : 0}%` }} />
      </div>
      <span class="s7-numbers">{finished} finished</span>
    </div>
  );
}

// A component of its own: a header drawn anew at each press would take back the number that is being typed.
function Saving({ session }: { session: Session }) {
  return <SaveState outbox={session.outbox} queued={session.presses.waiting.value.length > 0} />;
}

function Header({ session, unit }: { session: Session; unit: Unit | null }) {
  const take = (action: () => void, what: string) => session.presses.take(action, { waits: session.mustWait(what) });
  return (
    <header class="s7-header">
      <span class="s7-coder" title="The coder whose session this is">{session.coder.value}</span>
      <Progress session={session} unit={unit} />
      <span class="s7-outside">Click here to use the keys</span>
      <Saving session={session} />
      <span class="s7-tools">
        <button type="button" aria-label="Undo" title="Undo (z)" disabled={!session.canUndo.value} onClick={() => take(() => session.takeBack("undo"), "undo")}>
          ↶
        </button>
        <button type="button" aria-label="Redo" title="Redo (y)" disabled={!session.canRedo.value} onClick={() => take(() => session.takeBack("redo"), "redo")}>
          ↷
        </button>
        <button type="button" aria-expanded={session.showHelp.value} aria-label="Keys" title="Keys (?)" onClick={() => (session.showHelp.value = !session.showHelp.value)}>
          ?
        </button>
      </span>
    </header>
  );
}

function Help({ session }: { session: Session }) {
  if (!session.showHelp.value) return null;
  const rows: [string, string][] = [
    ["code key", "Apply the code to the selection or the whole text; again: remove it"],
    ["Alt+code key", "Show the code’s definition"],
    ["Shift+←→", "Shrink or extend the selection by a word"],
    ...Object.entries(session.commands.value).map(
      ([name, key]): [string, string] => [keyLabel(key), COMMAND_WORDS[name] ?? name],
    ),
    ["Esc", "Drop the selection; again: leave for the notebook"],
  ];
  return (
    <section class="s7-help" aria-label="Keys">
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
    </section>
  );
}

function Footer({ session, unit }: { session: Session; unit: Unit }) {
  const step = (by: number) => session.presses.take(() => session.step(by), { waits: session.mustWait("next") });
  const take = (action: () => void) => session.presses.take(action, unit);
  return (
    <footer class="s7-footer">
      <button type="button" disabled={unit.place === 0} onClick={() => step(-1)}>
        ← Back
      </button>
      <button type="button" disabled={unit.place + 1 >= session.total.value} onClick={() => step(1)}>
        Next →
      </button>
      <span class="s7-space" />
      <button type="button" class="s7-finish" aria-pressed={unit.finished} onClick={() => take(() => session.finish())}>
        {unit.finished ? "✓ Finished" : "Finish"}
      </button>
      <button type="button" class="s7-primary" onClick={() => take(() => session.finishAndNext())}>
        Finish and next ⏎
      </button>
    </footer>
  );
}

function Rating({ session, unit }: { session: Session; unit: Unit }) {
  if (unit.rating === null) return null;
  const shown = session.showRating.value;
  return (
    <button type="button" class="s7-quiet" aria-pressed={shown} onClick={() => (session.showRating.value = !shown)}>
      {shown ? `Rating: ${unit.rating}` : "Show rating"}
    </button>
  );
}

function Context({ session, unit }: { session: Session; unit: Unit }) {
  const open = session.showContext.value;
  return <Conversation unit={unit} open={open} onToggle={() => (session.showContext.value = !open)} />;
}

function Text({ session, unit }: { session: Session; unit: Unit }) {
  return (
    <TextView
      unit={unit}
      book={session.book}
      selection={session.selection.value}
      active={session.active.value}
      frozen={session.dragging.value}
      onMark={(coding) => session.presses.take(() => (session.marked.value = coding), unit)}
    />
  );
}

function Desk({ session, unit }: { session: Session; unit: Unit }) {
  return (
    <div class={session.undoing.value ? "s7-desk s7-undoing" : "s7-desk"}>
      <div class="s7-unit-line">
        <span class="s7-unit-id">{unit.unit_id}</span>
        {unit.finished && <span class="s7-done">✓ finished</span>}
        <span class="s7-space" />
        <Rating session={session} unit={unit} />
      </div>
      <Context session={session} unit={unit} />
      <Text session={session} unit={unit} />
      <Codings session={session} unit={unit} />
      <MemoField key={unit.unit_id} session={session} unit={unit} />
      {session.allDone.value && session.finished.value === session.total.value && (
        <p class="s7-all-done" role="status">
          All {session.total.value} texts are finished. Thank you – you can still go back and change anything.
        </p>
      )}
      <Footer session={session} unit={unit} />
    </div>
  );
}

export function Page({ session }: { session: Session }) {
  const root = useRef<HTMLDivElement>(null);
  const opened = useRef<TextField | null>(null);
  const unit = session.unit.value;
  useEffect(() => {
    const warn = (event: BeforeUnloadEvent) => {
      if (session.outbox.waiting.value.length || session.presses.waiting.value.length) event.preventDefault();
    };
    addEventListener("beforeunload", warn);
    return () => removeEventListener("beforeunload", warn);
  }, []);

  useLayoutEffect(() => {
    if (unit) session.drawn.value = unit.unit_id;
  }, [unit?.unit_id]);

  const pick = (code: Code) => session.presses.take(() => session.toggle(code), { unit_id: unit?.unit_id });
  const keymap = () => ({ commands: session.commands.value, codes: session.book.list.value });

  const run = (what: string) => {
    const [kind, id] = what.split(/:(.*)/s);
    const code = id !== undefined && session.book.codes.value.get(id);
    if (kind === "code" && code) return session.toggle(code);
    if (kind === "detail" && code) return void (session.book.detail.value = code.id);
    const field = (selector: string) => {
      opened.current = root.current!.querySelector<TextField>(selector);
      opened.current?.focus();
    };
    const commands: Record<string, () => void> = {
      finish_and_next: () => session.finishAndNext(),
      finish: () => session.finish(),
      next: () => session.step(1),
      back: () => session.step(-1),
      next_unfinished: () => session.nextUnfinished(),
      next_word: () => session.selectNext("word", 1),
      previous_word: () => session.selectNext("word", -1),
      next_sentence: () => session.selectNext("sentence", 1),
      previous_sentence: () => session.selectNext("sentence", -1),
      extend: () => session.extend(1),
      shrink: () => session.extend(-1),
      next_coding: () => session.moveActive(1),
      previous_coding: () => session.moveActive(-1),
      remove_coding: () => session.remove(),
      valence: () => session.cycleValence(),
      unsure: () => session.toggleUnsure(),
      memo: () => field(".s7-memo textarea"),
      rating: () => (session.showRating.value = !session.showRating.value),
      context: () => (session.showContext.value = !session.showContext.value),
      filter: () => field(".s7-filter"),
      undo: () => session.takeBack("undo"),
      redo: () => session.takeBack("redo"),
      help: () => (session.showHelp.value = !session.showHelp.value),
    };
    commands[kind!]?.();
  };

  const escape = () => {
    if (session.showHelp.value) return void (session.showHelp.value = false);
    if (session.message.value) return void (session.message.value = null);
    if (session.selection.value) return void (session.selection.value = null);
    focusIn(root.current!)?.blur();
    root.current?.closest<HTMLElement>(".jp-Notebook")?.focus();
  };

  /** Apply what was looked for in the filter. */
  const applyChosen = () => {
    const code = session.book.takeChosen();
    if (code) session.apply(code);
  };

  /** What a key does in a text field; false where it is the field's own. */
  const leaves = (event: KeyboardEvent, field: Element): boolean => {
    const filter = event.key === "Enter" && field.matches(".s7-filter");
    if (filter) session.presses.take(applyChosen, { unit_id: session.unit.value?.unit_id });
    const left = filter || event.key === "Escape" || (event.key === "Enter" && (event.ctrlKey || event.metaKey));
    if (left) root.current?.focus();
    return left;
  };

  /** A press whose turn has come; in a field that an earlier press of the same burst opened, it writes. */
  const act = (event: KeyboardEvent) => {
    const field = opened.current;
    if (field && field === focusIn(root.current!)) return void (leaves(event, field) || write(field, event));
    if (event.key === "Escape") return escape();
    const what = meaning(event, keymap());
    if (what !== null) run(what);
  };

  const press = (event: KeyboardEvent, target: Element) => {
    if (isTextField(target)) return void (leaves(event, target) && event.preventDefault());
    if (target.closest("button") !== null && (event.key === "Enter" || event.key === " ")) {
      // A button held down is pressed once.
      return void (event.repeat && event.preventDefault());
    }
    if (target.matches(".s7-turns, .s7-detail") && event.key.startsWith("Arrow")) return;
    const { presses } = session;
    const what = event.key === "Escape" ? "escape" : meaning(event, keymap());
    // While presses wait, any letter may turn out to be a memo's.
    if (what === null && !(event.key.length === 1 && (session.loading.value || presses.waiting.value.length))) return;
    event.preventDefault();
    if (event.repeat && !/word|sentence|extend|shrink/.test(what ?? "")) return;
    if (what === "escape" && !presses.waiting.value.length) return act(event);
    presses.take(() => act(event), { waits: session.mustWait(what) });
  };

  useLayoutEffect(() => hearKeys(() => root.current, press), []);

  // Buttons do not take the focus from a click, so that the keys go on working and Enter presses nothing twice.
  // From the keyboard a code's button gives the focus back: the Enter that comes next finishes the text.
  const click = (event: MouseEvent) => {
    const byKey = event.detail === 0 && (event.target as Element).closest(".s7-code, .s7-remove, .s7-finish");
    if (byKey) root.current?.focus({ preventScroll: true });
  };
  const down = (event: MouseEvent) => {
    const target = event.target as HTMLElement;
    if (target.closest("button")) event.preventDefault();
    if (!target.closest("textarea, input")) root.current?.focus({ preventScroll: true });
  };

  return (
    <div
      class="s7"
      ref={root}
      tabIndex={0}
      role="group"
      aria-label="Coding"
      onPointerDown={(event) => startDrag(event, session, root.current!)}
      onMouseDown={down}
      onClick={click}
    >
      <Header session={session} unit={unit} />
      {session.notice.value && (
        <p class="s7-notice" role="status">
          {session.notice.value}
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
      <Help session={session} />
      <div class="s7-columns">
        {unit ? <Desk session={session} unit={unit} /> : <Waiting session={session} />}
        <CodePicker book={session.book} codings={unit?.codings ?? []} disabled={session.total.value === 0} onPick={pick} />
      </div>
      <div class="s7-live" aria-live="polite">
        {session.announced.value}
      </div>
    </div>
  );
}

function Waiting({ session }: { session: Session }) {
  const waiting = session.presses.waiting.value.length;
  const words = session.book.codebook.value
    ? session.total.value
      ? `Loading…${waiting ? ` (${waiting} ${waiting === 1 ? "press waits" : "presses wait"} for the text)` : ""}`
      : "There is no text to code here."
    : "Waiting for the kernel… If it was restarted, run the cell again.";
  return <p class="s7-waiting">{words}</p>;
}
