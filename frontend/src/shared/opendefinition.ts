// Whose definition is open: of the code under the mouse or the focus, or of one that is pinned.
import { computed, signal } from "@preact/signals";

/**
 * After this time on a code its definition opens; while the mouse moves towards the definition, only once it
 * rests.
 */
export const [HOVER_MS, REST_MS] = [80, 350];

export interface Point {
  x: number;
  y: number;
}

/** Code ids, all of them. */
export class OpenDefinition {
  readonly #asked = signal<string | null>(null);
  readonly pinned = signal<string | null>(null);
  /** Looked at while another is pinned, until the next press. */
  readonly #glimpsed = signal<string | null>(null);
  readonly id = computed(() => this.#glimpsed.value ?? this.pinned.value ?? this.#asked.value);
  #timer: ReturnType<typeof setTimeout> | undefined;
  #over: string | null = null;
  #last: Point | null = null;

  /** The code has the mouse, the focus, or was applied. */
  ask(id: string): void {
    clearTimeout(this.#timer);
    this.#asked.value = id;
  }

  /** The code's definition is wanted by its key: also while another is pinned. */
  glimpse(id: string): void {
    this.ask(id);
    if (this.pinned.value !== null) this.#glimpsed.value = id;
  }

  endGlimpse(): void {
    this.#glimpsed.value = null;
  }

  /** Pin the definition that is on screen, or unpin it. */
  togglePin(id: string): void {
    this.pinned.value = id === this.pinned.value ? null : id;
    this.#glimpsed.value = null;
    this.ask(id);
  }

  /** The mouse is at `point`, over the code (or over none); `panel` is where the definition stands. */
  hover(id: string | null, point: Point, panel: DOMRect | undefined): void {
    const towards = panel !== undefined && this.#last !== null && headsFor(this.#last, point, panel);
    const entered = id !== this.#over;
    [this.#over, this.#last] = [id, point];
    if ((!entered && !towards) || this.pinned.value !== null) return;
    clearTimeout(this.#timer);
    if (id !== null) this.#timer = setTimeout(() => this.ask(id), towards ? REST_MS : HOVER_MS);
  }

  /** The mouse left the codes: what it was about to open stays closed. */
  leave(): void {
    clearTimeout(this.#timer);
    [this.#over, this.#last] = [null, null];
  }
}

/**
 * Whether going on from `from` through `to` leads to the rectangle, so that what lies between is not meant.
 */
export function headsFor(
  from: Point,
  to: Point,
  { left, right, top, bottom }: Pick<DOMRect, "left" | "right" | "top" | "bottom">,
): boolean {
  const way = { x: to.x - from.x, y: to.y - from.y };
  if (way.x === 0 && way.y === 0) return false;
  // The part of the way's straight line (0 is `from`) that lies between two sides.
  const within = (at: number, by: number, low: number, high: number): [number, number] => {
    if (by === 0) return low <= at && at <= high ? [0, Infinity] : [1, 0];
    const [one, two] = [(low - at) / by, (high - at) / by];
    return [Math.min(one, two), Math.max(one, two)];
  };
  const [x, y] = [within(from.x, way.x, left, right), within(from.y, way.y, top, bottom)];
  return Math.max(x[0], y[0], 0) <= Math.min(x[1], y[1]);
}
