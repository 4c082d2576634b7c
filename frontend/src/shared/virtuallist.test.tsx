// A long list: only the rows in view are in the page.
import { render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { scrolledTo, VirtualList } from "./virtuallist";

let el: HTMLElement;

beforeEach(() => {
  vi.spyOn(HTMLElement.prototype, "clientHeight", "get").mockReturnValue(100);
  el = document.createElement("div");
  document.body.replaceChildren(el);
});

afterEach(() => {
  render(null, el);
  vi.restoreAllMocks();
});

const rows = () => [...el.querySelectorAll("p")].map(row => Number(row.textContent));
let shown: [number, number];
const onShown = (first: number, last: number) => void (shown = [first, last]);
const draw = (count: number, cursor: number) =>
  act(() =>
    render(
      <VirtualList
        {...{ count, cursor, onShown }}
        rowHeight={20}
        box={{ class: "rows" }}
        row={(index, style) => (
          <p key={index} style={style}>
            {index}
          </p>
        )}
      />,
      el,
    ),
  );

test("of 100,000 rows those around the window are drawn, at their height", async () => {
  await draw(100_000, 0);
  expect([rows(), shown]).toEqual([
    [0, 1, 2, 3, 4, 5, 6, 7, 8],
    [0, 9],
  ]);
  await draw(100_000, 50_000);
  expect(rows()).toContain(50_000);
  expect(rows().length).toBeLessThan(15);
  const row = [...el.querySelectorAll("p")].find(({ textContent }) => textContent === "50000")!;
  expect(row.style.top).toBe("1000000px");
  const box = el.querySelector(".rows")!;
  await act(() => {
    box.scrollTop = 400;
    box.dispatchEvent(new Event("scroll"));
  });
  expect(rows()[0]).toBe(16);
});

test("where the row in view stays in view, how far the list is scrolled is neither asked nor set", async () => {
  await draw(1000, 0);
  const touched = vi.spyOn(Element.prototype, "scrollTop", "get").mockReturnValue(0);
  const set = vi.spyOn(Element.prototype, "scrollTop", "set");
  await draw(400, 0);
  await draw(400, 2);
  expect([touched.mock.calls.length, set.mock.calls]).toEqual([0, []]);
  await draw(400, 8);
  expect([touched.mock.calls.length, set.mock.calls]).toEqual([0, [[80]]]);
  expect(rows()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
});

test("a list that became shorter, with its row in view, shows its end", async () => {
  await draw(1000, 998);
  await draw(996, 995);
  expect([rows()[0], rows().at(-1)]).toEqual([987, 995]);
});

test("a list that became short shows all it has", async () => {
  await draw(1000, 900);
  await draw(2, 0);
  expect(rows()).toEqual([0, 1]);
  await draw(0, 0);
  expect(rows()).toEqual([]);
});

test("is scrolled as little as can be, and for a row far away so that it stands in the middle", () => {
  expect(scrolledTo(40, 20, 0, 100)).toBe(0);
  expect(scrolledTo(100, 20, 0, 100)).toBe(20);
  expect(scrolledTo(60, 20, 80, 100)).toBe(60);
  expect(scrolledTo(1000, 20, 0, 100)).toBe(960);
  expect(scrolledTo(0, 20, 500, 100)).toBe(0);
});
