// The coding widget on screen: its header, the unit with its codings, the codebook; and what each key does
// there.
import { useLayoutEffect, useRef } from "preact/hooks";
import { Button, Space } from "../shared/button";
import { scrollDefinition } from "../shared/definition";
import { startDrag } from "../shared/drag";
import { Frame, WAITING } from "../shared/frame";
import { focusIn, isModifier, isTextField, meaning, SCROLLS, write, type TextField } from "../shared/keys";
import { letterOf } from "../shared/letters";
import { scrollText } from "../shared/more";
import { inSight, whenResized } from "../shared/onscreen";
import { waitingWords } from "../shared/pressqueue";
import type { Code } from "../shared/protocol";
import { pieces, type Edge, type Granularity, type Step } from "../shared/words";
import { ActiveBar } from "./activebar";
import { CodeAll } from "./codeall";
import { FacetStrip } from "./facetbuttons";
import { GridPane } from "./grid";
import { Header, Hints, Tools } from "./header";
import { KeyHelp } from "./keyhelp";
import { TextWithMargin } from "./livetext";
import { OpenMemo, UnitMemo } from "./memoforms";
import type { Unit } from "./messages";
import { RightColumn } from "./panel";
import type { Session } from "./session";
import { pressInSide, Side } from "./side";
import { WholeText } from "./wholetext";

/**
 * From this width of the widget on, the list of texts is next to the text; below the other, everything is in
 * one column.
 */
const [WIDE, NARROW] = [1180, 760];

function Footer({ session, unit }: { session: Session; unit: Unit | null }) {
  const take = (action: () => void) => session.presses.inTurn(action, unit ?? {});
  const words = session.training.isOn.value && !unit?.finished ? "Finish and compare ⏎" : "Finish and next ⏎";
  return (
    <footer class="s7-footer">
      {unit ? <UnitMemo key={unit.unit_id} session={session} unit={unit} /> : <Space />}
      <Button
        class="s7-finish"
        disabled={!unit}
        aria-pressed={unit?.finished ?? false}
        onClick={() => take(() => session.finish())}
        words={unit?.finished ? "✓ Finished" : "Finish"}
      />
      <Button
        class="s7-primary"
        disabled={!unit}
        onClick={() => take(() => session.finishAndNext())}
        words={words}
      />
    </footer>
  );
}

/** What lies over the lower edge of the text while it is needed: nothing is moved by it. */
function Over({ session, unit }: { session: Session; unit: Unit | null }) {
  const strip = unit?.codings.find(coding => session.facets.isOn(coding));
  return (
    <div class="s7-over">
      {strip && (
        <FacetStrip
          session={session}
          coding={strip}
          label={session.label(strip.code)}
          take={action => session.presses.inTurn(action, unit!)}
        />
      )}
      <CodeAll session={session} />
      <OpenMemo session={session} />
      {session.allDone.value && session.finished.value === session.total.value && (
        <p class="s7-all-done" role="status">
          All {session.total.value} texts are finished. Thank you! You can still go back and change anything.
        </p>
      )}
    </div>
  );
}

function TextPane({ session, unit }: { session: Session; unit: Unit }) {
  return (
    <div class={session.outbox.turning.value ? "s7-text-pane s7-undoing" : "s7-text-pane"}>
      <WholeText session={session} unit={unit} />
      <TextWithMargin session={session} unit={unit} />
    </div>
  );
}

export function Page({ session }: { session: Session }) {
  const root = useRef<HTMLDivElement>(null);
  const opened = useRef<TextField | null>(null);
  /** The unit for which a code is being looked for. */
  const finding = useRef<string | undefined>(undefined);
  const unit = session.unit.value;
  const unitNow = () => session.unit.value;
  useLayoutEffect(() => void (session.ended.value ??= new Set()), []);
  useLayoutEffect(() => {
    // Before the check for what is not saved hears of it.
    const keep = () => session.edges.keep();
    addEventListener("beforeunload", keep, true);
    return () => removeEventListener("beforeunload", keep, true);
  }, []);
  useLayoutEffect(() => {
    // In the grid a text is drawn once its row is in sight, which says so itself.
    if (unit && !session.grid.on.value) session.drawn.value = unit.unit_id;
  }, [unit?.unit_id, session.grid.on.value]);

  /** What has the focus while keys are for the text. */
  const home = () => root.current?.querySelector<HTMLElement>(".s7-grid") ?? root.current;
  const pick = (code: Code) =>
    session.grid.hides("code:") ||
    session.hits.choose(code) ||
    session.presses.inTurn(() => session.toggle(code), { unit_id: unit?.unit_id });
  const keymap = () => ({
    commands: session.commands.value,
    codes: session.book.list.value,
    given: session.book.recent.keys.value,
  });

  const means = (event: KeyboardEvent) => {
    const usual = meaning(event, keymap());
    const back = event.key === "Backspace" && session.passages.from.value !== null ? "go_back" : null;
    return (
      session.again.meaning(event) ??
      session.hits.meaning(event.key, usual) ??
      back ??
      session.grid.meaning(event, usual)
    );
  };

  const text = () => root.current!.querySelector<HTMLElement>(".s7-text");
  const putLetters = () => {
    const box = text();
    if (box && unitNow()) session.selecting.putLetters(inSight(box, pieces(unitNow()!.text, "word")));
  };
  const scroll = (key: string) => {
    const box = text();
    if (box) scrollText(box, key);
    if (session.selecting.letters.value) putLetters();
  };
  /**
   * What a press does while there are letters on the words; false where it ends that, and means what it
   * always does.
   */
  const takesLetter = (event: KeyboardEvent): boolean => {
    const { letters } = session.selecting;
    if (!letters.value || isModifier(event)) return false;
    const letter = letterOf(event);
    if (letter !== null || event.key === "Enter") session.selecting.type(letter);
    else if (event.key === "Backspace") letters.value = { ...letters.value, typed: "" };
    else if (SCROLLS.includes(event.key)) return false;
    else session.selecting.leaveLetters();
    return letter !== null || ["Enter", "Backspace", "Escape", " "].includes(event.key);
  };

  const run = (what: string) => {
    const [kind, id] = what.split(/:(.*)/s);
    const { book } = session;
    const code = id !== undefined && book.codes.value.get(id);
    if (kind === "again") return session.again.do(id!);
    if (kind === "all") return session.hits.do(id!);
    if (!/^(detail|pin|scroll)/.test(kind!)) book.definition.endGlimpse();
    if (kind === "code" && code) return session.toggle(code);
    if (kind === "detail" && code) {
      book.definition.glimpse(code.id);
      return session.panel.pick("rule");
    }
    if (kind === "scroll") return scroll(id!);
    if (kind === "rows") return session.grid.page(id!);
    if (kind === "start" || kind === "end") {
      const [granularity, step] = id!.split(":");
      return session.mover.move(kind as Edge, granularity as Granularity, Number(step) as Step);
    }
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
      next_word: () => session.selecting.next("word", 1),
      previous_word: () => session.selecting.next("word", -1),
      next_sentence: () => session.selecting.next("sentence", 1),
      previous_sentence: () => session.selecting.next("sentence", -1),
      select_by_letters: putLetters,
      next_coding: () => session.moveActive(1),
      previous_coding: () => session.moveActive(-1),
      remove_coding: () => session.remove(),
      facet: () => session.facets.press(),
      unsure: () => session.toggleUnsure(),
      memo: () => session.memoOnSelection() || field(".s7-memo textarea"),
      code_memo: () =>
        book.open.value
          ? session.memos.onCode(book.open.value)
          : session.say("Open the definition of a code first"),
      new_code: () => session.openNewCode(),
      rating: () => session.toggleRating(),
      context: () =>
        void (session.grid.on.value
          ? session.say("The conversation is shown above the text, not in the rows")
          : (session.showContext.value = !session.showContext.value)),
      filter: () => field(".s7-filter"),
      find_text: () => session.showSide("texts", "find"),
      next_hit: () => session.hits.step(1),
      previous_hit: () => session.hits.step(-1),
      passages: () => session.showPassages(),
      go_back: () => session.goBack(),
      texts: () => session.showSide("texts"),
      memos: () => session.showSide("memos"),
      history: () => session.showSide("history"),
      inbox: () => session.showSide("inbox"),
      take_codebook: () => session.newer.take(),
      layout: () => session.grid.show(session.grid.on.value ? "text" : "grid"),
      pin: () => book.open.value && book.definition.togglePin(book.open.value.id),
      scroll_down: () => scrollDefinition(root.current!, 1),
      scroll_up: () => scrollDefinition(root.current!, -1),
      accept_suggestion: () => session.acceptSuggestion(),
      reject_suggestion: () => session.rejectSuggestion(),
      colleagues: () => session.colleagues.toggle(),
      next_colleague: () => session.colleagues.next(),
      undo: () => session.takeBack("undo"),
      redo: () => session.takeBack("redo"),
      help: () => (session.showHelp.value = !session.showHelp.value),
      large_view: () => (session.large.value = !session.large.value),
    };
    commands[kind!]?.();
  };

  const back = (): boolean => {
    const { newCode, memos, book, facets, grid, again, newer, selecting, panel } = session;
    book.definition.endGlimpse();
    if (session.edges.cancel()) return true;
    if (newCode.seen.value) newCode.close();
    else if (memos.open.value) memos.close();
    else if (book.search.open.value) book.search.close();
    else if (facets.shown.value) facets.close();
    else if (grid.picking.value) grid.picking.value = false;
    else if (session.hits.found.value) session.hits.found.value = null;
    else if (newer.meaning.value) newer.leave();
    else if (panel.shown.value === "side") session.texts.leave(true);
    else if (again.step.value) again.end();
    else if (panel.close()) return true;
    else if (selecting.span.value && !session.message.value) selecting.span.value = null;
    else return false;
    return true;
  };

  /** Apply the code that was found; `take` is how an action waits for its turn. */
  const applyFound = (take: (action: () => void) => void) => {
    const code = session.book.search.take();
    if (code) take(() => session.apply(code));
  };

  const inNewCode = (event: KeyboardEvent, field: Element): boolean => {
    if (event.key === "Escape") session.newCode.close();
    else if (event.key !== "Enter" || event.repeat || field.matches("[type=checkbox]")) return false;
    else if (field.matches(".s7-new-label") && !event.ctrlKey && !event.metaKey) {
      root.current!.querySelector<HTMLElement>(".s7-new-definition")?.focus();
    } else session.newCode.send();
    return true;
  };

  /** What a key does in a text field; false where it is the field's own. */
  const inField = (event: KeyboardEvent, field: Element, take: (action: () => void) => void): boolean => {
    if (field.closest(".s7-new-code")) return inNewCode(event, field);
    const closes = event.key === "Escape" || (event.key === "Enter" && (event.ctrlKey || event.metaKey));
    if (field.closest(".s7-memo-form")) {
      if (closes) session.memos.close();
      return closes;
    }
    const [finds, enter] = [field.matches(".s7-filter"), event.key === "Enter"];
    if (finds && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      session.book.choose(event.key === "ArrowDown" ? 1 : -1);
      return true;
    }
    if (event.key !== "Escape" && !(enter && (finds || event.ctrlKey || event.metaKey))) return false;
    if (finds && enter) applyFound(take);
    if (finds) session.book.search.close();
    home()?.focus({ preventScroll: true });
    return true;
  };

  /** A press whose turn has come; in a field that an earlier press of the same burst opened, it writes. */
  const act = (event: KeyboardEvent, onEscape: () => void) => {
    if (!/^(start|end):/.test(means(event) ?? "") && event.key !== "Escape") session.edges.keep();
    const field = opened.current;
    if (field && field === focusIn(root.current!))
      return void (inField(event, field, action => action()) || write(field, event));
    if (session.newCode.seen.value) return session.newCode.typed(event);
    if (session.memos.open.value) return session.memos.typed(event);
    if (takesLetter(event)) return;
    if (event.key === "Escape") return onEscape();
    const what = means(event);
    if (session.facets.takes(event, what)) return session.facets.choose(event.key);
    if (what !== null && what !== "facet") session.facets.close();
    if (what !== null) run(what);
  };

  const hear = (event: KeyboardEvent, target: Element, onEscape: () => void) => {
    if (target.closest(".s7-side") && pressInSide(event, target, session, meaning(event, keymap()))) return;
    // The chosen result, which Tab reaches from the field, takes Enter as the field does.
    const field =
      target.matches("[role=option]") && event.key === "Enter"
        ? root.current!.querySelector(".s7-filter")
        : null;
    if (field || isTextField(target)) {
      const take = (action: () => void) => session.presses.inTurn(action, { unit_id: finding.current });
      return void (inField(event, field ?? target, take) && event.preventDefault());
    }
    if (target.closest("button") !== null && (event.key === "Enter" || event.key === " ")) {
      // A button held down is pressed once.
      return void (event.repeat && event.preventDefault());
    }
    if (target.matches(".s7-turns, .s7-detail") && /^(Arrow|Page|Home|End)/.test(event.key)) return;
    const { presses } = session;
    const meant = means(event);
    const what = event.key === "Escape" ? "escape" : session.facets.takes(event, meant) ? "choice" : meant;
    // While presses wait, any letter may turn out to be a memo's, any arrow the choice of a code; or it is
    // one on a word.
    const form = session.newCode.seen.value ?? session.memos.open.value;
    const letters =
      session.loading.value || presses.waiting.value.length || session.selecting.letters.value || form;
    const written = event.key.length === 1 || /^(Arrow(Up|Down)|Enter)$/.test(event.key);
    if (what === null && !(written && letters)) return;
    event.preventDefault();
    // The list is no part of the text: it waits for nothing.
    const list =
      /^(find_text|texts|memos|history|inbox)$/.test(what ?? "") &&
      !presses.waiting.value.length &&
      !session.selecting.letters.value &&
      !form;
    if (list) return void (event.repeat || run(what!));
    if (session.grid.hides(what)) return;
    if (event.repeat && !session.grid.repeats(what) && !/word|sentence|scroll/.test(what ?? "")) return;
    if (what === "escape" && !presses.waiting.value.length) return act(event, onEscape);
    session.inTurn(what, () => act(event, onEscape));
  };

  const { texts, panel } = session;
  useLayoutEffect(() => {
    const measure = () => {
      const { clientWidth } = root.current!;
      [texts.wide.value, texts.narrow.value] = [clientWidth >= WIDE, clientWidth > 0 && clientWidth < NARROW];
    };
    measure();
    return whenResized(measure, root.current!);
  }, []);
  // Buttons do not take the focus from a click, so that the keys go on working and Enter presses nothing
  // twice.
  // From the keyboard a code's button gives the focus back: the Enter that comes next finishes the text.
  const whileFinding = (target: Element) =>
    target.closest(".s7-pick") && root.current!.querySelector(".s7-filter:focus");
  const click = (event: MouseEvent) => {
    const target = event.target as Element;
    const byKey = event.detail === 0 && target.closest(".s7-code, .s7-remove, .s7-finish, .s7-clear");
    if (byKey || whileFinding(target)) home()?.focus({ preventScroll: true });
  };
  const down = (event: MouseEvent) => {
    const target = event.target as HTMLElement;
    // The field would fold away and move the codes from under the mouse: it keeps the focus until the click.
    if (whileFinding(target)) return event.preventDefault();
    if (texts.narrow.value && panel.shown.value === "side" && !target.closest(".s7-texts-button, .s7-panel"))
      texts.leave();
    if (target.closest("button, [role=option]")) event.preventDefault();
    if (!target.closest("textarea, input")) home()?.focus({ preventScroll: true });
  };

  /** Whether something outside the widget took the keyboard in a burst, and no mouse has brought it back. */
  const taken = useRef(false);
  const focusOut = ({ relatedTarget: to }: FocusEvent) => {
    taken.current = to instanceof Node && !root.current!.contains(to) && session.presses.isBurst();
  };
  const focusBack = () => {
    if (taken.current) session.presses.interrupted();
    taken.current = false;
  };
  const pointed = (event: PointerEvent) => {
    taken.current = false;
    session.edges.keep();
    startDrag(event, session, root.current!);
  };

  const inGrid = session.grid.on.value && session.total.value > 0;
  const withSide = panel.hasSide.value && texts.wide.value && session.total.value > 0;
  return (
    <Frame
      {...{ session, root, back, hear }}
      name="coding"
      label="Coding"
      keys={<KeyHelp session={session} />}
      home=".s7-grid"
      on={{
        onFocusOut: focusOut,
        onFocusIn: focusBack,
        onPointerDown: pointed,
        onMouseDown: down,
        onClick: click,
      }}
      bar={<Header session={session} unit={unit} />}
      tools={<Tools session={session} />}
      hints={<Hints session={session} />}
    >
      <div class={withSide ? "s7-desk s7-with-side" : "s7-desk"}>
        {withSide && <Side session={session} />}
        <div class="s7-main">
          {inGrid ? (
            <GridPane session={session} />
          ) : unit ? (
            <TextPane session={session} unit={unit} />
          ) : (
            <Waiting session={session} />
          )}
          <Over session={session} unit={unit} />
        </div>
        <ActiveBar session={session} unit={unit} />
        <RightColumn
          session={session}
          unit={unit}
          onPick={pick}
          onFind={() => (finding.current = session.unit.value?.unit_id)}
        />
        <Footer session={session} unit={unit} />
      </div>
    </Frame>
  );
}

function Waiting({ session }: { session: Session }) {
  const words = session.book.codebook.value
    ? session.total.value
      ? waitingWords("Loading…", session.presses.waiting.value.length)
      : "There are no texts to code here."
    : WAITING;
  return <p class="s7-waiting">{words}</p>;
}
