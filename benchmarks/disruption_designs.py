"""What each contrast of `links.disruption` finds where a poor turn does nothing, and where it does something.

Usage: python benchmarks/disruption_designs.py [--studies 400] [--participants 50] [--seed 1]

Participants (50) with about four conversations of about six turns, ratings 1 to 5 (rounded), ICC of
conversations .4, half of it the participants'. Without an effect: nothing else; first turns better by .8; a
drift of −.1 a turn; an autocorrelation of .4 from turn to turn; the last three together. With an effect: a
conversation's first poor turn (2 or lower) lowers all later ones by .5, alone and in the last design. For
each contrast: the mean difference, and the share of studies with p below .05 (a false positive where there is
no effect, power where there is one). `later_turns` has no p; in its place stands how often its interval lies
below 0. Prints Markdown.
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd

from sense7_qual import links

NULLS: dict[str, dict[str, float]] = {
    "nothing else": {},
    "first turns better": {"first": 0.8},
    "drift": {"drift": -0.1},
    "autocorrelation": {"autocorrelation": 0.4},
    "all three": {"first": 0.8, "drift": -0.1, "autocorrelation": 0.4},
}
EFFECTS = {f"{name}, effect": {**NULLS[name], "carry": 0.5} for name in ("nothing else", "all three")}


def conversations(
    rng: np.random.Generator,
    *,
    participants: int = 50,
    icc: float = 0.4,
    first: float = 0.0,
    drift: float = 0.0,
    autocorrelation: float = 0.0,
    carry: float = 0.0,
) -> pd.DataFrame:
    """Return the units of one simulated study."""
    rows = []
    for case in range(participants):
        person = rng.normal() * np.sqrt(icc / 2)
        for _ in range(1 + rng.poisson(3)):
            level = 3.6 + person + rng.normal() * np.sqrt(icc / 2)
            document, fallen, mood = len(rows), False, rng.normal()
            for turn in range(1 + rng.poisson(5)):
                latent = level + first * (turn == 0) + drift * turn - carry * fallen
                rating = float(np.clip(np.round(latent + np.sqrt(1 - icc) * mood), 1, 5))
                rows.append((f"u{len(rows)}", f"p{case}", f"d{document}", turn, rating))
                fallen = fallen or rating <= 2
                mood = autocorrelation * mood + np.sqrt(1 - autocorrelation**2) * rng.normal()
    return pd.DataFrame(rows, columns=["unit_id", "case_id", "document_id", "position", "empathy"])


def found_in(design: dict[str, float], studies: int, participants: int, seed: int) -> pd.DataFrame:
    """Return, per contrast, the mean difference and the share of studies in which it is significant."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(studies):
        table = links.disruption(
            conversations(rng, participants=participants, **design),
            rating="empathy",
            document_id="document_id",
            position="position",
            cluster="case_id",
            n_boot=100,
        )
        below = (table["p"] < 0.05) | (table["p"].isna() & (table["difference_high"] < 0))
        rows.append(table[["contrast", "mean_difference"]].assign(significant=below.astype(float)))
    return pd.concat(rows).groupby("contrast", sort=False).mean()


def main() -> None:
    """Print what is found in each design."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=400)
    parser.add_argument("--participants", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    print(f"{given.studies:,} studies each of {given.participants} participants.\n")
    print("| design | contrast | mean difference | p < .05 % |\n|---|---|---|---|")
    for name, design in {**NULLS, **EFFECTS}.items():
        for contrast, row in found_in(design, given.studies, given.participants, given.seed).iterrows():
            share = 100 * row["significant"]
            print(f"| {name} | {contrast} | {row['mean_difference']:.2f} | {share:.1f} |", flush=True)


if __name__ == "__main__":
    main()
