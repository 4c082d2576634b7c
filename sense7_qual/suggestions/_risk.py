"""Tests that a share of errors is below a limit, where texts of one participant are alike."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

__all__ = ["binomial_p", "fallback", "likeness"]

Floats = npt.NDArray[np.float64]


def likeness(residual: Floats, groups: npt.NDArray[np.intp]) -> float:
    """Return how alike the errors of one participant are (intraclass correlation), and a standard error more.

    Residuals are what was decided less the probability. The analysis of variance estimates the correlation;
    one standard error (Fisher's, for balanced groups) is added, because a small sample may miss it.
    """
    size = np.bincount(groups).astype(np.float64)
    size = size[size > 0]
    n, k = len(residual), len(size)
    if k < 2 or n <= k:
        return 1.0
    mean = np.bincount(groups, residual) / np.maximum(np.bincount(groups), 1)
    within = float(np.sum((residual - mean[groups]) ** 2)) / (n - k)
    present = np.bincount(groups) > 0
    between = float(np.sum(size * (mean[present] - residual.mean()) ** 2)) / (k - 1)
    usual = (n - float(np.sum(size**2)) / n) / (k - 1)
    total = between + (usual - 1) * within
    rho = (between - within) / total if total > 0 else 0.0
    rho = min(max(rho, 0.0), 1.0)
    error = (1 - rho) * (1 + (usual - 1) * rho) * np.sqrt(2 / (usual * (usual - 1) * (k - 1)))
    return float(min(rho + error, 1.0))


def binomial_p(errors: Floats, counted: Floats, limit: float, alike: float) -> float:
    """Return the p-value of "the share of errors is above `limit`", from errors and counts by participant.

    The exact binomial test with as many units as the counted ones are worth: their number divided by the
    design effect, the larger of the one that the errors show and the one that `alike` makes expect.

    References
    ----------
    Korn & Graubard (1998), Survey Methodology 24, 193–201; Kish (1965), Survey Sampling.

    Examples
    --------
    Without errors in 22 units of 22 participants, .9²² = .0985:

    >>> round(binomial_p(np.zeros(22), np.ones(22), 0.1, 0.0), 4)
    0.0985
    """
    from scipy import special

    n, share = counted.sum(), errors.sum() / max(counted.sum(), 1)
    if n == 0:
        return 1.0
    k = int((counted > 0).sum())
    seen = 1.0
    if 0 < share < 1 and k > 1:
        seen = float(np.sum((errors - share * counted) ** 2)) * k / (k - 1) / (n * share * (1 - share))
    expected = 1 + (np.sum(counted**2) / n - 1) * alike
    worth = n / max(seen, expected, 1.0)
    return float(special.betainc(worth * (1 - share), worth * share + 1, 1 - limit)) if share < 1 else 1.0


def fallback(p_values: Sequence[float], weights: Sequence[float], delta: float) -> list[bool]:
    """Return which hypotheses are rejected, with at most `delta` of any false rejection.

    Tested in the given order: each has its share of `delta`, and hands what it had on when it is rejected.

    References
    ----------
    Wiens (2003), A fixed sequence Bonferroni procedure, Pharmaceutical Statistics 2, 211–215.

    Examples
    --------
    >>> fallback([0.2, 0.02, 0.04], [0.25, 0.25, 0.5], 0.1)
    [False, True, True]
    """
    rejected, carried = [], 0.0
    for p, weight in zip(p_values, weights, strict=True):
        level = delta * weight + carried
        rejected.append(p <= level)
        carried = level if rejected[-1] else 0.0
    return rejected
