"""The odds ratio of a participant's own texts where participants who use a code also rate otherwise.

Usage: python -m benchmarks.links_within [--studies 400] [--participants 40] [--seed 1]

Participants (40) with five texts each rate on five levels; a code of prevalence .4 or .2, which they use to
different degrees. Not confounded: how often they use it has nothing to do with how they rate. Confounded: the
two correlate by .7, so that those who use the code rate higher throughout. The code's own odds ratio, for one
and the same participant, is 1 or 2.5. Prints Markdown, a row for each design: how often p was below .05, and
the median odds ratio, of a participant's own texts (`odds_ratio`) and, as the control, of one coefficient for
texts and participants together (`mixed_odds_ratio`); how often the interval of `odds_ratio` held the true
one; how often the two parts differ at .05 (`contextual_p`); and how many studies had no test.
"""

from __future__ import annotations

import argparse
import itertools
from dataclasses import dataclass

import numpy as np
import pandas as pd

from sense7_qual import links

CUTS = np.array([-2.0, -0.7, 0.7, 2.0])


@dataclass(frozen=True, slots=True)
class Design:
    """One simulated population; `alike` is the correlation of using the code with rating high."""

    participants: int = 40
    units: int = 5
    prevalence: float = 0.4
    alike: float = 0.7
    odds_ratio: float = 1.0


def draw(design: Design, rng: np.random.Generator) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the decisions and the units of one study."""
    n, case = design.participants, np.repeat(np.arange(design.participants), design.units)
    rates = rng.standard_normal(n)
    uses = design.alike * rates + np.sqrt(1 - design.alike**2) * rng.standard_normal(n)
    middle = np.log(design.prevalence / (1 - design.prevalence))
    applied = rng.logistic(size=len(case)) < middle + 1.5 * uses[case]
    latent = 1.5 * rates[case] + np.log(design.odds_ratio) * applied + rng.logistic(size=len(case))
    units = pd.DataFrame(
        {
            "unit_id": [f"u{i:04}" for i in range(len(case))],
            "case_id": case.astype(str),
            "rating": 1.0 + np.searchsorted(CUTS, latent),
        }
    )
    return units[["unit_id"]].assign(coder="ana", code="code", applied=applied), units


def simulated(design: Design, studies: int, seed: int) -> pd.DataFrame:
    """Return the row of links of each study."""
    rng = np.random.default_rng(seed)
    rows = [
        links.code_to_rating(
            *draw(design, rng), rating="rating", cluster="case_id", sources=["ana"], n_boot=2, details=True
        )
        for _ in range(studies)
    ]
    return pd.concat(rows, ignore_index=True)


def main() -> None:
    """Simulate every design and print its row."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=400)
    parser.add_argument("--participants", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    print(
        "| prevalence | alike | true | own: p < .05 % | own: median | own: held % | mixed: p < .05 % "
        "| mixed: median | differ % | no test % |"
    )
    print("|---" * 10 + "|")
    for prevalence, alike, true in itertools.product((0.4, 0.2), (0.0, 0.7), (1.0, 2.5)):
        design = Design(given.participants, 5, prevalence, alike, true)
        rows = simulated(design, given.studies, given.seed)
        tested = rows.dropna(subset="odds_ratio_p")
        held = tested["odds_ratio_low"].le(true) & tested["odds_ratio_high"].ge(true)
        shares = [100 * (rows[name] < 0.05).mean() for name in ("odds_ratio_p", "mixed_odds_ratio_p")]
        medians = [rows[name].median() for name in ("odds_ratio", "mixed_odds_ratio")]
        differ, covered = 100 * (rows["contextual_p"] < 0.05).mean(), 100 * held.mean()
        print(
            f"| {prevalence} | {alike} | {true} | {shares[0]:.1f} | {medians[0]:.2f} | {covered:.1f} "
            f"| {shares[1]:.1f} | {medians[1]:.2f} | {differ:.1f} "
            f"| {100 * rows['odds_ratio_p'].isna().mean():.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
