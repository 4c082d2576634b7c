// What the widget of a model that codes asks the kernel, and what it is answered.
import type { Codebook, Turn } from "../shared/protocol";

/** What the model said of a text and a code; why it is missing, where it is. */
export interface Said {
  verdict: "yes" | "no" | "missing";
  why: string;
  start: number | null;
  end: number | null;
  reason: string;
}

/** A text with one of its prompts, as it is sent. */
export interface Shown {
  type: "text";
  place: number;
  code: string;
  unit_id: string;
  text: string;
  context: Turn[];
  messages: { role: string; content: string }[];
  /** Whether the person has yet to finish it: then nothing is told of the answers. */
  hidden: boolean;
  answer: Said | null;
  verdicts: Record<string, Said["verdict"] | "">;
}

export interface Where {
  place: number;
  unit_id: string;
  code: string;
}

/** Answers that are missing for one reason; those on texts that are yet to be finished are counted alone. */
export interface Wanting {
  reason: string;
  words: string;
  n: number;
  n_hidden: number;
  texts: Where[];
}

/** How far it is. */
export interface State {
  type: "state";
  ready: boolean;
  doing: "" | "trying" | "coding" | "recording";
  done: number;
  total: number;
  n_prompts: number;
  n_answers: number;
  n_hidden: number;
  n_missing: number;
  n_tokens: number;
  /** What would be sent where. */
  cost: string;
  complete: boolean;
  recorded: boolean;
}

/** What the kernel tells all views. */
export type Told = State | { type: "undone"; message: string };

export type Question =
  | { type: "hello" | "missing" | "stop" | "record" }
  | { type: "text"; place: number; code: string }
  | { type: "try" | "code"; consent: string };

export interface Welcome {
  type: "welcome";
  coder: string;
  work_id: string;
  model: string;
  chats: boolean;
  n_texts: number;
  codebook: Codebook;
}

export type Answer =
  | Welcome
  | Shown
  | { type: "missing"; rows: Wanting[] }
  | { type: "begun"; places: number[] }
  | { type: "stopping" };
