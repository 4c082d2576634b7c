// The pieces of a text as they are drawn: which codings a piece has, and how it looks.
import type { VNode } from "preact";
import type { CodebookView } from "./codebook";
import { markStyle, UNKNOWN, type Depth, type Mark } from "./colours";
import type { CodedText, Code, Coding, Span, Theirs } from "./protocol";
import { lanes, segments, withSelection, type Segment } from "./spans";
import { joined } from "./words";

interface Shown {
  unit: CodedText;
  book: CodebookView;
  theirs?: readonly Theirs[];
  selection: Span | null;
  /** The index of the marked coding, -1 for none. */
  active: number;
  /** Where its blocks begin. */
  starts: readonly number[];
  /** Where words were found, from left to right. */
  hits?: readonly (readonly [number, number])[];
  /** Whether a margin shows the codings: then nothing is drawn above the words. */
  margin?: boolean;
}

type CodingMark = Mark & Pick<Coding, "code" | "start">;

const NONE: readonly Theirs[] = [];

interface Piece extends Segment {
  hit: boolean;
  marks: readonly CodingMark[];
  memo: Span | undefined;
  view: VNode;
}

/** Draws a text's pieces, and hands out the same nodes again for those that look as they did before. */
export class MarkedText {
  #pieces = new Map<number, Piece>();
  #codings: readonly (Coding & Partial<Theirs>)[] = [];
  #marks: readonly CodingMark[] = [];
  /** The coder's own codings when they were last cut. */
  #ownCodings: readonly Coding[] = [];
  readonly #blocks = new Map<number, { views: readonly VNode[]; node: VNode }>();
  readonly #cut = latest(
    (
      text: string,
      codings: readonly Coding[],
      theirs: readonly Theirs[],
      memos: readonly Span[],
      starts: readonly number[],
      hits: Shown["hits"] = NONE_FOUND,
    ) => {
      const [lane, below] = [lanes(codings), lanes(theirs)];
      const [own, all] = [Math.max(0, ...new Set(lane)), theirs.length ? [...codings, ...theirs] : codings];
      const depth = { own, theirs: Math.max(-1, ...new Set(below)) + 1 };
      const cuts = [...starts, ...memos.flatMap(({ start, end }) => [start, end]), ...hits.flat()];
      return { lane: [...lane, ...below], depth, segments: segments(text, all, cuts) };
    },
  );
  /** What all pieces share: where it changes, all are drawn anew. */
  readonly #afresh = latest(
    (_text: string, _codes: unknown, _looks: unknown, _own: number, _theirs: number, _margin: boolean) => {
      this.#pieces.clear();
      this.#marks = [];
      this.#blocks.clear();
    },
  );

  draw({
    unit,
    book,
    selection,
    active,
    theirs = NONE,
    starts,
    hits = NONE_FOUND,
    margin = false,
  }: Shown): VNode[] {
    const [codes, looks] = [book.codes.value, book.looks.value];
    const memos = unit.memos ?? NO_MEMOS;
    if (!onSameWords(unit.codings, this.#ownCodings)) this.#ownCodings = unit.codings;
    const {
      lane,
      depth: lanes,
      segments,
    } = this.#cut(unit.text, this.#ownCodings, theirs, memos, starts, hits);
    const depth = { ...lanes, margin };
    this.#afresh(unit.text, codes, looks, depth.own, depth.theirs, margin);
    const before = this.#pieces;
    this.#pieces = new Map();

    const shown: readonly (Coding & Partial<Theirs>)[] = theirs.length
      ? [...unit.codings, ...theirs]
      : unit.codings;
    const marks = this.#marksOf(shown, lane, looks, active);
    let at = 0;
    const draw = (segment: Segment): VNode => {
      while (at < hits.length && hits[at]![1] <= segment.start) at++;
      const hit = at < hits.length && hits[at]![0] <= segment.start;
      const here = segment.codings.map(index => marks[index]!);
      const old = before.get(segment.start);
      // Of memos on the same words the one that begins last: it can be clicked where it begins.
      const memo = memos
        .filter(({ start, end }) => start <= segment.start && segment.end <= end)
        .reduce<Span | undefined>((a, b) => (a && a.start > b.start ? a : b), undefined);
      const same =
        old &&
        old.memo?.start === memo?.start &&
        old.memo?.end === memo?.end &&
        old.hit === hit &&
        looksAs(old, segment, here);
      const piece = same
        ? old
        : {
            ...segment,
            hit,
            marks: here,
            memo,
            view: view(unit.text, segment, hit, here, memo, codes, depth),
          };
      this.#pieces.set(segment.start, piece);
      return piece.view;
    };

    const rows = starts.map((): VNode[] => []);
    let row = 0;
    for (const segment of withSelection(segments, selection)) {
      while (segment.start >= (starts[row + 1] ?? Infinity)) row++;
      rows[row]!.push(draw(segment));
    }
    return rows.map((views, index) => this.#block(starts[index]!, views));
  }

  /** How each coding looks: the same objects as before for those that look the same. */
  #marksOf(
    codings: readonly (Coding & Partial<Theirs>)[],
    lane: readonly number[],
    looks: CodebookView["looks"]["value"],
    active: number,
  ): readonly CodingMark[] {
    const [before, marks] = [this.#codings, this.#marks];
    const is = (at: number, coding: Coding & Partial<Theirs>, index: number): boolean => {
      const [old, mark] = [before[at], marks[at]];
      const same =
        old && mark && old.code === coding.code && old.start === coding.start && old.end === coding.end;
      return (
        !!same &&
        old.pending === coding.pending &&
        old.coder === coding.coder &&
        mark.lane === lane[index] &&
        mark.active === (index === active)
      );
    };
    // One that was put among them or taken away moves those behind it by one.
    let moved = 0;
    this.#marks = codings.map((coding, index): CodingMark => {
      const by = [moved, moved + 1, moved - 1].find(each => is(index + each, coding, index));
      if (by !== undefined) return marks[index + (moved = by)]!;
      const { code, start, pending, coder } = coding;
      return {
        ...(looks.get(code) ?? UNKNOWN),
        code,
        start,
        pending,
        coder,
        lane: lane[index]!,
        active: index === active,
      };
    });
    this.#codings = codings;
    return this.#marks;
  }

  /** The block of these pieces: the same node as before where all of them are. */
  #block(start: number, views: readonly VNode[]): VNode {
    const before = this.#blocks.get(start);
    if (before?.views.length === views.length && views.every((one, index) => one === before.views[index]))
      return before.node;
    const node = <Block key={start} views={views} />;
    this.#blocks.set(start, { views, node });
    return node;
  }
}

function onSameWords(
  codings: readonly Pick<Coding, "start" | "end">[],
  others: readonly Pick<Coding, "start" | "end">[],
): boolean {
  return (
    codings.length === others.length &&
    codings.every(({ start, end }, index) => start === others[index]!.start && end === others[index]!.end)
  );
}

/** A component, because of these alone Preact compares nothing where it is given the same node again. */
function Block({ views }: { views: readonly VNode[] }) {
  return <div>{views as VNode[]}</div>;
}

const NONE_FOUND: readonly (readonly [number, number])[] = [];
const NO_MEMOS: readonly Span[] = [];

function looksAs(piece: Piece, { end, selected }: Segment, marks: readonly CodingMark[]): boolean {
  const same = piece.end === end && piece.selected === selected && piece.marks.length === marks.length;
  return same && marks.every((mark, index) => mark === piece.marks[index]);
}

function view(
  text: string,
  { start, end, selected }: Segment,
  hit: boolean,
  here: readonly CodingMark[],
  memo: Span | undefined,
  codes: ReadonlyMap<string, Code>,
  depth: Depth,
): VNode {
  const own = here.filter(({ coder }) => coder === undefined);
  const begins = depth.margin ? [] : here.filter(mark => mark.start === start);
  const tags = begins.filter(({ coder }) => coder === undefined).map(({ tag }) => tag);
  const theirs = begins.filter(({ coder }) => coder !== undefined).map(({ tag, coder }) => `${coder} ${tag}`);
  if (memo?.start === start && !depth.margin) tags.push("✎");
  const names = [
    (here.length || memo) && "s7-mark",
    memo && "s7-noted",
    here.some(({ pending }) => pending) && "s7-pending",
    here.some(({ active }) => active) && "s7-active",
    selected && "s7-selected",
    hit && "s7-hit",
  ];
  return (
    <span
      key={start}
      data-at={own.length ? start : undefined}
      class={joined(names) || undefined}
      data-memo={memo ? `${memo.start}-${memo.end}` : undefined}
      data-tag={tags.join(" ") || undefined}
      data-theirs={theirs.join(" · ") || undefined}
      style={here.length ? markStyle(here, depth) : undefined}
      title={[...here.map(mark => named(mark, codes)), ...(memo ? ["memo"] : [])].join(" · ") || undefined}
    >
      {text.slice(start, end)}
    </span>
  );
}

function named({ code, coder }: CodingMark, codes: ReadonlyMap<string, Code>): string {
  const label = codes.get(code)?.label ?? code;
  return coder === undefined ? label : `${coder}: ${label}`;
}

/** The function, which remembers what it answered to the arguments that it was given last. */
function latest<A extends unknown[], R>(compute: (...given: A) => R): (...given: A) => R {
  let last: { given: A; answer: R } | undefined;
  return (...given) => {
    if (!last?.given.every((value, index) => value === given[index]))
      last = { given, answer: compute(...given) };
    return last.answer;
  };
}
