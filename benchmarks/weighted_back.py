"""Agreement on units that were drawn by a first coder's codings: weighted back, is it that of all units?

python benchmarks/weighted_back.py [--studies 2000]

A first coder codes all units of a study; a part of them is drawn for a second coder, those to which the first
one applied a code `times` as probable as the others (`corpus.assign(weights=…)`). The two coders are those of
benchmarks/agreement_sequential.py: the true alpha is known, and where there are participants, they differ in
how often the code fits their texts and in how well coders can see it. Weighted back is `agreement.by_code`
with `inclusion`; the controls are alpha of the drawn units as if they were all (unweighted), and, for its
interval's width, as many units drawn alike.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from benchmarks.agreement_sequential import Integers, Values, coded, study
from sense7_qual.agreement._by_code import alpha_of
from sense7_qual.corpus._assign import drawn_first, probabilities

DESIGNS = [
    # participants (0: units are independent), units in all, drawn, prevalence, true alpha
    (0, 1000, 200, 0.1, 0.6),
    (0, 1000, 200, 0.2, 0.6),
    (0, 1000, 400, 0.05, 0.6),
    (0, 1000, 400, 0.1, 0.8),
    (0, 500, 200, 0.1, 0.4),
    (50, 1000, 200, 0.1, 0.6),
    (50, 1000, 400, 0.1, 0.6),
    (50, 1000, 400, 0.2, 0.8),
    (100, 2000, 400, 0.05, 0.6),
]


def drawn(
    values: Values, who: Integers | None, n: int, times: float, rng: np.random.Generator
) -> tuple[dict[str, Any], float]:
    """Return alpha with its interval, weighted back, and unweighted."""
    weight = np.where(values[0] == 2, times, 1.0)
    rows = drawn_first(range(len(weight)), n, weight, rng)[:n]
    inverse = 1 / probabilities(weight, n)[rows]
    groups = np.arange(n) if who is None else who[rows]
    table = coded(values[:, rows])
    plain = alpha_of(table, np.ones(n), groups.astype(np.int64), 0.95)["alpha"]
    return alpha_of(table, inverse, groups.astype(np.int64), 0.95), plain


def row(design: tuple[int, int, int, float, float], times: float, n_studies: int, seed: int) -> str:
    participants, n_units, n, prevalence, alpha = design
    rng = np.random.default_rng(seed)
    values, plain, held, width, alike = [], [], [], [], []
    for _ in range(n_studies):
        both, who = study(participants, n_units, prevalence, alpha, rng)
        shown, unweighted = drawn(both, who, n, times, rng)
        values.append(shown["alpha"])
        plain.append(unweighted)
        if not np.isnan(shown["alpha_low"]):
            held.append(shown["alpha_low"] <= alpha <= shown["alpha_high"])
            width.append(shown["alpha_high"] - shown["alpha_low"])
        equal, _ = drawn(both, who, n, 1.0, rng)
        alike.append(equal["alpha_high"] - equal["alpha_low"])
    bias, without = np.nanmean(values) - alpha, np.nanmean(plain) - alpha
    numbers = f"{bias:+.3f} | {without:+.3f} | {100 * np.mean(held):.1f} | {100 * len(held) / n_studies:.1f}"
    widths = f"{np.mean(width):.2f} | {np.nanmean(alike):.2f}"
    return "| " + " | ".join(map(str, design)) + f" | {times:g} | {numbers} | {widths} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=2000)
    n_studies = parser.parse_args().studies
    print(
        "| participants | units | drawn | prevalence | alpha | times | bias | bias unweighted | holds % "
        "| has an interval % | width | width, drawn alike |\n|" + 12 * "---|"
    )
    for seed, design in enumerate(DESIGNS):
        for times in (3.0, 10.0):
            print(row(design, times, n_studies, seed), flush=True)


if __name__ == "__main__":
    main()
