"""One code's effects pooled over coders: each coder's own analysis, combined, no unit counted twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from sense7_qual._reasons import Reason
from sense7_qual.links._odds_ratio import EFFECTS, LogOdds, columns_of
from sense7_qual.links._rubin import Pooled, pool, pool_jointly

__all__ = ["Analysis", "Pooling", "RankEffect", "pooled_columns"]

Floats = npt.NDArray[np.float64]
Pooling = Literal["rubin", "joint"]

_MEANS: Final = ("mean_with", "mean_without", "mean_difference")


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
    """Return what each coder's effect rests on: half the harmonic mean of units with and without the code."""
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
