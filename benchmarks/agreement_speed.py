"""Time and memory of alpha on dense tables against the `krippendorff` package, and of a thousand resamples.

Usage: python benchmarks/agreement_speed.py [--peer-memory 8]

Each case has a process of its own for each way, which makes the table and calls five times (the largest
tables three times, the peer's once); the seconds are CPU seconds of the fastest call. Ours counts the
patterns and takes nominal and ordinal alpha from them; the peer is called for nominal alpha alone. Memory is
the peak of the whole process less that of one that makes the table and does nothing. The peer's largest table
is left out where the machine has less than `--peer-memory` GB to spare. Prints Markdown.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

import krippendorff
import numpy as np

from sense7_qual.agreement.coefficients import estimate, krippendorff_alpha
from sense7_qual.agreement.coefficients._patterns import from_values

CASES = [
    (3, 100_000, 0.2, "float64"),
    (5, 1_000_000, 0.2, "float64"),
    (3, 10_000_000, 0.2, "float64"),
    (5, 1_000_000, 0.2, "float32"),
    (3, 100_000, 0.0, "int8"),
    (5, 1_000_000, 0.0, "int8"),
]
WANTED = {100_000: 40, 1_000_000: 100, 10_000_000: 200}
N_BOOT = 1000


def table(coders: int, units: int, missing: float, dtype: str) -> np.ndarray:
    """Return values of five categories on which coders agree in two thirds of cases beyond chance."""
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 5, units, dtype=np.int8)
    values = np.empty((coders, units), dtype=dtype)
    for row in values:
        guess = rng.random(units, dtype=np.float32) < 0.2
        row[:] = np.where(guess, rng.integers(0, 5, units, dtype=np.int8), truth)
        if missing:
            row[rng.random(units, dtype=np.float32) < missing] = np.nan
    return values


def measure(way: str, coders: int, units: int, missing: float, dtype: str) -> dict[str, float]:
    """Make the table, call a few times, and return the seconds, the results and the peak."""
    values = table(coders, units, missing, dtype)
    calls = {"none": 0, "peer": 1 if units > 1_000_000 else 5}.get(way, 3 if units > 1_000_000 else 5)
    seconds, found = [float("nan")], {"nominal": float("nan")}
    for _ in range(calls):
        begin = time.process_time()
        found = CALLS[way](values)
        seconds.append(time.process_time() - begin)
    return {"cpu": float(np.nanmin(seconds)) if calls else 0.0, "peak": peak_memory(), **found}


def ours(values: np.ndarray) -> dict[str, float]:
    patterns = from_values(values)
    return {level: krippendorff_alpha(patterns, level=level) for level in ("nominal", "ordinal")}


def peer(values: np.ndarray) -> dict[str, float]:
    return {"nominal": krippendorff.alpha(reliability_data=values, level_of_measurement="nominal")}


def three(values: np.ndarray) -> dict[str, float]:
    found = [krippendorff_alpha(values, level="nominal") for _ in range(3)]
    return {"nominal": found[0]}


def resamples(values: np.ndarray) -> dict[str, float]:
    found = estimate(
        from_values(values), "krippendorff_alpha", ci="unit", level="nominal", n_boot=N_BOOT, seed=1
    )
    return {"nominal": found.estimate}


CALLS = {"ours": ours, "peer": peer, "three": three, "resamples": resamples}


def peak_memory() -> float:
    """Return the megabytes that this process had at most; ru_maxrss counts the parent."""
    status = Path("/proc/self/status")
    if not status.exists():
        return float("nan")
    peak = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return int(peak.split()[1]) / 1024


def spare_memory() -> float:
    """Return the gigabytes that are free, 0 where the system does not say."""
    info = Path("/proc/meminfo")
    if not info.exists():
        return 0.0
    free = next(line for line in info.read_text().splitlines() if line.startswith("MemAvailable"))
    return int(free.split()[1]) / 2**20


def alone(way: str, coders: int, units: int, missing: float, dtype: str) -> dict[str, float]:
    """Measure in a new process."""
    command = [sys.executable, __file__, "--one", way, str(coders), str(units), str(missing), dtype]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def main() -> None:
    """Measure every case and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer-memory", type=float, default=8.0)
    parser.add_argument("--one", nargs=5, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        way, coders, units, missing, dtype = arguments.one
        print(json.dumps(measure(way, int(coders), int(units), float(missing), dtype)))
        return
    print(f"Python {platform.python_version()}, numpy {np.__version__}, ", end="")
    print(f"krippendorff {version('krippendorff')}, {platform.machine()}.\n")
    heads = (
        "coders × units",
        "missing",
        "type",
        "ours: nominal and ordinal, CPU ms",
        "krippendorff: nominal, CPU ms",
        "ratio",
        "wanted",
        "table, MB",
        "ours above it, MB",
        "ours in all, MB",
        "krippendorff above it, MB",
        "difference in alpha",
    )
    print("| " + " | ".join(heads) + " |\n" + "|---" * len(heads) + "|")
    for case in CASES:
        print(line(case, arguments.peer_memory), flush=True)
    boot, points = alone("resamples", *CASES[1]), alone("three", *CASES[1])
    print(
        f"\n{N_BOOT:,} resamples of 5 × 1,000,000, counting and interval included: "
        f"{1000 * boot['cpu']:.0f} ms CPU; three point estimates from the dense table: "
        f"{1000 * points['cpu']:.0f} ms CPU."
    )


def line(case: tuple[int, int, float, str], peer_memory: float) -> str:
    """Return one row of the table."""
    coders, units, missing, dtype = case
    base, found = alone("none", *case), alone("ours", *case)
    cells = [f"{coders} × {units:,}", f"{missing:.0%}", dtype, f"{1000 * found['cpu']:.2f}"]
    memory = [
        f"{coders * units * np.dtype(dtype).itemsize / 2**20:.0f}",
        f"{max(0.0, found['peak'] - base['peak']):.0f}",
        f"{found['peak']:.0f}",
    ]
    if units > 1_000_000 and spare_memory() < peer_memory:
        cells += [f"not run, under {peer_memory:g} GB free", "–", str(WANTED[units]), *memory, "–", "–"]
        return "| " + " | ".join(cells) + " |"
    other = alone("peer", *case)
    cells += [f"{1000 * other['cpu']:.0f}", f"{other['cpu'] / found['cpu']:.0f}", str(WANTED[units]), *memory]
    cells += [f"{other['peak'] - base['peak']:.0f}", f"{abs(other['nominal'] - found['nominal']):.0e}"]
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    main()
