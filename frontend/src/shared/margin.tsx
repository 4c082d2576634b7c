// The margin of a text: one bar a coding, as high as its lines, and its label next to it.
import type { ButtonHTMLAttributes, VNode } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { sideOf, type Look } from "./colours";
import { firstThat, lineHeight, paneOf, TextNodes, whenResized } from "./onscreen";
import type { Span } from "./protocol";
import { lanes } from "./spans";
import { joined } from "./words";

/** Something on words of the text. */
export interface MarginItem {
  id: string;
  span: Span;
  look: Look;
  /** The name, and what is said of it behind that. */
  name: string;
  more: readonly string[];
  /** The whole of it, in words. */
  title: string;
  /** Names of classes. */
  names: readonly (string | false | undefined)[];
  active?: boolean;
  onPick: () => void;
  /** In which lane its bar is, where each lane is a person's: then it has its key alone. */
  person?: number | undefined;
}

interface Props {
  text: { current: HTMLElement | null };
  items: readonly MarginItem[];
  label: string;
  /** Whose each lane is, where there are several people's. */
  people?: readonly string[] | undefined;
  /** Where the text's blocks begin; when that changes, the lines are measured again. */
  starts: readonly number[];
}

/** The height of a label. */
const LABEL = 24;
/** Where a person's lane begins. */
const laneOf = (person: number) => `calc(${person} * var(--s7-person))`;
/** A label that was pushed further than this is drawn on its own line while it is active, over others. */
const FAR = 8 * LABEL;

/** The lines of a text that have codings, from the first to the last. */
export interface Lines {
  first: number;
  last: number;
}

/**
 * A bar and its label: its lane, where the label belongs and where it is, and whether others are in its way
 * there.
 */
interface Placed {
  item: MarginItem;
  lines: Lines;
  lane: number;
  wanted: number;
  top: number;
  far: boolean | undefined;
}

/** The lane of each: no two on one line share one. */
export function lanesOf(lines: readonly Lines[]): number[] {
  return lanes(lines.map(({ first, last }) => ({ start: first, end: last + 1 })));
}

/** Where labels go that belong at `tops`, in this order: each is pushed down by the one before. */
export function pushed(tops: readonly number[]): number[] {
  let free = 0;
  return tops.map(top => {
    const at = Math.max(top, free);
    free = at + LABEL;
    return at;
  });
}

/**
 * Draws a row for each block of the text that has been near what is in sight; a change draws the row of its
 * own block again.
 */
export function Margin({ text, items, label, people, starts }: Props) {
  const { lines, high } = useLines(text, items, starts);
  const drawn = useRef(new Map<number, { looks: string; row: VNode }>());
  const rows = new Map<number, Placed[]>();
  for (const one of placed(items, lines, high, !!people)) {
    const block = firstThat(starts, start => start > one.item.span.start);
    rows.set(block, [...(rows.get(block) ?? []), one]);
  }
  drawn.current = new Map(
    [...rows].map(([block, here]) => {
      const [before, looks] = [drawn.current.get(block), JSON.stringify(here)];
      return [
        block,
        before?.looks === looks ? before : { looks, row: <Row key={block} {...{ here, label, high }} /> },
      ];
    }),
  );
  const onClick = ({ target }: MouseEvent) => {
    const id = (target as Element).closest<HTMLElement>("button")?.dataset.id;
    items.find(item => item.id === id)?.onPick();
  };
  return (
    <div class={people ? "s7-margin s7-of-people" : "s7-margin"} onClick={onClick}>
      {people?.map((name, at) => (
        <span key={name} class="s7-lane-name" style={{ left: laneOf(at) }} title={name}>
          {name}
        </span>
      ))}
      {[...drawn.current.values()].map(({ row }) => row)}
    </div>
  );
}

/** The items with known lines, from the first line to the last. */
function placed(
  items: readonly MarginItem[],
  lines: (span: Span) => Lines | undefined,
  high: number,
  ofPeople: boolean,
): Placed[] {
  const order = items
    .flatMap(item => {
      const at = lines(item.span);
      return at ? [{ item, lines: at }] : [];
    })
    .sort((a, b) => a.lines.first - b.lines.first || a.item.span.start - b.item.span.start);
  const lane = lanesOf(order.map(one => one.lines));
  const wanted = order.map(one => one.lines.first * high + (high - LABEL) / 2);
  const tops = ofPeople ? wanted : pushed(wanted);
  return order.map((one, at) => {
    const far = one.item.active && tops[at]! - wanted[at]! > FAR;
    return { ...one, lane: lane[at]!, wanted: wanted[at]!, top: far ? wanted[at]! : tops[at]!, far };
  });
}

function named(...names: (string | false | undefined)[]): string {
  return joined(names);
}

type Named = Pick<MarginItem, "look" | "name" | "more" | "title" | "active">;

/** A coding's button: its key, its name, and what is said of it. */
export function Label({
  look,
  name,
  more,
  title,
  active,
  ...rest
}: Named & ButtonHTMLAttributes<HTMLButtonElement> & { "data-id"?: string }) {
  return (
    <button
      type="button"
      tabIndex={active ? 0 : -1}
      title={title}
      aria-label={title}
      aria-current={active ? "true" : undefined}
      {...rest}
    >
      <kbd>{look.tag}</kbd>
      <strong>{name}</strong>
      {more.map(words => (
        <em key={words}>{words}</em>
      ))}
    </button>
  );
}

/** The bars and labels of what begins in one block. */
function Row({ here, label, high }: { here: readonly Placed[]; label: string; high: number }) {
  return (
    <ul aria-label={label} style={{ "--s7-lanes": Math.max(...here.map(({ lane }) => lane)) + 1 }}>
      {here.map(({ item, lines: { first, last }, lane, wanted, top, far }) => {
        const person = item.person !== undefined && laneOf(item.person);
        const left = person || `calc(${lane} * var(--s7-lane))`;
        return (
          <li
            key={item.id}
            class={named("s7-label", item.active && "s7-active", far && "s7-far")}
            style={{ "--s7-c": item.look.colour }}
          >
            <span
              class="s7-stripe"
              style={{
                ...sideOf(item.look),
                left,
                top: `${first * high + 3}px`,
                height: `${(last - first + 1) * high - 5}px`,
              }}
            />
            {top > wanted && (
              <span
                class="s7-leader"
                style={{
                  left: `calc(${left} + 5px)`,
                  top: `${wanted + LABEL / 2}px`,
                  height: `${top - wanted}px`,
                }}
              />
            )}
            <Label
              {...item}
              data-id={item.id}
              class={named(item.active && "s7-active", ...item.names)}
              style={{ top: `${top}px`, left: person ? `calc(${left} + 5px)` : undefined }}
            />
          </li>
        );
      })}
    </ul>
  );
}

/**
 * The lines of spans near what is in sight, and the height of a line; each span is measured once until lines
 * move.
 */
function useLines(
  text: { current: HTMLElement | null },
  items: readonly MarginItem[],
  starts: readonly number[],
) {
  const known = useRef(new Map<string, Lines>());
  const near = useRef<Span>({ start: 0, end: 0 });
  const high = useRef(31);
  const [, draw] = useState({});
  const measure = () => {
    const { start, end } = near.current;
    const missing = items.filter(
      ({ span }) => span.start < end && start < span.end && !known.current.has(keyOf(span)),
    );
    if (!missing.length) return;
    const at = text.current!;
    const [nodes, top] = [new TextNodes(at, starts), at.getBoundingClientRect().top];
    high.current = lineHeight(at);
    const lineOf = (start: number) => {
      const at = nodes.range({ start, end: start + 1 }).getBoundingClientRect();
      return Math.max(0, Math.floor((at.top + at.height / 2 - top) / high.current));
    };
    for (const { span } of missing)
      known.current.set(keyOf(span), { first: lineOf(span.start), last: lineOf(span.end - 1) });
    draw({});
  };
  const look = (afresh: boolean) => {
    if (afresh) known.current.clear();
    near.current = nearby(text.current!, starts);
    measure();
  };
  const again = useRef(look);
  again.current = look;
  useLayoutEffect(() => {
    const [at, pane] = [text.current!, paneOf(text.current!)];
    const scrolled = () => again.current(false);
    const end = whenResized(() => again.current(true), at);
    pane.addEventListener("scroll", scrolled);
    return () => {
      end();
      pane.removeEventListener("scroll", scrolled);
    };
  }, []);
  useLayoutEffect(() => look(true), [starts]);
  useLayoutEffect(measure);
  return { lines: (span: Span) => known.current.get(keyOf(span)), high: high.current };
}

/** What is in sight of the text, and a screen above and below, in whole blocks. */
function nearby(text: HTMLElement, starts: readonly number[]): Span {
  const blocks = [...text.children].slice(0, starts.length);
  const { top, bottom, height } = paneOf(text).getBoundingClientRect();
  const from = firstThat(blocks, block => block.getBoundingClientRect().bottom >= top - height);
  const to = firstThat(blocks, block => block.getBoundingClientRect().top > bottom + height);
  return { start: starts[from] ?? Infinity, end: starts[to] ?? Infinity };
}

const keyOf = ({ start, end }: Span) => `${start}-${end}`;
