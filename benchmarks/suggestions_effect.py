"""How often the interval of `suggestions.effect` holds the effect, in simulated studies.

Usage: python benchmarks/suggestions_effect.py [--studies 300]

Participants write five texts each; whether a code is applied depends on the participant (a normal effect on
the logit scale, "alike") and on whether suggestions were shown, which a tenth of the texts had not ("effect",
on the same scale; the difference of shares that it makes is the column "true"). Prints Markdown.
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd

from sense7_qual import suggestions

SCENARIOS = ((60, 1.0, 0.0), (60, 1.0, 0.8), (30, 1.5, 0.5), (150, 0.5, 0.5))


def logistic(values: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-values))


def study(n: int, alike: float, shift: float, seed: int) -> pd.Series:
    """Simulate one study, and return the effect on how often the code is applied, with its interval."""
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(n), 5)
    ids = [f"s{seed}u{i}" for i in range(len(person))]
    shown = ~suggestions.withheld(ids, seed=seed)
    chance = logistic(-1 + rng.normal(0, alike, n)[person] + shift * shown.to_numpy())
    decisions = pd.DataFrame(
        {"unit_id": ids, "coder": "ana", "code": "code", "applied": rng.random(len(person)) < chance}
    )
    units = pd.DataFrame({"unit_id": ids, "case_id": [f"p{i}" for i in person]})
    return suggestions.effect(decisions, shown, units=units).iloc[0]


def main() -> None:
    """Print a row per scenario."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--studies", type=int, default=300)
    studies = parser.parse_args().studies
    print("| participants | alike | effect | true | studies with an interval | interval holds it | width |")
    print("|---" * 7 + "|")
    for n, alike, shift in SCENARIOS:
        effects = np.random.default_rng(0).normal(0, alike, 400_000)
        true = float((logistic(-1 + effects + shift) - logistic(-1 + effects)).mean())
        rows = pd.DataFrame([study(n, alike, shift, seed) for seed in range(studies)])
        rows = rows[rows["low"].notna()].astype({"low": float, "high": float})
        holds = float(rows["low"].le(true).mul(rows["high"].ge(true)).mean())
        width = float((rows["high"] - rows["low"]).mean())
        print(
            f"| {n} | {alike} | {shift} | {true:.3f} | {len(rows)} | {holds:.1%} | {width:.2f} |", flush=True
        )


if __name__ == "__main__":
    main()
