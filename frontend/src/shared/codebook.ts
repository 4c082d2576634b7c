// The codebook on screen: its codes in a tree that folds, how they look, and what is open of it.
import { computed, signal } from "@preact/signals";
import { CodeSearch } from "./codesearch";
import { looks, UNKNOWN, type Look } from "./colours";
import { OpenDefinition } from "./opendefinition";
import type { Code, Codebook, Facet } from "./protocol";
import { RecentCodes } from "./recentcodes";
import { dark } from "./theme";

/** A code's line in the tree; the codes under it, at any depth, are the `below` lines that follow. */
export interface Row {
  code: Code;
  depth: number;
  below: number;
}

/** Null until the kernel has sent the codebook. */
export class CodebookView {
  readonly codebook = signal<Codebook | null>(null);
  readonly list = computed(() => this.codebook.value?.codes ?? []);
  readonly codes = computed(() => new Map(this.list.value.map(code => [code.id, code])));
  readonly looks = computed(() => looks(this.list.value, dark.value));
  readonly #facets = computed(() => this.codebook.value?.facets ?? []);
  readonly hasFacets = computed(() => this.#facets.value.length > 0);
  /** Whether the values of facets are chosen by keys of their own. */
  readonly facetKeys = computed(() =>
    this.#facets.value.some(({ values }) => values.some(({ key }) => key !== null)),
  );
  readonly search = new CodeSearch(this.codes);
  readonly recent = new RecentCodes();
  readonly definition = new OpenDefinition();
  /** The ids of the codes whose codes below are hidden. */
  readonly folded = signal<ReadonlySet<string>>(new Set());
  /** All codes, each with those under it, in the codebook's order. */
  readonly tree = computed(() => tree(this.list.value));
  /** The lines of the tree that are not folded away. */
  readonly rows = computed(() => {
    let next = 0;
    return this.tree.value.filter(({ code, below }, index) => {
      if (index < next) return false;
      next = index + 1 + (this.folded.value.has(code.id) ? below : 0);
      return true;
    });
  });
  /** Whether some code can be applied by no key of the codebook's. */
  readonly beyondKeys = computed(() => this.list.value.some(({ codable, key }) => codable && key === null));
  /** Whether the codes were seen not to fit on the screen. */
  readonly crowded = signal(false);
  /** The code whose definition is on screen. */
  readonly open = computed((): Code | undefined => {
    const code = this.codes.value.get(this.definition.id.value ?? "");
    return code ?? this.list.value.find(({ codable }) => codable);
  });

  /** How a code looks, also one that the codebook does not have. */
  look(id: string): Look {
    return this.looks.value.get(id) ?? UNKNOWN;
  }

  /** The facets that are for the code. */
  facetsOf(code: string): Facet[] {
    return this.#facets.value.filter(({ codes }) => !codes.length || codes.includes(code));
  }

  /** Look for a code; the definition of the best match opens. */
  find(query: string): void {
    this.search.type(query);
    this.#openChosen();
  }

  /** Choose the next of the codes that match, or the one before. */
  choose(step: 1 | -1): void {
    this.search.move(step);
    this.#openChosen();
  }

  #openChosen(): void {
    const code = this.search.chosen.value;
    if (code) this.definition.ask(code.id);
  }

  /** The key that applies the code: the codebook's, or one that it was given when it was used. */
  keyOf(code: Code): string | null {
    return code.key ?? this.recent.keys.value.get(code.id) ?? null;
  }

  fold(ids: readonly string[], folded: boolean): void {
    const others = [...this.folded.value].filter(id => !ids.includes(id));
    this.folded.value = new Set(folded ? [...others, ...ids] : others);
  }
}

/** The codes with those under each, in the codebook's order. */
function tree(codes: readonly Code[]): Row[] {
  const under = new Map<string | null, Code[]>();
  for (const code of codes) under.set(code.parent, [...(under.get(code.parent) ?? []), code]);
  const rows = new Map<string, Row>();
  const open = (under.get(null) ?? []).map((code): [Code, number] => [code, 0]).reverse();
  for (let next = open.pop(); next; next = open.pop()) {
    const [code, depth] = next;
    rows.set(code.id, { code, depth, below: 0 });
    open.push(...(under.get(code.id) ?? []).map((child): [Code, number] => [child, depth + 1]).reverse());
  }
  for (const { code, below } of [...rows.values()].reverse()) {
    if (code.parent !== null) rows.get(code.parent)!.below += below + 1;
  }
  return [...rows.values()];
}
