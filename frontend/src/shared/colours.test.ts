// How codes look in each theme. That colours can be told apart is tested where they are chosen, in Python.
import { afterEach, describe, expect, test, vi } from "vitest";
import { CodebookView } from "./codebook";
import { code } from "./code.test.kit";
import { looks } from "./colours";
import { dark, isLight, watchTheme } from "./theme";

const care = { ...code("care", null), look: { light: "#111111", dark: "#eeeeee", line: 2, short: "Care…" } };

test("a code has the colour of the theme, its line, and its key or short name as tag", () => {
  expect(looks([care], false).get("care")).toEqual({ colour: "#111111", pattern: 2, tag: "Care…" });
  expect(looks([{ ...care, key: "4" }], true).get("care")).toEqual({
    colour: "#eeeeee",
    pattern: 2,
    tag: "4",
  });
});

describe("the theme of the page", () => {
  let stop = () => {};
  const media = new EventTarget() as EventTarget & { matches: boolean };
  const watch = (systemIsDark: boolean) => {
    media.matches = systemIsDark;
    window.matchMedia = () => media as unknown as MediaQueryList;
    // A browser answers so; happy-dom repeats what it was given.
    vi.spyOn(window, "getComputedStyle").mockImplementation(
      element =>
        ({
          color: (element as HTMLElement).style.color.includes("#eef0f2")
            ? "rgb(238, 240, 242)"
            : "rgb(31, 35, 40)",
        }) as CSSStyleDeclaration,
    );
    stop = watchTheme();
  };
  afterEach(() => {
    stop();
    vi.restoreAllMocks();
    dark.value = false;
  });

  test.each([
    ["rgb(0, 0, 0)", false],
    ["rgba(0, 0, 0, 0.87)", false],
    ["rgb(238, 240, 242)", true],
    ["color(srgb 0.9 0.9 0.9)", true],
    ["", false],
  ])("letters in %s", (ink, light) => {
    expect(isLight(ink)).toBe(light);
  });

  test("codes change their colours with the browser's setting", () => {
    const book = new CodebookView();
    book.codebook.value = { title: "Book", version: "1", facets: [], codes: [care] };
    watch(false);
    expect(book.looks.value.get("care")!.colour).toBe("#111111");
    media.matches = true;
    media.dispatchEvent(new Event("change"));
    expect(book.looks.value.get("care")!.colour).toBe("#eeeeee");
  });
});
