// Whose definition is open, while the mouse goes over codes on its way to it.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { headsFor, HOVER_MS, OpenDefinition, REST_MS } from "./opendefinition";

const PANEL = { left: 0, right: 300, top: 400, bottom: 600 } as DOMRect;
let definition: OpenDefinition;

beforeEach(() => {
  vi.useFakeTimers();
  definition = new OpenDefinition();
});

afterEach(() => vi.useRealTimers());

/** Move the mouse step by step, 20 ms each: over codes 30 pixels high, the first at the top. */
function move(from: [number, number], to: [number, number], steps = 10): void {
  for (let step = 0; step <= steps; step++) {
    const [x, y] = [0, 1].map(at => from[at]! + ((to[at]! - from[at]!) * step) / steps) as [number, number];
    if (y >= PANEL.top) definition.leave();
    else definition.hover(`code${Math.floor(y / 30)}`, { x, y }, PANEL);
    vi.advanceTimersByTime(20);
  }
}

test("the code under the mouse opens after a moment", () => {
  definition.hover("care", { x: 10, y: 10 }, PANEL);
  expect(definition.id.value).toBeNull();
  vi.advanceTimersByTime(HOVER_MS);
  expect(definition.id.value).toBe("care");
});

test("on the way down to the definition no other code opens, however far it is", () => {
  move([250, 40], [150, 40]);
  vi.advanceTimersByTime(HOVER_MS);
  expect(definition.id.value).toBe("code1");
  move([150, 40], [200, 450], 60);
  vi.advanceTimersByTime(10 * REST_MS);
  expect(definition.id.value).toBe("code1");
});

test("where the mouse rests on the way, or goes up, the code under it opens", () => {
  move([150, 40], [150, 40]);
  vi.advanceTimersByTime(REST_MS);
  move([150, 40], [150, 160]);
  expect(definition.id.value).toBe("code1");
  vi.advanceTimersByTime(REST_MS);
  expect(definition.id.value).toBe("code5");
  move([150, 160], [150, 100], 3);
  vi.advanceTimersByTime(HOVER_MS);
  expect(definition.id.value).toBe("code3");
});

test("leaving the codes opens nothing more", () => {
  definition.ask("joy");
  definition.hover("care", { x: 10, y: 10 }, PANEL);
  definition.leave();
  vi.advanceTimersByTime(REST_MS);
  expect(definition.id.value).toBe("joy");
});

test("pinned it stays, whatever is hovered, focused or applied; by its key another is seen for the moment", () => {
  definition.togglePin("care");
  definition.ask("joy");
  definition.hover("help", { x: 10, y: 10 }, PANEL);
  vi.advanceTimersByTime(REST_MS);
  expect(definition.id.value).toBe("care");
  definition.glimpse("joy");
  expect(definition.id.value).toBe("joy");
  definition.endGlimpse();
  expect(definition.id.value).toBe("care");
  definition.togglePin("care");
  expect([definition.id.value, definition.pinned.value]).toEqual(["care", null]);
  definition.ask("joy");
  expect(definition.id.value).toBe("joy");
});

test("what is seen for the moment can be pinned in its turn", () => {
  definition.togglePin("care");
  definition.glimpse("joy");
  definition.togglePin("joy");
  definition.endGlimpse();
  expect([definition.id.value, definition.pinned.value]).toEqual(["joy", "joy"]);
});

test.each([
  ["straight down", [0, 1], true],
  ["down at a slant", [1, 3], true],
  ["beside it", [1, 1], false],
  ["to the side", [1, 0], false],
  ["up", [0, -1], false],
  ["nowhere", [0, 0], false],
])("%s leads to a panel below: %s %s", (_, [x, y], expected) => {
  expect(headsFor({ x: 150, y: 100 }, { x: 150 + x!, y: 100 + y! }, PANEL)).toBe(expected);
});
