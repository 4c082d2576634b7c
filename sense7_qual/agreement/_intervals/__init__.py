"""The uncertainty of coefficients of agreement: standard errors, intervals, probability of falling short.

The estimand, except with `ci="coders"`, is the agreement of these coders on further units like these. Units
of one participant are not independent: pass `groups` where there are participants.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._bootstrap import check_resampling
from sense7_qual._group_labels import check_groups
from sense7_qual._messages import did_you_mean, first_three
from sense7_qual._reasons import Reason
from sense7_qual.agreement._intervals._bootstrap import Evidence
from sense7_qual.agreement._intervals._icc import icc_interval
from sense7_qual.agreement._intervals._methods import Method, Settings, interval
from sense7_qual.agreement._values import named_table, read_values
from sense7_qual.agreement.coefficients._compute import (
    Computed,
    check_options,
    coders_of,
    compute,
    evidence,
    values_of,
    with_scale,
)
from sense7_qual.agreement.coefficients._icc_kendall import averaged, correlation, rated
from sense7_qual.agreement.coefficients._patterns import Coded, Patterns, coded
from sense7_qual.agreement.coefficients._scale import check_scale
from sense7_qual.agreement.sets import set_table
from sense7_qual.errors import ArgumentError, TableError
from sense7_qual.frames import labels_by_unit, without_blanks

__all__ = ["Estimate", "Method", "estimate"]

Integers = npt.NDArray[np.int64]

_SEEDED: Final = ("cluster", "unit", "kalpha")
_NOTHING: Final[dict[str, Any]] = {
    "low": np.nan,
    "high": np.nan,
    "standard_error": np.nan,
    "p_below_667": np.nan,
    "p_below_800": np.nan,
    "n_clusters": None,
    "n_boot": None,
    "n_undefined": None,
}


@dataclass(frozen=True, slots=True)
class Estimate:
    """A coefficient with its interval.

    Attributes
    ----------
    statistic : str
        Its name; of an intraclass correlation with its kind and the number of coders averaged.
    estimate : float
        The coefficient, at most 1; NaN where it cannot be computed.
    low, high : float
        Ends of the interval, with the coefficient between them; cut off at 1 and at the lowest possible value
        (see `estimate`). NaN where there is none.
    standard_error : float
        Of the coefficient, above 0: from its influence function, the standard deviation of the resamples, or
        the jackknife (of an ICC for a single coder); NaN where there is none.
    n_units : int
        Units with a value.
    n_coders : int or None
        Coders with a value in the units that count; None where patterns do not say.
    n_pairable : int
        Units with two or more values, for an ICC with a value of every coder.
    n_clusters : int or None
        Clusters of those units, where clusters were given.
    method : str
        "analytic", "cluster", "unit", "gwet", "kalpha" or "coders".
    confidence_level : float
        As given.
    n_boot, n_undefined, seed : int or None
        Resamples, how many of them had no coefficient and were left out, and the seed; None without.
    p_below_667, p_below_800 : float
        Share of the sampling distribution below .667 and below .800, two conventions for alpha; NaN where
        there is no distribution.
    reason : str or None
        Why a number is missing: `no_pairable_units`, `one_coder`, `no_variation` (no coefficient);
        `one_unit`, `few_units` (fewer than three have a value other than the most frequent one: no interval
        from units, resampled or not), `one_pattern` (leaving units out or resampling them changes nothing:
        all are the same, a coder gave one value throughout, or there is only one resample), `one_cluster`,
        `few_coders` (no interval). Or why the interval is not the usual one: `no_disagreement` (the
        coefficient is 1; the interval shows how much disagreement could have gone unseen), `few_clusters`
        (fewer than ten have a value other than the most frequent one: the interval is from leaving out each
        cluster; fewer than three: none).
    """

    statistic: str
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
    values: npt.ArrayLike | Patterns | Coded,
    statistic: Callable[..., float] | str,
    *,
    ci: Method | None = None,
    groups: Sequence[object] | npt.ArrayLike | pd.Series | None = None,
    n_boot: int = 2000,
    seed: int = 0,
    confidence_level: float = 0.95,
    **options: Any,
) -> Estimate:
    """Return a coefficient of agreement with its interval.

    Parameters
    ----------
    values : array-like (coders, units), DataFrame of `from_wide`, or Patterns
        As for the coefficient; sets for `set_alpha`. Patterns do not identify units, so take no `groups`.
    statistic : function or str
        One of the coefficients of `sense7_qual.agreement`, or its name: `krippendorff_alpha`, `cohen_kappa` …
        `set_alpha`, or `icc`, which has an interval by analytic and cluster alone (see Notes).
    ci : {"analytic", "cluster", "unit", "gwet", "kalpha", "coders"}, optional
        - analytic (default without `groups`): from the influence of each unit, on the scale of
          log(1 − coefficient), with Student's t; its degrees of freedom are Satterthwaite's, because a rare
          value rests on few units. For independent units;
        - cluster (default with `groups`): whole clusters are resampled; bias-corrected and accelerated,
          widened for few and for uneven clusters (see `by_code`). Where fewer than ten clusters have a value
          other than the most frequent one there is too little to resample: then as for analytic, each cluster
          left out, with no more degrees of freedom than clusters of equal size;
        - unit: the same with units as clusters;
        - gwet: Gwet's linearisation, estimate ± t · standard error, for comparison with his software. It
          treats the numbers of units with one and with two values as fixed, which makes it far too wide where
          many units have one value;
        - kalpha: Krippendorff's own algorithm for alpha, for comparison only: it treats expected disagreement
          as known and pairs as independent, and is too narrow;
        - coders: jackknife over coders, Student's t with coders − 1 degrees of freedom: would other coders
          like these agree as well? Three coders or more.
    groups : Series, or array-like (units,), optional
        The cluster of each unit: the participant, or the conversation. Where `values` have named axes, a
        Series indexed by unit_id; otherwise labels in the order of the units.
    n_boot, seed, confidence_level
        Number of resamples; their seed; level of the interval, between 0 and 1.
    **options
        Options of the coefficient: `level`, `weights`, `categories`, `category`, `distance`; of `icc` `kind`
        and `n_averaged`.

    Returns
    -------
    Estimate
        The coefficient, its interval, and a reason code where a number is missing.

    Raises
    ------
    ArgumentError
        An unknown statistic or `ci`, a setting out of its range.
    TableError
        Bad values, among them a code for missing (−99) that is not in `categories`; a missing cluster label,
        or not one for each unit.

    Notes
    -----
    The influence of a unit is the change from leaving it out, in tables of up to 1,000 units, and the
    derivative beyond, which is the same up to terms of 1/n. Two limits are binomial (Clopper & Pearson): the
    lower one where no unit shows disagreement, and the upper one where no unit shows agreement on the rarer
    of two values. Coverage is simulated in benchmarks/agreement_coverage.py.

    Intervals are cut off at the possible values of the coefficient: at most 1; at least 0 for shares, −1 for
    alpha and the kappas, −1 / (q − 1) for Brennan and Prediger's coefficient and AC1 of q categories (with
    weights the corresponding limit). Some have no lower limit: Fleiss' kappa with units that have one value,
    Conger's with missing values, because these count for chance alone; and alpha and kappas by differences or
    weights that are not those of points in space.

    An ICC has for independent units the interval of F (Shrout and Fleiss; with kind "agreement" McGraw and
    Wong), which takes coders as drawn from many. With `groups` each cluster is left out, on the scale of
    log F and corrected for bias; Student's t has the degrees of freedom of even clusters. These coders are
    then the ones that matter. In simulated studies of 12 to 60 participants it held the true ICC in 93 to
    97 %, the interval of F in as few as 58 % (benchmarks/icc_coverage.md). It needs six clusters
    (`few_clusters`); where coders never differ there is no interval (`no_disagreement`).

    References
    ----------
    Influence function: Hampel (1974), JASA 69, 383–393. Gwet (2008), British Journal of Mathematical and
    Statistical Psychology 61, 29–48. Satterthwaite (1946), Biometrics Bulletin 2, 110–114. Clopper & Pearson
    (1934), Biometrika 26, 404–413. Krippendorff (2013), Bootstrapping distributions for alpha. Bootstrap:
    see `by_code`. Jackknife: Efron (1982), The Jackknife, the Bootstrap and Other Resampling Plans. ICC: see
    `icc`.

    Examples
    --------
    Gwet (2014, table 4.4): standard error .14557, interval .419 to 1:

    >>> values = [[1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    ...           [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, None],
    ...           [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 3],
    ...           [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None]]
    >>> interval = estimate(values, "krippendorff_alpha", ci="gwet", level="nominal")
    >>> round(interval.standard_error, 5), round(interval.low, 3), interval.high
    (0.14557, 0.419, 1.0)
    >>> interval = estimate(values, "krippendorff_alpha", level="nominal")
    >>> round(interval.estimate, 3), round(interval.low, 2), round(interval.high, 2)
    (0.743, 0.04, 0.93)

    Shrout and Fleiss (1979, table 2), with the interval that the R package psych prints:

    >>> values = [[9, 6, 8, 7, 10, 6], [2, 1, 4, 1, 5, 2], [5, 3, 6, 2, 6, 4], [8, 2, 8, 6, 9, 7]]
    >>> interval = estimate(values, "icc", kind="agreement")
    >>> round(interval.estimate, 2), round(interval.low, 3), round(interval.high, 3)
    (0.29, 0.019, 0.761)
    """
    check_arguments(estimate, locals())
    name = statistic if isinstance(statistic, str) else getattr(statistic, "__name__", repr(statistic))
    unit_ids = named_table(values).unit_ids if isinstance(values, pd.DataFrame) else None
    if name == "set_alpha":
        values, level = set_table(values, distance=options.pop("distance", None))  # type: ignore[arg-type]
        name, options, values = "krippendorff_alpha", options | {"level": level}, coded(values)
    if name == "icc":
        return _of_icc(values, options, ci, (groups, unit_ids), confidence_level)
    categories = options.get("categories")
    if name in ("krippendorff_alpha", "specific_agreement"):  # it changes nothing there
        options.pop("categories", None)
    settings = _settings(name, ci, groups, n_boot, seed, confidence_level, options)
    table = values if isinstance(values, Patterns | Coded) else read_values(values)
    check_scale(table, categories, level=options.get("level"))
    settings = replace(settings, options=with_scale(settings.statistic, table, options))
    computed = compute(settings.statistic, table, settings.options, locate=settings.ci == "cluster")
    value = computed.coefficient.estimate
    known: dict[str, Any] = {"reason": computed.reason}
    number: Integers | None = None
    if settings.ci == "cluster":
        labelled = groups, unit_ids
        number, known["n_clusters"], rests_on = _clusters(table, labelled, computed, settings.statistic)
        computed = replace(computed, rests_on=rests_on)
    if known["reason"] is None:
        known |= interval(computed, table, number, settings)
    n_coders = computed.n_coders
    if n_coders is None and isinstance(table, Coded):
        n_coders = coders_of(table, values_of(table.codes))
    return Estimate(
        statistic=name,
        estimate=value,
        n_units=computed.n_units,
        n_coders=n_coders,
        n_pairable=computed.n_pairable,
        method=settings.ci,
        confidence_level=confidence_level,
        **(_NOTHING | {"seed": settings.seed} | known),
    )


def _of_icc(
    values: Any,
    options: dict[str, Any],
    ci: Method | None,
    labelled: tuple[object, pd.Index | None],
    confidence_level: float,
) -> Estimate:
    """Return an intraclass correlation with its interval, of F or from leaving out each cluster."""
    by_cluster = labelled[0] is not None
    method = ci or ("cluster" if by_cluster else "analytic")
    known = {"kind", "n_averaged", "categories"}
    if not {"kind"} <= set(options) <= known or method != ("cluster" if by_cluster else "analytic"):
        raise ArgumentError(
            "estimate: expected of icc the option kind (and n_averaged, categories), and ci='cluster' with "
            f"groups or ci='analytic' without – found {first_three(sorted(options)) or 'no option'}, "
            f"ci={method!r} {'with' if by_cluster else 'without'} groups – change it."
        )
    check_resampling("estimate", n_boot=1, confidence_level=confidence_level, seed=0)
    if isinstance(values, Patterns):
        raise ArgumentError("estimate: expected a table (coders, units) for icc – found patterns – pass it.")
    read = values if isinstance(values, Coded) else read_values(values)
    kind, n_averaged = options["kind"], options.get("n_averaged", 1)
    table = rated(read, options.get("categories"), kind=kind, n_averaged=n_averaged)
    complete = np.asarray((read.codes > 0).all(axis=0), dtype=np.bool_)
    number = None
    if by_cluster:
        number = _numbers(_cluster_labels(labelled[0], len(complete), labelled[1]), complete)[complete]
    found: dict[str, Any] = {"reason": Reason.ONE_CODER if len(table) < 2 else Reason.NO_PAIRABLE_UNITS}
    value = np.nan
    if min(table.shape) >= 2:
        value = averaged(correlation(table, kind), n_averaged)
        found = icc_interval(table, kind, n_averaged, number, confidence_level)
    if number is not None:
        found["n_clusters"] = len(np.unique(number))
    return Estimate(
        statistic=f"icc ({kind}, {n_averaged})",
        estimate=value,
        n_units=int((values_of(read.codes) > 0).sum()),
        n_coders=len(table),
        n_pairable=table.shape[1],
        method=method,
        confidence_level=confidence_level,
        **(_NOTHING | {"seed": None} | found),
    )


# ---- settings -----------------------------------------------------------------------------------------


def _settings(
    name: str,
    ci: Method | None,
    groups: object,
    n_boot: int,
    seed: int,
    confidence_level: float,
    options: dict[str, Any],
) -> Settings:
    ci = ci or ("analytic" if groups is None else "cluster")
    if ci not in get_args(Method):
        raise ArgumentError(
            f"estimate: expected ci to be one of {', '.join(get_args(Method))} – found {ci!r} – "
            f"{did_you_mean(str(ci), get_args(Method))}"
        )
    if (ci == "cluster") != (groups is not None):
        problem = "none" if groups is None else f"groups with ci={ci!r}"
        raise ArgumentError(
            f"estimate: expected groups only with ci='cluster' – found {problem} – change one."
        )
    check_resampling("estimate", n_boot=n_boot, confidence_level=confidence_level, seed=seed)
    if name == "krippendorff_alpha" and "level" not in options:
        raise ArgumentError("estimate: expected the level of krippendorff_alpha – found none – give level=….")
    if name == "specific_agreement" and "category" not in options:
        raise ArgumentError("estimate: expected the category of specific_agreement – found none – give it.")
    check_options(name, options)
    if ci == "kalpha" and name != "krippendorff_alpha":
        raise ArgumentError(
            f"estimate: expected krippendorff_alpha for ci='kalpha' – found {name} – change one."
        )
    return Settings(name, ci, n_boot, seed if ci in _SEEDED else None, confidence_level, options)


def _cluster_labels(groups: object, n_units: int, unit_ids: pd.Index | None) -> pd.Series:
    """Return the label of each unit: by its id where the units have ids, else in their order."""
    if unit_ids is not None:
        return labels_by_unit(groups, unit_ids, name="groups")  # type: ignore[arg-type]
    if isinstance(groups, pd.Series) and not isinstance(groups.index, pd.RangeIndex):
        raise TableError(
            "groups: expected labels in the order of the units, because these values have no unit ids – "
            "found a Series with an index of its own – pass values with named axes "
            "(agreement.from_wide), where labels are found by unit_id; or, in the order of the values, "
            "groups.to_numpy()."
        )
    labels = pd.Series(np.asarray(groups, dtype=object)) if np.ndim(groups) == 1 else None  # type: ignore[arg-type]
    if labels is None or len(labels) != n_units:
        problem = "another shape" if labels is None else f"{len(labels)} labels"
        raise TableError(
            f"groups: expected one label for each of the {n_units} units – found {problem} – give them in "
            "the order of the units."
        )
    labels = without_blanks(labels)
    check_groups(labels, name="groups")
    return labels


def _clusters(
    table: Coded | Patterns, labelled: tuple[object, pd.Index | None], computed: Computed, statistic: str
) -> tuple[Integers, int, Evidence]:
    """Return the number of each unit's cluster, how many clusters count, and what they say."""
    if isinstance(table, Patterns) or computed.coded is None or computed.group is None:
        raise ArgumentError(
            "estimate: expected a table (coders, units) with groups – found patterns, which do not "
            "identify units – pass the table."
        )
    groups, unit_ids = labelled
    labels = _cluster_labels(groups, table.codes.shape[1], unit_ids)
    counted = computed.group >= 0
    numbers = _numbers(labels, counted)
    pairable = values_of(computed.coded.codes) >= 2
    rests_on = evidence(
        statistic, computed.coded.codes[:, pairable], len(table.categories), numbers[pairable]
    )
    return numbers, rests_on.groups, rests_on


def _numbers(labels: pd.Series, counted: npt.NDArray[np.bool_]) -> Integers:
    """Return the number of each counted unit's cluster, −1 for the others; each must have a label."""
    missing = np.flatnonzero(counted & labels.isna().to_numpy())
    if len(missing):
        raise TableError(
            f"groups: expected a label for every unit with values – found none for units "
            f"{first_three(labels.index[missing])} – fill them in (units without ids are counted from 0)."
        )
    numbers = np.full(len(labels), -1, dtype=np.int64)
    numbers[counted] = pd.factorize(labels[counted].astype(str), sort=True)[0]
    return numbers
