"""The probability of a rating level, P(b < latent ≤ a), and its derivatives: logit and probit.

A rating of level j means that a latent variable lies between two thresholds. With a the upper and b the lower
threshold, both less the linear predictor η, l = log(F(a) − F(b)). Derivatives by η follow from those by a
and b, because η moves both alike: l' = −(l_a + l_b), and so on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

__all__ = ["BEYOND", "Derivatives", "Link", "derivatives", "log_probability", "slopes"]

Floats = npt.NDArray[np.float64]
Link = Literal["logit", "probit"]

BEYOND: Final = 1e6
"""Stands for an infinite threshold: far enough that nothing lies beyond, and 0 · BEYOND² is 0."""
_SMALLEST: Final = np.finfo(np.float64).tiny


@dataclass(frozen=True, slots=True)
class Derivatives:
    """Derivatives of l = log(F(a) − F(b)); l', l'' are those by η at fixed thresholds.

    Attributes
    ----------
    upper, lower : array
        l_a and l_b.
    upper_slope, lower_slope : array
        l' by a and by b; l'' is minus their sum.
    upper_bend, lower_bend : array
        l'' by a and by b; l''' is minus their sum.
    """

    upper: Floats
    lower: Floats
    upper_slope: Floats
    lower_slope: Floats
    upper_bend: Floats
    lower_bend: Floats


def log_probability(upper: Floats, lower: Floats, eta: Floats, link: Link) -> Floats:
    """Return log(F(upper − η) − F(lower − η)) without loss of digits in the tails.

    Thresholds and η are arrays that broadcast; a level's two thresholds do not vary with η, so that what
    depends on them alone is computed once.
    """
    from scipy import special

    if link == "logit":
        # F(a) − F(b) = F(a) · (1 − F(b)) · (1 − exp(b − a)); the smallest number stands in for an underflow.
        both = special.expit(upper - eta) * special.expit(eta - lower)
        return np.asarray(np.log(np.maximum(both, _SMALLEST)) + np.log(-np.expm1(lower - upper)))
    return _log_normal(upper - eta, lower - eta)


def slopes(upper: Floats, lower: Floats, eta: Floats, link: Link) -> tuple[Floats, Floats, Floats]:
    """Return l, l_a and l_b."""
    from scipy import special

    if link == "logit":
        below, above = special.expit(upper - eta), special.expit(eta - lower)
        log_p = np.log(np.maximum(below * above, _SMALLEST)) + np.log(-np.expm1(lower - upper))
        gap = _gap(upper, lower)
        return log_p, (1 + gap) - below, above - (1 + gap)
    a, b = upper - eta, lower - eta
    log_p = _log_normal(a, b)
    return log_p, _density(a, log_p), -_density(b, log_p)


def derivatives(upper: Floats, lower: Floats, eta: Floats, link: Link) -> Derivatives:
    """Return every derivative that the adaptive quadrature's gradient needs."""
    from scipy import special

    if link == "logit":
        below, above, gap = special.expit(upper - eta), special.expit(eta - lower), _gap(upper, lower)
        density_a, density_b = below * (1 - below), above * (1 - above)
        bends = density_a * (2 * below - 1), density_b * (1 - 2 * above)
        slope = (1 + gap) - below, above - (1 + gap)
        return Derivatives(*slope, density_a, density_b, *bends)
    _, by_a, by_b = slopes(upper, lower, eta, link)
    a, b, slope_ = upper - eta, lower - eta, -(by_a + by_b)
    upper_slope, lower_slope = by_a * (a - slope_), by_b * (b - slope_)
    second = -(a * by_a + b * by_b)  # (f'(a) − f'(b)) / P, with f' = −x f
    upper_bend = (np.square(a) - 1 - second) * by_a - 2 * slope_ * upper_slope
    lower_bend = (np.square(b) - 1 - second) * by_b - 2 * slope_ * lower_slope
    return Derivatives(by_a, by_b, upper_slope, lower_slope, upper_bend, lower_bend)


def _log_normal(a: Floats, b: Floats) -> Floats:
    """Return log(Φ(a) − Φ(b)); in the upper tail mirrored, where Φ keeps its digits."""
    from scipy import special

    mirrored = b > 0
    log_high = special.log_ndtr(np.where(mirrored, -b, a))
    log_low = special.log_ndtr(np.where(mirrored, -a, b))
    return np.asarray(log_high + np.log(-np.expm1(log_low - log_high)))


def _gap(upper: Floats, lower: Floats) -> Floats:
    """Return the derivative of log(1 − exp(lower − upper)) by the upper threshold."""
    width = lower - upper
    return np.asarray(np.exp(width) / -np.expm1(width))


def _density(x: Floats, log_p: Floats) -> Floats:
    """Return φ(x) / P; 0 at a threshold that stands for an infinite one."""
    return np.asarray(np.exp(-np.square(x) / 2 - log_p) / np.sqrt(2 * np.pi))
