"""How long the whole table of links takes on real ratings: 1,860 texts of 372 writers, 7 codes, 3 coders.

Usage: python benchmarks/links_speed.py ../shared/data/empathic-reactions/messages.csv [--rating distress]

No one has coded these texts: a code stands where one of its words does, and each of three simulated
coders gets a tenth of the units wrong (seeded). What is measured is time, not a finding. Prints Markdown.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import pandas as pd

from sense7_qual import adjudication, links

WORDS = {
    "sadness": "sad|sorry|tragic|heartbreak",
    "anger": "angry|mad |outrag|furious",
    "fear": "afraid|scar|worr|fear",
    "family": "famil|child|kid|mother|father",
    "death": "death|die|dead|kill",
    "help": "help|support|donat",
    "animals": "animal|dog|cat |species",
}


def main() -> None:
    """Measure each part once and print the seconds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("messages", type=Path)
    parser.add_argument("--rating", default="distress")
    given = parser.parse_args()
    decisions, units = coded(given.messages)
    about = {"rating": given.rating, "cluster": "response_id", "seed": 7}
    print("| table | rows | seconds | CPU seconds |\n|---|---|---|---|")
    for name, settings in (
        ("code_to_rating", {}),
        ("code_to_rating, odds_ratios=False", {"odds_ratios": False}),
        ("code_to_rating, sensitivity=True", {"sensitivity": True}),
    ):
        measured(name, lambda settings=settings: links.code_to_rating(decisions, units, **about, **settings))
    measured("multiverse", lambda: links.multiverse(decisions, units, **about))
    likely = measured(
        "dawid_skene, 20 draws",
        lambda: (
            adjudication.dawid_skene(
                decisions,
                prevalence_by=given.rating,
                units=units,
                cluster="response_id",
                n_draws=20,
                seed=7,
            ).draws
        ),
    )
    measured("corrected", lambda: links.corrected(likely, units, **about))


def measured(name: str, made: object) -> pd.DataFrame:
    """Print how long making a table took, and return it."""
    start, cpu = time.perf_counter(), time.process_time()
    table = made()  # type: ignore[operator]
    took = time.perf_counter() - start, time.process_time() - cpu
    print(f"| {name} | {len(table):,} | {took[0]:.1f} | {took[1]:.1f} |", flush=True)
    return table


def coded(messages: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the simulated decisions of three coders, and the units with ratings cut to five levels."""
    units = pd.read_csv(messages, dtype={"message_id": str}).rename(columns={"message_id": "unit_id"})
    for rating in ("distress", "empathy"):
        units[rating] = 1.0 + np.floor((units[rating] - 1) / 6 * 5).clip(upper=4)
    rng = np.random.default_rng(1)
    parts = []
    for code, words in WORDS.items():
        true = units["essay"].str.contains(words, case=False, regex=True).to_numpy(dtype=bool)
        for coder in ("ana", "ben", "cleo"):
            applied = true ^ (rng.random(len(units)) < 0.1)
            parts.append(units[["unit_id"]].assign(coder=coder, code=code, applied=applied))
    return pd.concat(parts, ignore_index=True), units.drop(columns="essay")


if __name__ == "__main__":
    main()
