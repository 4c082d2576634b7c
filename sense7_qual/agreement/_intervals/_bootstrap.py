"""Intervals of coefficients: resamples of clusters, units or pairs of values, and what few of them allow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from sense7_qual._bootstrap import widened_quantile
from sense7_qual._reasons import Reason
from sense7_qual.agreement.coefficients._patterns import Coded, Patterns, tally
from sense7_qual.agreement.coefficients._sums import Function
from sense7_qual.agreement.coefficients._weights import Metric, WideAlpha, difference

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Group = tuple[Integers, Integers]

_NAN: Final = float("nan")
_CELLS: Final = 32_768
_EQUAL: Final = 1e-12
"""Coefficients nearer than this to each other differ by rounding alone."""
FEWEST = 3
"""Groups with a value other than the most frequent one that an interval needs."""
RESAMPLED_FROM = 10
"""Such clusters from which on they are resampled: with fewer, resamples differ too little from each other."""
_FARTHEST: Final = 600.0
"""On the scale of log(1 − coefficient), what is farther from the coefficient is cut off there anyway."""


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

    `resamples` are their coefficients, without NaN; `deviations` (G,) how far the coefficient
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
    return interval_of_resamples(
        resamples, estimate, deviations, effective_number(parts, cluster, value), how
    )


def effective_number(parts: Floats, cluster: Integers, value: Function) -> float:
    """Return the equivalent number of equal clusters, from each unit's addition to the sums (U, K)."""
    once = np.ones(len(parts), dtype=np.int64)
    influence = np.nan_to_num(left_out(parts, once, value))
    return effective_clusters(influence, np.ones(len(parts)), cluster)


def interval_of_resamples(
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
    """Return the fall of the coefficient, from its mean without one group, when each group is left out.

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


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence for a coefficient.

    How many groups there are, how many have a value other than the most frequent one, in how many two coders
    do; how many values there are, and the share of pairs of values that would differ by chance.
    """

    groups: int
    other: int
    agreed: int
    n_values: int
    unequal: float


def jackknife_error(deviations: Floats, times: Integers) -> float:
    """Return the standard error that follows from how far a coefficient falls without each group.

    Examples
    --------
    Of a mean of ten values, half of them 0 and half 1, it is the usual one, √(.25 / 9):

    >>> round(jackknife_error(np.array([0.5, -0.5]) / 9, np.array([5, 5])), 4)
    0.1667
    """
    n = int(times.sum())
    return float(np.sqrt((n - 1) / n * (times @ np.square(deviations))))


def degrees_of_freedom(deviations: Floats, times: Integers) -> float:
    """Return the degrees of freedom of a variance that is a sum of squared deviations (Satterthwaite).

    A few deviations that outweigh the others, as a rare value makes them, leave few degrees of freedom.

    Examples
    --------
    >>> degrees_of_freedom(np.array([1.0, -1.0]), np.array([30, 30]))
    59.0
    >>> round(degrees_of_freedom(np.array([9.0, -1.0]), np.array([1, 9])), 1)
    2.8
    """
    n = float(times.sum())
    second, fourth = times @ np.square(deviations), times @ deviations**4
    excess = fourth * n / second**2 - 1
    return float(np.clip(2 * n / excess, 2, n - 1)) if excess > 0 else n - 1


def effective_clusters(influence: Floats, load: Floats, cluster: Integers) -> float:
    """Return the equivalent number of clusters of equal size, 2 or more.

    `influence` (U,) is that of each unit on the coefficient, `load` (U,) how heavily it counts, in any
    measure, `cluster` (U,) the number of its cluster, from 0. The result is 2 or more.

    A large cluster has a large share of the variance, so that fewer clusters carry the uncertainty than there
    are: (Σ v)² / Σ v² for shares v, which is their number where they are even. A share is that of a sum of
    units that depend on each other equally within clusters; how much, the units' influences say.

    References
    ----------
    Imbens & Kolesár (2016), Robust standard errors in small samples: Some practical advice, Review of
    Economics and Statistics 98, 701–712. Carter, Schnepel & Steigerwald (2017), Asymptotic behavior of a
    t-test robust to cluster heterogeneity, Review of Economics and Statistics 99, 698–709.

    Examples
    --------
    >>> effective_clusters(np.array([1.0, -1.0] * 6), np.ones(12), np.arange(12) // 2)
    6.0

    One cluster of six units and six of one, first independent and then alike:

    >>> cluster = np.array([0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6])
    >>> round(effective_clusters(np.array([1.0, -1.0] * 6), np.ones(12), cluster), 2)
    3.43
    >>> effective_clusters(np.repeat([1.0, -1.0], 6), np.ones(12), cluster)
    2.0
    """
    own, together = np.bincount(cluster, np.square(load)), np.square(np.bincount(cluster, load))
    pairs = (together - own).sum()
    spread = np.square(influence).sum() / own.sum()
    dependence = 0.0
    if spread * pairs > 0:
        products = np.square(np.bincount(cluster, influence)).sum() - np.square(influence).sum()
        dependence = float(np.clip(products / (spread * pairs), 0, 1))
    variance = own + dependence * (together - own)
    return max(2.0, float(variance.sum() ** 2 / (variance @ variance)))


def log_scale_interval(
    value: float, error: float, degrees: float, evidence: Evidence, confidence_level: float
) -> tuple[float, float]:
    """Return the interval of a coefficient from its standard error, computed on log(1 − coefficient).

    Where there are two values and no group agrees on the rarer one, its upper end is at least what follows
    from the largest share of agreeing groups that would still go unseen so often.

    Examples
    --------
    >>> seen = Evidence(groups=50, other=20, agreed=12, n_values=2, unequal=0.4)
    >>> low, high = log_scale_interval(0.6, 0.1, 30.0, seen, 0.95)
    >>> round(low, 2), round(high, 2)
    (0.33, 0.76)
    """
    from scipy import special

    t = special.stdtrit(degrees, (1 + confidence_level) / 2)
    return log_scale_ends(value, float(t) * error / (1 - value), evidence, confidence_level)


def log_scale_ends(
    value: float, apart: float, evidence: Evidence, confidence_level: float
) -> tuple[float, float]:
    """Return the ends `apart` on the scale of log(1 − coefficient); the upper one as `log_scale_interval`.

    Examples
    --------
    >>> low, high = log_scale_ends(0.5, np.log(2), Evidence(50, 20, 12, 2, 0.4), 0.95)
    >>> round(low, 6), round(high, 6)
    (0.0, 0.75)
    """
    low, high = (float(1 - (1 - value) * np.exp(sign * min(apart, _FARTHEST))) for sign in (1, -1))
    if evidence.n_values == 2 and not evidence.agreed:
        share = _unseen(evidence.other, confidence_level)
        high = max(high, 1 - (1 - value) * (1 - share) / (1 + share))
    return low, high


def score_ends(
    value: float, error: float, degrees: float, unequal: float, confidence_level: float
) -> tuple[float, float]:
    """Return the coefficients of two values from which `value` differs by Student's t standard errors.

    `error` is the standard error at `value`. Elsewhere it changes as that of a kappa with two raters does
    (Bloch & Kraemer 1989), if values differ in the share `unequal` of pairs by chance. Where that variance is
    not positive, `error` is taken as it is. No end may be found on a side: then it is infinite.

    Examples
    --------
    >>> [round(end, 2) for end in score_ends(0.6, 0.1, 1e9, 0.42, 0.95)]
    [0.38, 0.76]
    >>> [round(end, 2) for end in score_ends(0.1, 0.1, 1e9, 0.1, 0.95)]  # of a rare value: farther up
    [-0.01, 0.35]
    """
    from scipy import special

    t = float(special.stdtrit(degrees, (1 + confidence_level) / 2))
    # (1 − κ)² (1 − 2κ) + κ (2 − κ) (1 − κ) / unequal
    variance = np.array([-2 + 1 / unequal, 5 - 3 / unequal, -4 + 2 / unequal, 1])
    at = float(np.polyval(variance, value))
    if at <= 0:
        return value - t * error, value + t * error
    apart = np.array([0.0, 1.0, -2 * value, value**2])
    roots = np.roots(apart - (t * error) ** 2 / at * variance)
    real = roots[np.abs(roots.imag) < 1e-9].real
    below, above = real[real <= value].tolist(), real[real >= value].tolist()
    return max(below, default=-np.inf), min(above, default=np.inf)


def without_disagreement(evidence: Evidence, confidence_level: float) -> tuple[float, float]:
    """Return the interval of a coefficient of 1: down to the disagreement that could have gone unseen.

    Examples
    --------
    Of 100 units, half of them with either value, none disputed:

    >>> low, high = without_disagreement(Evidence(100, 50, 50, 2, 0.5), 0.95)
    >>> round(low, 3), high
    (0.928, 1.0)
    """
    if not evidence.unequal > 0:
        return np.nan, np.nan
    return 1 - _unseen(evidence.groups, confidence_level) / evidence.unequal, 1.0


def cut_off(low: float, high: float, value: float, smallest: float) -> tuple[float, float]:
    """Return the ends of an interval cut off at what the coefficient can be; the coefficient lies between.

    Examples
    --------
    >>> cut_off(-2.5, 1.2, 0.1, -1.0)
    (-1.0, 1.0)
    >>> cut_off(-2.5, -0.5, -1.7, -np.inf)
    (-2.5, -0.5)
    """
    return min(max(low, smallest), value), max(min(high, 1.0), value)


def _unseen(n: int, confidence_level: float) -> float:
    """Return the upper limit of a share of which `n` groups show nothing (Clopper & Pearson)."""
    return float(1 - ((1 - confidence_level) / 2) ** (1 / n))
