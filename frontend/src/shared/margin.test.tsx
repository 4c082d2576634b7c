// The margin: lanes by lines, labels that never cover each other, and one label for each coding.
import { options, render } from "preact";
import { act } from "preact/test-utils";
import { expect, test } from "vitest";
import { UNKNOWN } from "./colours";
import { lanesOf, Margin, pushed, type MarginItem } from "./margin";

test("two on one line have lanes of their own, and a lane is used again on the lines below", () => {
  const lines = [
    { first: 0, last: 1 },
    { first: 1, last: 1 },
    { first: 2, last: 4 },
    { first: 3, last: 3 },
  ];
  expect(lanesOf(lines)).toEqual([0, 1, 0, 1]);
});

test("a label is pushed down by those above it and no further", () => {
  expect(pushed([0, 0, 31, 200])).toEqual([0, 24, 48, 200]);
});

test("each has its bar and its label, in the order of the text; Tab stops at the marked one", async () => {
  const [box, el, picked] = [document.createElement("div"), document.createElement("div"), [] as string[]];
  render(<div>one two three</div>, box);
  document.body.replaceChildren(box, el);
  const item = (id: string, start: number, end: number, active: boolean): MarginItem => ({
    id,
    span: { start, end },
    look: { ...UNKNOWN, tag: id },
    name: id,
    more: ["met"],
    title: `${id}, met`,
    names: ["s7-coding"],
    active,
    onPick: () => void picked.push(id),
  });
  await act(() =>
    render(
      <Margin
        text={{ current: box }}
        label="Codings of words"
        starts={[0]}
        items={[item("b", 4, 7, true), item("a", 0, 3, false)]}
      />,
      el,
    ),
  );
  const buttons = [...el.querySelectorAll("button")];
  expect(
    buttons.map(button => [button.textContent, button.tabIndex, button.getAttribute("aria-label")]),
  ).toEqual([
    ["aamet", -1, "a, met"],
    ["bbmet", 0, "b, met"],
  ]);
  expect(el.querySelectorAll(".s7-stripe")).toHaveLength(2);
  expect(el.querySelectorAll(".s7-label.s7-active strong")[0]!.textContent).toBe("b");
  buttons[0]!.click();
  expect(picked).toEqual(["a"]);
  await act(() => render(null, el));
});

test("a coding that is marked draws the row of its own block again, and no other", async () => {
  const [box, el, n] = [document.createElement("div"), document.createElement("div"), 40];
  const starts = Array.from({ length: n }, (_, at) => at * 100);
  render(
    starts.map(start => <div key={start}>{"word ".repeat(20)}</div>),
    box,
  );
  document.body.replaceChildren(box, el);
  const items = (active: number) =>
    Array.from(
      { length: 10 * n },
      (_, at): MarginItem => ({
        id: `c${at}`,
        span: { start: at * 10, end: at * 10 + 4 },
        look: { ...UNKNOWN, tag: "1" },
        name: "One",
        more: [],
        title: "One",
        names: ["s7-coding"],
        active: at === active,
        onPick: () => {},
      }),
    );
  const show = (active: number) =>
    act(() =>
      render(
        <Margin text={{ current: box }} label="Codings of words" starts={starts} items={items(active)} />,
        el,
      ),
    );
  await show(5);
  expect(el.querySelectorAll("button")).toHaveLength(10 * n);
  const before = options.diffed;
  let compared = 0;
  options.diffed = node => (compared++, before?.(node));
  try {
    await show(205);
  } finally {
    options.diffed = before;
  }
  expect(
    [...el.querySelectorAll("[aria-current]")].map(button => (button as HTMLElement).dataset.id),
  ).toEqual(["c205"]);
  expect(compared).toBeLessThan(250); // of the 20 items of two rows, of 400 in all
  await act(() => render(null, el));
});
