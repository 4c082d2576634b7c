"""Inter-coder agreement on the codes of a study: each code by itself, and whole sets of codes.

Coverage decides what is missing. A unit that a coder has not finished has no decision, and a missing
decision is never taken for "absent". Computed decisions (`consensus`, `majority`, `pooled`) are not coders
and never enter agreement; models enter it only where they are asked for. Units drawn into the overlap with
unequal probabilities are weighted back to all units (`weighted_row`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._basis import waiting_in
from sense7_qual._bootstrap import check_resampling
from sense7_qual._debias import probabilities_of, refuse_more_than_drawn
from sense7_qual._messages import first_three
from sense7_qual._reasons import Reason
from sense7_qual._rests_on import rests_on
from sense7_qual.agreement._counts import cluster_numbers
from sense7_qual.agreement._intervals import estimate
from sense7_qual.agreement._intervals._bootstrap import (
    FEWEST,
    Evidence,
    cut_off,
    degrees_of_freedom,
    jackknife_error,
    log_scale_interval,
    without_disagreement,
)
from sense7_qual.agreement._results import AGREEMENT, OVERALL
from sense7_qual.agreement._what_shows import say_what_shows
from sense7_qual.agreement.coefficients._compute import compute, evidence
from sense7_qual.agreement.coefficients._patterns import Coded, coded
from sense7_qual.agreement.sets import set_table
from sense7_qual.agreement.sets._values import SetDistance, set_patterns
from sense7_qual.errors import TableError
from sense7_qual.frames import DECISIONS, clusters_by_unit, is_model, people, without_models

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_ABSENT_APPLIED: Final = np.array([0.0, 1.0])
_EQUAL = 1e-12


@rests_on("decisions")
@AGREEMENT.returns
def by_code(
    decisions: pd.DataFrame,
    *,
    units: pd.DataFrame | None = None,
    cluster: str | None = None,
    inclusion: pd.DataFrame | None = None,
    with_models: bool = False,
    n_boot: int = 2000,
    confidence_level: float = 0.95,
    seed: int = 0,
) -> pd.DataFrame:
    """Return Krippendorff's nominal alpha of each code, with its interval.

    Use it as the main report of a study's reliability: the presence of each code is a question of its own.
    For one number over all codes as well, use `overall`.

    A unit counts for a code if two or more coders have decided on it; a coder who has not finished a unit is
    missing there, not "absent". All numbers of a row are of these units. Decisions of `consensus`, `majority`
    and `pooled` are left out, and those of models with a warning: a model that is good at the codes would
    raise the agreement of people who are not.

    Parameters
    ----------
    decisions : DataFrame
        unit_id, coder, code, applied (bool).
    units : DataFrame, optional
        One row per unit: unit_id and the column `cluster`.
    cluster : str, optional
        The column of `units` with the cluster of each unit: the participant, or the conversation. Whole
        clusters are resampled, because their units are not independent. Without it units are resampled, and
        the intervals are too narrow where participants differ.
    inclusion : DataFrame, optional
        For units drawn with unequal probabilities to be coded by several coders: unit_id, probability, as
        `corpus.inclusion` returns it. Every number except n_units, n_coders, n_models and n_clusters is then
        weighted back to all units that could have been drawn. Equal probabilities need no weights. It has
        every unit that could have been drawn: more units coded twice than its probabilities add up to are
        refused.
    with_models : bool
        Whether models count as coders, so that the numbers are no longer of people alone (`human_model`
        separates the two).
    n_boot : int
        Number of bootstrap resamples.
    confidence_level : float
        Level of the interval, between 0 and 1.
    seed : int
        The same seed gives the same interval. A code's row does not depend on the other codes.

    Raises
    ------
    TableError
        `decisions` breaks its contract, or a unit has no cluster or several; with `inclusion`, a unit that
        two or more coders decided on has no probability.
    ArgumentError
        `n_boot`, `confidence_level` or `seed` is out of its range.

    Notes
    -----
    The interval is the bias-corrected and accelerated bootstrap (Efron 1987) with the normal quantile widened
    for few clusters, as in the expanded percentile interval of Hesterberg (2015): z = t(n − 1) · √(n / (n −
    1)) for n clusters. For uneven clusters n is the equivalent number of equal clusters, (Σ v)² / Σ v² for
    their shares v of the variance, given how strongly the units of a cluster depend on each other (Imbens &
    Kolesár 2016; with full dependence it is that of Carter et al. 2017). In simulated studies with 10 to 100
    participants, prevalences of .02 to .3 and alphas of .3 to .8 it covered the true alpha in 95 to 99 % of
    the studies that had an interval, the plain percentile interval in 86 to 94 %; with 14 very uneven
    clusters in 92 to 96 % (benchmarks/agreement_coverage.py).

    With `inclusion` each unit counts by 1 over its probability (Horvitz & Thompson 1952; as ratios of such
    sums, after Hájek). Krippendorff's correction m / (m − 1) takes for m the equivalent number of values of
    equal weight, (Σ w)² / Σ w² (Kish 1965). The interval is the jackknife's, of units or clusters drawn with
    replacement, on the scale of log(1 − alpha); it is not resampled. In simulated studies it held the true
    alpha in 94 to 97 %, and alpha was on average within .01 of it; that of the drawn units, unweighted, was
    up to .13 off (benchmarks/weighted_back.md).

    References
    ----------
    Krippendorff (2011), Computing Krippendorff's Alpha-Reliability. Efron (1987), Better bootstrap
    confidence intervals, JASA 82, 171–185. Hesterberg (2015), What teachers should know about the
    bootstrap, The American Statistician 69, 371–386. Imbens & Kolesár (2016), Robust standard errors in small
    samples: Some practical advice, Review of Economics and Statistics 98, 701–712. Carter, Schnepel &
    Steigerwald (2017), Asymptotic behavior of a t-test robust to cluster heterogeneity, Review of Economics
    and Statistics 99, 698–709. Horvitz & Thompson (1952), A generalization of sampling without replacement
    from a finite universe, JASA 47, 663–685. Kish (1965), Survey Sampling. The others: see `cohen_kappa`,
    `conger_kappa`, `gwet_ac` and `specific_agreement`.

    Examples
    --------
    The binary example of Krippendorff (2011, section A), published as .095 with 60 % agreement:

    >>> given = {"ana": [0, 1, 0, 0, 0, 0, 0, 0, 1, 0], "ben": [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]}
    >>> decisions = pd.DataFrame([
    ...     {"unit_id": f"m{i}", "coder": coder, "code": "interest", "applied": bool(value)}
    ...     for coder, row in given.items() for i, value in enumerate(row)])
    >>> by_code(decisions, seed=7)[["n_units", "percent", "alpha"]].round(3).values.tolist()
    [[10, 0.6, 0.095]]
    """
    check_arguments(by_code, locals())
    check_resampling("by_code", n_boot=n_boot, confidence_level=confidence_level, seed=seed)
    decisions = DECISIONS.check(decisions)
    if not with_models:
        decisions = without_models(decisions, function="by_code")
    if inclusion is None:
        say_what_shows(people(decisions, with_models=True), function="by_code")
    settings = {"confidence_level": confidence_level, "seed": seed}
    rows: list[dict[str, Any]] = []
    if inclusion is not None:
        known = probabilities_of(inclusion)
        if "drawn" not in inclusion:  # else it is known which they are
            n_coders = people(decisions, with_models=True).groupby("unit_id")["coder"].nunique()
            refuse_more_than_drawn(known, int((n_coders > 1).sum()), function="by_code")
        for code, table, groups, unit_ids in _named_tables(decisions, units, cluster):
            row = weighted_row(table, unit_ids, groups, known, confidence_level)
            rows.append({"code": code, **row, **settings})
        return _result(rows, decisions, settings)
    for code, table, groups in code_tables(decisions, units, cluster):
        row = row_of_table(table, groups, n_boot, confidence_level, seed)
        rows.append({"code": code, **row, **_others(table), **settings})
    return _result(rows, decisions, settings)


@rests_on("decisions")
@OVERALL.returns
def overall(
    decisions: pd.DataFrame,
    *,
    distance: SetDistance = "masi",
    units: pd.DataFrame | None = None,
    cluster: str | None = None,
    n_boot: int = 2000,
    confidence_level: float = 0.95,
    seed: int = 0,
) -> pd.DataFrame:
    """Return set alpha: the agreement on the whole set of codes of each unit.

    Use it as one number in addition to `by_code`, where units can have several codes. Do not use it instead
    of `by_code`: codes that everybody agrees on hide one that nobody agrees on.

    Parameters
    ----------
    decisions : DataFrame
        unit_id, coder, code, applied (bool). A coder's set counts where the coder has decided on every code
        of `decisions`; a unit finished with no code applied is the empty set, which is an answer. Models are
        left out with a warning.
    distance : {"masi", "jaccard", "dice"}
        The distance between two sets; see `set_alpha`. It changes the number: report it.
    units, cluster, n_boot, confidence_level, seed
        As for `by_code`.

    Raises
    ------
    TableError
        `decisions` breaks its contract, or a unit has no cluster or several.
    ArgumentError
        An unknown distance, or a setting out of its range.

    References
    ----------
    Passonneau (2006), Measuring agreement on set-valued items (MASI) for semantic and pragmatic annotation,
    LREC. Interval: see `by_code`.

    Examples
    --------
    >>> given = {"ana": ["prosocial", "affective prosocial", ""], "ben": ["prosocial", "prosocial", ""]}
    >>> decisions = pd.DataFrame([
    ...     {"unit_id": f"m{i}", "coder": coder, "code": code, "applied": code in codes.split()}
    ...     for coder, row in given.items() for i, codes in enumerate(row)
    ...     for code in ("affective", "prosocial")])
    >>> overall(decisions, seed=7)[["n_units", "n_sets", "percent", "alpha"]].round(3).values.tolist()
    [[3.0, 3.0, 0.667, 0.667]]
    """
    check_arguments(overall, locals())
    check_resampling("overall", n_boot=n_boot, confidence_level=confidence_level, seed=seed)
    patterns = set_patterns(decisions)
    groups = cluster_numbers(pd.Index(patterns.unit_ids, dtype="string"), clusters_by_unit(units, cluster))
    pairable = (patterns.values >= 0).sum(axis=0) >= 2
    values, apart = set_table(patterns, distance=distance)
    table = coded(values[:, pairable])
    interval = estimate(
        table,
        "krippendorff_alpha",
        level=apart,
        groups=groups[pairable],
        n_boot=n_boot,
        seed=seed,
        confidence_level=confidence_level,
    )
    row = {
        "distance": distance,
        "n_units": interval.n_units,
        "n_coders": interval.n_coders,
        "n_clusters": interval.n_clusters,
        "n_sets": len(apart),
        "percent": compute("percent_agreement", table, {}).coefficient.estimate,
        "alpha": interval.estimate,
        "alpha_low": interval.low,
        "alpha_high": interval.high,
        "n_boot": interval.n_boot,
        "n_undefined": interval.n_undefined,
        "confidence_level": confidence_level,
        "seed": seed,
        "reason": interval.reason,
    }
    return OVERALL.frame([row])


def code_tables(
    decisions: pd.DataFrame, units: pd.DataFrame | None, cluster: str | None
) -> Iterator[tuple[str, Coded, Integers]]:
    """Yield each code with the units that two or more coders decided on, and the cluster of each unit.

    A table (coders, units) holds 0 missing, 1 absent, 2 applied; clusters have numbers.
    """
    for code, table, groups, _ in _named_tables(decisions, units, cluster):
        yield code, table, groups


def _named_tables(
    decisions: pd.DataFrame, units: pd.DataFrame | None, cluster: str | None
) -> Iterator[tuple[str, Coded, Integers, pd.Index]]:
    """Yield the tables of `code_tables` with the ids of the units."""
    own = people(decisions, with_models=True)  # the caller has left out the models, unless asked for
    unit, unit_ids = pd.factorize(own["unit_id"], sort=True)
    groups = cluster_numbers(pd.Index(unit_ids), clusters_by_unit(units, cluster))
    for code in decisions["code"].unique():
        chosen = (own["code"] == code).to_numpy(dtype=np.bool_)
        table = _coded(own[chosen], unit[chosen], len(unit_ids))
        pairable = (table.codes > 0).sum(axis=0) >= 2
        pairable_table = Coded(table.categories, table.codes[:, pairable])
        yield str(code), pairable_table, groups[pairable], pd.Index(unit_ids)[pairable]


def prevalence_of(table: Coded) -> float:
    """Return the share of the decisions of `code_tables` in which the code is applied, NaN without any."""
    given = int((table.codes > 0).sum())
    return float((table.codes == 2).sum() / given) if given else np.nan


def _coded(own: pd.DataFrame, unit: Integers, n_units: int) -> Coded:
    """Return the decisions on a code (coders, units): 0 missing, 1 absent, 2 applied."""
    coder, coders = pd.factorize(own["coder"], sort=True)
    codes = np.zeros((len(coders), n_units), dtype=np.uint8)
    codes[coder, unit] = own["applied"].to_numpy(dtype=np.uint8) + 1
    return Coded(categories=_ABSENT_APPLIED, codes=codes)


def _others(table: Coded) -> dict[str, Any]:
    """Return the coefficients other than alpha, of the units with two or more decisions."""
    present = (table.codes > 0).any(axis=1)
    table = Coded(table.categories, table.codes[present])
    n_coders = int(present.sum())
    kappa = "cohen_kappa" if n_coders == 2 else "conger_kappa"

    def value(statistic: str, **options: Any) -> float:
        return compute(statistic, table, options).coefficient.estimate

    return {
        "n_coders": n_coders,
        "kappa": value(kappa),
        "ac1": value("gwet_ac", categories=[0, 1]),
        "positive_agreement": value("specific_agreement", category=1),
        "negative_agreement": value("specific_agreement", category=0),
    }


def row_of_table(
    table: Coded, cluster: Integers, n_boot: int, confidence_level: float, seed: int
) -> dict[str, object]:
    """Return a code's alpha and its interval, of the units with two or more decisions."""
    result = estimate(
        table,
        "krippendorff_alpha",
        level="nominal",
        groups=cluster,
        n_boot=n_boot,
        seed=seed,
        confidence_level=confidence_level,
    )
    return {
        "n_units": result.n_units,
        "n_clusters": result.n_clusters,
        "prevalence": prevalence_of(table),
        "percent": compute("percent_agreement", table, {}).coefficient.estimate,
        "alpha": result.estimate,
        "alpha_low": result.low,
        "alpha_high": result.high,
        "n_boot": result.n_boot,
        "n_undefined": result.n_undefined,
        "reason": result.reason,
    }


def _result(rows: list[dict[str, object]], decisions: pd.DataFrame, settings: dict[str, Any]) -> pd.DataFrame:
    """Return the rows with the number of models among the coders of each code, and those that wait."""
    coders = people(decisions, with_models=True)
    pairable = coders.groupby(["code", "unit_id"])["coder"].transform("size") >= 2
    models = coders[pairable & coders["coder"].map(is_model).astype(bool)].groupby("code")["coder"].nunique()
    table = pd.DataFrame(rows, columns=["code"] if not rows else None)
    table = table.assign(n_models=table["code"].map(models).fillna(0))
    waiting = [
        {"code": one.code, "reason": Reason.WAITING_FOR_REVIEW} | settings for one in waiting_in(decisions)
    ]
    return AGREEMENT.frame([*table.to_dict("records"), *waiting] if waiting else table)


def weighted_row(
    table: Coded, unit_ids: pd.Index, cluster: Integers, known: pd.Series, confidence_level: float
) -> dict[str, Any]:
    """Return the numbers of a code, of units (coders, units) with two or more values, for all units."""
    chance = known.reindex(unit_ids.astype("string"))
    missing = chance.index[chance.isna()]
    if len(missing):
        raise TableError(
            "inclusion: expected the probability of every unit that two or more coders decided on – found "
            f"none for {first_three(missing)} – pass corpus.inclusion of the plan, and only its decisions."
        )
    weight = 1 / chance.to_numpy(dtype=np.float64)
    codes = table.codes[(table.codes > 0).any(axis=1)]
    row = {
        "n_units": codes.shape[1],
        "n_coders": len(codes),
        "n_clusters": len(np.unique(cluster)),
        "n_boot": None,
        "n_undefined": None,
    }
    return row | _coefficients(codes, weight) | alpha_of(table, weight, cluster, confidence_level)


def _sums(codes: npt.NDArray[Any], weight: Floats) -> Floats:
    """Return of each unit (units, 4): disagreement, values applied and absent, squared weights of values."""
    applied, absent = (codes == 2).sum(axis=0), (codes == 1).sum(axis=0)
    values = applied + absent
    apart = 2 * applied * absent / (values - 1)
    return np.stack([weight * apart, weight * applied, weight * absent, weight**2 * values], axis=1)


def _expected(sums: Floats) -> Floats:
    """Return the disagreement expected by chance, corrected for how many values of equal weight there are."""
    total = sums[..., 1] + sums[..., 2]
    worth = total**2 / sums[..., 3]
    return np.asarray(2 * sums[..., 1] * sums[..., 2] / total**2 * worth / (worth - 1))


def weighted_alpha(sums: Floats) -> Floats:
    """Return alpha of sums (…, 4), NaN where nothing varies."""
    with np.errstate(invalid="ignore", divide="ignore"):
        expected = _expected(sums)
        ratio = sums[..., 0] / (sums[..., 1] + sums[..., 2]) / expected
    return np.asarray(np.where(expected > 0, 1 - ratio, np.nan))


def alpha_of(table: Coded, weight: Floats, cluster: Integers, confidence_level: float) -> dict[str, Any]:
    """Return alpha with its interval from leaving out each unit, or each cluster of units."""
    columns: dict[str, Any] = {"alpha": math.nan, "alpha_low": math.nan, "alpha_high": math.nan}
    if not len(weight):
        return columns | {"reason": Reason.NO_PAIRABLE_UNITS}
    sums = _sums(table.codes, weight)
    value = float(weighted_alpha(sums.sum(axis=0)))
    if math.isnan(value):
        return columns | {"reason": Reason.NO_VARIATION}
    columns["alpha"] = value
    groups = pd.factorize(cluster)[0]
    of_group: Floats = np.stack([np.bincount(groups, column) for column in sums.T], axis=1).astype(np.float64)
    rests_on = evidence("krippendorff_alpha", table.codes, len(table.categories), groups.astype(np.int64))
    clustered = len(of_group) < len(sums)
    if len(of_group) < 2:
        return columns | {"reason": Reason.ONE_CLUSTER if clustered else Reason.ONE_UNIT}
    if 1 - value < _EQUAL:
        ends = without_disagreement(_worth(rests_on, of_group, weight, groups), confidence_level)
        return columns | _ends(ends, value) | {"reason": Reason.NO_DISAGREEMENT}
    if rests_on.other < FEWEST:
        return columns | {"reason": Reason.FEW_CLUSTERS if clustered else Reason.FEW_UNITS}
    without = weighted_alpha(of_group.sum(axis=0) - of_group)
    deviations = np.nan_to_num(without - np.nanmean(without))
    times = np.ones(len(without), dtype=np.int64)
    error = jackknife_error(deviations, times)
    if error < _EQUAL:
        return columns | {"reason": Reason.ONE_PATTERN}
    degrees = degrees_of_freedom(deviations, times)
    ends = log_scale_interval(value, error, degrees, rests_on, confidence_level)
    return columns | _ends(ends, value) | {"reason": None}


def _worth(rests_on: Evidence, of_group: Floats, weight: Floats, groups: Integers) -> Evidence:
    """Return the evidence of as many groups as those of unequal weight are worth (Kish)."""
    each = np.bincount(groups, weight)
    applied, absent = of_group[:, 1].sum(), of_group[:, 2].sum()
    unequal = float(2 * applied * absent / (applied + absent) ** 2)
    groups_worth = max(1, int(each.sum() ** 2 / (each @ each)))
    return Evidence(groups_worth, rests_on.other, rests_on.agreed, rests_on.n_values, unequal)


def _ends(ends: tuple[float, float], value: float) -> dict[str, float]:
    low, high = cut_off(*ends, value, -1.0)
    return {"alpha_low": low, "alpha_high": high}


def _coefficients(codes: npt.NDArray[Any], weight: Floats) -> dict[str, float]:
    """Return the coefficients other than alpha, each unit by its weight."""
    applied, absent = (codes == 2).sum(axis=0), (codes == 1).sum(axis=0)
    values = applied + absent
    same = (applied * (applied - 1) + absent * (absent - 1)) / (values * (values - 1))
    percent, share = _mean(same, weight), _mean(applied / values, weight)
    of_coder = [
        float(weight[row == 2].sum() / weight[row > 0].sum()) for row in codes if weight[row > 0].sum() > 0
    ]
    chance = [p * q + (1 - p) * (1 - q) for p, q in itertools.combinations(of_coder, 2)]
    expected = float(np.mean(chance)) if chance else math.nan
    others = weight * (values - 1)
    return {
        "prevalence": _mean(applied, weight) / _mean(values, weight) if len(weight) else math.nan,
        "percent": percent,
        "kappa": _beyond(percent, expected),
        "ac1": _beyond(percent, 2 * share * (1 - share)),
        "positive_agreement": _ratio(weight @ (applied * (applied - 1)), others @ applied),
        "negative_agreement": _ratio(weight @ (absent * (absent - 1)), others @ absent),
    }


def _mean(values: npt.NDArray[Any], weight: Floats) -> float:
    return float(weight @ values / weight.sum()) if len(weight) else math.nan


def _beyond(observed: float, expected: float) -> float:
    return (observed - expected) / (1 - expected) if expected < 1 else math.nan


def _ratio(part: float, whole: float) -> float:
    return float(part / whole) if whole else math.nan
