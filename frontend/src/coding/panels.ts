// What the panel below the codes shows: one thing at a time, the rule where nothing else was opened.
import { computed, signal, type ReadonlySignal } from "@preact/signals";
import type { Colleagues } from "./colleagues";
import type { Grid } from "./gridrows";
import type { Unit } from "./messages";
import type { LookAgain } from "./lookagain";
import type { NewCode } from "./newcode";
import type { SideName } from "./session";
import type { Suggestions } from "./suggestions";
import type { TextList } from "./textlist";
import type { Training } from "./training";

/** Those with a tab; a new code and the lists of texts, memos and acts are opened and shut. */
export type TabName = "rule" | "passages" | "memos" | "suggested" | "compare" | "training";
type PanelName = TabName | "new" | "side";

interface Parts {
  unit: ReadonlySignal<Unit | null>;
  openCode: ReadonlySignal<string>;
  side: ReadonlySignal<SideName>;
  texts: TextList;
  grid: Grid;
  colleagues: Colleagues;
  suggestions: Suggestions;
  training: Training;
  newCode: NewCode;
  again: LookAgain;
}

export class Panel {
  readonly #parts: Parts;
  /**
   * What was picked, and on what it was on screen with: where that changes, what came last is shown again.
   */
  readonly #picked = signal<{ name: TabName; on: string } | null>(null);
  readonly #shut = signal("");

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  readonly #on = computed(() => {
    const { unit, colleagues, suggestions, training } = this.#parts;
    return [
      unit.value?.unit_id,
      colleagues.on.value,
      !!suggestions.shown.value?.rows.length,
      !!training.feedback.value,
    ].join("|");
  });

  readonly tabs = computed((): TabName[] => {
    const { unit, openCode, colleagues, suggestions, training } = this.#parts;
    const there: [TabName, unknown][] = [
      ["rule", true],
      ["passages", openCode.value],
      ["memos", unit.value?.memos.length],
      ["suggested", suggestions.words.value || suggestions.shown.value?.rows.length],
      ["compare", colleagues.state.value === "open"],
      ["training", training.feedback.value],
    ];
    return there.flatMap(([name, is]) => (is ? [name] : []));
  });

  /** The list is next to the text where there is room, and the choice of texts above the rows of the grid. */
  readonly hasSide = computed(() => {
    const { texts, grid, side } = this.#parts;
    return texts.isOpen.value && (!grid.on.value || side.value !== "texts");
  });

  readonly shown = computed((): PanelName => {
    const { newCode, texts, colleagues, again } = this.#parts;
    if (newCode.seen.value) return "new";
    if (this.hasSide.value && !texts.wide.value) return "side";
    const [picked, tabs] = [this.#picked.value, this.tabs.value];
    // Passages lead from text to text.
    if (picked && (picked.on === this.#on.value || picked.name === "passages") && tabs.includes(picked.name))
      return picked.name;
    if (again.step.value) return "rule";
    const last = tabs.filter(
      name => name === "training" || name === "suggested" || (name === "compare" && colleagues.on.value),
    );
    return last.at(-1) ?? "rule";
  });

  /** Whether it is on the screen where it is a sheet. */
  readonly isOpen = computed(() => {
    const isRule = this.shown.value === "rule" && this.#picked.value?.on !== this.#on.value;
    return !isRule && this.#shut.value !== `${this.shown.value}|${this.#on.value}`;
  });

  pick(name: TabName): void {
    const { colleagues } = this.#parts;
    this.#shut.value = "";
    if (name === "compare" && !colleagues.on.value) return colleagues.toggle();
    this.#picked.value = { name, on: this.#on.value };
  }

  /** Show what comes by itself. */
  leave(): void {
    this.#picked.value = null;
  }

  /** Shut the sheet; false where there is none. */
  close(): boolean {
    if (!this.#parts.texts.narrow.value || !this.isOpen.value) return false;
    if (this.shown.value === "rule") this.#picked.value = null;
    this.#shut.value = `${this.shown.value}|${this.#on.value}`;
    return true;
  }
}
