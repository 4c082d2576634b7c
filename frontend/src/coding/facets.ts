// The second key: what the marked coding says beside its code.
import { computed, effect, signal, type ReadonlySignal, type Signal } from "@preact/signals";
import type { CodebookView } from "../shared/codebook";
import type { Coding, Facet } from "../shared/protocol";
import { isOn } from "./activewords";

/** Which coding of a unit is meant: its place in the list can change, this does not. */
export type Mark = Pick<Coding, "code" | "start" | "end">;

interface Host {
  book: CodebookView;
  commands: ReadonlySignal<Record<string, string>>;
  /** The marked coding, and its index on the text on screen. */
  marked: Signal<Mark | null>;
  stands: ReadonlySignal<number>;
  selecting: { span: ReadonlySignal<unknown> };
  activeCoding(): Coding | undefined;
  change(coding: Coding, more: Pick<Coding, "facets">): void;
  label(code: string): string;
  say(words: string): void;
}

/** What ends the question which value it is, and is done: a code, and what selects words. */
const ENDS = /^(code:|(next|previous)_(word|sentence|hit)|select_by)/;

type Press = Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey">;

/**
 * Sets facets of the marked coding. Where the values have keys, the facets' key opens a strip of them, and
 * the
 * next key chooses one; where they have none, the facets' key sets the next value itself.
 */
export class Facets {
  readonly #host: Host;
  readonly open = signal(false);
  /** Whether the strip is on screen: it stands with the marked coding. */
  readonly shown = computed(() => this.open.value && this.#host.stands.value >= 0);

  constructor(host: Host) {
    this.#host = host;
    // Other words are selected: what comes next is for them.
    effect(() => {
      void host.selecting.span.value;
      this.close();
    });
  }

  /** What the facets' key does. */
  press(): void {
    const host = this.#host;
    if (!host.book.hasFacets.value) return host.say("This codebook has no facets");
    const coding = host.activeCoding();
    if (!coding) return host.say("Apply a code first");
    const [first] = host.book.facetsOf(coding.code);
    if (!first) return host.say(`${host.label(coding.code)} has no facets`);
    if (host.book.facetKeys.value) return this.toggle(coding);
    const order = [undefined, ...first.values.map(({ name }) => name)];
    this.#set(coding, first, order[(order.indexOf(coding.facets[first.name]) + 1) % order.length]);
  }

  /** Open the strip on the coding, or close it there. */
  toggle(coding: Coding): void {
    const host = this.#host;
    const here = this.isOn(coding);
    host.marked.value = coding;
    this.open.value = !here;
    if (here) return;
    const values = ({ values }: Facet) =>
      values.map(({ key, label }) => (key ? `${key} ${label}` : label)).join(", ");
    const facets = host.book.facetsOf(coding.code).map(facet => `${facet.label}: ${values(facet)}`);
    host.say(`Facets of ${host.label(coding.code)}. ${facets.join(". ")}. Press Escape to close.`);
  }

  /** Whether the strip is on screen with this coding. */
  isOn(coding: Coding): boolean {
    return this.shown.value && isOn(this.#host.marked.value!, coding);
  }

  close(): void {
    this.open.value = false;
  }

  /**
   * Whether a press chooses a value: a plain character does while the strip is open, unless it `means` what
   * ends that.
   */
  takes(press: Press, means: string | null): boolean {
    const plain = press.key.length === 1 && !press.ctrlKey && !press.metaKey && !press.altKey;
    if (!plain || !this.shown.value || !this.#host.book.facetKeys.value) return false;
    return !ENDS.test(means ?? "") || !!this.#withKey(press.key);
  }

  /** The value of the marked coding's facets that has the key, and its facet. */
  #withKey(key: string): [Facet, string] | undefined {
    const facets = this.#host.book.facetsOf(this.#host.activeCoding()?.code ?? "");
    return facets.flatMap(facet =>
      facet.values.filter(value => value.key === key).map(({ name }): [Facet, string] => [facet, name]),
    )[0];
  }

  /** Set the value that has the key, or take it away; the facets' own key closes the strip. */
  choose(key: string): void {
    const value = this.#withKey(key);
    if (value) return this.choice(this.#host.activeCoding()!, ...value);
    if (key === this.#host.commands.value.facet) return this.close();
    this.#host.say(`No facet has a value with the key ${key}`);
  }

  /** Set the value; where it is set, take it away. */
  choice(coding: Coding, facet: Facet, value: string): void {
    this.#set(coding, facet, coding.facets[facet.name] === value ? undefined : value);
  }

  /** What the coding says, in words: the values, each with the name of its facet unless it is `short`. */
  words({ code, facets, confidence }: Coding, short = false): string[] {
    const said = this.#host.book.facetsOf(code).filter(({ name }) => facets[name] !== undefined);
    const values = said.map(
      facet => `${short ? "" : `${facet.label} `}${labelOf(facet, facets[facet.name])}`,
    );
    return confidence === "unsure" ? [...values, "unsure"] : values;
  }

  #set(coding: Coding, facet: Facet, value: string | undefined): void {
    const { [facet.name]: _, ...others } = coding.facets;
    this.#host.change(coding, { facets: value === undefined ? others : { ...others, [facet.name]: value } });
    this.#host.say(`${this.#host.label(coding.code)}: ${facet.label} ${labelOf(facet, value) ?? "none"}`);
  }
}

const labelOf = (facet: Facet, value: string | undefined) =>
  facet.values.find(({ name }) => name === value)?.label;
