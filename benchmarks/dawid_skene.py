"""How often the intervals of `dawid_skene` hold the true parameters, and its residuals find shared errors.

Usage: python benchmarks/dawid_skene.py [--studies 200] [--draws 150] [--seed 1] [--pairs]

Four coders decide on the texts of participants, who have the code in different shares of their texts (a beta
distribution). Coders err independently, or two of them also share errors: on a tenth of the texts both decide
the wrong way. `held` are the intervals of prevalence and of the coders' rates; `residual` those of a
difference of 0 between observed and expected agreement of pairs. `found` is the share of studies with shared
errors where the interval of that pair is above 0. The control is the prevalence with texts resampled in place
of participants. Prints Markdown; dawid_skene.md is what it printed.

With --pairs it prints in how many studies without shared errors the interval of any of the six pairs is above
0, which would say that two coders share errors; the control is the same intervals, each by itself.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual import adjudication
from sense7_qual._bootstrap import widened_quantile

Floats = npt.NDArray[np.float64]

SENSITIVITY = np.array([0.9, 0.8, 0.85, 0.75])
SPECIFICITY = np.array([0.95, 0.9, 0.92, 0.97])


@dataclass(frozen=True)
class Design:
    """Participants, texts of each (half to one and a half times as many), share with the code, how even."""

    participants: int
    each: int
    prevalence: float
    even: float


DESIGNS = [Design(12, 12, 0.35, 3), Design(20, 10, 0.3, 2), Design(40, 8, 0.3, 2), Design(60, 6, 0.2, 3)]


def main() -> None:
    """Simulate every design and print how often intervals hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--draws", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pairs", action="store_true", help="how often any pair seems to share errors")
    asked = parser.parse_args()
    if asked.pairs:
        print_pairs(asked.studies, asked.draws, asked.seed)
        return
    rng = np.random.default_rng(asked.seed)
    print(f"{asked.studies:,} studies each, {asked.draws} draws, nominal level 95 %.\n")
    names = (
        "participants",
        "texts",
        "prevalence",
        "prevalence held %",
        "by texts: held %",
        "sensitivity held %",
        "specificity held %",
        "residual held %",
        "found %",
    )
    print("|", " | ".join(names), "|")
    print("|---" * len(names) + "|")
    for design in DESIGNS:
        rows = np.array([one_study(design, asked.draws, rng) for _ in range(asked.studies)])
        cells = [f"{100 * share:.1f}" for share in np.nanmean(rows, axis=0)]
        start = design.participants, design.each, design.prevalence
        print("| " + " | ".join(map(str, [*start, *cells])) + " |", flush=True)


def print_pairs(studies: int, n_draws: int, seed: int) -> None:
    """Simulate every design; print in how many studies any pair seems to share errors, though none does."""
    rng = np.random.default_rng(seed)
    print(f"{studies:,} studies each, {n_draws} draws; ± is twice the Monte-Carlo error.\n")
    print("| participants | texts | prevalence | any pair % | ± | each by itself: any pair % | ± |")
    print("|---" * 7 + "|")
    for design in DESIGNS:
        found = np.array([any_pair(design, n_draws, rng) for _ in range(studies)])
        shares = found.mean(axis=0)
        errors = 2 * np.sqrt(shares * (1 - shares) / studies)
        cells = [f"{100 * value:.1f}" for pair in zip(shares, errors, strict=True) for value in pair]
        start = design.participants, design.each, design.prevalence
        print("| " + " | ".join(map(str, [*start, *cells])) + " |", flush=True)


def any_pair(design: Design, n_draws: int, rng: np.random.Generator) -> tuple[bool, bool]:
    """Return whether any pair's interval is above 0 in a study without shared errors; and each by itself."""
    decisions, units = study(design, rng, shared=0.0)
    fitted = adjudication.dawid_skene(decisions, units=units, cluster="case_id", n_draws=n_draws)
    pairs = fitted.residuals
    half = pairs["difference"] - pairs["low"]
    narrower = widened_quantile(design.participants, 0.95) / widened_quantile(
        design.participants, 1 - 0.05 / len(pairs)
    )
    return bool((pairs["low"] > 0).any()), bool((pairs["difference"] > half * narrower).any())


def one_study(design: Design, n_draws: int, rng: np.random.Generator) -> list[float]:
    """Return the shares of intervals that hold, of one study without and one with shared errors."""
    decisions, units = study(design, rng, shared=0.0)
    by_case, by_text = (
        adjudication.dawid_skene(decisions, units=units, cluster=cluster, n_draws=n_draws)
        for cluster in ("case_id", None)
    )
    rates, pairs = by_case.coders, by_case.residuals
    sharing, units = study(design, rng, shared=0.1)
    other = adjudication.dawid_skene(sharing, units=units, cluster="case_id", n_draws=n_draws)
    pair = other.residuals.query("coder_a == 'c0' and coder_b == 'c1'").iloc[0]
    return [
        held(by_case.prevalence, "prevalence", design.prevalence),
        held(by_text.prevalence, "prevalence", design.prevalence),
        held(rates, "sensitivity", SENSITIVITY),
        held(rates, "specificity", SPECIFICITY),
        held(pairs.rename(columns={"low": "_low", "high": "_high"}), "", 0.0),
        float(pair["low"] > 0),
    ]


def held(frame: pd.DataFrame, name: str, true: float | Floats) -> float:
    """Return the share of intervals that hold the true value."""
    low, high = (frame[f"{name}_{end}"].to_numpy(dtype=float) for end in ("low", "high"))
    return float(np.mean((low <= true) & (true <= high)))


def study(design: Design, rng: np.random.Generator, *, shared: float) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the decisions of a study and its units; on a `shared` share of texts two coders are wrong."""
    n, (share, even) = design.participants, (design.prevalence, design.even)
    case = np.repeat(np.arange(n), rng.integers(design.each // 2, design.each * 3 // 2 + 1, size=n))
    own = rng.beta(even * share, even * (1 - share), size=n)
    truth = rng.random(len(case)) < own[case]
    right = np.where(truth[:, None], SENSITIVITY, SPECIFICITY)
    applied = truth[:, None] == (rng.random(right.shape) < right)
    astray = rng.random(len(case)) < shared
    applied[astray, :2] = ~truth[astray, None]
    ids = [f"u{place}" for place in range(len(case))]
    wide = pd.DataFrame(applied, columns=["c0", "c1", "c2", "c3"], index=pd.Index(ids, name="unit_id"))
    decisions = wide.rename_axis(columns="coder").stack().rename("applied").reset_index()
    return decisions.assign(code="x"), pd.DataFrame({"unit_id": ids, "case_id": [f"p{one}" for one in case]})


if __name__ == "__main__":
    main()
