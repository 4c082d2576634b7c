"""Simulated studies of texts that a model has coded and people in part, with the link that there truly is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import special, stats

from sense7_qual.corpus._assign import probabilities, systematic
from sense7_qual.links.models._by_hand import Texts
from sense7_qual.links.models._with_model import _links, _row

Floats = npt.NDArray[np.float64]

CUTS: Final = stats.norm.ppf([0.15, 0.35, 0.6, 0.85])
POOR: Final = 2.0
# Of texts with the code, and of texts without it, the shares to which the model applies it: on poor ratings,
# and on the others.
MODELS: Final = {
    "errs evenly": ((0.80, 0.06), (0.80, 0.06)),
    "reads poor ratings as the code": ((0.95, 0.25), (0.80, 0.06)),
    "poor": ((0.35, 0.12), (0.35, 0.12)),
}


@dataclass(frozen=True)
class Design:
    """A study; `shift` is the effect of the code on the latent rating, `errors` the sd of error rates."""

    participants: int = 60
    texts: int = 8
    icc: float = 0.3
    shift: float = -0.8
    prevalence: float = 0.2
    model: str = "errs evenly"
    errors: float = 0.6
    drawn: str = "texts"
    share: float = 1 / 3


def draw(rng: np.random.Generator, design: Design) -> Texts:
    """Draw a study: participants with uneven numbers of texts, who use the code to different degrees."""
    sizes = rng.integers(design.texts // 2, design.texts + (design.texts + 1) // 2 + 1, design.participants)
    case = np.repeat(np.arange(design.participants), sizes)
    n = len(case)
    often = rng.beta(4 * design.prevalence, 4 * (1 - design.prevalence), design.participants)
    applied = rng.random(n) < often[case]
    latent = np.sqrt(design.icc) * rng.standard_normal(design.participants)[case]
    latent += np.sqrt(1 - design.icc) * rng.standard_normal(n) + design.shift * applied
    rating = 1.0 + np.searchsorted(CUTS, latent)
    on_poor, elsewhere = (np.array(one) for one in MODELS[design.model])
    share = np.where((rating <= POOR)[:, None], on_poor, elsewhere)
    share = np.where(applied, share[:, 0], share[:, 1])
    own = design.errors * rng.standard_normal((design.participants, 2))[case]
    toward = np.where(applied, own[:, 0], own[:, 1])
    said = rng.random(n) < special.expit(special.logit(share) + toward)
    by_hand, weight = _drawn(rng, design, case, said)
    human = np.where(by_hand, applied, np.nan)
    return Texts("warm", rating, case, human, said.astype(float), weight, np.zeros(n, dtype=bool))


def _drawn(
    rng: np.random.Generator, design: Design, case: npt.NDArray[np.intp], said: npt.NDArray[np.bool_]
) -> tuple[npt.NDArray[np.bool_], Floats]:
    """Draw the texts coded by hand: by participant, as texts, as `corpus.hand_sample`, or by the model."""
    n = len(case)
    take = max(1, round(design.share * n))
    if design.drawn == "participants":
        chosen = rng.permutation(design.participants)[: max(1, round(design.share * design.participants))]
        return np.isin(case, chosen), np.ones(n)
    if design.drawn == "texts":
        by_hand = np.zeros(n, dtype=bool)
        by_hand[rng.permutation(n)[:take]] = True
        return by_hand, np.ones(n)
    weight = np.where(said, 3.0, 1.0) if design.drawn == "by the model" else np.ones(n)
    chance = probabilities(weight, take)
    order = np.lexsort([rng.random(n), rng.permutation(design.participants)[case]])
    by_hand = np.zeros(n, dtype=bool)
    by_hand[order] = systematic(chance[order], take, rng)
    return by_hand, 1 / chance


@cache
def truth(design: Design) -> tuple[float, float]:
    """Return the rank-biserial effect and the mean difference of the code among 60,000 participants."""
    large = replace(design, participants=60_000, share=1.0, drawn="participants")
    texts = draw(np.random.default_rng(99), large)
    applied = texts.human == 1
    having, lacking = texts.rating[applied], texts.rating[~applied]
    u = stats.mannwhitneyu(having, lacking).statistic
    return float(2 * u / (len(having) * len(lacking)) - 1), float(having.mean() - lacking.mean())


def target(design: Design) -> tuple[float, float]:
    """Return the true effects of a design; the model and the draw do not change them."""
    return truth(Design(icc=design.icc, shift=design.shift, prevalence=design.prevalence))


def frames(texts: Texts) -> dict[str, pd.DataFrame]:
    """Return a study as the frames that `with_model` takes."""
    unit_id = pd.Series([f"u{i:05}" for i in range(len(texts.rating))], dtype="string")
    of = {"unit_id": unit_id, "code": texts.code}
    there = texts.by_hand
    people = pd.DataFrame({**of, "coder": "ana", "applied": texts.human == 1})[there]
    return {
        "decisions": people,
        "units": pd.DataFrame({"unit_id": unit_id, "empathy": texts.rating, "case_id": texts.cluster}),
        "model": pd.DataFrame({**of, "coder": "model-a", "applied": texts.model == 1}),
        "inclusion": pd.DataFrame({"unit_id": unit_id, "probability": 1 / texts.weight, "drawn": there}),
    }


def rows(texts: Texts) -> dict[str, dict[str, object]]:
    """Return the row of each source without odds ratios; the frames of `with_model` cost fifty times that."""
    linked = _links(texts, odds_ratios=False)
    return {source: _row(linked, source, None, 0.95) for source in ("human", "model", "model + human")}


@dataclass(frozen=True)
class Held:
    """Of the studies with an interval: the share that held the truth by source and effect, and the widths."""

    n: int
    share: dict[tuple[str, str], float]
    bias: dict[tuple[str, str], float]
    width: dict[str, float]
    widest: float
    error: float


def held(designs: Iterable[Design], seed: int) -> Held:
    """Simulate a study of each design; coverage, bias and width in those with an interval of people alone."""
    rng, inside, away, widths = np.random.default_rng(seed), [], [], []
    for design in designs:
        found = rows(draw(rng, design))
        if "p" not in found["human"]:
            continue
        true = dict(zip(("rank_biserial", "mean_difference"), target(design), strict=True))
        known = [source for source in found if "p" in found[source]]
        inside.append(
            {
                (source, name): found[source][f"{name}_low"] <= true[name] <= found[source][f"{name}_high"]
                for source in known
                for name in true
            }
        )
        away.append({(source, name): found[source][name] - true[name] for source in known for name in true})
        mean = [
            found[source]["mean_difference_high"] - found[source]["mean_difference_low"]
            for source in ("model + human", "human")
        ]
        widths.append((found["model + human"]["width_ratio"], mean[0] / mean[1]))
    if not inside:
        return Held(0, {}, {}, {}, np.nan, np.nan)
    share, bias = pd.DataFrame(inside).mean().to_dict(), pd.DataFrame(away).mean().to_dict()
    rmse = {key: float(np.sqrt(np.square(pd.DataFrame(away)[key]).mean())) for key in bias}
    width = np.array(widths, dtype=np.float64)
    return Held(
        len(inside),
        share,
        bias,
        {"rank_biserial": float(np.median(width[:, 0])), "mean_difference": float(np.median(width[:, 1]))},
        float(width.max()),
        rmse["model + human", "rank_biserial"] / rmse["human", "rank_biserial"],
    )
