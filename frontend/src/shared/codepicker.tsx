// The code picker: press a code to apply it, or find it by a letter or two.
import { Button } from "./button";
import type { ComponentChildren, VNode } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { CodebookView, Row } from "./codebook";
import { sample } from "./colours";
import { uuid, type Code, type Coding } from "./protocol";
import { joined } from "./words";

/**
 * With more codes than these there is a field to find one by its name; with fewer it shows when its key is
 * pressed.
 */
const AT_A_GLANCE = 9;
const DEEPEST = 6;

interface Props {
  book: CodebookView;
  /** What is coded on the text on screen. */
  codings: readonly Coding[];
  /** Codes that a model found absent from it. */
  absent: ReadonlySet<string>;
  disabled: boolean;
  onPick: (code: Code) => void;
  /** The field in which a code is found by its name has the focus. */
  onFind?: () => void;
  /** At the end of its head. */
  children?: ComponentChildren;
}

/** How often a code is applied, and whether to the whole text too. */
interface Applied {
  n: number;
  whole: boolean;
}
type Counts = ReadonlyMap<string, Applied>;

export function CodePicker({ book, codings, absent, disabled, onPick, onFind, children }: Props) {
  const [pane, rows, high] = [useRef<HTMLElement>(null), useRef<HTMLDivElement>(null), useRef(0)];
  const ids = useRef(`s7-codes-${uuid()}`);
  const { search } = book;
  const codebook = book.codebook.value;
  // The matches have a box as high as that of all codes: nothing below it moves.
  useLayoutEffect(() => void (search.open.value || (high.current = rows.current?.offsetHeight ?? 0)));
  if (!codebook) return null;
  const counts = new Map<string, Applied>();
  for (const { code, start } of codings)
    counts.set(code, sum([counts.get(code) ?? NEVER, { n: 1, whole: start === null }]));

  const codeAt = (event: Event) => {
    const at = (event.target as Element).closest<HTMLElement>("[data-code]");
    return at && book.codes.value.get(at.dataset.code!);
  };
  const click = (event: MouseEvent) => {
    const code = codeAt(event);
    const fold = (event.target as Element).closest(".s7-fold");
    if (code && fold) book.fold([code.id], !book.folded.value.has(code.id));
    else if (code?.codable && !disabled && (event.target as Element).closest(".s7-code")) onPick(code);
  };
  const move = (event: PointerEvent) => {
    const panel = pane.current!.closest(".s7")?.querySelector(".s7-detail")?.getBoundingClientRect();
    book.definition.hover(codeAt(event)?.id ?? null, { x: event.clientX, y: event.clientY }, panel);
  };
  const focus = (event: FocusEvent) => {
    const code = codeAt(event);
    if (code) book.definition.ask(code.id);
  };
  const listening = {
    onClick: click,
    onPointerMove: move,
    onPointerLeave: () => book.definition.leave(),
    onFocusIn: focus,
  };
  const shared = { book, counts, absent, disabled };
  return (
    <aside class="s7-codebook" aria-label="Codebook" ref={pane}>
      <header>
        <span class="s7-title" dir="auto" title={codebook.title}>
          {codebook.title}
        </span>
        <FoldAll book={book} />
        {children}
        <Find book={book} list={ids.current} onFind={onFind} />
      </header>
      <div
        class="s7-pick"
        ref={rows}
        style={search.open.value ? { height: `${high.current}px` } : undefined}
        {...listening}
      >
        {!search.open.value && <Recent {...shared} />}
        {search.open.value ? <Results {...shared} id={ids.current} /> : <Tree {...shared} />}
      </div>
    </aside>
  );
}

const NEVER: Applied = { n: 0, whole: false };
const sum = (all: readonly Applied[]): Applied => ({
  n: all.reduce((n, one) => n + one.n, 0),
  whole: all.some(({ whole }) => whole),
});

function FoldAll({ book }: { book: CodebookView }) {
  const parents = book.tree.value.filter(({ below }) => below > 0).map(({ code }) => code.id);
  if (parents.length < 2 || book.search.open.value) return null;
  const folded = parents.every(id => book.folded.value.has(id));
  return (
    <Button class="s7-quiet" onClick={() => book.fold(parents, !folded)}>
      {folded ? "Unfold all" : "Fold all"}
    </Button>
  );
}

function Find({
  book,
  list,
  onFind,
}: {
  book: CodebookView;
  list: string;
  onFind: (() => void) | undefined;
}) {
  const { search } = book;
  const seldom = book.list.value.length <= AT_A_GLANCE && !book.beyondKeys.value;
  const at = search.chosen.value && search.results.value.indexOf(search.chosen.value);
  return (
    <input
      class={joined(["s7-filter", seldom && "s7-seldom", search.open.value && "s7-finding"])}
      type="text"
      role="combobox"
      placeholder="Find a code"
      aria-label="Find a code"
      aria-autocomplete="list"
      aria-expanded={search.open.value}
      aria-controls={search.open.value ? list : undefined}
      aria-activedescendant={at === undefined ? undefined : `${list}-${at}`}
      autocomplete="off"
      spellcheck={false}
      value={search.query.value}
      onFocus={onFind}
      onInput={event => book.find(event.currentTarget.value)}
    />
  );
}

interface Shown {
  book: CodebookView;
  counts: Counts;
  absent: ReadonlySet<string>;
  disabled: boolean;
}

/** What was used last, where the codebook is too long to be seen or to have a key for each code. */
function Recent({ book, counts, absent, disabled }: Shown) {
  const ids = book.recent.ids.value;
  if (!ids.length || !(book.beyondKeys.value || book.crowded.value)) return null;
  return (
    <ul class="s7-recent" aria-label="Used last">
      {ids.map(id => (
        <li key={id} style={{ "--s7-c": book.look(id).colour }} title={book.codes.value.get(id)!.label}>
          <CodeButton
            short
            {...{ book, disabled }}
            dim={absent.has(id)}
            code={book.codes.value.get(id)!}
            applied={counts.get(id) ?? NEVER}
          />
        </li>
      ))}
    </ul>
  );
}

/** The codes that match, in place of the whole codebook; the field keeps the focus. */
function Results({ book, counts, id }: Shown & { id: string }) {
  const list = useRef<HTMLUListElement>(null);
  const { results, chosen, more } = book.search;
  useLayoutEffect(() => showRow(list.current), [chosen.value]);
  if (!results.value.length) return <p class="s7-hint">No code matches. Esc shows all.</p>;
  return (
    <>
      <ul class="s7-codes" id={id} role="listbox" aria-label="Codes that match" ref={list}>
        {results.value.map((code, index) => (
          <li
            key={code.id}
            id={`${id}-${index}`}
            role="option"
            tabIndex={code === chosen.value ? 0 : -1}
            aria-selected={code === chosen.value}
            class={code === chosen.value ? "s7-code s7-chosen" : "s7-code"}
            data-code={code.id}
            data-stands={counts.has(code.id)}
            style={{ "--s7-c": book.look(code.id).colour }}
          >
            <CodeName book={book} code={code} applied={counts.get(code.id) ?? NEVER} />
          </li>
        ))}
      </ul>
      {more.value > 0 && <p class="s7-hint">{more.value} more: type on.</p>}
    </>
  );
}

/** Scroll the list, and nothing around it, until its chosen row is in sight. */
function showRow(list: HTMLElement | null): void {
  const row = list?.querySelector<HTMLElement>(".s7-chosen");
  if (!list || !row) return;
  const [outer, inner] = [list.getBoundingClientRect(), row.getBoundingClientRect()];
  list.scrollTop += Math.min(0, inner.top - outer.top) || Math.max(0, inner.bottom - outer.bottom);
}

function Tree({ book, counts, absent, disabled }: Shown) {
  const list = useRef<HTMLUListElement>(null);
  const drawn = useRef<{ basis: unknown[]; rows: Map<string, VNode> }>({ basis: [], rows: new Map() });
  const rows = book.rows.value;
  useLayoutEffect(() => {
    const at = list.current!;
    const many = book.list.value.length > AT_A_GLANCE;
    if (many && at.scrollHeight > at.clientHeight + 1) book.crowded.value = true;
  }, [rows]);
  // A row that looks as it did before is not drawn again: a codebook has hundreds.
  const basis = [book.codebook.value, disabled];
  const before = basis.every((value, at) => value === drawn.current.basis[at])
    ? drawn.current.rows
    : new Map<string, VNode>();
  drawn.current = { basis, rows: new Map() };
  const hidden = hiddenCounts(book, counts);
  const draw = (row: Row): VNode => {
    const { id } = row.code;
    const shown = {
      applied: counts.get(id) ?? NEVER,
      hidden: hidden.get(id) ?? NEVER,
      folded: book.folded.value.has(id),
      dim: absent.has(id),
    };
    const look = JSON.stringify([id, book.keyOf(row.code), shown]);
    const view = before.get(look) ?? <TreeRow key={id} {...{ book, row, disabled, ...shown }} />;
    drawn.current.rows.set(look, view);
    return view;
  };
  return (
    <ul class={rows.some(({ below }) => below > 0) ? "s7-codes s7-tree" : "s7-codes"} ref={list}>
      {rows.map(draw)}
    </ul>
  );
}

/** How often codes that are folded away are applied, for each code that hides them. */
function hiddenCounts(book: CodebookView, counts: Counts): Counts {
  const [tree, folded] = [book.tree.value, book.folded.value];
  const hiding = tree.flatMap((row, at): [Row, number][] => (folded.has(row.code.id) ? [[row, at + 1]] : []));
  return new Map(
    hiding.map(([row, from]) => [
      row.code.id,
      sum(tree.slice(from, from + row.below).map(({ code }) => counts.get(code.id) ?? NEVER)),
    ]),
  );
}

interface RowProps {
  book: CodebookView;
  row: Row;
  disabled: boolean;
  applied: Applied;
  /** How often the codes that it folds away are applied. */
  hidden: Applied;
  folded: boolean;
  dim: boolean;
}

function TreeRow({ book, row: { code, depth, below }, disabled, applied, hidden, folded, dim }: RowProps) {
  const style = { "--s7-c": book.look(code.id).colour, "--s7-depth": Math.min(depth, DEEPEST) };
  const name = code.codable ? undefined : (
    <span class="s7-label" dir="auto">
      {code.label}
    </span>
  );
  const heading = below > 0 && (
    <Button
      class="s7-fold"
      data-code={code.id}
      aria-expanded={!folded}
      aria-label={name ? undefined : `Codes under ${code.label}`}
    >
      <span class="s7-triangle" aria-hidden="true">
        {folded ? "▸" : "▾"}
      </span>
      {name}
      {folded && <span class="s7-folded">{below}</span>}
      <Count {...hidden} />
    </Button>
  );
  return (
    <li class={name ? "s7-group" : below ? undefined : "s7-leaf"} style={style} data-code={code.id}>
      {heading || name}
      {!name && <CodeButton {...{ book, code, applied, disabled, dim }} />}
    </li>
  );
}

/** `dim`: a model found the code absent; it looks and works as ever once it is applied. */
function CodeButton({
  book,
  code,
  applied,
  disabled,
  short,
  dim,
}: {
  book: CodebookView;
  code: Code;
  applied: Applied;
  disabled: boolean;
  short?: boolean;
  dim: boolean;
}) {
  const dimmed = dim && !applied.n;
  return (
    <Button
      class={dimmed ? "s7-code s7-dimmed" : "s7-code"}
      title={dimmed ? "A model found this code absent here. Apply it where it fits." : undefined}
      data-code={code.id}
      aria-pressed={applied.n > 0}
      disabled={disabled}
    >
      <CodeName {...{ book, code, applied, short }} />
    </Button>
  );
}

function CodeName({
  book,
  code,
  applied,
  short,
}: {
  book: CodebookView;
  code: Code;
  applied: Applied;
  short?: boolean;
}) {
  return (
    <>
      <kbd>{book.keyOf(code)}</kbd>
      <span class="s7-sample" style={sample(book.look(code.id))} />
      <span class="s7-label" dir="auto" data-short={code.look.short}>
        {short ? code.look.short : code.label}
      </span>
      <Count {...applied} />
    </>
  );
}

/** A dot for the whole text, a number for its words. */
function Count({ n, whole }: Applied) {
  if (!n) return null;
  const words = whole ? n - 1 : n;
  return (
    <span class="s7-applied" aria-label={`applied ${n === 1 ? "once" : `${n} times`} here`}>
      {joined([whole && "●", words > 0 && words])}
    </span>
  );
}
