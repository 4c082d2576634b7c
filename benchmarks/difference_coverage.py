"""How often the intervals of `agreement.difference` hold the true difference, in simulated studies.

Usage: python benchmarks/difference_coverage.py [--studies 400] [--seed 1]

Coders see the truth with a probability that differs between participants, and otherwise guess at the code's
share there. Two alphas are compared: of two teams on the same texts; of two rounds on other texts of the same
participants; of two codes; of two rounds with other participants; and before and after a discussion, in which
coders who disagree take one side (the truth with probability .8) with probability .8. The true difference is
that of 100,000 participants. Prints Markdown; difference_coverage.md is what it printed.
"""

from __future__ import annotations

import argparse

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual import agreement
from sense7_qual.agreement._counts import binary_alpha

KINDS = ("teams", "rounds", "codes", "others", "discussion")
SIZES = [
    # participants, units each, prevalence, the first see the truth, the second see it
    (12, 8, 0.3, 0.75, 0.75),
    (12, 8, 0.1, 0.7, 0.85),
    (20, 6, 0.1, 0.75, 0.85),
    (40, 6, 0.3, 0.7, 0.8),
    (40, 6, 0.1, 0.75, 0.75),
    (60, 5, 0.05, 0.75, 0.75),
]

Truths = npt.NDArray[np.bool_]
Size = tuple[int, int, float, float, float]


def main() -> None:
    """Simulate every design and print how often the interval holds the true difference."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    rng = np.random.default_rng(arguments.seed)
    print(
        f"{arguments.studies:,} studies each, nominal level 95 %. Shares are of the studies with an interval."
    )
    print("False: p under .05 where the true difference is within .01 of 0.\n")
    names = ("compared", "participants", "units each", "prevalence", "true difference")
    print("|", " | ".join(names), "| held % | too high % | too low % | width | false % | no interval % |")
    print("|---" * 11 + "|")
    for kind in KINDS:
        for size in SIZES:
            print(line(kind, size, arguments.studies, rng), flush=True)


def line(kind: str, size: Size, n_studies: int, rng: np.random.Generator) -> str:
    """Return a row: the design, and how often the interval holds its true difference."""
    true = true_difference(kind, size, rng)
    rows = np.array([one_study(kind, size, rng) for _ in range(n_studies)])
    there = rows[~np.isnan(rows[:, 0])]
    high, low = np.mean(there[:, 0] > true), np.mean(there[:, 1] < true)
    false = f"{100 * np.mean(there[:, 2] < 0.05):.1f}" if abs(true) < 0.01 else "–"
    cells = [
        kind,
        size[0],
        size[1],
        size[2],
        f"{true:.3f}",
        f"{100 * (1 - high - low):.1f}",
        f"{100 * high:.1f}",
        f"{100 * low:.1f}",
        f"{np.mean(there[:, 1] - there[:, 0]):.2f}",
        false,
        f"{100 * (1 - len(there) / n_studies):.1f}",
    ]
    return "| " + " | ".join(map(str, cells)) + " |"


def decided(kind: str, size: Size, n: int, rng: np.random.Generator) -> tuple[Truths, Truths]:
    """Return what two coders decided on each unit (participants, units, coders), twice."""
    _, each, prevalence, one, two = size
    own = rng.beta(4 * prevalence, 4 * (1 - prevalence), size=(n, 1))
    truth = rng.random((n, each)) < own
    first = seen(truth, own, one, rng)
    if kind == "discussion":
        settled = (first[:, :, 0] != first[:, :, 1]) & (rng.random(truth.shape) < 0.8)
        verdict = np.where(rng.random(truth.shape) < 0.8, truth, ~truth)
        return first, np.where(settled[:, :, None], verdict[:, :, None], first)
    if kind in ("codes", "others"):
        own = rng.beta(4 * prevalence, 4 * (1 - prevalence), size=(n, 1))
    if kind != "teams":
        truth = rng.random((n, each)) < own
    return first, seen(truth, own, two, rng)


def seen(truth: Truths, own: npt.NDArray[np.float64], sees: float, rng: np.random.Generator) -> Truths:
    """Return what two coders decide on units with this truth."""
    shape = (*truth.shape, 2)
    clear = rng.beta(8 * sees, 8 * (1 - sees), size=(len(truth), 1, 1))
    guess = rng.random(shape) < own[:, :, None]
    return np.where(rng.random(shape) < clear, truth[:, :, None], guess)


def true_difference(kind: str, size: Size, rng: np.random.Generator) -> float:
    """Return the difference of the two alphas of very many participants."""
    alphas = []
    for values in decided(kind, size, 100_000, rng):
        applied = values.sum(axis=2)
        parts = [(2 * applied * (2 - applied)).sum(), applied.sum(), (2 - applied).sum()]
        alphas.append(float(binary_alpha(parts)))
    return alphas[1] - alphas[0]


def frames(
    kind: str, size: Size, rng: np.random.Generator
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return the two sets of decisions of one study, and the units of both with their participants."""
    made, of_units = [], []
    for place, values in enumerate(decided(kind, size, size[0], rng)):
        case, unit, coder = (axis.ravel() for axis in np.indices(values.shape))
        person = pd.Series(case).astype(str) + (f"+{place}" if kind == "others" else "")
        again = f"-{place}" if kind in ("rounds", "others") else ""
        ids = person + "-" + pd.Series(unit).astype(str) + again
        made.append(
            pd.DataFrame(
                {"unit_id": ids, "coder": [f"c{c}" for c in coder], "code": "x", "applied": values.ravel()}
            )
        )
        of_units.append(pd.DataFrame({"unit_id": ids, "case_id": person}))
    return made[0], made[1], pd.concat(of_units).drop_duplicates()


def one_study(kind: str, size: Size, rng: np.random.Generator) -> tuple[float, float, float]:
    """Return the interval and p of one simulated study."""
    first, second, units = frames(kind, size, rng)
    row = agreement.difference(first, second, units=units, cluster="case_id").iloc[0]
    return float(row["low"]), float(row["high"]), float(row["p"])


if __name__ == "__main__":
    main()
