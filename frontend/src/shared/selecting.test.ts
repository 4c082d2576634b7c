// Selecting by the letters on words, and how many keys a span takes.
import { describe, expect, test } from "vitest";
import { labels } from "./letters";
import { numbers } from "./numbers.test.kit";
import type { Span } from "./protocol";
import { moved, nextPiece, pieces, type Edge, type Granularity, type Step } from "./words";
import { Selecting } from "./selecting";

const placed = (text: string) => pieces(text, "word").map(span => ({ span, left: 0, top: 0 }));

function selecting(text: string) {
  const heard: string[] = [];
  const one = new Selecting(
    () => text,
    words => heard.push(words),
  );
  return { one, heard, taken: () => one.span.value && text.slice(one.span.value.start, one.span.value.end) };
}

describe("letters on words", () => {
  test("those of the first word and of the last select from one to the other, in either order", () => {
    const { one, heard, taken } = selecting("It listened to what I said.");
    for (const letters of ["jk", "kj"]) {
      one.putLetters(placed("It listened to what I said."));
      for (const letter of letters) one.type(letter);
      expect([taken(), one.letters.value]).toEqual(["listened to what", null]);
    }
    expect(heard[0]).toBe("Type the letters on the first word, then those on the last");
  });

  test("Enter takes the first word alone, and a letter that no word has begins again", () => {
    const { one, heard, taken } = selecting("It listened.");
    one.putLetters(placed("It listened."));
    one.type(null);
    one.type("x");
    expect([heard.at(-1), one.letters.value!.typed]).toEqual(["No word has the letters x", ""]);
    one.type("j");
    one.type(null);
    expect([taken(), one.letters.value]).toEqual(["listened", null]);
  });

  test("a text with more words than letters has two on each", () => {
    const text = "word ".repeat(40);
    const { one, taken } = selecting(text);
    one.putLetters(placed(text));
    const { labels: all } = one.letters.value!;
    for (const letter of all[27]! + all[28]!) one.type(letter);
    expect(taken()).toBe("word word");
    expect(one.span.value!.start).toBe(27 * 5);
  });

  test("words that are scrolled into sight get letters too, and the first word stays", () => {
    const { one, taken } = selecting("one two three");
    one.putLetters(placed("one two three").slice(0, 1));
    one.type("f");
    one.putLetters(placed("one two three").slice(2));
    one.type("f");
    expect(taken()).toBe("one two three");
  });

  test("another text has none", () => {
    const { one } = selecting("one two");
    one.putLetters(placed("one two"));
    one.clear();
    one.type("f");
    expect([one.letters.value, one.span.value, one.sought.value]).toEqual([null, null, null]);
  });
});

/* ---- how many keys a span in mid-sentence takes ---- */

// Sentences as people write them on a conversation with an assistant (made up for this measurement).
const SENTENCES = [
  "I told it about my exam next week, and it asked me first how I had slept before it gave any advice.",
  "That was kind, I suppose, but it came after three long lists that I had not asked for.",
  "When I said that my sister does not speak to me any more, it only repeated what I had written in other words.",
  "It remembered the name of my dog, which I had mentioned at the very beginning of our conversation.",
  "Honestly, I felt a little foolish for telling a machine all of this, and yet I went on for an hour.",
  "The answer sounded warm enough, although nothing in it showed that it had understood why I was angry.",
  "My mother would have laughed, made tea, and told me that tomorrow is another day.",
  "It did not judge me when I admitted that I had stopped taking the tablets in March.",
  "Then, quite suddenly, it told me to see a doctor and ended the conversation with a telephone number.",
  "I would have liked to be asked what I wanted, because I was only trying to think aloud.",
  "Nobody else had the patience to listen to the same story for the fourth time that evening.",
  "What helped me most was the question whether I had eaten anything since the morning.",
];

type Keys = (span: Span | null) => Iterable<readonly [Span | null, number]>;

/** The fewest keys to each selection that they reach, by Dijkstra's way of looking. */
function fewest(keys: Keys): Map<string, number> {
  const name = (span: Span | null) => (span ? `${span.start}-${span.end}` : "");
  const cost = new Map([["", 0]]);
  let [round, later]: [(Span | null)[], Map<number, (Span | null)[]>] = [[null], new Map()];
  for (let spent = 0; round.length || later.size; round = later.get(++spent) ?? [], later.delete(spent)) {
    for (const span of round) {
      if (cost.get(name(span)) !== spent) continue;
      for (const [to, more] of keys(span)) {
        if (spent + more >= (cost.get(name(to)) ?? Infinity)) continue;
        cost.set(name(to), spent + more);
        later.set(spent + more, [...(later.get(spent + more) ?? []), to]);
      }
    }
  }
  return cost;
}

/** Which keys there are: those of before letters and moving starts, all but the letters, or all. */
function keysOf(text: string, which: "plain" | "edges" | "all"): Keys {
  const [edges, granularities]: [Edge[], Granularity[]] =
    which === "plain"
      ? [["end"], ["word"]]
      : [
          ["start", "end"],
          ["word", "sentence"],
        ];
  return function* (span) {
    for (const step of [1, -1] as Step[]) {
      for (const granularity of ["word", "sentence"] as Granularity[])
        yield [nextPiece(pieces(text, granularity), span, step), 1];
      for (const edge of edges) {
        for (const granularity of granularities)
          yield [moved(pieces(text, granularity), span, edge, step), 1];
      }
    }
  };
}

/**
 * Keys for the span by letters, pressed one by one: the key that puts them on the words, and those of two
 * words.
 */
function byLetters(text: string, first: Span, last: Span): number {
  const { one } = selecting(text);
  const words = placed(text);
  one.putLetters(words);
  const label = (word: Span) =>
    labels(words.length)[words.findIndex(({ span }) => span.start === word.start)]!;
  const letters = label(first) + label(last);
  for (const letter of letters) one.type(letter);
  expect(one.span.value).toEqual({ start: first.start, end: last.end });
  return 1 + letters.length;
}

test("a span in mid-sentence takes six keys at most on average", () => {
  const random = numbers(13);
  const spent = { plain: [] as number[], edges: [] as number[], all: [] as number[] };
  for (let drawn = 0; drawn < 12; drawn++) {
    const text = Array.from({ length: 3 + random(4) }, () => SENTENCES[random(SENTENCES.length)]).join(" ");
    const [plain, edges] = [fewest(keysOf(text, "plain")), fewest(keysOf(text, "edges"))];
    const sentences = pieces(text, "sentence");
    for (let target = 0; target < 25; target++) {
      const sentence = sentences[random(sentences.length)]!;
      const words = pieces(text, "word").filter(
        ({ start, end }) => sentence.start <= start && end <= sentence.end,
      );
      // Neither the sentence's first word nor its last.
      const from = 1 + random(words.length - 3);
      const to = from + random(words.length - 1 - from);
      const [first, last] = [words[from]!, words[to]!];
      const name = `${first.start}-${last.end}`;
      spent.plain.push(plain.get(name)!);
      spent.edges.push(edges.get(name)!);
      spent.all.push(Math.min(edges.get(name)!, byLetters(text, first, last)));
    }
  }
  const mean = (list: number[]) => list.reduce((a, b) => a + b) / list.length;
  const means = Object.fromEntries(
    Object.entries(spent).map(([which, list]) => [which, Number(mean(list).toFixed(2))]),
  );
  console.log(
    `keys for a span in mid-sentence, ${spent.all.length} drawn:`,
    means,
    `most: ${Math.max(...spent.all)}`,
  );
  expect(mean(spent.all)).toBeLessThanOrEqual(6);
  expect(Math.max(...spent.all)).toBeLessThanOrEqual(6);
  expect(mean(spent.edges)).toBeLessThan(mean(spent.plain));
  expect(mean(spent.plain)).toBeGreaterThan(8);
}, 60_000);
