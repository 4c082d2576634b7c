// What one open view of the widget shows: a text and a code with the prompt and the answer, and how far the
// model is.
import { batch, computed, signal } from "@preact/signals";
import type { Model } from "../shared/channel";
import { WidgetSession } from "../shared/session";
import type { Answer, Question, Said, Shown, State, Told, Wanting, Where } from "./messages";
import { placeIn } from "../shared/words";

export class Session extends WidgetSession<Question, Answer, never, Told> {
  readonly model = signal("");
  readonly chats = signal(false);
  readonly n = signal(0);
  readonly state = signal<State | null>(null);
  /** The words of what would be sent that the person agreed to. */
  readonly agreed = signal("");
  readonly place = signal(0);
  readonly code = signal("");
  readonly #read = signal<Shown | null>(null);
  /** Null until the text is there that was asked for. */
  readonly shown = computed(() => {
    const read = this.#read.value;
    return read?.place === this.place.value && read.code === this.code.value ? read : null;
  });
  readonly codes = computed(() => this.book.list.value.filter(({ codable }) => codable));
  readonly showConversation = signal(false);
  /** The answers that are missing, while they are listed; and the marked one. */
  readonly missing = signal<readonly Wanting[] | null>(null);
  readonly cursor = signal(0);
  readonly rows = computed((): readonly Where[] => (this.missing.value ?? []).flatMap(({ texts }) => texts));
  readonly stopping = signal(false);
  /** Whether the model is asked, or what it said is recorded. */
  readonly #sent = signal(false);
  readonly busy = computed(() => this.#sent.value || !!this.state.value?.doing);
  readonly presses = this.queue();
  #tried: number | undefined;

  constructor(model: Model) {
    super(model);
    this.hear({
      answers: {
        welcome: answer => {
          batch(() => {
            this.coder.value = answer.coder;
            this.model.value = answer.model;
            this.chats.value = answer.chats;
            this.n.value = answer.n_texts;
            this.book.codebook.value = answer.codebook;
            this.agreed.value = "";
          });
          this.channel.takeOver(answer.work_id);
          this.open(this.place.value, this.code.value || (this.codes.value[0]?.id ?? ""));
        },
        text: answer => void (this.#read.value = answer),
        missing: ({ rows }) => {
          this.missing.value = rows;
          this.cursor.value = placeIn(this.rows.value.length, this.cursor.value);
        },
        begun: ({ places }) => {
          this.#tried = places[0];
          if (this.state.value?.doing !== "recording") this.say("Asking the model…");
          this.#sent.value = false;
        },
        stopping: () => void (this.stopping.value = this.busy.value),
      },
      unanswered: { try: () => this.#refused(), code: () => this.#refused(), record: () => this.#refused() },
      told: {
        state: told => this.#heardState(told),
        undone: ({ message }) => void (this.message.value = message),
      },
    });
    this.channel.ask({ type: "hello" });
  }

  /* ---- texts and codes ---- */

  open(place: number, code = this.code.value): void {
    const at = placeIn(this.n.value, place);
    batch(() => {
      this.place.value = at;
      this.code.value = code;
    });
    this.book.definition.ask(code);
    this.channel.ask({ type: "text", place: at, code });
  }

  go(by: 1 | -1): void {
    if (!this.missing.value) return this.open(this.place.value + by);
    this.cursor.value = placeIn(this.rows.value.length, this.cursor.value + by);
  }

  /** The next code (or the one before), going round. */
  nextCode(by: 1 | -1): void {
    const codes = this.codes.value;
    const at = codes.findIndex(({ id }) => id === this.code.value);
    const next = codes[(at + by + codes.length) % codes.length];
    if (next) this.open(this.place.value, next.id);
  }

  /* ---- what the model is asked ---- */

  agree(): void {
    const cost = this.state.value?.cost ?? "";
    if (!cost)
      return this.say(
        this.chats.value ? "Nothing is left to be sent" : "The widget was opened without a language model",
      );
    this.agreed.value = this.agreed.value ? "" : cost;
    this.say(this.agreed.value ? "Agreed" : "Not agreed: nothing is sent");
  }

  send(type: "try" | "code"): void {
    if (!this.chats.value) return this.say("The widget was opened without a language model");
    if (this.busy.value || !this.state.value?.ready) return this.say("Wait until it is done, or stop it (s)");
    if (!this.state.value.cost) return this.say("Everything was asked");
    if (!this.agreed.value) return this.say("Nothing is sent before you agree (x)");
    this.missing.value = null;
    this.#sent.value = true;
    this.channel.ask({ type, consent: this.agreed.value });
  }

  /** Nothing was begun: what was agreed to may be another thing by now. */
  #refused(): void {
    this.#sent.value = false;
    this.agreed.value = "";
  }

  stop(): void {
    if (this.state.value?.doing !== "trying" && this.state.value?.doing !== "coding")
      return this.say("There is nothing to stop");
    this.channel.ask({ type: "stop" });
  }

  record(): void {
    if (this.busy.value) return this.say("Wait until it is done");
    if (!this.state.value?.complete) return this.say("Code all texts first");
    this.#sent.value = true;
    this.channel.ask({ type: "record" });
  }

  /* ---- what is missing ---- */

  list(): void {
    if (this.missing.value) return void (this.missing.value = null);
    this.channel.ask({ type: "missing" });
  }

  openMissing(at = this.cursor.value): void {
    const row = this.rows.value[at];
    if (!row) return;
    this.cursor.value = at;
    this.missing.value = null;
    this.open(row.place, row.code);
  }

  #heardState(told: State): void {
    const before = this.state.value;
    batch(() => {
      this.state.value = told;
      if (told.doing === "") this.stopping.value = false;
    });
    if (before?.doing && !told.doing) this.#ended(before, told);
    else if (
      told.n_answers !== before?.n_answers &&
      this.shown.value &&
      !this.shown.value.hidden &&
      !this.shown.value.answer
    )
      this.open(this.place.value);
  }

  #ended(before: State, told: State): void {
    if (before.doing === "recording")
      this.say(told.recorded ? `Recorded as ${this.model.value}` : "Not recorded");
    else
      this.say(
        told.complete ? "Everything was asked" : `${told.n_answers} of ${told.n_prompts} prompts answered`,
      );
    this.open(before.doing === "trying" ? (this.#tried ?? this.place.value) : this.place.value);
    if (this.missing.value) this.channel.ask({ type: "missing" });
  }
}

/** A verdict as a sign, and in words. */
export const SIGNS: Readonly<Record<Said["verdict"] | "", readonly [string, string]>> = {
  yes: ["✓", "applies"],
  no: ["–", "does not apply"],
  missing: ["?", "missing"],
  "": ["", "not asked yet"],
};
