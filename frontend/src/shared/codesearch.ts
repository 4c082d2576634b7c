// Finding a code by a letter or two: which codes match, the best first, and which of them Enter takes.
import { computed, signal, type ReadonlySignal } from "@preact/signals";
import type { Code } from "./protocol";
import { placeIn } from "./words";

const MOST_RESULTS = 100;
const MOST_ABOVE = 5;

/** A code's names as they are searched; `above` are the labels of the codes that it stands under. */
interface Names {
  code: Code;
  label: string;
  words: string[];
  initials: string;
  id: string;
  above: string;
  definition: string;
}

/** Lower case, and letters without their accents. */
const plain = (text: string) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().trim();
const wordsOf = (text: string) => text.match(/[\p{L}\p{N}]+/gu) ?? [];

function names(code: Code, codes: ReadonlyMap<string, Code>): Names {
  const above: string[] = [];
  for (let id = code.parent; id && above.length < MOST_ABOVE; id = codes.get(id)?.parent ?? null)
    above.push(codes.get(id)?.label ?? "");
  const label = plain(code.label);
  const words = wordsOf(label);
  const initials = words.map(word => [...word][0]).join("");
  return {
    code,
    label,
    words,
    initials,
    id: plain(code.id),
    above: plain(above.join(" ")),
    definition: plain(code.definition),
  };
}

/** How well the code is called so: 0 is best, Infinity not at all. */
function rank(code: Names, wanted: string): number {
  const parts = wordsOf(wanted);
  let next = 0;
  for (const word of code.words) if (next < parts.length && word.startsWith(parts[next]!)) next++;
  const beginnings = parts.length > 0 && next === parts.length;
  const tests = [
    code.label === wanted || code.id === wanted,
    code.label.startsWith(wanted),
    beginnings || code.id.startsWith(wanted),
    code.initials.startsWith(wanted),
    code.label.includes(wanted) || code.id.includes(wanted),
    code.above.includes(wanted),
    code.definition.includes(wanted),
  ];
  const first = tests.indexOf(true);
  return first < 0 ? Infinity : first;
}

/** What is looked for in one open view. */
export class CodeSearch {
  readonly query = signal("");
  /** The place of the chosen one among the results; null before one was chosen by ↑ or ↓. */
  readonly #cursor = signal<number | null>(null);
  readonly #wanted = computed(() => plain(this.query.value));
  readonly #named: ReadonlySignal<Names[]>;
  /** Whether results are shown in place of the whole codebook. */
  readonly open = computed(() => this.#wanted.value !== "" || this.#cursor.value !== null);
  readonly #matches = computed(() => {
    const ranked = this.#named.value.map((one): [Code, number] => [one.code, rank(one, this.#wanted.value)]);
    return ranked
      .filter(([, at]) => at < Infinity)
      .sort((a, b) => a[1] - b[1])
      .map(([code]) => code);
  });
  /** The codes that match, the best first. */
  readonly results = computed(() => this.#matches.value.slice(0, MOST_RESULTS));
  /** How many more there are. */
  readonly more = computed(() => this.#matches.value.length - this.results.value.length);
  /** The code that Enter applies. */
  readonly chosen = computed((): Code | undefined =>
    this.open.value ? this.results.value[this.#cursor.value ?? 0] : undefined,
  );

  constructor(codes: ReadonlySignal<ReadonlyMap<string, Code>>) {
    this.#named = computed(() =>
      [...codes.value.values()].filter(({ codable }) => codable).map(code => names(code, codes.value)),
    );
  }

  type(query: string): void {
    this.query.value = query;
    this.#cursor.value = null;
  }

  /** Choose the next result (or the one before); with nothing typed, begin with the first of all. */
  move(step: 1 | -1): void {
    const at = this.open.value ? (this.#cursor.value ?? 0) + step : 0;
    this.#cursor.value = placeIn(this.results.value.length, at);
  }

  close(): void {
    this.type("");
  }

  /** The chosen code; the whole codebook is shown again. */
  take(): Code | undefined {
    const code = this.chosen.value;
    this.close();
    return code;
  }
}
