// The inbox and the texts to look at again, by keys alone.
import { act } from "preact/test-utils";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { shelf } from "../shared/outbox";
import { Kernel } from "./kernel.test.kit";
import type { InboxItem, Rule } from "./messages";
import widget from "./widget.test.kit";

const TEXTS = ["It listened. It cared.", "It did not.", "Only facts.", "So kind."];

let kernel: Kernel;
let el: HTMLElement;
let close: (() => void) | undefined;

const doing = (what: () => void) => act(what);
const answer = () => doing(() => kernel.answer());
const find = <E extends HTMLElement = HTMLElement>(selector: string) => el.querySelector<E>(selector);
const words = (selector: string) => find(selector)?.textContent ?? null;
const recorded = () =>
  kernel
    .acts()
    .map(({ kind, unit_id, code, with: parts }) =>
      [kind, unit_id, code, ...(parts ?? []).map(part => `${part.kind} ${part.code}`)]
        .filter(Boolean)
        .join(" "),
    );

async function press(...keys: string[]): Promise<void> {
  for (const key of keys) {
    await doing(
      () =>
        void (document.activeElement?.closest(".s7") ? document.activeElement : find(".s7"))!.dispatchEvent(
          new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }),
        ),
    );
    await answer();
  }
}

const rule = (code: string, of: string[] = []): Rule => ({
  code,
  what: "applies to less than before",
  of,
  parts: [
    {
      name: "definition",
      words: [
        ["=", "Shows"],
        ["-", " some"],
        ["+", " warm"],
        ["=", " interest."],
      ],
    },
  ],
});
const item = (what: InboxItem["what"], more: Partial<InboxItem> = {}): InboxItem => ({
  id: `${what}:1`,
  what,
  title: `About ${what}`,
  more: "",
  is_news: false,
  ...more,
});

async function show(prepare: (kernel: Kernel) => void = () => {}): Promise<void> {
  kernel = new Kernel(TEXTS);
  prepare(kernel);
  await doing(() => void (close = widget.render({ model: kernel.model(), el })));
  await answer();
}

/** Two texts to look at again for one code; the first has words with it. */
function twoStale(on: Kernel): void {
  on.recordAtFirst({ id: "a1", kind: "apply", unit_id: "m1", code: "affective", start: 0, end: 2 });
  on.again = {
    steps: [
      [1, 0],
      [3, 0],
    ],
    rules: [rule("affective")],
    under: "f1",
  };
  on.inbox = [item("again", { n: 2 })];
}

beforeEach(() => {
  el = document.createElement("div");
  document.body.replaceChildren(el);
});

afterEach(async () => {
  await doing(() => close?.());
  shelf().clear();
});

test("answered faster than they are recorded, the inbox is asked for again once all are", async () => {
  await show(twoStale);
  await press("I", "Enter");
  for (const key of ["y", "n"]) {
    await doing(
      () =>
        void find(".s7")!.dispatchEvent(
          new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }),
        ),
    );
  }
  for (let n = 0; n < 8; n++) await answer();
  expect(kernel.inboxAskedAfter.at(-1)).toBe(kernel.recorded.length);
  expect(kernel.acts().filter(({ kind }) => kind === "finish")).toHaveLength(2);
});

test("nothing is asked before the inbox was opened: y and n are what they always are", async () => {
  await show(twoStale);
  expect([words(".s7-inbox-button"), find(".s7-again"), find(".s7-item")]).toEqual(["Inbox 1", null, null]);
  await press("n", "y");
  expect(recorded()).toEqual([]);
});

test("from the inbox through all texts by keys: yes finishes, no takes a coding off", async () => {
  await show(twoStale);
  await press("I", "Enter");
  expect([words(".s7-again strong"), words(".s7-again span"), words(".s7-unit-id")]).toEqual([
    "Affective?",
    "1 of 2",
    "m1",
  ]);
  expect([words(".s7-changed ins"), words(".s7-changed del")]).toEqual([" warm", " some"]);
  await press("n");
  expect([words(".s7-again span"), words(".s7-unit-id")]).toEqual(["2 of 2", "m3"]);
  await press("y");
  expect(recorded()).toEqual(["finish m1 remove affective", "finish m3 apply affective"]);
  expect(kernel.acts().map(({ under }) => under)).toEqual(["f1", "f1"]);
  expect(kernel.unit(1)).toMatchObject({ finished: true, codings: [] });
  expect(find(".s7-again")).toBeNull();
  await press("n");
  expect(recorded()).toHaveLength(2);
});

test("no and what follows in the same burst are shown at once", async () => {
  await show(on => {
    twoStale(on);
    on.again.steps = [
      [1, 0],
      [1, 1],
      [3, 0],
    ];
    on.again.rules.push(rule("response"));
  });
  await press("I", "Enter");
  for (const key of ["n", "y"])
    await doing(() =>
      find(".s7")!.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true })),
    );
  await answer();
  expect(recorded()).toEqual(["remove m1 affective", "finish m1 apply response"]);
  expect(kernel.unit(1)).toMatchObject({ finished: true, codings: [{ code: "response" }] });
});

test("back takes back what was answered, whatever was coded since; later leaves the text as it is", async () => {
  await show(twoStale);
  await press("I", "Enter", "Backspace");
  expect(recorded()).toEqual([]);
  await press("n", "2", "Backspace");
  expect(recorded()).toEqual(["finish m1 remove affective", "apply m3 cognitive", "undo"]);
  expect([kernel.unit(1).codings.length, kernel.unit(3).codings.length]).toEqual([1, 1]);
  expect([words(".s7-unit-id"), words(".s7-again span")]).toEqual(["m1", "1 of 2"]);
  await press("ArrowRight");
  expect([words(".s7-unit-id"), words(".s7-again span"), recorded().length]).toEqual(["m3", "2 of 2", 3]);
  await press("Backspace");
  expect(words(".s7-unit-id")).toBe("m1");
});

test("Enter finishes the text and goes on with the queue; Escape ends it", async () => {
  await show(twoStale);
  await press("I", "Enter", "Enter");
  expect([recorded(), words(".s7-unit-id"), words(".s7-again span")]).toEqual([
    ["finish m1"],
    "m3",
    "2 of 2",
  ]);
  const before = kernel.received.filter(({ type }) => type === "inbox").length;
  await press("Escape");
  expect(find(".s7-again")).toBeNull();
  expect(kernel.received.filter(({ type }) => type === "inbox")).toHaveLength(before + 1);
});

test("the words of a code that was split go to the part that applies", async () => {
  await show(on => {
    on.recordAtFirst({ id: "a1", kind: "apply", unit_id: "m1", code: "old", start: 0, end: 2 });
    on.again = {
      steps: [
        [1, 0],
        [1, 1],
      ],
      rules: [rule("affective", ["old"]), rule("response", ["old"])],
      under: "f1",
    };
    on.inbox = [item("again", { n: 1 })];
  });
  await press("I", "Enter", "y", "n");
  expect(recorded()).toEqual(["apply m1 affective", "finish m1 remove old"]);
  expect(kernel.unit(1).codings).toMatchObject([{ code: "affective", start: 0, end: 2 }]);
});

test("an act that is refused ends the queue, and so does another codebook", async () => {
  await show(twoStale);
  await press("I", "Enter");
  await doing(() => kernel.tell(kernel.ofCodebook("f2", "w")));
  expect(find(".s7-again")).toBeNull();
  await press("I", "Enter");
  kernel.fate = "refused";
  await press("n");
  expect([words(".s7-message"), find(".s7-again")]).toEqual([expect.stringContaining("refused"), null]);
});

test("texts finished before a code existed can be left undecided: a memo on the code says so", async () => {
  await show(on => (on.inbox = [item("new", { n: 2, codes: ["affective"], no: "Left as they are." })]));
  await press("I");
  await doing(() => find(".s7-refuse")!.click());
  await answer();
  expect(kernel.freeMemos()).toMatchObject([{ code: "affective", text: "Left as they are." }]);
});

test("a rewording shows both wordings and is read once; what it counts is in the header", async () => {
  await show(
    on =>
      (on.inbox = [
        item("reworded", { is_news: true, rule: rule("affective") }),
        item("round", { here: false }),
      ]),
  );
  expect(words(".s7-inbox-button")).toBe("Inbox 2");
  await press("I", "Enter");
  expect([words(".s7-changed del"), words(".s7-inbox-button")]).toEqual([" some", "Inbox 1"]);
});

test("something new is said once, and asked for at most once a minute", async () => {
  const now = vi.spyOn(Date, "now").mockReturnValue(1_000_000);
  await show();
  kernel.inbox = [item("answer", { is_news: true })];
  await press("Enter");
  expect(words(".s7-inbox-button")).toBe("Inbox");
  now.mockReturnValue(1_060_000);
  await press("Enter");
  expect([words(".s7-inbox-button"), words(".s7-status")]).toEqual([
    "Inbox 1",
    "New in the inbox: About answer",
  ]);
  now.mockReturnValue(1_130_000);
  await press("Enter");
  expect(words(".s7-status")).not.toContain("inbox");
  now.mockRestore();
});

test("the cell that says so begins with the texts to look at again", async () => {
  await show(on => (twoStale(on), (on.begins = true)));
  expect([words(".s7-again span"), words(".s7-unit-id")]).toEqual(["1 of 2", "m1"]);
});

test("where somebody asked for texts without a question, these are listed", async () => {
  await show(on => ([on.inbox, on.review] = [[item("again", { n: 2 })], [1, 2]]));
  await press("I", "Enter");
  expect([words(".s7-unit-id"), words(".s7-list-note span")]).toEqual(["m1", "2 of 4 · to look at again"]);
});
