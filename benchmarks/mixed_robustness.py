"""How often `links.models.cumulative_mixed` fails on small studies of every kind, and whether it ever dies.

Usage: python benchmarks/mixed_robustness.py [--studies 5000] [--first 0]

Studies of 8 to 40 participants with as many ratings for everyone (2 to 15), with 1 to 15, or with 1 to 40 of
which a few have most; 2 to 7 levels of which some may be rare, participants' standard deviation 0 to 3, a
code of prevalence .03 to .5 that varies within participants or between them, in every third study a score
beside it, in every sixth conversations within participants, in every fifth the probit link. Study number n is
drawn from the seed [SEED, n] alone, so that one that fails can be drawn again: `drawn(n)`. Every warning
counts as an error. Prints Markdown: how many studies had estimates, which reasons the others gave, and every
error with its study; then the same of `links.code_to_rating` in every 25th study.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import Counter
from collections.abc import Callable

import numpy as np
import pandas as pd

from sense7_qual import links

SEED = 2


def drawn(number: int) -> dict[str, object]:
    """Return the arguments of one simulated study."""
    rng = np.random.default_rng([SEED, number])
    participants = int(rng.integers(8, 41))
    sizes = (
        np.full(participants, rng.integers(2, 16)),
        rng.integers(1, 16, participants),
        np.clip(rng.lognormal(1.5, 1.2, participants).astype(int), 1, 40),
    )
    case = np.repeat(np.arange(participants), sizes[rng.integers(3)])
    sd = rng.choice([0.0, 0.3, 1.0, 1.5, 3.0])
    whose = np.arange(participants)[case] if rng.random() < 0.2 else np.arange(len(case))
    code = (rng.random(len(case)) < rng.choice([0.03, 0.1, 0.3, 0.5]))[whose]
    predictors = pd.DataFrame({"code": code.astype(np.float64)})
    if number % 3 == 0:
        predictors["score"] = rng.standard_normal(len(case))
    latent = rng.choice([0.0, 0.8, 2.0]) * code + sd * rng.standard_normal(participants)[case]
    document = case * 100 + rng.integers(0, 3, len(case))
    latent += rng.choice([0.0, 0.8]) * rng.standard_normal(int(document.max()) + 1)[document]
    cuts = np.sort(rng.normal(rng.normal(), 2, int(rng.integers(1, 7))))
    return {
        "rating": pd.Series(1 + np.searchsorted(cuts, latent + rng.logistic(size=len(case)))),
        "predictors": predictors,
        "groups": pd.Series(case),
        "nested": pd.Series(document) if number % 6 == 5 else None,
        "link": "probit" if number % 5 == 4 else "logit",
    }


def of_the_model(number: int) -> str:
    """Return what the model says of a study: its reason, or that it has estimates."""
    model = links.models.cumulative_mixed(**drawn(number))
    estimates = [*model.coefficients, *model.standard_errors, model.log_likelihood]
    if model.reason is None and not np.isfinite(estimates).all():
        raise ArithmeticError("estimates without a reason are not finite")
    return model.reason or ("estimates, variance 0" if model.boundary else "estimates")


def of_the_table(number: int) -> str:
    """Return what `code_to_rating` says of the code's odds ratio in a study."""
    study = drawn(number)
    unit_ids = [f"u{i}" for i in range(len(study["rating"]))]
    applied = study["predictors"]["code"].to_numpy() > 0
    units = pd.DataFrame({"unit_id": unit_ids, "case_id": study["groups"].map("p{}".format)})
    decisions = pd.DataFrame({"unit_id": unit_ids, "coder": "ana", "code": "c", "applied": applied})
    table = links.code_to_rating(
        decisions,
        units.assign(rating=study["rating"]),
        rating="rating",
        cluster="case_id",
        sources=["ana"],
        odds_ratios=True,
        n_boot=1,
        seed=1,
    )
    row = table.iloc[0]
    return "odds ratio" if row["odds_ratio"] > 0 else str(row["odds_ratio_reason"])


def counted(said: Callable[[int], str], numbers: range) -> tuple[Counter[str], list[str]]:
    """Return how often each thing was said, and the errors."""
    counts: Counter[str] = Counter()
    errors = []
    for number in numbers:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                counts[said(number)] += 1
        except Exception as error:  # noqa: BLE001 - whatever it is, it is what is looked for
            errors.append(f"study {number}: {type(error).__name__}: {error}")
    return counts, errors


def main() -> None:
    """Print what became of the studies."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=5_000)
    parser.add_argument("--first", type=int, default=0)
    given = parser.parse_args()
    end = given.first + given.studies
    for said, numbers in (
        (of_the_model, range(given.first, end)),
        (of_the_table, range(given.first, end, 25)),
    ):
        begin = time.process_time()
        counts, errors = counted(said, numbers)
        seconds = time.process_time() - begin
        name = "cumulative_mixed" if said is of_the_model else "code_to_rating"
        print(f"| {name}: {len(numbers):,} studies, {seconds / len(numbers):.3f} CPU s each | studies |")
        print("|---|---|")
        for reason, number in counts.most_common():
            print(f"| {reason} | {number:,} |")
        print(f"| errors | {len(errors)} |\n", flush=True)
        print("\n".join(errors[:20]))


if __name__ == "__main__":
    main()
