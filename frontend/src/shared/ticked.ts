// The texts of a theme that are ticked because they show it, and what a language model may be asked about
// them.
import { batch, signal } from "@preact/signals";

export abstract class TickedTexts {
  readonly ticked = signal<ReadonlySet<string>>(new Set());
  /** What would be sent to the language model, in words, once that was asked. */
  readonly cost = signal("");
  readonly consented = signal(false);
  readonly asking = signal(false);
  /** Whether what was made of the theme is on its way. */
  readonly sending = signal(false);

  /** The theme that is meant; null for none. */
  protected abstract readonly theme: number | null;
  protected abstract ask(what: "cost" | "chat", theme: number, units: string[]): void;

  /** Other texts are another question: what was agreed to holds no more. */
  tick(unit_id: string): void {
    const ticked = new Set(this.ticked.value);
    if (!ticked.delete(unit_id)) ticked.add(unit_id);
    const asked = this.cost.value !== "";
    batch(() => {
      this.ticked.value = ticked;
      this.forgetCost();
    });
    if (asked && ticked.size) this.askCost();
  }

  askCost(): void {
    if (this.theme !== null) this.ask("cost", this.theme, [...this.ticked.value]);
  }

  askChat(): void {
    if (this.theme === null || !this.consented.value || this.asking.value) return;
    this.asking.value = true;
    this.ask("chat", this.theme, [...this.ticked.value]);
  }

  protected forgetCost(): void {
    this.cost.value = "";
    this.consented.value = false;
  }
}
