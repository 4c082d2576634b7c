"""Links from a model's codes on all texts and people's on some: coverage, and width against people alone.

Usage: python -m benchmarks.links_with_model [--studies 400] [--seed 1] [--forecasts]

A code on 20 % of the texts, which participants use to different degrees, lowers a rating of five levels by
.8 standard deviations of the latent rating (or by nothing); participants have 2 to 15 texts, and differ in
the model's error rates (standard deviation in logits). A model errs evenly (finds .80, .06 false), reads poor
ratings as the code (.95 and .25 false on the lower third of the ratings), or is poor (.35, .12). A third of
the texts is coded by hand: of whole participants, texts at random, as `corpus.hand_sample` draws, or the same
three times as often where the model says yes. Prints Markdown: in how many studies the interval of the
rank-biserial effect (in brackets the mean difference) held the truth, the median width over that of people
alone, and the root mean square error over that of people alone.

`--forecasts` prints instead what `by_hand` foretells from a pilot of an eighth of the texts.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from dataclasses import replace

import numpy as np

from sense7_qual.links.models._by_hand import Texts, _forecast
from sense7_qual.links.models._results import WITH_MODEL
from tests.helpers.model_studies import MODELS, Design, Held, draw, held, rows

DRAWS = ("participants", "texts", "hand_sample", "by the model")
SIZES = ((15, 10), (40, 10), (60, 8), (120, 6), (160, 6))
KINDS = [(model, shift) for model in MODELS for shift in (-0.8, 0.0) if shift or model.startswith("reads")]


def cells() -> list[Design]:
    """Return the designs: sizes × models × draws, and at 60 participants other ICC and other errors."""
    sized = [
        Design(participants=n, texts=m, model=model, shift=shift, drawn=drawn)
        for (n, m), (model, shift), drawn in itertools.product(SIZES, KINDS, DRAWS)
    ]
    other = [
        replace(one, icc=icc, errors=errors)
        for one in sized
        if one.participants == 60
        for icc, errors in ((0.0, 0.6), (0.5, 0.6), (0.3, 0.0), (0.3, 1.2))
    ]
    return sized + other


def main() -> None:
    """Print a row for each cell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--forecasts", action="store_true")
    given = parser.parse_args()
    if given.forecasts:
        forecasts(given.studies, given.seed)
        return
    print(
        "| participants × texts | ICC | errors | model | link | drawn | n | model alone | people | both |"
        " (mean difference: model, people, both) | width | (mean difference) | error |"
    )
    print("|---" * 14 + "|")
    widest = 0.0
    for at, design in enumerate(cells()):
        found = held(itertools.repeat(design, given.studies), seed=given.seed * 1_000 + at)
        if not found.n:
            continue
        widest = max(widest, found.widest)
        print(row(design, found), flush=True)
    print(f"\nWidest interval against people's, of all studies: {widest:.6f}", flush=True)


def forecasts(studies: int, seed: int) -> None:
    """Print the half widths that pilots foretell for more texts, and those of studies of so many."""
    rng = np.random.default_rng(seed)
    print("| model | coded by hand | half width | foretold: median | 5 % | 95 % | people alone | foretold |")
    print("|---" * 8 + "|")
    for model in ("errs evenly", "reads poor ratings as the code"):
        pilot = Design(participants=75, texts=8, drawn="hand_sample", share=0.125, model=model)
        for share in (0.25, 0.5):
            told = [forecast(draw(rng, pilot), share) for _ in range(studies)]
            own = [forecast(draw(rng, replace(pilot, share=share)), share) for _ in range(studies)]
            (human, both), (foretold_human, foretold) = (np.nanmedian(one, axis=0) for one in (own, told))
            low, high = np.nanquantile(np.array(told)[:, 1], [0.05, 0.95])
            shown = [f"{one:.3f}" for one in (both, foretold, low, high, human, foretold_human)]
            print(f"| {model} | {share:.0%} | {' | '.join(shown)} |", flush=True)


def forecast(texts: Texts, share: float) -> tuple[float, float]:
    """Return the half widths of people alone and with the model, foretold from one study."""
    found = rows(texts)
    given = dict.fromkeys(WITH_MODEL.columns, np.nan) | found["model + human"]
    made = _forecast(given, found["model"], round(share * len(texts.rating)))
    return made.get("half_width_human", np.nan), made.get("half_width", np.nan)


def row(design: Design, found: Held) -> str:
    """Return one row of the table; shares in percent."""
    share = {key: f"{100 * one:.0f}" for key, one in found.share.items()}
    sources = ("model", "human", "model + human")
    rank, mean = (
        [share.get((source, name), "–") for source in sources]
        for name in ("rank_biserial", "mean_difference")
    )
    width = found.width
    cells = [
        f"{design.participants} × {design.texts}",
        f"{design.icc:g}",
        f"{design.errors:g}",
        design.model,
        "yes" if design.shift else "none",
        design.drawn,
        str(found.n),
        *rank,
        ", ".join(mean),
        f"{width['rank_biserial']:.2f}",
        f"{width['mean_difference']:.2f}",
        f"{found.error:.2f}",
    ]
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main())
