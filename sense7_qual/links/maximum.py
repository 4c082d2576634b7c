"""The maximum of a cumulative-link likelihood, with or without random intercepts."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from sense7_qual.links.cumulative import Floats, Link
from sense7_qual.links.nested import Nested, integrate_nested
from sense7_qual.links.quadrature import Integral, Parameters, Patterns, integrate

__all__ = ["Maximum", "fixed_maximum", "mixed_maximum", "nested_maximum"]

# The gradient is differentiated by one-sided steps: it is exact to about 1e-12, predictors are in standard
# deviations, so this step leaves the Hessian six digits.
_STEP: Final = 1e-7
_NEAR: Final = 1e-5
"""Where the search stops and Newton's last steps take over: the largest element of the gradient."""
_ROUNDS: Final = 3
_SAME: Final = 1e-6
"""Where Newton's steps moved the parameters by more, the Hessian is taken anew where they ended."""
_SOLVED: Final = 1e-7
"""The largest element of the gradient at a maximum, per root of the number of rows."""


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
    """

    at: Parameters
    log_likelihood: float
    hessian: Floats
    gradient_norm: float
    converged: bool


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
    found = _Search(patterns, link, 1, n_sds=1).from_(start)
    if quadrature == 1 or not found.converged:
        return found
    return _Search(patterns, link, quadrature, n_sds=1).from_(found.at)


def nested_maximum(nested: Nested, link: Link, start: Parameters) -> Maximum:
    """Fit the model with random intercepts of participants and of their conversations, by Laplace."""
    return _NestedSearch(nested, link).from_(start)


class _Search:
    """A search of one likelihood; it remembers the last modes, from which the next are found soon."""

    def __init__(self, patterns: Patterns, link: Link, quadrature: int, *, n_sds: int) -> None:
        self.patterns, self.link, self.quadrature, self.n_sds = patterns, link, quadrature, n_sds
        self.n_thresholds = patterns.n_levels - 1
        self.modes: Floats | None = None

    def from_(self, start: Parameters) -> Maximum:
        """Climb by BFGS, its metric being Laplace's Hessian at the start, and end by Newton's method."""
        from scipy import optimize

        sds = [start.sd, start.inner_sd][: self.n_sds]
        natural = np.concatenate([start.thresholds, start.coefficients, sds])
        inner = _inner(natural, self.n_thresholds)
        metric = _differentiated(lambda at: self._negative(at, 1)[1], inner)
        found = optimize.minimize(
            self._negative,
            inner,
            args=(self.quadrature,),
            jac=True,
            method="BFGS",
            options={"hess_inv0": _inverted(metric), "gtol": _NEAR, "maxiter": 500},
        )
        natural, _ = _natural(found.x, self.n_thresholds)
        tail = slice(len(natural) - self.n_sds, None)
        natural[tail] = np.abs(natural[tail])  # the likelihood is the same on both sides of 0
        return self._ended(natural)

    def _ended(self, natural: Floats) -> Maximum:
        for _ in range(_ROUNDS):
            hessian, before = _differentiated(self._gradient, natural), natural
            natural, slope = self._polished(natural, hessian)
            if np.abs(natural - before).max() <= _SAME:
                break
        last = self._integral(natural, self.quadrature)
        norm = float(np.abs(slope).max())
        solved = norm <= _SOLVED * np.sqrt(self.patterns.count.sum())
        proper = bool(np.linalg.eigvalsh(hessian).max() < 0)
        return Maximum(self._parameters(natural), last.log_likelihood, hessian, norm, solved and proper)

    def _polished(self, natural: Floats, hessian: Floats) -> tuple[Floats, Floats]:
        """Take the last steps by Newton's method, as long as they flatten the gradient."""
        slope, inverse = self._gradient(natural), _inverted(-hessian)
        for _ in range(10):
            tried = natural + inverse @ slope
            if (np.diff(tried[: self.n_thresholds]) <= 0).any():
                break
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

    def _integral(self, natural: Floats, quadrature: int) -> Integral:
        found = integrate(
            self.patterns,
            self._parameters(natural),
            quadrature=quadrature,
            link=self.link,
            modes=self.modes,
        )
        self.modes = found.modes
        return found

    def _gradient(self, natural: Floats) -> Floats:
        return self._integral(natural, self.quadrature).gradient[: len(natural)]

    def _negative(self, inner: Floats, quadrature: int) -> tuple[float, Floats]:
        natural, slope = _natural(inner, self.n_thresholds)
        found = self._integral(natural, quadrature)
        return -found.log_likelihood, -slope.T @ found.gradient[: len(natural)]


class _NestedSearch(_Search):
    """A search of the likelihood with two random intercepts."""

    def __init__(self, nested: Nested, link: Link) -> None:
        super().__init__(nested.patterns, link, 1, n_sds=2)
        self.nested = nested

    def _integral(self, natural: Floats, quadrature: int) -> Integral:
        at = self._parameters(natural)
        found = integrate_nested(self.nested, at, link=self.link, modes=self.modes)
        self.modes = found.modes
        return found


def _natural(inner: Floats, n_thresholds: int) -> tuple[Floats, Floats]:
    """Return the parameters and their derivatives by the inner ones: logs of the thresholds' gaps."""
    gaps = np.exp(np.clip(inner[1:n_thresholds], -30, 30))
    natural = inner.copy()
    natural[1:n_thresholds] = inner[0] + np.cumsum(gaps)
    slope = np.eye(len(inner))
    slope[:n_thresholds, 0] = 1
    slope[1:n_thresholds, 1:n_thresholds] = np.tril(np.broadcast_to(gaps, (n_thresholds - 1,) * 2))
    return natural, slope


def _inner(natural: Floats, n_thresholds: int) -> Floats:
    inner = natural.copy()
    inner[1:n_thresholds] = np.log(np.diff(natural[:n_thresholds]))
    return inner


def _differentiated(gradient: Callable[[Floats], Floats], at: Floats) -> Floats:
    """Return the Hessian, differentiating the gradient numerically."""
    here = gradient(at)
    hessian = np.array([(gradient(at + step) - here) / _STEP for step in _STEP * np.eye(len(at))])
    return np.asarray((hessian + hessian.T) / 2)


def _inverted(curvature: Floats) -> Floats:
    """Return the inverse of a symmetric matrix made positive definite."""
    values, vectors = np.linalg.eigh(curvature)
    values = np.maximum(np.abs(values), 1e-8 * np.abs(values).max())
    half = vectors / np.sqrt(values)
    return np.asarray(half @ half.T)
