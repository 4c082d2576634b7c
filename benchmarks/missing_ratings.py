"""Coverage of a link's delta-adjusted interval where the true delta is known, and of the rated texts alone.

Usage: python benchmarks/missing_ratings.py [--studies 2000] [--participants 12 20 40 60] [--seed 1]

Participants with ten texts each; a code of prevalence .4, which participants use to different degrees;
ratings in five levels from a cumulative-logit model with a normal random intercept (ICC .4), in which the
code has an odds ratio of 2.5 or 1. A rating is missing with a probability that depends on the rating itself,
logit = a + γ · rating + b; a and γ, for texts with and without the code, are such that the shares of missing
ratings and the true delta are as stated. b is 0, or normal (sd 1) over participants: then the missing ratings
are no longer an exact tilt of the observed ones. The link to be covered is that over all texts, missing ones
included, in the population. `rated alone` is delta 0: what is found if missing ratings count as like the
others; that is the control, and fails where ratings are not missing at random. `unequal` is the share of
studies in which `missing_p` fell below .05. Prints Markdown.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import optimize, special

from sense7_qual import links
from sense7_qual.links.models import _missing_ratings

CUTS = np.array([-2.0, -0.7, 0.5, 1.8])
LEVELS = np.arange(1.0, 6.0)
ICC, PREVALENCE, TEXTS, CHECKED = 0.4, 0.4, 10, 3
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(31)
WEIGHTS = WEIGHTS / WEIGHTS.sum()


@dataclass(frozen=True, slots=True)
class Design:
    """A population: the code's odds ratio, shares missing with and without it, the true delta of each."""

    odds_ratio: float
    shares: tuple[float, float]
    direction: str
    delta: float
    spread: float = 0.0

    @property
    def levels(self) -> list[np.ndarray]:
        """The population's shares of the levels of all texts, with and without the code."""
        sd = np.sqrt(ICC / (1 - ICC) * np.pi**2 / 3)
        found = []
        for shift in (np.log(self.odds_ratio), 0.0):
            below = special.expit(CUTS[:, None] - shift - sd * NODES) @ WEIGHTS
            found.append(np.diff([0.0, *below, 1.0]))
        return found

    def slopes(self) -> list[np.ndarray]:
        """Return a and γ, with and without the code."""
        signs = (1, 1 if self.direction == "same" else -1)
        found = []
        for share, of_level, sign in zip(self.shares, self.levels, signs, strict=True):

            def wrong(
                at: np.ndarray,
                share: float = share,
                of_level: np.ndarray = of_level,
                aim: float = sign * self.delta,
            ) -> list[float]:
                missing = self.chance(at) * of_level
                rated = of_level - missing
                apart = missing @ LEVELS / missing.sum() - rated @ LEVELS / rated.sum()
                return [missing.sum() - share, apart - aim]

            found.append(optimize.fsolve(wrong, [special.logit(share), sign * self.delta], xtol=1e-12))
        return found

    def chance(self, at: np.ndarray) -> np.ndarray:
        """Return the probability that a rating of each level is missing."""
        return special.expit(at[0] + at[1] * (LEVELS[:, None] - 3) + self.spread * NODES) @ WEIGHTS


DESIGNS = (
    Design(2.5, (0.35, 0.35), "same", 0.0),
    Design(2.5, (0.5, 0.2), "same", -1.0),
    Design(1.0, (0.5, 0.2), "same", -1.0, spread=1.0),
    Design(1.0, (0.4, 0.4), "opposite", 0.8),
    Design(2.5, (0.4, 0.4), "opposite", -0.8, spread=1.0),
)


def main() -> None:
    """Simulate every design and print what was covered."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=2000)
    parser.add_argument("--participants", type=int, nargs="*", default=[12, 20, 40, 60])
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    print(f"{given.studies:,} studies each, nominal level 95 %.\n")
    heads = ["odds ratio", "missing with / without", "direction, delta", "sd of b", "participants"]
    heads += ["true r", "median r", "r covered %", "mean covered %", "rated alone: r", "mean", "unequal %"]
    print("| " + " | ".join(heads) + " |\n" + "|---" * len(heads) + "|")
    for design in DESIGNS:
        for participants in given.participants:
            rng = np.random.default_rng([given.seed, participants])
            print(row(design, participants, given.studies, rng), flush=True)


def row(design: Design, participants: int, studies: int, rng: np.random.Generator) -> str:
    """Return the line of the table of one design and number of participants."""
    having, lacking = design.levels
    below = np.cumsum(lacking) - lacking / 2
    true = {"rank_biserial": 2 * having @ below - 1, "mean_difference": (having - lacking) @ LEVELS}
    slopes, found = design.slopes(), []
    for place in range(studies):
        drawn = draw(design, slopes, participants, rng)
        table = intervals(design, *drawn)
        if place < CHECKED:
            same_as_public(design, table, *drawn)
        one = {"r": table.loc[design.delta, "rank_biserial"], "unequal": table["missing_p"].iloc[0] < 0.05}
        for delta, name in ((design.delta, "adjusted"), (0.0, "alone")):
            for effect, value in true.items():
                low, high = table.loc[delta, [f"{effect}_low", f"{effect}_high"]]
                one[f"{name} {effect}"] = np.nan if np.isnan(low) else low <= value <= high
        found.append(one)
    every = pd.DataFrame(found).astype(float)
    cells = [f"{design.odds_ratio:g}", "{:.0%} / {:.0%}".format(*design.shares)]
    cells += [f"{design.direction}, {design.delta:+g}", f"{design.spread:g}", str(participants)]
    cells += [f"{true['rank_biserial']:.3f}", f"{every['r'].median():.3f}"]
    for name in ("adjusted", "alone"):
        cells += [f"{100 * every[f'{name} {effect}'].mean():.1f}" for effect in true]
    return "| " + " | ".join([*cells, f"{100 * every['unequal'].mean():.1f}"]) + " |"


def intervals(design: Design, applied: np.ndarray, rating: np.ndarray, case: np.ndarray) -> pd.DataFrame:
    """Return the rows of `missing_ratings` by delta, without its search for tipping deltas, which is slow."""
    is_rated = ~np.isnan(rating)
    fewest = min(len(np.unique(case[is_rated & side])) for side in (applied, ~applied))
    texts = _missing_ratings._Texts.of(applied, rating, case, fewest - 1 if fewest >= 6 else 0, 0.95)
    steps = sorted({0.0, design.delta})
    signs = _missing_ratings._DIRECTIONS[design.direction]
    table = pd.DataFrame(texts.shifted(np.outer(steps, signs)), index=steps)
    return table.assign(missing_p=_missing_ratings._counted(applied, is_rated, case).get("missing_p", np.nan))


def same_as_public(
    design: Design, table: pd.DataFrame, applied: np.ndarray, rating: np.ndarray, case: np.ndarray
) -> None:
    """Stop if the public function finds something else."""
    public = adjusted(design, applied, rating, case).set_index("delta")[list(table)]
    np.testing.assert_allclose(public.to_numpy(np.float64), table.to_numpy(np.float64), atol=1e-10)


def adjusted(design: Design, applied: np.ndarray, rating: np.ndarray, case: np.ndarray) -> pd.DataFrame:
    """Return the rows of the design's direction."""
    unit_id = [f"u{i}" for i in range(len(case))]
    decisions = pd.DataFrame({"unit_id": unit_id, "coder": "ana", "code": "c", "applied": applied})
    units = pd.DataFrame({"unit_id": unit_id, "case_id": [f"p{c}" for c in case], "rating": rating})
    found = links.models.missing_ratings(
        decisions, units, rating="rating", cluster="case_id", rating_range=(1, 5), deltas=[design.delta]
    )
    return found[found["direction"] == design.direction]


def draw(
    design: Design, slopes: list[np.ndarray], participants: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return whether each text of a simulated study has the code, its rating or NaN, and its participant."""
    case = np.repeat(np.arange(participants), TEXTS)
    applied = rng.random(len(case)) < rng.beta(2 * PREVALENCE, 2 * (1 - PREVALENCE), participants)[case]
    sd = np.sqrt(ICC / (1 - ICC) * np.pi**2 / 3)
    latent = sd * rng.standard_normal(participants)[case] + rng.logistic(size=len(case))
    rating = 1.0 + np.searchsorted(CUTS, latent + np.log(design.odds_ratio) * applied)
    a, slope = np.where(applied, *(np.repeat(one[:, None], len(case), axis=1) for one in slopes))
    own = design.spread * rng.standard_normal(participants)[case]
    rating[rng.random(len(case)) < special.expit(a + slope * (rating - 3) + own)] = np.nan
    return applied, rating, case


if __name__ == "__main__":
    main()
