// Which state of saving is shown for what is known; and when a silent kernel is a busy one, and when it is
// gone.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { KernelWatch, SILENCE_MS, type Host, type Model } from "./channel";
import { saveName, type Facts } from "./savestate";

const nothing: Facts = { kept: 0, asked: false, late: false, failed: false, cut: false };

test.each<[string, Partial<Facts>, string]>([
  ["nothing waits", {}, "saved"],
  ["nothing is kept, and the kernel did not hear a question", { cut: true }, "cut"],
  ["a change is on its way", { kept: 1 }, "saving"],
  ["a press waits for its text", { asked: true }, "saving"],
  ["the kernel runs a cell", { kept: 2, late: true }, "waiting"],
  ["the kernel runs a cell, and a text is asked for", { asked: true, late: true }, "waiting"],
  ["the kernel said that saving failed", { kept: 2, failed: true }, "failed"],
  ["it said so, and has been silent since", { kept: 2, failed: true, late: true }, "failed"],
  ["the kernel was restarted", { kept: 2, cut: true }, "cut"],
  ["the kernel was restarted after it had failed", { kept: 2, late: true, failed: true, cut: true }, "cut"],
  ["the kernel was restarted, and a text is asked for", { asked: true, late: true, cut: true }, "cut"],
])("%s: %o is %s", (_, known, state) => {
  expect(saveName({ ...nothing, ...known })).toBe(state);
});

type Kernel = NonNullable<Host["kernel"]>;
const gone = vi.fn();
const watching = (kernel?: Kernel | null) =>
  new KernelWatch({ widget_manager: { kernel } } as unknown as Model, gone);
const send = (to: KernelWatch, ms: number) => (vi.advanceTimersByTime(ms), to.sent());

beforeEach(() => (gone.mockReset(), void vi.useFakeTimers()));
afterEach(() => void vi.useRealTimers());

test.each<[string, Kernel | null | undefined]>([
  ["busy", { status: "busy", connectionStatus: "connected" }],
  ["unknown, while it connects again", { status: "unknown", connectionStatus: "connecting" }],
  ["not told of by this host", undefined],
  ["not there yet", null],
])("a kernel that is %s is waited for, however long", (_, kernel) => {
  const to = watching(kernel);
  expect([send(to, 0), send(to, SILENCE_MS), send(to, 100 * SILENCE_MS)]).toEqual([false, false, false]);
});

test("one that is idle and silent for half a minute is gone; what it says or does in between counts", () => {
  const kernel: Kernel = { status: "idle", commsOverSubshells: "perCommTarget" };
  const to = watching(kernel);
  expect([send(to, 0), send(to, SILENCE_MS - 1), send(to, 1)]).toEqual([false, false, true]);
  to.heard();
  expect([send(to, 0), send(to, SILENCE_MS - 1)]).toEqual([false, false]);
  kernel.status = "busy";
  expect(send(to, 1)).toBe(false);
  kernel.status = "idle";
  expect([send(to, SILENCE_MS), send(to, SILENCE_MS)]).toEqual([false, true]);
  kernel.status = "busy";
  expect(send(to, 1)).toBe(true); // with another cell of the kernel that took its place
  expect(kernel.commsOverSubshells).toBe("perCommTarget"); // other widgets may be heard all the same
});

test("a line that was cut is laid again once the page's server answers, and one that holds is left", () => {
  const laid: string[] = [];
  const kernel = (connectionStatus: string) => ({
    connectionStatus,
    reconnect: () => (laid.push(connectionStatus), Promise.reject(new Error("gone"))),
  });
  const watches = ["connecting", "connected", "disconnected"].map(status =>
    watching(kernel(status) as Kernel),
  );
  dispatchEvent(new Event("s7-answers"));
  expect(laid).toEqual(["connecting", "disconnected"]);
  watches.forEach(watch => watch.close());
  dispatchEvent(new Event("s7-answers"));
  expect(laid).toHaveLength(2);
});

test.each<Kernel>([{ status: "dead" }, { status: "unknown", connectionStatus: "disconnected" }])(
  "%o is gone at once",
  kernel => {
    expect(watching(kernel).sent()).toBe(true);
  },
);

test.each([
  ["starting", true, "disabled"],
  ["restarting", true, "perCommTarget"],
  ["autorestarting", true, "perCommTarget"],
  ["busy", false, "perCommTarget"],
])("a kernel that turns %s was restarted: %s, and its subshells are %s", (status, restarted, subshells) => {
  let say = (_: unknown, __: string) => {};
  const statusChanged = { connect: vi.fn(heard => void (say = heard)), disconnect: vi.fn() };
  const kernel: Kernel = { status: "busy", commsOverSubshells: "perCommTarget", statusChanged };
  const to = watching(kernel);
  say(kernel, status);
  expect([to.sent(), gone.mock.calls.length === 1, kernel.commsOverSubshells]).toEqual([
    restarted,
    restarted,
    subshells,
  ]);
  expect(statusChanged.disconnect.mock.calls.length).toBe(restarted ? 1 : 0);
});
