// The tree of codes: moved through and changed by keys, and by dragging; with how each code is used.
import { useEffect, useRef, useState } from "preact/hooks";
import { BasisLine } from "../shared/basis";
import { Button, Space } from "../shared/button";
import { sample, UNKNOWN } from "../shared/colours";
import { Search } from "../shared/fields";
import type { DraftCode } from "./messages";
import { isWithin, type Drop, type Way } from "./moving";
import type { Session } from "./session";

/** From so many codes on they are looked for by name. */
const MANY = 20;

const WAYS: Record<string, Way> = { ArrowUp: "up", ArrowDown: "down", ArrowRight: "in", ArrowLeft: "out" };

/** What a key does to the tree and the code that is marked in it; false where it does nothing. */
export function pressInTree(event: KeyboardEvent, session: Session): boolean {
  const code = session.code.value;
  const way = event.altKey && WAYS[event.key];
  if (way) {
    session.move(way);
    return true;
  }
  if (event.altKey) return false;
  const keys: Record<string, () => void> = {
    ArrowDown: () => session.go(1),
    ArrowUp: () => session.go(-1),
    Home: () => session.go(-Infinity),
    End: () => session.go(Infinity),
    ArrowLeft: () => fold(session, code),
    ArrowRight: () => unfold(session, code),
    Enter: () => edit(session),
    "+": () => session.begin("add"),
    "/": () => session.codes.value.length >= MANY && (session.focus.value = ".s7-find-code"),
    m: () => session.begin("merge"),
    s: () => session.begin("split"),
    Delete: () => code && session.step({ do: "retire", code: code.id }),
  };
  const action = keys[event.key];
  if (!action || (event.repeat && !event.key.startsWith("Arrow"))) return false;
  action();
  return true;
}

function edit(session: Session): void {
  if (session.tab.value === "sorting" || session.tab.value === "versions") session.tab.value = "changes";
  session.focus.value = ".s7-fields input";
}

function isFolded(session: Session, code: DraftCode): boolean {
  return session.book.folded.value.has(code.id);
}

function fold(session: Session, code: DraftCode | undefined): void {
  if (!code) return;
  const parent = session.codes.value.some(({ parent }) => parent === code.id);
  if (parent && !isFolded(session, code)) session.book.fold([code.id], true);
  else if (code.parent) session.select(code.parent);
}

function unfold(session: Session, code: DraftCode | undefined): void {
  if (code && isFolded(session, code)) session.book.fold([code.id], false);
  else session.go(1);
}

export function CodeTree({ session }: { session: Session }) {
  const rows = session.book.rows.value;
  const id = useRef(`s7-tree-${Math.random().toString(36).slice(2)}`);
  const [over, setOver] = useState<{ id: string; drop: Drop } | null>(null);
  const [dragged, setDragged] = useState<string | null>(null);
  const box = useRef<HTMLDivElement>(null);
  const at = session.selected.value;
  useEffect(() => {
    const row = [...(box.current?.children ?? [])].find(each => (each as HTMLElement).dataset.code === at);
    row?.scrollIntoView({ block: "nearest" });
  }, [at, rows.length]);

  const dropAt = (event: DragEvent): Drop => {
    const { top, height } = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const share = (event.clientY - top) / height;
    return share < 0.3 ? "before" : share > 0.7 ? "after" : "into";
  };
  const end = () => {
    setOver(null);
    setDragged(null);
  };
  const left = (event: DragEvent) => {
    if (!box.current?.contains(event.relatedTarget as Node | null)) setOver(null);
  };
  const place = rows.findIndex(({ code }) => code.id === at);
  const isTree = rows.some(({ below }) => below > 0);
  return (
    <section class="s7-codes-pane" aria-label="Codes">
      <div class="s7-pane-line">
        <h4>Codes</h4>
        <span class="s7-numbers">{session.codes.value.length}</span>
        <Space />
        <Button title="Add a code (+)" onClick={() => session.begin("add")} words="+ Code" />
      </div>
      <BasisLine words={session.uncounted.value || session.basis.value || "Counting…"} />
      {session.codes.value.length >= MANY && (
        <Search
          class="s7-find-code"
          aria-label="Find a code"
          placeholder="Find a code (/)"
          onFind={words => session.findCode(words)}
        />
      )}
      <div
        ref={box}
        class="s7-tree s7-box"
        role="tree"
        tabIndex={0}
        aria-label="Codes of the draft"
        aria-activedescendant={place < 0 ? undefined : `${id.current}-${place}`}
        onDragLeave={left}
      >
        {rows.map(({ code, depth, below }, n) => (
          <Row
            key={code.id}
            session={session}
            code={code as DraftCode}
            depth={depth}
            below={below}
            isTree={isTree}
            id={`${id.current}-${n}`}
            drop={over?.id === code.id ? over.drop : null}
            dragged={dragged === code.id}
            drag={{
              draggable: true,
              onDragStart: (event: DragEvent) => {
                setDragged(code.id);
                // Firefox drags nothing that carries no data; text would be written into a cell that it is
                // let go over.
                event.dataTransfer?.setData("application/x-sense7-code", code.id);
              },
              onDragEnd: end,
              onDragOver: (event: DragEvent) => {
                const drop = dropAt(event);
                if (dragged === null || !session.placeFor(dragged, code.id, drop)) return setOver(null);
                event.preventDefault();
                // Let go there, it is refused in a sentence; no mark says that it could be.
                if (isWithin(session.codes.value, code.id, dragged)) return setOver(null);
                if (over?.id !== code.id || over.drop !== drop) setOver({ id: code.id, drop });
              },
              onDrop: (event: DragEvent) => {
                event.preventDefault();
                if (dragged !== null) session.drop(dragged, code.id, dropAt(event));
                end();
              },
            }}
          />
        ))}
      </div>
    </section>
  );
}

const indent = (depth: number) => `${6 + depth * 16}px`;

interface RowProps {
  session: Session;
  code: DraftCode;
  depth: number;
  below: number;
  isTree: boolean;
  id: string;
  drop: Drop | null;
  dragged: boolean;
  drag: object;
}

function Row({ session, code, depth, below, isTree, id, drop, dragged, drag }: RowProps) {
  const marked = session.selected.value === code.id;
  const folded = isFolded(session, code);
  const change = code.is_new ? "new" : code.altered.length ? "changed" : "";
  const figures = session.figures.value?.[code.id];
  const names = [
    "s7-row s7-tree-row",
    marked && "s7-here",
    drop && `s7-drop-${drop}`,
    dragged && "s7-dragged",
  ]
    .filter(Boolean)
    .join(" ");
  return (
    <div
      id={id}
      class={names}
      role="treeitem"
      aria-level={depth + 1}
      aria-selected={marked}
      aria-expanded={below ? !folded : undefined}
      data-code={code.id}
      style={{
        "padding-inline-start": indent(depth),
        ...(drop && {
          "--s7-drop-indent": indent(drop === "after" && session.isOpen(code.id) ? depth + 1 : depth),
        }),
      }}
      onClick={() => session.select(code.id)}
      {...drag}
    >
      {isTree && (
        <span
          class="s7-tree-fold"
          aria-hidden="true"
          onClick={() => below && session.book.fold([code.id], !folded)}
        >
          {below ? (folded ? "▸" : "▾") : ""}
        </span>
      )}
      {code.codable && (
        <span class="s7-sample" style={sample(session.book.looks.value.get(code.id) ?? UNKNOWN)} />
      )}
      <span class="s7-tree-words">
        <span class="s7-tree-label" dir="auto">
          {code.label}
        </span>
        {change && <span class="s7-badge">{change}</span>}
        {figures && (
          <span
            class="s7-tree-figures"
            title="Finished texts with the code · share of decisions that apply it · Krippendorff’s alpha (95% CI)"
          >
            {figures.n !== null && (
              <span>
                {figures.n} {figures.n === 1 ? "text" : "texts"}
                {figures.prevalence && ` · ${figures.prevalence}`}
              </span>
            )}
            {figures.waits && <span class="s7-unreviewed">{figures.waits}</span>}
            {figures.alpha && (
              <span>
                <span class="s7-alpha-bar" aria-hidden="true">
                  <i style={{ width: `${100 * Math.max(0, figures.value ?? 0)}%` }} />
                </span>
                {` α\u00a0${figures.alpha}`}
              </span>
            )}
          </span>
        )}
      </span>
      {code.key && <kbd>{code.key}</kbd>}
    </div>
  );
}
