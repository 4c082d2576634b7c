"""Power and false positives of `links.code_to_rating`, as `links.power` simulates them.

Usage: python benchmarks/links_power.py [--simulations 2000] [--seed 1]

Six texts a participant, ICC of the ratings .4, five even levels. Prints Markdown: the rate of false
positives, the power curve, the number of participants for 80 % power, and the CPU seconds each took.
"""

from __future__ import annotations

import argparse
import time

from sense7_qual import links

DESIGN = {"units_per_participant": 6, "icc": 0.4}


def main() -> None:
    """Print the three tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--simulations", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    settings = {"n_simulations": arguments.simulations, "seed": arguments.seed, **DESIGN}
    print(f"{arguments.simulations:,} simulated studies each, p < .05.\n")
    print("| link | prevalence | alpha | participants | observed link | found % (± SE) | no p % | CPU s |")
    print("|---" * 8 + "|")
    for effect in (0.0, 0.2, 0.4):
        for prevalence in (0.05, 0.1, 0.5):
            for agreement in (1.0, 0.6):
                curve(effect, prevalence, agreement, settings)
    print("\n| link | prevalence | alpha | participants for 80 % | texts | tried | CPU s |")
    print("|---" * 7 + "|")
    for effect in (0.2, 0.4):
        for prevalence in (0.1, 0.5):
            for agreement in (1.0, 0.6):
                needed(effect, prevalence, agreement, settings)


def curve(effect: float, prevalence: float, agreement: float, settings: dict[str, object]) -> None:
    """Print the power for three numbers of participants."""
    for participants in (20, 60, 120):
        start = time.process_time()
        row = links.power(
            participants=participants,
            rank_biserial=effect,
            prevalence=prevalence,
            agreement=agreement,
            **settings,
        ).loc[0]
        print(
            f"| {effect} | {prevalence} | {agreement} | {participants} | {row['observed']:.3f} | "
            f"{100 * row['power']:.1f} ± {100 * row['standard_error']:.1f} | {100 * row['undefined']:.1f} | "
            f"{time.process_time() - start:.2f} |",
            flush=True,
        )


def needed(effect: float, prevalence: float, agreement: float, settings: dict[str, object]) -> None:
    """Print the number of participants for 80 % power."""
    start = time.process_time()
    tried = links.power(
        rank_biserial=effect, prevalence=prevalence, agreement=agreement, target=0.8, **settings
    )
    first = tried[tried["enough"]].iloc[0]
    print(
        f"| {effect} | {prevalence} | {agreement} | {first['participants']} | {first['units']:.0f} | "
        f"{len(tried)} | {time.process_time() - start:.2f} |",
        flush=True,
    )


if __name__ == "__main__":
    main()
