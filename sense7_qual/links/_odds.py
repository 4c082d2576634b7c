"""The odds ratio of one code: within participants, between them, and both in one.

A participant's own texts with and without the code are compared by the code less the participant's share of
texts with it; participants by that share. One model has both, so neither takes up what belongs to the other.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._bootstrap import FEWEST_CLUSTERS
from sense7_qual._reasons import Caution, Reason
from sense7_qual.links._resample import t_test
from sense7_qual.links.models._model import CumulativeModel
from sense7_qual.links.models._ordinal import cumulative_mixed, marginal

Floats = npt.NDArray[np.float64]
Truths = npt.NDArray[np.bool_]
Integers = npt.NDArray[np.int64]
Hypothesis = Literal["within", "between"]

OF_HYPOTHESIS: Final[dict[str, str]] = {"within": "odds_ratio", "between": "between_odds_ratio"}
"""The odds ratio that each hypothesis is about."""
EFFECTS: Final[tuple[str, ...]] = ("odds_ratio", "between_odds_ratio", "mixed_odds_ratio", "gee_odds_ratio")
"""The odds ratios of a row of `code_to_rating`; each has its own low, high and p."""

_MOST_LEVELS: Final = 12
_MERGED_LEVELS: Final = 10
_DIFFER: Final = 0.05


@dataclass(frozen=True, slots=True)
class Moves:
    """How much each cluster moves an estimate, in its standard errors: what tests have in common.

    Their squares add up to 1, or to less where a part of the variance is between coders.
    """

    clusters: Integers
    deviations: Floats


@dataclass(frozen=True, slots=True)
class LogOdds:
    """A log odds ratio with its standard error and degrees of freedom, or the reason why there is none."""

    estimate: float = np.nan
    standard_error: float = np.nan
    df: float = np.nan
    reason: str | None = None
    cautions: tuple[str, ...] = ()
    moves: Moves | None = field(default=None, repr=False)

    @property
    def p(self) -> float:
        """The two-sided p of the hypothesis that the odds ratio is 1; NaN without a standard error."""
        return t_test(self.estimate, self.standard_error, self.df)


@dataclass(frozen=True, slots=True)
class Split:
    """A code within clusters (the code less its share) and between them (the share).

    `n_both` clusters have units with the code and units without it; `fewest` are the clusters with it, or
    without it, whichever are fewer.
    """

    within: Floats
    share: Floats
    n_both: int
    fewest: int

    @classmethod
    def of(cls, applied: Truths, cluster: Integers) -> Split:
        """Split the code of units (n,)."""
        index = np.unique(cluster, return_inverse=True)[1]
        n = np.bincount(index)
        n_with = np.bincount(index, applied)
        share = (n_with / n)[index]
        sides = int((n_with > 0).sum()), int((n_with < n).sum())
        n_both = int(((n_with > 0) & (n_with < n)).sum())
        return cls(applied - share, share, n_both, min(sides))

    @property
    def predictors(self) -> pd.DataFrame:
        """The parts that vary, a column each."""
        varies = {"within": self.n_both > 0, "between": np.ptp(self.share) > 1e-12}
        parts = {"within": self.within, "between": self.share}
        return pd.DataFrame({name: parts[name] for name, holds in varies.items() if holds})


def log_odds(
    applied: Truths, ratings: Floats, cluster: Integers, *, nested: Integers | None = None, mixed: bool = True
) -> dict[str, LogOdds]:
    """Return the log odds ratios of the code within and between clusters; `mixed` adds that of both in one.

    `contextual` is the difference of the two, where both can be estimated.
    """
    levels, split = few_levels(ratings), Split.of(applied, cluster)
    model = _fitted(levels, split.predictors, cluster, nested)
    found = {"odds_ratio": _within(model, split)}
    if "between" in split.predictors:
        found["between_odds_ratio"] = _estimate(model, "between", split.fewest, Reason.FEW_CLUSTERS)
        if split.n_both >= FEWEST_CLUSTERS:
            found["contextual"] = _contextual(model, split)
    if mixed:
        code = pd.DataFrame({"code": applied.astype(np.float64)})
        whole = _fitted(levels, code, cluster, nested)
        found["mixed_odds_ratio"] = _estimate(whole, "code", split.fewest, Reason.FEW_CLUSTERS)
    return found


def _within(model: CumulativeModel, split: Split) -> LogOdds:
    """Return the log odds ratio of a cluster's own units, with the cautions of the model."""
    if not split.n_both:
        cautions = tuple(model.cautions)
        return LogOdds(reason=model.reason or Reason.NO_OWN_COMPARISON, cautions=cautions)
    few = Reason.FEW_CLUSTERS if split.fewest < FEWEST_CLUSTERS else Reason.FEW_OWN_COMPARISONS
    own = _estimate(model, "within", split.n_both, few)
    if "between" in model.coefficients and _contextual(model, split).p < _DIFFER:
        return replace(own, cautions=(*own.cautions, Caution.WITHIN_AND_BETWEEN_DIFFER))
    return own


def _contextual(model: CumulativeModel, split: Split) -> LogOdds:
    """Return the log odds ratio between clusters less that within them."""
    if model.reason is not None or split.n_both < FEWEST_CLUSTERS:
        return LogOdds()
    parts = ["between", "within"]
    covariance = model.covariance.loc[parts, parts].to_numpy(dtype=np.float64)
    variance = float(np.array([1.0, -1.0]) @ covariance @ np.array([1.0, -1.0]))
    apart = float(model.coefficients["between"] - model.coefficients["within"])
    return LogOdds(apart, float(np.sqrt(variance)), split.n_both - 1.0)


def population_averaged(applied: Truths, ratings: Floats, cluster: Integers, *, fewest: int) -> LogOdds:
    """Return the log odds ratio averaged over the population, by ordinal estimating equations."""
    code = pd.DataFrame({"code": applied.astype(np.float64)})
    model = marginal(pd.Series(few_levels(ratings)), code, groups=pd.Series(cluster))
    return _estimate(model, "code", fewest, Reason.FEW_CLUSTERS)


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


def _fitted(
    ratings: Floats, predictors: pd.DataFrame, cluster: Integers, nested: Integers | None
) -> CumulativeModel:
    inner = None if nested is None else pd.Series(nested)
    return cumulative_mixed(pd.Series(ratings), predictors, groups=pd.Series(cluster), nested=inner)


def _estimate(model: CumulativeModel, name: str, fewest: int, few: Reason) -> LogOdds:
    """Return one coefficient with `fewest` − 1 degrees of freedom; of fewer than six without uncertainty."""
    reason: str | None = model.reason
    estimate, error = float(model.coefficients[name]), float(model.standard_errors[name])
    if reason is None and fewest < FEWEST_CLUSTERS:
        reason, error = few, np.nan
    return LogOdds(estimate, error, float(fewest - 1), reason, tuple(model.cautions), _moves(model, name))


def _moves(model: CumulativeModel, name: str) -> Moves | None:
    """Return how much each cluster moves a coefficient; None where the model does not know."""
    if model.moves is None:
        return None
    clusters = model.moves.index.astype("int64").to_numpy()
    moved, order = model.moves[name].to_numpy(dtype=np.float64), np.argsort(clusters)
    length = float(np.linalg.norm(moved))
    return Moves(clusters[order], moved[order] / length) if length > 0 else None
