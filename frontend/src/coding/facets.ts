// The second key: what the marked coding says beside its code.
import { computed, signal } from "@preact/signals";
import type { Coding, Facet } from "../shared/protocol";
import { sameSpan } from "../shared/spans";
import type { Session } from "./session";

type Press = Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey">;

/**
 * Sets facets of the marked coding. Where the values have keys, the facets' key opens a strip of them, and the
 * next key chooses one; where they have none, the facets' key sets the next value itself.
 */
export class Facets {
  readonly open = signal(false);
  /** Whether the strip is on screen: it stands with the marked coding. */
  readonly shown = computed(() => this.open.value && this.session.active.value >= 0);

  constructor(private readonly session: Session) {}

  /** What the facets' key does. */
  press(): void {
    const { session } = this;
    if (!session.book.hasFacets.value) return session.say("This codebook has no facets");
    const coding = session.activeCoding();
    if (!coding) return session.say("Apply a code first");
    const [first] = session.book.facetsOf(coding.code);
    if (!first) return session.say(`No facet is for ${session.label(coding.code)}`);
    if (session.book.facetKeys.value) return this.toggle(coding);
    const order = [undefined, ...first.values.map(({ name }) => name)];
    this.set(coding, first, order[(order.indexOf(coding.facets[first.name]) + 1) % order.length]);
  }

  /** Open the strip on the coding, or close it there. */
  toggle(coding: Coding): void {
    const { session } = this;
    const here = this.isOn(coding);
    session.marked.value = coding;
    this.open.value = !here;
    if (here) return;
    const values = ({ values }: Facet) => values.map(({ key, label }) => (key ? `${key} ${label}` : label)).join(", ");
    const facets = session.book.facetsOf(coding.code).map((facet) => `${facet.label}: ${values(facet)}`);
    session.say(`Facets of ${session.label(coding.code)}. ${facets.join(". ")}. Escape closes.`);
  }

  /** Whether the strip is on screen with this coding. */
  isOn({ code, start, end }: Coding): boolean {
    const marked = this.shown.value ? this.session.marked.value : null;
    return marked !== null && marked.code === code && sameSpan(marked, { start, end });
  }

  close(): void {
    this.open.value = false;
  }

  /** Whether a press chooses a value: a plain character does while the strip is open. */
  takes(press: Press): boolean {
    const plain = press.key.length === 1 && !press.ctrlKey && !press.metaKey && !press.altKey;
    return plain && this.shown.value && this.session.book.facetKeys.value;
  }

  /** Set the value that has the key, or take it away; the facets' own key closes the strip. */
  choose(key: string): void {
    const { session } = this;
    const coding = session.activeCoding();
    for (const facet of coding ? session.book.facetsOf(coding.code) : []) {
      const value = facet.values.find((value) => value.key === key);
      if (value) return this.choice(coding!, facet, value.name);
    }
    if (key === session.commands.value.facet) return this.close();
    session.say(`No facet has a value with the key ${key}`);
  }

  /** Set the value; where it is set, take it away. */
  choice(coding: Coding, facet: Facet, value: string): void {
    this.set(coding, facet, coding.facets[facet.name] === value ? undefined : value);
  }

  /** What the coding says, in words. */
  words({ code, facets }: Coding): string[] {
    const said = this.session.book.facetsOf(code).filter(({ name }) => facets[name] !== undefined);
    return said.map((facet) => `${facet.label} ${labelOf(facet, facets[facet.name])}`);
  }

  private set(coding: Coding, facet: Facet, value: string | undefined): void {
    const { [facet.name]: _, ...others } = coding.facets;
    this.session.change(coding, { facets: value === undefined ? others : { ...others, [facet.name]: value } });
    this.session.say(`${this.session.label(coding.code)}: ${facet.label} ${labelOf(facet, value) ?? "none"}`);
  }
}

const labelOf = (facet: Facet, value: string | undefined) => facet.values.find(({ name }) => name === value)?.label;
