"""The maximum of a cumulative-link likelihood, with or without random intercepts."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from sense7_qual._reasons import Reason
from sense7_qual.links.models._likelihood import (
    Floats,
    Integers,
    Integral,
    Link,
    Nested,
    Parameters,
    Patterns,
    integrate,
    integrate_nested,
)
from sense7_qual.links.models._model import Observed

# The gradient is differentiated by one-sided steps: it is exact to about 1e-12, predictors are in standard
# deviations, so this step leaves the Hessian six digits.
_STEP: Final = 1e-7
_NEAR: Final = 1e-5
"""Where the search stops and Newton's last steps take over: the largest element of the gradient."""
_MOST_STEPS: Final = 500
_LONGEST: Final = 2.0
"""The most that a parameter moves in one step, on the scale of the link (predictors in their own sd)."""
_MOST_HALVINGS: Final = 40
_ENOUGH: Final = 1e-4
"""The share of the rise that the gradient promises, which a step must bring (Armijo's rule)."""
_ROUNDS: Final = 3
_SAME: Final = 1e-6
"""Where Newton's steps moved the parameters by more, the Hessian is computed again where they ended."""
_SOLVED: Final = 1e-7
"""The largest element of the gradient at a maximum, per root of the number of rows."""
_FLAT: Final = 30.0
"""A standard error (predictors in standard deviations) that only an estimate on its way to infinity has."""
_LARGEST_SD: Final[dict[Link, float]] = {"logit": 12.0, "probit": 7.0}
"""Beyond (98 % of the latent variance between clusters) clusters separate the ratings almost perfectly."""


@dataclass(frozen=True, slots=True)
class Maximum:
    """Where the likelihood is highest.

    Attributes
    ----------
    at : Parameters
    log_likelihood : float
    hessian : array (parameters, parameters)
        Of the log-likelihood by thresholds, coefficients and, in a mixed model, the sd or both of them.
    gradient_norm : float
        The largest absolute element of the gradient.
    converged : bool
        The gradient vanishes and the Hessian is negative definite.
    scores : array (groups, parameters)
        What each cluster, or in a model of both each participant, adds to the gradient, which is 0 in all.
    """

    at: Parameters
    log_likelihood: float
    hessian: Floats
    gradient_norm: float
    converged: bool
    scores: Floats = dataclasses.field(repr=False)


def fixed_maximum(patterns: Patterns, link: Link) -> Maximum:
    """Fit the model without random intercepts, from the thresholds that fit without predictors."""
    from scipy import special

    counts = np.bincount(patterns.level, patterns.count, minlength=patterns.n_levels)
    below = np.cumsum(counts)[:-1] / counts.sum()
    thresholds = special.logit(below) if link == "logit" else special.ndtri(below)
    start = Parameters(thresholds, np.zeros(patterns.predictors.shape[1]), 0.0)
    return _Search(patterns, link, 1, n_sds=0).from_(start)


def mixed_maximum(patterns: Patterns, link: Link, quadrature: int, fixed: Maximum) -> Maximum:
    """Fit the model with random intercepts: by Laplace's approximation, and on from there by quadrature."""
    start = dataclasses.replace(fixed.at, sd=1.0 if link == "logit" else 0.6)
    maximum = _Search(patterns, link, 1, n_sds=1).from_(start)
    if quadrature == 1:
        return maximum
    return _Search(patterns, link, quadrature, n_sds=1).from_(maximum.at, maximum.hessian)


def nested_maximum(nested: Nested, link: Link, start: Parameters) -> Maximum:
    """Fit the model with random intercepts of participants and of their conversations, by Laplace."""
    return _NestedSearch(nested, link).from_(start)


class _Search:
    """A search of one likelihood; it remembers the last modes, from which the next are found soon."""

    def __init__(self, patterns: Patterns, link: Link, quadrature: int, *, n_sds: int) -> None:
        self.patterns, self.link, self.quadrature, self.n_sds = patterns, link, quadrature, n_sds
        self.n_thresholds = patterns.n_levels - 1
        self.modes: Floats | None = None

    def from_(self, start: Parameters, hessian: Floats | None = None) -> Maximum:
        """Climb by BFGS, its metric being a Hessian near the start, and end by Newton's method."""
        sds = [start.sd, start.inner_sd][: self.n_sds]
        natural = np.concatenate([start.thresholds, start.coefficients, sds])
        if hessian is None:
            hessian = _differentiated(self._gradient, natural)
        natural = self._climbed(natural, hessian)
        tail = slice(len(natural) - self.n_sds, None)
        natural[tail] = np.abs(natural[tail])  # the likelihood is the same on both sides of 0
        return self._ended(natural)

    def _climbed(self, natural: Floats, hessian: Floats) -> Floats:
        """Return a point where the gradient almost vanishes, or the highest that short steps reach."""
        height, slope = self._height(natural)
        inverse, fresh = _inverted(-hessian), True
        for _ in range(_MOST_STEPS):
            if np.abs(slope).max() <= _NEAR:
                break
            higher = self._higher(natural, height, slope, inverse)
            if higher is not None:
                inverse, fresh = _updated(inverse, higher[0] - natural, slope - higher[2]), False
                natural, height, slope = higher
            elif fresh:
                break
            else:  # what BFGS has learnt of the curvature leads nowhere: see how it is here
                inverse, fresh = _inverted(-_differentiated(self._gradient, natural)), True
        return natural

    def _higher(
        self, natural: Floats, height: float, slope: Floats, inverse: Floats
    ) -> tuple[Floats, float, Floats] | None:
        """Return a point that the step leads to, halved until it leads up; None where it never does.

        No parameter moves by more than `_LONGEST` at once: where the curvature says little (a level that is
        rare, a likelihood that is not concave) a step by it alone would lead out of all numbers.
        """
        step = inverse @ slope
        step *= min(1.0, _LONGEST / np.abs(step).max())
        for _ in range(_MOST_HALVINGS):
            reached, after = self._height(natural + step)
            if reached >= height + _ENOUGH * step @ slope:
                return natural + step, reached, after
            step = step / 2
        return None

    def _ended(self, natural: Floats) -> Maximum:
        for _ in range(_ROUNDS):
            hessian, before = _differentiated(self._gradient, natural), natural
            natural, slope = self._polished(natural, hessian)
            if np.abs(natural - before).max() <= _SAME:
                break
        norm = float(np.abs(slope).max())
        solved = norm <= _SOLVED * np.sqrt(self.patterns.count.sum())
        proper = bool(np.isfinite(hessian).all() and np.linalg.eigvalsh(hessian).max() < 0)
        height, _ = self._height(natural)
        at = self._parameters(natural)
        with np.errstate(all="ignore"):  # where it has no maximum, nothing is read from them
            scores = self._integral(at).scores(self.patterns, self._owner())[:, : len(natural)]
        return Maximum(at, height, hessian, norm, solved and proper, scores)

    def _owner(self) -> Integers:
        """Return the cluster of each pattern."""
        return self.patterns.cluster

    def _polished(self, natural: Floats, hessian: Floats) -> tuple[Floats, Floats]:
        """Take the last steps by Newton's method, as long as they flatten the gradient."""
        slope, inverse = self._gradient(natural), _inverted(-hessian)
        for _ in range(10):
            tried = natural + inverse @ slope
            after = self._gradient(tried)
            if not np.abs(after).max() < np.abs(slope).max():
                break
            natural, slope = tried, after
        return natural, slope

    def _parameters(self, natural: Floats) -> Parameters:
        coefficients, sds = np.split(
            natural[self.n_thresholds :], [len(natural) - self.n_thresholds - self.n_sds]
        )
        return Parameters(natural[: self.n_thresholds], coefficients, *(sds.tolist() or [0.0]))

    def _integral(self, at: Parameters) -> Integral:
        return integrate(self.patterns, at, quadrature=self.quadrature, link=self.link, modes=self.modes)

    def _height(self, natural: Floats) -> tuple[float, Floats]:
        """Return the log-likelihood and its gradient; minus infinity and NaN where they are no numbers."""
        if (np.diff(natural[: self.n_thresholds]) > 0).all():
            with np.errstate(all="ignore"):  # what comes of it is looked at
                integral = self._integral(self._parameters(natural))
            if np.isfinite(integral.log_likelihood) and np.isfinite(integral.gradient).all():
                self.modes = integral.modes
                return integral.log_likelihood, integral.gradient[: len(natural)]
        return -np.inf, np.full(len(natural), np.nan)

    def _gradient(self, natural: Floats) -> Floats:
        return self._height(natural)[1]


class _NestedSearch(_Search):
    """A search of the likelihood with two random intercepts."""

    def __init__(self, nested: Nested, link: Link) -> None:
        super().__init__(nested.patterns, link, 1, n_sds=2)
        self.nested = nested

    def _integral(self, at: Parameters) -> Integral:
        return integrate_nested(self.nested, at, link=self.link, modes=self.modes)

    def _owner(self) -> Integers:
        return self.nested.owner[self.patterns.cluster]


def _differentiated(gradient: Callable[[Floats], Floats], at: Floats) -> Floats:
    """Return the Hessian, differentiating the gradient numerically."""
    here = gradient(at)
    hessian = np.array([(gradient(at + step) - here) / _STEP for step in _STEP * np.eye(len(at))])
    return np.asarray((hessian + hessian.T) / 2)


def _inverted(curvature: Floats) -> Floats:
    """Return the inverse of a symmetric matrix made positive definite; the identity where it is none."""
    if not np.isfinite(curvature).all():
        return np.eye(len(curvature))
    values, vectors = np.linalg.eigh(curvature)
    values = np.maximum(np.abs(values), 1e-8 * np.abs(values).max())
    half = vectors / np.sqrt(values)
    return np.asarray(half @ half.T)


def _updated(inverse: Floats, moved: Floats, fallen: Floats) -> Floats:
    """Return BFGS's inverse of the curvature after a step on which the gradient has fallen so."""
    product = float(moved @ fallen)
    if product <= 1e-10 * np.linalg.norm(moved) * np.linalg.norm(fallen):
        return inverse  # not concave on the way: nothing to be learnt
    aside = np.eye(len(moved)) - np.outer(moved, fallen) / product
    return np.asarray(aside @ inverse @ aside.T + np.outer(moved, moved) / product)


def reason_before(rows: Observed) -> Reason | None:
    """Return the reason if nothing can be estimated, as far as the data show it beforehand."""
    if not rows.n:
        return Reason.NO_COMPLETE_ROWS
    if len(rows.labels) == 1:
        return Reason.CONSTANT_RATING
    if len(rows.sizes) == 1:
        return Reason.ONE_CLUSTER
    return Reason.COLLINEAR_PREDICTORS if rows.dependent else None


def reason_within(rows: Observed) -> Reason | None:
    """Return the reason if the random intercepts have no finite variance, or cannot be separated."""
    inner = rows.cluster if rows.nested is None else rows.nested
    n_clusters, n_inner = len(rows.sizes), len(np.unique(inner))
    if rows.nested is not None and not n_clusters < n_inner < rows.n:
        return Reason.LEVELS_NOT_SEPARABLE
    # Each has one level alone, and some has more than one row.
    pairs = pd.DataFrame({"inner": inner, "level": rows.level}).drop_duplicates()
    return Reason.NO_VARIATION_WITHIN_CLUSTERS if len(pairs) == n_inner < rows.n else None


def runs_away(maximum: Maximum, link: Link) -> bool:
    """Return True if the likelihood is almost flat, or a random intercept's sd almost infinite."""
    known = np.isfinite(maximum.hessian).all()
    flat = known and np.linalg.eigvalsh(-maximum.hessian).min() < 1 / _FLAT**2
    return bool(flat or max(maximum.at.sd, maximum.at.inner_sd) > _LARGEST_SD[link])


def separated(rows: Observed) -> bool:
    """Return True if some direction of the parameters raises the likelihood without end.

    That is so where thresholds and coefficients can move so that no row's level becomes less probable and
    some row's becomes more so: perfect, or quasi-perfect, prediction (a linear programme decides).
    """
    from scipy import optimize

    distinct = np.unique(np.column_stack([rows.level, rows.predictors]), axis=0)
    level, x = distinct[:, 0].astype(np.int64), distinct[:, 1:]
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    steps = np.eye(len(rows.labels) - 1)
    upper, lower = level < len(steps), level > 0
    gains = np.vstack(
        [
            np.hstack([steps[level[upper]], -x[upper]]),  # each upper threshold rises above the row …
            np.hstack([-steps[level[lower] - 1], x[lower]]),  # … and each lower one falls below it
        ]
    )
    best = optimize.linprog(-gains.sum(axis=0), A_ub=-gains, b_ub=np.zeros(len(gains)), bounds=(-1, 1))
    return bool(best.status == 0 and gains.sum(axis=0) @ best.x > 1e-6)
