"""The polychoric correlation of two ordinal variables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._reasons import Reason
from sense7_qual.errors import ArgumentError, TableError
from sense7_qual.links._inputs import Range
from sense7_qual.links.models._likelihood import BEYOND, Floats
from sense7_qual.links.models._model import levels_of

_NODES: Final = np.polynomial.legendre.leggauss(96)
_PERFECT: Final = 0.999
_STEP: Final = 1e-6


@dataclass(frozen=True, slots=True)
class Polychoric:
    """The correlation of the two normal variables assumed to underlie two ordinal ones.

    Attributes
    ----------
    estimate : float
        −1 to 1; NaN where `reason` says why.
    low, high : float
        Its interval, from the normal distribution of Fisher's z.
    standard_error : float
        For independent rows.
    log_likelihood : float
        At the maximum over the correlation and all thresholds.
    n, n_missing : int
        Rows with both variables, and rows without.
    reason : str or None
        `no_complete_rows`, `constant_rating` (a variable has one level), `separation` (the estimate is 1 or
        −1: each variable determines the other), `not_converged`.
    """

    estimate: float
    low: float
    high: float
    standard_error: float
    log_likelihood: float
    n: int
    n_missing: int
    reason: str | None


def polychoric(
    first: pd.Series,
    second: pd.Series,
    *,
    rating_range: Range | None = None,
    confidence_level: float = 0.95,
) -> Polychoric:
    """Return the polychoric correlation of two ordinal variables, by maximum likelihood.

    With two levels each it is the tetrachoric correlation. Correlation and thresholds are estimated together.

    Parameters
    ----------
    first, second : Series
        Numbers, truth values or ordered Categoricals, row by row; a row with one missing is left out.
    rating_range : pair of numbers, optional
        The lowest and the highest rating of both, as for `cumulative_mixed`.
    confidence_level : float
        Level of the interval, between 0 and 1.

    Returns
    -------
    Polychoric
        Estimate, interval, standard error, n, all for independent rows. If a participant has several rows,
        the estimate is still valid, but the interval is too narrow.

    Raises
    ------
    TableError
        A variable is not ordinal, or the two differ in length or in index.
    ArgumentError
        `confidence_level` is not between 0 and 1.

    References
    ----------
    Olsson (1979), Maximum likelihood estimation of the polychoric correlation coefficient, Psychometrika 44,
    443–460. The bivariate normal distribution is Plackett's integral by Gauss–Legendre nodes (Drezner &
    Wesolowsky 1990, Journal of Statistical Computation and Simulation 35, 101–107).

    Examples
    --------
    Where both variables are cut at their medians, the correlation is sin(2π(p − ¼)), p being the share of
    rows below both (Sheppard 1899); here p = .4:

    >>> first = pd.Series([0] * 50 + [1] * 50)
    >>> second = pd.Series([0] * 40 + [1] * 10 + [0] * 10 + [1] * 40)
    >>> round(polychoric(first, second).estimate, 6), round(float(np.sin(0.3 * np.pi)), 6)
    (0.809017, 0.809017)
    """
    check_arguments(polychoric, locals())
    if not 0 < confidence_level < 1:
        raise ArgumentError(
            f"polychoric: expected confidence_level between 0 and 1 – found {confidence_level!r} – 0.95 is "
            "usual."
        )
    counts, n_missing = _counted(first, second, rating_range)
    if not counts.size or min(counts.shape) < 2:
        reason = Reason.CONSTANT_RATING if counts.size else Reason.NO_COMPLETE_ROWS
        return _without(counts, n_missing, reason)
    parameters, hessian, solved = _maximised(counts)
    error = float(np.sqrt(np.linalg.inv(-hessian)[-1, -1])) if solved else np.inf
    if abs(parameters[-1]) > _PERFECT or (solved and error > 1):  # so flat only on the way to 1 or −1
        return _without(counts, n_missing, Reason.SEPARATION)
    if not solved:
        return _without(counts, n_missing, Reason.NOT_CONVERGED)
    low, high = _interval(float(parameters[-1]), error, confidence_level)
    return Polychoric(
        estimate=float(parameters[-1]),
        low=low,
        high=high,
        standard_error=error,
        log_likelihood=_likelihood(parameters, counts)[0],
        n=int(counts.sum()),
        n_missing=n_missing,
        reason=None,
    )


def _without(counts: Floats, n_missing: int, reason: str) -> Polychoric:
    return Polychoric(np.nan, np.nan, np.nan, np.nan, np.nan, int(counts.sum()), n_missing, reason)


def _counted(first: pd.Series, second: pd.Series, rating_range: Range | None) -> tuple[Floats, int]:
    """Count each pair of levels (levels of the first, of the second)."""
    if len(first) != len(second) or not pd.Series(first).index.equals(pd.Series(second).index):
        raise TableError(
            f"polychoric: expected two variables of the same rows – found {len(first)} and {len(second)} "
            "rows, or different indexes – take both from one frame."
        )
    values = np.column_stack(
        [levels_of("polychoric", pd.Series(column), rating_range)[0] for column in (first, second)]
    )
    complete = ~np.isnan(values).any(axis=1)
    pairs = values[complete]
    levels = [np.unique(column, return_inverse=True)[1] for column in pairs.T]
    counts = np.zeros([int(level.max(initial=-1)) + 1 for level in levels])
    np.add.at(counts, tuple(levels), 1.0)
    return counts, int((~complete).sum())


def _maximised(counts: Floats) -> tuple[Floats, Floats, bool]:
    """Return thresholds and correlation at the maximum, the Hessian, and whether it was reached."""
    from scipy import optimize, special

    margins = [counts.sum(axis=1), counts.sum(axis=0)]
    starts = [special.ndtri(np.cumsum(margin)[:-1] / counts.sum()) for margin in margins]
    at = np.concatenate([*starts, [0.0]])
    best = optimize.minimize_scalar(
        lambda rho: -_likelihood(np.append(at[:-1], rho), counts)[0], bounds=(-1, 1), method="bounded"
    )
    at[-1] = best.x
    for _ in range(50):
        height, slope = _likelihood(at, counts)
        hessian = _differentiated(at, slope, counts)
        if np.abs(slope).max() < 1e-8 * counts.sum() or abs(at[-1]) > _PERFECT:
            break
        values, vectors = np.linalg.eigh(hessian)
        step = vectors @ ((vectors.T @ slope) / np.maximum(np.abs(values), 1e-9))
        while _likelihood(at + step, counts)[0] < height and np.abs(step).max() > 1e-12:
            step /= 2
        at = at + step
    solved = np.abs(slope).max() < 1e-6 * counts.sum() and np.linalg.eigvalsh(hessian).max() < 0
    return at, hessian, bool(solved)


def _differentiated(at: Floats, slope: Floats, counts: Floats) -> Floats:
    steps = _STEP * np.eye(len(at))
    hessian = np.array([(_likelihood(at + step, counts)[1] - slope) / _STEP for step in steps])
    return np.asarray((hessian + hessian.T) / 2)


def _likelihood(at: Floats, counts: Floats) -> tuple[float, Floats]:
    """Return the log-likelihood and its gradient; minus infinity where thresholds or correlation are none."""
    n_first = counts.shape[0] - 1
    first, second, rho = at[:n_first], at[n_first:-1], float(at[-1])
    if abs(rho) >= 1 or (np.diff(first) <= 0).any() or (np.diff(second) <= 0).any():
        return -np.inf, np.full(len(at), np.nan)
    h = np.concatenate([[-BEYOND], first, [BEYOND]])[:, None]
    k = np.concatenate([[-BEYOND], second, [BEYOND]])[None, :]
    below, by_rho = _below(h, k, rho)
    p = np.maximum(_cells(below), np.finfo(np.float64).tiny)
    share = np.where(counts > 0, counts / p, 0.0)
    # Each corner of the grid belongs to four cells, with alternating signs.
    corner = np.pad(share, 1)
    corner = corner[:-1, :-1] - corner[1:, :-1] - corner[:-1, 1:] + corner[1:, 1:]
    by_h = (corner * _slope(h, k, rho)).sum(axis=1)[1:-1]
    by_k = (corner * _slope(k, h, rho)).sum(axis=0)[1:-1]
    gradient = np.concatenate([by_h, by_k, [(corner * by_rho).sum()]])
    return float((counts * np.log(p)).sum()), gradient


def _below(h: Floats, k: Floats, rho: float) -> tuple[Floats, Floats]:
    """Return P(X ≤ h, Y ≤ k) of two standard normal variables, and its derivative by their correlation."""
    from scipy import special

    angle = np.arcsin(rho) * (_NODES[0] + 1) / 2
    over = (_NODES[1] * np.exp(-_exponent(h[..., None], k[..., None], np.sin(angle)))).sum(axis=-1)
    below = special.ndtr(h) * special.ndtr(k) + np.arcsin(rho) / (4 * np.pi) * over
    return below, np.exp(-_exponent(h, k, rho)) / (2 * np.pi * np.sqrt(1 - rho**2))


def _exponent(h: Floats, k: Floats, rho: npt.ArrayLike) -> Floats:
    r = np.asarray(rho)
    return np.asarray((np.square(h - r * k) / (1 - np.square(r)) + np.square(k)) / 2)


def _slope(h: Floats, k: Floats, rho: float) -> Floats:
    """Return the derivative of P(X ≤ h, Y ≤ k) by h."""
    from scipy import special

    density = np.exp(-np.square(h) / 2) / np.sqrt(2 * np.pi)
    return np.asarray(density * special.ndtr((k - rho * h) / np.sqrt(1 - rho**2)))


def _cells(below: Floats) -> Floats:
    return np.asarray(np.diff(np.diff(below, axis=0), axis=1))


def _interval(estimate: float, error: float, confidence_level: float) -> tuple[float, float]:
    """Return the interval by Fisher's z, so that it stays within −1 and 1."""
    from scipy import special

    wide = special.ndtri((1 + confidence_level) / 2) * error / (1 - estimate**2)
    low, high = np.tanh(np.arctanh(estimate) + np.array([-wide, wide]))
    return float(low), float(high)
