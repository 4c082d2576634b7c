"""False links among codes × sources by max-T and Holm, the links found by each, and the size of equivalence.

Usage: python -m benchmarks.links_family [--studies 2000] [--odds 100] [--seed 1]
                                         [--equivalence] [--participants 15 40]

Participants with some texts each, ICC of the ratings .4 (five levels); six codes of prevalence .2 to .5,
which participants use to different degrees, the third often with the first; three coders who get each text
wrong with probability .1, independently; thirty tests: codes × three coders, majority and pooled. Prints
Markdown: in how many studies without any link one or more p was below .05 as it is, by Holm, by max-T, by
max-T without shrinking the correlation of the tests, and by max-T with texts as clusters, which is to fail.
Then for studies in which three codes have an odds ratio of 4 how many of their links were found by Holm and
by max-T in the same studies, in how many studies max-T found fewer, and how often one of the others was.

The rank-biserial effects are computed from the package's own parts, without its frames, a hundred times
faster (`tests/links/test_family.py` holds them to `code_to_rating`); odds ratios by `code_to_rating`.

`--equivalence` prints how often a link at the margin was called equivalent (p below .05), with participants
as clusters and with texts as clusters, which is to fail; and how often no link was.
"""

from __future__ import annotations

import argparse
import itertools
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from sense7_qual import links
from sense7_qual._bootstrap import holm
from sense7_qual.links._family import equivalence_p, max_t
from sense7_qual.links._pooled import Moves, Pooled, correlation_of, pool_jointly
from sense7_qual.links._resample import jackknife_moves, rank_biserial

CUTS = np.array([-2.0, -0.7, 0.5, 1.8])
PREVALENCES = (0.5, 0.4, 0.4, 0.3, 0.3, 0.2)
LINKED = (1, 3, 5)
CODERS = ("ana", "ben", "cleo")
DRAWS = 1_000


@dataclass(frozen=True, slots=True)
class Design:
    """One simulated population; `shift` is the log odds ratio of the linked codes."""

    participants: int = 15
    texts: int = 8
    shift: float = 0.0
    error: float = 0.1
    icc: float = 0.4
    use: float = 3.0
    prevalences: tuple[float, ...] = PREVALENCES


@dataclass(frozen=True, slots=True)
class Study:
    """The participant and the level of each text (n,), and what each coder applied (coders, n, codes)."""

    case: np.ndarray
    level: np.ndarray
    applied: np.ndarray

    @property
    def frames(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """The decisions and the units."""
        ids = [f"u{i:06d}" for i in range(len(self.case))]
        units = pd.DataFrame(
            {"unit_id": ids, "case_id": [f"p{c:05d}" for c in self.case], "rating": 1.0 + self.level}
        )
        decisions = [
            units[["unit_id"]].assign(coder=coder, code="abcdef"[code], applied=of[:, code])
            for coder, of in zip(CODERS, self.applied, strict=False)
            for code in range(of.shape[1])
        ]
        return pd.concat(decisions), units

    @property
    def by_text(self) -> Study:
        """The same with each text as a cluster."""
        return replace(self, case=np.arange(len(self.case)))


def draw(design: Design, rng: np.random.Generator, coders: int = 3) -> Study:
    """Return one simulated study."""
    case = np.repeat(np.arange(design.participants), design.texts)
    n, of = len(case), np.array(design.prevalences)
    sd = np.sqrt(design.icc / (1 - design.icc) * np.pi**2 / 3)
    latent = sd * rng.standard_normal(design.participants)[case] + rng.logistic(size=n)
    uses = rng.beta(of * design.use, (1 - of) * design.use, (design.participants, len(of)))
    true = rng.random((n, len(of))) < uses[case]
    if len(of) > 2:  # two codes that often come together
        true[:, 2] = np.where(rng.random(n) < 0.6, true[:, 0], true[:, 2])
    where = [code for code in LINKED if code < len(of)] or [0]
    latent = latent + design.shift * true[:, where].sum(axis=1)
    applied = true ^ (rng.random((coders, n, len(of))) < design.error)
    return Study(case, np.searchsorted(CUTS, latent), applied)


@dataclass(frozen=True, slots=True)
class Made:
    """The tests of a study that have a p: of which code, p, and how much each cluster moves them."""

    code: np.ndarray
    p: np.ndarray
    moves: list[Moves]


def every_test(study: Study) -> Made:
    """Return the tests of the rank-biserial effects as `code_to_rating` makes them, source by source."""
    of = np.concatenate([study.applied, study.applied.sum(axis=0)[None] > 1])
    effect, without, fewest = effects(study, of)
    found: list[tuple[int, float, Moves]] = []
    ids = np.arange(without.shape[2])
    moved = np.apply_along_axis(jackknife_moves, 2, without)
    for source, code in itertools.product(*map(range, effect.shape)):
        if fewest[source, code] >= 6:
            error = np.sqrt(np.square(moved[source, code]).sum())
            p = 2 * special.stdtr(fewest[source, code] - 1, -abs(effect[source, code]) / error)
            found.append((code, float(p), Moves(ids, moved[source, code] / error)))
    for code in range(effect.shape[1]):
        if (fewest[:3, code] >= 6).all():
            deviations = moved[:3, code] / (1 - np.square(effect[:3, code]))[:, None]
            n_with = study.applied[:, :, code].sum(axis=1).astype(np.float64)
            pooled = pool_jointly(
                np.arctanh(effect[:3, code]),
                deviations @ deviations.T,
                df=fewest[:3, code] - 1.0,
                information=n_with * (len(study.case) - n_with),
            )
            by = np.array(pooled.weights) @ deviations / pooled.standard_error
            found.append((code, pooled.p, Moves(ids, by)))
    codes, p, moves = zip(*found, strict=True)
    return Made(np.array(codes), np.array(p), list(moves))


def effects(study: Study, of: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the effects (sources, codes), those without each cluster, and the clusters on the rarer side."""
    cells = np.zeros((len(study.case), study.case.max() + 1, len(CUTS) + 1))
    cells[np.arange(len(study.case)), study.case, study.level] = 1
    having = np.einsum("snc,nkl->sckl", of.astype(np.float64), cells)
    lacking = cells.sum(axis=0) - having
    sides = having.sum(axis=2), lacking.sum(axis=2)
    without = rank_biserial(sides[0][:, :, None] - having, sides[1][:, :, None] - lacking)
    fewest = np.minimum(*((part.sum(axis=3) > 0).sum(axis=2) for part in (having, lacking)))
    return rank_biserial(*sides), without, fewest


def as_moved(moves: list[Moves]) -> np.ndarray:
    """Return the correlation of tests as it is, not shrunk."""
    moved = np.array([one.deviations for one in moves])
    correlation = moved @ moved.T
    np.fill_diagonal(correlation, 1)
    return correlation


def false_links(design: Design, studies: int, seed: int) -> dict[str, float]:
    """Return by way in what share of studies without a link there is one."""
    rng = np.random.default_rng(seed)
    found: dict[str, list[float]] = {}
    for _ in range(studies):
        study = draw(design, rng)
        own, naive = every_test(study), every_test(study.by_text)
        for way, p in {
            "as it is": own.p,
            "Holm": holm(own.p),
            "max-T": max_t(own.p, correlation_of(own.moves), draws=DRAWS),
            "not shrunk": max_t(own.p, as_moved(own.moves), draws=DRAWS),
            "texts as clusters": max_t(naive.p, correlation_of(naive.moves), draws=DRAWS),
        }.items():
            found.setdefault(way, []).append(p.min() < 0.05)
    return {way: float(np.mean(each)) for way, each in found.items()}


def paired(design: Design, studies: int, seed: int) -> tuple[float, float, int, float]:
    """Return the share of links found by Holm and by max-T, studies with fewer, and with a false one."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(studies):
        own = every_test(draw(design, rng))
        by_holm, by_max_t = holm(own.p) < 0.05, max_t(own.p, correlation_of(own.moves), draws=DRAWS) < 0.05
        true = np.isin(own.code, LINKED)
        found.append(
            (
                by_holm[true].mean(),
                by_max_t[true].mean(),
                by_max_t.sum() < by_holm.sum(),
                by_max_t[~true].any(),
            )
        )
    one, other, fewer, false = np.array(found, dtype=np.float64).T
    return float(one.mean()), float(other.mean()), int(fewer.sum()), float(false.mean())


def of_odds(design: Design, studies: int, seed: int) -> pd.DataFrame:
    """Return of each study p of the odds ratios as they are, by Holm and by max-T, smallest and counted."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(studies):
        decisions, units = draw(design, rng).frames
        table = links.code_to_rating(
            decisions, units, rating="rating", cluster="case_id", n_boot=1, adjust="max-t", details=True
        )
        p = table[["odds_ratio_p", "odds_ratio_p_holm", "odds_ratio_p_adjusted"]].set_axis(
            ["as it is", "Holm", "max-T"], axis=1
        )
        true = table["code"].isin(["abcdef"[code] for code in LINKED])
        rows.append(
            {
                **(p < 0.05).any(),
                **(p[true] < 0.05).mean().add_prefix("found by "),
                "false": (p.loc[~true, "max-T"] < 0.05).any(),
            }
        )
    return pd.DataFrame(rows)


def called_equivalent(
    design: Design, effect: str, margin: float, studies: int, seed: int
) -> tuple[float, ...]:
    """Return how often one code's link is called equivalent, by participants and by texts as clusters."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(studies):
        study = draw(design, rng, coders=1)
        if effects(study, study.applied)[2][0, 0] >= 6:
            found.append(
                [
                    equivalence_p(estimated(one, effect), (effect, margin)) < 0.05
                    for one in (study, study.by_text)
                ]
            )
    return tuple(np.mean(found, axis=0))


def estimated(study: Study, effect: str) -> Pooled:
    """Return the effect of the one code of the one coder, with its standard error and degrees of freedom."""
    own, without, fewest = effects(study, study.applied)
    df = float(fewest[0, 0] - 1)
    if effect == "rank_biserial":
        error = np.sqrt(np.square(jackknife_moves(without[0, 0])).sum()) / (1 - own[0, 0] ** 2)
        return Pooled(float(np.arctanh(own[0, 0])), float(error), df, between_share=np.nan, n=1)
    code, case = pd.Series(study.applied[0, :, 0] * 1.0), pd.Series(study.case)
    share = code.groupby(case).transform("mean")
    parts = pd.DataFrame({"code": code - share, "share": share})
    model = links.models.cumulative_mixed(pd.Series(1.0 + study.level), parts, groups=case)
    coefficient = float(model.coefficients["code"]), float(model.standard_errors["code"])
    both = int(code.groupby(case).nunique().gt(1).sum())
    return Pooled(*coefficient, both - 1.0, between_share=np.nan, n=1)


def true_effect(design: Design) -> float:
    """Return the rank-biserial effect of one code in the population, from 20,000 participants."""
    study = draw(replace(design, participants=20_000), np.random.default_rng(99), coders=1)
    having, lacking = (
        np.bincount(study.level[study.applied[0, :, 0] == side], minlength=5) for side in (True, False)
    )
    return float(rank_biserial(having.astype(np.float64), lacking.astype(np.float64)))


FAMILIES = (
    Design(),
    Design(texts=4),
    Design(texts=16),
    Design(use=1.0),
    Design(icc=0.0, use=8.0),
    Design(participants=40, texts=5),
)


def main() -> None:
    """Simulate, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=2000)
    parser.add_argument("--odds", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--equivalence", action="store_true")
    parser.add_argument("--participants", type=int, nargs="*", default=[15, 40])
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    for line in equivalence(given) if given.equivalence else families(given):
        print(line, flush=True)


def families(given: argparse.Namespace) -> Iterator[str]:
    """Yield the lines of the tables on max-T."""
    yield f"{given.studies} studies each; one or more of thirty p below .05 without any link, in percent:\n"
    heads = ("participants", "texts each", "ICC", "use")
    yield (
        row(*heads, "as it is", "Holm", "max-T", "not shrunk", "texts as clusters") + "\n" + "|---" * 9 + "|"
    )
    for design in FAMILIES:
        found = false_links(design, given.studies, given.seed)
        yield row(*about(design), *(percent(share) for share in found.values()))
    yield "\nThree of six codes with an odds ratio of 4; links found, in percent:\n"
    yield row(*heads, "Holm", "max-T", "studies with fewer", "a false one") + "\n" + "|---" * 8 + "|"
    for design in FAMILIES:
        linked = replace(design, shift=float(np.log(4.0)))
        one, other, fewer, false = paired(linked, given.studies // 2, given.seed + 1)
        yield row(*about(design), percent(one), percent(other), fewer, percent(false))
    if given.odds:
        none, some = (
            of_odds(Design(shift=shift), given.odds, given.seed) for shift in (0.0, float(np.log(4.0)))
        )
        yield f"\nOdds ratios, 15 participants, {given.odds} studies each, in percent:\n"
        ways = ("as it is", "Holm", "max-T")
        yield row("", *ways) + "\n" + "|---" * 4 + "|"
        yield row("one or more, no link", *(percent(none[way].mean()) for way in ways))
        yield row("found of three codes'", *(percent(some[f"found by {way}"].mean()) for way in ways))


def equivalence(given: argparse.Namespace) -> Iterator[str]:
    """Yield the lines of the table on equivalence."""
    yield f"{given.studies} studies each ({given.odds} of odds ratios); called equivalent, in percent:\n"
    heads = ("participants", "prevalence", "effect", "margin", "at it", "at it, texts as clusters", "no link")
    yield row(*heads) + "\n" + "|---" * len(heads) + "|"
    for participants, prevalence, ratio in itertools.product(given.participants, (0.3, 0.5), (2.5, 5.0)):
        none = Design(participants, error=0.0, prevalences=(prevalence,))
        at = replace(none, shift=float(np.log(ratio)))
        for effect, margin in (("rank_biserial", true_effect(at)), ("odds_ratio", ratio)):
            n = given.studies if effect == "rank_biserial" else given.odds
            asked: tuple[Any, ...] = (effect, margin, n, given.seed)
            own, naive = called_equivalent(at, *asked)
            absent, _ = called_equivalent(none, *asked)
            yield row(
                participants,
                prevalence,
                effect,
                f"{margin:.2f}",
                percent(own),
                percent(naive),
                percent(absent),
            )


def about(design: Design) -> tuple[object, ...]:
    """Return what tells a design from the others."""
    return design.participants, design.texts, design.icc, design.use


def row(*values: object) -> str:
    """Return a row of a table."""
    return "| " + " | ".join(map(str, values)) + " |"


def percent(share: float) -> str:
    """Return a share as a percentage."""
    return f"{100 * share:.1f}"


if __name__ == "__main__":
    main()
