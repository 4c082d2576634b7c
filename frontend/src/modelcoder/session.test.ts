// One open view against a kernel in memory: nothing is sent without a consent, and what is begun is begun
// once.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Model, Reply } from "../shared/channel";
import { code } from "../shared/code.test.kit";
import type { Question, State } from "./messages";
import { Session } from "./session";

type Asked = Question & { id: string; client: string };

const STATE: State = {
  type: "state",
  ready: true,
  doing: "",
  done: 0,
  total: 0,
  n_prompts: 4,
  n_answers: 0,
  n_hidden: 0,
  n_missing: 0,
  n_tokens: 0,
  cost: "4 prompts would go there.",
  complete: false,
  recorded: false,
};

class Kernel {
  readonly asked: Question[] = [];
  readonly hear = new Set<(reply: Reply) => void>();
  refuses = false;

  model(): Model {
    return {
      send: content => {
        const asked = structuredClone(content) as Asked;
        this.asked.push(asked);
        queueMicrotask(() => this.say({ ...this.answer(asked), id: asked.id, client: asked.client }));
      },
      on: (_, listener) => void this.hear.add(listener),
      off: (_, listener) => void this.hear.delete(listener),
    };
  }

  say(message: object): void {
    [...this.hear].forEach(hear =>
      hear(structuredClone({ id: null, client: null, ...message }) as unknown as Reply),
    );
  }

  tell(state: Partial<State>): void {
    this.say({ ...STATE, ...state });
  }

  of(type: Question["type"]): Question[] {
    return this.asked.filter(one => one.type === type);
  }

  answer(asked: Asked): object {
    if (asked.type === "hello")
      return {
        type: "welcome",
        coder: "lead",
        work_id: "study",
        model: "model-a",
        chats: true,
        n_texts: 2,
        codebook: { title: "t", version: "", facets: [], codes: [code("warm", "w"), code("cold", "c")] },
      };
    if (asked.type === "text")
      return {
        type: "text",
        place: asked.place,
        code: asked.code,
        unit_id: `m${asked.place}`,
        text: "It listened.",
        context: [],
        messages: [],
        hidden: false,
        answer: null,
        verdicts: {},
      };
    if (asked.type === "missing")
      return {
        type: "missing",
        rows: [
          {
            reason: "unsure",
            words: "unsure",
            n: 2,
            n_hidden: 0,
            texts: [0, 1].map(place => ({ place, unit_id: `m${place}`, code: "cold" })),
          },
        ],
      };
    if (asked.type === "stop") return { type: "stopping" };
    return this.refuses ? { type: "refused", message: "No." } : { type: "begun", places: [1] };
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
  kernel.tell({});
  await settle();
  return made;
}

beforeEach(() => vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => {
  open.forEach(one => one.close());
  open = [];
  vi.useRealTimers();
});

test("nothing is sent before one agrees, and then what one agreed to, once", async () => {
  const kernel = new Kernel();
  const view = await session(kernel);
  view.send("code");
  view.record();
  await settle();
  expect([kernel.of("code"), kernel.of("record")]).toEqual([[], []]);
  view.agree();
  view.send("code");
  view.send("code");
  view.send("try");
  await settle();
  expect(kernel.of("code")).toMatchObject([{ consent: STATE.cost }]);
  expect(kernel.of("try")).toEqual([]);
});

test("what is refused has not started and needs a new consent", async () => {
  const kernel = new Kernel();
  const view = await session(kernel);
  kernel.refuses = true;
  view.agree();
  view.send("try");
  expect(view.busy.value).toBe(true);
  await settle();
  expect([view.busy.value, view.agreed.value, view.message.value]).toEqual([false, "", "No."]);
});

test("the first of the texts that were tried opens, and Stop stops", async () => {
  const kernel = new Kernel();
  const view = await session(kernel);
  view.stop();
  view.agree();
  view.send("try");
  await settle();
  kernel.tell({ doing: "trying", done: 1, total: 4, n_answers: 1 });
  view.stop();
  await settle();
  expect([kernel.of("stop").length, view.stopping.value]).toEqual([1, true]);
  kernel.tell({ n_answers: 2, cost: "2 prompts would go there." });
  await settle();
  expect([view.place.value, view.busy.value, view.stopping.value]).toEqual([1, false, false]);
});

test("a missing answer opens with its text and code", async () => {
  const kernel = new Kernel();
  const view = await session(kernel);
  view.list();
  await settle();
  view.go(1);
  view.openMissing();
  await settle();
  expect([view.missing.value, view.place.value, view.code.value]).toEqual([null, 1, "cold"]);
  view.nextCode(1);
  view.go(1);
  await settle();
  expect([view.place.value, view.code.value, view.shown.value?.code]).toEqual([1, "warm", "warm"]);
});
