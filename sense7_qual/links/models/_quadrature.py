"""The likelihood of a cumulative-link model with a normal random intercept, by adaptive quadrature.

Each cluster's intercept is integrated out by Gauss–Hermite nodes put at the mode of its own posterior and
scaled by the curvature there (one node: Laplace's approximation). The gradient is that of the approximation
itself: it follows the nodes as the parameters move them.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual.links.models._link_functions import (
    BEYOND,
    Derivatives,
    Floats,
    Link,
    derivatives,
    log_probability,
    slopes,
)

__all__ = ["Integral", "Parameters", "Patterns", "bounds", "gathered", "integrate", "patterns_of"]

Integers = npt.NDArray[np.int64]

_NEWTON_STEPS = 100
_AT_THE_MODE = 1e-11  # in standard deviations of the posterior
_SURE_STEP = (
    0.3  # on the scale of the link: so near, the curvature hardly changes, and Newton cannot overshoot
)


@dataclass(frozen=True, slots=True)
class Patterns:
    """The distinct rows of each cluster, clusters together.

    Attributes
    ----------
    level : array (patterns,)
        The rating, 0 … n_levels − 1.
    predictors : array (patterns, predictors)
    count : array (patterns,)
        Number of rows.
    cluster : array (patterns,)
        0 … clusters − 1, rising.
    starts : array (clusters,)
        The first pattern of each cluster.
    n_levels : int
    """

    level: Integers
    predictors: Floats
    count: Floats
    cluster: Integers
    starts: Integers
    n_levels: int

    def sums(self, values: Floats) -> Floats:
        """Add up values of patterns (patterns, …) by cluster, weighted by the number of rows."""
        count = self.count if values.ndim == 1 else self.count[:, None]
        return np.asarray(np.add.reduceat(count * values, self.starts, axis=0))


@dataclass(frozen=True, slots=True)
class Parameters:
    """Thresholds (rising), coefficients, and the standard deviations of the random intercepts.

    `sd` is that of the clusters', `inner_sd` that of what is nested in them.
    """

    thresholds: Floats
    coefficients: Floats
    sd: float
    inner_sd: float = 0.0


@dataclass(frozen=True, slots=True)
class Integral:
    """The log-likelihood, its gradient (thresholds, coefficients, sd), and where the nodes were put."""

    log_likelihood: float
    gradient: Floats
    modes: Floats


def patterns_of(level: Integers, predictors: Floats, cluster: Integers) -> Patterns:
    """Count the distinct rows of each cluster (numbered from 0, none empty)."""
    keys = pd.DataFrame(predictors).assign(level=level, cluster=cluster)
    names = ["cluster", "level", *range(predictors.shape[1])]
    counted = keys.groupby(names, sort=True).size().reset_index(name="count")
    cluster_of_row = counted["cluster"].to_numpy(dtype=np.int64)
    return Patterns(
        level=counted["level"].to_numpy(dtype=np.int64),
        predictors=np.ascontiguousarray(counted[list(range(predictors.shape[1]))], dtype=np.float64),
        count=counted["count"].to_numpy(dtype=np.float64),
        cluster=cluster_of_row,
        starts=np.flatnonzero(np.diff(cluster_of_row, prepend=-1)),
        n_levels=int(level.max()) + 1,
    )


def integrate(
    patterns: Patterns, at: Parameters, *, quadrature: int, link: Link, modes: Floats | None = None
) -> Integral:
    """Return the log-likelihood and its gradient; `modes` is a guess, the last ones for example."""
    upper, lower = bounds(patterns, at)
    mode, scale, at_mode = _modes(patterns, upper, lower, at.sd, link, modes)
    node, weight = _rule(quadrature)
    u = mode[:, None] + scale[:, None] * node
    eta = at.sd * u[patterns.cluster]
    log_p, by_upper, by_lower = slopes(upper[:, None], lower[:, None], eta, link)
    height = patterns.sums(log_p) - np.square(u) / 2 + np.square(node) / 2 + np.log(weight)
    top = height.max(axis=1, keepdims=True)
    share = np.exp(height - top)
    total = share.sum(axis=1, keepdims=True)
    share /= total
    log_likelihood = float((np.log(scale) + top[:, 0] + np.log(total[:, 0])).sum())

    slope = -(by_upper + by_lower)
    drop = at.sd * patterns.sums(slope) - u  # how fast the posterior's log rises at each node
    shift = (share * drop).sum(axis=1)
    spread = 1 + scale * (share * drop * node).sum(axis=1)
    p = share[patterns.cluster]
    weighed = (p * by_upper).sum(axis=1), (p * by_lower).sum(axis=1)
    by_sd = (patterns.count * (p * slope * u[patterns.cluster]).sum(axis=1)).sum()
    moved = _of_moving_nodes(patterns, at_mode, at.sd, mode, scale, shift, spread)
    gradient = gathered(patterns, weighed[0] + moved[0], weighed[1] + moved[1], by_sd + moved[2])
    return Integral(log_likelihood, gradient, mode)


def bounds(patterns: Patterns, at: Parameters) -> tuple[Floats, Floats]:
    """Return both thresholds of each pattern's level, less its fixed part of the linear predictor."""
    ends = np.concatenate([[-BEYOND], at.thresholds, [BEYOND]])
    eta = np.einsum("pq,q->p", patterns.predictors, at.coefficients)
    return ends[patterns.level + 1] - eta, ends[patterns.level] - eta


@functools.cache
def _rule(quadrature: int) -> tuple[Floats, Floats]:
    """Return nodes and weights for the standard normal density; the weights add up to 1."""
    node, weight = np.polynomial.hermite_e.hermegauss(quadrature)
    return node, weight / weight.sum()


def _modes(
    patterns: Patterns, upper: Floats, lower: Floats, sd: float, link: Link, guess: Floats | None
) -> tuple[Floats, Floats, Derivatives]:
    """Return each cluster's posterior mode and scale, and the derivatives there, by Newton's method."""
    mode = np.zeros(len(patterns.starts)) if guess is None else guess
    for _ in range(_NEWTON_STEPS):
        at_mode = derivatives(upper, lower, sd * mode[patterns.cluster], link)
        rise = -sd * patterns.sums(at_mode.upper + at_mode.lower) - mode
        scale = 1 / np.sqrt(1 + sd**2 * patterns.sums(at_mode.upper_slope + at_mode.lower_slope))
        step = scale**2 * rise
        if (np.abs(step) <= _AT_THE_MODE * scale).all():
            break
        if np.abs(sd * step).max() > _SURE_STEP:
            step = _shortened(patterns, upper, lower, sd, link, mode, step)
        mode = mode + step
    return mode, scale, at_mode


def _shortened(
    patterns: Patterns, upper: Floats, lower: Floats, sd: float, link: Link, mode: Floats, step: Floats
) -> Floats:
    """Halve the steps of those clusters whose posterior they would lower."""

    def height(u: Floats) -> Floats:
        log_p = log_probability(upper, lower, sd * u[patterns.cluster], link)
        return np.asarray(patterns.sums(log_p) - np.square(u) / 2)

    before = height(mode)
    for _ in range(50):
        lowered = height(mode + step) < before
        if not lowered.any():
            break
        step = np.where(lowered, step / 2, step)
    return step


def _of_moving_nodes(
    patterns: Patterns,
    at_mode: Derivatives,
    sd: float,
    mode: Floats,
    scale: Floats,
    shift: Floats,
    spread: Floats,
) -> tuple[Floats, Floats, float]:
    """Return what the gradient gains because the nodes move: by upper and lower threshold, and by sd.

    With h the log posterior, the mode moves by scale² ∂h', the log scale by scale² (∂h'' + h''' dmode) / 2.
    """
    bend = -(sd**3) * patterns.sums(at_mode.upper_bend + at_mode.lower_bend)  # h'''
    by_slope = scale**2 * shift + spread * scale**4 * bend / 2  # how much ∂h' counts
    by_bend = spread * scale**2 / 2  # how much ∂h'' counts
    p, q = (sd * by_slope)[patterns.cluster], (sd**2 * by_bend)[patterns.cluster]
    upper = p * at_mode.upper_slope + q * at_mode.upper_bend
    lower = p * at_mode.lower_slope + q * at_mode.lower_bend
    slope = patterns.sums(-(at_mode.upper + at_mode.lower))
    curve = patterns.sums(-(at_mode.upper_slope + at_mode.lower_slope))
    by_sd = by_slope * slope + 2 * sd * by_bend * curve - mode * patterns.sums(upper + lower)
    return upper, lower, float(by_sd.sum())


def gathered(patterns: Patterns, upper: Floats, lower: Floats, by_sd: float) -> Floats:
    """Return the gradient from what each row gives its upper and its lower threshold."""
    upper, lower = patterns.count * upper, patterns.count * lower
    thresholds = np.bincount(patterns.level, upper, minlength=patterns.n_levels)[:-1]
    thresholds = thresholds + np.bincount(patterns.level, lower, minlength=patterns.n_levels)[1:]
    # Not `@`: on products as small as these a threaded BLAS spends most of its time waiting.
    coefficients = -np.einsum("p,pq->q", upper + lower, patterns.predictors)
    return np.concatenate([thresholds, coefficients, [by_sd]])
