"""What copies of a large study cost: `python benchmarks/store_copies.py` prints Markdown.

Each step runs in a process of its own, so that its peak memory is its own. Times are CPU seconds, and the
last column is their ratio to those of reading and checking all acts (`Store.verify`) in the same run.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from benchmarks.store import SENSE7, deeds, units
from sense7_qual.store import Store

CODERS: Final = ("ana", "ben", "cy", "dee")
STEPS: Final = ("verify", "read", "archive", "restore", "merge_all", "merge_again")
SAID: Final = {
    "verify": "verify it",
    "read": "open it and read all acts",
    "archive": "write an archive",
    "restore": "restore the archive",
    "merge_all": "merge it into a copy without acts",
    "merge_again": "merge it again: nothing is new",
}


def build(folder: Path, n_acts: int) -> None:
    """Make the study, and a copy of it from before the first act."""
    store = Store.create(folder / "study", units=units(), codebook=SENSE7)
    store.copies.archive(folder / "empty.zip")
    Store.restore(folder / "empty.zip", folder / "empty")
    for coder in CODERS:
        made = list(deeds(coder, n_acts // len(CODERS)))
        for begin in range(0, len(made), 1_000):
            store.append(made[begin : begin + 1_000])


def steps(folder: Path) -> dict[str, Callable[[], object]]:
    """Return what is measured, by name."""
    return {
        "verify": lambda: Store(folder / "study").verify()["ok"].all(),
        "read": lambda: len(Store(folder / "study").acts()),
        "archive": lambda: Store(folder / "study").copies.archive(folder / "all.zip"),
        "restore": lambda: Store.restore(folder / "all.zip", folder / "restored"),
        "merge_all": lambda: Store(folder / "empty").copies.merge(folder / "study").counts["new"],
        "merge_again": lambda: Store(folder / "empty").copies.merge(folder / "study").counts["there"],
    }


def measured(folder: Path, step: str) -> dict[str, float]:
    """Run one step in a process of its own; its CPU seconds and its peak memory in MiB."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.store_copies", "--step", step, "--folder", str(folder)],
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--acts", type=int, default=200_000)
    parser.add_argument("--folder", type=Path, help="a folder on the disk to measure")
    parser.add_argument("--step", choices=STEPS, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.step:
        began = time.process_time()
        steps(chosen.folder)[chosen.step]()
        taken, in_kib = time.process_time() - began, sys.platform != "darwin"
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if in_kib else 1024**2)
        print(json.dumps({"seconds": taken, "peak": peak}))
        return
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        build(Path(folder), chosen.acts)
        found = {step: measured(Path(folder), step) for step in STEPS}
    print(f"| {chosen.acts:,} acts of {len(CODERS)} coders | CPU s | peak MiB | times verify |")
    print("|---|---|---|---|")
    for step, each in found.items():
        ratio = each["seconds"] / found["verify"]["seconds"]
        print(f"| {SAID[step]} | {each['seconds']:.1f} | {each['peak']:,.0f} | {ratio:.1f} |")


if __name__ == "__main__":
    main()
