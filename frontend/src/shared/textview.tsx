// A text with its codings; its text nodes join to exactly the text, so that offsets can be counted.
import type { VNode } from "preact";
import { useRef } from "preact/hooks";
import type { CodebookView } from "./codebook";
import { markStyle, UNKNOWN, type Mark } from "./colours";
import type { CodedText, Coding, Span } from "./protocol";
import { lanes, segments, selectedSpan } from "./spans";

interface Props {
  unit: CodedText;
  book: CodebookView;
  selection: Span | null;
  /** The index of the marked coding, -1 for none. */
  active: number;
  /** While the mouse drags over the text, it stays as it is drawn. */
  frozen: boolean;
  onMark: (coding: Coding) => void;
}

export function TextView({ unit, book, selection, active, frozen, onMark }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const drawn = useRef<{ unit_id: string; view: VNode } | null>(null);
  if (frozen && drawn.current?.unit_id === unit.unit_id) return drawn.current.view;
  const [codes, looks] = [book.codes.value, book.looks.value];

  const copy = (event: ClipboardEvent) => {
    if (!selection) return;
    event.clipboardData?.setData("text/plain", unit.text.slice(selection.start, selection.end));
    event.preventDefault();
  };

  // The shortest first, so that a coding within another can be reached; each further click marks the next.
  const mark = (here: Coding[]) => {
    const order = here.toSorted((a, b) => a.end! - a.start! - (b.end! - b.start!));
    const place = order.findIndex((coding) => coding === unit.codings[active]);
    onMark(order[(place + 1) % order.length]!);
  };

  const lane = lanes(unit.codings);
  const look = (index: number): Mark => {
    const { code, pending } = unit.codings[index]!;
    return { ...(looks.get(code) ?? UNKNOWN), lane: lane[index]!, active: index === active, pending };
  };
  const tags = (start: number) =>
    unit.codings.flatMap((coding, index) => (coding.start === start ? [look(index).tag] : [])).join(" ");

  const view = (
    <div class="s7-text" ref={box} onCopy={copy} lang="" dir="auto">
      {segments(unit.text, unit.codings, selection).map((piece) => {
        const here = piece.codings.map((index) => unit.codings[index]!);
        const names = [
          here.length && "s7-mark",
          here.some((coding) => coding.pending) && "s7-pending",
          piece.codings.includes(active) && "s7-active",
          piece.selected && "s7-selected",
        ];
        return (
          <span
            key={piece.start}
            class={names.filter(Boolean).join(" ") || undefined}
            data-tag={tags(piece.start) || undefined}
            style={here.length ? markStyle(piece.codings.map(look), Math.max(...lane)) : undefined}
            title={here.map((coding) => codes.get(coding.code)?.label ?? coding.code).join(" · ") || undefined}
            onClick={() => here.length && !selectedSpan(box.current!) && mark(here)}
          >
            {unit.text.slice(piece.start, piece.end)}
          </span>
        );
      })}
    </div>
  );
  drawn.current = { unit_id: unit.unit_id, view };
  return view;
}
