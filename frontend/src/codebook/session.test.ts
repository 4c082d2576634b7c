// A draft in the browser: kept for the kernel that comes, told to all views, saved with choices.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Model, Reply } from "../shared/channel";
import { code } from "../shared/code.test.kit";
import type { Draft, Question, Step } from "./messages";
import { drafts, Session } from "./session";

type Asked = Question & { id: string; client: string };

/** Takes steps, and answers when it is told to; once dead, it says so by throwing. */
class Kernel {
  readonly asked: Asked[] = [];
  dead = false;
  steps: Step[] = [];
  typed: Record<string, string> = {};
  meaning: Draft["meaning"] = {};
  private readonly hear = new Set<(reply: Reply) => void>();

  model(): Model {
    return {
      send: content => {
        if (this.dead) throw new Error("comm is dead");
        this.asked.push(structuredClone(content) as Asked);
      },
      on: (_, listener) => void this.hear.add(listener),
      off: (_, listener) => void this.hear.delete(listener),
    };
  }

  draft(): Draft {
    const codes = [code("warm", "1"), code("kind", null)].map(one => ({
      ...one,
      origin: "deductive",
      source: "",
      rules_source: "",
      is_new: false,
      altered: [],
    }));
    return {
      base: "f1",
      moved_on: false,
      title: "Book",
      codes,
      changes: [],
      steps: this.steps,
      undone: [],
      said: this.steps.map(step => step.do),
      merged: {},
      taken: {},
      meaning: this.meaning,
    };
  }

  say(answer: object, to: Asked | null = null): void {
    [...this.hear].forEach(hear =>
      hear(
        structuredClone({ ...answer, id: to?.id ?? null, client: to?.client ?? null }) as unknown as Reply,
      ),
    );
  }

  answer(refuse = false): void {
    for (const asked of this.asked.splice(0)) {
      if (asked.type === "hello")
        this.say(
          { type: "welcome", coder: "lead", work_id: "work", typed: this.typed, n_lost: 0, ...this.draft() },
          asked,
        );
      else if (refuse) this.say({ type: "refused", message: "no" }, asked);
      else if (asked.type === "step" || asked.type === "restore") {
        this.steps = asked.type === "step" ? [...this.steps, asked.step] : [...asked.steps];
        this.say({ type: "draft", ...this.draft() });
        this.say({ type: "changed" }, asked);
      } else if (asked.type === "save") {
        const chosen = Object.keys(asked.choices).length > 0;
        const rows = [
          {
            name: "warm label",
            code: "warm",
            label: "Warm",
            field: "label",
            base: ["Warm"],
            mine: ["Mine"],
            theirs: ["Theirs"],
            both: null,
          },
        ];
        if (chosen) this.steps = [];
        this.say(
          chosen
            ? { type: "saved_draft", n_changes: 1, queues: [], unanswered: false }
            : { type: "conflict", by: null, rows },
          asked,
        );
      }
    }
  }
}

let kernel: Kernel;
let session: Session;

function open(): void {
  session = new Session(kernel.model());
  kernel.answer();
}

beforeEach(() => {
  kernel = new Kernel();
  open();
});

afterEach(() => {
  session.close();
  drafts().clear();
});

const said = () => session.draft.value?.said;

test("a step is shown once the kernel has taken it, and a refused one is said and waits no more", () => {
  session.edit("warm", { label: "Warmth" });
  expect(session.pending.value).toHaveLength(1);
  kernel.answer();
  expect([said(), session.pending.value]).toEqual([["edit"], []]);
  session.edit("warm", { label: "Kind" });
  kernel.answer(true);
  expect([said(), session.pending.value, session.message.value]).toEqual([["edit"], [], "no"]);
});

test("the steps outlive the kernel, those too that it never took", () => {
  session.edit("warm", { label: "Warmth" });
  kernel.answer();
  kernel.dead = true;
  session.edit("warm", { definition: "Closer." });
  expect([session.channel.cut.value, session.message.value]).toEqual([true, null]);
  session.close();
  kernel = new Kernel();
  open();
  expect(kernel.asked.map(({ type }) => type)).toContain("restore");
  kernel.answer();
  expect(kernel.steps.map(({ values }) => values)).toEqual([{ label: "Warmth" }, { definition: "Closer." }]);
  expect(said()).toEqual(["edit", "edit"]);
});

test("a draft that the kernel has is not written over by what a page kept", () => {
  session.edit("warm", { label: "Warmth" });
  kernel.answer();
  session.close();
  kernel = new Kernel();
  kernel.steps = [{ do: "retire", code: "kind" }];
  open();
  expect(kernel.asked.map(({ type }) => type)).not.toContain("restore");
});

test("what is typed outlives the page in the kernel, and the kernel in the page, whose is the later", () => {
  vi.useFakeTimers();
  session.begin("add");
  session.typed.put("add label", "Being lec");
  session.typed.put("field kind definition", "In mid-sen");
  vi.advanceTimersByTime(400);
  expect(kernel.asked.findLast(({ type }) => type === "keep")).toMatchObject({
    typed: { "add label": "Being lec", "field kind definition": "In mid-sen" },
  });
  const typed = { ...session.typed.words.value };
  session.close();
  drafts().clear(); // as in another page
  kernel = new Kernel();
  kernel.typed = typed;
  open();
  expect([session.form.value, session.selected.value, session.typed.of("add label")]).toEqual([
    "add",
    "kind",
    "Being lec",
  ]);
  kernel.dead = true;
  session.endForm();
  session.typed.put("field kind definition", "In mid-sentence");
  session.close();
  kernel = new Kernel();
  kernel.typed = typed; // which never heard of it
  open();
  expect(session.typed.words.value).toEqual({ "field kind definition": "In mid-sentence" });
  vi.useRealTimers();
});

test("nothing is kept of a draft without steps", () => {
  session.edit("warm", { label: "Warmth" });
  kernel.answer();
  expect(drafts().size).toBe(1);
  kernel.steps = [];
  kernel.say({ type: "draft", ...kernel.draft() });
  expect(drafts().size).toBe(0);
});

test("what both changed is chosen before it is saved, and the draft stays until then", () => {
  session.edit("warm", { label: "Mine" });
  kernel.answer();
  session.save("Why");
  kernel.answer();
  expect(session.conflict.value?.rows).toHaveLength(1);
  expect([said(), session.saving.value]).toEqual([["edit"], false]);
  session.choices.value = { "warm label": "mine" };
  session.save("Why");
  kernel.answer();
  expect([session.conflict.value, session.saved.value?.n_changes, session.choices.value]).toEqual([
    null,
    1,
    {},
  ]);
});

test("keys go through the tree, and a form opens for a code that can be applied", () => {
  expect(session.selected.value).toBe("warm");
  session.go(1);
  expect(session.selected.value).toBe("kind");
  session.go(1);
  expect(session.selected.value).toBe("kind");
  session.begin("split");
  expect(session.form.value).toBe("split");
  session.move("in");
  expect(kernel.asked.at(-1)).toMatchObject({
    type: "step",
    step: { do: "move", code: "kind", parent: "warm", before: null },
  });
});

test("what a change means is a step with the reason that is typed, and a claim without one is named", () => {
  session.edit("warm", { definition: "Warmer." });
  kernel.answer();
  const choices = (["redefine", "narrow", "widen", "reword"] as const).map((kind, n) => ({
    kind,
    words: kind,
    n,
    hours: null,
  }));
  kernel.say({
    type: "preview",
    words: "",
    by_code: [],
    by_coder: [],
    total: null,
    at_least: false,
    prices: [{ code: "warm", label: "Warm", choices }],
  });
  expect(session.unexplained).toBeUndefined();
  session.mean("warm", "reword");
  expect(session.pending.value).toEqual([{ do: "mean", code: "warm", kind: "reword", why: "" }]);
  kernel.meaning = { warm: { kind: "reword", why: "" } };
  kernel.answer();
  expect(session.unexplained).toBe("Warm");
  session.typed.put("mean warm why", "A typing error.");
  expect(session.unexplained).toBeUndefined();
  session.mean("warm", "reword");
  expect(session.pending.value.at(-1)).toMatchObject({ why: "A typing error." });
});

test("codes with low agreement are listed, the lowest first, and a code is found below a folded one", () => {
  const figure = (value: number | null) => ({ n: 1, prevalence: "", alpha: "", value, n_both: 2 });
  const codes = ["warm", "kind", "calm"].map(id => ({
    ...code(id, null),
    parent: id === "calm" ? "warm" : null,
    origin: "deductive",
    source: "",
    rules_source: "",
    is_new: false,
    altered: [],
  }));
  kernel.answer();
  kernel.say({ type: "draft", ...kernel.draft(), codes });
  kernel.say({
    type: "figures",
    figures: { warm: figure(0.667), kind: figure(0.5), calm: figure(-0.1) },
    n_proposals: 2,
    n_split: 3,
  });
  expect([session.weak.map(({ id }) => id), session.nProposals.value, session.nSplit.value]).toEqual([
    ["calm", "kind"],
    2,
    3,
  ]);
  session.book.fold(["warm"], true);
  session.findCode("  CAL");
  expect([session.selected.value, session.book.folded.value.has("warm")]).toEqual(["calm", false]);
  session.findCode("nothing");
  expect([session.selected.value, session.announced.value]).toEqual(["calm", "No code is called so"]);
});
