"""The odds ratio of one code, and effects pooled over coders without counting a unit twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._bootstrap import FEWEST_CLUSTERS
from sense7_qual._reasons import Reason
from sense7_qual.links._rubin import Pooled, pool, pool_jointly
from sense7_qual.links.models import cumulative_mixed, marginal
from sense7_qual.links.models._model import CumulativeModel

__all__ = [
    "EFFECTS", "Analysis", "LogOdds", "Pooling", "RankEffect", "columns_of", "few_levels", "log_odds",
    "pooled_columns", "population_averaged",
]  # fmt: skip

Floats = npt.NDArray[np.float64]
Truths = npt.NDArray[np.bool_]
Integers = npt.NDArray[np.int64]

EFFECTS: Final = ("odds_ratio", "within_odds_ratio", "between_odds_ratio", "gee_odds_ratio")
"""The odds ratios of a row of `code_to_rating`; each has its own low, high and p."""

_MOST_LEVELS: Final = 12
_MERGED_LEVELS: Final = 10
Pooling = Literal["rubin", "joint"]
_MEANS: Final = ("mean_with", "mean_without", "mean_difference")


@dataclass(frozen=True, slots=True)
class LogOdds:
    """A log odds ratio with its standard error and degrees of freedom, or the reason why there is none."""

    estimate: float = np.nan
    standard_error: float = np.nan
    df: float = np.nan
    reason: str | None = None
    cautions: tuple[str, ...] = ()

    def alone(self) -> Pooled:
        """Return it in the form of a combined estimate of one."""
        return Pooled(self.estimate, self.standard_error, self.df, between_share=np.nan, n=1)


def log_odds(
    applied: Truths,
    ratings: Floats,
    cluster: Integers,
    *,
    fewest: int,
    varies: str | None,
    nested: Integers | None = None,
) -> dict[str, LogOdds]:
    """Return the log odds ratio of the code, and of its parts within and between clusters, by mixed models.

    The parts come of a second model with two predictors: the cluster's share of units with the code, and the
    code less that share. A part exists only where the code varies in that way.
    """
    levels = few_levels(ratings)
    whole = _fitted(levels, pd.DataFrame({"code": applied.astype(np.float64)}), cluster, nested)
    estimates = {"odds_ratio": _estimate(whole, "code", fewest)}
    if varies == "both":
        code = pd.Series(applied.astype(np.float64))
        share = code.groupby(cluster).transform("mean")
        parts = _fitted(levels, pd.DataFrame({"within": code - share, "between": share}), cluster, nested)
        estimates["within_odds_ratio"] = _estimate(parts, "within", fewest)
        estimates["between_odds_ratio"] = _estimate(parts, "between", fewest)
    elif varies is not None:
        estimates[f"{varies}_odds_ratio"] = estimates["odds_ratio"]
    return estimates


def population_averaged(applied: Truths, ratings: Floats, cluster: Integers, *, fewest: int) -> LogOdds:
    """Return the log odds ratio averaged over the population, by ordinal estimating equations."""
    code = pd.DataFrame({"code": applied.astype(np.float64)})
    model = marginal(pd.Series(few_levels(ratings)), code, groups=pd.Series(cluster))
    return _estimate(model, "code", fewest)


def few_levels(ratings: Floats) -> Floats:
    """Return the ratings as levels 1, 2 …, neighbours merged to about ten of equal size where there are many.

    Proportional odds hold for merged levels with the same odds ratio, so the estimand stays what it is.
    """
    levels, level, n = np.unique(ratings, return_inverse=True, return_counts=True)
    if len(levels) <= _MOST_LEVELS:
        return (level + 1).astype(np.float64)
    middle = (np.cumsum(n) - n / 2) / n.sum()
    merged = np.unique(np.floor(middle * _MERGED_LEVELS), return_inverse=True)[1]
    return (merged[level] + 1).astype(np.float64)


def columns_of(name: str, pooled: Pooled, confidence_level: float) -> dict[str, float]:
    """Return the columns of one odds ratio: itself, low, high and p."""
    low, high = pooled.interval(confidence_level)
    with np.errstate(over="ignore"):  # an interval that reaches to infinity says so
        ratio, low, high = (float(np.exp(value)) for value in (pooled.estimate, low, high))
    return {name: ratio, f"{name}_low": low, f"{name}_high": high, f"{name}_p": pooled.p}


def _fitted(
    ratings: Floats, predictors: pd.DataFrame, cluster: Integers, nested: Integers | None
) -> CumulativeModel:
    within = None if nested is None else pd.Series(nested)
    return cumulative_mixed(pd.Series(ratings), predictors, groups=pd.Series(cluster), nested=within)


def _estimate(model: CumulativeModel, name: str, fewest: int) -> LogOdds:
    """Return one coefficient; with fewer than six clusters on the rarer side, without its uncertainty."""
    reason = model.reason
    estimate, error = float(model.coefficients[name]), float(model.standard_errors[name])
    if reason is None and fewest < FEWEST_CLUSTERS:
        reason, error = Reason.FEW_CLUSTERS, np.nan
    return LogOdds(estimate, error, float(fewest - 1), reason, tuple(model.cautions))


@dataclass(frozen=True, slots=True)
class RankEffect:
    """A rank-biserial effect, and what it is without each cluster in turn."""

    effect: float
    without: Floats
    clusters: npt.NDArray[np.int64]
    fewest: int

    @property
    def deviations(self) -> Floats:
        """How much each cluster moves Fisher's z of the effect; their squares add up to its variance."""
        n = len(self.without)
        moved = np.sqrt((n - 1) / n) * (self.without - self.without.mean())
        return np.asarray(moved / (1 - self.effect**2))


@dataclass(frozen=True, slots=True)
class Analysis:
    """One code and source: the row of the result, and what pooling needs beyond it (where computable)."""

    row: dict[str, object]
    rank: RankEffect | None = None
    odds: dict[str, LogOdds] = field(default_factory=dict)


def pooled_columns(
    analyses: Sequence[Analysis], *, pooling: Pooling, confidence_level: float
) -> dict[str, object]:
    """Return the effects of several coders' analyses combined; `reason` says why there are none."""
    ranked = [analysis for analysis in analyses if analysis.rank is not None]
    if len(ranked) < 2:
        every = {analysis.row["reason"] for analysis in analyses}
        reason = every.pop() if len(every) == 1 and len(analyses) > 1 else Reason.FEWER_THAN_TWO_CODERS
        return {"n_coders": len(ranked), "reason": reason or Reason.FEWER_THAN_TWO_CODERS}
    effects = [analysis.rank for analysis in ranked if analysis.rank is not None]
    covariance = _covariance(effects)
    z = np.arctanh([effect.effect for effect in effects])
    df = np.array([effect.fewest - 1 for effect in effects], dtype=np.float64)
    pooled = _combined(z, covariance, df, _information(ranked), pooling)
    row: dict[str, object] = {
        name: float(np.average([_number(analysis, name) for analysis in ranked], weights=pooled.weights))
        for name in _MEANS
    }
    low, high = np.tanh(pooled.interval(confidence_level))
    row |= {"n_coders": len(ranked), "reason": None, "rank_biserial": float(np.tanh(pooled.estimate))}
    row |= {"rank_biserial_low": float(low), "rank_biserial_high": float(high), "p": pooled.p}
    row["between_coder_share"] = pooled.between_share
    scale = np.sqrt(np.diag(covariance))
    correlation = covariance / np.outer(scale, scale)
    return row | _pooled_odds(ranked, correlation, pooling=pooling, confidence_level=confidence_level)


def _pooled_odds(
    ranked: Sequence[Analysis], correlation: Floats, *, pooling: Pooling, confidence_level: float
) -> dict[str, object]:
    """Return the odds ratios combined; those of a coder without one are left out of it."""
    row: dict[str, object] = {}
    for name in EFFECTS:
        estimated = [
            i for i, a in enumerate(ranked) if name in a.odds and np.isfinite(a.odds[name].standard_error)
        ]
        if len(estimated) < 2:
            if name == "odds_ratio" and any(name in analysis.odds for analysis in ranked):
                row["odds_ratio_reason"] = Reason.FEWER_THAN_TWO_CODERS
            continue
        odds = [ranked[i].odds[name] for i in estimated]
        errors = np.array([one.standard_error for one in odds])
        # Two coders' odds ratios go together as their rank-biserial effects do: the same units move both.
        covariance = correlation[np.ix_(estimated, estimated)] * np.outer(errors, errors)
        df = np.array([one.df for one in odds])
        pooled = _combined(
            np.array([one.estimate for one in odds]), covariance, df, _information(ranked)[estimated], pooling
        )
        row |= columns_of(name, pooled, confidence_level)
        row[f"{name}_between_coder_share"] = pooled.between_share
    return row


def _combined(
    estimates: Floats, covariance: Floats, df: Floats, information: Floats, pooling: Pooling
) -> Pooled:
    if pooling == "rubin":
        return pool(estimates, np.diag(covariance), df=float(df.min()))
    return pool_jointly(estimates, covariance, df=df, information=information)


def _information(analyses: Sequence[Analysis]) -> Floats:
    """Return each coder's information: half the harmonic mean of units with and without the code."""
    n_with, n_without = (
        np.array([_number(analysis, name) for analysis in analyses]) for name in ("n_with", "n_without")
    )
    return np.asarray(n_with * n_without / (n_with + n_without))


def _number(analysis: Analysis, name: str) -> float:
    return float(str(analysis.row[name]))


def _covariance(effects: Sequence[RankEffect]) -> Floats:
    """Return the covariance of the coders' effects, on Fisher's scale, over clusters (coders, coders)."""
    clusters = np.unique(np.concatenate([effect.clusters for effect in effects]))
    moved = np.zeros((len(effects), len(clusters)))
    for row, effect in zip(moved, effects, strict=True):
        row[np.searchsorted(clusters, effect.clusters)] = effect.deviations
    return np.asarray(moved @ moved.T)
