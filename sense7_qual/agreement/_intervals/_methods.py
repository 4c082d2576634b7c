"""How the interval of a coefficient is made, by each method of `estimate`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._reasons import Reason
from sense7_qual.agreement._intervals._bootstrap import (
    FEWEST,
    RESAMPLED_FROM,
    Evidence,
    bias_corrected,
    cut_off,
    degrees_of_freedom,
    effective_clusters,
    jackknife_error,
    left_out,
    log_scale_interval,
    resampled,
    resampled_pairs,
    resampled_wide,
    summed,
    without_disagreement,
)
from sense7_qual.agreement.coefficients._compute import Computed, compute, options_of
from sense7_qual.agreement.coefficients._patterns import Coded, Patterns, known_coders, tally
from sense7_qual.agreement.coefficients._sums import Totals
from sense7_qual.agreement.coefficients._weights import WideAlpha

Method = Literal["analytic", "cluster", "unit", "gwet", "kalpha", "coders"]
Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_CONVENTIONS: Final = (0.667, 0.8)
_EQUAL: Final = 1e-12
"""Coefficients nearer than this to 1, and standard errors nearer to 0, differ from it by rounding alone."""
_OWN_CHANCE: Final = frozenset({"brennan_prediger", "gwet_ac"})
"""Coefficients whose chance agreement is not that of two values drawn from those given."""
_LEFT_OUT: Final = 1000
"""Up to so many units the influence of each is found by leaving it out, beyond by the derivative."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The coefficient with its options, and the method with its settings."""

    statistic: str
    ci: Method
    n_boot: int
    seed: int | None
    confidence_level: float
    options: dict[str, Any]


def interval(
    computed: Computed, table: Coded | Patterns, number: Integers | None, settings: Settings
) -> dict[str, Any]:
    """Return the attributes of an `Estimate` for its interval: ends, standard error, resamples, reason.

    `number` is the number of each unit's cluster, where clusters are resampled.
    """
    if settings.ci != "coders" and computed.rests_on.groups < 2:
        return {"reason": Reason.ONE_UNIT if number is None else Reason.ONE_CLUSTER}
    if 1 - computed.coefficient.estimate < _EQUAL:
        columns = _nothing_disputed(computed, settings)
    else:
        columns = _sampled(computed, table, number, settings)
        if "low" in columns and not columns["standard_error"] >= _EQUAL:
            return {"reason": Reason.ONE_PATTERN}
    if "low" in columns and not np.isnan(columns["low"]):
        value, smallest = computed.coefficient.estimate, computed.coefficient.smallest()
        columns["low"], columns["high"] = cut_off(columns["low"], columns["high"], value, smallest)
    return columns


def _sampled(
    computed: Computed, table: Coded | Patterns, number: Integers | None, settings: Settings
) -> dict[str, Any]:
    rests_on = computed.rests_on
    if settings.ci == "coders":
        return _coders(computed, table, settings)
    if settings.ci == "gwet":
        return _gwet(computed, settings)
    if settings.ci == "kalpha":
        level, n_boot, seed = settings.options["level"], settings.n_boot, settings.seed or 0
        resamples = resampled_pairs(table, level, n_boot=n_boot, seed=seed)
        tail = (1 - settings.confidence_level) / 2
        low, high = np.quantile(resamples, [tail, 1 - tail])
        return _of_resamples(resamples, (float(low), float(high)), settings)
    if rests_on.other < FEWEST:
        return {"reason": Reason.FEW_UNITS if number is None else Reason.FEW_CLUSTERS}
    if settings.ci == "analytic":
        return _left_out(computed, None, settings)
    if settings.ci == "cluster" and rests_on.other < RESAMPLED_FROM:
        return _left_out(computed, number, settings) | {"reason": Reason.FEW_CLUSTERS}
    return _bootstrap(computed, number, settings)


def _nothing_disputed(computed: Computed, settings: Settings) -> dict[str, Any]:
    columns: dict[str, Any] = {"reason": Reason.NO_DISAGREEMENT}
    rests_on = without_disputes(computed, settings.statistic, computed.rests_on)
    if settings.ci in ("analytic", "cluster"):
        columns["low"], columns["high"] = without_disagreement(rests_on, settings.confidence_level)
    return columns


def without_disputes(computed: Computed, statistic: str, rests_on: Evidence) -> Evidence:
    """Return the evidence for a coefficient of 1, with its own share of pairs that would differ by chance."""
    if statistic not in _OWN_CHANCE or not isinstance(computed.coefficient, Totals):
        return rests_on
    # Without any agreement (the first sum) the coefficient would be 1 − 1 / (1 − chance).
    sums = computed.coefficient.n_units @ computed.coefficient.rows
    sums[0] = 0.0
    return replace(rests_on, unequal=1 / (1 - float(computed.coefficient.value(sums))))


def _left_out(computed: Computed, number: Integers | None, settings: Settings) -> dict[str, Any]:
    """Leave out each unit, or each cluster: Student's t on the scale of log(1 − coefficient)."""
    error, degrees = left_out_error(computed, number, settings.statistic)
    if not error >= _EQUAL:
        return {"reason": Reason.ONE_PATTERN}
    from scipy import special

    value = computed.coefficient.estimate
    apart = [np.log((1 - value) / (1 - convention)) / error * (1 - value) for convention in _CONVENTIONS]
    ends = log_scale_interval(value, error, degrees, computed.rests_on, settings.confidence_level)
    return _known(error, ends, [float(special.stdtr(degrees, t)) for t in apart])


def left_out_error(computed: Computed, number: Integers | None, statistic: str) -> tuple[float, float]:
    """Return the jackknife's standard error over units, or clusters, and its degrees of freedom."""
    deviations, times = _deviations(computed, number)
    error = jackknife_error(deviations, times)
    if not error >= _EQUAL:
        return 0.0, 1.0
    degrees = degrees_of_freedom(deviations, times)
    if number is not None:
        degrees = min(degrees, _effective(computed, number, statistic))
    return error, degrees


def _deviations(computed: Computed, number: Integers | None) -> tuple[Floats, Integers]:
    """Return the fall of the coefficient without each group, and the number of each.

    Where there is no coefficient without a group, the derivative says what depends on it.
    """
    coefficient = computed.coefficient
    influence, times = coefficient.influence() / int(coefficient.n_units.sum()), coefficient.n_units
    deviations = np.full(len(times), np.nan)
    if number is not None and computed.group is not None:
        group = computed.group[computed.group >= 0], number[computed.group >= 0]
        influence = np.bincount(group[1], influence[group[0]]).astype(np.float64)
        times, deviations = np.ones(len(influence), dtype=np.int64), np.full(len(influence), np.nan)
        if isinstance(coefficient, Totals):
            deviations = left_out(summed(coefficient.rows, *group), times, coefficient.value)
    elif times.sum() <= _LEFT_OUT:
        deviations = _without_units(coefficient)
    return np.where(np.isnan(deviations), influence, deviations), times


def _without_units(coefficient: Totals | WideAlpha) -> Floats:
    """Return the fall of the coefficient without a unit of each pattern, NaN if it is then undefined."""
    if isinstance(coefficient, Totals):
        return left_out(coefficient.rows, coefficient.n_units, coefficient.value)
    units = coefficient.n_units.astype(np.float64)
    without = np.array([coefficient.at(units - one) for one in np.eye(len(units))])
    return np.asarray(np.average(without, weights=units) - without)


def _effective(computed: Computed, number: Integers, statistic: str) -> float:
    """Return the equivalent number of equal clusters."""
    if computed.coded is None or computed.group is None:
        raise ValueError("clusters are those of the units of a table")
    counted = computed.group >= 0
    influence = computed.coefficient.influence()[computed.group[counted]]
    load = _load(statistic, computed.coded.codes[:, counted] > 0)
    return effective_clusters(influence, load, number[counted])


def _load(statistic: str, given: npt.NDArray[np.bool_]) -> Floats:
    """Return the weight of each unit (U,), from the coders who gave it a value (coders, U).

    In Light's kappa every pair of coders counts alike, however few units they share.
    """
    n_values = given.sum(axis=0).astype(np.float64)
    if statistic != "light_kappa":
        return np.where(n_values >= 2, n_values, 0.0)
    values = given.astype(np.float64)
    shared = values @ values.T
    each = np.divide(1, shared, out=np.zeros_like(shared), where=shared > 0)
    np.fill_diagonal(each, 0)
    return np.asarray(((each @ values) * values).sum(axis=0))


def _gwet(computed: Computed, settings: Settings) -> dict[str, Any]:
    coefficient = computed.coefficient
    n = int(coefficient.n_units.sum())
    spread = coefficient.n_units @ np.square(coefficient.influence(conditional=True))
    error = float(np.sqrt(spread / (n * (n - 1))))
    return _students(coefficient.estimate, error, n - 1, settings.confidence_level)


def _students(value: float, error: float, degrees: int, confidence_level: float) -> dict[str, Any]:
    """Return Student's interval of the coefficient itself, and its shares below the conventions."""
    from scipy import special

    t = special.stdtrit(degrees, (1 + confidence_level) / 2)
    if error:
        below = [float(special.stdtr(degrees, (c - value) / error)) for c in _CONVENTIONS]
    else:
        below = [float(c > value) for c in _CONVENTIONS]
    return _known(error, (float(value - t * error), float(value + t * error)), below)


def _known(error: float, ends: tuple[float, float], below: Sequence[float]) -> dict[str, Any]:
    return {
        "low": ends[0],
        "high": ends[1],
        "standard_error": error,
        "p_below_667": below[0],
        "p_below_800": below[1],
    }


def _of_resamples(resamples: Floats, ends: tuple[float, float], settings: Settings) -> dict[str, Any]:
    defined = resamples[~np.isnan(resamples)]
    return {
        "low": ends[0],
        "high": ends[1],
        "standard_error": float(defined.std(ddof=1)) if len(defined) > 1 else np.nan,
        "p_below_667": float(np.mean(defined < _CONVENTIONS[0])),
        "p_below_800": float(np.mean(defined < _CONVENTIONS[1])),
        "n_boot": settings.n_boot,
        "n_undefined": len(resamples) - len(defined),
    }


def _bootstrap(computed: Computed, number: Integers | None, settings: Settings) -> dict[str, Any]:
    """Resample clusters, or units where there are none."""
    n_boot, seed = settings.n_boot, settings.seed or 0
    coefficient, group = computed.coefficient, None
    if number is not None and computed.group is not None:
        group = computed.group[computed.group >= 0], number[computed.group >= 0]
    if isinstance(coefficient, Totals):
        rows, times = coefficient.rows, coefficient.n_units
        if group is not None:
            rows = summed(rows, *group)
            times = np.ones(len(rows), dtype=np.int64)
        resamples = resampled(rows, times, coefficient.value, n_boot=n_boot, seed=seed, size=coefficient.size)
        deviations = left_out(rows, times, coefficient.value)
    else:
        resamples, deviations, times = resampled_wide(coefficient, group, n_boot=n_boot, seed=seed)
    defined = resamples[~np.isnan(resamples)]
    if not len(defined):
        return {"reason": Reason.NO_VARIATION, "n_boot": n_boot, "n_undefined": n_boot}
    ends = bias_corrected(
        defined,
        coefficient.estimate,
        deviations=deviations,
        times=times,
        n_groups=float(times.sum()) if number is None else _effective(computed, number, settings.statistic),
        confidence_level=settings.confidence_level,
    )
    return _of_resamples(resamples, ends, settings)


def _coders(computed: Computed, table: Coded | Patterns, settings: Settings) -> dict[str, Any]:
    """The jackknife over coders."""
    if isinstance(table, Patterns):
        codes: npt.NDArray[Any] = known_coders(table).T + 1
    else:
        codes = table.codes
    present = np.flatnonzero((codes[:, (codes > 0).sum(axis=0) >= 2] > 0).any(axis=1))
    n = len(present)
    if n < 3:
        return {"reason": Reason.FEW_CODERS}
    fixed = replace(settings, options=_as_of_all(settings, table))
    without = [_without(table, coder, fixed) for coder in present.tolist()]
    error = float(np.sqrt((n - 1) / n * np.square(np.array(without) - np.mean(without)).sum()))
    if np.isnan(error):
        return {"reason": Reason.NO_VARIATION}
    return _students(computed.coefficient.estimate, error, n - 1, settings.confidence_level)


def _as_of_all(settings: Settings, table: Coded | Patterns) -> dict[str, Any]:
    """Return options under which one coder's leaving takes no category off the scale."""
    options, level = settings.options, settings.options.get("level")
    patterns = table if isinstance(table, Patterns) else tally(table)
    if options.get("categories") is None and "categories" in options_of(settings.statistic):
        return options | {"categories": patterns.categories}
    if level is None or isinstance(level, str | pd.DataFrame) or callable(level):
        return options
    place = {value: i for i, value in enumerate(patterns.pairable().categories)}
    apart = np.asarray(level, dtype=np.float64)
    return options | {"level": lambda a, b: apart[place[a], place[b]]}


def _without(table: Coded | Patterns, coder: int, settings: Settings) -> float:
    """Return the coefficient of all coders but one."""
    rest: Coded | Patterns
    if isinstance(table, Coded):
        rest = replace(table, codes=np.delete(table.codes, coder, axis=0))
    else:
        coders = np.delete(known_coders(table), coder, axis=1)
        has_values = np.flatnonzero((coders >= 0).any(axis=1))
        counts = (coders[has_values][:, :, None] == np.arange(len(table.categories))).sum(axis=1)
        rest = replace(table, counts=counts, n_units=table.n_units[has_values], coders=coders[has_values])
    return compute(settings.statistic, rest, settings.options).coefficient.estimate
