"""How often the intervals of `agreement.before_after` cover the true difference, in simulated discussions.

Usage: python benchmarks/before_after_coverage.py [--studies 400] [--n-boot 600] [--seed 1]

Coders see the truth with a probability that differs between participants, and otherwise guess at the code's
share there. Then they discuss a share of the units: where they disagree, all take one side (the truth with
probability .8) with probability `yields`, and stay apart otherwise; where they agree nothing changes. The
true difference is that of 200,000 participants. Prints Markdown; before_after_coverage.md is what it printed.
"""

from __future__ import annotations

import argparse

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual import agreement
from sense7_qual.agreement._counts import binary_alpha

SCENARIOS = [
    # participants, units each, coders, prevalence, sees the truth, share discussed, yields
    (40, 6, 2, 0.3, 0.75, 1.0, 0.8),
    (40, 6, 3, 0.3, 0.75, 1.0, 0.8),
    (40, 6, 2, 0.1, 0.75, 1.0, 0.8),
    (40, 6, 2, 0.3, 0.75, 0.3, 0.8),
    (20, 6, 2, 0.3, 0.75, 1.0, 0.5),
    (20, 6, 3, 0.2, 0.6, 1.0, 1.0),
    (12, 6, 2, 0.3, 0.75, 1.0, 0.8),
    (80, 4, 2, 0.05, 0.75, 1.0, 0.8),
]

Truths = npt.NDArray[np.bool_]


def main() -> None:
    """Simulate every scenario and print how often the interval covers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=400)
    parser.add_argument("--n-boot", type=int, default=600)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    rng = np.random.default_rng(arguments.seed)
    print(f"{arguments.studies:,} studies each, {arguments.n_boot:,} resamples, nominal level 95 %. ", end="")
    print("Coverage is of the studies with an interval.\n")
    names = ("participants", "units each", "coders", "prevalence", "discussed", "true difference")
    print("|", " | ".join(names), "| covered % | too high % | too low % | width | no interval % |")
    print("|---" * 11 + "|")
    for scenario in SCENARIOS:
        print(line(scenario, arguments.studies, arguments.n_boot, rng), flush=True)


def line(scenario: tuple[float, ...], n_studies: int, n_boot: int, rng: np.random.Generator) -> str:
    """Return a row: the scenario, and how often the interval covers its true difference."""
    n, each, coders, prevalence, _, discussed, _ = scenario
    true = true_difference(scenario, rng)
    ends = np.array([one_study(scenario, n_boot, rng) for _ in range(n_studies)])
    there = ends[~np.isnan(ends[:, 0])]
    high, low = np.mean(there[:, 0] > true), np.mean(there[:, 1] < true)
    cells = [n, each, coders, prevalence, discussed, f"{true:.3f}", f"{100 * (1 - high - low):.1f}",
             f"{100 * high:.1f}", f"{100 * low:.1f}", f"{np.mean(there[:, 1] - there[:, 0]):.2f}",
             f"{100 * (1 - len(there) / n_studies):.1f}"]  # fmt: skip
    return "| " + " | ".join(map(str, cells)) + " |"


def decided(scenario: tuple[float, ...], n: int, rng: np.random.Generator) -> tuple[Truths, Truths, Truths]:
    """Return what coders decided on each unit (participants, units, coders) before and after, and which
    units were discussed."""
    _, each, coders, prevalence, sees, share, yields = scenario
    shape = (n, int(each), int(coders))
    own = rng.beta(4 * prevalence, 4 * (1 - prevalence), size=(n, 1))
    clear = rng.beta(8 * sees, 8 * (1 - sees), size=(n, 1, 1))
    truth = rng.random(shape[:2]) < own
    guess = rng.random(shape) < own[:, :, None]
    before = np.where(rng.random(shape) < clear, truth[:, :, None], guess)
    discussed = rng.random(shape[:2]) < share
    apart = before.any(axis=2) & ~before.all(axis=2)
    settled = discussed & apart & (rng.random(shape[:2]) < yields)
    verdict = np.where(rng.random(shape[:2]) < 0.8, truth, ~truth)
    after = np.where(settled[:, :, None], verdict[:, :, None], before)
    return before, after, discussed


def true_difference(scenario: tuple[float, ...], rng: np.random.Generator) -> float:
    """Return the difference of the two alphas of very many participants."""
    before, after, _ = decided(scenario, 200_000, rng)
    alphas = []
    for values in (before, after):
        n, applied = values.shape[2], values.sum(axis=2)
        parts = [(2 * applied * (n - applied) / (n - 1)).sum(), applied.sum(), (n - applied).sum()]
        alphas.append(float(binary_alpha(parts)))
    return alphas[1] - alphas[0]


def one_study(scenario: tuple[float, ...], n_boot: int, rng: np.random.Generator) -> tuple[float, float]:
    """Return the interval of one simulated study."""
    before, after, discussed = decided(scenario, int(scenario[0]), rng)
    case, unit, coder = (axis.ravel() for axis in np.indices(before.shape))
    ids = pd.Series(case).astype(str) + "-" + pd.Series(unit).astype(str)
    frame = pd.DataFrame({"unit_id": ids, "coder": pd.Series(coder).astype(str).radd("c"), "code": "x"})
    talked = np.broadcast_to(discussed[:, :, None], before.shape).ravel()
    units = pd.DataFrame({"unit_id": ids, "case_id": case}).drop_duplicates()
    row = agreement.before_after(
        frame.assign(applied=before.ravel()), frame.assign(applied=after.ravel())[talked], units=units,
        cluster="case_id", n_boot=n_boot, seed=int(rng.integers(2**31)),
    ).iloc[0]  # fmt: skip
    return float(row["low"]), float(row["high"])


if __name__ == "__main__":
    main()
