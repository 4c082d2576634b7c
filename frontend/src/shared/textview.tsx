// A text with its codings; its text nodes join to exactly the text, so that offsets can be counted.
import type { ComponentChildren, VNode } from "preact";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { CodebookView } from "./codebook";
import { useLongParagraphs } from "./longparagraphs";
import { Handles } from "./handles";
import { Margin, type MarginItem } from "./margin";
import { MarkedText } from "./marks";
import { More } from "./more";
import { reveal, selectedSpan } from "./onscreen";
import type { CodedText, Coding, Span, Theirs } from "./protocol";
import { blocks } from "./spans";
import type { Edge } from "./words";
import { joined } from "./words";

interface Props {
  unit: CodedText;
  book: CodebookView;
  /** What colleagues coded, drawn apart from it. */
  theirs?: readonly Theirs[];
  selection?: Span | null;
  /** The index of the marked coding, -1 for none. */
  active?: number;
  /** Where words were found. */
  hits?: readonly (readonly [number, number])[];
  /** What is to be in sight. */
  sought?: { span: Span; edge: Edge } | null;
  /** While the mouse drags over the text, it stays as it is drawn. */
  frozen?: boolean;
  onMark?: (coding: Coding) => void;
  onMemo?: (span: Span) => void;
  /** A click; true where it was a tap on words, which marks nothing. */
  onTap?: (event: MouseEvent) => boolean;
  /**
   * Whether the text's end has been on the screen, and what is to be done when it is: where nothing depends
   * on it, it has.
   */
  ended?: boolean;
  onEnd?: () => void;
  /** What the margin shows, and the person of each lane if there are several. */
  margin?: { label: string; items: readonly MarginItem[]; people?: readonly string[] | undefined };
  /** The words with ends that can be dragged. */
  handles?: Omit<Parameters<typeof Handles>[0], "text" | "starts"> | undefined;
  /** What comes before the text, and scrolls with it. */
  before?: ComponentChildren;
  /** What is drawn over the text. */
  children?: VNode | null;
}

export function TextView(props: Props) {
  const { unit, sought, frozen = false, selection = null, active = -1 } = props;
  const box = useRef<HTMLDivElement>(null);
  const marked = useRef<MarkedText | null>(null);
  marked.current ??= new MarkedText();
  const drawn = useRef<{ unit_id: string; starts: readonly number[]; view: VNode } | null>(null);
  const cut = useLongParagraphs(box, unit.text, frozen, Boolean(props.theirs?.length));
  const starts = useMemo(() => cut ?? blocks(unit.text), [cut, unit.text]);
  useLayoutEffect(() => {
    if (sought) reveal(box.current!, sought.span, sought.edge);
  }, [sought]);
  if (!frozen || drawn.current?.unit_id !== unit.unit_id) {
    const view = (
      <div class="s7-text" ref={box} lang="" dir="auto" {...handlers(box, { ...props, selection, active })}>
        {marked.current.draw({ ...props, selection, active, starts, margin: !!props.margin })}
        <div class="s7-end" />
      </div>
    );
    drawn.current = { unit_id: unit.unit_id, starts, view };
  }
  const { starts: shown, view } = drawn.current!;
  const names = ["s7-reading", props.children && "s7-lettered", props.theirs?.length && "s7-with-theirs"];
  return (
    <div class={joined(names)}>
      <div class="s7-scroll" tabIndex={0} role="region" aria-label="Text">
        {props.before}
        <div class={props.margin ? "s7-page s7-with-margin" : "s7-page"}>
          {view}
          {props.handles && <Handles text={box} starts={shown} {...props.handles} />}
          {props.margin && <Margin key={unit.unit_id} text={box} starts={shown} {...props.margin} />}
        </div>
      </div>
      <More box={box} unit_id={unit.unit_id} ended={props.ended ?? true} onEnd={props.onEnd} />
      {props.children}
    </div>
  );
}

function handlers(
  box: { current: HTMLElement | null },
  { unit, selection, active, onMark, onMemo, onTap }: Props & { active: number },
) {
  const onCopy = (event: ClipboardEvent) => {
    if (!selection) return;
    event.clipboardData?.setData("text/plain", unit.text.slice(selection.start, selection.end));
    event.preventDefault();
  };
  // The shortest first, so that a coding within another can be reached; each further click marks the next.
  const onClick = (event: MouseEvent) => {
    if (onTap?.(event)) return;
    const piece = (event.target as Element).closest<HTMLElement>("[data-at], .s7-noted");
    if (!piece || selectedSpan(box.current!)) return;
    const noted = unit.memos?.find(({ start, end }) => piece.dataset.memo === `${start}-${end}`);
    if (!piece.dataset.at && noted) return onMemo?.({ start: noted.start, end: noted.end });
    const at = Number(piece.dataset.at);
    const order = unit.codings
      .filter(({ start, end }) => start !== null && start <= at && at < end!)
      .sort((a, b) => a.end! - a.start! - (b.end! - b.start!));
    const place = order.findIndex(coding => coding === unit.codings[active]);
    onMark?.(order[(place + 1) % order.length]!);
  };
  return { onCopy, onClick };
}
