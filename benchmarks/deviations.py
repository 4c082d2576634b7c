"""What `report.deviations` finds in studies that keep their plan, and whether it finds planted departures.

python -m benchmarks.deviations [--studies 50]

The studies of `benchmarks.review`, with an analysis plan that settles all that can be settled.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from sense7_qual import report
from tests.helpers.planned_study import DEVIATIONS, planned_study


def main() -> None:
    """Print the deviations of studies that keep their plan, and in how many each departure was found."""
    parser = argparse.ArgumentParser(description="Departures found by report.deviations.")
    parser.add_argument("--studies", type=int, default=50)
    n = parser.parse_args().studies
    with tempfile.TemporaryDirectory() as folder:
        kept = [kinds(Path(folder) / f"kept{seed}", seed) for seed in range(n)]
        alarms = [kind for found in kept for kind in found]
        print(f"{n} studies that keep their plan: {len(alarms)} deviations {sorted(set(alarms)) or ''}")
        for one in DEVIATIONS:
            found = [one in kinds(Path(folder) / f"{one}{seed}", seed, one) for seed in range(5)]
            print(f"{one}: found in {sum(found)} of 5")


def kinds(folder: Path, seed: int, deviation: str | None = None) -> list[str]:
    """Return the kinds of the deviations of a study."""
    return [one.kind for one in report.deviations(planned_study(folder, seed=seed, deviation=deviation))]


if __name__ == "__main__":
    main()
