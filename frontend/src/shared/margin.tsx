// The margin of a text: one bar a coding, as high as its lines, and its label next to it.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { sideOf, type Look } from "./colours";
import { lineHeight, TextNodes } from "./onscreen";
import type { Span } from "./protocol";
import { lanes } from "./spans";

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
  starts: unknown;
}

/** The height of a label. */
const LABEL = 24;
/** Where a person's lane begins. */
const laneOf = (person: number) => `calc(${person} * var(--s7-person))`;
/** A label that was pushed further than this is drawn on its own line while it is active, over others. */
const FAR = 8 * LABEL;

/** The lines of a text that have codings, from the first to the last. */
export interface Lines { first: number; last: number; }

/** The lane of each: no two on one line share one. */
export function lanesOf(lines: readonly Lines[]): number[] {
  return lanes(lines.map(({ first, last }) => ({ start: first, end: last + 1 })));
}

/** Where labels go that belong at `tops`, in this order: each is pushed down by the one before. */
export function pushed(tops: readonly number[]): number[] {
  let free = 0;
  return tops.map((top) => {
    const at = Math.max(top, free);
    free = at + LABEL;
    return at;
  });
}

export function Margin({ text, items, label, people, starts }: Props) {
  const { lines, high } = useLines(text, items, starts);
  const order = items.map((item) => ({ item, lines: lines(item.span) })).sort((a, b) => a.lines.first - b.lines.first || a.item.span.start - b.item.span.start);
  const lane = lanesOf(order.map((one) => one.lines));
  const left = (at: number) => (people ? laneOf(order[at]!.item.person!) : `calc(${lane[at]} * var(--s7-lane))`);
  const wanted = order.map((one) => one.lines.first * high + (high - LABEL) / 2);
  const tops = people ? wanted : pushed(wanted);
  return (
    <div class={people ? "s7-margin s7-of-people" : "s7-margin"} style={{ "--s7-lanes": Math.max(0, ...lane) + 1 }}>
      {people?.map((name, at) => <span key={name} class="s7-lane-name" style={{ left: laneOf(at) }} title={name}>{name}</span>)}
      <ul aria-label={label}>
        {order.map(({ item, lines: { first, last } }, at) => {
          const far = item.active && tops[at]! - wanted[at]! > FAR;
          const top = far ? wanted[at]! : tops[at]!;
          const named = (...names: (string | false | undefined)[]) => names.filter(Boolean).join(" ");
          return (
            <li key={item.id} class={named("s7-label", item.active && "s7-active", far && "s7-far")} style={{ "--s7-c": item.look.colour }}>
              <span class="s7-stripe" style={{ ...sideOf(item.look), left: left(at), top: `${first * high + 3}px`, height: `${(last - first + 1) * high - 5}px` }} />
              {top > wanted[at]! && <span class="s7-leader" style={{ left: `calc(${left(at)} + 5px)`, top: `${wanted[at]! + LABEL / 2}px`, height: `${top - wanted[at]!}px` }} />}
              <button type="button" class={named(item.active && "s7-active", ...item.names)} tabIndex={item.active ? 0 : -1} title={item.title} aria-label={item.title} aria-current={item.active ? "true" : undefined} style={{ top: `${top}px`, left: people ? `calc(${left(at)} + 5px)` : undefined }} onClick={item.onPick}>
                <kbd>{item.look.tag}</kbd>
                <strong>{item.name}</strong>
                {item.more.map((words) => <em key={words}>{words}</em>)}
              </button>
            </li>
          );
        })}
      </ul>
    </div>
  );
}

const NONE: Lines = { first: 0, last: 0 };

/** The lines of spans in the text, and the height of a line; each place is measured once until lines move. */
function useLines(text: { current: HTMLElement | null }, items: readonly MarginItem[], starts: unknown) {
  const known = useRef(new Map<string, Lines>());
  const high = useRef(31);
  const [, draw] = useState({});
  const measure = () => {
    const missing = items.filter(({ span }) => !known.current.has(keyOf(span)));
    if (!missing.length || !text.current) return;
    const [nodes, top] = [new TextNodes(text.current), text.current.getBoundingClientRect().top];
    high.current = lineHeight(text.current);
    const lineOf = (start: number) => {
      const at = nodes.range({ start, end: start + 1 }).getBoundingClientRect();
      return Math.max(0, Math.floor((at.top + at.height / 2 - top) / high.current));
    };
    for (const { span } of missing) known.current.set(keyOf(span), { first: lineOf(span.start), last: lineOf(span.end - 1) });
    draw({});
  };
  const again = useRef(measure);
  again.current = measure;
  useLayoutEffect(() => {
    const observer = new ResizeObserver(() => {
      known.current.clear();
      again.current();
    });
    observer.observe(text.current!);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => known.current.clear(), [starts]);
  useLayoutEffect(measure);
  return { lines: (span: Span) => known.current.get(keyOf(span)) ?? NONE, high: high.current };
}

const keyOf = ({ start, end }: Span) => `${start}-${end}`;
