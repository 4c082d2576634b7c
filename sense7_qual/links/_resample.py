"""Estimates made of sums over clusters: resampled whole clusters at a time, and with each left out in turn.

Whatever is a function of sums over units (means, variances, regressions, tables of counts) is written once,
as a function of those sums; its interval and its standard error come from here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._bootstrap import check_resampling
from sense7_qual._messages import first_three
from sense7_qual.errors import TableError
from sense7_qual.links._inputs import by_source, checked_decisions, chosen_sources
from sense7_qual.links._rank_biserial import (
    cluster_weights,
    jackknife_error,
    percentile_interval,
    t_test,
)

__all__ = [
    "Resampling", "cluster_sums", "decided_by", "interval", "jackknife_interval", "jackknife_p", "left_out",
    "resampled", "settings",
]  # fmt: skip

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Statistic = Callable[[Any], Any]

_CELLS: Final = 4_000_000


@dataclass(frozen=True, slots=True)
class Resampling:
    """How intervals are made: number of resamples, level, and seed."""

    n_boot: int
    confidence_level: float
    seed: int


def settings(function: str, *, n_boot: int, confidence_level: float, seed: int) -> Resampling:
    """Return the settings of a resampling, or refuse them in the name of `function`."""
    check_resampling(function, n_boot=n_boot, confidence_level=confidence_level, seed=seed)
    return Resampling(n_boot=int(n_boot), confidence_level=float(confidence_level), seed=int(seed))


def cluster_sums(terms: Floats, cluster: Integers) -> Floats:
    """Return the sums (clusters, terms) of the terms (units, terms) over the units of each cluster."""
    sums = np.zeros((int(cluster.max()) + 1 if len(cluster) else 0, terms.shape[1]))
    np.add.at(sums, cluster, terms)
    return sums


def resampled(sums: Floats, statistic: Statistic, how: Resampling) -> Floats:
    """Return the statistic in each resample of whole clusters (n_boot, …).

    The same clusters and seed give the same resamples whatever the statistic, so that differences between
    statistics can be formed resample by resample.
    """
    weights = cluster_weights(len(sums), n_boot=how.n_boot, seed=how.seed)
    size = max(1, _CELLS // max(sums.shape[1], 1))
    blocks = (weights[start : start + size] for start in range(0, len(weights), size))
    return np.concatenate([statistic(block @ sums) for block in blocks])


def left_out(sums: Floats, statistic: Statistic) -> Floats:
    """Return the statistic without each cluster in turn (clusters, …)."""
    return np.asarray(statistic(sums.sum(axis=0) - sums))


def interval(resamples: Floats, fewest: int, how: Resampling) -> tuple[float, float, int]:
    """Return the ends of the interval from resamples, and how many of them were undefined (NaN)."""
    known = resamples[~np.isnan(resamples)]
    low, high = percentile_interval(known, fewest, how.confidence_level) if len(known) else (np.nan, np.nan)
    return low, high, len(resamples) - len(known)


def jackknife_interval(
    estimate: float, without: Floats, confidence_level: float, *, onto: Statistic, back: Statistic
) -> tuple[float, float]:
    """Return the interval from the estimates without each cluster, Student's t on the scale of `onto`.

    NaN where `onto` is infinite for one of them, or none differs from the others.
    """
    from scipy import special

    with np.errstate(divide="ignore", invalid="ignore"):
        middle, others = onto(np.float64(estimate)), onto(without)
    if not np.isfinite(middle) or not np.isfinite(others).all():
        return np.nan, np.nan
    error = jackknife_error(others)
    if error < 1e-12:
        return np.nan, np.nan
    half = special.stdtrit(len(without) - 1, (1 + confidence_level) / 2) * error
    low, high = sorted((float(back(middle - half)), float(back(middle + half))))
    return low, high


def jackknife_p(estimate: float, without: Floats, fewest: int) -> float:
    """Return p of the hypothesis that the estimate is 0, from the estimates without each cluster in turn.

    NaN where leaving out a cluster leaves the estimate undefined or as it is.
    """
    standard_error = jackknife_error(without)
    return t_test(estimate, standard_error, fewest - 1) if standard_error > 1e-12 else float("nan")


def decided_by(decisions: pd.DataFrame, units: pd.DataFrame, source: str, *, function: str) -> pd.DataFrame:
    """Return the decisions (unit_id, code, applied) of one source on the units."""
    decisions = checked_decisions(decisions, [source], function=function)
    if source == "pooled":
        raise TableError(
            "decisions: expected one source of decisions – found 'pooled' – choose a coder, 'majority' or "
            "'consensus'."
        )
    unknown = pd.Index(decisions["unit_id"].unique()).difference(pd.Index(units["unit_id"]))
    if len(unknown):
        raise TableError(
            f"decisions: expected units of the frame `units` – found others: {first_three(unknown)} – pass "
            "the units that the decisions are about."
        )
    return by_source(decisions, chosen_sources(decisions, [source]))[source]
