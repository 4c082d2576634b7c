// The browser's selection as offsets.
import { describe, expect, test } from "vitest";
import { selectedSpan } from "./onscreen";

describe("the browser's selection", () => {
  // The text as the reader shows it: one text node a segment.
  function shown(...parts: string[]): { box: HTMLElement; nodes: Node[] } {
    document.body.replaceChildren();
    const before = document.createElement("p");
    before.textContent = "before";
    const after = document.createElement("p");
    after.textContent = "after";
    const box = document.createElement("div");
    for (const part of parts) {
      const span = document.createElement("span");
      span.textContent = part;
      box.append(span);
    }
    document.body.append(before, box, after);
    return { box, nodes: [before, ...box.children, after].map(element => element.firstChild!) };
  }

  function select(from: Node, start: number, to: Node, end: number): void {
    const range = document.createRange();
    range.setStart(from, start);
    range.setEnd(to, end);
    const selection = document.getSelection()!;
    selection.removeAllRanges();
    selection.addRange(range);
  }

  test("offsets count the text before, in UTF-16 units", () => {
    const { box, nodes } = shown("It 👍🏽 ", "listened\n", "well");
    select(nodes[2]!, 2, nodes[3]!, 1);
    expect(selectedSpan(box)).toEqual({ start: 10, end: 18 });
  });

  test("a drag that leaves the text is cut at its ends", () => {
    const { box, nodes } = shown("one ", "two");
    select(nodes[0]!, 2, nodes[1]!, 3);
    expect(selectedSpan(box)).toEqual({ start: 0, end: 3 });
    select(nodes[2]!, 1, nodes[3]!, 2);
    expect(selectedSpan(box)).toEqual({ start: 5, end: 7 });
    select(nodes[0]!, 0, nodes[3]!, 2);
    expect(selectedSpan(box)).toEqual({ start: 0, end: 7 });
  });

  test("a selection elsewhere, a caret or none is no selection", () => {
    const { box, nodes } = shown("one ", "two");
    select(nodes[0]!, 0, nodes[0]!, 3);
    expect(selectedSpan(box)).toBeNull();
    select(nodes[1]!, 2, nodes[1]!, 2);
    expect(selectedSpan(box)).toBeNull();
    document.getSelection()!.removeAllRanges();
    expect(selectedSpan(box)).toBeNull();
  });
});
