// The line to the kernel: questions are asked until they are answered, acts sent until they are recorded; and
// whether
// there is a kernel that hears of it.
import { signal, type ReadonlySignal } from "@preact/signals";
import { Outbox, PATIENCE_MS, shelf } from "./outbox";
import { uuid } from "./protocol";

/**
 * What the kernel says, to all views at once: `id` is that of the question or act, `client` the view it came
 * from,
 * null where no view asked.
 */
export interface Reply {
  client: string | null;
  id: string;
  /**
   * "done" for a recorded act, "refused" or "failed" with a message, or else an answer of the widget's own.
   */
  type: string;
  message?: string;
}

/** The part of an anywidget model that the widgets use. */
export interface Model {
  send(content: unknown): void;
  on(event: "msg:custom", listener: (reply: Reply) => void): void;
  off(event: "msg:custom", listener: (reply: Reply) => void): void;
  widget_manager?: Host;
}

/** What is known of one view's end of the line. */
export interface Line {
  readonly outbox: Outbox;
  /** Whether a question waits for longer than usual. */
  readonly slow: ReadonlySignal<boolean>;
  /** Whether no kernel hears of it any more: the model is dead, or another kernel is in its place. */
  readonly cut: ReadonlySignal<boolean>;
}

/** What a widget makes of the kernel's replies. */
export interface Listener<Question, Answer, Done> {
  /** An answer to this view; the question is undefined where it was answered before. */
  answered(answer: Answer, question: Question | undefined): void;
  unanswered(question: Question, message: string): void;
  /** An act of any view stands in the record; `settled` where this view waited for it. */
  recorded(done: Done, from: { mine: boolean; settled: boolean }): void;
  /** An act of this view will never be recorded, nor the `dropped` ones after it that built on it. */
  refused(message: string, unit_id: string | undefined, dropped: number): void;
  /** The kernel says something to all views that none of them asked. */
  told?(reply: Reply): void;
  /** Saving failed, and why; null once it is saved. */
  unsaved(message: string | null): void;
}

/**
 * Whether Jupyter runs on the computer of the browser. Its server sends “busy” and then the answer, and a
 * computer that
 * sends to itself holds back what is less than 64 KB until it hears that the message before it came (Nagle's
 * algorithm),
 * which it delays by up to 40 ms, or 200 on some systems. So the kernel is asked to fill up an answer that a
 * person waits for.
 */
const isLocal = () => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(location.hostname);

/** One view's end of the line. */
export class KernelChannel<Question extends object, Answer, Done> implements Line {
  readonly outbox = new Outbox(act => this.#send({ type: "act", id: act.id, act }));
  readonly slow = signal(false);
  readonly cut = signal(false);
  readonly #client = uuid();
  readonly #asked = new Map<string, { question: Question; timer: ReturnType<typeof setTimeout> }>();
  #workId = "";
  readonly #watch: KernelWatch;

  readonly #model: Model;
  readonly #listener: Listener<Question, Answer, Done>;

  constructor(model: Model, listener: Listener<Question, Answer, Done>) {
    [this.#model, this.#listener] = [model, listener];
    this.#watch = new KernelWatch(model, () => (this.cut.value = true));
    model.on("msg:custom", this.#hear);
  }

  /** Stop listening; what is not recorded yet is left for the next view of the same work. */
  close(): void {
    this.#model.off("msg:custom", this.#hear);
    this.#watch.close();
    this.#asked.forEach(({ timer }) => clearTimeout(timer));
    const unsent = this.outbox.close();
    if (unsent.length && this.#workId) shelf().set(this.#workId, unsent);
  }

  /** `isAwaited`: a person waits for the answer. */
  ask(question: Question, isAwaited = true, id = uuid()): void {
    this.#send({ ...question, id }, isAwaited);
    // A question can be lost while a kernel is busy or restarting; asking again does no harm.
    const again = () => {
      this.slow.value = true;
      this.ask(question, isAwaited, id);
    };
    this.#asked.set(id, { question, timer: setTimeout(again, PATIENCE_MS) });
  }

  /** Send what an earlier view of the work called `workId` left unsent. */
  takeOver(workId: string): void {
    this.#workId = workId;
    const unsent = shelf().get(workId) ?? [];
    shelf().delete(workId);
    this.outbox.push(...unsent);
  }

  /** The work has another name from here on: its codebook was changed. */
  rename(workId: string): void {
    this.#workId = workId;
  }

  /**
   * Send a message; once the kernel was restarted by this host, the model is dead and says so by throwing.
   */
  #send(message: object, isAwaited = true): void {
    const fill = isAwaited && isLocal() ? { fill: true } : {};
    const unheard = this.#watch.sent();
    try {
      this.#model.send({ ...message, ...fill, client: this.#client });
      this.cut.value = unheard;
    } catch {
      this.cut.value = true;
    }
  }

  readonly #hear = (reply: Reply): void => {
    this.#watch.heard();
    this.cut.value = false;
    const mine = reply.client === this.#client;
    const question = mine ? this.#takeQuestion(reply.id) : undefined;
    if (reply.type === "done") this.#heardDone(reply as Reply & Done, mine);
    else if (reply.client === null) this.#listener.told?.(reply);
    else if (!mine) return;
    else if (reply.type === "refused" || reply.type === "failed") this.#heardNo(reply, question);
    else this.#listener.answered(reply as Reply & Answer, question);
  };

  /** The question that waited for this answer, which it does no more. */
  #takeQuestion(id: string): Question | undefined {
    const awaited = this.#asked.get(id);
    if (!awaited) return undefined;
    clearTimeout(awaited.timer);
    this.#asked.delete(id);
    this.slow.value = false;
    return awaited.question;
  }

  #heardDone(done: Reply & Done, mine: boolean): void {
    const failedBefore = this.outbox.failed.value;
    const settled = mine && this.outbox.settle(done.id);
    if (settled && failedBefore) this.#listener.unsaved(null);
    this.#listener.recorded(done, { mine, settled });
  }

  #heardNo({ type, id, message = "" }: Reply, question: Question | undefined): void {
    if (question) return this.#listener.unanswered(question, message);
    if (type === "failed") {
      this.#listener.unsaved(message);
      return this.outbox.fail(id);
    }
    const unit_id = this.outbox.waiting.value.find(act => act.id === id)?.unit_id;
    this.#listener.refused(message, unit_id, this.outbox.refuse(id));
  }
}

/** A kernel that is idle for so long and answers nothing does not know the widget: it was restarted. */
export const SILENCE_MS = 30_000;

/**
 * What the host says first of a kernel that it restarts, that it found dead, and that another page restarted.
 */
const STARTS = ["restarting", "autorestarting", "starting"];

type Heard = (kernel: unknown, status: string) => void;

/** What the host says of its kernel; JupyterLab's widget manager has it, others may not. */
export interface Host {
  kernel?: {
    status?: string;
    connectionStatus?: string;
    statusChanged?: { connect(heard: Heard): void; disconnect(heard: Heard): void };
    commsOverSubshells?: string;
    reconnect?(): Promise<void>;
  } | null;
  get_model?(id: string): Promise<Model>;
}

/** Tells a kernel that is busy from one that is gone, by what the host says of it. */
export class KernelWatch {
  #idleSince: number | null = null;
  /** Whether the kernel is another one, until something is heard after all. */
  #replaced = false;
  readonly #kernel: Host["kernel"];

  /** `gone` is called when the kernel was restarted. */
  constructor(
    model: Model,
    private readonly gone: () => void,
  ) {
    this.#kernel = model.widget_manager?.kernel;
    this.#kernel?.statusChanged?.connect(this.#changed);
    addEventListener("s7-answers", this.#reconnect);
  }

  close(): void {
    removeEventListener("s7-answers", this.#reconnect);
    this.#kernel?.statusChanged?.disconnect(this.#changed);
  }

  /** Something is sent; return whether there is nobody who would hear it. */
  sent(): boolean {
    const { status, connectionStatus } = this.#kernel ?? {};
    if (status !== "idle") this.#idleSince = null;
    else this.#idleSince ??= Date.now();
    this.#replaced ||= this.#idleSince !== null && Date.now() - this.#idleSince >= SILENCE_MS;
    return this.#replaced || status === "dead" || connectionStatus === "disconnected";
  }

  heard(): void {
    this.#idleSince = null;
    this.#replaced = false;
  }

  /** The page's server answers: the host itself tries ever more seldom, and gives up after two minutes. */
  readonly #reconnect = (): void => {
    if (this.#kernel?.connectionStatus !== "connected") this.#kernel?.reconnect?.().catch(() => undefined);
  };

  readonly #changed: Heard = (_, status) => {
    if (!STARTS.includes(status)) return;
    this.close();
    if (status === "starting") this.#doWithoutSubshells();
    this.#replaced = true;
    this.gone();
  };

  /**
   * A restart that JupyterLab did not ask for itself: it would go on sending to a subshell of the kernel
   * before, which
   * this one does not have, also what the widget of a cell that is run again says. Widgets made from now on
   * have none.
   */
  #doWithoutSubshells(): void {
    if (this.#kernel && "commsOverSubshells" in this.#kernel) this.#kernel.commsOverSubshells = "disabled";
  }
}
