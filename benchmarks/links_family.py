"""False links among codes × sources by max-T and Holm, the links found by each, and the size of equivalence.

Usage: python -m benchmarks.links_family [--studies 1000] [--seed 1] [--equivalence] [--participants 15]

Participants (15) with eight texts each, ICC of the ratings .4 (five levels); six codes of prevalence .2 to
.5, which participants use to different degrees, the second often with the first; three coders who get each
text wrong with probability .1, independently. Prints Markdown: in how many studies without any link one or
more of the thirty p (codes × three coders, majority and pooled) was below .05 as it is, by Holm, by max-T,
and by max-T with texts as clusters, which is to fail. Then in studies in which three codes have an odds ratio
of 4, how many of their links were found by Holm and by max-T in the same studies, in how many studies max-T
found fewer than Holm, and how often one of the others was found.

`--equivalence` prints how often a link at the margin was called equivalent (p below .05), with participants
as clusters and with texts as clusters, which is to fail; and how often no link was called so.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy import stats

from sense7_qual import links

CUTS = np.array([-2.0, -0.7, 0.5, 1.8])
PREVALENCES = {"a": 0.5, "b": 0.4, "c": 0.4, "d": 0.3, "e": 0.3, "f": 0.2}
LINKED = ("b", "d", "f")
CODERS = ("ana", "ben", "cleo")
EFFECTS = {"rank_biserial": "p", "odds_ratio": "odds_ratio_p"}


@dataclass(frozen=True, slots=True)
class Design:
    """One simulated population; `shift` is the log odds ratio of the linked codes."""

    participants: int = 15
    texts: int = 8
    shift: float = 0.0
    slope: float = 0.0
    error: float = 0.1
    icc: float = 0.4


def draw(
    design: Design, rng: np.random.Generator, prevalences: dict[str, float], coders: tuple[str, ...] = CODERS
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the decisions and the units of one simulated study."""
    case = np.repeat(np.arange(design.participants), design.texts)
    n = len(case)
    sd = np.sqrt(design.icc / (1 - design.icc) * np.pi**2 / 3)
    latent = sd * rng.standard_normal(design.participants)[case] + rng.logistic(size=n)
    true: dict[str, np.ndarray] = {}
    for code, prevalence in prevalences.items():
        uses = rng.beta(prevalence * 3, (1 - prevalence) * 3, design.participants)
        true[code] = rng.random(n) < uses[case]
        if code in LINKED:
            own = design.shift + design.slope * rng.standard_normal(design.participants)[case]
            latent = latent + own * true[code]
    if {"a", "c"} <= set(true):  # two codes that often come together
        true["c"] = np.where(rng.random(n) < 0.6, true["a"], true["c"])
    units = pd.DataFrame({"unit_id": [f"u{i:06d}" for i in range(n)], "case_id": [f"p{c:05d}" for c in case],
                          "rating": 1.0 + np.searchsorted(CUTS, latent)})  # fmt: skip
    decisions = pd.concat([
        units[["unit_id"]].assign(coder=coder, code=code, applied=applied ^ (rng.random(n) < design.error))
        for coder in coders for code, applied in true.items()
    ])  # fmt: skip
    return decisions, units


def linked(decisions: pd.DataFrame, units: pd.DataFrame, cluster: str, **settings: object) -> pd.DataFrame:
    """Return the links of a study, without resamples."""
    return links.code_to_rating(
        decisions, units, rating="rating", cluster=cluster, n_boot=1, details=True, **settings
    )


def false_links(design: Design, studies: int, seed: int) -> Iterator[tuple[str, str, float, int]]:
    """Yield by effect and way how many studies without a link have one, and how many studies have a test."""
    rng = np.random.default_rng(seed)
    found: dict[tuple[str, str], list[bool]] = {}
    for _ in range(studies):
        study = draw(design, rng, PREVALENCES)
        table = linked(*study, "case_id", adjust="max-t")
        naive = linked(*study, "unit_id", adjust="max-t")
        for effect, p in EFFECTS.items():
            if table[p].notna().any():
                for way, of, column in (
                    ("as it is", table, p), ("Holm", table, f"{p}_holm"), ("max-T", table, f"{p}_adjusted"),
                    ("max-T, texts as clusters", naive, f"{p}_adjusted"),
                ):  # fmt: skip
                    found.setdefault((effect, way), []).append(bool((of[column] < 0.05).any()))
    for (effect, way), each in found.items():
        yield effect, way, float(np.mean(each)), len(each)


def paired(design: Design, studies: int, seed: int) -> Iterator[tuple[str, float, float, int, float]]:
    """Yield by effect the links found by Holm, by max-T, studies with fewer by max-T, and false ones."""
    rng = np.random.default_rng(seed)
    tables = [linked(*draw(design, rng, PREVALENCES), "case_id", adjust="max-t") for _ in range(studies)]
    for effect, p in EFFECTS.items():
        holm, by_max_t, fewer, false = [], [], 0, []
        for table in tables:
            there = table["code"].isin(LINKED)
            first, second = (
                int((table.loc[there, f"{p}_{way}"] < 0.05).sum()) for way in ("holm", "adjusted")
            )
            holm.append(first)
            by_max_t.append(second)
            fewer += second < first
            false.append(bool((table.loc[~there, f"{p}_adjusted"] < 0.05).any()))
        n = len(LINKED) * 5
        yield effect, float(np.mean(holm)) / n, float(np.mean(by_max_t)) / n, fewer, float(np.mean(false))


def rank_biserial_of(design: Design, prevalences: dict[str, float]) -> float:
    """Return the population's rank-biserial effect of its one code, from 40,000 participants."""
    large = replace(design, participants=40_000)
    decisions, units = draw(large, np.random.default_rng(99), prevalences, ("ana",))
    applied, rating = decisions["applied"].to_numpy(), units["rating"].to_numpy()
    statistic = stats.mannwhitneyu(rating[applied], rating[~applied]).statistic
    return float(2 * statistic / (applied.sum() * (~applied).sum()) - 1)


def called_equivalent(
    design: Design, prevalence: float, effect: str, margin: float, studies: int, seed: int
) -> tuple[float, float, int]:
    """Return how often a link is called equivalent, by participants and by texts, of how many with a p."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(studies):
        study = draw(design, rng, {"b": prevalence}, ("ana",))
        rows.append([
            linked(*study, cluster, equivalence=(effect, margin), sources=["ana"],
                   odds_ratios=effect == "odds_ratio")["equivalence_p"].iloc[0]
            for cluster in ("case_id", "unit_id")
        ])  # fmt: skip
    p = np.array(rows, dtype=np.float64)
    p = p[~np.isnan(p[:, 0])]
    return float((p[:, 0] < 0.05).mean()), float((p[:, 1] < 0.05).mean()), len(p)


def main() -> None:
    """Simulate, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--participants", type=int, nargs="*", default=[15])
    parser.add_argument("--equivalence", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.equivalence:
        equivalence(given)
        return
    print("| participants | effect | p | one or more below .05 % | studies |\n" + "|---" * 5 + "|")
    for participants in given.participants:
        for effect, way, share, n in false_links(Design(participants), given.studies, given.seed):
            print(f"| {participants} | {effect} | {way} | {100 * share:.1f} | {n} |", flush=True)
    print("\n| participants | effect | found by Holm % | by max-T % | studies with fewer | a false one % |")
    print("|---" * 6 + "|")
    for participants in given.participants:
        design = Design(participants, shift=float(np.log(4.0)))
        for effect, holm, by_max_t, fewer, false in paired(design, given.studies, given.seed + 1):
            print(f"| {participants} | {effect} | {100 * holm:.1f} | {100 * by_max_t:.1f} | {fewer} | "
                  f"{100 * false:.1f} |", flush=True)  # fmt: skip


def equivalence(given: argparse.Namespace) -> None:
    """Print how often a link at the margin, and none, are called equivalent."""
    print(
        "| participants | prevalence | effect | margin | at it % | at it, texts as clusters % | no link % | ",
        end="",
    )
    print("studies |\n" + "|---" * 8 + "|")
    for participants in given.participants:
        for prevalence in (0.3, 0.5):
            for ratio in (2.5, 5.0):
                design = Design(participants, shift=float(np.log(ratio)), error=0.0)
                none = Design(participants, error=0.0)
                r = rank_biserial_of(design, {"b": prevalence})
                for effect, margin in (("rank_biserial", r), ("odds_ratio", ratio)):
                    own, naive, n = called_equivalent(
                        design, prevalence, effect, margin, given.studies, given.seed
                    )
                    absent, _, _ = called_equivalent(
                        none, prevalence, effect, margin, given.studies, given.seed
                    )
                    print(f"| {participants} | {prevalence} | {effect} | {margin:.2f} | {100 * own:.1f} | "
                          f"{100 * naive:.1f} | {100 * absent:.1f} | {n} |", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
