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
    cross : array
        l_ab; l_aa is −upper_slope − cross, and l_bb is −lower_slope − cross.
    """

    upper: Floats
    lower: Floats
    upper_slope: Floats
    lower_slope: Floats
    upper_bend: Floats
    lower_bend: Floats
    cross: Floats


def log_probability(a: Floats, b: Floats, link: Link) -> Floats:
    """Return log(F(a) − F(b)), b < a, without loss of digits in the tails."""
    from scipy import special

    if link == "logit":
        # F(a) − F(b) = F(a) · (1 − F(b)) · (1 − exp(b − a))
        return np.asarray(special.log_expit(a) + special.log_expit(-b) + np.log(-np.expm1(b - a)))
    above = b > 0  # both in the upper tail: mirrored, where the distribution function keeps its digits
    high, low = np.where(above, -b, a), np.where(above, -a, b)
    log_high = special.log_ndtr(high)
    return np.asarray(log_high + np.log(-np.expm1(special.log_ndtr(low) - log_high)))


def slopes(a: Floats, b: Floats, link: Link) -> tuple[Floats, Floats, Floats]:
    """Return l, l_a and l_b."""
    from scipy import special

    log_p = log_probability(a, b, link)
    if link == "logit":
        gap = _gap(a, b)
        return log_p, special.expit(-a) + gap, -special.expit(b) - gap
    return log_p, _density(a, log_p), -_density(b, log_p)


def derivatives(a: Floats, b: Floats, link: Link) -> Derivatives:
    """Return every derivative that the adaptive quadrature's gradient needs."""
    from scipy import special

    _, upper, lower = slopes(a, b, link)
    if link == "logit":
        at_a, at_b = special.expit(a), special.expit(b)
        density_a, density_b = at_a * (1 - at_a), at_b * (1 - at_b)
        gap = _gap(a, b)
        bends = -density_a * (1 - 2 * at_a), -density_b * (1 - 2 * at_b)
        return Derivatives(upper, lower, density_a, density_b, *bends, gap * (1 + gap))
    slope = -(upper + lower)
    upper_slope, lower_slope = upper * (a - slope), lower * (b - slope)
    second = -(a * upper + b * lower)  # (f'(a) − f'(b)) / P, with f' = −x f
    upper_bend = (np.square(a) - 1 - second) * upper - 2 * slope * upper_slope
    lower_bend = (np.square(b) - 1 - second) * lower - 2 * slope * lower_slope
    return Derivatives(upper, lower, upper_slope, lower_slope, upper_bend, lower_bend, -upper * lower)


def _gap(a: Floats, b: Floats) -> Floats:
    """Return the derivative of log(1 − exp(b − a)) by a."""
    return np.asarray(np.exp(b - a) / -np.expm1(b - a))


def _density(x: Floats, log_p: Floats) -> Floats:
    """Return φ(x) / P; 0 at a threshold that stands for an infinite one."""
    return np.asarray(np.exp(-np.square(x) / 2 - log_p) / np.sqrt(2 * np.pi))
