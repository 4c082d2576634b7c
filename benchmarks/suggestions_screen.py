"""How often the promise of `suggestions.screen` is broken, and how much it decides, in simulated studies.

Usage: python benchmarks/suggestions_screen.py [--studies 200]

Participants write one to nine texts (four on average). Whether a code is present depends on what a model sees
of the text, on the text itself, and on its participant, by a normal effect whose standard deviation is the
column "alike" (0, 1, 2 on the logit scale; 2 is an intraclass correlation of about a third). The model's
probabilities are calibrated over all participants, or too sure by the factor 1.5, or not sure enough (.6).
People decide on whole participants drawn at random; as many again are left, or five times as many.

"Broken" is the share of studies in which a share of errors is above its limit (5 % of what is decided absent
or present, 10 % of all presences lost): among participants of the same kind without end, which is what is
promised (at most delta = 10 %), and among the study's own participants that are left, which vary about it.
The control takes the furthest levels at which the sample's own shares of errors keep the limits.
Prints Markdown.
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd

from sense7_qual import suggestions
from sense7_qual.codebook import Code, Codebook

BOOK = Codebook(name="one", codes=(Code(id="code", label="Code"),))
LIMITS = {"false_absent": 0.05, "lost": 0.1, "false_present": 0.05}
#: participants in the sample, times as many left, share of presences, alike, sureness, how well it tells
SCENARIOS = [
    (100, 5, 0.2, 1.0, 1.0, 2.5),
    (100, 5, 0.2, 0.0, 1.0, 2.5),
    (100, 5, 0.2, 2.0, 1.0, 2.5),
    (100, 1, 0.2, 1.0, 1.0, 2.5),
    (50, 5, 0.2, 1.0, 1.0, 2.5),
    (50, 5, 0.2, 2.0, 1.5, 2.5),
    (300, 5, 0.2, 1.0, 1.0, 2.5),
    (300, 5, 0.05, 1.0, 1.0, 2.5),
    (100, 5, 0.05, 1.0, 1.0, 2.5),
    (100, 5, 0.2, 1.0, 1.5, 2.5),
    (300, 5, 0.2, 2.0, 1.5, 2.5),
    (100, 5, 0.2, 1.0, 0.6, 2.5),
    (300, 5, 0.2, 1.0, 1.0, 1.5),
    (300, 5, 0.2, 1.0, 1.0, 5.0),
]


def drawn(n: int, share: float, alike: float, sure: float, tells: float, seed: int) -> pd.DataFrame:
    """Draw participants with their texts: unit_id, case_id, probability, present."""
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(n), rng.integers(1, 10, n) * (rng.random(n) < 0.75) + 1)
    effect = rng.normal(0, alike, n)[person]
    seen = rng.normal(0, tells, len(person))
    unseen = rng.normal(0, 0.5, len(person))
    at = np.log(share / (1 - share)) * np.sqrt(1 + 0.35 * (tells**2 + alike**2))
    present = rng.random(len(person)) < 1 / (1 + np.exp(-(at + seen + unseen + effect)))
    # What a calibrated model says: the participant and the text are averaged out (logistic-normal).
    narrow = np.sqrt(1 + 0.346 * (alike**2 + 0.25))
    chance = 1 / (1 + np.exp(-sure * (at + seen) / narrow))
    ids = [f"u{i}" for i in range(len(person))]
    return pd.DataFrame(
        {
            "unit_id": ids,
            "case_id": [f"p{i}" for i in person],
            "person": person,
            "probability": chance,
            "present": present,
        }
    )


def shares(units: pd.DataFrame, low: float, high: float) -> dict[str, float]:
    """Return the shares of errors at these levels, 0 where nothing is decided."""
    chance, present = units["probability"].to_numpy(), units["present"].to_numpy()
    out, there = chance <= low, chance >= high
    return {
        "false_absent": float((out & present).sum() / max(out.sum(), 1)),
        "lost": float((out & present).sum() / max(present.sum(), 1)),
        "false_present": float((there & ~present).sum() / max(there.sum(), 1)),
    }


def broken(found: dict[str, float]) -> bool:
    """Return True if a share is above its limit."""
    return any(found[name] > limit for name, limit in LIMITS.items())


def control(sample: pd.DataFrame) -> tuple[float, float]:
    """Return the furthest levels at which the sample itself keeps the limits."""
    low = [
        level
        for level in (0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3)
        if not broken(shares(sample, level, np.nan))
    ]
    high = [level for level in (0.98, 0.95, 0.9, 0.8, 0.7) if not broken(shares(sample, np.nan, level))]
    return max(low, default=np.nan), min(high, default=np.nan)


def study(scenario: tuple[float, ...], population: pd.DataFrame, test: str, seed: int) -> dict[str, float]:
    """Simulate one study, screen it, and compare with what is true."""
    n, times, *kind = scenario
    units = drawn(int(n * (1 + times)), *kind, seed=seed)
    made = units[["unit_id", "probability"]].assign(code="code", suggested=False, start=None, end=None)
    sample = units[units["person"] < n]
    decided = pd.DataFrame(
        {"unit_id": sample["unit_id"], "coder": "ana", "code": "code", "applied": sample["present"]}
    )
    rest = units[units["person"] >= n]
    if test == "control":
        low, high = control(sample)
    else:
        row = suggestions.screen(made, decided, BOOK, units=units).codes.iloc[0]
        low, high = float(row["absent_up_to"]), float(row["present_from"])
    return {
        "promised": broken(shares(population, low, high)),
        "own": broken(shares(rest, low, high)),
        "absent": float((rest["probability"] <= low).mean()),
        "present": float((rest["probability"] >= high).mean()),
        "nothing": float(np.isnan(low) and np.isnan(high)),
    }


def main() -> None:
    """Print a row per scenario and test."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--studies", type=int, default=200)
    n = parser.parse_args().studies
    print(f"{n} studies a row, delta .1. Standard error of 10 % broken: {np.sqrt(0.09 / n):.1%}.\n")
    heads = (
        "test",
        "participants",
        "left",
        "present",
        "alike",
        "sureness",
        "tells",
        "broken: promised",
        "among those left",
        "decided absent",
        "decided present",
        "nothing decided",
    )
    print("| " + " | ".join(heads) + " |\n" + "|---" * len(heads) + "|")
    for test in ("binomial", "control"):
        for scenario in SCENARIOS:
            population = drawn(100_000, *scenario[2:], seed=99)
            found = pd.DataFrame([study(scenario, population, test, seed) for seed in range(n)]).mean()
            size, times, _, alike, sure, tells = scenario
            cells = [
                test,
                size,
                f"{size * times:,}",
                f"{population['present'].mean():.0%}",
                alike,
                sure,
                tells,
            ]
            cells += [f"{found[name]:.1%}" for name in ("promised", "own", "absent", "present", "nothing")]
            print("| " + " | ".join(map(str, cells)) + " |", flush=True)


if __name__ == "__main__":
    main()
