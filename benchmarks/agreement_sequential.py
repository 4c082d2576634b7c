"""How often the intervals of `agreement.sequential` hold at all looks together, and how many units they save.

python benchmarks/agreement_sequential.py [--studies 400] [--orders 20] [--only coverage | convabuse]

Coverage: two coders decide on units of participants who differ in how often the code fits their texts and in
how well coders can see it (as in benchmarks/agreement_coverage.py), so that the true alpha is known. There is
a look after every ten units, until the interval is as narrow as was asked for or all units are coded twice.
The control is an ordinary 95 % interval at every look, from the same standard errors.

ConvAbuse: the ratings of tests/data/convabuse_ratings.csv (Cercas Curry et al. 2021) are put in a random
order, two coders drawn for each unit, and coded twice ten at a time, until the interval is narrow enough or a
quarter of the 4,185 units is done, as a fixed quarter would do in any case. The truth is the alpha of all.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual.agreement._intervals._bootstrap import FEWEST, cut_off, log_scale_interval
from sense7_qual.agreement._intervals._methods import left_out_error
from sense7_qual.agreement._sequential import Look, look
from sense7_qual.agreement.coefficients._compute import compute, evidence
from sense7_qual.agreement.coefficients._patterns import Coded

Values = npt.NDArray[np.uint8]
Integers = npt.NDArray[np.int64]

RATINGS = Path(__file__).parents[1] / "tests" / "data" / "convabuse_ratings.csv"
CODES = ["ableism", "homophobic", "intellectual", "racist", "sexist", "sex_harassment", "transphobic"]
EVERY = 10
SCENARIOS = [
    # participants (0: units are independent), units in all, prevalence, true alpha, width asked for
    (0, 300, 0.3, 0.6, 0.4),
    (0, 300, 0.1, 0.6, 0.5),
    (0, 600, 0.05, 0.6, 0.5),
    (0, 600, 0.02, 0.6, 0.6),
    (0, 300, 0.1, 0.8, 0.4),
    (0, 300, 0.05, 0.9, 0.4),
    (0, 300, 0.3, 0.3, 0.5),
    (40, 300, 0.3, 0.6, 0.4),
    (40, 300, 0.1, 0.6, 0.5),
    (40, 600, 0.05, 0.8, 0.5),
    (100, 600, 0.1, 0.7, 0.4),
]


def coded(values: Values) -> Coded:
    return Coded(np.array([0.0, 1.0]), values)


def study(
    participants: int, n: int, prevalence: float, alpha: float, rng: np.random.Generator
) -> tuple[Values, Integers | None]:
    """Return the decisions of two coders (2, units), 1 absent and 2 applied, and the participant of each."""
    fits, seen, who = np.full(n, prevalence), np.full(n, alpha), None
    if participants:
        who = rng.integers(0, participants, n)
        fits = rng.beta(4 * prevalence, 4 * (1 - prevalence), participants)[who]
        seen = rng.beta(4 * alpha, 4 * (1 - alpha), participants)[who]
    truth = rng.random(n) < fits
    sees = rng.random((2, n)) < np.sqrt(seen)
    return np.where(sees, truth, rng.random((2, n)) < prevalence).astype(np.uint8) + 1, who


def ordinary(values: Values, number: Integers | None) -> tuple[float, float]:
    """Return the interval for a single look, from the jackknife over units or clusters."""
    table = coded(values)
    computed = compute("krippendorff_alpha", table, {"level": "nominal"}, locate=number is not None)
    value, rests_on = computed.coefficient.estimate, computed.rests_on
    if number is not None:
        rests_on = evidence("krippendorff_alpha", values, 2, number)
    if np.isnan(value) or value > 1 - 1e-12 or rests_on.other < FEWEST:
        return np.nan, np.nan
    error, degrees = left_out_error(computed, number, "krippendorff_alpha")
    if not error:
        return np.nan, np.nan
    return cut_off(*log_scale_interval(value, error, degrees, rests_on, 0.95), value, -1.0)


def looks(
    values: Values, number: Integers | None, width: float, last: int, *, control: bool = True
) -> list[tuple[int, Look, tuple[float, float]]]:
    """Return the number of units, the interval and the ordinary one at each look until it is reached."""
    seen = []
    for n in range(EVERY, last + 1, EVERY):
        of = None if number is None else pd.factorize(number[:n])[0].astype(np.int64)
        shown = look(
            coded(values[:, :n]), of, coefficient="krippendorff_alpha", width=width, confidence_level=0.95
        )
        seen.append((n, shown, ordinary(values[:, :n], of) if control else (np.nan, np.nan)))
        if shown.reached:
            break
    return seen


def holds(low: float, high: float, alpha: float) -> bool:
    """Return True if there is no interval, or it holds the true alpha."""
    return bool(np.isnan(low) or low <= alpha <= high)


def coverage(scenario: tuple[int, int, float, float, float], n_studies: int, seed: int) -> str:
    participants, n, prevalence, alpha, width = scenario
    rng = np.random.default_rng(seed)
    held, naive, units, reached, guessed, none = [], [], [], [], [], []
    for _ in range(n_studies):
        seen = looks(*study(participants, n, prevalence, alpha, rng), width, n)
        held.append(all(holds(shown.low, shown.high, alpha) for _, shown, _ in seen))
        naive.append(all(holds(*ends, alpha) for *_, ends in seen))
        units.append(seen[-1][0])
        reached.append(seen[-1][1].reached)
        none.append(np.mean([np.isnan(shown.low) for _, shown, _ in seen]))
        half = next((i for i in seen if i[0] >= units[-1] / 2 and i[1].n_more), None)
        if half and reached[-1]:
            guessed.append((half[0] + half[1].n_more) / units[-1])
    shares = [np.mean(held), np.mean(naive), np.mean(reached), np.mean(none)]
    return (
        "| "
        + " | ".join(str(value) for value in scenario)
        + " | "
        + " | ".join(f"{100 * share:.1f}" for share in shares)
        + f" | {np.mean(units):.0f} | {np.median(guessed) if guessed else np.nan:.2f} |"
    )


def drawn(code: str, rng: np.random.Generator) -> tuple[Values, Integers, float]:
    """Return ratings (coders, units) in a random order, two a unit, their conversations, and alpha of all."""
    ratings = pd.read_csv(RATINGS)
    applied = ratings["severity"] < 0 if code == "abusive" else ratings[code] == 1
    unit, unit_ids = pd.factorize(ratings["unit_id"])
    coder, coders = pd.factorize(ratings["coder"])
    values = np.zeros((len(coders), len(unit_ids)), dtype=np.uint8)
    values[coder, unit] = applied + 1
    truth = compute("krippendorff_alpha", coded(values), {"level": "nominal"}).coefficient.estimate
    place = np.where(values > 0, rng.random(values.shape), 2).argsort(axis=0).argsort(axis=0)
    values[place >= 2] = 0
    order = rng.permutation(len(unit_ids))
    conversation = pd.factorize(ratings.drop_duplicates("unit_id")["conversation_id"])[0]
    return values[:, order], conversation[order], truth


def convabuse(code: str, width: float, n_orders: int, seed: int) -> str:
    rng, quarter = np.random.default_rng(seed), 4185 // 4
    units, held, fits, reached = [], [], [], []
    for _ in range(n_orders):
        values, conversation, truth = drawn(code, rng)
        seen = looks(values, conversation, width, quarter, control=False)
        units.append(seen[-1][0] if seen[-1][1].reached else quarter)
        held.append(all(holds(shown.low, shown.high, truth) for _, shown, _ in seen))
        reached.append(seen[-1][1].reached)
        low, high = ordinary(values[:, :quarter], pd.factorize(conversation[:quarter])[0].astype(np.int64))
        fits.append(high - low <= width)
    fewer = 100 * (1 - np.mean(units) / quarter)
    prevalence = (values == 2).sum() / (values > 0).sum()
    shares = " | ".join(f"{100 * np.mean(share):.0f}" for share in (fits, reached, held))
    asked = f"| {code} | {prevalence:.3f} | {truth:.2f} | {width}"
    return f"{asked} | {np.mean(units):.0f} | {fewer:.0f} | {shares} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=400)
    parser.add_argument("--orders", type=int, default=20)
    parser.add_argument("--only", choices=["coverage", "convabuse"])
    arguments = parser.parse_args()
    if arguments.only != "convabuse":
        print(
            "| participants | units at most | prevalence | alpha | width | holds at all looks % | ordinary % "
            "| reached % | no interval, of looks % | units | predicted / needed |\n|" + 11 * "---|"
        )
        for at, scenario in enumerate(SCENARIOS):
            print(coverage(scenario, arguments.studies, at), flush=True)
    if arguments.only != "coverage":
        print(
            "\n| code | prevalence | alpha | width | units | fewer than a quarter % | quarter fits % "
            "| reached % | holds % |\n|" + 9 * "---|"
        )
        for width in (0.3, 0.4):
            for at, code in enumerate(["abusive", *CODES]):
                print(convabuse(code, width, arguments.orders, at), flush=True)


if __name__ == "__main__":
    main()
