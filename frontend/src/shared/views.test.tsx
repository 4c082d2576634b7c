// The text, the conversation, the code picker and the save state without the coding widget around them.
// @ts-expect-error: what runs in the browser has no types of Node
import { readFileSync } from "node:fs";
import { signal } from "@preact/signals";
import { render, type VNode } from "preact";
import { act } from "preact/test-utils";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { code } from "./code.test.kit";
import { CodebookView } from "./codebook";
import { CodePicker } from "./codepicker";
import { Conversation } from "./conversation";
import { hearKeys } from "./keys";
import { Outbox, PATIENCE_MS } from "./outbox";
import type { Coding } from "./protocol";
import { SaveState } from "./savestate";
import { TextView } from "./textview";

let el: HTMLElement;
let book: CodebookView;
const draw = (view: VNode) => act(() => render(view, el));
const texts = (selector: string) => [...el.querySelectorAll(selector)].map(found => found.textContent);
const click = (selector: string) => act(() => el.querySelector<HTMLElement>(selector)!.click());
const coding = (code: string, start: number, end: number): Coding => ({
  code,
  start,
  end,
  facets: {},
  confidence: null,
});

beforeEach(() => {
  el = document.createElement("div");
  document.body.replaceChildren(el);
  book = new CodebookView();
  book.codebook.value = {
    title: "Book",
    version: "1",
    facets: [],
    codes: [code("care", "1"), code("help", "2")],
  };
});

afterEach(() => render(null, el));

test("a text is shown with its codings, and a click marks the shortest, then the one around it", async () => {
  const unit = {
    unit_id: "m1",
    text: "<b>so kind</b>",
    codings: [coding("care", 0, 10), coding("help", 3, 5)],
  };
  const marked: string[] = [];
  const view = (active: number, frozen = false) => (
    <TextView
      {...{ unit, book, active, frozen }}
      selection={null}
      sought={null}
      ended
      onEnd={() => {}}
      onMark={one => marked.push(one.code)}
    />
  );
  await draw(view(-1));
  expect(el.querySelector(".s7-text")!.textContent).toBe(unit.text);
  expect([texts(".s7-text b"), texts(".s7-mark")]).toEqual([[], ["<b>", "so", " kind"]]);
  expect(el.querySelector(".s7-mark:nth-of-type(2)")!.getAttribute("title")).toBe("Care · Help");
  await click(".s7-mark:nth-of-type(2)");
  await draw(view(1));
  await click(".s7-mark:nth-of-type(2)");
  expect(marked).toEqual(["help", "care"]);
  await draw(view(0, true));
  expect(texts(".s7-active")).toEqual(["so"]);
  await draw(view(0));
  expect(texts(".s7-active")).toEqual(["<b>", "so", " kind"]);
});

test("the conversation shows its turns when it is open, and nothing where there is none", async () => {
  const unit = {
    unit_id: "m1",
    context: [
      { role: "user", text: "Hello" },
      { role: "", text: "Hi" },
    ],
  };
  let toggled = 0;
  await draw(<Conversation unit={unit} open={false} onToggle={() => toggled++} />);
  expect([texts(".s7-turn"), texts("button")]).toEqual([[], ["▸ Conversation before (2 turns)"]]);
  await click("button");
  expect(toggled).toBe(1);
  await draw(<Conversation unit={unit} open onToggle={() => {}} />);
  expect(texts(".s7-turn")).toEqual(["userHello", "Hi"]);
  const asked = { role: "question", text: "Why?" };
  await draw(<Conversation unit={{ unit_id: "m3", context: [asked] }} open={false} onToggle={() => {}} />);
  expect(texts("button")).toEqual(["▸ Question"]);
  await draw(
    <Conversation
      unit={{ unit_id: "m4", context: [asked, ...unit.context] }}
      open={false}
      onToggle={() => {}}
    />,
  );
  expect(texts("button")).toEqual(["▸ Question · Conversation before (2 turns)"]);
  await draw(<Conversation unit={{ unit_id: "m2", context: [] }} open onToggle={() => {}} />);
  expect(el.textContent).toBe("");
});

const absent = new Set<string>();

test("the code picker counts what is coded, and reports the code that is picked", async () => {
  const picked: string[] = [];
  const codings = [coding("help", 0, 1), coding("help", 2, 3)];
  const onPick = ({ id }: { id: string }) => picked.push(id);
  await draw(<CodePicker {...{ book, codings, absent, onPick }} disabled={false} />);
  expect([texts(".s7-label"), texts(".s7-applied")]).toEqual([["Care", "Help"], ["2"]]);
  await click("li:nth-child(2) button");
  expect(picked).toEqual(["help"]);
  await draw(<CodePicker {...{ book, codings, absent, onPick }} disabled />);
  await click("li:nth-child(1) button");
  expect(picked).toEqual(["help"]);
});

test("a parent is a heading that folds its codes, and says how often they are applied", async () => {
  const under = (id: string, parent: string) => ({ ...code(id, null), parent });
  const codes = [code("kind", null, false), under("care", "kind"), code("act", "a"), under("help", "act")];
  book.codebook.value = { ...book.codebook.value!, codes };
  const codings = [coding("care", 0, 1), coding("help", 2, 3)];
  await draw(<CodePicker {...{ book, codings, absent }} disabled={false} onPick={() => {}} />);
  expect(texts(".s7-codes .s7-label")).toEqual(["Kind", "Care", "Act", "Help"]);
  for (const parent of ["kind", "act"]) await click(`.s7-fold[data-code=${parent}]`);
  expect(texts(".s7-codes li")).toEqual(["▸Kind11", "▸11aAct"]);
  expect(el.querySelector(".s7-code")!.getAttribute("aria-pressed")).toBe("false");
  await click(".s7-codebook header button");
  expect(texts(".s7-codes .s7-label")).toEqual(["Kind", "Care", "Act", "Help"]);
});

describe("the save state", () => {
  const first = { id: "d1", kind: "finish", unit_id: "m1" } as const;
  let [sent, outbox]: [string[], Outbox] = [[], new Outbox(() => {})];
  const [slow, cut] = [signal(false), signal(false)];
  const drawn = (props = {}) => draw(<SaveState line={{ outbox, slow, cut }} {...props} />);
  const wait = (ms: number) => act(() => void vi.advanceTimersByTime(ms));
  const spoken = (role: string) =>
    [...el.querySelectorAll(`[role=${role}]`)].map(({ textContent }) => textContent);

  beforeEach(() => {
    vi.useFakeTimers();
    [sent, slow.value, cut.value] = [[], false, false];
    outbox = new Outbox(({ id }) => sent.push(id));
  });
  afterEach(() => {
    outbox.close();
    vi.useRealTimers();
  });

  test("says that something is being saved only where it takes a while, and knows of it before", async () => {
    await drawn();
    await act(() => outbox.push(first));
    expect([el.textContent, el.querySelector(".s7-saved")]).toEqual(["✓ Saved", null]);
    await wait(399);
    expect(el.textContent).toBe("✓ Saved");
    await wait(1);
    expect(el.textContent).toBe("Saving…");
    await act(() => void outbox.settle("d1"));
    expect([el.textContent, el.querySelector(".s7-saved") !== null]).toEqual(["✓ Saved", true]);
    await drawn({ queued: true });
    await wait(400);
    expect(el.textContent).toBe("Saving…");
  });

  test("waits for a busy kernel without alarm, and says so once however many changes come", async () => {
    await drawn();
    await act(() => outbox.push(first));
    await wait(PATIENCE_MS);
    expect(el.textContent).toBe("◷ Waiting for the kernel · 1 kept here");
    expect([el.querySelector(".s7-unsaved"), spoken("alert"), spoken("status")]).toEqual([
      null,
      [],
      ["Waiting for the kernel"],
    ]);
    await act(() => outbox.push({ ...first, id: "d2" }));
    expect([el.textContent, spoken("status")]).toEqual([
      "◷ Waiting for the kernel · 2 kept here",
      ["Waiting for the kernel"],
    ]);
  });

  test("is not said to be saved before all of it is, once somebody was told to wait", async () => {
    await drawn();
    await act(() => outbox.push(first, { ...first, id: "d2" }, { ...first, id: "d3" }));
    await wait(PATIENCE_MS);
    await act(() => void outbox.settle("d1"));
    expect(el.textContent).toBe("◷ Waiting for the kernel · 2 kept here");
    await wait(400);
    expect(el.textContent).toBe("Saving…");
    await act(() => void outbox.settle("d2"));
    expect(el.textContent).toBe("Saving…");
    await act(() => void outbox.settle("d3"));
    expect(el.textContent).toBe("✓ Saved");
  });

  test("is red where saving failed, and sends again at a press", async () => {
    await drawn();
    await act(() => outbox.push(first));
    await act(() => outbox.fail("d1"));
    expect(spoken("alert")).toEqual(["Not saved · 1 kept here · Try now"]);
    await click("button");
    expect(sent).toEqual(["d1", "d1"]);
  });

  test("is red where the kernel is gone, and says what to do", async () => {
    await act(() => outbox.push(first));
    cut.value = true;
    await drawn();
    expect(spoken("alert")).toEqual(["Cut off · 1 kept here · run the cell again"]);
  });

  test("says what the documentation lists", async () => {
    const listed = [
      ...readFileSync(["..", "docs", "coding.md"].join("/"), "utf8").matchAll(/^\| (.+?) \| /gm),
    ].map(([, words]: string[]) => words);
    const from = listed.indexOf("✓ Saved");
    const said: (string | null)[] = [];
    const say = () => void said.push(el.textContent);
    await drawn();
    say();
    await act(() => outbox.push(first, { ...first, id: "d2" }));
    for (const ms of [400, PATIENCE_MS]) await wait(ms).then(say);
    await act(() => outbox.fail("d1")).then(say);
    await act(() => void (cut.value = true)).then(say);
    expect(listed.slice(from, from + said.length)).toEqual(said);
  });

  test("where nothing is kept in the page, says only that somebody has to wait", async () => {
    await drawn({ quiet: true });
    expect(el.textContent).toBe("");
    await act(() => void (slow.value = true));
    expect(el.textContent).toBe("◷ Waiting for the kernel");
    await act(() => void (cut.value = true));
    expect(el.textContent).toBe("Cut off · run the cell again");
  });
});

test("keys within the widget are heard before the page, but for its own; those elsewhere are the page's", () => {
  const [heard, leaked]: [string[], string[]] = [[], []];
  const leak = (event: KeyboardEvent) => void leaked.push(event.key);
  document.addEventListener("keydown", leak, true);
  const stop = hearKeys(
    () => el,
    event => heard.push(event.key),
  );
  const press = (key: string, target: Element) =>
    target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, composed: true }));
  for (const key of ["d", "Shift", "Tab"]) press(key, el);
  press("x", document.body);
  expect([heard, leaked]).toEqual([["d"], ["Tab", "x"]]);
  stop();
  press("d", el);
  expect([heard, leaked]).toEqual([["d"], ["Tab", "x", "d"]]);
  document.removeEventListener("keydown", leak, true);
});
