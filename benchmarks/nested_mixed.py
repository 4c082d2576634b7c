"""Conversations within participants in `links.models.cumulative_mixed`: coverage with and without, and time.

Usage: python benchmarks/nested_mixed.py [--studies 200] [--seed 1]

Ratings in four levels; `code` varies between turns (coefficient .8), `system` between conversations (0, so
that p < .05 is a false positive); random intercepts of participants (sd 1) and conversations (sd .8). Prints
Markdown.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import pandas as pd

from sense7_qual import links

CUTS = np.array([-1.5, 0.0, 1.2])
DESIGNS = [(20, 6, 6), (50, 6, 3), (50, 3, 6), (200, 4, 2)]
TIMED = [(300, 2, 4), (3_000, 2, 5), (3_000, 5, 2)]


def drawn(rng: np.random.Generator, participants: int, conversations: int, turns: int) -> dict[str, object]:
    """Return the arguments of one simulated study."""
    document = np.repeat(np.arange(participants * conversations), turns)
    case = document // conversations
    system = (rng.random(participants * conversations) < 0.5)[document]
    code = rng.random(len(document)) < 0.4
    latent = 0.8 * code + rng.standard_normal(participants)[case] + rng.logistic(size=len(document))
    latent += 0.8 * rng.standard_normal(participants * conversations)[document]
    return {
        "rating": pd.Series(np.searchsorted(CUTS, latent)),
        "predictors": pd.DataFrame({"code": code * 1.0, "system": system * 1.0}),
        "groups": pd.Series(case),
        "nested": pd.Series(document),
    }


def coverage(studies: int, rng: np.random.Generator) -> None:
    """Print what the intervals cover with conversations in the model, and without them."""
    print("| participants × conversations × turns | model | code covered % | system p < .05 % | sds |")
    print("|---" * 5 + "|")
    for design in DESIGNS:
        rows: dict[str, list[tuple[float, ...]]] = {"nested": [], "participants alone": []}
        for _ in range(studies):
            given = drawn(rng, *design)
            for name, found in rows.items():
                model = links.models.cumulative_mixed(
                    **(given if name == "nested" else {**given, "nested": None})
                )
                ends = model.intervals().loc["code"]
                inside = ends["low"] <= 0.8 <= ends["high"]
                found.append((inside, model.p_values["system"] < 0.05, model.cluster_sd, model.nested_sd))
        for name, found in rows.items():
            covered, wrong, sd, inner = np.mean(found, axis=0)
            sds = f"{sd:.2f}" if name != "nested" else f"{sd:.2f}, {inner:.2f}"
            about = " × ".join(map(str, design))
            print(f"| {about} | {name} | {100 * covered:.1f} | {100 * wrong:.1f} | {sds} |")


def speed(rng: np.random.Generator) -> None:
    """Print CPU seconds of the whole call, the fastest of three."""
    print("\n| rows | participants | conversations | CPU s |\n|---|---|---|---|")
    for participants, conversations, turns in TIMED:
        given, seconds = drawn(rng, participants, conversations, turns), []
        for _ in range(3):
            begin = time.process_time()
            links.models.cumulative_mixed(**given)
            seconds.append(time.process_time() - begin)
        n = participants * conversations
        print(f"| {n * turns:,} | {participants:,} | {n:,} | {min(seconds):.2f} |", flush=True)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    rng = np.random.default_rng(arguments.seed)
    print(f"{arguments.studies:,} studies each, sds in truth 1 and .8.\n")
    coverage(arguments.studies, rng)
    speed(rng)


if __name__ == "__main__":
    main()
