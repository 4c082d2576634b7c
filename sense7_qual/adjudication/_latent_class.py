"""The latent-class model of one code: units truly have it or not, and coders err in both directions.

Units on which the same coders decided alike, in one stratum, form a pattern; all sums run over patterns, so
that a fit takes as long for a hundred thousand units as for a hundred.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

# Half a decision of each kind: keeps a coder who never erred in the sample from being taken for infallible,
# and moves nothing where there are dozens of decisions.
_PSEUDO: Final = 0.5
_MOST_STEPS: Final = 20_000


@dataclass(frozen=True, slots=True)
class Patterns:
    """Ways of deciding on a unit: who applied the code, and who did not (patterns, coders), as 0 or 1."""

    applied: Floats
    absent: Floats
    stratum: npt.NDArray[np.int64]
    n_strata: int


@dataclass(frozen=True, slots=True)
class Parameters:
    """The share of units that truly have the code (strata,), and each coder's two rates (coders,)."""

    prevalence: Floats
    sensitivity: Floats
    specificity: Floats

    def swapped(self) -> Parameters:
        """Return the same model with the names of the two classes exchanged."""
        return Parameters(1 - self.prevalence, 1 - self.specificity, 1 - self.sensitivity)


@dataclass(frozen=True, slots=True)
class Fit:
    """Parameters at the mode of the posterior, what it took to get there, and their log posterior."""

    parameters: Parameters
    n_iterations: int
    converged: bool
    log_posterior: float


def fit_latent_class(patterns: Patterns, weights: Floats) -> Fit:
    """Fit the model of one code: the best of three, started from any, most and all of a unit's coders."""
    applied, absent = patterns.applied, patterns.absent
    n_applied, n_decided = applied.sum(axis=1), (applied + absent).sum(axis=1)
    starts = [n_applied > 0, 2 * n_applied > n_decided, n_applied == n_decided]
    fits = []
    for start in starts:
        believed = np.where(start, 0.95, 0.05)
        fits.append(refit(patterns, weights, _maximised(patterns, weights, believed)))
    return max(fits, key=lambda one: round(one.log_posterior, 6))


def refit(patterns: Patterns, weights: Floats, start: Parameters, *, tolerance: float = 1e-9) -> Fit:
    """Return the fit reached from `start`; where the coders come out worse than chance, from its mirror."""
    fitted = _climbed(patterns, weights, start, tolerance)
    n = weights @ (patterns.applied + patterns.absent)
    better = fitted.parameters.sensitivity + fitted.parameters.specificity - 1
    if n @ better >= 0:
        return fitted
    mirrored = _climbed(patterns, weights, fitted.parameters.swapped(), tolerance)
    return replace(mirrored, n_iterations=fitted.n_iterations + mirrored.n_iterations)


def probabilities(patterns: Patterns, parameters: Parameters) -> Floats:
    """Return the probability that units of each pattern truly have the code (patterns,)."""
    true, false = _log_joint(patterns, parameters)
    return np.asarray(np.exp(true - np.logaddexp(true, false)))


def log_likelihood(patterns: Patterns, weights: Floats, parameters: Parameters) -> float:
    """Return the log-likelihood of the decisions."""
    return float(weights @ np.logaddexp(*_log_joint(patterns, parameters)))


def _climbed(patterns: Patterns, weights: Floats, start: Parameters, tolerance: float) -> Fit:
    """Alternate between believing and counting until the parameters stand still."""
    now = start
    step, moved = 0, np.inf
    while moved >= tolerance and step < _MOST_STEPS:
        step += 1
        following = _maximised(patterns, weights, probabilities(patterns, now))
        moved = max(
            float(np.abs(a - b).max())
            for a, b in (
                (following.prevalence, now.prevalence),
                (following.sensitivity, now.sensitivity),
                (following.specificity, now.specificity),
            )
        )
        now = following
    height = log_likelihood(patterns, weights, now) + _log_prior(now)
    return Fit(now, n_iterations=step, converged=moved < tolerance, log_posterior=height)


def _maximised(patterns: Patterns, weights: Floats, believed: Floats) -> Parameters:
    applied, absent = patterns.applied, patterns.absent
    true, false = weights * believed, weights * (1 - believed)
    in_stratum = np.bincount(patterns.stratum, true, patterns.n_strata)
    all_in_stratum = np.bincount(patterns.stratum, weights, patterns.n_strata)
    return Parameters(
        prevalence=(in_stratum + _PSEUDO) / (all_in_stratum + 2 * _PSEUDO),
        sensitivity=(true @ applied + _PSEUDO) / (true @ (applied + absent) + 2 * _PSEUDO),
        specificity=(false @ absent + _PSEUDO) / (false @ (applied + absent) + 2 * _PSEUDO),
    )


def _log_joint(patterns: Patterns, parameters: Parameters) -> tuple[Floats, Floats]:
    """Return the log probabilities of each pattern together with having, and with lacking, the code."""
    applied, absent = patterns.applied, patterns.absent
    prevalence = parameters.prevalence[patterns.stratum]
    true = np.log(prevalence) + applied @ np.log(parameters.sensitivity)
    true = true + absent @ np.log1p(-parameters.sensitivity)
    false = np.log1p(-prevalence) + applied @ np.log1p(-parameters.specificity)
    return true, false + absent @ np.log(parameters.specificity)


def _log_prior(parameters: Parameters) -> float:
    every = np.concatenate([parameters.prevalence, parameters.sensitivity, parameters.specificity])
    return float(_PSEUDO * (np.log(every) + np.log1p(-every)).sum())
