"""What intervals over clusters share: settings, the widening for few clusters, shares and their differences.

What is resampled, and how an interval is made from it, is defined by each statistic.
"""

from __future__ import annotations

import numbers
from typing import Final

import numpy as np
import numpy.typing as npt

from sense7_qual.errors import ArgumentError

Floats = npt.NDArray[np.float64]

# In simulated studies of 40 participants, 95 % intervals of alpha (.6) covered it in 0, 58, 71, 86 and 89 %
# where 1, 2, 3, 4 and 5 participants' units had the code, and in 93 % or more from six on; those of the
# rank-biserial correlation in 70, 87 and 94 % where 2, 3 and 4 had it. One line serves both.
FEWEST_CLUSTERS: Final = 6
"""Clusters that must have a code, and clusters that must lack it, for an interval."""

_LARGEST: Final = 2**63 - 1  # both are columns of the results, which hold 64-bit integers


def check_resampling(function: str, *, n_boot: int, confidence_level: float, seed: int) -> None:
    """Refuse resampling settings out of range; the error names `function`.

    Examples
    --------
    >>> check_resampling("by_code", n_boot=2000, confidence_level=0.95, seed=7)
    """
    for name, value, least in (("n_boot", n_boot, 1), ("seed", seed, 0)):
        whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
        if not whole or not least <= value <= _LARGEST:
            raise ArgumentError(
                f"{function}: expected {name} to be a whole number from {least} to {_LARGEST} – found "
                f"{value!r} – use 2000 resamples, and any seed that you report."
            )
    if not isinstance(confidence_level, numbers.Real) or not 0 < confidence_level < 1:
        raise ArgumentError(
            f"{function}: expected confidence_level between 0 and 1 – found {confidence_level!r} – use 0.95."
        )


def widened_quantile(n_clusters: float, confidence_level: float) -> float:
    """Return the standard normal quantile of an interval's end, widened for few clusters.

    It is t(n − 1) · √(n / (n − 1)), n being the number of clusters (of uneven ones the effective number): for
    6 clusters and 95 % 2.82, for very many 1.96.

    References
    ----------
    Hesterberg (2015), What teachers should know about the bootstrap, The American Statistician 69, 371–386:
    the expanded percentile interval.

    Examples
    --------
    Student's t with 5 degrees of freedom is tabulated as 2.571 (two-sided 5 %); 2.571 · √(6/5) = 2.816:

    >>> round(widened_quantile(6, 0.95), 3)
    2.816
    """
    from scipy import special

    t = special.stdtrit(n_clusters - 1, (1 + confidence_level) / 2)
    return float(t * np.sqrt(n_clusters / (n_clusters - 1)))


def share_interval(
    share: float, variance: float, n: float, n_clusters: float, confidence_level: float
) -> tuple[float, float]:
    """Return the ends of a share's interval: Wilson's, for the independent units that clusters are worth.

    `variance` is that of the share over clusters, which are many where it is known well: `n_clusters` is
    their number, or one more than the degrees of freedom of the variance. Units are worth as many as have
    this variance, widened by the square of Student's quantile over the normal one, and at most `n`; where the
    share is 0 or 1, as many as there are clusters.

    References
    ----------
    Wilson (1927), Probable inference, the law of succession, and statistical inference, JASA 22, 209–212.
    Franco, Little, Louis & Slud (2019), Comparative study of confidence intervals for proportions in complex
    sample surveys, Journal of Survey Statistics and Methodology 7, 334–364: the effective number of units.

    Examples
    --------
    Of 81 in 263 independent units, with very many clusters, it is Wilson's interval, .255 to .366 in Newcombe
    (1998, Statistics in Medicine 17, 857–872, table I):

    >>> share = 81 / 263
    >>> [round(end, 4) for end in share_interval(share, share * (1 - share) / 263, 263, 1e9, 0.95)]
    [0.2553, 0.3662]
    """
    z, wider = _quantiles(n_clusters, confidence_level)
    one = share * (1 - share)
    worth = n_clusters / wider if one == 0 else one / max(one / n, variance * wider)
    middle = (share + z**2 / (2 * worth)) / (1 + z**2 / worth)
    half = z / (1 + z**2 / worth) * np.sqrt(one / worth + (z / (2 * worth)) ** 2)
    return max(0.0, float(middle - half)), min(1.0, float(middle + half))


def _quantiles(n_clusters: float, confidence_level: float) -> tuple[float, float]:
    """Return the normal quantile, and the square of Student's over it."""
    from scipy import special

    z = float(special.ndtri((1 + confidence_level) / 2))
    return z, float(special.stdtrit(n_clusters - 1, (1 + confidence_level) / 2) / z) ** 2


def paired_interval(
    more: float, less: float, variance: float, n: float, n_clusters: float, confidence_level: float
) -> tuple[float, float]:
    """Return the ends of the interval of more − less, the shares of units on which one of two says yes.

    It is Bonett and Price's, for the independent units that clusters are worth, as in `share_interval`;
    `variance` is that of more − less over clusters.

    References
    ----------
    Bonett & Price (2012), Adjusted Wald confidence interval for a difference of binomial proportions based on
    paired data, Journal of Educational and Behavioral Statistics 37, 479–488.

    Examples
    --------
    >>> ends = paired_interval(0.3, 0.1, (0.4 - 0.2**2) / 100, 100, 1e9, 0.95)
    >>> [round(end, 3) for end in ends]  # (31 − 11) / 102 ± 1.96 · √((42 / 102 − (20 / 102)²) / 102)
    [0.078, 0.315]
    """
    z, wider = _quantiles(n_clusters, confidence_level)
    one = more + less - (more - less) ** 2
    worth = n_clusters / wider if one == 0 else one / max(one / n, variance * wider)
    more, less = ((share * worth + 1) / (worth + 2) for share in (more, less))
    half = z * np.sqrt((more + less - (more - less) ** 2) / (worth + 2))
    return max(-1.0, float(more - less - half)), min(1.0, float(more - less + half))


def holm(p: Floats) -> Floats:
    """Return p (n,) adjusted by Holm's step-down procedure.

    The rule by hand: the smallest of three times 3, the next times 2, the largest as it is, never falling:

    >>> holm(np.array([0.01, 0.04, 0.03])).round(6).tolist()
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p)
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(stepped, 1)
    return adjusted
