// The codebook on screen: how its codes look, which the filter leaves, whose definition is open.
import { computed, signal } from "@preact/signals";
import { looks } from "./colours";
import type { Code, Codebook } from "./protocol";

/** Null until the kernel has sent the codebook. */
export class CodebookView {
  readonly codebook = signal<Codebook | null>(null);
  readonly filter = signal("");
  /** The id of the code whose definition was asked for. */
  readonly detail = signal<string | null>(null);
  readonly list = computed(() => this.codebook.value?.codes ?? []);
  readonly codes = computed(() => new Map(this.list.value.map((code) => [code.id, code])));
  readonly looks = computed(() => looks(this.list.value));
  private readonly wanted = computed(() => this.filter.value.trim().toLowerCase());
  /** The codes that the filter leaves. */
  readonly filtered = computed(() => {
    const wanted = this.wanted.value;
    const words = (code: Code) => `${code.label} ${code.id} ${code.definition}`.toLowerCase();
    return this.list.value.filter((code) => !wanted || words(code).includes(wanted));
  });
  /** The code that Enter in the filter applies: one that is called so, or else the first. */
  readonly chosen = computed(() => {
    const wanted = this.wanted.value;
    const codes = wanted ? this.filtered.value.filter(({ codable }) => codable) : [];
    const called = (code: Code) => [code.label, code.id].some((name) => name.toLowerCase() === wanted);
    return codes.find(called) ?? codes.find(({ label }) => label.toLowerCase().includes(wanted)) ?? codes[0];
  });

  /** The chosen code; all codes are shown again. */
  takeChosen(): Code | undefined {
    const code = this.chosen.value;
    this.filter.value = "";
    return code;
  }
}
