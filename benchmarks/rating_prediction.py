"""Predict the writers' own ratings from their texts, beside the baselines, with writers never in both folds.

Usage: python benchmarks/rating_prediction.py [messages.csv] [--folds 10] [--seed 7] [--cache FOLDER]

Distress and empathy (1 to 7, means of several items) are cut at equal widths into five levels. Each writer's
five texts are in one fold. Intervals resample writers. Prints Markdown.
"""

from __future__ import annotations

import argparse
import platform
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd

from sense7_qual import models, ratings

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data" / "empathic-reactions" / "messages.csv"
RATINGS = ("distress", "empathy")
MEASURES = ("spearman", "accuracy", "accuracy_over_majority", "macro_f1", "within_one", "mae")


def read(path: Path) -> pd.DataFrame:
    """Return the texts with both ratings cut into five levels of equal width."""
    messages = pd.read_csv(path, dtype={"message_id": str, "response_id": str}, keep_default_na=False)
    levels = {name: five_levels(messages[name].astype(float)) for name in RATINGS}
    return pd.DataFrame(
        {
            "unit_id": messages["message_id"],
            "text": messages["essay"],
            "case_id": messages["response_id"],
            **levels,
        }
    )


def five_levels(values: pd.Series) -> pd.Series:
    """Cut a scale from 1 to 7 into five intervals of equal width, numbered 1 to 5.

    >>> five_levels(pd.Series([1.0, 2.19, 2.21, 4.0, 7.0])).tolist()
    [1.0, 1.0, 2.0, 3.0, 5.0]
    """
    return np.floor((values - 1) / 6 * 5).clip(0, 4) + 1


def row(found: pd.Series) -> str:
    """Return one line of the table."""
    cells = [str(found["predictor"])]
    for measure in MEASURES:
        value, low, high = (found[f"{measure}{end}"] for end in ("", "_low", "_high"))
        interval = "" if np.isnan(low) else f" ({low:.3f}, {high:.3f})"
        cells.append("–" if np.isnan(value) else f"{value:.3f}{interval}")
    counts = [found["n"], found["n_missing"]]
    cells += ["–" if pd.isna(count) else f"{count:,}" for count in counts]
    return "| " + " | ".join([*cells, "" if pd.isna(found["reason"]) else str(found["reason"])]) + " |"


def main() -> None:
    """Embed once, cross-validate both ratings, and print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("messages", nargs="?", type=Path, default=SHARED)
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--n-boot", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--cache", type=Path, help="a folder that keeps the vectors for the next time")
    arguments = parser.parse_args()
    if not arguments.messages.exists():
        print(f"Skipped: there is no file {arguments.messages}.")
        return
    units = read(arguments.messages)
    print(
        f"{len(units):,} texts of {units['case_id'].nunique()} writers, {arguments.folds} folds of writers, "
        f"{arguments.n_boot:,} resamples of writers, seed {arguments.seed}; Python "
        f"{platform.python_version()}, scikit-learn {version('scikit-learn')}.\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        embed = models.embedder(cache=arguments.cache or folder)
        regression = ratings.ordinal_regression(embed)
        for rating in RATINGS:
            report(units, rating, regression, arguments)


def report(
    units: pd.DataFrame, rating: str, regression: ratings.OrdinalRegression, arguments: argparse.Namespace
) -> None:
    """Print the table of one rating."""
    wall, cpu = time.perf_counter(), time.process_time()
    predictions = ratings.cross_validate(
        units,
        {"embedding + ordinal regression": regression},
        rating=rating,
        cluster="case_id",
        folds=arguments.folds,
        seed=arguments.seed,
    )
    learned = time.perf_counter() - wall, time.process_time() - cpu
    table = ratings.compare(predictions, n_boot=arguments.n_boot, seed=arguments.seed)
    total = time.perf_counter() - wall
    counts = units[rating].value_counts(normalize=True).sort_index()
    shares = ", ".join(f"{share:.1%}" for share in counts)
    print(f"**{rating}** (levels 1 to 5: {shares})\n")
    print("| predictor | " + " | ".join(MEASURES) + " | n | missing | reason |")
    print("|---" * (len(MEASURES) + 4) + "|")
    for _, found in table.iterrows():
        print(row(found))
    print(
        f"\nCross-validation {learned[0]:.1f} s wall, {learned[1]:.1f} s CPU (embedding included, where not "
        f"cached); intervals {total - learned[0]:.1f} s.\n",
        flush=True,
    )


if __name__ == "__main__":
    main()
