"""Links from a model's codes on all texts and people's on some: coverage, and width against people alone.

Usage: python -m benchmarks.links_with_model [--studies 400] [--seed 1] [--odds] [--forecasts] [--picked]

A code on 20 % of the texts, which participants use to different degrees, lowers a rating of five levels by
.8 standard deviations of the latent rating (or by nothing); participants have 2 to 15 texts, and differ in
the model's error rates (standard deviation in logits). A model errs evenly (finds .80, .06 false), reads poor
ratings as the code (.95 and .25 false on the lower third of the ratings), or is poor (.35, .12). A third of
the texts is coded by hand: of whole participants, texts at random, as `corpus.hand_sample` draws, or the same
three times as often where the model says yes. Prints Markdown.

`--odds`: odds ratios instead. `--forecasts`: what `by_hand` foretells from a pilot. `--picked`: how often a
draw is refused, with texts drawn and with texts picked.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from dataclasses import replace

from tests.helpers.model_studies import MODELS, Design, held

DRAWS = ("participants", "texts", "hand_sample", "by the model")
SIZES = ((15, 10), (40, 10), (60, 8), (120, 6), (160, 6))
KINDS = [(model, shift) for model in MODELS for shift in (-0.8, 0.0) if shift or model.startswith("reads")]


def cells() -> list[Design]:
    """Return the designs: sizes × models × draws, and at 60 participants other ICC and other errors."""
    sized = [Design(participants=n, texts=m, model=model, shift=shift, drawn=drawn)
             for (n, m), (model, shift), drawn in itertools.product(SIZES, KINDS, DRAWS)]  # fmt: skip
    other = [replace(one, icc=icc, errors=errors) for one in sized if one.participants == 60
             for icc, errors in ((0.0, 0.6), (0.5, 0.6), (0.3, 0.0), (0.3, 1.2))]  # fmt: skip
    return sized + other


def main() -> None:
    """Print a row for each cell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    print("| participants × texts | ICC | errors | model | link | drawn | n | model alone | people | both |"
          " (mean difference: model, people, both) | width | (mean difference) | error |")  # fmt: skip
    print("|---" * 14 + "|")
    widest = 0.0
    for at, design in enumerate(cells()):
        found = held(itertools.repeat(design, given.studies), seed=given.seed * 1_000 + at)
        if not found.n:
            continue
        widest = max(widest, found.widest)
        print(row(design, found), flush=True)
    print(f"\nWidest interval against people's, of all studies: {widest:.6f}", flush=True)


def row(design: Design, found: object) -> str:
    """Return one row of the table; shares in percent."""
    share = {key: f"{100 * one:.0f}" for key, one in found.share.items()}  # type: ignore[attr-defined]
    sources = ("model", "human", "model + human")
    rank, mean = ([share.get((source, name), "–") for source in sources]
                  for name in ("rank_biserial", "mean_difference"))  # fmt: skip
    width = found.width  # type: ignore[attr-defined]
    cells = [
        f"{design.participants} × {design.texts}", f"{design.icc:g}", f"{design.errors:g}", design.model,
        "yes" if design.shift else "none", design.drawn, str(found.n), *rank, ", ".join(mean),  # type: ignore[attr-defined]
        f"{width['rank_biserial']:.2f}", f"{width['mean_difference']:.2f}", f"{found.error:.2f}",  # type: ignore[attr-defined]
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main())
