// Settling in the browser: keys to rulings, the next one opens, undo, letters, notes, a change of the
// codebook.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Model, Reply } from "../shared/channel";
import { code } from "../shared/code.test.kit";
import { shelf } from "../shared/outbox";
import type { Act } from "../shared/protocol";
import type { Change, Dispute, Queue, QueueRow, Question, Ruling, Unsaved } from "./messages";
import { keyOf, notes, Session } from "./session";

type Asked = (Question | { type: "act"; act: Act }) & { id: string; client: string };

const SETTLED = { true: "applied", false: "absent", null: "differing" } as const;

/** Records rulings, and answers when it is told to; once dead, it says so by throwing. */
class Kernel {
  readonly asked: Asked[] = [];
  readonly rulings: Act[] = [];
  readonly undone: Act[] = [];
  dead = false;
  /** Whether a revision voided the rulings. */
  voided = false;
  letters = false;
  by: Queue["by"] = "split";
  unsaved: Partial<Unsaved> = {};
  private readonly hear = new Set<(reply: Reply) => void>();

  constructor(readonly n = 3) {}

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

  ruling(unit_id: string): Ruling | null {
    const act = this.voided
      ? undefined
      : this.rulings.findLast(
          one => one.unit_id === unit_id || one.rows?.some(row => row.unit_id === unit_id),
        );
    return act
      ? {
          settled: SETTLED[`${act.applied!}`],
          reason: act.reason!,
          note: act.note ?? "",
          by: "you",
          at: "2026-01-01",
        }
      : null;
  }

  queue(): Queue {
    const rows = Array.from(
      { length: this.n },
      (_, n): QueueRow => ({
        unit_id: `m${n}`,
        code: "warm",
        n_applied: 1,
        n_coders: 2,
        group: "",
        words: "",
        coders: ["ana", "ben"],
        apart: [],
        settled: this.ruling(`m${n}`)?.settled ?? null,
      }),
    );
    const settled = rows.filter(row => row.settled).length;
    return {
      by: this.by,
      letters: this.letters,
      rows,
      words: "Counted.",
      n_open: this.n - settled,
      n_settled: settled,
      by_code: [],
      brings: { n: 0, codes: [] },
    };
  }

  dispute(unit_id: string): Dispute {
    const coders = ["ana", "ben"].map((coder, n) => ({
      coder: this.letters ? "AB"[n]! : coder,
      applied: !n,
      memos: [],
      codings: n ? [] : [{ code: "warm", start: 0, end: 2, facets: {}, confidence: null }],
    }));
    return {
      type: "dispute",
      unit_id,
      code: "warm",
      text: "It listened.",
      context: [],
      coders,
      ruling: this.ruling(unit_id),
      others: [],
    };
  }

  say(answer: object, to: Asked | null = null): void {
    [...this.hear].forEach(hear =>
      hear(
        structuredClone({ ...answer, id: to?.id ?? null, client: to?.client ?? null }) as unknown as Reply,
      ),
    );
  }

  answer(only: (asked: Asked) => boolean = () => true): void {
    const due = this.asked.filter(only);
    this.asked.splice(0, this.asked.length, ...this.asked.filter(one => !only(one)));
    for (const asked of due) this.one(asked);
    if (this.asked.some(one => only(one))) this.answer(only);
  }

  private one(asked: Asked): void {
    const book = { title: "Book", version: "", facets: [], codes: [code("warm", null), code("kind", null)] };
    if (asked.type === "hello")
      this.say(
        {
          type: "welcome",
          coder: "lead",
          work_id: "work",
          reasons: REASONS,
          by_meaning: false,
          codebook: book,
          unsaved: this.unsaved,
          ...this.queue(),
        },
        asked,
      );
    else if (asked.type === "dispute") this.say(this.dispute(asked.unit_id), asked);
    else if (asked.type === "similar")
      this.say(
        { type: "similar", unit_id: asked.unit_id, code: asked.code, rows: [], n_ruled: 0, note: "" },
        asked,
      );
    else if (asked.type === "queue") {
      this.by = asked.by;
      this.say({ ...this.queue(), type: "queue" }, asked);
    } else if (asked.type === "names") {
      this.letters = asked.letters;
      this.say({ ...this.queue(), type: "named" });
      this.say({ type: "called" }, asked);
    } else if (asked.type === "change")
      this.say(
        {
          type: "change",
          base: "f1",
          by_coder: [],
          total: null,
          at_least: false,
          n_rulings: 0,
          n_leaving: 0,
          words: "",
        },
        asked,
      );
    else if (asked.type === "save_change") this.say({ type: "refused", message: "meanwhile" }, asked);
    else if (asked.type === "act") {
      const { kind } = asked.act;
      const act = kind === "undo" ? this.rulings.pop()! : kind === "redo" ? this.undone.pop()! : asked.act;
      if (kind === "undo") this.undone.push(act);
      else this.rulings.push(act);
      const { n_open, n_settled, by_code, brings } = this.queue();
      this.say(
        {
          type: "done",
          unit_id: act.unit_id,
          code: act.code,
          undone: kind === "undo",
          redone: kind === "redo",
          counts: kind !== "undo" && !this.voided,
          ruling: this.ruling(act.unit_id!),
          also: (act.rows ?? [])
            .slice(1)
            .map(({ unit_id, code }) => ({ unit_id, code, ruling: this.ruling(unit_id) })),
          n_open,
          n_settled,
          by_code,
          brings,
        },
        asked,
      );
    }
  }
}

const REASONS = ["slip", "unclear_rule", "ambiguous_text", "missing_code", "different_reading"].map(name => ({
  name,
  label: name,
}));

let kernel: Kernel;
let session: Session;

function open(of = new Kernel()): void {
  kernel = of;
  session = new Session(kernel.model());
  kernel.answer();
}

beforeEach(() => {
  vi.useFakeTimers();
  open();
});

afterEach(() => {
  session.close();
  shelf().clear();
  notes().clear();
  vi.useRealTimers();
});

/** Begin with so many disagreements. */
function again(n: number): void {
  session.close();
  open(new Kernel(n));
}

const said = () => kernel.rulings.map(({ unit_id, applied, reason }) => [unit_id, applied, reason]);

test("two presses settle a text, and the next opens at once, before the first is saved", () => {
  session.decide(true);
  session.because("slip");
  expect([session.dispute.value?.unit_id, session.settledOf({ unit_id: "m0", code: "warm" })]).toEqual([
    "m1",
    "pending",
  ]);
  session.decide(false);
  session.because("ambiguous_text");
  kernel.answer();
  expect(said()).toEqual([
    ["m0", true, "slip"],
    ["m1", false, "ambiguous_text"],
  ]);
  expect([
    session.nOpen.value,
    session.nSettled.value,
    session.settledOf({ unit_id: "m0", code: "warm" }),
  ]).toEqual([1, 2, "applied"]);
});

test("different readings are one press, and take no decision along", () => {
  session.decide(true);
  session.because("different_reading");
  kernel.answer();
  session.because("different_reading");
  kernel.answer();
  expect(said()).toEqual([
    ["m0", null, "different_reading"],
    ["m1", null, "different_reading"],
  ]);
});

test("nothing is ruled without a decision, nor on a text that is not on screen yet", () => {
  again(6);
  session.because("slip");
  expect(kernel.asked).toEqual([]);
  for (let n = 0; n < 5; n++) {
    // three were fetched ahead: m4 is on its way
    session.decide(true);
    session.because("slip");
  }
  expect(session.here.value?.unit_id).toBe("m4");
  kernel.answer();
  session.because("slip");
  kernel.answer();
  expect(said().map(([unit]) => unit)).toEqual(["m0", "m1", "m2", "m3"]);
});

/** Press keys as the page does, while the kernel says nothing; then let it answer until all is done. */
const press = (...actions: (() => void)[]) => actions.forEach(action => session.presses.inTurn(action));
const settle = async () => {
  for (let turn = 0; turn < 60; turn++) {
    kernel.answer();
    await Promise.resolve();
  }
};
const ruling = [() => session.decide(true), () => session.because("slip")];

test("a burst of rulings, faster than the texts come, settles each text in order", async () => {
  again(12);
  press(...Array(10).fill(ruling).flat());
  expect(session.here.value?.unit_id).toBe("m4");
  await settle();
  expect(said()).toEqual(Array.from({ length: 10 }, (_, n) => [`m${n}`, true, "slip"]));
});

test("what is pressed after one that is taken back is meant for that text", async () => {
  press(
    ...ruling,
    () => session.undo(),
    () => session.decide(false),
    () => session.because("unclear_rule"),
  );
  await settle();
  expect(said()).toEqual([["m0", false, "unclear_rule"]]);
});

test("what was typed into a note that had not opened yet settles nothing", async () => {
  again(6);
  press(...Array(4).fill(ruling).flat());
  session.presses.inTurn(() => session.beginNote(), { opens: true });
  press(...ruling);
  await settle();
  expect([said().length, session.noting.value, session.announced.value]).toEqual([
    4,
    true,
    expect.stringMatching(/^2 key presses were ignored/),
  ]);
});

test("where a text cannot be read, what was pressed for it is named, and the keys go on", async () => {
  again(6);
  press(...Array(5).fill(ruling).flat());
  const asked = kernel.asked.find(one => one.type === "dispute" && one.unit_id === "m4")!;
  kernel.asked.length = 0;
  kernel.say({ type: "failed", message: "showing the text failed" }, asked);
  await settle();
  expect([session.message.value, session.announced.value]).toEqual([
    "showing the text failed",
    expect.stringMatching(/^2 key presses were ignored/),
  ]);
  vi.advanceTimersByTime(2000);
  press(() => session.go(1));
  await settle();
  expect(session.dispute.value?.unit_id).toBe("m5");
});

test("a new order of the queue takes away neither a decision nor a note that was begun", () => {
  session.order("code");
  session.decide(true);
  session.beginNote();
  kernel.answer();
  expect([session.verdict.value, session.noting.value]).toEqual([true, true]);
  session.because("slip");
  kernel.answer();
  expect(kernel.rulings.map(({ unit_id, applied, reason }) => [unit_id, applied, reason])).toEqual([
    ["m0", true, "slip"],
  ]);
});

test("each press goes on to the next order, whenever and however often answers come", () => {
  const ordering = () => kernel.asked.filter(({ type }) => type === "queue");
  session.nextOrder();
  const [first] = ordering();
  session.nextOrder();
  const answered = (by: Queue["by"]) => kernel.say({ ...kernel.queue(), by, type: "queue" }, first);
  answered("code");
  kernel.say({ ...kernel.queue(), type: "named" });
  session.nextOrder();
  session.nextOrder();
  kernel.answer();
  answered("pair");
  expect(session.by.value).toBe("split");
  session.nextOrder();
  kernel.say({ type: "refused", message: "The study cannot be read." }, ordering().at(-1)!);
  kernel.asked.length = 0;
  session.nextOrder();
  kernel.answer();
  expect(session.by.value).toBe("code");
});

test("the queue goes round to what is open, and says when all is settled", () => {
  session.open(1);
  kernel.answer();
  for (const unit of ["m1", "m2", "m0"]) {
    expect(session.dispute.value?.unit_id).toBe(unit);
    session.decide(true);
    session.because("slip");
    kernel.answer();
  }
  expect([session.nOpen.value, session.announced.value]).toEqual([
    0,
    "Warm: applies. All disagreements are settled",
  ]);
});

test("undo takes back the last ruling and opens it", () => {
  session.decide(true);
  session.because("slip");
  session.undo();
  kernel.answer();
  expect([said(), session.here.value?.unit_id, session.dispute.value?.ruling]).toEqual([[], "m0", null]);
});

test("what was taken back is done again, opened and announced", () => {
  session.decide(true);
  session.because("slip");
  session.undo();
  kernel.answer();
  session.open(2);
  session.redo();
  kernel.answer();
  expect([
    session.here.value?.unit_id,
    session.dispute.value?.ruling?.reason,
    session.announced.value,
  ]).toEqual(["m0", "slip", "Redone: Warm"]);
});

test("a ruling that was voided meanwhile is not said to settle anything when it is done again", () => {
  session.decide(true);
  session.because("slip");
  session.undo();
  kernel.answer();
  kernel.voided = true;
  session.redo();
  kernel.answer();
  expect(session.message.value).toBe(
    "Warm: redone, but it settles nothing, because its code changed or the text left the queue.",
  );
  expect(session.announced.value).not.toContain("again");
  expect([session.dispute.value?.ruling, session.settledOf(session.here.value!)]).toEqual([null, null]);
});

test("what a dead kernel never recorded is sent to the next one under the same id, and a note is kept", () => {
  session.keepNote("Half a note");
  session.open(1);
  kernel.answer();
  kernel.dead = true;
  session.decide(true);
  session.because("slip");
  expect([session.channel.cut.value, session.message.value]).toEqual([true, null]);
  const [act] = session.outbox.waiting.value;
  session.close();
  open();
  expect(kernel.rulings.map(({ id }) => id)).toEqual([act!.id]);
  session.openKey({ unit_id: "m0", code: "warm" });
  expect(session.note.value).toBe("Half a note");
});

test("a note and a change that are begun are here again in another page, and what the page has is later", () => {
  session.open(1);
  session.keepNote("Half a note");
  session.changing.begin("rule", session.book.codes.value.get("warm")!, "");
  session.changing.write({ ...session.changing.draft.value!, values: { definition: "Cl" } } as Change);
  session.changing.because("They dif");
  vi.advanceTimersByTime(400);
  const unsaved = kernel.asked.findLast(({ type }) => type === "keep") as unknown as Unsaved;
  expect(unsaved.notes).toEqual([{ unit_id: "m1", code: "warm", text: "Half a note" }]);
  session.close();
  notes().clear(); // as in another page
  const next = new Kernel();
  next.unsaved = { notes: unsaved.notes, change: unsaved.change };
  open(next);
  expect([session.here.value?.unit_id, session.note.value, session.changing.why.value]).toEqual([
    "m1",
    "Half a note",
    "They dif",
  ]);
  expect(session.changing.draft.value).toMatchObject({ kind: "rule", values: { definition: "Cl" } });
  kernel.dead = true;
  session.keepNote("");
  session.changing.end();
  session.close();
  const last = new Kernel();
  last.unsaved = next.unsaved; // which never heard of it
  open(last);
  expect([session.note.value, session.changing.draft.value]).toEqual(["", null]);
});

test("what somebody else made of the same field is chosen, and mine then goes over theirs knowingly", () => {
  session.changing.begin("rule", session.book.codes.value.get("warm")!, "");
  const draft = session.changing.draft.value! as Change & { kind: "rule" };
  session.changing.write({ ...draft, values: { ...draft.values, definition: "Mine" } });
  vi.advanceTimersByTime(300);
  const asked = kernel.asked.find(({ type }) => type === "change")!;
  kernel.asked.splice(0);
  kernel.say({ type: "overtaken", theirs: { definition: "Theirs" }, by: null }, asked);
  expect([session.changing.overtaken.value?.theirs, session.changing.foretold.value]).toEqual([
    { definition: "Theirs" },
    null,
  ]);
  session.changing.choose("definition", "Mine");
  vi.advanceTimersByTime(0);
  expect(kernel.asked.at(-1)).toMatchObject({
    type: "change",
    values: { definition: "Mine" },
    before: { definition: "Theirs" },
  });
  kernel.answer();
  expect([session.changing.overtaken.value, session.changing.foretold.value?.base]).toEqual([null, "f1"]);
});

test("a note goes with the ruling, or is added to one that stands", () => {
  session.keepNote("  Because. ");
  session.decide(true);
  session.because("slip");
  kernel.answer();
  expect(kernel.rulings[0]!.note).toBe("Because.");
  session.open(0);
  kernel.answer();
  session.beginNote();
  session.keepNote("Otherwise.");
  session.endNote();
  kernel.answer();
  expect(kernel.rulings.map(({ note, applied, reason }) => [note, applied, reason])).toEqual([
    ["Because.", true, "slip"],
    ["Otherwise.", true, "slip"],
  ]);
});

test("letters take the place of names in everything that is kept", () => {
  expect(session.dispute.value?.coders.map(({ coder }) => coder)).toEqual(["ana", "ben"]);
  session.call(true);
  kernel.answer(({ type }) => type === "names");
  expect(session.dispute.value).toBe(null);
  kernel.answer();
  expect(session.dispute.value?.coders.map(({ coder }) => coder)).toEqual(["A", "B"]);
  session.toNextOpen();
  expect(session.dispute.value?.coders.map(({ coder }) => coder)).toEqual(["A", "B"]);
});

test("similar texts are asked for once a text stays open", () => {
  session.go(1);
  session.go(1);
  vi.advanceTimersByTime(250);
  expect(kernel.asked.filter(({ type }) => type === "similar").map(asked => keyOf(asked as never))).toEqual([
    keyOf({ unit_id: "m2", code: "warm" }),
  ]);
});

test("a change is saved once exactly what is written was counted, and counted anew where it was refused", () => {
  const { changing } = session;
  changing.begin("example", session.book.codes.value.get("warm")!, "It listened.");
  vi.advanceTimersByTime(1);
  const first = kernel.asked.find(({ type }) => type === "change")!;
  changing.write({ code: "warm", kind: "example", words: "It listens." });
  kernel.answer(({ id }) => id === first.id);
  expect(changing.foretold.value).toBe(null);
  changing.save();
  expect(kernel.asked.some(({ type }) => type === "save_change")).toBe(false);
  vi.advanceTimersByTime(400);
  kernel.answer();
  changing.save();
  expect(kernel.asked.at(-1)).toMatchObject({ type: "save_change", base: "f1", words: "It listens." });
  kernel.answer();
  expect([changing.problem.value, changing.foretold.value]).toEqual(["meanwhile", null]);
  vi.advanceTimersByTime(1);
  kernel.answer();
  expect(changing.foretold.value).not.toBe(null);
});

test("next, and the next open one, are among those that the queue shows", () => {
  again(4);
  session.filter.query.value = "shown";
  session.rows.value = session.rows.value.map((row, at) => ({ ...row, words: at % 2 ? "shown" : "" }));
  expect(session.filter.places.value).toEqual([1, 3]);
  session.toNextOpen();
  expect(session.place.value).toBe(1);
  session.go(1);
  session.go(1);
  expect(session.place.value).toBe(3);
  kernel.answer();
  session.decide(true);
  session.because("slip");
  expect(session.place.value).toBe(1);
  kernel.answer();
  session.decide(true);
  session.because("slip");
  expect([session.place.value, session.announced.value]).toEqual([
    1,
    "Warm: applies. All disagreements among those shown are settled",
  ]);
});

test("rulings made together are one act, say how many were on the screen, and are taken back at once", () => {
  again(6);
  session.beginBatch();
  session.batch.saw(0, 2);
  session.batch.tick(0);
  session.batch.decide(false);
  session.ruleTogether();
  expect([session.announced.value, session.outbox.waiting.value]).toEqual([
    "First choose a verdict and a reason",
    [],
  ]);
  session.batch.because("slip");
  session.batch.note.value = " As agreed. ";
  expect([session.batch.chosen.value.length, session.batch.nSeen.value]).toEqual([5, 1]);
  session.ruleTogether();
  const [act] = session.outbox.waiting.value;
  expect(act).toMatchObject({
    kind: "rule",
    unit_id: "m1",
    code: "warm",
    applied: false,
    reason: "slip",
    note: "As agreed.",
  });
  expect(act!.rows!.map(({ unit_id }) => unit_id)).toEqual(["m1", "m2", "m3", "m4", "m5"]);
  expect(session.rows.value.map(row => session.settledOf(row))).toEqual([null, ...Array(5).fill("pending")]);
  kernel.answer();
  expect(session.rows.value.map(row => session.settledOf(row))).toEqual([null, ...Array(5).fill("absent")]);
  session.undo();
  kernel.answer();
  expect(session.rows.value.map(row => session.settledOf(row))).toEqual(Array(6).fill(null));
});

test("both readings are valid for one reason alone, and of one disagreement there is no batch", () => {
  session.beginBatch();
  session.batch.because("different_reading");
  expect([session.batch.applied.value, session.batch.ready.value]).toEqual([null, true]);
  session.batch.decide(true);
  expect([session.batch.reason.value, session.batch.ready.value]).toEqual(["", false]);
  again(1);
  session.beginBatch();
  expect(session.batch.open.value).toBe(false);
});

test("what is to be discussed is kept, and gone once the discussion is open", () => {
  session.discuss();
  session.toNextOpen();
  kernel.answer();
  session.discuss();
  vi.advanceTimersByTime(1000);
  expect(kernel.asked.findLast(({ type }) => type === "keep")).toMatchObject({
    discuss: [{ unit_id: "m0" }, { unit_id: "m1" }],
  });
  kernel.answer();
  session.openDiscussion();
  const asked = kernel.asked.findLast(({ type }) => type === "discuss")!;
  kernel.say(
    { type: "discussing", rounds: [{ name: "one, discussed", coders: ["ana", "ben"], n_units: 2 }] },
    asked,
  );
  expect([session.toDiscuss.value, session.announced.value]).toEqual([
    [],
    "“one, discussed” is open: 2 texts for ana, ben",
  ]);
  session.close();
  const unsaved = { discuss: [{ unit_id: "m2", code: "warm" }] };
  const next = new Kernel();
  next.unsaved = unsaved;
  open(next);
  expect(session.toDiscuss.value).toEqual(unsaved.discuss);
});
