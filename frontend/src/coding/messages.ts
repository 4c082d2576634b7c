// What the coding widget asks the kernel, and what it is answered.
import type { Codebook, CodedText, Act, Coding, Sign, Span, Turn } from "../shared/protocol";

/** Which texts are asked for, in which order; what is empty or null chooses nothing. */
export interface Query {
  find: string;
  state: "" | "unfinished" | "begun" | "unsure" | "memo" | "review" | "differs";
  code: string | null;
  rating: string | null;
  group: { by: GroupBy; name: string } | null;
  conditions: Record<string, string>;
  order: "plan" | "document" | "random";
}

export type GroupBy = "case_id" | "document_id";

/** A question of the list of texts; of ratings only where they are on screen (`show_rating`). */
export type ListQuestion =
  | { type: "choices"; show_rating: boolean }
  | ({ type: "list"; show_rating: boolean; here: number | null; with_order: boolean } & Query)
  | { type: "rows"; places: number[]; find: string; show_rating: boolean }
  | { type: "progress"; by: GroupBy };

/**
 * A question of the survey grid: how the view is to begin next time, and rows with the variables that are
 * shown.
 */
export type GridQuestion =
  | { type: "layout"; layout: "text" | "grid" }
  | { type: "grid"; places: number[]; variables: string[] };

/** A row of the survey grid: the text, its variables, and the codes to review it for. */
export interface GridRow {
  unit: Unit;
  variables: Record<string, string | null>;
  review: string[] | null;
}

/** Which variables may be shown, and whether there are ratings; or rows. */
export type GridAnswer =
  | { type: "layout"; variables: string[]; has_rating: boolean }
  | { type: "grid"; rows: GridRow[] };

/** A page of the memos that fit, from the `first` on; `fresh`: with the team's as they are now. */
export interface MemoQuestion {
  type: "memos";
  find: string;
  on: "" | "unit" | "span" | "code" | "study";
  code: string | null;
  first: number;
  fresh: boolean;
}

export interface MemoRow extends Memo {
  on: "unit" | "span" | "code" | "study";
  code: string | null;
  start: number | null;
  end: number | null;
  coder: string;
  own: boolean;
  at: string;
  /** The memo that it answers. */
  answers: string | null;
  unit_id: string | null;
  /** Of the text, where it is among those that are coded here. */
  place: number | null;
  /** The beginning of the words that it is about. */
  words: string;
}

export interface MemoAnswer {
  type: "memos";
  n: number;
  n_all: number;
  first: number;
  rows: MemoRow[];
}

/** A page of one's own passages of a code, newest first, from the `first` on. */
export interface PassageQuestion {
  type: "passages";
  code: string;
  find: string;
  first: number;
}

/** `words`: before, at and after the passage, cut where it is long. */
export interface PassageRow extends Coding {
  place: number;
  unit_id: string;
  words: [string, string, string];
}

export interface PassageAnswer {
  type: "passages";
  code: string;
  n: number;
  n_all: number;
  first: number;
  rows: PassageRow[];
}

/** Where the words of the list are in one text; and in all of its texts. */
export type HitsQuestion =
  | ({ type: "hits"; show_rating: boolean; place: number } & Query)
  | ({ type: "all_hits"; show_rating: boolean } & Query);

/** The nearest hit in another text. */
export interface Hit {
  place: number;
  span: [number, number];
}

/** A text in which something was found, and what is coded on it. */
export interface FoundText {
  place: number;
  unit_id: string;
  text: string;
  finished: boolean;
  codings: Coding[];
  spans: [number, number][];
}

export type HitsAnswer =
  | { type: "hits"; place: number; spans: [number, number][]; before: Hit | null; after: Hit | null }
  | { type: "all_hits"; rows: FoundText[] };

/** A page of what was done, the newest first, from the `first` on. */
export interface HistoryQuestion {
  type: "history";
  scope: "sitting" | "text" | "all";
  unit_id?: string;
  first: number;
}

export interface HistoryRow {
  act_id: string;
  kind: Act["kind"];
  at: string;
  unit_id: string | null;
  place: number | null;
  code: string | null;
  /** What a memo is on. */
  on: "unit" | "span" | "code" | "study" | null;
  start: number | null;
  end: number | null;
  quote: string;
  /** Of a coding whose edges were corrected: the words before. */
  moved_from: string | null;
  /** How many other codings of these words were moved together with it. */
  also: number;
  /** Of hits of a search that were coded at once: how many. */
  found: number;
  facets: Record<string, string>;
  unsure: boolean;
  /** Of a memo, or the name of a proposed code. */
  words: string;
  /** "fixed": of another round. */
  state: "stands" | "undone" | "fixed";
  taken_back: string | null;
}

/** `times`: of all acts, in seconds, as 32-bit numbers in base64; with the first page alone. */
export interface HistoryAnswer {
  type: "history";
  n: number;
  first: number;
  times: string | null;
  rows: HistoryRow[];
}

/** The acts that going back would take back, the newest first. */
export interface BackAnswer {
  type: "back";
  act_id: string;
  ids: string[];
  n_texts: number;
}

/** A question of the form for a new code. */
export type NewCodeQuestion =
  | { type: "alike"; label: string; definition: string }
  | {
      type: "add_code";
      label: string;
      definition: string;
      unit_id: string;
      start: number | null;
      end: number | null;
      example: boolean;
    };

export type NewCodeAnswer =
  | { type: "alike"; codes: { id: string; how: "words" | "meaning" }[]; note: string }
  /** `came`: what colleagues changed meanwhile, in words. */
  | { type: "added"; code: string; label: string; came: string };

/** Go on with the study's current codebook; `agreed` is the version whose effects the coder has seen. */
export interface TakeQuestion {
  type: "take_codebook";
  agreed: string | null;
}

/**
 * What changed (nothing where it was taken in already); or what a version means for one's codings, before
 * that.
 */
export type TakeAnswer = { type: "taken"; words: string } | { type: "newer"; under: string; words: string[] };

/** Whether colleagues' codings in this round may be seen; null where there is no round. */
export type RoundState = "open" | "blind" | null;

/** Who coded in this round, and their codings of the text at a place. */
export type ColleaguesQuestion = { type: "colleagues" } | { type: "beside"; place: number };

export type ColleaguesAnswer =
  | { type: "colleagues"; state: RoundState; names: string[] }
  | { type: "beside"; place: number; coders: Beside[] };

/** A colleague's codings on a text; without signs where one of the two has not finished it. */
export interface Beside {
  coder: string;
  finished: boolean;
  codings: Coding[];
  signs: Record<string, Sign>;
}

/** How one's decision on a code differs from gold. */
export type Differs = "same" | "missed" | "added";

/** How far one is in a round of training; `words` say the verdict, where there is one. */
export interface TrainingProgress {
  n: number;
  most: number;
  kappa: string;
  verdict: "pass" | "fail" | "go on";
  words: string;
}

/** `counts`: of each code how often it was right, missed and added so far. */
export interface Feedback {
  type: "feedback";
  place: number;
  rows: { code: string; state: Differs }[];
  counts: Record<string, [number, number, number]>;
  progress: TrainingProgress;
}

/**
 * What a coder made of a suggestion: "agreed" where they had coded it before they saw it, "withdrawn" where
 * they no longer do.
 */
export type SuggestionState = "agreed" | "accepted" | "edited" | "rejected" | "withdrawn" | "none";

/** A code that a model suggests, on the words that carry it or (null) on the whole text. */
export interface Suggestion {
  code: string;
  probability: number | null;
  start: number | null;
  end: number | null;
  state: SuggestionState;
}

/** What was shown of a text; `withheld`: by chance it has no suggestions. */
export interface ShownSuggestions {
  withheld: boolean;
  rows: Suggestion[];
}

/**
 * `quotes`: of each code the words that this coder coded so and that are nearest. `absent`: the codes to dim.
 */
export type SuggestionsAnswer = { type: "suggestions"; place: number } & (
  | { state: "waiting" }
  | { state: "failed"; message: string }
  | { state: "shown"; unit: Unit; quotes: Record<string, string[]>; absent: string[] }
);

/**
 * What the inbox lists, after the news that was opened (`read`); and the questions on texts to look at again.
 */
export type InboxQuestion =
  | { type: "inbox"; read: string | null }
  | { type: "open_round"; round: string | null }
  | { type: "again"; of: "stale" | "new" };

/** The rule of a code as it was and is; `of`: the codes that were split into it. */
export interface Rule {
  code: string;
  what: string;
  of: string[];
  /** The words in both wordings ("="), those that are gone and those that are new. */
  parts: { name: string; words: ["=" | "-" | "+", string][] }[];
}

/** Something that waits; news is read once. */
export interface InboxItem {
  id: string;
  what: "newer" | "again" | "earlier" | "new" | "reworded" | "answer" | "discussion" | "training" | "round";
  title: string;
  more: string;
  is_news: boolean;
  n?: number;
  rule?: Rule;
  /** Of an answer: the place of the text, where it is coded here. */
  place?: number | null;
  /** Whether it is about the round that is coded here. */
  here?: boolean;
  /** Which round it opens; null: the texts outside rounds. */
  round?: string | null;
  /**
   * Of texts finished before these codes existed: the line of a memo on a code by which they stay undecided.
   */
  codes?: string[];
  no?: string;
}

/** `steps`: a text, and which of the rules is asked about; `under`: the version of the codebook. */
export interface Again {
  steps: [number, number][];
  rules: Rule[];
  under: string;
}

export type InboxAnswer =
  | { type: "inbox"; items: InboxItem[] }
  | { type: "opened_round"; model: string }
  | ({ type: "again" } & Again);

/**
 * Of the codebook: whether a newer one can be loaded; `n_review`: how many texts are to be looked at again.
 */
export interface Notice {
  newer: boolean;
  n_review: number;
}

/** `under` is the codebook's fingerprint, `flags` how far each text is under it. */
export interface OfTheCodebook extends Notice {
  work_id: string;
  codebook: Codebook;
  under: string;
  flags: string;
  n_finished: number;
}

/**
 * What the same coder did in another window came into this one: in words, on which texts, and what it
 * changed.
 */
export type Elsewhere = {
  type: "elsewhere";
  words: string;
  places: number[];
  flags: string;
  memos: FreeMemo[];
} & Notice &
  Omit<Counts, "flag">;

/** What the kernel says to all views, asked by none. */
export type Told =
  | Elsewhere
  | { type: "goto"; place: number }
  | { type: "suggested"; place: number }
  | ({ type: "codebook" } & OfTheCodebook);

/**
 * `peek` fetches a unit without going there. `feedback` is asked of finished texts alone; that `suggestions`
 * are shown is
 * recorded before they are sent; `back` asks which acts going back to one would undo.
 */
export type Question =
  | { type: "hello" }
  | { type: "unit"; place: number; peek?: boolean }
  | { type: "feedback" | "suggestions"; place: number }
  | { type: "back"; act_id: string }
  | ListQuestion
  | GridQuestion
  | NewCodeQuestion
  | TakeQuestion
  | ColleaguesQuestion
  | MemoQuestion
  | HistoryQuestion
  | InboxQuestion
  | PassageQuestion
  | HitsQuestion;

/** What the list shows of a text: its first words, or before, at and after what was looked for. */
export interface Row {
  place: number;
  unit_id: string;
  words: [string, string, string];
  memo: boolean;
  unsure: boolean;
  rating: string | null;
  /** The codes to review it for; null if it needs no review. */
  review: string[] | null;
}

/** By what texts can be chosen. */
export interface Choices {
  conditions: { name: string; values: string[] }[];
  ratings: string[];
  groups: GroupBy[];
}

/** Name, number of texts, number of those that are finished. */
export type Group = [string, number, number];

export type ListAnswer =
  | ({ type: "choices" } & Choices)
  /**
   * `bits`: for each text whether it fits, in base64, null for all; `order`: places as 32-bit numbers in
   * base64.
   */
  | { type: "list"; n: number; bits: string | null; order: string | null; rows: Row[] }
  | { type: "rows"; rows: Row[] }
  | { type: "progress"; groups: Group[] };

/** The kernel says what each is about; the page knows that from where the memo is shown. */
export interface Memo {
  memo_id: string;
  text: string;
  /** Whether the others see it once its round is unblinded. */
  team?: boolean;
  on?: "unit" | "span" | "code" | "study";
  code?: string | null;
  start?: number | null;
  end?: number | null;
}

/** A memo on some words of a text. */
export interface SpanMemo extends Omit<Memo, "start" | "end">, Span {}

/** A memo on a code, or on the study. */
export interface FreeMemo extends Memo {
  on: "code" | "study";
  code: string | null;
}

export interface Unit extends CodedText {
  place: number;
  context: Turn[];
  rating: string | null;
  finished: boolean;
  memo: Memo | null;
  memos: SpanMemo[];
  /** What a model suggested for it, where that was shown. */
  suggestions?: ShownSuggestions | null;
  /** How many acts on it made what is shown. */
  n_acts: number;
}

/** What a recorded act may change besides its unit; `flag` is the unit's letter in `flags`. */
export interface Counts {
  flag: string;
  n_finished: number;
  can_undo: boolean;
  can_redo: boolean;
}

/** The answer to the first question: all that the widget needs to begin. */
export type Welcome = {
  type: "welcome";
  coder: string;
  new_codes: "add" | "propose";
  commands: Record<string, string>;
  show_rating: boolean | "finished";
  colleagues?: RoundState;
  layout: "text" | "grid";
  /** Whether it begins with the texts to look at again. */
  again: boolean;
  training?: TrainingProgress | null;
  /**
   * When suggestions are shown of a text: once it is finished, or from the start; null where they are not.
   */
  suggest?: "finished" | "shown" | null;
  round: string | null;
  /** On codes and on the study. */
  memos: FreeMemo[];
  unit: Unit | null;
} & OfTheCodebook &
  Partial<Counts>;

export type Answer =
  | Welcome
  | ({ type: "unit"; unit: Unit } & Notice)
  | ListAnswer
  | GridAnswer
  | NewCodeAnswer
  | TakeAnswer
  | ColleaguesAnswer
  | Feedback
  | SuggestionsAnswer
  | MemoAnswer
  | HistoryAnswer
  | BackAnswer
  | InboxAnswer
  | PassageAnswer
  | HitsAnswer;

/**
 * An act of this or another view was recorded: its unit as it is now, or for an act on no text, the `memos`.
 */
export type Done = { type: "done"; kind: Act["kind"]; unit: Unit; memos?: FreeMemo[] } & Notice & Counts;
