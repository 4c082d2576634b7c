"""How often the intervals of an intraclass correlation hold the true one, in simulated studies.

Usage: python benchmarks/icc_coverage.py [--studies 400] [--seed 1]

Coders rate the texts of participants from 1 to 5: a text has the level of its participant and its own, each
coder a level that is the same in all studies, and each rating an error. Participants write different numbers
of texts. The true correlation is that of 20,000 participants. `participants` leaves out each of them; `F` is
the interval of Shrout and Fleiss, which takes texts as independent and coders as drawn: the control.
Prints Markdown; icc_coverage.md is what it printed.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sense7_qual.agreement.coefficients import estimate, icc

KINDS = ("one_way", "agreement", "consistency")


@dataclass(frozen=True)
class Design:
    """Participants, texts of each (1 to twice as many), shares of variance, and the coders' levels."""

    participants: int
    each: int
    between: float
    within: float
    coders: tuple[float, ...]


DESIGNS = [
    Design(12, 6, 0.5, 0.2, (-0.2, 0.2)),
    Design(12, 6, 0.1, 0.6, (-0.2, 0.0, 0.2)),
    Design(12, 10, 0.6, 0.1, (0.0, 0.0, 0.0)),
    Design(20, 5, 0.3, 0.2, (-0.3, 0.0, 0.3)),
    Design(20, 8, 0.6, 0.2, (-0.1, 0.1)),
    Design(40, 5, 0.3, 0.4, (-0.3, 0.3)),
    Design(60, 4, 0.2, 0.2, (-0.2, 0.0, 0.2)),
    Design(60, 8, 0.6, 0.1, (-0.2, 0.2)),
]


def main() -> None:
    """Simulate every design and print how often each interval holds the true correlation."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    rng = np.random.default_rng(arguments.seed)
    print(f"{arguments.studies:,} studies each, nominal level 95 %.\n")
    names = "kind", "participants", "texts", "between", "within", "coders", "true ICC"
    print("|", " | ".join(names), "| held % | too high % | too low % | width | none % | F: held % |")
    print("|---" * 13 + "|")
    for design in DESIGNS:
        for kind in KINDS:
            print(line(design, kind, arguments.studies, rng), flush=True)


def line(design: Design, kind: str, n_studies: int, rng: np.random.Generator) -> str:
    """Return a row: the design, and how often both intervals hold the true correlation."""
    true = icc(study(design, 20_000, rng)[0], kind=kind)
    rows = []
    for _ in range(n_studies):
        values, case = study(design, design.participants, rng)
        own = estimate(values, "icc", kind=kind, groups=case)
        of_f = estimate(values, "icc", kind=kind)
        rows.append((own.low, own.high, of_f.low <= true <= of_f.high))
    found = np.array(rows, dtype=float)
    there = found[~np.isnan(found[:, 0])]
    high, low = np.mean(there[:, 0] > true), np.mean(there[:, 1] < true)
    cells = [
        kind,
        design.participants,
        design.each,
        design.between,
        design.within,
        len(design.coders),
        f"{true:.3f}",
        f"{100 * (1 - high - low):.1f}",
        f"{100 * high:.1f}",
        f"{100 * low:.1f}",
        f"{np.mean(there[:, 1] - there[:, 0]):.2f}",
        f"{100 * (1 - len(there) / n_studies):.1f}",
        f"{100 * found[:, 2].mean():.1f}",
    ]
    return "| " + " | ".join(map(str, cells)) + " |"


def study(
    design: Design, n: int, rng: np.random.Generator
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Return the ratings (coders, texts) of a study with `n` participants, and whose text each is."""
    case = np.repeat(np.arange(n), rng.integers(1, 2 * design.each, size=n))
    level = np.sqrt(design.between) * rng.standard_normal(n)[case]
    level = level + np.sqrt(design.within) * rng.standard_normal(len(case))
    noise = np.sqrt(1 - design.between - design.within) * rng.standard_normal((len(design.coders), len(case)))
    return np.clip(np.round(3 + level + noise + np.array(design.coders)[:, None]), 1, 5), case


if __name__ == "__main__":
    main()
