// For the tests alone: a kernel in memory that answers as the Python side does, one message at a time.
import type { Model, Reply } from "../shared/channel";
import { code } from "../shared/code.test.kit";
import { shelf } from "../shared/outbox";
import type { Act, Coding, Facet } from "../shared/protocol";
import type {
  Again,
  Beside,
  ColleaguesQuestion,
  FreeMemo,
  GridQuestion,
  HistoryRow,
  InboxItem,
  InboxQuestion,
  ListQuestion,
  Memo,
  MemoRow,
  NewCodeQuestion,
  PassageRow,
  Query,
  RoundState,
  Row,
  ShownSuggestions,
  SpanMemo,
  Suggestion,
  TrainingProgress,
  Unit,
} from "./messages";
import { Session } from "./session";

interface Message extends Partial<Query> {
  type:
    | "hello"
    | "unit"
    | "act"
    | ListQuestion["type"]
    | NewCodeQuestion["type"]
    | ColleaguesQuestion["type"]
    | "feedback"
    | "suggestions"
    | GridQuestion["type"]
    | "memos"
    | "history"
    | "back"
    | "take_codebook"
    | InboxQuestion["type"]
    | "passages"
    | "hits"
    | "all_hits";
  agreed?: string | null;
  read?: string | null;
  of?: string;
  act_id?: string;
  on?: string;
  first?: number;
  label?: string;
  id: string;
  client: string;
  place?: number;
  peek?: boolean;
  act?: Act;
  places?: number[];
  show_rating?: boolean;
  with_order?: boolean;
  layout?: "text" | "grid";
  variables?: string[];
}

const base64 = (bytes: Uint8Array) => btoa(String.fromCharCode(...bytes));

const CODES: [string, string][] = [
  ["affective", "1"],
  ["cognitive", "2"],
  ["response", "3"],
];

/** A facet with its values, each with its key. */
export function facet(name: string, values: Record<string, string | null>, codes: string[] = []): Facet {
  const label = name[0]!.toUpperCase() + name.slice(1);
  return {
    name,
    label,
    codes,
    values: Object.entries(values).map(([name, key]) => ({ name, label: name, key })),
  };
}

/** Records acts, and answers when it is told to: so a test decides what is under way. */
export class Kernel {
  readonly received: Message[] = [];
  readonly recorded: Act[] = [];
  position = 0;
  /** Whether there is a newer one, and what it means for codings. */
  newer = false;
  /** The places of the texts that are to be looked at again. */
  review: number[] = [];
  meaning: string[] = [];
  showRating: boolean | "finished" = false;
  layout: "text" | "grid" = "text";
  newCodes: "add" | "propose" = "propose";
  roundName: string | null = null;
  /** What waits in the inbox, the questions that it leads to, and whether the widget begins with them. */
  inbox: InboxItem[] = [];
  again: Again = { steps: [], rules: [], under: "f1" };
  begins = false;
  round: RoundState = null;
  /** What colleagues coded, by place. */
  colleagues: Record<number, Beside[]> = {};
  /** Colleagues' memos for the team. */
  theirMemos: MemoRow[] = [];
  training: TrainingProgress | null = null;
  suggest: "finished" | "shown" | null = null;
  /** The codes that a screening found absent, by place. */
  absent: Record<number, string[]> = {};
  /** What a model suggests, by place; of which it is not worked out yet; and whether the model fails. */
  suggestions: Record<number, Suggestion[]> = {};
  readonly late = new Set<number>();
  failing = false;
  private readonly seen = new Set<number>();
  /** Ids of the codes that are like any new one. */
  alike: string[] = [];
  codes = CODES.map(one => code(...one));
  facets: Facet[] = [facet("valence", { met: null, unmet: null })];
  /** Whether it was restarted: then what a browser has of it is dead. */
  dead = false;
  /** What becomes of the next acts: recorded, refused, or not saved. */
  fate: "done" | "refused" | "failed" = "done";
  private readonly queue: Message[] = [];
  private readonly listeners = new Set<(reply: Reply) => void>();
  private done: Act[] = [];
  private undone: Act[] = [];
  private readonly unread: Act[] = [];

  constructor(readonly texts: string[]) {}

  /** What a browser has of the kernel. */
  model(): Model {
    return {
      send: content => {
        if (this.dead) throw new Error("comm is dead");
        const message = JSON.parse(JSON.stringify(content)) as Message;
        this.received.push(message);
        this.queue.push(message);
      },
      on: (_, listener) => void this.listeners.add(listener),
      off: (_, listener) => void this.listeners.delete(listener),
    };
  }

  /** Answer what was asked so far, and what is asked because of the answers. */
  answer(): void {
    for (let message = this.queue.shift(); message; message = this.queue.shift()) this.answerOne(message);
  }

  /** Say something to all browsers. */
  tell(answer: object): void {
    this.listeners.forEach(hear => hear(structuredClone(answer) as Reply));
  }

  /** Answer one message alone. */
  answerFirst(id: string): void {
    const at = this.queue.findIndex(message => message.id === id);
    this.answerOne(this.queue.splice(at, 1)[0]!);
  }

  /** Lose what was asked so far, as a kernel does that is restarted. */
  lose(): void {
    this.queue.length = 0;
  }

  acts(): Act[] {
    return this.received.flatMap(message => (message.type === "act" ? [message.act!] : []));
  }

  /** How much was recorded each time when the inbox was asked for. */
  readonly inboxAskedAfter: number[] = [];

  /** The places that a browser asked to be shown. */
  asked(): number[] {
    return this.received.flatMap(({ type, place, peek }) => (type === "unit" && !peek ? [place!] : []));
  }

  unit(place: number): Unit {
    const unit_id = `m${place}`;
    const codings = new Map<string, Coding>();
    let finished = false;
    let memo: Memo | null = null;
    let memos: SpanMemo[] = [];
    const done = this.done.flatMap(({ found, ...act }) => found?.map(one => ({ ...act, ...one })) ?? [act]);
    for (const act of done
      .filter(act => act.unit_id === unit_id)
      .flatMap((act): Act[] => [
        ...(act.with ?? []).map((part): Act => ({ ...part, id: act.id, unit_id })),
        act,
      ])) {
      const { code = "", start = null, end = null, facets = {}, confidence = null } = act;
      const key = `${code}:${start}:${end}`;
      if (act.from) {
        for (const one of [act.code, ...(act.also ?? [])]) {
          const from = `${one}:${act.from.start}:${act.from.end}`;
          if (one !== code) codings.set(`${one}:${start}:${end}`, { ...codings.get(from)!, start, end });
          codings.delete(from);
        }
      }
      if (act.kind === "apply") {
        // As in the record: a coding that is applied again is the last one.
        codings.delete(key);
        codings.set(key, { code, start, end, facets, confidence });
      } else if (act.kind === "remove") codings.delete(key);
      else if (act.target_kind === "span") {
        memos = memos.filter(({ memo_id }) => memo_id !== act.memo_id);
        if (act.text)
          memos.push({
            memo_id: act.memo_id ?? act.id,
            text: act.text,
            start: start!,
            end: end!,
            team: !!act.team,
          });
      } else if (act.kind === "memo")
        memo = act.text ? { memo_id: act.memo_id ?? act.id, text: act.text } : null;
      else if (act.kind !== "reject_suggestion") finished = act.kind === "finish";
    }
    const [text, context, rating] = [this.texts[place]!, [], "4"];
    return {
      place,
      unit_id,
      text,
      context,
      rating,
      finished,
      codings: [...codings.values()],
      memo,
      memos,
      suggestions: this.suggested(place, [...codings.values()]),
      n_acts: this.actsOn(unit_id),
    };
  }

  private actsOn(unit_id: string): number {
    return this.recorded
      .filter(act => act.unit_id === unit_id)
      .reduce((n, act) => n + 1 + (act.with?.length ?? 0), 0);
  }

  /** The same coder does this in another window: the next answer brings it along. */
  elsewhere(...acts: Act[]): void {
    this.unread.push(...acts);
  }

  private takeInElsewhere(): void {
    if (!this.unread.length) return;
    const acts = this.unread.splice(0);
    this.recorded.push(...acts);
    this.done.push(...acts);
    const places = acts.map(({ unit_id }) => Number(unit_id!.slice(1)));
    this.tell({
      type: "elsewhere",
      client: null,
      id: null,
      words: `${acts.length} codings came from another window`,
      places,
      memos: this.freeMemos(),
      ...this.noticed(),
      ...this.progress(),
      can_undo: this.done.length > 0,
      can_redo: this.undone.length > 0,
    });
  }

  /** The memos on codes and on the study. */
  freeMemos(): FreeMemo[] {
    const memos = new Map<string, FreeMemo>();
    for (const { kind, target_kind: on, id, memo_id = id, code = null, text = "", team = false } of this
      .done) {
      if (kind !== "memo" || (on !== "code" && on !== "study")) continue;
      if (text) memos.set(memo_id, { memo_id, on, code, text, team });
      else memos.delete(memo_id);
    }
    return [...memos.values()];
  }

  private flag(place: number): string {
    const unit = this.unit(place);
    return unit.finished ? "f" : unit.codings.length || unit.memo ? "c" : ".";
  }

  private finished(): number {
    return this.texts.filter((_, place) => this.unit(place).finished).length;
  }

  /** The random order of this kernel is the plan's the other way round. */
  private list(asked: Message): object {
    const fits = this.texts.map((text, place) => {
      const { codings, finished, memo } = this.unit(place);
      const wanted = (asked.find ?? "").trim().toLowerCase();
      const found = text.toLowerCase().includes(wanted) || memo?.text.includes(wanted);
      const state =
        asked.state === "review"
          ? this.toReview().includes(place)
          : asked.state === "unfinished"
            ? !finished
            : asked.state !== "memo" || memo !== null;
      const rating = !asked.rating || (asked.show_rating && asked.rating === "4");
      return found && state && rating && (!asked.code || codings.some(({ code }) => code === asked.code));
    });
    const bits = new Uint8Array(Math.ceil(fits.length / 8));
    fits.forEach((fit, place) => fit && (bits[place >> 3]! |= 1 << (place & 7)));
    const places = fits.map((_, place) => place).reverse();
    return {
      type: "list",
      n: fits.filter(Boolean).length,
      bits: fits.every(Boolean) ? null : base64(bits),
      order:
        asked.order === "plan" || !asked.with_order
          ? null
          : base64(new Uint8Array(Uint32Array.from(places).buffer)),
      rows: fits.flatMap((fit, place) => (fit ? [this.row(place, asked)] : [])).slice(0, 3),
    };
  }

  private gridRow(place: number, { variables = [] }: Message): object {
    const values = variables.map(name => [name, place % 2 ? "warm" : "cold"]);
    return { unit: this.unit(place), variables: Object.fromEntries(values), review: null };
  }

  private row(place: number, { find, show_rating }: Message): Row {
    const { unit_id, text, memo, rating, codings } = this.unit(place);
    const at = find ? text.toLowerCase().indexOf(find.toLowerCase()) : 0;
    const end = at + (find?.length ?? 0);
    const unsure = codings.some(({ confidence }) => confidence === "unsure");
    const words: Row["words"] = [text.slice(0, at), text.slice(at, end), text.slice(end)];
    return {
      place,
      unit_id,
      words,
      memo: memo !== null,
      unsure,
      rating: show_rating ? rating : null,
      review: null,
    };
  }

  /** The memos that fit, the newest first, two a page; and one of a colleague's, the oldest. */
  private memos({ on, find = "", first = 0 }: Message): object {
    const own = this.texts.flatMap((text, place): MemoRow[] => {
      const { memo, memos, unit_id } = this.unit(place);
      const row = {
        code: null,
        coder: "ana",
        own: true,
        at: "2026-01-31T12:00:00.000Z",
        unit_id,
        place,
        team: false,
        answers: null,
      };
      const spans = memos.map(
        (one): MemoRow => ({ ...row, ...one, on: "span", words: text.slice(one.start, one.end) }),
      );
      return [
        ...spans,
        ...(memo ? [{ ...row, ...memo, on: "unit" as const, start: null, end: null, words: text }] : []),
      ];
    });
    const free = this.freeMemos().map(
      (memo): MemoRow => ({
        ...memo,
        team: false,
        answers: null,
        start: null,
        end: null,
        coder: "ana",
        own: true,
        at: "2026-01-31T12:00:00.000Z",
        unit_id: null,
        place: null,
        words: "",
      }),
    );
    const rows = [...this.theirMemos, ...own, ...free].filter(
      row => (!on || row.on === on) && row.text.includes(find),
    );
    return {
      type: "memos",
      n: rows.length,
      n_all: own.length + free.length,
      first,
      rows: rows.slice(first, first + 2),
    };
  }

  /** All passages of a code on one page, the newest first. */
  private passages({ code, find = "" }: Message): object {
    const all = this.texts.flatMap((text, place) =>
      this.unit(place)
        .codings.filter(one => one.code === code)
        .map((one): PassageRow => {
          const [start, end] = [one.start ?? 0, one.end ?? text.length];
          return {
            ...one,
            place,
            unit_id: `m${place}`,
            words: [text.slice(0, start), text.slice(start, end), text.slice(end)],
          };
        }),
    );
    const rows = all.filter(({ words }) => words.join("").includes(find)).reverse();
    return { type: "passages", code, n: rows.length, n_all: all.length, first: 0, rows };
  }

  /** Where the words are, in one text or in all of them. */
  private hits({ type, find = "", place: here = 0 }: Message): object {
    const spans = (place: number) =>
      [...this.texts[place]!.matchAll(new RegExp(find, "gi"))].map(({ index }): [number, number] => [
        index,
        index + find.length,
      ]);
    const places = this.texts.map((_, place) => place).filter(place => spans(place).length);
    if (type === "all_hits")
      return { type, rows: places.map(place => ({ ...this.unit(place), spans: spans(place) })) };
    const [before, after] = [places.findLast(place => place < here), places.find(place => place > here)];
    const hit = (place: number | undefined, at: number) =>
      place === undefined ? null : { place, span: spans(place).at(at) };
    return { type: "hits", place: here, spans: spans(here), before: hit(before, -1), after: hit(after, 0) };
  }

  private acts_done(): Act[] {
    return this.recorded.filter(({ kind }) => kind !== "undo" && kind !== "redo");
  }

  /** All acts on one page, a minute apart; the newest first. */
  private history(): object {
    const acts = this.acts_done();
    const at = (n: number) => Date.UTC(2026, 0, 31, 12, n) / 1000;
    const rows = acts.map((act, n): HistoryRow => {
      const {
        id,
        kind,
        unit_id = null,
        code = null,
        start = null,
        end = null,
        text = "",
        target_kind = null,
      } = act;
      const place = unit_id === null ? null : Number(unit_id.slice(1));
      const quote = start === null ? "" : this.texts[place!]!.slice(start, end!);
      const stands = this.done.some(one => one.id === id);
      const [time, state] = [
        new Date(1000 * at(n)).toISOString(),
        stands ? ("stands" as const) : ("undone" as const),
      ];
      return {
        act_id: id,
        kind,
        at: time,
        unit_id,
        place,
        code,
        on: target_kind,
        start,
        end,
        quote,
        moved_from: null,
        also: 0,
        found: act.found?.length ?? 0,
        facets: act.facets ?? {},
        unsure: false,
        words: text,
        state,
        taken_back: stands ? null : time,
      };
    });
    const times = Uint32Array.from(acts.map((_, n) => at(n))).reverse();
    return {
      type: "history",
      n: rows.length,
      first: 0,
      times: base64(new Uint8Array(times.buffer)),
      rows: rows.reverse(),
    };
  }

  private back(act_id: string): object {
    const acts = this.acts_done();
    const after = acts
      .slice(acts.findIndex(({ id }) => id === act_id) + 1)
      .filter(act => this.done.some(({ id }) => id === act.id));
    return {
      type: "back",
      act_id,
      ids: after.map(({ id }) => id).reverse(),
      n_texts: new Set(after.map(({ unit_id }) => unit_id)).size,
    };
  }

  private choices({ show_rating }: Message): object {
    const conditions = [{ name: "condition", values: ["cold", "warm"] }];
    return { conditions, ratings: show_rating ? ["4"] : [], groups: ["case_id"] };
  }

  private counts(place: number) {
    return {
      flag: this.flag(place),
      n_finished: this.finished(),
      can_undo: this.done.length > 0,
      can_redo: this.undone.length > 0,
    };
  }

  private answerOne(message: Message): void {
    const [{ id, client }, heard] = [message, [...this.listeners]];
    const tell = (answer: object) =>
      heard.forEach(hear => hear(structuredClone({ ...answer, id, client }) as Reply));
    if (message.type === "hello") tell(this.welcome());
    else if (message.type === "act") tell(this.record(message.act!));
    else if (message.type === "alike")
      tell({ type: "alike", codes: this.alike.map(id => ({ id, how: "words" })), note: "" });
    else if (message.type === "colleagues")
      tell({ type: "colleagues", state: this.round, names: this.round === "open" ? ["ben", "cleo"] : [] });
    else if (message.type === "beside")
      tell({ type: "beside", place: message.place, coders: this.colleagues[message.place!] ?? [] });
    else if (message.type === "suggestions") tell(this.showSuggestions(message.place!));
    else if (message.type === "feedback") tell(this.feedback(message.place!));
    else if (message.type === "take_codebook") tell(this.take(message.agreed ?? null));
    else if (message.type === "add_code") tell(this.add(message));
    else if (message.type === "inbox") {
      this.inboxAskedAfter.push(this.recorded.length);
      this.inbox = this.inbox.filter(({ id }) => id !== message.read);
      tell({ type: "inbox", items: this.inbox });
    } else if (message.type === "again") tell({ type: "again", ...this.again });
    else if (message.type === "memos") tell(this.memos(message));
    else if (message.type === "history") tell(this.history());
    else if (message.type === "passages") tell(this.passages(message));
    else if (message.type === "hits" || message.type === "all_hits") tell(this.hits(message));
    else if (message.type === "back") tell(this.back(message.act_id!));
    else if (message.type === "list") tell(this.list(message));
    else if (message.type === "rows")
      tell({ type: "rows", rows: message.places!.map(place => this.row(place, message)) });
    else if (message.type === "layout") {
      this.layout = message.layout!;
      tell({ type: "layout", variables: ["condition"], has_rating: true });
    } else if (message.type === "grid")
      tell({ type: "grid", rows: message.places!.map(place => this.gridRow(place, message)) });
    else if (message.type === "choices") tell({ type: "choices", ...this.choices(message) });
    else if (message.type === "progress")
      tell({ type: "progress", groups: [["p1", this.texts.length, this.finished()]] });
    else {
      if (!message.peek) this.position = message.place!;
      tell({ type: "unit", unit: this.unit(message.place!), ...this.noticed() });
    }
  }

  private showSuggestions(place: number): object {
    if (!this.unit(place).finished) return { type: "refused", message: "finish it first" };
    if (this.failing)
      return { type: "suggestions", place, state: "failed", message: "the model failed (KeyError)" };
    if (this.late.has(place)) return { type: "suggestions", place, state: "waiting" };
    this.seen.add(place);
    return {
      type: "suggestions",
      place,
      state: "shown",
      unit: this.unit(place),
      quotes: { affective: ["as I coded before"] },
      absent: this.absent[place] ?? [],
    };
  }

  /** The suggestions that were shown, each with what became of it. */
  private suggested(place: number, codings: Coding[]): ShownSuggestions | null {
    if (!this.seen.has(place)) return null;
    const rejected = new Set(
      this.done
        .filter(act => act.kind === "reject_suggestion" && act.unit_id === `m${place}`)
        .map(act => act.code),
    );
    const rows = (this.suggestions[place] ?? []).map((row): Suggestion => {
      const same = codings.filter(({ code }) => code === row.code);
      const state = same.some(({ start }) => start === row.start)
        ? "accepted"
        : same.length
          ? "edited"
          : rejected.has(row.code)
            ? "rejected"
            : "none";
      return { ...row, state };
    });
    return { withheld: false, rows };
  }

  /** Gold has "affective" on every text. */
  private feedback(place: number): object {
    const { finished, codings } = this.unit(place);
    if (!finished) return { type: "refused", message: "finish it first" };
    const own = new Set([...codings.map(({ code }) => code), "affective"]);
    const rows = [...own].map(code => ({
      code,
      state:
        code !== "affective" ? "added" : codings.some(coding => coding.code === code) ? "same" : "missed",
    }));
    this.training = { ...this.training!, n: this.finished(), kappa: ".71 (.55–.84)" };
    return { type: "feedback", place, rows, counts: { affective: [3, 2, 1] }, progress: this.training };
  }

  private add({ label = "" }: Message): object {
    if (this.fate !== "done") return { type: this.fate, message: `${this.fate}: no room` };
    this.codes.push(code(label.toLowerCase(), "9"));
    this.tell(this.ofCodebook("f2", "more"));
    return { type: "added", code: label.toLowerCase(), label, came: "" };
  }

  /** What is said to all views of another version of the codebook. */
  ofCodebook(under: string, work_id: string): object {
    const { codebook } = this.welcome() as { codebook: object };
    return {
      type: "codebook",
      id: null,
      client: null,
      codebook,
      under,
      work_id,
      ...this.noticed(),
      ...this.progress(),
    };
  }

  /** What stands in the record before any view is open. */
  recordAtFirst(act: Act): void {
    this.record(act);
  }

  /** Another version of the codebook: without the first code where its `meaning` is told before. */
  private take(agreed: string | null): object {
    if (!this.newer) return { type: "taken", words: "" };
    if (this.meaning.length && agreed !== "f3") return { type: "newer", under: "f3", words: this.meaning };
    this.newer = false;
    this.codes = [...this.codes.slice(this.meaning.length ? 1 : 0), code("hope", "9")];
    this.tell(this.ofCodebook("f3", "newest"));
    return { type: "taken", words: "‘Hope’ is new" };
  }

  private noticed() {
    return { newer: this.newer, n_review: this.toReview().length };
  }

  /** The texts that are to be looked at again and are not finished. */
  private toReview(): number[] {
    return this.review.filter(place => !this.unit(place).finished);
  }

  private progress() {
    return { flags: this.texts.map((_, place) => this.flag(place)).join(""), n_finished: this.finished() };
  }

  private welcome(): object {
    return {
      type: "welcome",
      coder: "ana",
      ...this.noticed(),
      work_id: "work",
      under: "f1",
      new_codes: this.newCodes,
      again: this.begins,
      colleagues: this.round,
      training: this.training,
      suggest: this.suggest,
      codebook: { title: "Book", version: "1", facets: this.facets, codes: this.codes },
      commands: {
        next_word: "w",
        next_coding: "ArrowDown",
        previous_coding: "ArrowUp",
        remove_coding: "Delete",
        unsure: "u",
        next: "ArrowRight",
        back: "ArrowLeft",
        memo: "m",
        code_memo: "M",
        memos: ":",
        history: "<",
        new_code: "+",
        facet: "v",
        filter: "/",
        pin: "-",
        finish_and_next: "Enter",
        undo: "z",
        redo: "y",
        previous_word: "W",
        next_sentence: "s",
        help: "?",
        rating: "r",
        select_by_letters: " ",
        find_text: ".",
        texts: ",",
        colleagues: "=",
        next_colleague: ";",
        accept_suggestion: "*",
        reject_suggestion: "!",
        layout: "#",
        take_codebook: ">",
        inbox: "I",
        next_hit: ")",
        previous_hit: "(",
        passages: '"',
        finish: "f",
      },
      ...this.progress(),
      show_rating: this.showRating,
      layout: this.layout,
      round: this.roundName,
      memos: this.freeMemos(),
      unit: this.texts.length ? this.unit(this.position) : null,
      ...(this.texts.length ? this.counts(this.position) : {}),
    };
  }

  private record(act: Act): object {
    if (this.fate !== "done") return { type: this.fate, message: `${this.fate}: no room` };
    let unit_id = act.unit_id;
    this.takeInElsewhere();
    if (act.kind === "finish" && act.seen !== this.actsOn(unit_id!))
      return { type: "refused", message: "Not finished: look at it" };
    if (!this.recorded.some(one => one.id === act.id)) {
      if (act.kind === "undo" || act.kind === "redo") {
        const [from, to] = act.kind === "undo" ? [this.done, this.undone] : [this.undone, this.done];
        const at = from.findIndex(({ id }) => id === act.target);
        const [moved] = from.splice(
          act.target === undefined ? from.length - 1 : at,
          at < 0 && act.target ? 0 : 1,
        );
        if (!moved) return { type: "refused", message: `nothing to ${act.kind}` };
        to.push(moved);
        unit_id = moved.unit_id;
      } else {
        this.done.push(act);
        this.undone = [];
      }
      this.recorded.push({ ...act, unit_id });
    }
    unit_id ??= this.recorded.find(one => one.id === act.id)?.unit_id;
    if (unit_id === undefined) {
      return {
        type: "done",
        kind: act.kind,
        unit: this.unit(this.position),
        ...this.noticed(),
        memos: this.freeMemos(),
        ...this.counts(this.position),
      };
    }
    const place = Number(unit_id.slice(1));
    return { type: "done", kind: act.kind, unit: this.unit(place), ...this.noticed(), ...this.counts(place) };
  }
}

/* ---- sessions on a kernel, without a screen ---- */

export const TEXTS = [
  "It listened. It cared.",
  "It did not.",
  "Only facts.",
  "So kind 👍🏽 of it.",
  "No.",
  "Yes.",
];

export let kernel: Kernel;
const sessions: Session[] = [];

export function plugIn(texts = TEXTS): void {
  kernel = new Kernel(texts);
}

/** Another view of the widget, not yet welcomed. */
export function open(): Session {
  const session = new Session(kernel.model());
  sessions.push(session);
  return session;
}

/** A view, on a new kernel, that shows its first unit. */
export function ready(texts = TEXTS): Session {
  plugIn(texts);
  const session = open();
  kernel.answer();
  return session;
}

export function closeAll(): void {
  sessions.splice(0).forEach(session => session.close());
  shelf().clear();
}

export const press = (session: Session, id: string) => session.toggle(session.book.codes.value.get(id)!);
export const place = (session: Session) => session.unit.value?.place ?? null;
/** The codes on screen, with a question mark while they are pending. */
export const shown = (session: Session) =>
  session.unit.value?.codings.map(({ code, pending }) => code + (pending ? "?" : ""));
