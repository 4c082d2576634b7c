// Which texts are listed, in which order: where a text stands among them, and which come next.

/** The places of all texts in one order, and the rank of each place in it. */
export interface Order {
  places: Uint32Array;
  ranks: Uint32Array;
}

export function bytes(base64: string): Uint8Array<ArrayBuffer> {
  const letters = atob(base64);
  const found = new Uint8Array(letters.length);
  for (let at = 0; at < found.length; at++) found[at] = letters.charCodeAt(at);
  return found;
}

export function orderOf(base64: string): Order {
  const places = new Uint32Array(bytes(base64).buffer);
  const ranks = new Uint32Array(places.length);
  places.forEach((place, rank) => (ranks[place] = rank));
  return { places, ranks };
}

export const isSet = (bits: Uint8Array | null, place: number) =>
  bits === null || ((bits[place >> 3]! >> (place & 7)) & 1) === 1;

/** Texts in an order, of which some are left out; those that no longer fit can stay in their place. */
export class Listing {
  readonly length: number;
  readonly #places: Uint32Array | null;

  constructor(
    total: number,
    /** Null for the order of the plan. */
    private readonly order: Order | null = null,
    /** How many fit, and for each text whether it is among them; null for all. */
    readonly n = total,
    readonly fits: Uint8Array | null = null,
    private readonly kept: Uint8Array | null = fits,
  ) {
    const listed = (place: number) => isSet(kept, place);
    if (order) this.#places = kept ? order.places.filter(listed) : order.places;
    else this.#places = kept ? inPlan(total, listed) : null;
    this.length = this.#places?.length ?? total;
  }

  /** The same listing as it is asked for again, with what is in it and fits no more. */
  renewed(total: number, n: number, fits: Uint8Array | null): Listing {
    const kept = fits && this.kept && fits.map((byte, at) => byte | this.kept![at]!);
    return new Listing(total, this.order, n, fits, kept);
  }

  at(index: number): number | undefined {
    return this.#places ? this.#places[index] : index >= 0 && index < this.length ? index : undefined;
  }

  has(place: number): boolean {
    return isSet(this.kept, place);
  }

  /** Where the text stands in the list, or would stand were it in it. */
  indexOf(place: number): number {
    if (!this.#places) return place;
    const rank = (one: number) => (this.order ? this.order.ranks[one]! : one);
    let [low, high] = [0, this.#places.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (rank(this.#places[middle]!) < rank(place)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The text before or after this one; undefined at the ends. */
  beside(place: number, by: number): number | undefined {
    return this.at(this.indexOf(place) + (by > 0 && !this.has(place) ? by - 1 : by));
  }

  /** The texts behind this one; then, to go round, those from the top up to it. */
  *after(place: number, goesRound: boolean): Generator<number> {
    const first = place < 0 ? 0 : this.indexOf(place) + (this.has(place) ? 1 : 0);
    for (let index = first; index < this.length; index++) yield this.at(index)!;
    for (let index = 0; goesRound && index < first; index++) yield this.at(index)!;
  }
}

function inPlan(total: number, listed: (place: number) => boolean): Uint32Array {
  const places = new Uint32Array(total);
  let n = 0;
  for (let place = 0; place < total; place++) if (listed(place)) places[n++] = place;
  return places.subarray(0, n);
}
