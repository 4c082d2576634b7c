// What is typed and not saved, on its way to the kernel: the latest alone, after a pause, one at a time.

const PAUSE_MS = 400;

/** One at a time, because a message that was lost and is sent again must not overtake a later one. */
export class Keeper<Kept> {
  #timer: ReturnType<typeof setTimeout> | undefined;
  #waiting: Kept | null = null;
  #isUnderWay = false;

  constructor(private readonly send: (kept: Kept) => void) {
    addEventListener("pagehide", this.flush);
  }

  keep(kept: Kept): void {
    this.#waiting = kept;
    if (!this.#isUnderWay) this.#timer ??= setTimeout(this.flush, PAUSE_MS);
  }

  /** The last one was answered, either way. */
  answered(): void {
    this.#isUnderWay = false;
    if (this.#waiting !== null) this.keep(this.#waiting);
  }

  close(): void {
    removeEventListener("pagehide", this.flush);
    this.flush();
  }

  /** Send what waits at once: the page may be gone in a moment. */
  readonly flush = (): void => {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const kept = this.#waiting;
    if (kept === null) return;
    this.#waiting = null;
    this.#isUnderWay = true;
    this.send(kept);
  };
}

/**
 * What a page keeps of work that is begun, for the kernel that comes after this one: by the work that it
 * belongs to, never on a disk.
 */
export function kept<Begun>(what: string): Map<string, Begun> {
  const place = globalThis as { [name: symbol]: Map<string, Begun> | undefined };
  return (place[Symbol.for(`sense7_qual.${what}`)] ??= new Map());
}
