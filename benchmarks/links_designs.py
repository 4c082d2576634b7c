"""Coverage of every interval of a link in four designs, with and without coders' errors; and the naive test.

Usage: python benchmarks/links_designs.py [--studies 100] [--error 0.2] [--prevalence 0.1] [--icc 0.4]
                                          [--participants 40] [--no-odds] [--no-corrected] [--seed 1]

Participants (40) with ten units each; a code of prevalence .1 or .5, which participants use to different
degrees; ratings in five levels from a cumulative-logit model with a normal random intercept (ICC 0 or .4), in
which the code has an odds ratio of 2.5; three coders who get each unit wrong with probability 0 or .2,
independently. What each interval is to cover: for a coder, and pooled, the effect of the code as a coder
applies it, in the population; for `corrected`, the effect of the true code. `naive` is the share of studies
without any effect (but the same dependence) in which the row-wise Mann–Whitney test, and in which the table's
own p, fell below .05. Prints Markdown.
"""

from __future__ import annotations

import argparse
import itertools
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy import stats

from sense7_qual import adjudication, links

LOG_ODDS = float(np.log(2.5))
CODERS = ("ana", "ben", "cleo")
CUTS = np.array([-2.0, -0.7, 0.5, 1.8])


@dataclass(frozen=True, slots=True)
class Design:
    """One simulated population."""

    prevalence: float
    icc: float
    error: float
    shift: float = LOG_ODDS
    participants: int = 40
    units: int = 10


@dataclass(frozen=True, slots=True)
class Study:
    """A simulated study: the frames, and the true code in the order of `units`."""

    decisions: pd.DataFrame
    units: pd.DataFrame
    true: np.ndarray


def main() -> None:
    """Simulate the designs asked for and print what was covered."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=100)
    parser.add_argument("--n-boot", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--prevalence", type=float, nargs="*", default=[0.1, 0.5])
    parser.add_argument("--icc", type=float, nargs="*", default=[0.0, 0.4])
    parser.add_argument("--error", type=float, nargs="*", default=[0.0, 0.2])
    parser.add_argument("--participants", type=int, nargs="*", default=[40])
    parser.add_argument("--no-odds", action="store_true")
    parser.add_argument("--no-corrected", action="store_true")
    given = parser.parse_args()
    print(f"{given.studies:,} studies each, nominal level 95 %.\n")
    print("| participants | prevalence | ICC | error ", end="")
    print("| naive % | own % | interval | estimand | median | covered % |")
    print("|---" * 10 + "|")
    rng = np.random.default_rng(given.seed)
    for *values, participants in itertools.product(
        given.prevalence, given.icc, given.error, given.participants
    ):
        design = Design(*values, participants=participants)
        naive, own = false_positives(replace(design, shift=0.0), given.studies, rng)
        found = covered(design, given, rng)
        for name, (target, mean, share) in found.items():
            about = [
                design.participants,
                design.prevalence,
                design.icc,
                design.error,
                f"{100 * naive:.1f}",
                f"{100 * own:.1f}",
                name,
            ]
            print("| " + " | ".join(map(str, about)) + f" | {target:.3f} | {mean:.3f} | {100 * share:.1f} |")
        print(flush=True, end="")


def draw(design: Design, rng: np.random.Generator) -> Study:
    """Return one simulated study."""
    uses = rng.beta(design.prevalence * 2, (1 - design.prevalence) * 2, design.participants)
    case = np.repeat(np.arange(design.participants), design.units)
    true = rng.random(len(case)) < uses[case]
    sd = np.sqrt(design.icc / (1 - design.icc) * np.pi**2 / 3)
    latent = sd * rng.standard_normal(design.participants)[case] + rng.logistic(size=len(case))
    rating = 1.0 + np.searchsorted(CUTS, latent + design.shift * true)
    unit_ids = [f"u{i:06d}" for i in range(len(case))]
    coded = {name: true ^ (rng.random(len(case)) < design.error) for name in CODERS}
    decisions = pd.concat(
        [
            pd.DataFrame({"unit_id": unit_ids, "coder": name, "code": "c", "applied": applied})
            for name, applied in coded.items()
        ]
    )
    units = pd.DataFrame({"unit_id": unit_ids, "case_id": [f"p{c}" for c in case], "rating": rating})
    return Study(decisions, units, true)


def false_positives(design: Design, studies: int, rng: np.random.Generator) -> tuple[float, float]:
    """Return how often the row-wise test, and the table's own, find a link where there is none."""
    naive, own = [], []
    for _ in range(studies):
        study = draw(design, rng)
        table = table_of(study, rng, sources=["ana"], odds_ratios=False, n_boot=1)
        applied = study.decisions.loc[study.decisions["coder"] == "ana", "applied"].to_numpy()
        rating = study.units["rating"].to_numpy()
        if applied.any() and not applied.all():
            naive.append(stats.mannwhitneyu(rating[applied], rating[~applied]).pvalue < 0.05)
        own.append(table["p"].iloc[0] < 0.05)
    return float(np.mean(naive)), float(np.mean(own))


def covered(
    design: Design, given: argparse.Namespace, rng: np.random.Generator
) -> dict[str, tuple[float, float, float]]:
    """Return the estimand, the mean estimate and the coverage of each interval."""
    targets = targets_of(design, odds=not given.no_odds)
    found: dict[str, list[tuple[float, float, float]]] = {name: [] for name in targets}
    for _ in range(given.studies):
        study = draw(design, rng)
        for name, ends in intervals(study, given, rng).items():
            found[name].append(ends)
    result = {}
    for name, rows in found.items():
        values = np.array(rows, dtype=np.float64).reshape(-1, 3)
        values = values[~np.isnan(values).any(axis=1)]
        inside = (values[:, 1] <= targets[name]) & (targets[name] <= values[:, 2])
        if len(values):
            result[name] = (targets[name], float(np.median(values[:, 0])), float(inside.mean()))
    return result


def intervals(
    study: Study, given: argparse.Namespace, rng: np.random.Generator
) -> dict[str, tuple[float, float, float]]:
    """Return estimate, low and high of each interval in one study."""
    found = {}
    odds = not given.no_odds
    for pooling in ("rubin", "joint"):
        sources = ["ana", "pooled"] if pooling == "rubin" else ["pooled"]
        table = table_of(
            study, rng, sources=sources, pooling=pooling, odds_ratios=odds, n_boot=given.n_boot
        ).set_index("source")
        for source in sources:
            name = source if source == "ana" else f"pooled ({pooling})"
            found[f"rank-biserial, {name}"] = ends(table.loc[source], "rank_biserial")
            if odds:
                found[f"odds ratio, {name}"] = ends(table.loc[source], "odds_ratio")
    if not given.no_corrected:
        found["rank-biserial, corrected"] = ends(corrected(study, rng), "rank_biserial")
    return found


def corrected(study: Study, rng: np.random.Generator) -> pd.Series:
    """Return the row of `links.corrected`."""
    likely = adjudication.dawid_skene(
        study.decisions,
        prevalence_by="rating",
        units=study.units,
        cluster="case_id",
        n_draws=20,
        seed=int(rng.integers(2**31)),
    )
    return links.corrected(
        likely.draws, study.units, rating="rating", cluster="case_id", seed=int(rng.integers(2**31))
    ).iloc[0]


def targets_of(design: Design, *, odds: bool) -> dict[str, float]:
    """Return what each interval is to cover, from a population of 40,000 participants (odds: 2,000)."""
    rng = np.random.default_rng(99)
    large = draw(replace(design, participants=40_000), rng)
    rating = large.units["rating"].to_numpy()
    seen = large.decisions.loc[large.decisions["coder"] == "ana", "applied"].to_numpy()
    targets = {f"rank-biserial, {name}": effect(rating, seen) for name in names()}
    targets["rank-biserial, corrected"] = effect(rating, large.true)
    if odds:
        ratio = 2.5
        if design.error:
            some = draw(replace(design, participants=4_000), rng)
            code = some.decisions.loc[some.decisions["coder"] == "ana", ["applied"]].astype(float)
            model = links.models.cumulative_mixed(some.units["rating"], code, groups=some.units["case_id"])
            ratio = float(np.exp(model.coefficients["applied"]))
        targets |= {f"odds ratio, {name}": ratio for name in names()}
    return targets


def names() -> list[str]:
    """Return the rows whose estimand is the effect of the code as a coder applies it."""
    return ["ana", "pooled (rubin)", "pooled (joint)"]


def effect(rating: np.ndarray, applied: np.ndarray) -> float:
    """Return the rank-biserial effect of all units."""
    statistic = stats.mannwhitneyu(rating[applied], rating[~applied]).statistic
    return float(2 * statistic / (int(applied.sum()) * int((~applied).sum())) - 1)


def table_of(study: Study, rng: np.random.Generator, **settings: object) -> pd.DataFrame:
    """Return the links of a study."""
    return links.code_to_rating(
        study.decisions,
        study.units,
        rating="rating",
        cluster="case_id",
        seed=int(rng.integers(2**31)),
        **settings,
    )


def ends(row: pd.Series, name: str) -> tuple[float, float, float]:
    """Return an estimate and its interval."""
    return float(row[name]), float(row[f"{name}_low"]), float(row[f"{name}_high"])


if __name__ == "__main__":
    main()
