// The list of texts beside the text, or as a drawer over it: find, choose, go there; and how far each
// participant is.
import type { VNode } from "preact";
import { Button } from "../shared/button";
import { asOptions, Select } from "../shared/fields";
import { listBox, listRow, type RowStyle } from "../shared/pagedrows";
import { Counted, Find as Field } from "../shared/sidepane";
import { VirtualList } from "../shared/virtuallist";
import { CodeAllButton } from "./codeall";
import type { GroupBy, Query, Row } from "./messages";
import type { Session } from "./session";
import { isEverything, type TextList } from "./textlist";
import { joined } from "../shared/words";

const [ROW, GROUP_ROW] = [62, 30];

const STATES: [Query["state"], string][] = [
  ["", "All texts"],
  ["unfinished", "Unfinished"],
  ["begun", "Started"],
  ["unsure", "Unsure"],
  ["memo", "With a memo"],
  ["review", "To look at again"],
  ["differs", "Different from a colleague"],
];
const ORDERS: [Query["order"], string][] = [
  ["plan", "As planned"],
  ["document", "By conversation"],
  ["random", "Random order"],
];
const GROUPS: Record<GroupBy, string> = { case_id: "participant", document_id: "conversation" };

/** What is chosen, in words; empty where it is everything. */
export function described(query: Query, labelOf: (code: string) => string): string {
  const { find, state, code, rating, group, conditions, order } = query;
  const words = [
    find.trim() && `“${find.trim()}”`,
    state && STATES.find(([name]) => name === state)![1].toLowerCase(),
    code && labelOf(code),
    rating && `rating ${rating}`,
    group && `${GROUPS[group.by]} ${group.name}`,
    ...Object.entries(conditions).map(([name, value]) => `${name}: ${value}`),
    order !== "plan" && ORDERS.find(([name]) => name === order)![1].toLowerCase(),
  ];
  return joined(words, ", ");
}

/** That “next” goes by a list of chosen texts, and how to end that. */
export function ListNote({ session }: { session: Session }) {
  const { texts } = session;
  if (!texts.isActive.value) return null;
  const [listing, here] = [texts.listing.value, session.unit.value?.place];
  const elsewhere = here !== undefined && !listing.has(here);
  return (
    <span class="s7-list-note" role="status">
      <span class="s7-listed-words">
        <strong>{listing.n}</strong>
        <span>
          {" "}
          of {texts.total.value} · {described(texts.shown.value, code => session.label(code))}
          {elsewhere && " (not including this text)"}
        </span>
      </span>
      <Button
        class="s7-quiet s7-clear"
        aria-label="Show all texts again"
        title="Show all texts again"
        onClick={() => texts.clear()}
        words="×"
      />
    </span>
  );
}

export function TextsButton({ session }: { session: Session }) {
  const open = session.texts.isOpen.value;
  return (
    <Button
      class="s7-texts-button"
      aria-expanded={open}
      aria-label="Texts"
      title={`List of texts (${session.commands.value.texts ?? ""})`}
      onClick={() => session.texts.toggle()}
    >
      ☰
    </Button>
  );
}

export function TextsPane({ session, children }: { session: Session; children?: VNode | undefined }) {
  return (
    <>
      <Find session={session} />
      {children ?? <Rows session={session} />}
      <Groups texts={session.texts} />
    </>
  );
}

function Find({ session }: { session: Session }) {
  const { texts } = session;
  const query = texts.query.value;
  const [open, n] = [texts.showFilters.value, texts.listing.value.n];
  const prepare = () => texts.askChoices();
  return (
    <div class="s7-choose">
      <Field
        of={texts.id}
        label="Find in texts, memos and ids"
        words="Find in texts, memos, ids"
        value={query.find}
        marked={`${texts.id}-${texts.cursor.value}`}
        onFocus={prepare}
        onFind={find => texts.change({ find })}
      />
      <div class="s7-choose-line">
        <Select
          aria-label="Which texts"
          value={query.state}
          options={STATES.filter(([name]) => query.state === name || isOffered(session, name))}
          onPick={state => texts.change({ state: state as Query["state"] })}
        />
        <Button
          class="s7-filters-button"
          aria-expanded={open}
          onPointerEnter={prepare}
          onClick={() => {
            prepare();
            texts.showFilters.value = !open;
          }}
        >
          Filters {open ? "▴" : "▾"}
        </Button>
      </div>
      {open && <Filters session={session} />}
      <Counted words={`${n === texts.total.value ? n : `${n} of ${texts.total.value}`} texts`}>
        <CodeAllButton session={session} />
        {!isEverything(query) && <Button class="s7-quiet" onClick={() => texts.clear()} words="Show all" />}
      </Counted>
    </div>
  );
}

/** Whether texts can be in this state at all. */
function isOffered({ newer, colleagues }: Session, state: Query["state"]): boolean {
  if (state === "differs") return colleagues.state.value === "open";
  return state !== "review" || newer.toReview.value > 0;
}

/** The more rarely needed choices. */
function Filters({ session }: { session: Session }) {
  const { texts } = session;
  const [query, choices] = [texts.query.value, texts.choices.value];
  const codes = session.book.list.value.filter(({ codable }) => codable);
  const condition = (name: string, value: string) => {
    const { [name]: _, ...others } = query.conditions;
    texts.change({ conditions: value ? { ...others, [name]: value } : others });
  };
  const same = (values: readonly string[]) => values.map((value): [string, string] => [value, value]);
  return (
    <div class="s7-filters">
      <Select
        aria-label="Order"
        value={query.order}
        options={ORDERS}
        onPick={order => texts.change({ order: order as Query["order"] })}
      />
      <Select
        aria-label="Code"
        value={query.code ?? ""}
        options={[["", "Any code or none"], ...asOptions(codes)]}
        onPick={code => texts.change({ code: code || null })}
      />
      {session.showRating.value && !!choices?.ratings.length && (
        <Select
          aria-label="Rating"
          value={query.rating ?? ""}
          options={[["", "Any rating"], ...same(choices.ratings)]}
          onPick={rating => texts.change({ rating: rating || null })}
        />
      )}
      {choices?.conditions.map(({ name, values }) => (
        <Select
          key={name}
          aria-label={name}
          value={query.conditions[name] ?? ""}
          options={[
            ["", `Any ${name}`],
            ...values.map((value): [string, string] => [value, `${name}: ${value}`]),
          ]}
          onPick={value => condition(name, value)}
        />
      ))}
      {query.group && (
        <Button onClick={() => texts.change({ group: null })}>
          {GROUPS[query.group.by]} {query.group.name} ×
        </Button>
      )}
    </div>
  );
}

function Rows({ session }: { session: Session }) {
  const { texts } = session;
  const [listing, here, cursor] = [texts.listing.value, session.unit.value?.place, texts.cursor.value];
  const flags = session.flags.value;
  // What an act on its way will make of a text, until the record has it.
  const waiting = new Map(session.outbox.waiting.value.map(({ unit_id, kind }) => [unit_id, kind]));
  const rows = texts.rows.value;
  return (
    <>
      <VirtualList
        count={listing.length}
        rowHeight={ROW}
        cursor={cursor}
        jump={texts.isOpen.value}
        onShown={texts.want}
        box={listBox(texts.id, "Texts", listing.length, cursor)}
        row={(index, style) => {
          const place = listing.at(index)!;
          const row = rows.get(place);
          return (
            <RowView
              key={place}
              session={session}
              {...{ index, place, row, style }}
              status={statusOf(flags[place]!, row && waiting.get(row.unit_id))}
              here={place === here}
              fits={listing.fits === null || isFitting(listing.fits, place)}
            />
          );
        }}
      />
      {!listing.length && <p class="s7-hint">No text matches.</p>}
    </>
  );
}

export const isFitting = (fits: Uint8Array, place: number) => ((fits[place >> 3]! >> (place & 7)) & 1) === 1;

export interface Status {
  sign: string;
  words: string;
  name: string;
}

const STATUS: Record<string, Status> = {
  ".": { sign: "○", words: "not started", name: "new" },
  c: { sign: "◐", words: "started", name: "begun" },
  f: { sign: "✓", words: "finished", name: "finished" },
  u: { sign: "✓?", words: "finished, unsure", name: "finished" },
};

/** How far a text is, in the record or, with three points, as it will be once what is on its way is saved. */
export function statusOf(flag: string, pending: string | undefined): Status {
  if (pending === "finish") return { sign: "✓…", words: "finished, not saved yet", name: "pending" };
  if (pending === "reopen") return { sign: "◐…", words: "reopened, not saved yet", name: "pending" };
  if (pending)
    return {
      ...STATUS[flag]!,
      sign: `${STATUS[flag]!.sign}…`,
      words: `${STATUS[flag]!.words}, a change is not saved yet`,
    };
  return STATUS[flag]!;
}

interface RowProps {
  session: Session;
  index: number;
  place: number;
  row: Row | undefined;
  status: Status;
  here: boolean;
  fits: boolean;
  style: RowStyle;
}

function RowView({ session, index, place, row, status, here, fits, style }: RowProps) {
  const review =
    row?.review &&
    `to look at again${row.review.length ? `: ${row.review.map(code => session.label(code)).join(", ")}` : ""}`;
  const [before, found, after] = row?.words ?? ["", "", ""];
  const signs: [string, string | false | null | undefined][] = [
    ["?", row?.unsure && status.sign !== "✓?" && "unsure"],
    ["↻", review],
    ["✎", row?.memo && "memo"],
    [`★ ${row?.rating}`, row?.rating && `rating ${row.rating}`],
  ];
  const there = signs.filter(([, words]) => words);
  const spoken = [
    `${place + 1}`,
    status.words,
    ...there.map(([, words]) => words),
    !fits && "no longer matches",
    row?.unit_id,
    before + found + after,
  ];
  return (
    <div
      {...listRow(session.texts, index, style, [here && "s7-here", !fits && "s7-gone"])}
      aria-selected={here}
      aria-label={joined(spoken, ", ")}
      onClick={() => session.texts.pick(index)}
    >
      <div class="s7-row-line">
        <span class={`s7-row-status s7-${status.name}`} title={status.words}>
          {status.sign}
        </span>
        <span class="s7-row-id">
          {place + 1} · {row?.unit_id ?? "…"}
        </span>
        {there.map(([sign, words]) => (
          <span key={sign} class="s7-sign" title={words || undefined}>
            {sign}
          </span>
        ))}
      </div>
      <div class="s7-row-words" dir="auto">
        {before}
        {found && <mark>{found}</mark>}
        {after}
      </div>
    </div>
  );
}

/** How many texts of each participant are finished. */
function Groups({ texts }: { texts: TextList }) {
  const [by, groups, query] = [texts.groupBy.value, texts.groups.value, texts.query.value];
  const kinds = texts.choices.value?.groups ?? (["case_id", "document_id"] as GroupBy[]);
  const open = () => {
    texts.askChoices();
    texts.showProgress(by ? null : (kinds[0] ?? null));
  };
  if (!kinds.length) return null;
  return (
    <div class="s7-progress-by">
      <div class="s7-choose-line">
        <Button class="s7-quiet" aria-expanded={by !== null} onClick={open}>
          {by ? "▾" : "▸"} Progress by {by ? "" : GROUPS[kinds[0]!]}
        </Button>
        {by && (
          <Select
            aria-label="Progress by"
            value={by}
            options={kinds.map((kind): [string, string] => [kind, GROUPS[kind]])}
            onPick={kind => texts.showProgress(kind as GroupBy)}
          />
        )}
      </div>
      {by && groups && (
        <VirtualList
          count={groups.length}
          rowHeight={GROUP_ROW}
          cursor={0}
          box={{ class: "s7-groups", role: "group", "aria-label": `Progress by ${GROUPS[by]}` }}
          row={(index, style) => {
            const [name, n, finished] = groups[index]!;
            const chosen = query.group?.by === by && query.group.name === name;
            return (
              <Button
                key={name}
                class="s7-group-row"
                style={style}
                aria-pressed={chosen}
                title={`Show the texts of ${name}`}
                onClick={() => texts.change({ group: chosen ? null : { by, name } })}
              >
                <span class="s7-group-name">{name}</span>
                <span class="s7-bar">
                  <div style={{ width: `${(100 * finished) / n}%` }} />
                </span>
                <span class="s7-numbers">
                  {finished} of {n}
                </span>
              </Button>
            );
          }}
        />
      )}
    </div>
  );
}
