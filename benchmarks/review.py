"""What `report.review` objects to in studies without a flaw, and whether it finds planted ones.

python -m benchmarks.review [--studies 50]

Studies of 160 texts by 40 participants, 60 of the texts coded by three coders who are blind to each other and
err in 2 % of their decisions, the rest by one of them each; four codes on 35 % of the texts.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from sense7_qual import report
from tests.helpers.reviewed_study import FLAWS, study


def main() -> None:
    """Print the objections to studies without a flaw, and of each flaw in how many studies it was found."""
    parser = argparse.ArgumentParser(description="Objections of report.review.")
    parser.add_argument("--studies", type=int, default=50)
    n = parser.parse_args().studies
    with tempfile.TemporaryDirectory() as folder:
        clean = [kinds(Path(folder) / f"clean{seed}", seed) for seed in range(n)]
        alarms = [kind for found in clean for kind in found]
        print(f"{n} studies without a flaw: {len(alarms)} objections {sorted(set(alarms)) or ''}")
        for flaw in FLAWS:
            found = [flaw in kinds(Path(folder) / f"{flaw}{seed}", seed, flaw) for seed in range(5)]
            print(f"{flaw}: found in {sum(found)} of 5")


def kinds(folder: Path, seed: int, flaw: str | None = None) -> list[str]:
    """Return the kinds of the objections to a study."""
    rating = None if flaw == "links_without_clusters" else "Stars"
    return [one.kind for one in report.review(study(folder, seed=seed, flaw=flaw), rating=rating)]


if __name__ == "__main__":
    main()
