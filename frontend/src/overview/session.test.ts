// The overview in the browser: parts as they come, doors and back, and recounting no more often than others in
// the kernel can bear.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Model, Reply } from "../shared/channel";
import { code } from "../shared/code.test.kit";
import type { Door, Question } from "./messages";
import { Session } from "./session";

type Asked = Question & { id: string; client: string };

class Kernel {
  readonly asked: Asked[] = [];
  private readonly hear = new Set<(reply: Reply) => void>();

  model(): Model {
    return {
      send: content => void this.asked.push(structuredClone(content) as Asked),
      on: (_, listener) => void this.hear.add(listener),
      off: (_, listener) => void this.hear.delete(listener),
    };
  }

  say(answer: object, to: Asked | null = null): void {
    [...this.hear].forEach(hear =>
      hear(
        structuredClone({ ...answer, id: to?.id ?? null, client: to?.client ?? null }) as unknown as Reply,
      ),
    );
  }

  /** Answer what was asked; lists have `n` texts. */
  answer(n = 3): void {
    for (const asked of this.asked.splice(0)) {
      if (asked.type === "hello") this.say({ type: "welcome", coder: "lead", book: BOOK, parts: [] }, asked);
      else if (asked.type === "count") this.say({ type: "counting" }, asked);
      else if (asked.type === "unit")
        this.say({ type: "unit", unit_id: asked.unit_id, text: "Text", viewer: "lead", coders: [] }, asked);
      else if (asked.type === "units") {
        const rows = Array.from({ length: Math.min(2, n - asked.first) }, (_, at) => ({
          unit_id: `${asked.door.of}${asked.first + at}`,
          words: "",
          note: "",
        }));
        this.say({ type: "units", title: asked.door.of, n, first: asked.first, rows }, asked);
      }
    }
  }

  types(): string[] {
    return this.asked.map(({ type }) => type);
  }
}

const BOOK = { title: "Book", codes: [code("warm", "1")] };
const DOOR: Door = { of: "open" };
let kernel: Kernel;
let session: Session;

beforeEach(() => {
  vi.useFakeTimers();
  kernel = new Kernel();
  session = new Session(kernel.model());
  kernel.answer();
});

afterEach(() => {
  session.close();
  vi.useRealTimers();
});

function counted(after = 0): void {
  vi.advanceTimersByTime(after);
  kernel.say({ type: "counted" });
}

test("each part is shown as it comes, to a second view at once", () => {
  expect([session.coder.value, session.counting.value]).toEqual(["lead", true]);
  const rounds = {
    type: "rounds",
    at: "2026-03-02T09:00:00+00:00",
    rows: [],
    book: { ...BOOK, title: "Newer" },
  };
  kernel.say(rounds);
  expect([session.rounds.value?.at, session.book.codebook.value?.title, session.agreement.value]).toEqual([
    rounds.at,
    "Newer",
    null,
  ]);
  counted();
  expect(session.counting.value).toBe(false);
});

test("what cannot be counted is said, and counting has ended", () => {
  kernel.say({ type: "uncounted", message: "damaged" });
  expect([session.counting.value, session.message.value]).toEqual([false, "damaged"]);
});

test("acts that come in are counted once, after a rest of three times what counting took", () => {
  counted(2_000);
  kernel.say({ type: "acted" });
  kernel.say({ type: "acted" });
  vi.advanceTimersByTime(5_900);
  expect(kernel.types()).toEqual([]);
  vi.advanceTimersByTime(200);
  expect(kernel.types()).toEqual(["count"]);
  expect(session.older.value).toBe(false);
});

test("acts that come in while it counts are counted after it, and nothing while nobody sees the page", () => {
  kernel.say({ type: "acted" });
  vi.advanceTimersByTime(10_000);
  expect(kernel.types()).toEqual([]);
  session.inSight.value = false;
  counted();
  vi.advanceTimersByTime(60_000);
  expect(kernel.types()).toEqual([]);
  session.inSight.value = true;
  vi.advanceTimersByTime(30_100);
  expect(kernel.types()).toEqual(["count"]);
});

test("a number opens its texts, the first of them beside the list, and back leads to the number", () => {
  session.open(DOOR, ".door");
  expect(session.focus.value).toBe(".s7-rows");
  kernel.answer();
  expect([session.title.value, session.list.count.value]).toEqual(["open", 3]);
  kernel.answer();
  expect(session.text.value?.unit_id).toBe("open0");
  session.list.move(1);
  kernel.answer();
  expect(session.text.value?.unit_id).toBe("open1");
  session.list.want(0, 3);
  kernel.answer();
  expect(session.list.rows.value.get(2)?.unit_id).toBe("open2");
  session.back();
  expect([session.door.value, session.text.value, session.focus.value]).toEqual([null, null, ".door"]);
});

test("the answer to another number that comes late is not shown", () => {
  session.open(DOOR, ".door");
  const late = kernel.asked.splice(0);
  session.open({ of: "left", coder: "ana" }, ".other");
  kernel.asked.unshift(...late);
  kernel.answer();
  expect(session.list.rows.value.size).toBe(0);
  kernel.answer();
  expect([session.title.value, session.list.rows.value.get(0)?.unit_id]).toEqual(["left", "left0"]);
});

test("each part is shown as it comes", () => {
  const row = {
    coder: "ben",
    code: "warm",
    label: "Warm",
    n: 200,
    at: 0,
    others_at: 0.14,
    share: "0 %",
    others: "14 %",
    n_apart: 27,
  };
  kernel.say({ type: "leaning", rows: [row] });
  kernel.say({ type: "attention", of_coder: false, rows: [] });
  expect([session.leaning.value?.rows, session.attention.value?.rows]).toEqual([[row], []]);
});
