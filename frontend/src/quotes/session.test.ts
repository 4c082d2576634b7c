// Choosing quotes in the browser: keys to decisions, words and paraphrases, what is begun, a kernel that is
// gone.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Model, Reply } from "../shared/channel";
import { code } from "../shared/code.test.kit";
import { shelf } from "../shared/outbox";
import type { Act } from "../shared/protocol";
import type { Candidate, Draft, Question, Quote } from "./messages";
import { drafts, Session } from "./session";

type Asked = (Question | { type: "act"; act: Act }) & { id: string; client: string };

const TEXT = "It asked how I was 👩‍👩‍👧, and then it listened.";

/** Records decisions; answers at once, until it is dead. */
class Kernel {
  readonly acts: Act[] = [];
  readonly undone = new Set<string>();
  kept: Draft[] = [];
  dead = false;
  mute = false;
  private readonly hear = new Set<(reply: Reply) => void>();

  model(): Model {
    return {
      send: content => {
        if (this.dead) throw new Error("comm is dead");
        const asked = structuredClone(content) as Asked;
        if (!this.mute) queueMicrotask(() => this.say(this.answer(asked), asked));
      },
      on: (_, listener) => void this.hear.add(listener),
      off: (_, listener) => void this.hear.delete(listener),
    };
  }

  say(answer: object, to: Asked): void {
    [...this.hear].forEach(hear =>
      hear(structuredClone({ ...answer, id: to.id, client: to.client }) as unknown as Reply),
    );
  }

  row(n: number, of = "warm"): Candidate {
    const act = this.acts.findLast(
      one => one.unit_id === `m${n}` && one.code === of && !this.undone.has(one.id),
    );
    const whole = { words: TEXT, cut: false, marks: [] };
    const quote: Quote | null = act
      ? {
          start: act.start!,
          end: act.end!,
          state: act.state as "approved",
          role: act.role as "shows",
          paraphrase: act.paraphrase ?? null,
          by: "lead",
          at: "2026-03-01T09:00:00Z",
          words: whole,
        }
      : null;
    return {
      unit_id: `m${n}`,
      code: of,
      start: null,
      end: null,
      ...whole,
      case_id: `p${n}`,
      rating: "4",
      coders: "ana",
      role: "shows",
      why: "drawn at random",
      drawn: true,
      removed: this.removed.includes(n),
      identifies: "",
      quote,
    };
  }

  /** Passages whose coding was removed. */
  removed: number[] = [];

  progress() {
    return ["warm", "cold"].map(of => ({
      code: of,
      n_approved: [0, 1, 2].filter(n => this.row(n, of).quote?.state === "approved").length,
      n_waiting: 0,
      n_against: 0,
      n_wanted: 3,
      n_candidates: 3,
    }));
  }

  answer(asked: Asked): object {
    const progress = this.progress();
    switch (asked.type) {
      case "hello":
        return {
          type: "welcome",
          coder: "lead",
          work_id: "study",
          codebook: { title: "t", version: "", facets: [], codes: [code("warm", "w"), code("cold", "c")] },
          rating: "Stars",
          words: "Counted.",
          progress,
          unsaved: this.kept.length ? { drafts: this.kept } : {},
        };
      case "code":
        return {
          type: "code",
          code: asked.code,
          n: 3,
          first: 0,
          rows: [0, 1, 2].map(n => this.row(n, asked.code)),
          progress,
        };
      case "text":
        return {
          ...this.row(Number(asked.unit_id[1]), asked.code),
          type: "text",
          text: TEXT,
          context: [],
          coded: [],
          whole: { words: TEXT, cut: false, marks: [] },
          others: [],
        };
      case "keep":
        this.kept = asked.drafts;
        return { type: "kept" };
      case "act":
        return this.record(asked.act);
    }
  }

  private record(act: Act): object {
    const last = this.acts.findLast(one => !this.undone.has(one.id));
    if (act.kind === "undo") this.undone.add(last!.id);
    else this.acts.push(act);
    const meant = act.kind === "undo" ? last! : act;
    return {
      type: "done",
      unit_id: meant.unit_id,
      code: meant.code,
      undone: act.kind === "undo",
      redone: false,
      rows: [this.row(Number(meant.unit_id![1]), meant.code)],
      progress: this.progress(),
    };
  }
}

const settle = async () => {
  for (let n = 0; n < 30; n++) await Promise.resolve();
};

let open: Session[] = [];
async function session(kernel: Kernel): Promise<Session> {
  const made = new Session(kernel.model());
  open.push(made);
  await settle();
  return made;
}

beforeEach(() => vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => {
  open.forEach(one => one.close());
  open = [];
  shelf().clear();
  drafts().clear();
  vi.useRealTimers();
});

test("one key each: approved and refused, and the next undecided passage opens", async () => {
  const kernel = new Kernel();
  const view = await session(kernel);
  expect(view.here.value?.unit_id).toBe("m0");
  view.approve();
  await settle();
  expect(view.here.value?.unit_id).toBe("m1");
  view.refuse();
  await settle();
  expect(
    kernel.acts.map(({ state, unit_id, paraphrase, role }) => [state, unit_id, paraphrase, role]),
  ).toEqual([
    ["approved", "m0", null, "shows"],
    ["refused", "m1", null, "shows"],
  ]);
  expect(view.ofCode("warm")?.n_approved).toBe(1);
  view.undo();
  await settle();
  expect([view.here.value?.unit_id, view.here.value?.quote]).toEqual(["m1", null]);
});

test("a paraphrase waits beside the words, and is approved as it stands", async () => {
  const kernel = new Kernel();
  const view = await session(kernel);
  view.beginParaphrase();
  view.write(" It enquired. ");
  view.endParaphrase();
  await settle();
  expect(kernel.acts.at(-1)).toMatchObject({ state: "chosen", paraphrase: "It enquired." });
  expect(view.here.value?.unit_id).toBe("m0");
  view.approve();
  await settle();
  expect(kernel.acts.at(-1)).toMatchObject({ unit_id: "m0", state: "approved", paraphrase: "It enquired." });
  // Nothing new is written, nothing is recorded.
  view.open(0);
  await settle();
  view.beginParaphrase();
  view.endParaphrase();
  await settle();
  expect(kernel.acts).toHaveLength(2);
  // Taken away, the participant's words wait for approval again.
  view.write("");
  view.endParaphrase();
  await settle();
  expect(kernel.acts.at(-1)).toMatchObject({ state: "chosen", paraphrase: null });
});

test("Ctrl+Enter approves what is being written", async () => {
  const kernel = new Kernel();
  const view = await session(kernel);
  view.beginParaphrase();
  view.write("It enquired.");
  view.approve();
  await settle();
  expect(kernel.acts).toHaveLength(1);
  expect(kernel.acts[0]).toMatchObject({ state: "approved", paraphrase: "It enquired." });
  expect(view.writing.value).toBe(false);
});

test("a quote whose paraphrase was erased is not approved in the participant's own words", async () => {
  const kernel = new Kernel();
  const view = await session(kernel);
  view.rows.value = view.rows.value.map((row, at) =>
    at
      ? row
      : {
          ...row,
          quote: {
            start: null,
            end: null,
            state: "erased",
            role: "shows",
            paraphrase: "",
            by: "lead",
            at: "2026-03-01T09:00:00Z",
            words: row,
          },
        },
  );
  view.approve();
  await settle();
  expect(kernel.acts).toEqual([]);
  expect(view.announced.value).toContain("erased");
});

test("shortened to the words selected, then the whole again", async () => {
  const kernel = new Kernel();
  const view = await session(kernel);
  view.shorten();
  expect(view.announced.value).toBe("Select the words to keep");
  view.selecting.select({ start: 3, end: 8 });
  view.shorten();
  await settle();
  expect(kernel.acts.at(-1)).toMatchObject({ state: "chosen", start: 3, end: 8 });
  view.approve();
  await settle();
  expect(kernel.acts.at(-1)).toMatchObject({ unit_id: "m0", state: "approved", start: 3, end: 8 });
  view.open(0);
  await settle();
  view.shorten();
  await settle();
  expect(kernel.acts.at(-1)).toMatchObject({ state: "chosen", start: null, end: null });
});

test("it speaks against the code", async () => {
  const kernel = new Kernel();
  const view = await session(kernel);
  view.turn();
  await settle();
  view.approve();
  await settle();
  expect(kernel.acts.map(({ state, role }) => [state, role])).toEqual([
    ["chosen", "disconfirms"],
    ["approved", "disconfirms"],
  ]);
});

test("nothing is decided about a text that is not on screen yet", async () => {
  const kernel = new Kernel();
  const view = await session(kernel);
  kernel.mute = true;
  view.open(1);
  view.approve();
  expect(view.outbox.waiting.value).toEqual([]);
  expect(view.announced.value).toBe("The text is still loading");
});

test("what is written and what is not saved outlives the kernel", async () => {
  const kernel = new Kernel();
  const view = await session(kernel);
  view.beginParaphrase();
  view.write("It enq");
  vi.advanceTimersByTime(500);
  await settle();
  expect(kernel.kept).toEqual([{ unit_id: "m0", code: "warm", start: null, end: null, text: "It enq" }]);
  view.open(1);
  await settle();
  kernel.dead = true;
  view.approve();
  expect([view.channel.cut.value, view.message.value]).toEqual([true, null]);
  view.close();
  drafts().clear();
  const again = new Kernel();
  again.kept = kernel.kept;
  const next = await session(again);
  await settle();
  expect(again.acts).toMatchObject([{ unit_id: "m1", state: "approved" }]);
  expect([next.here.value?.unit_id, next.writing.value, next.draft.value]).toEqual(["m0", true, "It enq"]);
});

test("a quote whose coding was removed can be refused, and nothing else", async () => {
  const kernel = new Kernel();
  kernel.acts.push({
    id: "1",
    kind: "quote",
    unit_id: "m1",
    code: "warm",
    start: null,
    end: null,
    state: "approved",
    role: "shows",
    paraphrase: null,
  });
  kernel.removed = [1];
  const view = await session(kernel);
  view.open(1);
  await settle();
  view.approve();
  view.turn();
  await settle();
  expect(view.announced.value.trim()).toBe("Its coding was removed, so you can only refuse it (r)");
  expect(kernel.acts.length).toBe(1);
  view.refuse();
  await settle();
  expect(kernel.acts.map(({ state }) => state)).toEqual(["approved", "refused"]);
});

test("what is pressed faster than passages and codes come is done to each in order", async () => {
  const kernel = new Kernel();
  const view = await session(kernel);
  const press = (...actions: (() => void)[]) => actions.forEach(action => view.presses.inTurn(action));
  press(
    () => view.approve(),
    () => view.refuse(),
    () => view.nextCode(1),
    () => view.approve(),
  );
  await settle();
  expect(kernel.acts.map(({ state, unit_id, code }) => [state, unit_id, code])).toEqual([
    ["approved", "m0", "warm"],
    ["refused", "m1", "warm"],
    ["approved", "m0", "cold"],
  ]);
  press(
    () => view.undo(),
    () => view.refuse(),
  );
  await settle();
  expect(kernel.acts.at(-1)).toMatchObject({ state: "refused", unit_id: "m0", code: "cold" });
});

test("a code without passages takes keys as ever", async () => {
  const kernel = new Kernel();
  const view = await session(kernel);
  kernel.row = () => ({}) as Candidate;
  view.rows.value = [];
  let done = false;
  view.presses.inTurn(() => (done = true));
  expect(done).toBe(true);
});
