/** What travels between the browser and the kernel. Offsets are UTF-16 code units on this side. */

export type Valence = "met" | "unmet" | "mixed";

export interface Span {
  start: number;
  end: number;
}

export interface Coding {
  code: string;
  start: number | null;
  end: number | null;
  valence: Valence | null;
  confidence: "sure" | "unsure" | null;
  pending?: boolean;
}

export interface Memo {
  memo_id: string;
  text: string;
}

export interface Unit {
  place: number;
  unit_id: string;
  text: string;
  context: { role: string; text: string }[];
  rating: string | null;
  finished: boolean;
  codings: Coding[];
  memo: Memo | null;
}

export interface Code {
  id: string;
  label: string;
  definition: string;
  use_when: string[];
  avoid_when: string[];
  examples: string[];
  counter_examples: string[];
  parent: string | null;
  colour: string | null;
  codable: boolean;
  key: string | null;
}

export interface Codebook {
  title: string;
  version: string;
  valence: Valence[];
  codes: Code[];
}

/** A deed asks for one act; its `id` becomes the act's id, so sending it twice records it once. */
export interface Deed {
  id: string;
  kind: "apply" | "remove" | "finish" | "reopen" | "memo" | "undo" | "redo";
  unit_id?: string;
  code?: string;
  start?: number | null;
  end?: number | null;
  valence?: Valence | null;
  confidence?: "sure" | "unsure" | null;
  text?: string;
  memo_id?: string;
}

export interface Counts {
  flag: string;
  n_finished: number;
  can_undo: boolean;
  can_redo: boolean;
}

export type Welcome = {
  type: "welcome";
  coder: string;
  notice: string;
  outbox: string;
  codebook: Codebook;
  commands: Record<string, string>;
  flags: string;
  show_rating: boolean;
  unit: Unit | null;
} & Partial<Counts>;

export type Done = { type: "done"; kind: Deed["kind"]; unit: Unit; notice: string } & Counts;

export type Answer = { client: string; id: string } & (
  | Welcome
  | Done
  | { type: "unit"; unit: Unit; notice: string }
  | { type: "refused"; message: string }
  | { type: "failed"; message: string }
);

/** The part of an anywidget model that the widget uses. */
export interface Channel {
  send(content: unknown): void;
  on(event: "msg:custom", listener: (content: Answer) => void): void;
  off(event: "msg:custom", listener: (content: Answer) => void): void;
}

/** A version 4 UUID; `randomUUID` itself is missing on plain-HTTP servers. */
export function uuid(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
