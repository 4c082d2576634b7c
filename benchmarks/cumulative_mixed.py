"""Time and memory of `links.models.cumulative_mixed`, and how often its intervals cover, by simulation.

Usage: python benchmarks/cumulative_mixed.py [--studies 300] [--marginal-studies 60]
           [--participants 20 50 300] [--seed 1] [--without-speed]

Speed: the whole call with its standard errors, in CPU seconds, each case in a process of its own; peak memory
less that of a process that makes the same data and does nothing. statsmodels' OrderedModel, which has no
random intercepts, stands beside it as a yardstick (of its own gradient and Hessian).

Coverage: ratings of five levels, participants with six units each. `code` varies within participants
(prevalence .3), `trait` between them (half of them have it). The estimands are the conditional coefficients
(.8 and .5) for the mixed model, and the population-averaged ones, found from 200,000 rows, for the estimating
equations. Prints Markdown.
"""

from __future__ import annotations

import argparse
import itertools
import json
import platform
import resource
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd

from sense7_qual import links

CASES = [(2_400, 300, 1, 0.5), (30_000, 3_000, 1, 3.0), (30_000, 3_000, 8, None)]
ICCS = (0.0, 0.4)
EFFECTS = {"code": 0.8, "trait": 0.5}
CUTS = [-1.5, -0.2, 1.0, 2.2]

Study = tuple[pd.Series, pd.DataFrame, pd.Series]


def study(rng: np.random.Generator, clusters: int, icc: float, size: int = 6) -> Study:
    """Return ratings, predictors and participants of one simulated study."""
    sd = np.sqrt(icc / (1 - icc) * np.pi**2 / 3)
    cluster = np.repeat(np.arange(clusters), size)
    trait = rng.permutation(np.arange(clusters) % 2)[cluster].astype(np.float64)
    code = (rng.random(len(cluster)) < 0.3).astype(np.float64)
    latent = EFFECTS["code"] * code + EFFECTS["trait"] * trait + rng.logistic(size=len(cluster))
    latent += sd * rng.standard_normal(clusters)[cluster]
    rating = pd.Series(1 + np.searchsorted(CUTS, latent))
    return rating, pd.DataFrame({"code": code, "trait": trait}), pd.Series(cluster)


def large(rows: int, clusters: int, predictors: int) -> Study:
    """Return a large study: several binary codes, ICC .4."""
    rng = np.random.default_rng(1)
    cluster = np.repeat(np.arange(clusters), rows // clusters)
    codes = pd.DataFrame({f"c{i}": (rng.random(rows) < 0.3).astype(np.float64) for i in range(predictors)})
    latent = 0.5 * codes["c0"].to_numpy() + rng.logistic(size=rows)
    latent += 1.48 * rng.standard_normal(clusters)[cluster]
    return pd.Series(1 + np.searchsorted(CUTS, latent)), codes, pd.Series(cluster)


def measure(way: str, rows: int, clusters: int, predictors: int) -> dict[str, float]:
    """Make the study, call three times, and return the fastest call's seconds and the peak in MB."""
    rating, codes, cluster = large(rows, clusters, predictors)
    seconds = [float("nan")]
    for _ in range(0 if way == "none" else 3):
        begin = time.process_time()
        if way == "mixed":
            links.models.cumulative_mixed(rating, codes, groups=cluster)
        else:
            from statsmodels.miscmodels.ordinal_model import OrderedModel

            OrderedModel(rating, codes, distr="logit").fit(method="bfgs", disp=False).bse  # noqa: B018
        seconds.append(time.process_time() - begin)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": float(np.nanmin(seconds)) if way != "none" else 0.0, "peak": peak}


def in_a_process(way: str, case: tuple[int, int, int]) -> dict[str, float]:
    """Measure one way in a process of its own."""
    command = [sys.executable, str(Path(__file__)), "--measure", way, *(str(number) for number in case)]
    found = subprocess.run(command, check=True, capture_output=True, text=True)
    return dict(json.loads(found.stdout))


def speed() -> None:
    """Print seconds and memory of each case."""
    print("| rows | participants | predictors | CPU s | target | MB | OrderedModel: CPU s | MB |")
    print("|---" * 8 + "|")
    for rows, clusters, predictors, target in CASES:
        case = (rows, clusters, predictors)
        none, ours, peer = (in_a_process(way, case) for way in ("none", "mixed", "peer"))
        print(
            f"| {rows:,} | {clusters:,} | {predictors} | {ours['seconds']:.2f} | {target or '–'} "
            f"| {ours['peak'] - none['peak']:.0f} "
            f"| {peer['seconds']:.2f} | {peer['peak'] - none['peak']:.0f} |",
            flush=True,
        )


def coverage(studies: int, marginal_studies: int, participants: list[int], seed: int) -> None:
    """Print how often the 95 % intervals of both coefficients cover."""
    rng = np.random.default_rng(seed)
    print(
        "| participants | ICC | model | coefficient | true | mean | covered % | p < .05 % | studies | none |"
    )
    print("|---" * 10 + "|")
    for clusters, icc in itertools.product(participants, ICCS):
        rng = np.random.default_rng([seed, clusters, int(10 * icc)])
        ways = {"mixed": (studies, EFFECTS), "marginal": (marginal_studies, averaged(icc))}
        for name, (number, true) in ways.items():
            for line in covered(rng, name, clusters, icc, number, true) if number else []:
                print(line, flush=True)


def averaged(icc: float) -> dict[str, float]:
    """Return the population-averaged coefficients: those that a very large sample has."""
    rating, predictors, _ = study(np.random.default_rng(99), 34_000, icc)
    model = links.models.cumulative_mixed(rating, predictors, groups=pd.Series(range(len(rating))))
    return {str(name): float(value) for name, value in model.coefficients.items()}


def covered(
    rng: np.random.Generator, name: str, clusters: int, icc: float, number: int, true: dict[str, float]
) -> list[str]:
    """Return a line per coefficient."""
    fit = links.models.cumulative_mixed if name == "mixed" else links.models.marginal
    found = []
    for _ in range(number):
        rating, predictors, cluster = study(rng, clusters, icc)
        found.append(fit(rating, predictors, groups=cluster).intervals(0.95))
    lines = []
    for predictor, value in true.items():
        rows = pd.DataFrame([each.loc[predictor] for each in found])
        done = rows.dropna()
        within = 100 * ((done["low"] <= value) & (value <= done["high"])).mean()
        lines.append(
            f"| {clusters} | {icc:g} | {name} | {predictor} | {value:.3f} | {done['coefficient'].mean():.3f} "
            f"| {within:.1f} | {100 * (done['p'] < 0.05).mean():.0f} | {len(rows)} "
            f"| {len(rows) - len(done)} |"
        )
    return lines


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=300)
    parser.add_argument("--marginal-studies", type=int, default=60)
    parser.add_argument("--participants", type=int, nargs="+", default=[20, 50, 300])
    parser.add_argument("--without-speed", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--measure", nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        way, *case = arguments.measure
        print(json.dumps(measure(way, *(int(number) for number in case))))
        return
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "statsmodels"))
    print(f"Python {platform.python_version()}, {packages}\n")
    if not arguments.without_speed:
        speed()
        print()
    coverage(arguments.studies, arguments.marginal_studies, arguments.participants, arguments.seed)


if __name__ == "__main__":
    main()
