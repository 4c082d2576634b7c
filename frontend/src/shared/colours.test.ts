// Colours that everybody can tell apart, in both themes.
import { describe, expect, test } from "vitest";
import { ACTIVE_TINT, looks, MOST_TINTS, OWN, PALETTE, TINT } from "./colours";
import { code } from "./code.test.kit";

type Colour = readonly number[];
const hex = (text: string): Colour => [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16) / 255);
const over = (top: Colour, share: number, below: Colour): Colour => top.map((c, i) => c * share + below[i]! * (1 - share));
const linear = (colour: Colour): Colour => colour.map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
const times = (matrix: readonly Colour[], colour: Colour): Colour =>
  matrix.map((row) => row.reduce((sum, weight, i) => sum + weight * colour[i]!, 0));

/** WCAG 2.1, relative luminance and contrast ratio. */
function contrast(a: Colour, b: Colour): number {
  const [one, other] = [a, b].map((colour) => times([[0.2126, 0.7152, 0.0722]], linear(colour))[0]! + 0.05);
  return Math.max(one!, other!) / Math.min(one!, other!);
}

/** Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB. */
const VISION: Record<string, readonly Colour[]> = {
  usual: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  tritanopia: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};

/** Ottosson's Oklab (2020): distances there are about as large as colours look different; 0.02 is just seen. */
function oklab(rgb: Colour): Colour {
  const cones = times(
    [[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566], [0.0883024619, 0.2817188376, 0.6299787005]],
    rgb.map((c) => Math.min(1, Math.max(0, c))),
  );
  return times(
    [[0.2104542553, 0.793617785, -0.0040720468], [1.9779984951, -2.428592205, 0.4505937099], [0.0259040371, 0.7827717662, -0.808675766]],
    cones.map(Math.cbrt),
  );
}

/** Page and text colours: JupyterLab's light and dark, its high contrast, and the widget's own elsewhere. */
const THEMES: Record<string, { page: Colour; text: Colour; alpha: number }> = {
  light: { page: hex("#ffffff"), text: hex("#000000"), alpha: 0.87 },
  dark: { page: hex("#212121"), text: hex("#ffffff"), alpha: 1 },
  "high contrast": { page: hex("#111111"), text: hex("#ffffff"), alpha: 1 },
  "light elsewhere": { page: hex("#ffffff"), text: hex("#1f2328"), alpha: 1 },
  "dark elsewhere": { page: hex("#1b1d21"), text: hex("#eef0f2"), alpha: 1 },
};

/** What `color-mix(in srgb, own OWN%, text)` looks like on the page. */
function mixed(own: string, { page, text, alpha }: (typeof THEMES)[string]): Colour {
  const [a, b] = [OWN / 100, (1 - OWN / 100) * alpha];
  return over(hex(own).map((c, i) => (c * a + text[i]! * b) / (a + b)), a + b, page);
}

describe.each(Object.entries(THEMES))("in the theme %s", (_, theme) => {
  const colours = PALETTE.map((own) => mixed(own, theme));

  test("every line keeps 3:1 to the page and to its own tint", () => {
    for (const colour of colours) {
      expect(contrast(colour, theme.page)).toBeGreaterThanOrEqual(3);
      expect(contrast(colour, over(colour, TINT / 100, theme.page))).toBeGreaterThanOrEqual(3);
    }
  });

  test("the text keeps 4.5:1 on as many tints as are laid over one another", () => {
    for (const colour of colours) {
      let behind = over(colour, ACTIVE_TINT / 100, theme.page);
      for (let tints = 1; tints < MOST_TINTS; tints++) behind = over(colour, TINT / 100, behind);
      expect(contrast(over(theme.text, theme.alpha, behind), behind)).toBeGreaterThanOrEqual(4.5);
    }
  });

  test.each(Object.entries(VISION))("every two colours can be told apart with %s", (_, matrix) => {
    const seen = colours.map((colour) => oklab(times(matrix, linear(colour))));
    const distances = seen.flatMap((a, i) => seen.slice(i + 1).map((b) => Math.hypot(...a.map((c, k) => c - b[k]!))));
    expect(Math.min(...distances)).toBeGreaterThan(0.1);
  });
});

describe("the looks of codes", () => {
  const many = (n: number, colour: (i: number) => string | null = () => null) =>
    Array.from({ length: n }, (_, i) => ({ ...code(`c${i}`, i < 9 ? `${i + 1}` : null), colour: colour(i) }));
  const pairs = (n: number, colour?: (i: number) => string | null) =>
    new Set([...looks(many(n, colour)).values()].map((look) => `${look.colour} ${look.pattern}`)).size;

  test("no two of 32 codes have the same colour and line, nor do two neighbours share either", () => {
    expect(pairs(32)).toBe(32);
    const all = [...looks(many(40)).values()];
    for (const [i, look] of all.slice(1).entries()) {
      expect(look.colour).not.toBe(all[i]!.colour);
      expect(look.pattern).not.toBe(all[i]!.pattern);
    }
  });

  test("codes that were given one colour differ by their lines; given colours are taken as they are", () => {
    expect(pairs(4, () => "#c44e52")).toBe(4);
    expect(pairs(16, (i) => (i % 2 ? "#c44e52" : null))).toBeGreaterThanOrEqual(12);
    expect(looks(many(1, () => "#C44E52")).get("c0")!.colour).toBe("#C44E52");
    expect([...looks(many(3, (i) => (i ? null : PALETTE[0]!))).values()].map(({ colour }) => colour)).not.toContain(
      expect.stringContaining(`${PALETTE[0]} ${OWN}%`),
    );
  });

  test("the tag is the key, or the beginning of the label", () => {
    const found = looks(many(10));
    expect([found.get("c0")!.tag, found.get("c9")!.tag]).toEqual(["1", "C9"]);
  });
});
