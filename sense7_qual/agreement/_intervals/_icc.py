"""The interval of an intraclass correlation: of F for independent units, or from leaving out each cluster."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from sense7_qual._bootstrap import FEWEST_CLUSTERS
from sense7_qual._reasons import Reason
from sense7_qual.agreement._intervals._bootstrap import (
    degrees_of_freedom,
    effective_clusters,
    jackknife_error,
)
from sense7_qual.agreement.coefficients._icc_kendall import Kind, averaged, correlation, mean_squares

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_CONVENTIONS: Final = (0.667, 0.8)


def icc_interval(
    table: Floats, kind: Kind, n_averaged: int, number: Integers | None, confidence_level: float
) -> dict[str, Any]:
    """Return the attributes of an `Estimate` for the interval of an ICC of values (coders, units).

    `number` (units,) is each unit's cluster, from 0; None where units are independent.
    """
    single = correlation(table, kind)
    if not single < 1:
        return {"reason": Reason.NO_VARIATION if np.isnan(single) else Reason.NO_DISAGREEMENT}
    if number is None:
        found: dict[str, Any] = _of_f(table, kind)
    else:
        found = _left_out(table, kind, number)
    if found["reason"] is not None:
        return found
    at, below = found.pop("at"), found.pop("below")
    tail = (1 - confidence_level) / 2
    ends = [averaged(at(share), n_averaged) for share in (tail, 1 - tail)]
    of_one = [one / (n_averaged - (n_averaged - 1) * one) for one in _CONVENTIONS]
    found |= {"p_below_667": below(of_one[0]), "p_below_800": below(of_one[1])}
    value = averaged(single, n_averaged)
    return found | {"low": min(ends[0], value), "high": max(ends[1], value)}


def _of_f(table: Floats, kind: Kind) -> dict[str, Any]:
    """Return the sampling distribution of Shrout and Fleiss, as its quantiles and its shares below a value.

    A true correlation of ρ scales F = (between units) / (unexplained); so each ρ is one factor x of F.
    """
    from scipy import stats

    between, coders, error, within = mean_squares(table)
    k, n = table.shape
    noise, degrees = (within, n * (k - 1.0)) if kind == "one_way" else (error, (n - 1) * (k - 1.0))
    rest = (k - 1) * noise
    if kind == "agreement":
        rest = (k * coders + (k * n - k - n) * error) / n
        degrees = _satterthwaite(table, correlation(table, kind))

    def at(share: float) -> float:
        x = 1 / stats.f.isf(share, n - 1, degrees)
        return float((x * between - noise) / (x * between + rest))

    def below(one: float) -> float:
        x = (noise + one * rest) / (between * (1 - one)) if between else np.inf
        return float(stats.f.sf(1 / x, n - 1, degrees))

    return {"reason": None, "at": at, "below": below}


def _satterthwaite(table: Floats, single: float) -> float:
    """Return the degrees of freedom of what coders and chance add (McGraw and Wong 1996, table 7)."""
    _, coders, error, _ = mean_squares(table)
    k, n = table.shape
    odds = k * single / (n * (1 - single))
    parts = odds * coders, (1 + odds * (n - 1)) * error
    return max(1.0, float(sum(parts) ** 2 / (parts[0] ** 2 / (k - 1) + parts[1] ** 2 / ((n - 1) * (k - 1)))))


def _left_out(table: Floats, kind: Kind, number: Integers) -> dict[str, Any]:
    """Leave out each cluster: Student's t on the logarithm of the F that the correlation stands for."""
    from scipy import special

    n_clusters, k = int(number.max()) + 1, len(table)
    if n_clusters < FEWEST_CLUSTERS:
        return {"reason": Reason.ONE_CLUSTER if n_clusters == 1 else Reason.FEW_CLUSTERS}

    def log_f(one: float) -> float:
        return float(np.log((1 + (k - 1) * one) / (1 - one)))

    with np.errstate(all="ignore"):
        without = np.array([log_f(correlation(table[:, number != one], kind)) for one in range(n_clusters)])
        # Where participants differ, few of them show too little of it: the jackknife takes that bias out.
        middle = n_clusters * log_f(correlation(table, kind)) - (n_clusters - 1) * without.mean()
    times = np.ones(n_clusters, dtype=np.int64)
    deviations = without.mean() - without
    error = jackknife_error(deviations, times)
    if not (np.isfinite(error) and np.isfinite(middle) and error > 1e-12):
        return {"reason": Reason.ONE_PATTERN}
    single = correlation(table, kind)
    standard_error = error * (1 - single) * (1 + (k - 1) * single) / k
    # Uneven clusters are worth fewer, as for the bootstrap (Hesterberg 2015).
    worth = effective_clusters(_influence(table, kind), np.ones(table.shape[1]), number)
    degrees = min(degrees_of_freedom(deviations, times), worth - 1)
    error *= np.sqrt(worth / (worth - 1))

    def at(share: float) -> float:
        ratio = np.exp(middle + special.stdtrit(degrees, share) * error)
        return float((ratio - 1) / (ratio + k - 1))

    def below(one: float) -> float:
        return float(special.stdtr(degrees, (log_f(one) - middle) / error))

    return {"reason": None, "at": at, "below": below, "standard_error": standard_error}


def _influence(table: Floats, kind: Kind) -> Floats:
    """Return how much each unit (units,) raises the logarithm of F, up to a factor."""
    units = table.mean(axis=0)
    rest = table - units
    if kind == "consistency":
        rest = rest - rest.mean(axis=1)[:, None]
    between, within = np.square(units - units.mean()), np.square(rest).sum(axis=0)
    return np.asarray(between / between.mean() - within / within.mean())
