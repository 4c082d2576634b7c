"""Intervals from few units or few clusters, where resampling has too little to draw from.

Student's t on the scale of log(1 − coefficient), from what leaving out each group (unit or cluster) changes,
and binomial limits where nothing was observed that could vary: no disagreement at all, or no agreement at all
on the rarer of two values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

__all__ = [
    "FEWEST", "RESAMPLED_FROM", "Evidence", "around", "effective_clusters", "freedom", "jackknife_error",
    "logarithmic", "within", "without_disagreement",
]  # fmt: skip

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

FEWEST = 3
"""Groups with a value other than the most frequent one that an interval needs."""
RESAMPLED_FROM = 10
"""Such clusters from which on they are resampled: with fewer, resamples differ too little from each other."""
_FARTHEST: Final = 600.0
"""On the scale of log(1 − coefficient), what is farther from the coefficient is cut off there anyway."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a coefficient rests on.

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


def freedom(deviations: Floats, times: Integers) -> float:
    """Return the degrees of freedom of a variance that is a sum of squared deviations (Satterthwaite).

    A few deviations that outweigh the others, as a rare value makes them, leave few degrees of freedom.

    Examples
    --------
    >>> freedom(np.array([1.0, -1.0]), np.array([30, 30]))
    59.0
    >>> round(freedom(np.array([9.0, -1.0]), np.array([1, 9])), 1)
    2.8
    """
    n = float(times.sum())
    second, fourth = times @ np.square(deviations), times @ deviations**4
    excess = fourth * n / second**2 - 1
    return float(np.clip(2 * n / excess, 2, n - 1)) if excess > 0 else n - 1


def effective_clusters(influence: Floats, load: Floats, cluster: Integers) -> float:
    """Return how many clusters of equal size the clusters of units are worth, 2 or more.

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

    One cluster of six units beside six of one, first independent and then alike:

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


def logarithmic(
    value: float, error: float, degrees: float, evidence: Evidence, confidence_level: float
) -> tuple[float, float]:
    """Return the interval of a coefficient from its standard error, computed on log(1 − coefficient).

    Where there are two values and no group agrees on the rarer one, its upper end is at least what follows
    from the largest share of agreeing groups that would still go unseen so often.

    Examples
    --------
    >>> seen = Evidence(groups=50, other=20, agreed=12, n_values=2, unequal=0.4)
    >>> low, high = logarithmic(0.6, 0.1, 30.0, seen, 0.95)
    >>> round(low, 2), round(high, 2)
    (0.33, 0.76)
    """
    from scipy import special

    t = special.stdtrit(degrees, (1 + confidence_level) / 2)
    return around(value, float(t) * error / (1 - value), evidence, confidence_level)


def around(value: float, apart: float, evidence: Evidence, confidence_level: float) -> tuple[float, float]:
    """Return the ends that lie `apart` on the scale of log(1 − coefficient); the upper one as `logarithmic`.

    Examples
    --------
    >>> low, high = around(0.5, np.log(2), Evidence(50, 20, 12, 2, 0.4), 0.95)
    >>> round(low, 6), round(high, 6)
    (0.0, 0.75)
    """
    low, high = (float(1 - (1 - value) * np.exp(sign * min(apart, _FARTHEST))) for sign in (1, -1))
    if evidence.n_values == 2 and not evidence.agreed:
        share = _unseen(evidence.other, confidence_level)
        high = max(high, 1 - (1 - value) * (1 - share) / (1 + share))
    return low, high


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


def within(low: float, high: float, value: float, smallest: float) -> tuple[float, float]:
    """Return the ends of an interval cut off at what the coefficient can be; the coefficient lies between.

    Examples
    --------
    >>> within(-2.5, 1.2, 0.1, -1.0)
    (-1.0, 1.0)
    >>> within(-2.5, -0.5, -1.7, -np.inf)
    (-2.5, -0.5)
    """
    return min(max(low, smallest), value), max(min(high, 1.0), value)


def _unseen(n: int, confidence_level: float) -> float:
    """Return the upper limit of a share of which `n` groups show nothing (Clopper & Pearson)."""
    return float(1 - ((1 - confidence_level) / 2) ** (1 / n))
