// The overview on screen: its panels, or the texts behind a number, and what keys do.
import { useEffect, useRef } from "preact/hooks";
import { Frame, Tool, WAITING, Who } from "../shared/frame";
import { stepOf } from "../shared/pagedrows";
import { shownTime } from "../shared/times";
import { Behind } from "./behind";
import { neighbour } from "./neighbour";
import { AgreementPanel, ChangePanel, LeaningPanel, Next, RoundsPanel, UsedPanel } from "./panels";
import type { Session } from "./session";
import { Space } from "../shared/button";

const KEYS: [string, string][] = [
  ["↑↓←→", "Go to the next number in that direction (Tab: in order)"],
  ["Enter", "Open the texts behind the number; in the list, the text"],
  ["↑↓", "In the list: previous, next text"],
  ["/", "Find in the list"],
  ["r", "Count again"],
];
const GO = ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Home", "End"];

function AsOf({ session }: { session: Session }) {
  const rounds = session.rounds.value;
  return (
    <span class="s7-as-of" role="status">
      {session.counting.value
        ? "Counting…"
        : rounds
          ? `As of ${shownTime(rounds.at)}${session.older.value ? "; there is new coding" : ""}`
          : ""}
    </span>
  );
}

function Recount({ session }: { session: Session }) {
  return (
    <Tool name="Count again" sign="↻" press="r" ready={!session.counting.value} run={() => session.count()} />
  );
}

export function Page({ session }: { session: Session }) {
  const root = useRef<HTMLDivElement>(null);

  useEffect(() => {
    const seen = new IntersectionObserver(entries => {
      session.inSight.value = entries.some(({ isIntersecting }) => isIntersecting);
    });
    seen.observe(root.current!);
    return () => seen.disconnect();
  }, []);

  const list = () => root.current!.querySelector<HTMLElement>(".s7-rows");
  const back = (target: Element): boolean => {
    if (!session.door.value || session.message.value) return false;
    if (target.closest(".s7-opened, .s7-find")) list()?.focus();
    else session.back();
    return true;
  };

  const goTo = (key: string, target: Element) => {
    const doors = [...root.current!.querySelectorAll<HTMLElement>(".s7-door")];
    const to = neighbour(
      doors.map(door => door.getBoundingClientRect()),
      doors.indexOf(target as HTMLElement),
      key,
    );
    if (to !== null) doors[to]!.focus();
  };

  const inField = (event: KeyboardEvent, field: Element): boolean => {
    const step = field.closest(".s7-listed") ? stepOf(event.key, true) : 0;
    if (step) session.list.move(step);
    else if (event.key === "Enter") list()?.focus();
    return step !== 0;
  };

  const press = (event: KeyboardEvent, target: Element): boolean => {
    const step = target.closest(".s7-listed") ? stepOf(event.key) : 0;
    if (step) {
      session.list.move(step);
      return true;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return false;
    if (event.key === "/" && session.door.value)
      root.current!.querySelector<HTMLElement>(".s7-find")?.focus();
    else if (event.key === "Enter" && target.closest(".s7-rows"))
      root.current!.querySelector<HTMLElement>(".s7-opened .s7-scroll")?.focus();
    else if (GO.includes(event.key) && !session.door.value) goTo(event.key, target);
    else return false;
    return true;
  };

  return (
    <Frame
      {...{ session, root, back, inField, press }}
      name="overview"
      label="Overview"
      keys={KEYS}
      commands={{ r: () => session.count() }}
      bar={
        <>
          <Who session={session} role="You" title={session.book.codebook.value?.title ?? ""} />
          <Space />
        </>
      }
      quiet
      state={<AsOf session={session} />}
      tools={<Recount session={session} />}
      placeholder={!session.coder.value && WAITING}
    >
      {session.door.value ? (
        <Behind session={session} />
      ) : (
        <div class="s7-panes s7-overview">
          <div class="s7-column">
            <Next session={session} />
            <RoundsPanel session={session} />
            <ChangePanel session={session} />
          </div>
          <div class="s7-column">
            <LeaningPanel session={session} />
            <AgreementPanel session={session} />
            <UsedPanel session={session} />
          </div>
        </div>
      )}
    </Frame>
  );
}
