"""Time and memory of set alpha with MASI against nltk's: three coders, several of seven codes a unit.

Usage: python benchmarks/agreement_sets.py [--units 1000000] [--peer-units 10000]

Each way has a process of its own, which makes the table and calls a few times; the seconds are CPU seconds of
the fastest call, the memory is the peak of the process less what it was before the first call. Three kinds of
input: an array of 0 and 1; lists of frozensets; lists of sets, which no mapping can look up as they are. For
comparison, a pass over the same sets that does nothing but take their lengths: no reader of Python sets takes
less. nltk's own MASI divides by zero on two empty sets, so it is given a code of its own ("none") where
nothing applies, and ours is run on the same sets, too. Prints Markdown; skips nltk where it is absent.
"""

from __future__ import annotations

import argparse
import collections
import importlib.util
import json
import platform
import resource
import subprocess
import sys
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
    """Measure every way and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--units", type=int, default=1_000_000)
    parser.add_argument("--peer-units", type=int, default=10_000)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measure(arguments.one, arguments.units)))
        return
    print(f"Python {platform.python_version()}, numpy {np.__version__}, {platform.machine()}.\n")
    print("| what | units | CPU s | µs per unit | times nltk's speed | memory above the table, MB | alpha |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    peer = float("nan")
    for way in WAYS:
        of_peer = way in ("nltk, MASI", "set_alpha, the same sets")
        if of_peer and importlib.util.find_spec("nltk") is None:
            print(f"| {way}: nltk is not installed | | | | | | |")
            continue
        n_units = arguments.peer_units if of_peer else arguments.units
        command = [sys.executable, __file__, "--one", way, "--units", str(n_units)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        found = json.loads(done.stdout)
        each = 1e6 * found["cpu"] / n_units
        peer = each if way == "nltk, MASI" else peer
        figures = f"{found['cpu']:.3f} | {each:.3f} | {peer / each:.0f} | {found['memory']:.0f}"
        print(f"| {way} | {n_units:,} | {figures} | {found['alpha']:.6f} |", flush=True)


def measure(way: str, n_units: int) -> dict[str, float]:
    """Make the table, call a few times, and return the seconds of the fastest call, the memory and alpha."""
    form, run = WAYS[way]
    table = form(codings(n_units))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds, alpha = [], float("nan")
    for _ in range(REPEATS):
        start = time.process_time()
        alpha = run(table)
        seconds.append(time.process_time() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"cpu": min(seconds), "memory": (peak - before) / 1024, "alpha": alpha}


def codings(n_units: int) -> np.ndarray:
    """Three coders who each depart from a common set by chance (coders, units, codes)."""
    rng = np.random.default_rng(7)
    common = rng.random((n_units, len(CODES))) < 0.25
    return np.stack([common ^ (rng.random(common.shape) < 0.1) for _ in range(3)])


def as_sets(given: np.ndarray) -> list[list[set[str]]]:
    return [[set(CODES[one]) for one in row] for row in given]


def as_frozensets(given: np.ndarray) -> list[list[frozenset[str]]]:
    return [[frozenset(CODES[one]) for one in row] for row in given]


def as_sets_of_one_or_more(given: np.ndarray) -> list[list[frozenset[str]]]:
    return [[frozenset(CODES[one]) or frozenset(["none"]) for one in row] for row in given]


def as_rows(given: np.ndarray) -> list[tuple[str, str, frozenset[str]]]:
    sets = as_sets_of_one_or_more(given)
    return [(f"c{c}", f"u{u}", one) for c, row in enumerate(sets) for u, one in enumerate(row)]


def of_nltk(rows: list[tuple[str, str, frozenset[str]]]) -> float:
    from nltk.metrics import masi_distance
    from nltk.metrics.agreement import AnnotationTask

    return float(AnnotationTask(data=rows, distance=masi_distance).alpha())


def ours(sets: Any) -> float:
    return set_alpha(sets, distance="masi")


def lengths(sets: list[list[set[str]]]) -> float:
    for row in sets:
        collections.deque(map(len, row), maxlen=0)
    return float("nan")


WAYS: dict[str, tuple[Callable[[np.ndarray], Any], Callable[[Any], float]]] = {
    "nltk, MASI": (as_rows, of_nltk),
    "set_alpha, the same sets": (as_sets_of_one_or_more, ours),
    "set_alpha, MASI, array": (lambda given: given, ours),
    "set_alpha, MASI, lists of frozensets": (as_frozensets, ours),
    "set_alpha, MASI, lists of sets": (as_sets, ours),
    "the lengths of the same sets, nothing else": (as_sets, lengths),
    "multivalued_alpha, array": (lambda given: given, multivalued_alpha),
}


if __name__ == "__main__":
    main()
