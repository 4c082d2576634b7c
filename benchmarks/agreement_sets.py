"""Time set alpha with MASI against nltk's, per unit, on three coders who give units several of seven codes.

Usage: python benchmarks/agreement_sets.py [--units 1000000] [--peer-units 10000]

nltk's own MASI divides by zero on two empty sets, so it is given a code of its own ("none") where nothing
applies; its alpha is compared with ours on the same sets. Prints Markdown; skips nltk where it is absent.
"""

from __future__ import annotations

import argparse
import platform
import resource
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from sense7_qual.agreement.sets import multivalued_alpha, set_alpha

CODES = np.array(
    ["attending", "affective", "cognitive", "interest", "prosocial", "sharing", "other"], dtype=object
)
REPEATS = 5


def main() -> None:
    """Run every way and print its time per unit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--units", type=int, default=1_000_000)
    parser.add_argument("--peer-units", type=int, default=10_000)
    arguments = parser.parse_args()
    print(f"Python {platform.python_version()}, numpy {np.__version__}, {platform.machine()}; CPU seconds\n")
    print("| what | units | CPU s | µs per unit | alpha |")
    print("|---|--:|--:|--:|--:|")
    small, large = codings(arguments.peer_units), codings(arguments.units)
    peer = of_nltk(small)
    array = line("set_alpha, MASI, array", large, lambda: set_alpha(large, distance="masi"))
    large_sets = as_sets(large)
    lists = line("set_alpha, MASI, lists of sets", large, lambda: set_alpha(large_sets, distance="masi"))
    line("multivalued_alpha, array", large, lambda: multivalued_alpha(large))
    if peer is not None:
        print(
            f"\nPer unit {peer / array:.0f} times nltk's speed from an array, {peer / lists:.0f} from lists."
        )
    print(f"Peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB.")


def codings(n_units: int) -> np.ndarray:
    """Three coders who each depart from a common set by chance (coders, units, codes)."""
    rng = np.random.default_rng(7)
    common = rng.random((n_units, len(CODES))) < 0.25
    return np.stack([common ^ (rng.random(common.shape) < 0.1) for _ in range(3)])


def as_sets(given: np.ndarray) -> list[list[set[str]]]:
    return [[set(CODES[one]) for one in row] for row in given]


def line(name: str, given: np.ndarray, run: Callable[[], float]) -> float:
    """Print the best of some runs, and return its microseconds per unit."""
    best, alpha = float("inf"), float("nan")
    for _ in range(REPEATS):
        start = time.process_time()
        alpha = run()
        best = min(best, time.process_time() - start)
    n_units = given.shape[1]
    print(f"| {name} | {n_units:,} | {best:.3f} | {best / n_units * 1e6:.3f} | {alpha:.6f} |")
    return best / n_units * 1e6


def of_nltk(given: np.ndarray) -> float | None:
    try:
        from nltk.metrics import masi_distance
        from nltk.metrics.agreement import AnnotationTask
    except ImportError:
        print("| nltk is not installed: skipped | | | | |")
        return None
    sets: list[list[Any]] = [[frozenset(one) or frozenset(["none"]) for one in row] for row in as_sets(given)]
    rows = [(f"c{c}", f"u{u}", one) for c, row in enumerate(sets) for u, one in enumerate(row)]
    took = line("nltk, MASI", given, lambda: AnnotationTask(data=rows, distance=masi_distance).alpha())
    line("set_alpha, MASI, the same sets", given, lambda: set_alpha(sets, distance="masi"))
    return took


if __name__ == "__main__":
    main()
