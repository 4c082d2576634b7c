"""How sure a coefficient of agreement is: standard errors, intervals, and the chance of falling short.

The estimand of all but `ci="coders"` is the agreement of these coders on further units like these. Units of
one participant are not independent of each other: give `cluster` where they have one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual.agreement.bootstrap import (
    bias_corrected,
    left_out,
    resampled,
    resampled_pairs,
    resampled_wide,
    summed,
)
from sense7_qual.agreement.computed import Computed, coders_of, compute, evidence, values_of
from sense7_qual.agreement.few import (
    FEWEST,
    RESAMPLED_FROM,
    Evidence,
    freedom,
    logarithmic,
    without_disagreement,
)
from sense7_qual.agreement.pattern_counts import Coded, Patterns, coded, known_coders
from sense7_qual.agreement.totals import Totals
from sense7_qual.errors import QualError, TableError, did_you_mean, first_three
from sense7_qual.resampling import check_resampling

__all__ = ["Estimate", "Method", "estimate"]

Method = Literal["analytic", "cluster", "unit", "gwet", "kalpha", "coders"]
Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_SEEDED: Final = ("cluster", "unit", "kalpha")
_CONVENTIONS: Final = (0.667, 0.8)
_EQUAL: Final = 1e-12
"""Coefficients nearer than this to 1, and standard errors nearer to 0, differ from it by rounding alone."""
_LEFT_OUT: Final = 1000
"""Up to so many units the influence of each is found by leaving it out, beyond by the derivative."""
_NOTHING: Final[dict[str, Any]] = {
    "low": np.nan, "high": np.nan, "standard_error": np.nan, "p_below_667": np.nan, "p_below_800": np.nan,
    "n_clusters": None, "n_boot": None, "n_undefined": None,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Estimate:
    """A coefficient with its interval.

    Attributes
    ----------
    estimate : float
        The coefficient, at most 1; NaN where it cannot be computed.
    low, high : float
        Ends of the interval; NaN where there is none.
    standard_error : float
        Of the coefficient, above 0: from its influence function, the standard deviation of the resamples, or
        the jackknife; NaN where there is none.
    n_units : int
        Units with a value.
    n_coders : int or None
        Coders with a value in the units that count; None where patterns do not say.
    n_pairable : int
        Units with two or more values.
    n_clusters : int or None
        Clusters of those units, where clusters were given.
    method : str
        "analytic", "cluster", "unit", "gwet", "kalpha" or "coders".
    confidence_level : float
        As given.
    n_boot, n_undefined, seed : int or None
        Resamples, how many of them had no coefficient and were left out, and the seed; None without.
    p_below_667, p_below_800 : float
        Share of the sampling distribution that lies below .667 and below .800, two conventions for alpha; NaN
        where there is no distribution.
    reason : str or None
        Why a number is missing: `no_pairable_units`, `one_coder`, `no_variation` (no coefficient);
        `one_unit`, `few_units` (fewer than three have a value other than the most frequent one),
        `one_pattern` (all units are the same), `one_cluster`, `few_coders` (no interval). Or why the
        interval is not the usual one: `no_disagreement` (the coefficient is 1; the interval says how much
        disagreement could have gone unseen), `few_clusters` (fewer than ten have a value other than the most
        frequent one: the interval is from leaving out each cluster; fewer than three: none).
    """

    estimate: float
    low: float
    high: float
    standard_error: float
    n_units: int
    n_coders: int | None
    n_pairable: int
    n_clusters: int | None
    method: str
    confidence_level: float
    n_boot: int | None
    n_undefined: int | None
    seed: int | None
    p_below_667: float
    p_below_800: float
    reason: str | None


def estimate(
    values: npt.ArrayLike | Patterns,
    statistic: Callable[..., float] | str,
    *,
    ci: Method | None = None,
    cluster: Sequence[object] | npt.ArrayLike | pd.Series | None = None,
    n_boot: int = 2000,
    seed: int | None = None,
    confidence_level: float = 0.95,
    **options: Any,
) -> Estimate:
    """Return a coefficient of agreement with its interval.

    Parameters
    ----------
    values : array-like (coders, units), or Patterns
        As for the coefficient. Patterns do not say which unit is which: no `cluster`.
    statistic : function or str
        One of the coefficients of `sense7_qual.agreement`, or its name: `krippendorff_alpha`, `cohen_kappa` …
    ci : {"analytic", "cluster", "unit", "gwet", "kalpha", "coders"}, optional
        - analytic (default without `cluster`): from the influence of each unit, on the scale of
          log(1 − coefficient), with Student's t; its degrees of freedom are Satterthwaite's, because a rare
          value rests on few units. For independent units;
        - cluster (default with `cluster`): whole clusters are resampled; bias-corrected and accelerated,
          widened for few clusters (see `by_code`). Where fewer than ten clusters have a value other than the
          most frequent one there is too little to resample: then as for analytic, each cluster left out;
        - unit: the same with units as clusters;
        - gwet: Gwet's linearisation, estimate ± t · standard error, cut off at 1, for comparison with his
          software. It takes the numbers of units with one and with two values as given, which makes
          it far too wide where many units have one value;
        - kalpha: Krippendorff's own algorithm for alpha, for comparison alone: it takes expected disagreement
          as known and pairs as independent, and is too narrow;
        - coders: jackknife over coders, Student's t with coders − 1 degrees of freedom: would other coders
          like these agree as well? Three coders or more.
    cluster : array-like (units,), optional
        The cluster of each unit (column): the participant, or the conversation.
    n_boot : int
        Number of resamples.
    seed : int, optional
        Needed where there are resamples; the same seed gives the same interval.
    confidence_level : float
        Level of the interval, between 0 and 1.
    **options
        Options of the coefficient: `level`, `weights`, `categories`, `category`.

    Returns
    -------
    Estimate
        The coefficient, its interval, and a reason code where a number is missing. Never raises because of
        what the coders did.

    Raises
    ------
    QualError
        An unknown statistic or `ci`, a setting out of its range, no seed where one is needed.
    TableError
        Bad values; a cluster label that is missing, or not one for each unit.

    Notes
    -----
    The influence of a unit is what leaving it out changes, in tables of up to 1,000 units, and the derivative
    beyond, which is the same but for terms of 1/n. Two limits are binomial (Clopper & Pearson): how far below
    1 a coefficient may be where no unit shows disagreement, and how high it may be where no unit shows
    agreement on the rarer of two values. How often the intervals cover the truth is simulated in
    benchmarks/agreement_coverage.py.

    References
    ----------
    Influence function: Hampel (1974), JASA 69, 383–393. Gwet (2008), British Journal of Mathematical and
    Statistical Psychology 61, 29–48. Satterthwaite (1946), Biometrics Bulletin 2, 110–114. Clopper & Pearson
    (1934), Biometrika 26, 404–413. Krippendorff (2013), Bootstrapping distributions for alpha. Bootstrap:
    see `by_code`. Jackknife: Efron (1982), The Jackknife, the Bootstrap and Other Resampling Plans.

    Examples
    --------
    Gwet (2014, table 4.4): standard error .14557, interval .419 to 1:

    >>> values = [[1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    ...           [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, None],
    ...           [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 3],
    ...           [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None]]
    >>> found = estimate(values, "krippendorff_alpha", ci="gwet", level="nominal")
    >>> round(found.standard_error, 5), round(found.low, 3), found.high
    (0.14557, 0.419, 1.0)
    >>> found = estimate(values, "krippendorff_alpha", level="nominal")
    >>> round(found.estimate, 3), round(found.low, 2), round(found.high, 2)
    (0.743, 0.04, 0.93)
    """
    settings = _settings(statistic, ci, cluster, n_boot, seed, confidence_level, options)
    table = values if isinstance(values, Patterns) else coded(values)
    computed = compute(settings.statistic, table, options, locate=settings.ci == "cluster")
    value = computed.found.estimate
    known: dict[str, Any] = {"reason": computed.reason}
    number: Integers | None = None
    if settings.ci == "cluster":
        number, known["n_clusters"], seen = _clusters(table, cluster, computed, settings.statistic)
        computed = replace(computed, rests_on=seen)
    if known["reason"] is None:
        known |= _interval(computed, table, number, settings)
    n_coders = computed.n_coders
    if n_coders is None and isinstance(table, Coded):
        n_coders = coders_of(table, values_of(table.codes))
    return Estimate(
        estimate=value,
        n_units=computed.n_units,
        n_coders=n_coders,
        n_pairable=computed.n_pairable,
        method=settings.ci,
        confidence_level=confidence_level,
        **(_NOTHING | {"seed": settings.seed} | known),
    )


# ---- settings -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Settings:
    statistic: str
    ci: Method
    n_boot: int
    seed: int | None
    confidence_level: float
    options: dict[str, Any]


def _settings(
    statistic: Callable[..., float] | str,
    ci: Method | None,
    cluster: object,
    n_boot: int,
    seed: int | None,
    confidence_level: float,
    options: dict[str, Any],
) -> _Settings:
    ci = ci or ("analytic" if cluster is None else "cluster")
    if ci not in get_args(Method):
        raise QualError(
            f"estimate: expected ci out of {', '.join(get_args(Method))} – found {ci!r} – "
            f"{did_you_mean(str(ci), get_args(Method))}"
        )
    if (ci == "cluster") != (cluster is not None):
        found = "none" if cluster is None else f"clusters with ci={ci!r}"
        raise QualError(f"estimate: expected clusters with ci='cluster' alone – found {found} – change one.")
    if ci in _SEEDED and seed is None:
        raise QualError(f"estimate: expected a seed – found none, and ci={ci!r} resamples – give one.")
    seed = seed if ci in _SEEDED else None
    check_resampling("estimate", n_boot=n_boot, confidence_level=confidence_level, seed=seed or 0)
    name = statistic if isinstance(statistic, str) else getattr(statistic, "__name__", repr(statistic))
    if name == "krippendorff_alpha" and "level" not in options:
        raise QualError("estimate: expected the level of krippendorff_alpha – found none – give level=….")
    if name == "specific_agreement" and "category" not in options:
        raise QualError("estimate: expected the category of specific_agreement – found none – give it.")
    if ci == "kalpha" and name != "krippendorff_alpha":
        raise QualError(f"estimate: expected krippendorff_alpha for ci='kalpha' – found {name} – change one.")
    return _Settings(name, ci, n_boot, seed, confidence_level, options)


def _clusters(
    table: Coded | Patterns, cluster: object, computed: Computed, statistic: str
) -> tuple[Integers, int, Evidence]:
    """Return the number of each unit's cluster, how many clusters count, and what they say."""
    if isinstance(table, Patterns) or computed.coded is None or computed.group is None:
        raise QualError(
            "estimate: expected a table (coders, units) with clusters – found patterns, which do not say "
            "which unit is which – pass the table."
        )
    labels = pd.Series(np.asarray(cluster, dtype=object)) if np.ndim(cluster) == 1 else None  # type: ignore[arg-type]
    if labels is None or len(labels) != table.codes.shape[1]:
        found = "another shape" if labels is None else f"{len(labels)} labels"
        raise TableError(
            f"cluster: expected one label for each of the {table.codes.shape[1]} units – found {found} – "
            "give them in the order of the units."
        )
    counted = computed.group >= 0
    missing = np.flatnonzero(counted & labels.isna().to_numpy())
    if len(missing):
        raise TableError(
            f"cluster: expected a label for every unit with values – found none for units (counted from 0) "
            f"{first_three(missing)} – fill them in."
        )
    numbers = np.full(len(labels), -1, dtype=np.int64)
    numbers[counted] = pd.factorize(labels[counted].astype(str), sort=True)[0]
    pairable = values_of(computed.coded.codes) >= 2
    seen = evidence(statistic, computed.coded.codes[:, pairable], len(table.categories), numbers[pairable])
    return numbers, seen.groups, seen


# ---- methods ------------------------------------------------------------------------------------------


def _interval(
    computed: Computed, table: Coded | Patterns, number: Integers | None, settings: _Settings
) -> dict[str, Any]:
    if settings.ci == "coders":
        return _coders(computed, table, settings)
    seen = computed.rests_on
    if seen.groups < 2:
        return {"reason": "one_unit" if number is None else "one_cluster"}
    if 1 - computed.found.estimate < _EQUAL:
        return _nothing_disputed(seen, settings)
    if settings.ci == "gwet":
        return _gwet(computed, settings)
    if settings.ci == "kalpha":
        level, n_boot, seed = settings.options["level"], settings.n_boot, settings.seed or 0
        found = resampled_pairs(table, level, n_boot=n_boot, seed=seed)
        tail = (1 - settings.confidence_level) / 2
        low, high = np.quantile(found, [tail, 1 - tail])
        return _of_resamples(found, (float(low), float(high)), settings)
    if settings.ci != "unit" and seen.other < FEWEST:
        return {"reason": "few_units" if number is None else "few_clusters"}
    if settings.ci == "analytic":
        return _left_out(computed, None, settings)
    if settings.ci == "cluster" and seen.other < RESAMPLED_FROM:
        return _left_out(computed, number, settings) | {"reason": "few_clusters"}
    return _bootstrap(computed, number, settings)


def _nothing_disputed(seen: Evidence, settings: _Settings) -> dict[str, Any]:
    found: dict[str, Any] = {"reason": "no_disagreement"}
    if settings.ci in ("analytic", "cluster"):
        found["low"], found["high"] = without_disagreement(seen, settings.confidence_level)
    return found


def _left_out(computed: Computed, number: Integers | None, settings: _Settings) -> dict[str, Any]:
    """Leave out each unit, or each cluster: Student's t on the scale of log(1 − coefficient)."""
    deviations, times = _deviations(computed, number)
    n = int(times.sum())
    error = float(np.sqrt((n - 1) / n * (times @ np.square(deviations))))
    if not error >= _EQUAL:
        return {"reason": "one_pattern"}
    from scipy import special

    degrees, value = freedom(deviations, times), computed.found.estimate
    apart = [np.log((1 - value) / (1 - convention)) / error * (1 - value) for convention in _CONVENTIONS]
    ends = logarithmic(value, error, degrees, computed.rests_on, settings.confidence_level)
    return _known(error, ends, [float(special.stdtr(degrees, t)) for t in apart])


def _deviations(computed: Computed, number: Integers | None) -> tuple[Floats, Integers]:
    """Return how far the coefficient falls without each group, and how many groups there are of each."""
    found = computed.found
    if isinstance(found, Totals):
        if number is not None and computed.group is not None:
            rows = summed(found.rows, computed.group[computed.group >= 0], number[computed.group >= 0])
            return left_out(rows, np.ones(len(rows), dtype=np.int64), found.value)
        if found.n_units.sum() <= _LEFT_OUT:
            return left_out(found.rows, found.n_units, found.value)
    elif number is None and found.n_units.sum() <= _LEFT_OUT:
        units = found.n_units.astype(np.float64)
        without = np.array([found.at(units - one) for one in np.eye(len(units))])
        return np.average(without, weights=units) - without, found.n_units
    n = int(found.n_units.sum())
    influence = found.influence() / n
    if number is not None and computed.group is not None:
        counted = computed.group >= 0
        of_clusters = np.bincount(number[counted], influence[computed.group[counted]]).astype(np.float64)
        return of_clusters, np.ones(len(of_clusters), dtype=np.int64)
    return influence, found.n_units


def _gwet(computed: Computed, settings: _Settings) -> dict[str, Any]:
    found = computed.found
    n = int(found.n_units.sum())
    spread = found.n_units @ np.square(found.influence(conditional=True))
    error = float(np.sqrt(spread / (n * (n - 1))))
    return _students(found.estimate, error, n - 1, settings.confidence_level)


def _students(value: float, error: float, degrees: int, confidence_level: float) -> dict[str, Any]:
    """Return Student's interval of the coefficient itself, and its shares below the conventions."""
    from scipy import special

    t = special.stdtrit(degrees, (1 + confidence_level) / 2)
    if error:
        below = [float(special.stdtr(degrees, (c - value) / error)) for c in _CONVENTIONS]
    else:
        below = [float(c > value) for c in _CONVENTIONS]
    return _known(error, (float(value - t * error), float(min(1.0, value + t * error))), below)


def _known(error: float, ends: tuple[float, float], below: Sequence[float]) -> dict[str, Any]:
    return {
        "low": ends[0],
        "high": ends[1],
        "standard_error": error,
        "p_below_667": below[0],
        "p_below_800": below[1],
    }


def _of_resamples(found: Floats, ends: tuple[float, float], settings: _Settings) -> dict[str, Any]:
    there = found[~np.isnan(found)]
    return {
        "low": ends[0],
        "high": ends[1],
        "standard_error": float(there.std(ddof=1)) if len(there) > 1 else np.nan,
        "p_below_667": float(np.mean(there < _CONVENTIONS[0])),
        "p_below_800": float(np.mean(there < _CONVENTIONS[1])),
        "n_boot": settings.n_boot,
        "n_undefined": len(found) - len(there),
    }


def _bootstrap(computed: Computed, number: Integers | None, settings: _Settings) -> dict[str, Any]:
    """Resample clusters, or units where there are none."""
    n_boot, seed = settings.n_boot, settings.seed or 0
    coefficient, group = computed.found, None
    if number is not None and computed.group is not None:
        group = computed.group[computed.group >= 0], number[computed.group >= 0]
    if isinstance(coefficient, Totals):
        rows, times = coefficient.rows, coefficient.n_units
        if group is not None:
            rows = summed(rows, *group)
            times = np.ones(len(rows), dtype=np.int64)
        found = resampled(rows, times, coefficient.value, n_boot=n_boot, seed=seed, size=coefficient.size)
        deviations, times = left_out(rows, times, coefficient.value)
    else:
        found, deviations, times = resampled_wide(coefficient, group, n_boot=n_boot, seed=seed)
    there = found[~np.isnan(found)]
    if not len(there):
        return {"reason": "no_variation", "n_boot": n_boot, "n_undefined": n_boot}
    ends = bias_corrected(
        there,
        coefficient.estimate,
        deviations=deviations,
        times=times,
        confidence_level=settings.confidence_level,
    )
    return _of_resamples(found, ends, settings)


def _coders(computed: Computed, table: Coded | Patterns, settings: _Settings) -> dict[str, Any]:
    """The jackknife over coders."""
    if isinstance(table, Patterns):
        codes: npt.NDArray[Any] = known_coders(table).T + 1
    else:
        codes = table.codes
    present = np.flatnonzero((codes[:, (codes > 0).sum(axis=0) >= 2] > 0).any(axis=1))
    n = len(present)
    if n < 3:
        return {"reason": "few_coders"}
    without = [_without(table, coder, settings) for coder in present.tolist()]
    error = float(np.sqrt((n - 1) / n * np.square(np.array(without) - np.mean(without)).sum()))
    if np.isnan(error):
        return {"reason": "no_variation"}
    return _students(computed.found.estimate, error, n - 1, settings.confidence_level)


def _without(table: Coded | Patterns, coder: int, settings: _Settings) -> float:
    """Return the coefficient of all coders but one."""
    rest: Coded | Patterns
    if isinstance(table, Coded):
        rest = Coded(table.categories, np.delete(table.codes, coder, axis=0))
    else:
        coders = np.delete(known_coders(table), coder, axis=1)
        seen = np.flatnonzero((coders >= 0).any(axis=1))
        counts = (coders[seen][:, :, None] == np.arange(len(table.categories))).sum(axis=1)
        rest = Patterns(table.categories, counts, table.n_units[seen], coders[seen])
    return compute(settings.statistic, rest, settings.options).found.estimate
