"""Resamples of coefficients, from what clusters, units or pairs of values add to sums."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from sense7_qual._bootstrap import widened_quantile
from sense7_qual._reasons import Reason
from sense7_qual.agreement.coefficients._continuous_alpha import WideAlpha
from sense7_qual.agreement.coefficients._few_clusters import effective_clusters
from sense7_qual.agreement.coefficients._patterns import Coded, Patterns, tally
from sense7_qual.agreement.coefficients._sums import Function
from sense7_qual.agreement.coefficients._weights import Metric, difference

__all__ = [
    "Interval", "Resampling", "bias_corrected", "effective", "ends", "left_out", "resampled",
    "resampled_interval", "resampled_pairs", "resampled_wide", "summed",
]  # fmt: skip

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Group = tuple[Integers, Integers]

_NAN: Final = float("nan")
_CELLS: Final = 32_768
_EQUAL: Final = 1e-12
"""Coefficients nearer than this to each other differ by rounding alone."""


@dataclass(frozen=True, slots=True)
class Resampling:
    """How clusters are resampled, and the level of the intervals."""

    n_boot: int
    confidence_level: float
    seed: int


@dataclass(frozen=True, slots=True)
class Interval:
    """The ends of an interval and the resamples without a value; or why there is none."""

    low: float = _NAN
    high: float = _NAN
    n_undefined: int | None = None
    reason: str | None = None


def resampled(
    rows: Floats, times: Integers, value: Function, *, n_boot: int, seed: int, size: int = 1
) -> Floats:
    """Return a coefficient in resamples of groups of units.

    `rows` (G, K) are what each group adds to the sums that the coefficient is a function of (`value`),
    `times` (G,) how many groups there are of each. `size` bounds the memory: the cells of one evaluation. The
    result (n_boot,) is NaN where a resample has no coefficient.

    Examples
    --------
    >>> share = resampled(np.array([[1.0], [0.0]]), np.array([6, 4]), lambda sums: sums[..., 0] / 10,
    ...                   n_boot=2000, seed=1)
    >>> bool(abs(share.mean() - 0.6) < 0.02)
    True
    """
    # Groups that add the same are interchangeable: drawing how many of each kind come is the same as drawing
    # groups. Rounding to 40 binary digits of the largest keeps the order in which a sum was taken out of the
    # result, whatever the unit of the scale.
    digit = np.exp2(np.ceil(np.log2(np.abs(rows).max(axis=0, initial=1e-300))) - 40)
    kinds, kind = np.unique(np.round(rows / digit), axis=0, return_inverse=True)
    kinds *= digit
    n = np.bincount(kind.ravel(), times, minlength=len(kinds)).astype(np.float64)
    rng = np.random.default_rng(seed)
    resamples = np.empty(n_boot)
    total, shares = int(n.sum()), n / n.sum()
    # Few enough at a time for a processor's second cache, and for a product that takes no second thread.
    block = max(1, _CELLS // max(len(kinds), size))
    for start in range(0, n_boot, block):
        stop = min(start + block, n_boot)
        drawn = rng.multinomial(total, shares, size=stop - start).astype(np.float64)
        resamples[start:stop] = value(drawn @ kinds)
    return resamples


def bias_corrected(
    resamples: Floats,
    estimate: float,
    *,
    deviations: Floats,
    times: Integers,
    n_groups: float,
    confidence_level: float,
) -> tuple[float, float]:
    """Return the bias-corrected and accelerated interval of resamples, widened for few groups.

    `found` are the coefficients of the resamples, without NaN; `deviations` (G,) how far the coefficient
    falls from its mean without one group when each group is left out, NaN where there is none without it;
    `times` (G,) how many groups there are of each, and `n_groups` how many of equal size they are worth. The
    coefficient is between the ends.

    References
    ----------
    Efron (1987), Better bootstrap confidence intervals, JASA 82, 171–185. Hesterberg (2015), What teachers
    should know about the bootstrap, The American Statistician 69, 371–386.

    Examples
    --------
    >>> drawn = np.random.default_rng(1).normal(0.6, 0.05, 20_000)
    >>> low, high = bias_corrected(drawn, 0.6, deviations=np.array([-1.0, 1.0]), times=np.array([500, 500]),
    ...                            n_groups=1000, confidence_level=0.95)
    >>> round(low, 2), round(high, 2)
    (0.5, 0.7)
    """
    from scipy import special

    deviations = np.nan_to_num(deviations, nan=0.0)
    spread = times @ np.square(deviations)
    acceleration = (times @ deviations**3) / (6 * spread**1.5) if spread > 0 else 0.0
    below = np.mean(resamples < estimate) + np.mean(resamples == estimate) / 2
    edge = 1 / (len(resamples) + 1)
    bias = special.ndtri(np.clip(below, edge, 1 - edge))
    z = widened_quantile(n_groups, confidence_level)
    ends = bias + np.array([-z, z])
    # The slope cannot turn: where the acceleration is that strong, the end is the outermost resample.
    shares = special.ndtr(bias + ends / np.maximum(1 - acceleration * ends, 1e-9))
    low, high = np.quantile(resamples, shares)
    # Resamples of rare values can all lie on one side of the coefficient.
    return min(float(low), estimate), max(float(high), estimate)


def resampled_interval(parts: Floats, cluster: Integers, value: Function, how: Resampling) -> Interval:
    """Return the interval of a coefficient from what each unit adds to its sums (U, K), and its cluster."""
    rows = summed(parts, np.arange(len(parts)), cluster)
    once = np.ones(len(rows), dtype=np.int64)
    resamples = resampled(rows, once, value, n_boot=how.n_boot, seed=how.seed, size=rows.shape[1])
    estimate, deviations = float(value(rows.sum(axis=0))), left_out(rows, once, value)
    return ends(resamples, estimate, deviations, effective(parts, cluster, value), how)


def effective(parts: Floats, cluster: Integers, value: Function) -> float:
    """Return how many clusters of equal size clusters of units are worth, from what each unit adds (U, K)."""
    once = np.ones(len(parts), dtype=np.int64)
    influence = np.nan_to_num(left_out(parts, once, value))
    return effective_clusters(influence, np.ones(len(parts)), cluster)


def ends(
    resamples: Floats, estimate: float, deviations: Floats, n_groups: float, how: Resampling
) -> Interval:
    """Return the bias-corrected interval of resamples of groups, some of which may be undefined (NaN).

    `deviations` (G,) and `n_groups` are those of `bias_corrected`.
    """
    defined = resamples[~np.isnan(resamples)]
    n_undefined = len(resamples) - len(defined)
    if not len(defined):
        return Interval(n_undefined=n_undefined, reason=Reason.NO_VARIATION)
    if np.ptp(defined) < _EQUAL:
        return Interval(n_undefined=n_undefined, reason=Reason.ONE_PATTERN)
    low, high = bias_corrected(
        defined,
        estimate,
        deviations=deviations,
        times=np.ones(len(deviations), dtype=np.int64),
        n_groups=n_groups,
        confidence_level=how.confidence_level,
    )
    return Interval(low, high, n_undefined)


def left_out(rows: Floats, times: Integers, value: Function) -> Floats:
    """Return how far the coefficient falls, from its mean without one group, when each group is left out.

    NaN where there is no coefficient without it (G,).
    """
    without = value(times @ rows - rows)
    defined = ~np.isnan(without)
    mean = np.average(without[defined], weights=times[defined]) if defined.any() else _NAN
    return np.asarray(mean - without)


def summed(rows: Floats, row: Integers, number: Integers) -> Floats:
    """Sum over clusters what units add: each unit's row of `rows`, and the number of its cluster."""
    cells, times = np.unique(number * len(rows) + row, return_counts=True)
    out = np.zeros((int(number.max()) + 1, rows.shape[1]))
    np.add.at(out, cells // len(rows), rows[cells % len(rows)] * times[:, None])
    return out


def resampled_wide(
    alpha: WideAlpha, group: Group | None, *, n_boot: int, seed: int
) -> tuple[Floats, Floats, Integers]:
    """Resample where every resample has to go through the units; also the influence of each group."""
    rng = np.random.default_rng(seed)
    resamples, influence = np.empty(n_boot), alpha.influence()
    if group is None:
        n_units = int(alpha.n_units.sum())
        for i in range(n_boot):
            drawn = rng.multinomial(n_units, alpha.n_units / n_units)
            resamples[i] = alpha.at(drawn.astype(np.float64))
        return resamples, influence, alpha.n_units
    row, number = group
    n_groups = int(number.max()) + 1
    for i in range(n_boot):
        drawn = rng.multinomial(n_groups, np.full(n_groups, 1 / n_groups))
        times = np.bincount(row, drawn[number], minlength=len(alpha.n_units))
        resamples[i] = alpha.at(times.astype(np.float64))
    of_groups = np.bincount(number, influence[row], minlength=n_groups)
    return resamples, of_groups.astype(np.float64), np.ones(n_groups, dtype=np.int64)


def resampled_pairs(table: Coded | Patterns, level: Metric, *, n_boot: int, seed: int) -> Floats:
    """Resample alpha as Krippendorff does: draw pairs of values, and keep the expected disagreement."""
    patterns = (table if isinstance(table, Patterns) else tally(table)).pairable()
    counts, given = patterns.counts.astype(np.float64), patterns.marginals
    distance = difference(patterns.categories, level, given)
    weight = patterns.n_units / (patterns.n_values - 1)
    coincidences = counts.T @ (weight[:, None] * counts) - np.diag(weight @ counts)
    n_pairs = int(patterns.n_units @ (patterns.n_values * (patterns.n_values - 1))) // 2
    cell = np.flatnonzero(coincidences.ravel() > 0)
    shares = coincidences.ravel()[cell] / coincidences.ravel()[cell].sum()
    apart = distance.ravel()[cell]
    expected = given @ distance @ given / (given.sum() * (given.sum() - 1))
    rng, resamples = np.random.default_rng(seed), np.empty(n_boot)
    for i in range(n_boot):
        drawn = rng.multinomial(n_pairs, shares)
        # All pairs equal, and all of one value: Krippendorff counts that as no agreement beyond chance.
        alike = np.count_nonzero(drawn) == 1 and not apart[drawn > 0].any()
        resamples[i] = 0.0 if alike else 1 - drawn @ apart / (n_pairs * expected)
    return resamples
