"""The likelihood of a cumulative-link model and its gradient: no, one or two normal random intercepts."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

Integers = npt.NDArray[np.int64]

_NEWTON_STEPS = 100
_AT_THE_MODE = 1e-11  # in standard deviations of the posterior
_SURE_STEP = (
    0.3  # on the scale of the link: so near, the curvature hardly changes, and Newton cannot overshoot
)
Floats = npt.NDArray[np.float64]
Link = Literal["logit", "probit"]
BEYOND: Final = 1e6
"""Stands for an infinite threshold: far enough that nothing lies beyond, and 0 · BEYOND² is 0."""
_SMALLEST: Final = np.finfo(np.float64).tiny
_LAPLACE_STEPS = 200


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
    """The log-likelihood, its gradient (thresholds, coefficients, sds), and where the nodes were put.

    `by_bounds` (2, patterns) is what a row of each pattern gives the gradient by its upper and its lower
    threshold, `by_sds` (sds, clusters) what each cluster gives it by each sd.
    """

    log_likelihood: float
    gradient: Floats
    modes: Floats
    by_bounds: Floats
    by_sds: Floats

    def scores(self, patterns: Patterns, owner: Integers) -> Floats:
        """Return what each cluster adds to the gradient (clusters, parameters); `owner`: of each pattern."""
        upper, lower = patterns.count * self.by_bounds
        n, levels = int(owner[-1]) + 1, patterns.n_levels
        cell, shape = owner * levels + patterns.level, (n, levels)
        above, below = (
            np.bincount(cell, side, minlength=n * levels).reshape(shape) for side in (upper, lower)
        )
        starts = np.flatnonzero(np.diff(owner, prepend=-1))
        by_predictor = np.add.reduceat((upper + lower)[:, None] * patterns.predictors, starts, axis=0)
        return np.hstack([above[:, :-1] + below[:, 1:], -by_predictor, self.by_sds.T])


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
    by_sd = patterns.sums((p * slope * u[patterns.cluster]).sum(axis=1))
    moved = _of_moving_nodes(patterns, at_mode, at.sd, mode, scale, shift, spread)
    by_bounds, by_sds = np.array([weighed[0] + moved[0], weighed[1] + moved[1]]), (by_sd + moved[2])[None]
    return Integral(log_likelihood, gathered(patterns, by_bounds, by_sds), mode, by_bounds, by_sds)


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
    """Halve the steps of those clusters where they would lower the posterior."""

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
) -> tuple[Floats, Floats, Floats]:
    """Return the part of the gradient due to moving nodes: by upper and lower threshold, and by sd.

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
    return upper, lower, by_sd


def gathered(patterns: Patterns, by_bounds: Floats, by_sds: Floats) -> Floats:
    """Return the gradient from what rows give their two thresholds, and clusters the sds."""
    upper, lower = patterns.count * by_bounds
    thresholds = np.bincount(patterns.level, upper, minlength=patterns.n_levels)[:-1]
    thresholds = thresholds + np.bincount(patterns.level, lower, minlength=patterns.n_levels)[1:]
    # Not `@`: on products as small as these a threaded BLAS spends most of its time waiting.
    coefficients = -np.einsum("p,pq->q", upper + lower, patterns.predictors)
    return np.concatenate([thresholds, coefficients, by_sds.sum(axis=1)])


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
    """Return φ(x) / P; 0 at a threshold that means an infinite one."""
    return np.asarray(np.exp(-np.square(x) / 2 - log_p) / np.sqrt(2 * np.pi))


@dataclass(frozen=True, slots=True)
class Nested:
    """The distinct rows of each conversation, and the participant of each conversation (from 0, rising)."""

    patterns: Patterns
    owner: npt.NDArray[np.int64]

    def over(self, values: Floats) -> Floats:
        """Add up values of conversations by participant."""
        return np.bincount(self.owner, values).astype(np.float64)


@dataclass(frozen=True, slots=True)
class _Mode:
    """Where the posterior is highest, and the sums over each conversation's rows there.

    `rise` is that of l', `curve` of −l'' (w), `bend` of −l''' (what w gains as η rises).
    """

    outer: Floats
    inner: Floats
    there: Derivatives
    rise: Floats
    curve: Floats


def integrate_nested(nested: Nested, at: Parameters, *, link: Link, modes: Floats | None = None) -> Integral:
    """Return the log-likelihood and its gradient: thresholds, coefficients, sd, inner sd.

    `modes` is a guess: the participants' and, after them, the conversations'.
    """
    patterns, owner, s, t = nested.patterns, nested.owner, at.sd, at.inner_sd
    upper, lower = bounds(patterns, at)
    mode = _mode(nested, upper, lower, at, link, modes)
    m = 1 + t**2 * mode.curve
    schur = 1 + s**2 * nested.over(mode.curve / m)
    effect = _effect(nested, at, mode.outer, mode.inner)
    log_p = patterns.sums(log_probability(upper, lower, effect, link)).sum()
    squares = np.square(mode.outer).sum() + np.square(mode.inner).sum()
    log_likelihood = float(log_p - (squares + np.log(m).sum() + np.log(schur).sum()) / 2)

    bend = patterns.sums(mode.there.upper_bend + mode.there.lower_bend)
    by_curve = t**2 / m + (s**2 / schur)[owner] / m**2  # of log det by w
    # How much the mode's movement counts: H⁻¹ times the derivative of −log det / 2 by the mode.
    moved = by_curve * bend
    a_outer, a_inner = _solved(nested, at, mode.curve, -s * nested.over(moved) / 2, -t * moved / 2)
    shift = s * a_outer[owner] + t * a_inner
    k, c = (by_curve / 2)[patterns.cluster], shift[patterns.cluster]
    by_upper = mode.there.upper + k * mode.there.upper_bend + c * mode.there.upper_slope
    by_lower = mode.there.lower + k * mode.there.lower_bend + c * mode.there.lower_slope
    by_sd, by_inner_sd = (
        nested.over(effects * (mode.rise - moved / 2 - shift * mode.curve) + adjoint * mode.rise)
        for effects, adjoint in ((mode.outer[owner], a_outer[owner]), (mode.inner, a_inner))
    )
    explicit = mode.curve / m
    by_sd -= s * nested.over(explicit) / schur
    by_inner_sd -= nested.over(t * explicit - (s**2 / schur)[owner] * t * explicit**2)
    by_bounds, by_sds = np.array([by_upper, by_lower]), np.array([by_sd, by_inner_sd])
    modes = np.concatenate([mode.outer, mode.inner])
    return Integral(log_likelihood, gathered(patterns, by_bounds, by_sds), modes, by_bounds, by_sds)


def _effect(nested: Nested, at: Parameters, outer: Floats, inner: Floats) -> Floats:
    """Return the contribution of the random intercepts to η (patterns,)."""
    return np.asarray((at.sd * outer[nested.owner] + at.inner_sd * inner)[nested.patterns.cluster])


def _solved(
    nested: Nested, at: Parameters, curve: Floats, by_outer: Floats, by_inner: Floats
) -> tuple[Floats, Floats]:
    """Return H⁻¹ times a vector, H being the negative Hessian of the log posterior."""
    s, t, m = at.sd, at.inner_sd, 1 + at.inner_sd**2 * curve
    schur = 1 + s**2 * nested.over(curve / m)
    outer = (by_outer - s * t * nested.over(curve * by_inner / m)) / schur
    return outer, (by_inner - s * t * curve * outer[nested.owner]) / m


def _mode(
    nested: Nested, upper: Floats, lower: Floats, at: Parameters, link: Link, guess: Floats | None
) -> _Mode:
    """Return the mode of each participant's posterior, by Newton's method with halved steps."""
    patterns, n = nested.patterns, int(nested.owner[-1]) + 1
    outer, inner = np.split(np.zeros(n + len(nested.owner)) if guess is None else guess, [n])

    def height(outer: Floats, inner: Floats) -> Floats:
        log_p = log_probability(upper, lower, _effect(nested, at, outer, inner), link)
        return nested.over(patterns.sums(log_p) - np.square(inner) / 2) - np.square(outer) / 2

    for _ in range(_LAPLACE_STEPS):
        slopes_here = derivatives(upper, lower, _effect(nested, at, outer, inner), link)
        rise = -patterns.sums(slopes_here.upper + slopes_here.lower)
        curve = patterns.sums(slopes_here.upper_slope + slopes_here.lower_slope)
        slopes = at.sd * nested.over(rise) - outer, at.inner_sd * rise - inner
        step, inner_step = _solved(nested, at, curve, *slopes)
        if max(np.abs(step).max(), np.abs(inner_step).max()) <= _AT_THE_MODE:
            break
        before, length = height(outer, inner), np.ones(n)
        for _ in range(50):
            # Not "lower": at the mode itself the heights differ by rounding alone.
            now = height(outer + length * step, inner + length[nested.owner] * inner_step)
            fallen = now < before - 1e-9 * (1 + np.abs(before))
            if not fallen.any():
                break
            length = np.where(fallen, length / 2, length)
        outer, inner = outer + length * step, inner + length[nested.owner] * inner_step
    return _Mode(outer, inner, slopes_here, rise, curve)
