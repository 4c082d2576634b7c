// How the keyboard is given back to the notebook: by two deliberate presses of Escape, so that one too many
// costs nothing.
import { useLayoutEffect, useRef } from "preact/hooks";
import { focusIn, isModifier } from "./keys";

/** The second Escape counts from so long after the last one, and until so long after it. */
const [SOON_MS, LATE_MS] = [300, 3000];

/**
 * What Escape does where nothing is open. The first press says how to leave and keeps the focus; a second
 * one, 0.3 to
 * 3 s later, leaves. Presses that come faster, a key held down, and any other key in between leave nothing.
 */
export class Leaving {
  #pressed = -Infinity;
  readonly #forget: () => void;

  /** `say` shows words on the status line of the widget in `root`. */
  constructor(
    private readonly root: () => HTMLElement | null,
    private readonly say: (words: string) => void,
  ) {
    const other = (event: KeyboardEvent) =>
      void (event.key === "Escape" || isModifier(event) || this.#stay());
    addEventListener("keydown", other, true);
    this.#forget = () => removeEventListener("keydown", other, true);
  }

  escape(event: Pick<KeyboardEvent, "repeat">): void {
    const since = Date.now() - this.#pressed;
    this.#pressed = Date.now();
    if (!event.repeat && since >= SOON_MS && since <= LATE_MS) return this.#leave();
    this.say(`Press Esc again to return to the ${this.#notebook() ? "notebook" : "page"}`);
  }

  close(): void {
    this.#forget();
  }

  #stay(): void {
    if (this.#pressed === -Infinity) return;
    this.#pressed = -Infinity;
    this.say("");
  }

  #leave(): void {
    this.#stay();
    focusIn(this.root()!)?.blur();
    this.#notebook()?.focus();
  }

  /**
   * The notebook around the widget; the coder's page has one without its panel, in which nothing is to be
   * done.
   */
  #notebook(): HTMLElement | null {
    return this.root()?.closest<HTMLElement>(".jp-NotebookPanel .jp-Notebook") ?? null;
  }
}

/** What Escape does where nothing is open in the widget in `root`. */
export function useLeaving(
  root: { current: HTMLElement | null },
  session: { say(words: string): void },
): Leaving {
  const leaving = useRef<Leaving | null>(null);
  leaving.current ??= new Leaving(
    () => root.current,
    words => session.say(words),
  );
  useLayoutEffect(() => () => leaving.current!.close(), []);
  return leaving.current;
}
