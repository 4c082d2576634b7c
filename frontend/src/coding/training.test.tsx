// A round of training as a person sees it: nothing of gold before a text is finished, and then what differs
// and why.
import { act } from "preact/test-utils";
import { afterEach, beforeEach, expect, test } from "vitest";
import { shelf } from "../shared/outbox";
import widget from "./widget.test.kit";
import { Kernel, TEXTS } from "./kernel.test.kit";

let kernel: Kernel;
let el: HTMLElement;
let close: (() => void) | undefined;

const find = <E extends HTMLElement = HTMLElement>(selector: string) => el.querySelector<E>(selector);
const answer = () => act(() => kernel.answer());
const asked = () => kernel.received.filter(({ type }) => type === "feedback").map(({ place }) => place);

async function press(key: string): Promise<void> {
  await act(
    () =>
      void find(".s7")!.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true })),
  );
  await answer();
}

async function show(training: boolean): Promise<void> {
  kernel = new Kernel(TEXTS);
  if (training) kernel.training = { n: 0, most: 6, kappa: "", verdict: "go on", words: "" };
  kernel.codes[0] = {
    ...kernel.codes[0]!,
    definition: "It felt.",
    use_when: ["a feeling is named"],
    avoid_when: ["only facts"],
  };
  await act(() => void (close = widget.render({ model: kernel.model(), el })));
  await answer();
  find(".s7")!.focus();
}

beforeEach(() => {
  el = document.createElement("div");
  document.body.append(el);
});

afterEach(() => {
  close?.();
  el.remove();
  shelf().clear();
});

test("Enter finishes and shows what differs with the code's rule, Enter again goes on", async () => {
  await show(true);
  expect(find(".s7-training")!.textContent).toBe("Training: 0 of at most 6 texts. ");
  expect(find(".s7-primary")!.textContent).toContain("Finish and compare");
  await press("2");
  expect(asked()).toEqual([]);
  expect(find(".s7-feedback")).toBeNull();
  await press("Enter");
  expect(find(".s7-unit-id")!.textContent).toBe("m0");
  const rows = [...el.querySelectorAll(".s7-feedback-row")];
  expect(rows.map(row => row.className)).toEqual([
    "s7-feedback-row s7-sign-theirs",
    "s7-feedback-row s7-sign-own",
  ]);
  expect(rows[0]!.textContent).toContain("Affective missed: gold has itso far 3 right, 2 missed, 1 added");
  expect(find(".s7-gold-rule")!.textContent).toBe(
    "Affective: It felt.Use when: a feeling is namedNot when: only facts",
  );
  expect(find(".s7-status")!.textContent).toContain("2 codes differ from the gold decisions");
  expect(find(".s7-training")!.textContent).toContain("1 of at most 6 texts; so far kappa .71 (.55–.84)");
  await press("Enter");
  expect(find(".s7-unit-id")!.textContent).toBe("m1");
  expect(find(".s7-feedback")).toBeNull();
  await press("ArrowLeft"); // back on the finished one it is there again
  expect(find(".s7-feedback")).not.toBeNull();
  expect(asked()).toEqual([0, 0]);
});

test("a text whose finishing is not saved yet shows nothing of gold", async () => {
  await show(true);
  kernel.fate = "failed";
  await press("Enter");
  expect(asked()).toEqual([]);
  expect(find(".s7-feedback")).toBeNull();
});

test("a verdict stands in the banner and is read out", async () => {
  await show(true);
  kernel.training = { ...kernel.training!, verdict: "fail", words: "Stopped after 15 texts." };
  await press("1");
  await press("Enter");
  expect(find(".s7-training-fail")!.textContent).toContain("Stopped after 15 texts.");
  expect(find(".s7-status")!.textContent).toContain(
    "All codes match the gold decisions. Stopped after 15 texts.",
  );
  expect(find(".s7-gold-rule")).toBeNull(); // the rule is shown where something differs
});

test("in any other round Enter finishes and goes on", async () => {
  await show(false);
  expect(find(".s7-training")).toBeNull();
  await press("Enter");
  expect(find(".s7-unit-id")!.textContent).toBe("m1");
  expect(asked()).toEqual([]);
});
