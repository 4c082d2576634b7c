"""How often the alternative annotator test is wrong where the model is exactly as much worse as it may be.

Usage: python benchmarks/alternative_annotator.py [--studies 300] [--seed 1]

Three humans and a model rate the texts of participants from 1 to 5, or say whether a code applies (a rating
of 4 or 5). The model is far off on some participants and near on others. Epsilon is the true difference of
the advantages of the first human and the model, from 4,000 participants, so that p below .05 is an error.
`texts` is the test that takes texts as independent, as in the paper: the control. `power` is that of
epsilon + .2. Prints Markdown; alternative_annotator.md is what it printed.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
import pandas as pd

from sense7_qual import agreement
from sense7_qual.agreement.diagnosis import alternative_annotator_test

DESIGNS = [(12, 10, 1.0), (20, 8, 1.0), (40, 8, 1.0), (60, 6, 0.5)]
"""Participants, texts of each (half to one and a half times as many), spread of the model's errors."""


def main() -> None:
    """Simulate every design and print how often p is below .05."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    rng = np.random.default_rng(asked.seed)
    print(f"{asked.studies:,} studies each.\n")
    print("| of | participants | texts | spread | true difference | size % | texts: size % | power % |")
    print("|---" * 8 + "|")
    for by in ("rating", "code"):
        for design in DESIGNS:
            true = tested(by, *study(4000, *design[1:], rng)[:1], epsilon=0.0)["difference"]
            rows = [one_study(by, design, true, rng) for _ in range(asked.studies)]
            shares = [f"{100 * share:.1f}" for share in np.mean(np.array(rows) < 0.05, axis=0)]
            print("| " + " | ".join(map(str, [by, *design, f"{true:.3f}", *shares])) + " |", flush=True)


def one_study(
    by: str, design: tuple[int, int, float], true: float, rng: np.random.Generator
) -> tuple[float, float, float]:
    """Return p over participants and over texts at the limit, and p over participants beyond it."""
    values, units = study(*design, rng)
    over = {"units": units, "cluster": "case_id"}
    limits = ((true, over), (true, {}), (true + 0.2, over))
    first, second, third = (float(tested(by, values, epsilon=one, **more)["p"]) for one, more in limits)
    return first, second, third


def tested(by: str, values: pd.DataFrame, *, epsilon: float, **over: object) -> pd.Series:
    """Return the row of the first human; a negative epsilon is that of the test turned round."""
    if by == "code":
        long = values.stack().rename("value").reset_index()
        values = long.assign(code="high", applied=long["value"] >= 4).drop(columns="value")
    test = alternative_annotator_test(values, epsilon=epsilon, by=by, **over)  # type: ignore[arg-type]
    return test.humans.iloc[0]


def study(n: int, each: int, spread: float, rng: np.random.Generator) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the ratings of three humans and the model, and whose text each unit is."""
    case = np.repeat(np.arange(n), rng.integers(each // 2, each + each // 2 + 1, size=n))
    truth = rng.integers(1, 6, size=len(case))
    humans = 0.9 * rng.standard_normal((3, len(case)))
    model = 1.2 * rng.standard_normal(len(case)) * np.exp(spread * rng.standard_normal(n))[case]
    ids = [f"u{place}" for place in range(len(case))]
    rated = np.clip(np.round(truth + np.vstack([humans, model])), 1, 5).T
    sheet = pd.DataFrame(rated, columns=["ana", "ben", "cleo", "model-a"]).assign(unit_id=ids)
    units = pd.DataFrame({"unit_id": ids, "case_id": [f"p{one}" for one in case]})
    return agreement.from_wide(sheet, coders="columns"), units


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
