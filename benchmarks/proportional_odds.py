"""How often the test of proportional odds is wrong, and the intervals at the splits are right.

Usage: python benchmarks/proportional_odds.py [--studies 400] [--seed 1]

Participants rate texts; the log odds of a higher rating have a level for each participant (sd 1.2) and a
predictor: a code that texts have or not (within), with a share that differs between participants, or a
condition of half of the participants (between). Its log odds ratio is .8 at every split, or, for power, rises
from 0 to 1.6 along the scale. Where participants use the scale differently (styles: each has the thresholds
times exp(.7 z)) it is 0 at every split. `size` and `power` are shares of p below .05. `rows` is the same test
with rows taken as independent: the control. `held` is the share of intervals at all splits, in a fourth of
the studies, that hold the true odds ratio; of `marginal` the true ones are those of 40,000 participants.
Prints Markdown; proportional_odds.md is what it printed.
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual.links.models import proportional_odds

SKEWED = {4: (-2.5, -1.0, 1.0), 5: (-3.0, -1.5, 0.0, 1.5), 7: (-3.0, -2.0, -1.0, 0.0, 1.0, 2.5)}


@dataclass(frozen=True)
class Design:
    """Participants, texts of each (half to one and a half times as many), levels, and what varies how."""

    participants: int
    each: int
    levels: int
    varies: str
    styles: bool = False


DESIGNS = [
    Design(12, 8, 5, "within"),
    Design(12, 8, 4, "between"),
    Design(20, 6, 5, "within"),
    Design(20, 8, 7, "within"),
    Design(20, 8, 5, "between"),
    Design(20, 8, 5, "between", True),
    Design(40, 6, 7, "within"),
    Design(40, 6, 4, "between"),
    Design(40, 8, 5, "between", True),
    Design(60, 5, 5, "within"),
    Design(60, 8, 7, "between"),
]


def main() -> None:
    """Simulate every design and print how the test and the intervals do."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    rng = np.random.default_rng(arguments.seed)
    print(f"{arguments.studies:,} studies each, nominal level 5 %, of intervals 95 %.\n")
    names = "participants", "texts", "levels", "predictor", "styles"
    print(
        "|",
        " | ".join(names),
        "| size % | rows: size % | power % | no test % |",
        "mixed: held % | none % | marginal: held % | none % |",
    )
    print("|---" * 12 + "|")
    for design in DESIGNS:
        print(line(design, arguments.studies, rng), flush=True)


def line(design: Design, n_studies: int, rng: np.random.Generator) -> str:
    """Return a row: the design, the shares of small p, and how often intervals hold the true odds ratio."""
    true = {
        "mixed": np.full(design.levels - 1, np.exp(0.8 * (not design.styles))),
        "marginal": averaged(design, rng),
    }
    p, by_rows, powers = [], [], []
    held: dict[str, list[npt.NDArray[np.float64]]] = {"mixed": [], "marginal": []}
    for number in range(n_studies):
        rating, x, case = study(design, design.participants, rng, proportional=True)
        for model, ratios in true.items() if number % 4 == 0 else ():
            table = proportional_odds(rating, x, groups=case, model=model)  # type: ignore[arg-type]
            splits = table.dropna(subset=["split"])
            place = splits["split"].astype(int).to_numpy() - 2
            low, high = (splits[end].to_numpy(dtype=float) for end in ("low", "high"))
            inside = (low <= ratios[place]) & (ratios[place] <= high)
            held[model].append(np.where(np.isnan(low), np.nan, inside))
        p.append(tested(rating, x, case))
        rows = pd.Series(range(len(rating)))
        by_rows.append(tested(rating, x, rows))
        powers.append(tested(*study(design, design.participants, rng, proportional=False)))
    cells = [
        design.participants,
        design.each,
        design.levels,
        design.varies,
        "yes" if design.styles else "no",
        below(p),
        below(by_rows),
        below(powers),
        f"{100 * np.isnan(p).mean():.1f}",
    ]
    for model in ("mixed", "marginal"):
        every = np.concatenate(held[model])
        cells += [f"{100 * np.nanmean(every):.1f}", f"{100 * np.isnan(every).mean():.1f}"]
    return "| " + " | ".join(map(str, cells)) + " |"


def below(p: list[float]) -> str:
    """Return the share of p below .05, in percent."""
    return f"{100 * np.mean(np.array(p) < 0.05):.1f}"


def tested(rating: pd.Series, x: pd.Series, groups: pd.Series) -> float:
    """Return the p of the test alone."""
    from sense7_qual.links.models import _proportional_odds
    from sense7_qual.links.models._model import observed

    return _proportional_odds._tested(observed("", rating, x, groups))["x"][0]


def study(
    design: Design, n: int, rng: np.random.Generator, *, proportional: bool
) -> tuple[pd.Series, pd.Series, pd.Series]:
    """Return ratings, the predictor and the participants of a study with `n` participants."""
    least, most = max(design.each // 2, 1), design.each + design.each // 2
    case = np.repeat(np.arange(n), rng.integers(least, most + 1, size=n))
    x = (rng.random(len(case)) < rng.beta(2, 3, size=n)[case]).astype(float)
    if design.varies == "between":
        x = (case % 2).astype(float)
    cuts = np.array(SKEWED[design.levels])
    effects = np.full(len(cuts), 0.8 * (not design.styles))
    if not proportional:
        effects = np.linspace(0, 1.6, len(cuts))
    spread = np.exp(0.7 * design.styles * rng.standard_normal(n))[case][:, None]
    log_odds = 1.2 * rng.standard_normal(n)[case][:, None] - cuts * spread + x[:, None] * effects
    above = rng.logistic(size=len(case))[:, None] + log_odds > 0
    return pd.Series(1 + above.sum(axis=1)), pd.Series(x, name="x"), pd.Series(case)


def averaged(design: Design, rng: np.random.Generator) -> npt.NDArray[np.float64]:
    """Return the odds ratio at each split over very many participants."""
    rating, x, _ = study(design, 40_000, rng, proportional=True)
    ratios = []
    for split in range(2, design.levels + 1):
        counts = pd.crosstab(x, rating >= split).to_numpy()
        ratios.append(counts[1, 1] * counts[0, 0] / (counts[1, 0] * counts[0, 1]))
    return np.array(ratios)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
