"""False positives and interval coverage of `links.code_to_rating` for one coder, in simulated studies.

Usage: python benchmarks/links_coverage.py [--studies 300] [--n-boot 1000] [--seed 1]

For several coders, odds ratios and corrected links see links_designs.py.

Participants differ in their ratings (ICC .4 of the latent rating, cut into five levels) and in how often
they use a code. The code moves the latent rating by `shift` standard deviations, or spreads it around the
same middle (`spread`). Without a shift, every p below .05 is a false positive. The row-wise Mann–Whitney
test, which takes units for independent, is given for comparison. Prints Markdown.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from sense7_qual import links


@dataclass(frozen=True, slots=True)
class Scenario:
    """One simulated population; `icc_code` is how much participants differ in using the code."""

    participants: int
    units: int
    prevalence: float
    icc_code: float = 0.3
    shift: float = 0.0
    spread: float = 1.0
    cuts: tuple[float, ...] = (0.2, 0.4, 0.6, 0.8)


CEILING = (0.03, 0.08, 0.15, 0.3)
SCENARIOS = [
    Scenario(40, 7, 0.3),
    Scenario(40, 7, 0.1),
    Scenario(40, 7, 0.05),
    Scenario(40, 7, 0.3, icc_code=0.9),
    Scenario(12, 7, 0.3),
    Scenario(100, 5, 0.03),
    Scenario(40, 7, 0.1, cuts=CEILING),
    Scenario(40, 7, 0.3, spread=2.5),
    Scenario(40, 7, 0.3, shift=0.8),
    Scenario(40, 7, 0.1, shift=0.8),
    Scenario(40, 7, 0.05, shift=0.8),
    Scenario(40, 7, 0.3, icc_code=0.9, shift=0.8),
    Scenario(12, 7, 0.3, shift=0.8),
    Scenario(100, 5, 0.03, shift=0.8),
    Scenario(40, 7, 0.1, shift=0.8, cuts=CEILING),
]


def main() -> None:
    """Simulate every scenario and print rejections and coverage."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=300)
    parser.add_argument("--n-boot", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    rng = np.random.default_rng(arguments.seed)
    print(
        f"{arguments.studies:,} studies each, {arguments.n_boot:,} resamples, nominal levels 5 % and 95 %. ",
        end="",
    )
    print("Shares are of the studies with an interval. Without an effect, p < .05 should be 5 %.\n")
    print(
        "| participants | units each | prevalence | ICC of code | shift | spread | ratings | true effect | ",
        end="",
    )
    print("p < .05 % | row-wise p < .05 % | covered % | too high % | too low % | width | no interval % |")
    print("|---" * 15 + "|")
    for scenario in SCENARIOS:
        print(line(scenario, arguments.studies, arguments.n_boot, rng), flush=True)


def line(scenario: Scenario, studies: int, n_boot: int, rng: np.random.Generator) -> str:
    """Return one line of the table."""
    true = true_effect(scenario)
    found = []
    for _ in range(studies):
        decisions, units = study(scenario, rng)
        row = links.code_to_rating(
            decisions,
            units,
            rating="rating",
            cluster="case_id",
            odds_ratios=False,
            n_boot=n_boot,
            seed=int(rng.integers(2**31)),
        ).iloc[0]
        applied = decisions["applied"].to_numpy()
        naive = (
            stats.mannwhitneyu(units["rating"][applied], units["rating"][~applied]).pvalue
            if row["p"] >= 0
            else 0
        )
        found.append((row["p"], naive, row["rank_biserial_low"], row["rank_biserial_high"]))
    ends = np.array(found, dtype=np.float64)
    done = ends[~np.isnan(ends[:, 0])]
    high, low = (done[:, 2] > true).mean(), (done[:, 3] < true).mean()
    shares = [(done[:, 0] < 0.05).mean(), (done[:, 1] < 0.05).mean(), 1 - high - low, high, low]
    about = [scenario.participants, scenario.units, scenario.prevalence, scenario.icc_code, scenario.shift]
    return (
        "| "
        + " | ".join(str(value) for value in about)
        + f" | {scenario.spread} | {'ceiling' if scenario.cuts == CEILING else 'even'} | {true:.3f} | "
        + " | ".join(f"{100 * share:.1f}" for share in shares)
        + f" | {(done[:, 3] - done[:, 2]).mean():.2f} | {100 * (1 - len(done) / len(ends)):.1f} |"
    )


def study(scenario: Scenario, rng: np.random.Generator) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the decisions of one coder, and the units with ratings, of one simulated study."""
    participant, applied, rating = draw(scenario, scenario.participants, rng)
    unit_ids = [f"u{i:06d}" for i in range(len(participant))]
    decisions = pd.DataFrame({"unit_id": unit_ids, "coder": "ana", "code": "c", "applied": applied})
    return decisions, pd.DataFrame({"unit_id": unit_ids, "case_id": participant, "rating": rating})


def draw(
    scenario: Scenario, participants: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the participant, the code and the rating (1–5) of each unit."""
    strength = 1 / scenario.icc_code - 1
    uses = rng.beta(scenario.prevalence * strength, (1 - scenario.prevalence) * strength, participants)
    participant = np.repeat(np.arange(participants), rng.poisson(scenario.units - 1, participants) + 1)
    n = len(participant)
    applied = rng.random(n) < uses[participant]
    latent = np.sqrt(0.4) * rng.standard_normal(participants)[participant] + np.sqrt(
        0.6
    ) * rng.standard_normal(n)
    latent = latent * np.where(applied, scenario.spread, 1) + scenario.shift * applied
    return participant, applied, 1.0 + np.searchsorted(stats.norm.ppf(scenario.cuts), latent)


def true_effect(scenario: Scenario) -> float:
    """Return the population's rank-biserial effect, from 100,000 participants; 0 without a shift."""
    if scenario.shift == 0:
        return 0.0
    _, applied, rating = draw(scenario, 100_000, np.random.default_rng(99))
    statistic = stats.mannwhitneyu(rating[applied], rating[~applied]).statistic
    return float(2 * statistic / (applied.sum() * (~applied).sum()) - 1)


if __name__ == "__main__":
    main()
