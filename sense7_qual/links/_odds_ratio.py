"""The odds ratio of one code: cumulative-link mixed model, its within and between parts, and ordinal GEE."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._bootstrap import FEWEST_CLUSTERS
from sense7_qual._reasons import Reason
from sense7_qual.links._rubin import Pooled
from sense7_qual.links.models._cumulative_mixed import cumulative_mixed
from sense7_qual.links.models._gee import marginal
from sense7_qual.links.models._model import CumulativeModel

__all__ = ["EFFECTS", "LogOdds", "columns_of", "few_levels", "log_odds", "population_averaged"]

Floats = npt.NDArray[np.float64]
Truths = npt.NDArray[np.bool_]
Integers = npt.NDArray[np.int64]

EFFECTS: Final = ("odds_ratio", "within_odds_ratio", "between_odds_ratio", "gee_odds_ratio")
"""The odds ratios of a row of `code_to_rating`; each has its own low, high and p."""

_MOST_LEVELS: Final = 12
_MERGED_LEVELS: Final = 10


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
