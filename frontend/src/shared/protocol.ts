// What every widget's messages are made of. Offsets are UTF-16 code units on this side, code points in the record.

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

/** A text and what is coded on it. */
export interface CodedText {
  unit_id: string;
  text: string;
  codings: Coding[];
}

/** A turn of the conversation before a text. */
export interface Turn {
  role: string;
  text: string;
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

/** A version 4 UUID; `randomUUID` itself is missing on plain-HTTP servers. */
export function uuid(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
