"""Time `agreement.by_code` on real many-coder data against calling `krippendorff` on every resample.

Usage: python benchmarks/agreement_by_code.py [ratings.csv] [--calls 2000]

Both give alpha for each of the seven codes on 2,000 resamples of conversations. With fewer `--calls` per
code, the time of all 14,000 calls is scaled up from those, and the table says so. Prints Markdown.
"""

from __future__ import annotations

import argparse
import platform
import resource
import time
from importlib.metadata import version
from pathlib import Path

import krippendorff
import numpy as np
import pandas as pd

from sense7_qual import agreement, codings

CODES = ["ableism", "homophobic", "intellectual", "racist", "sexist", "sex_harassment", "transphobic"]
N_BOOT = 2000
RATINGS = Path(__file__).resolve().parents[1] / "tests" / "data" / "convabuse_ratings.csv"


def main() -> None:
    """Run both ways once and print their times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ratings", nargs="?", type=Path, default=RATINGS)
    parser.add_argument(
        "--calls", type=int, default=N_BOOT, help="timed calls of krippendorff.alpha per code"
    )
    arguments = parser.parse_args()
    if not arguments.ratings.exists():
        print(f"Skipped: there is no file {arguments.ratings}.")
        return
    ratings = pd.read_csv(arguments.ratings, dtype={"unit_id": str, "conversation_id": str})
    decisions = codings.from_table(ratings, unit_id="unit_id", coder="coder", codes=CODES)
    units = ratings.drop_duplicates("unit_id")
    conversation = units.set_index("unit_id")["conversation_id"]

    wall, cpu = time.perf_counter(), time.process_time()
    result = agreement.by_code(decisions, units=units, cluster="conversation_id", n_boot=N_BOOT, seed=7)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

    call_wall, call_cpu = time_calls(ratings, conversation, arguments.calls)
    all_calls, done = N_BOOT * len(CODES), arguments.calls * len(CODES)
    scaled = "" if done == all_calls else f", scaled up from {done:,}"
    print(
        f"`by_code`: {len(conversation):,} units, {conversation.nunique():,} conversations, "
        f"{len(CODES)} codes, ",
        end="",
    )
    print(
        f"{N_BOOT:,} resamples; one run, Python {platform.python_version()}, numpy {np.__version__}, ", end=""
    )
    print(f"krippendorff {version('krippendorff')}, {platform.machine()}.\n")
    print("| way | wall s | CPU s | ratio (CPU) |\n|---|---|---|---|")
    print(f"| `agreement.by_code` (peak memory of the process {peak:.0f} MB) | {wall:.2f} | {cpu:.2f} | 1 |")
    print(
        f"| {all_calls:,} calls of `krippendorff.alpha`, drawing included{scaled} | "
        f"{call_wall * all_calls:.0f} | {call_cpu * all_calls:.0f} | {call_cpu * all_calls / cpu:.0f} |\n"
    )
    shown = result[
        ["code", "n_units", "n_clusters", "prevalence", "alpha", "alpha_low", "alpha_high", "reason"]
    ]
    print("| " + " | ".join(shown.columns) + " |\n" + "|---" * shown.shape[1] + "|")
    for row in shown.itertuples(index=False):
        print("| " + " | ".join(f"{v:.4f}" if isinstance(v, float) else str(v) for v in row) + " |")


def time_calls(ratings: pd.DataFrame, cluster: pd.Series, calls: int) -> tuple[float, float]:
    """Return the wall and CPU seconds of one call on one resample of conversations, drawing included."""
    rng = np.random.default_rng(7)
    number, labels = pd.factorize(cluster)
    members = np.split(np.argsort(number, kind="stable"), np.cumsum(np.bincount(number))[:-1])
    tables = [
        ratings.pivot(index="coder", columns="unit_id", values=code)[cluster.index].to_numpy()
        for code in CODES
    ]
    wall, cpu = time.perf_counter(), time.process_time()
    for table in tables:
        for _ in range(calls):
            drawn = np.concatenate([members[i] for i in rng.integers(0, len(labels), len(labels))])
            resample = table[:, drawn]
            if np.nanmin(resample) < np.nanmax(resample):
                krippendorff.alpha(reliability_data=resample, level_of_measurement="nominal")
    n = calls * len(tables)
    return (time.perf_counter() - wall) / n, (time.process_time() - cpu) / n


if __name__ == "__main__":
    main()
