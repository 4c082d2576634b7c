"""Effects from counts and sums over clusters, resampled by cluster and with each cluster left out.

A function of sums over units (means, variances, regressions, tables of counts) is written once, as a function
of those sums; its interval and its standard error come from here. So does the rank-biserial effect of a code,
from counts by cluster, and p adjusted for all codes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._bootstrap import FEWEST_CLUSTERS, check_resampling, holm, widened_quantile
from sense7_qual._reasons import Reason
from sense7_qual.errors import TableError
from sense7_qual.links._inputs import by_source, checked_decisions, chosen_sources, decided_units

if TYPE_CHECKING:
    from scipy import sparse

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Statistic = Callable[[Any], Any]

_CELLS: Final = 4_000_000
Truths = npt.NDArray[np.bool_]
Weights = Callable[[int], Floats]
MANY_CLUSTERS: Final = 10
"""Clusters on the rarer side from which on a row carries no caution about their number."""


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
    decided_units(decisions, units)
    return by_source(decisions, chosen_sources(decisions, [source]))[source]


@dataclass(frozen=True, slots=True)
class Counts:
    """Numbers of units by cluster and rating level (clusters, levels), with and without the code."""

    having: sparse.csr_array
    lacking: sparse.csr_array
    clusters: npt.NDArray[np.int64]

    @property
    def shape(self) -> tuple[int, int]:
        """The number of clusters and of rating levels."""
        clusters, levels = self.having.shape
        return int(clusters), int(levels)

    @property
    def sides(self) -> tuple[int, int]:
        """The number of clusters with the code, and of those without it; a cluster can be in both."""
        with_code, without = (int((part.sum(axis=1) > 0).sum()) for part in (self.having, self.lacking))
        return with_code, without

    @property
    def fewest_clusters(self) -> int:
        """The number of clusters with the code, or without it: whichever is less."""
        return min(self.sides)

    @property
    def n_both(self) -> int:
        """The number of clusters that have units with the code and units without it."""
        both = (np.asarray(part.sum(axis=1)) > 0 for part in (self.having, self.lacking))
        return int(np.logical_and(*both).sum())

    @property
    def varies(self) -> str | None:
        """Where the code varies: within clusters, between them, or both; missing where it does not."""
        n_with = np.asarray(self.having.sum(axis=1), dtype=np.float64)
        n = n_with + np.asarray(self.lacking.sum(axis=1), dtype=np.float64)
        share = np.divide(n_with, n, out=np.zeros(len(n)), where=n > 0)
        within = bool(((share > 0) & (share < 1)).any())
        between = bool(len(share) and np.ptp(share) > 1e-12)
        if within:
            return "both" if between else "within"
        return "between" if between else None

    def blocks(self, n: int) -> Iterator[slice]:
        """Cut `n` rows so that a block of (rows, levels) stays within some megabytes."""
        size = max(1, 1_000_000 // max(self.shape[1], 1))
        return (slice(start, start + size) for start in range(0, n, size))


def count(
    applied: Truths, ratings: Floats, cluster: npt.NDArray[np.int64], weights: Floats | None = None
) -> Counts:
    """Return the counts of units (n,), or the sums of their weights, by cluster, rating level and code."""
    from scipy import sparse

    levels, level = np.unique(ratings, return_inverse=True)
    clusters, index = np.unique(cluster, return_inverse=True)
    shape = (len(clusters), len(levels))
    each = np.ones(len(applied)) if weights is None else weights
    parts = [
        sparse.coo_array((each[mask], (index[mask], level[mask])), shape=shape).tocsr()
        for mask in (applied, ~applied)
    ]
    return Counts(having=parts[0], lacking=parts[1], clusters=clusters)


def rank_biserial(having: Floats, lacking: Floats) -> Floats:
    """Return the effect (…) from the numbers of units at each rating level (…, levels)."""
    below = np.cumsum(lacking, axis=-1) - lacking / 2
    pairs = having.sum(axis=-1) * lacking.sum(axis=-1)
    superior = (having * below).sum(axis=-1)
    share = np.divide(superior, pairs, out=np.full(pairs.shape, np.nan), where=pairs > 0)
    return np.asarray(2 * share - 1)


def effect_of(counts: Counts) -> float:
    """Return the effect in all units, NaN where none, or every one, has the code."""
    totals = [part.sum(axis=0).astype(np.float64) for part in (counts.having, counts.lacking)]
    return float(rank_biserial(totals[0], totals[1]))


def jackknifed_effects(counts: Counts) -> Floats:
    """Return the effects without each cluster in turn (clusters,)."""
    having, lacking = counts.having, counts.lacking
    parts = [
        rank_biserial(
            having.sum(axis=0) - having[block].toarray(), lacking.sum(axis=0) - lacking[block].toarray()
        )
        for block in counts.blocks(counts.shape[0])
    ]
    return np.concatenate(parts) if parts else np.empty(0)


def resampled_effects(counts: Counts, weights: Floats) -> Floats:
    """Return the effects of resamples (n_boot,), NaN where no unit, or every unit, has the code."""
    parts = [
        rank_biserial(weights[block] @ counts.having, weights[block] @ counts.lacking)
        for block in counts.blocks(len(weights))
    ]
    return np.concatenate(parts)


def cluster_weights(n_clusters: int, *, n_boot: int, seed: int) -> Floats:
    """Draw clusters: the number of times that each is in each resample (n_boot, clusters)."""
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(n_clusters, np.full(n_clusters, 1 / n_clusters), size=n_boot)
    return drawn.astype(np.float64)


def percentile_interval(values: Floats, fewest: int, confidence_level: float) -> tuple[float, float]:
    """Return the percentile interval, widened for few clusters (Hesterberg 2015)."""
    from scipy import special

    z = widened_quantile(fewest, confidence_level)
    low, high = np.quantile(values, special.ndtr([-z, z]))
    return float(low), float(high)


def t_test(estimate: float, standard_error: float, df: float) -> float:
    """Return the two-sided p of the hypothesis that what is estimated is 0."""
    from scipy import special

    return float(2 * special.stdtr(df, -abs(estimate) / standard_error))


def jackknife_error(values: Floats) -> float:
    """Return the standard error from the values without each cluster in turn."""
    return float(np.sqrt(np.square(jackknife_moves(values)).sum()))


def jackknife_moves(values: Floats) -> Floats:
    """Return the change of an estimate when each cluster is left out in turn."""
    n = len(values)
    return np.asarray(np.sqrt((n - 1) / n) * (values - values.mean()))


def reason_of(applied: Truths, counts: Counts, effect: float, without: Floats) -> Reason | None:
    """Return the reason for a missing effect, or for a missing interval and p."""
    if not len(applied):
        return Reason.NO_RATED_UNITS
    if not applied.any():
        return Reason.CODE_NEVER_APPLIED
    if applied.all():
        return Reason.CODE_ALWAYS_APPLIED
    if counts.shape[1] == 1:
        return Reason.CONSTANT_RATING
    if counts.shape[0] == 1:
        return Reason.ONE_CLUSTER
    if counts.fewest_clusters < FEWEST_CLUSTERS:
        return Reason.FEW_CLUSTERS
    if abs(effect) > 1 - 1e-12:  # with weights, 1 need not come out exactly
        return Reason.COMPLETE_SEPARATION
    return Reason.NO_VARIATION_BETWEEN_CLUSTERS if jackknife_error(without) < 1e-12 else None


def with_adjusted(rows: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return `rows`, one family, with the p in column `name` adjusted where there is one.

    Adds the columns `{name}_adjusted` (Benjamini & Hochberg 1995) and `{name}_holm` (Holm 1979).
    """
    from scipy import stats

    tested = rows[name].notna()
    if not tested.any():
        return rows
    p = rows.loc[tested, name].to_numpy(dtype=np.float64)
    adjusted = rows.copy()
    adjusted.loc[tested, f"{name}_adjusted"] = stats.false_discovery_control(p, method="bh")
    adjusted.loc[tested, f"{name}_holm"] = holm(p)
    return adjusted
