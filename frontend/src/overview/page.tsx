// The overview on screen: its panels, or the texts behind a number, and what keys do.
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { Help } from "../shared/help";
import { hearKeys, isTextField } from "../shared/keys";
import { useLeaving } from "../shared/leaving";
import { SaveState } from "../shared/savestate";
import { stepOf } from "../shared/rowlist";
import { shownTime } from "../shared/times";
import { Behind } from "./behind";
import { neighbour } from "./neighbour";
import { AgreementPanel, ChangePanel, Next, RoundsPanel, UsedPanel } from "./panels";
import type { Session } from "./session";

const KEYS: [string, string][] = [
  ["↑↓←→", "To the next number in that direction (Tab: one after the other)"],
  ["Enter", "The texts behind the number; in their list: the text"],
  ["↑↓", "In the list: the text above or below"],
  ["/", "Find in the list"],
  ["r", "Count anew"],
  ["?", "Show or hide these keys"],
  ["Esc", "Back; twice, not too fast: leave for the notebook"],
];
const GO = ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Home", "End"];

function Header({ session }: { session: Session }) {
  const rounds = session.rounds.value;
  return (
    <header class="s7-header">
      <span class="s7-coder" title="Whose overview it is">
        {session.coder.value}
      </span>
      <span class="s7-book-title" dir="auto">
        {session.book.codebook.value?.title}
      </span>
      <span class="s7-space" />
      <SaveState line={session.channel} quiet />
      <span class="s7-as-of" role="status">
        {session.counting.value ? "Counting…" : rounds ? `As of ${shownTime(rounds.at)}${session.older.value ? "; more has come in" : ""}` : ""}
      </span>
      <span class="s7-tools">
        <button type="button" class="s7-recount" aria-label="Count anew" title="Count anew (r)" disabled={session.counting.value} onClick={() => session.count()}>
          ↻
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
    const seen = new IntersectionObserver((entries) => {
      session.inSight.value = entries.some(({ isIntersecting }) => isIntersecting);
    });
    seen.observe(root.current!);
    return () => seen.disconnect();
  }, []);

  const list = () => root.current!.querySelector<HTMLElement>(".s7-rows");
  const escape = (event: KeyboardEvent, target: Element) => {
    if (session.showHelp.value) return void (session.showHelp.value = false);
    if (session.message.value) return void (session.message.value = null);
    if (session.door.value) return target.closest(".s7-opened, .s7-find") ? list()?.focus() : session.back();
    leaving.escape(event);
  };

  const goTo = (key: string, target: Element) => {
    const doors = [...root.current!.querySelectorAll<HTMLElement>(".s7-door")];
    const to = neighbour(doors.map((door) => door.getBoundingClientRect()), doors.indexOf(target as HTMLElement), key);
    if (to !== null) doors[to]!.focus();
  };

  const press = (event: KeyboardEvent, target: Element) => {
    if (event.key === "Escape") {
      event.preventDefault();
      return escape(event, target);
    }
    const step = target.closest(".s7-listed") ? stepOf(event.key, isTextField(target)) : 0;
    if (step) {
      event.preventDefault();
      return session.list.move(step);
    }
    if (isTextField(target)) return void (event.key === "Enter" && list()?.focus());
    if (target.closest("button, summary") && (event.key === "Enter" || event.key === " ")) return void (event.repeat && event.preventDefault());
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (pressed(event.key, target)) event.preventDefault();
  };

  const pressed = (key: string, target: Element): boolean => {
    if (key === "r") session.count();
    else if (key === "?") session.showHelp.value = !session.showHelp.value;
    else if (key === "/" && session.door.value) root.current!.querySelector<HTMLElement>(".s7-find")?.focus();
    else if (key === "Enter" && target.closest(".s7-rows")) root.current!.querySelector<HTMLElement>(".s7-opened .s7-text")?.focus();
    else if (GO.includes(key) && !session.door.value) goTo(key, target);
    else return false;
    return true;
  };
  useLayoutEffect(() => hearKeys(() => root.current, press), []);

  // Once what is to have the focus is drawn: a part that is drawn by itself comes after the page.
  const wanted = session.focus.value;
  useLayoutEffect(() => {
    if (wanted === null) return;
    session.focus.value = null;
    const give = () => {
      const to = root.current?.querySelector<HTMLElement>(wanted);
      to?.focus();
      return !!to;
    };
    if (!give()) queueMicrotask(() => give() || root.current?.focus());
  }, [wanted]);

  return (
    <div class="s7 s7-overview-widget" ref={root} tabIndex={0} role="group" aria-label="Overview">
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
      {session.door.value ? (
        <Behind session={session} />
      ) : session.coder.value ? (
        <div class="s7-overview">
          <div class="s7-column">
            <Next session={session} />
            <RoundsPanel session={session} />
            <ChangePanel session={session} />
          </div>
          <div class="s7-column">
            <AgreementPanel session={session} />
            <UsedPanel session={session} />
          </div>
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
