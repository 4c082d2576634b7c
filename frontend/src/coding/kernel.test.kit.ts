// For the tests alone: a kernel in memory that answers as the Python side does, one message at a time.
import type { Model, Reply } from "../shared/channel";
import { code } from "../shared/code.test.kit";
import { shelf } from "../shared/outbox";
import type { Coding, Deed } from "../shared/protocol";
import type { Memo, Unit } from "./messages";
import { Session } from "./session";

interface Message {
  type: "hello" | "unit" | "deed";
  id: string;
  client: string;
  place?: number;
  peek?: boolean;
  deed?: Deed;
}

const CODES: [string, string][] = [
  ["affective", "1"],
  ["cognitive", "2"],
  ["response", "3"],
];

/** Records deeds, and answers when it is told to: so a test decides what is under way. */
export class Kernel {
  readonly received: Message[] = [];
  readonly recorded: Deed[] = [];
  position = 0;
  /** What the coder should know of the codebook. */
  notice = "";
  /** Whether it was restarted: then what a browser has of it is dead. */
  dead = false;
  /** What becomes of the next deeds: recorded, refused, or not saved. */
  fate: "done" | "refused" | "failed" = "done";
  private readonly queue: Message[] = [];
  private readonly listeners = new Set<(reply: Reply) => void>();
  private done: Deed[] = [];
  private undone: Deed[] = [];

  constructor(readonly texts: string[]) {}

  /** What a browser has of the kernel. */
  model(): Model {
    return {
      send: (content) => {
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
    this.listeners.forEach((hear) => hear(structuredClone(answer) as Reply));
  }

  /** Answer one message alone. */
  answerFirst(id: string): void {
    const at = this.queue.findIndex((message) => message.id === id);
    this.answerOne(this.queue.splice(at, 1)[0]!);
  }

  /** Lose what was asked so far, as a kernel does that is restarted. */
  lose(): void {
    this.queue.length = 0;
  }

  deeds(): Deed[] {
    return this.received.flatMap((message) => (message.type === "deed" ? [message.deed!] : []));
  }

  /** The places that a browser asked to be shown. */
  asked(): number[] {
    return this.received.flatMap(({ type, place, peek }) => (type === "unit" && !peek ? [place!] : []));
  }

  unit(place: number): Unit {
    const unit_id = `m${place}`;
    const codings = new Map<string, Coding>();
    let finished = false;
    let memo: Memo | null = null;
    for (const deed of this.done.filter((deed) => deed.unit_id === unit_id)) {
      const { code = "", start = null, end = null, valence = null, confidence = null } = deed;
      const key = `${code}:${start}:${end}`;
      if (deed.kind === "apply") {
        // As in the record: a coding that is applied again is the last one.
        codings.delete(key);
        codings.set(key, { code, start, end, valence, confidence });
      } else if (deed.kind === "remove") codings.delete(key);
      else if (deed.kind === "memo") memo = deed.text ? { memo_id: deed.memo_id ?? deed.id, text: deed.text } : null;
      else finished = deed.kind === "finish";
    }
    const [text, context, rating] = [this.texts[place]!, [], "4"];
    return { place, unit_id, text, context, rating, finished, codings: [...codings.values()], memo };
  }

  private flag(place: number): string {
    const unit = this.unit(place);
    return unit.finished ? "f" : unit.codings.length || unit.memo ? "c" : ".";
  }

  private counts(place: number) {
    return {
      flag: this.flag(place),
      n_finished: this.texts.filter((_, i) => this.unit(i).finished).length,
      can_undo: this.done.length > 0,
      can_redo: this.undone.length > 0,
    };
  }

  private answerOne(message: Message): void {
    const [{ id, client }, heard] = [message, [...this.listeners]];
    const tell = (answer: object) => heard.forEach((hear) => hear(structuredClone({ ...answer, id, client }) as Reply));
    if (message.type === "hello") tell(this.welcome());
    else if (message.type === "deed") tell(this.record(message.deed!));
    else {
      if (!message.peek) this.position = message.place!;
      tell({ type: "unit", unit: this.unit(message.place!), notice: this.notice });
    }
  }

  private welcome(): object {
    return {
      type: "welcome",
      coder: "ana",
      notice: this.notice,
      outbox: "work",
      codebook: { title: "Book", version: "1", valence: ["met", "unmet"], codes: CODES.map((one) => code(...one)) },
      commands: { next: "ArrowRight", back: "ArrowLeft", memo: "m", finish_and_next: "Enter", undo: "z", help: "?" },
      flags: this.texts.map((_, place) => this.flag(place)).join(""),
      show_rating: false,
      unit: this.texts.length ? this.unit(this.position) : null,
      ...(this.texts.length ? this.counts(this.position) : {}),
    };
  }

  private record(deed: Deed): object {
    if (this.fate !== "done") return { type: this.fate, message: `${this.fate}: no room` };
    let unit_id = deed.unit_id;
    if (!this.recorded.some((one) => one.id === deed.id)) {
      if (deed.kind === "undo" || deed.kind === "redo") {
        const [from, to] = deed.kind === "undo" ? [this.done, this.undone] : [this.undone, this.done];
        const moved = from.pop();
        if (!moved) return { type: "refused", message: `nothing to ${deed.kind}` };
        to.push(moved);
        unit_id = moved.unit_id;
      } else {
        this.done.push(deed);
        this.undone = [];
      }
      this.recorded.push({ ...deed, unit_id });
    }
    unit_id ??= this.recorded.find((one) => one.id === deed.id)!.unit_id;
    const place = Number(unit_id!.slice(1));
    return { type: "done", kind: deed.kind, unit: this.unit(place), notice: this.notice, ...this.counts(place) };
  }
}

/* ---- sessions on a kernel, without a screen ---- */

export const TEXTS = ["It listened. It cared.", "It did not.", "Only facts.", "So kind 👍🏽 of it.", "No.", "Yes."];

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
  sessions.splice(0).forEach((session) => session.close());
  shelf().clear();
}

export const press = (session: Session, id: string) => session.toggle(session.book.codes.value.get(id)!);
export const place = (session: Session) => session.unit.value?.place ?? null;
/** The codes on screen, with a question mark while they are pending. */
export const shown = (session: Session) =>
  session.unit.value?.codings.map(({ code, pending }) => code + (pending ? "?" : ""));
