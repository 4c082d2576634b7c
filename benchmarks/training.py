"""How often `agreement.mastery` passes and fails coders whose true kappa is known, and how soon.

python benchmarks/training.py [--runs 1000]

A gold decision on each of seven codes is drawn for each unit (codes that go together: a normal copula with a
correlation of .2). The coder copies it with probability kappa and else guesses at the code's prevalence, so
that kappa is the true one of each code; copies of one unit go together too (.3, or .5 where that is said).
The control is the rule of thumb "kappa of .8 or more after 20 texts". The interval holds where the true kappa
is in it after each of the units from 15 to 60.
"""

from __future__ import annotations

import argparse

import numpy as np
import numpy.typing as npt
from scipy.stats import norm

from sense7_qual.agreement._mastery import FEWEST, Evidence, _half_width, evidence, verdict_of

FAIL_AT, PASS_AT = 0.6, 0.85
PREVALENCES = {
    "seven codes .05–.5": (0.5, 0.35, 0.25, 0.18, 0.12, 0.08, 0.05),
    "seven codes .2": (0.2,) * 7,
    "seven codes .05": (0.05,) * 7,
}
KAPPAS = (0.5, 0.6, 0.7, 0.75, 0.85, 0.9)
MOST = 60

Flags = npt.NDArray[np.bool_]


def coded(
    prevalence: tuple[float, ...], kappa: float, rng: np.random.Generator, *, dependence: float = 0.3
) -> tuple[Flags, Flags]:
    """Draw the gold decisions on `MOST` units and a coder's (units, codes)."""
    limits = norm.isf(prevalence)
    gold = _together(len(prevalence), 0.2, rng) > limits
    copies = _together(len(prevalence), dependence, rng) < norm.ppf(kappa)
    return gold, np.where(copies, gold, _together(len(prevalence), 0.2, rng) > limits)


def _together(n_codes: int, correlation: float, rng: np.random.Generator) -> npt.NDArray[np.float64]:
    """Draw normal values (units, codes) whose codes go together."""
    shared, own = rng.standard_normal((MOST, 1)), rng.standard_normal((MOST, n_codes))
    return np.asarray(np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * own)


def verdict(shown: Evidence) -> tuple[str, int]:
    word, at, _ = verdict_of(
        shown, fail_at=FAIL_AT, pass_at=PASS_AT, error=0.05, fail_within=40, pass_within=60
    )
    return word, at


def holds(shown: Evidence, kappa: float) -> bool:
    """Return True if the true kappa is in the interval after every unit from the first possible verdict."""
    half = [_half_width(spread, n, 0.05) for n, spread in enumerate(shown.spread, start=1)]
    return not (np.abs(shown.kappa - kappa) > half)[FEWEST - 1 :].any()


Run = tuple[str, int, float, bool]


def simulate(
    prevalence: tuple[float, ...], kappa: float, n_runs: int, seed: int, *, dependence: float = 0.3
) -> list[Run]:
    """Return each run's verdict, after how many units, kappa after 20, and whether the interval held."""
    rng = np.random.default_rng(seed)
    results = []
    for _ in range(n_runs):
        gold, given = coded(prevalence, kappa, rng, dependence=dependence)
        shown = evidence(gold, given, fail_at=FAIL_AT, pass_at=PASS_AT)
        results.append((*verdict(shown), float(shown.kappa[19]), holds(shown, kappa)))
    return results


def row(name: str, kappa: float, results: list[Run]) -> str:
    n = len(results)

    def share(word: str, within: int) -> str:
        return f"{100 * sum(v == word and at <= within for v, at, *_ in results) / n:.1f}"

    decided = [at for word, at, *_ in results if word != "go on"]
    median = f"{np.median(decided):.0f}" if decided else "–"
    shares = [share(word, within) for within in (40, 60) for word in ("pass", "fail")]
    undecided = f"{100 * sum(word == 'go on' for word, *_ in results) / n:.1f}"
    naive = f"{100 * np.mean([k >= 0.8 for _, _, k, _ in results]):.1f}"
    held = f"{100 * np.mean([each for *_, each in results]):.1f}"
    return f"| {name} | {kappa:g} | {' | '.join(shares)} | {undecided} | {median} | {naive} | {held} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    n_runs = parser.parse_args().runs
    print(
        "| codes | kappa | passed by 40 % | failed by 40 % | passed by 60 % | failed by 60 % "
        "| undecided at 60 % | median n | “.8 after 20” passes % | interval holds % |\n|" + 10 * "---|"
    )
    for name, prevalence in PREVALENCES.items():
        for at, kappa in enumerate(KAPPAS):
            print(row(name, kappa, simulate(prevalence, kappa, n_runs, at)), flush=True)
    name, prevalence = next(iter(PREVALENCES.items()))
    for kappa in (FAIL_AT, PASS_AT):
        results = simulate(prevalence, kappa, n_runs, 9, dependence=0.5)
        print(row(f"{name}, errors together .5", kappa, results), flush=True)


if __name__ == "__main__":
    main()
