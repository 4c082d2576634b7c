"""The likelihood with two random intercepts, conversations within participants, by Laplace's approximation.

With u the participant's and v the conversation's effect in standard deviations, η holds s·u + t·v. Of a
participant, the log posterior is highest at one mode (it is concave), where its negative Hessian is an arrow:
a row for u, a diagonal for the conversations. So everything is solved by the Schur complement, in time
proportional to the number of rows. With w the sum of −l'' over a conversation's rows, and m = 1 + t² w,

    log det = Σ log m + log(1 + s² S),   S = Σ w / m.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sense7_qual.links.models._link_functions import Derivatives, Floats, Link, derivatives, log_probability
from sense7_qual.links.models._quadrature import Integral, Parameters, Patterns, bounds, gathered

__all__ = ["Nested", "integrate_nested"]

_NEWTON_STEPS = 200
_AT_THE_MODE = 1e-11


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
        float((effects * (mode.rise - moved / 2 - shift * mode.curve) + adjoint * mode.rise).sum())
        for effects, adjoint in ((mode.outer[owner], a_outer[owner]), (mode.inner, a_inner))
    )
    explicit = mode.curve / m
    by_sd -= float((s * nested.over(explicit) / schur).sum())
    by_inner_sd -= float((t * explicit - (s**2 / schur)[owner] * t * explicit**2).sum())
    gradient = np.append(gathered(patterns, by_upper, by_lower, by_sd), by_inner_sd)
    return Integral(log_likelihood, gradient, np.concatenate([mode.outer, mode.inner]))


def _effect(nested: Nested, at: Parameters, outer: Floats, inner: Floats) -> Floats:
    """Return what the random intercepts add to η (patterns,)."""
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

    for _ in range(_NEWTON_STEPS):
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
