// Memos: on the text on screen, on words of it, on a code, on the study; one's own, or for the team.
import { computed, signal } from "@preact/signals";
import type { Act, Code, Span } from "../shared/protocol";
import { sameSpan } from "../shared/spans";
import type { Host } from "./host";
import type { FreeMemo, Memo, MemoRow, Unit } from "./messages";

/** What a memo is about, with the memo that stands there; `unit` for a text or words of it. */
export interface About {
  on: "unit" | "span" | "code" | "study";
  unit: Unit | null;
  span: Span | null;
  code: string | null;
  memo: Memo | null;
  answers?: MemoRow;
}

type Press = Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey">;

export class Memos {
  readonly #host: Pick<Host, "waiting" | "do" | "say" | "focus">;
  /** The round whose unblinding shows the team's memos to the others; null outside of one. */
  readonly round = signal<string | null>(null);
  /** What the kernel last said of the memos on codes and on the study. */
  readonly known = signal<readonly FreeMemo[]>([]);
  /** The same, with those on their way. */
  readonly free = computed(() => this.#host.waiting.value.reduce(withFree, this.known.value));
  /** What the form is about; null while there is none. */
  readonly open = signal<About | null>(null);
  readonly draft = signal("");
  readonly team = signal(false);

  constructor(host: Pick<Host, "waiting" | "do" | "say" | "focus">) {
    this.#host = host;
  }

  ofCode(code: string): FreeMemo | null {
    return this.free.value.find(memo => memo.on === "code" && memo.code === code) ?? null;
  }

  onSpan(unit: Unit, span: Span): void {
    const memo = unit.memos.find(one => sameSpan(one, span)) ?? null;
    this.#edit({ on: "span", unit, span, code: null, memo });
  }

  /** Answer a colleague's memo for the team. */
  answer(unit: Unit, answers: MemoRow): void {
    this.#edit({ on: "unit", unit, span: null, code: null, memo: null, answers });
    this.team.value = true;
  }

  onCode({ id }: Code): void {
    this.#edit({ on: "code", unit: null, span: null, code: id, memo: this.ofCode(id) });
  }

  /** Write a line beneath what the memo on the code says, or a memo of it. */
  addLine(code: string, line: string): void {
    const memo = this.ofCode(code);
    if (memo?.text.split("\n").includes(line)) return;
    const text = memo ? `${memo.text.trimEnd()}\n${line}` : line;
    this.save({ on: "code", unit: null, span: null, code, memo }, text, memo?.team ?? false);
  }

  onStudy(): void {
    const memo = this.free.value.find(({ on }) => on === "study") ?? null;
    this.#edit({ on: "study", unit: null, span: null, code: null, memo });
  }

  #edit(about: About): void {
    this.keep();
    this.draft.value = about.memo?.text ?? "";
    this.team.value = about.memo?.team ?? false;
    this.open.value = about;
  }

  /** A key that was pressed before the form was on the screen. */
  typed({ key, ctrlKey, metaKey }: Press): void {
    if (key === "Escape") return this.close();
    if (key === "Enter" && (ctrlKey || metaKey)) return this.close();
    if (key === "Backspace") this.draft.value = this.draft.value.slice(0, -1);
    else if (key === "Enter") this.draft.value += "\n";
    else if (key.length === 1 && !ctrlKey && !metaKey) this.draft.value += key;
  }

  /** Close the form and save what was written. */
  close(): void {
    if (!this.open.value) return;
    this.keep();
    this.#host.focus(".s7");
  }

  /** Close the form; what stood before stays. */
  discard(): void {
    this.open.value = null;
    this.#host.focus(".s7");
  }

  end(): void {
    this.draft.value = "";
    this.close();
    this.#host.say("Memo ended");
  }

  /** Close the form, from which the person went elsewhere, and save what was written. */
  keep(): void {
    const about = this.open.value;
    if (!about) return;
    this.open.value = null;
    if (this.save(about, this.draft.value, this.team.value)) this.#host.say("Memo saved");
  }

  /** Record the memo as it is now; false where nothing changed. A memo stays one's own, or the team's: it is
   * shared, or no more so, by another in its place. */
  save({ on, unit, span, code, memo, answers }: About, written: string, team: boolean): boolean {
    const text = written.trim();
    const moves = !!memo && !!text && team !== (memo.team ?? false);
    if (text === (memo?.text ?? "").trim() && !moves) return false;
    const about = {
      kind: "memo" as const,
      target_kind: on,
      ...(span ?? {}),
      ...(code !== null ? { code } : {}),
      ...(answers ? { answers: answers.memo_id } : {}),
    };
    if (moves) this.#host.do({ ...about, text: "", memo_id: memo.memo_id }, unit);
    const which = memo && !moves ? { memo_id: memo.memo_id } : {};
    this.#host.do({ ...about, text, ...which, ...(team ? { team } : {}) }, unit);
    return true;
  }
}

/** The memos on codes and on the study as they will stand once `act` is recorded. */
function withFree(memos: readonly FreeMemo[], act: Act): readonly FreeMemo[] {
  if (act.kind !== "memo" || (act.target_kind !== "code" && act.target_kind !== "study")) return memos;
  const memo: FreeMemo = {
    on: act.target_kind,
    code: act.code ?? null,
    memo_id: act.memo_id ?? act.id,
    text: act.text ?? "",
    team: act.team ?? false,
  };
  return [...memos.filter(({ memo_id }) => memo_id !== memo.memo_id), ...(memo.text ? [memo] : [])];
}
