"""Where agreement goes wrong: units, confused codes, a model as a coder; numbers of other packages."""

from __future__ import annotations

import itertools
import platform
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from importlib.metadata import version
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._reasons import Reason
from sense7_qual._rests_on import rests_on
from sense7_qual.agreement._counts import (
    Pairs,
    binary_alpha,
    own_decisions,
    paired,
    unit_counts,
    value_tables,
)
from sense7_qual.agreement._human_model import Integers
from sense7_qual.agreement._results import BY_UNIT, CONFUSION, CROSS_CHECK
from sense7_qual.agreement.coefficients import (
    cohen_kappa,
    fleiss_kappa,
    krippendorff_alpha,
    light_kappa,
    percent_agreement,
)
from sense7_qual.agreement.diagnosis._alternative_annotator_test import (
    AlternativeAnnotatorTest as AlternativeAnnotatorTest,
    alternative_annotator_test,
)
from sense7_qual.agreement.diagnosis._model_card import model_card
from sense7_qual.agreement.diagnosis._model_words import model_words

__all__ = ["alternative_annotator_test", "by_unit", "confusion", "cross_check", "model_card", "model_words"]

Floats = npt.NDArray[np.float64]
Statistic = Callable[[Floats], float]


def __dir__() -> list[str]:
    return __all__


@rests_on("decisions")
@CONFUSION.returns
def confusion(decisions: pd.DataFrame) -> pd.DataFrame:
    """Count the confusions of each two codes: one coder applied A where the other applied B instead.

    On a unit, two coders confuse A and B if one of them applied A without B, the other B without A, and both
    have decided on both codes. If the other coder applied no code instead, the row has no `code_b`: this is
    an omission, which a sharper definition of another code does not cure.

    Parameters
    ----------
    decisions : DataFrame
        unit_id, coder, code, applied (bool). Every two coders are compared on the units that both have
        finished; codes that both or neither applied are not part of a confusion.

    Raises
    ------
    TableError
        `decisions` breaks its contract.

    Examples
    --------
    >>> given = [("m1", "ana", "affective", True), ("m1", "ana", "cognitive", False),
    ...          ("m1", "ben", "affective", False), ("m1", "ben", "cognitive", True),
    ...          ("m2", "ana", "affective", True), ("m2", "ana", "cognitive", False),
    ...          ("m2", "ben", "affective", False), ("m2", "ben", "cognitive", False)]
    >>> decisions = pd.DataFrame(given, columns=["unit_id", "coder", "code", "applied"])
    >>> confusion(decisions)[["code_a", "code_b", "n_pairs", "n_units", "share"]].values.tolist()
    [['affective', 'cognitive', 1, 1, 0.5], ['affective', <NA>, 1, 1, 0.5]]
    """
    check_arguments(confusion, locals())
    pairs = paired(own_decisions(decisions, function="confusion"))
    confused, n_differing = _confused(pairs)
    cells, place = np.unique(confused[:, :2], axis=0, return_inverse=True)
    n_pairs = np.bincount(place, minlength=len(cells))
    n_units = np.bincount(np.unique(np.c_[place, confused[:, 2]], axis=0)[:, 0], minlength=len(cells))
    order = np.lexsort((cells[:, 1], cells[:, 0], -n_pairs))
    names = np.array([*pairs.codes, None], dtype=object)
    columns = {
        "code_a": names[cells[order, 0]],
        "code_b": names[cells[order, 1]],
        "n_pairs": n_pairs[order],
        "n_units": n_units[order],
        "share": n_pairs[order] / max(n_differing, 1),
    }
    return CONFUSION.frame(columns)


def _confused(pairs: Pairs) -> tuple[Integers, int]:
    """Return the codes and the unit of each confusion (n, 3), and how many times two coders differed.

    A number past the last code means "nothing instead", and so sorts after all codes.
    """
    differ = pairs.applied_first != pairs.applied_second
    meeting = (pairs.unit * len(pairs.coders) + pairs.first) * len(pairs.coders) + pairs.second
    columns = {"meeting": meeting, "unit": pairs.unit, "code": pairs.code, "of_first": pairs.applied_first}
    disputes = pd.DataFrame(columns)[differ]
    of_first, of_second = disputes[disputes["of_first"]], disputes[~disputes["of_first"]]
    met = of_first.merge(of_second, on=["meeting", "unit"])
    alone = disputes[disputes.groupby("meeting")["of_first"].transform("nunique") == 1]
    codes = np.sort(met[["code_x", "code_y"]].to_numpy(dtype=np.int64), axis=1)
    instead = np.c_[codes, met["unit"].to_numpy(dtype=np.int64)]
    omitted = alone.assign(nothing=len(pairs.codes))[["code", "nothing", "unit"]].to_numpy(dtype=np.int64)
    return np.concatenate([instead, omitted]), int(disputes["meeting"].nunique())


@rests_on("decisions")
@BY_UNIT.returns
def by_unit(decisions: pd.DataFrame) -> pd.DataFrame:
    """Return each unit's disagreement on each code, and the code's alpha without the unit.

    Use it to find the units worth discussing and the definitions that fail on them. Do not remove these
    units: alpha without them is no longer the agreement of the study.

    Parameters
    ----------
    decisions : DataFrame
        unit_id, coder, code, applied (bool). A unit counts for a code if two or more coders have decided on
        it.

    Raises
    ------
    TableError
        `decisions` breaks its contract.

    References
    ----------
    Krippendorff (2004), Content Analysis: An Introduction to Its Methods (2nd ed.), chapter 11: alpha as
    observed over expected disagreement, to which each unit adds its part.

    Examples
    --------
    >>> given = {"ana": [1, 1, 0, 0], "ben": [1, 0, 0, 0]}
    >>> decisions = pd.DataFrame([
    ...     {"unit_id": f"m{i}", "coder": coder, "code": "interest", "applied": bool(value)}
    ...     for coder, row in given.items() for i, value in enumerate(row, start=1)])
    >>> columns = ["unit_id", "share", "alpha", "alpha_without", "cost"]
    >>> by_unit(decisions)[columns].round(3).head(2).values.tolist()
    [['m2', 1.0, 0.533, 1.0, 0.467], ['m3', 0.0, 0.533, 0.444, -0.089]]
    """
    check_arguments(by_unit, locals())
    counts = unit_counts(own_decisions(decisions, function="by_unit"))
    totals, disagreement = counts.totals(), counts.disagreement
    absent = counts.n_coders - counts.n_applied
    part = np.stack([disagreement, counts.n_applied, absent], axis=1)
    alpha = binary_alpha(totals)[counts.code]
    # Rounding takes away what the order of a sum leaves behind: without its one dispute a code has none.
    without = totals[counts.code] - part
    without[:, 0] = np.where(without[:, 0] < 1e-9, 0.0, without[:, 0])
    alpha_without = binary_alpha(without)
    observed = totals[counts.code, 0]
    share = np.full(len(observed), np.nan)
    np.divide(disagreement, observed, out=share, where=observed > 0)
    cost = alpha_without - alpha
    order = np.lexsort((counts.unit, -np.round(np.nan_to_num(cost, nan=-np.inf), 12), counts.code))
    columns = {
        "code": counts.codes[counts.code],
        "unit_id": counts.units[counts.unit],
        "n_coders": counts.n_coders,
        "n_applied": counts.n_applied,
        "disagreement": disagreement / counts.n_coders,
        "share": share,
        "alpha": alpha,
        "alpha_without": alpha_without,
        "cost": cost,
    }
    frame = BY_UNIT.frame(columns)
    return frame.iloc[order].reset_index(drop=True)


@rests_on("decisions")
@CROSS_CHECK.returns
def cross_check(decisions: pd.DataFrame) -> pd.DataFrame:
    """Return each code's agreement as computed by this package and by others, and the difference.

    Use it before reporting: `report.tables.reliability(…, cross_check=…)` prints the largest difference below
    the table. It shows that the numbers are those of the named coefficients, not that the coefficients suit
    the study. Intervals, AC1 and Conger's kappa have no second implementation here.

    Parameters
    ----------
    decisions : DataFrame
        unit_id, coder, code, applied (bool). Units that a coder has not finished are missing. Decisions of
        `consensus`, `majority` and `pooled` are left out.

    Raises
    ------
    TableError
        `decisions` breaks its contract.

    References
    ----------
    Castro (2017), Fast Krippendorff (the package krippendorff). Seabold & Perktold (2010), statsmodels,
    Proceedings of the 9th Python in Science Conference. Pedregosa et al. (2011), Scikit-learn, JMLR 12.

    Examples
    --------
    The binary example of Krippendorff (2011, section A), published as .095 with 60 % agreement:

    >>> given = {"ana": [0, 1, 0, 0, 0, 0, 0, 0, 1, 0], "ben": [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]}
    >>> decisions = pd.DataFrame([
    ...     {"unit_id": f"m{i}", "coder": coder, "code": "interest", "applied": bool(value)}
    ...     for coder, row in given.items() for i, value in enumerate(row)])
    >>> checks = cross_check(decisions)
    >>> checks[["statistic", "ours", "theirs"]].round(3).head(2).values.tolist()
    [['alpha', 0.095, 0.095], ['percent', 0.6, 0.6]]
    >>> bool(checks["difference"].max() < 1e-12)
    True
    """
    check_arguments(cross_check, locals())
    own = own_decisions(decisions, function="cross_check")
    rows: list[dict[str, object]] = []
    for code, values in value_tables(own):
        rows += [{"code": code} | row for row in _compared(values)]
    return CROSS_CHECK.frame(rows)


def _compared(values: Floats) -> Iterator[dict[str, object]]:
    """Yield one row per statistic and package for the values (coders, units) of one code."""
    present = ~np.isnan(values)
    pairable = values[:, present.sum(axis=0) >= 2]
    complete = values[:, present.all(axis=0)] if len(values) >= 2 else values[:, :0]
    kappa, name = (cohen_kappa, "cohen_kappa") if len(values) == 2 else (light_kappa, "light_kappa")
    yield _row("alpha", pairable, _our_alpha, _their_alpha, "krippendorff")
    yield _row("percent", pairable, percent_agreement, _percent_in_fractions, "Python", varies=False)
    yield _row(name, pairable, kappa, _mean_kappa(_sklearn_kappa), "scikit-learn")
    yield _row(name, pairable, kappa, _mean_kappa(_statsmodels_kappa), "statsmodels")
    yield _row("fleiss_kappa", complete, fleiss_kappa, _their_fleiss, "statsmodels")


def _row(
    name: str, values: Floats, ours: Statistic, theirs: Statistic, package: str, *, varies: bool = True
) -> dict[str, object]:
    """Return both numbers of a statistic; `varies` says that it is not defined where all values are equal."""
    row: dict[str, object] = {"statistic": name, "n_units": values.shape[1], "package": package}
    if not values.shape[1]:
        return row | {"reason": Reason.NO_PAIRABLE_UNITS}
    if varies and np.nanmin(values) == np.nanmax(values):
        return row | {"reason": Reason.NO_VARIATION}
    try:
        number = theirs(values)
    except ImportError:
        return row | {"reason": Reason.PACKAGE_ABSENT}
    row |= {"version": platform.python_version() if package == "Python" else version(package)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # not defined: the row says so
        own = ours(values)
    row |= {"ours": own, "theirs": number, "difference": abs(own - number)}
    if np.isnan(own) != np.isnan(number):
        return row | {"reason": Reason.ONE_SIDE_UNDEFINED}
    return row | {"reason": Reason.NO_VARIATION if np.isnan(own) else None}


def _our_alpha(values: Floats) -> float:
    return krippendorff_alpha(values, level="nominal")


def _their_alpha(values: Floats) -> float:
    import krippendorff

    return float(krippendorff.alpha(reliability_data=values, level_of_measurement="nominal"))


def _percent_in_fractions(values: Floats) -> float:
    """Average the agreeing share of each unit's pairs of coders, pair by pair, without rounding."""
    patterns = Counter(tuple(unit[~np.isnan(unit)].tolist()) for unit in values.T)
    total = Fraction(0)
    for pattern, n_units in patterns.items():
        pairs = [one == other for one, other in itertools.combinations(pattern, 2)]
        total += n_units * Fraction(sum(pairs), len(pairs))
    return float(total / sum(patterns.values()))


def _mean_kappa(kappa: Callable[[Any, Any], float]) -> Statistic:
    """Return the mean of a two-coder kappa over the pairs of coders with units in common.

    It is not defined where one of them is not: where two coders gave the same value everywhere.
    """

    def mean(values: Floats) -> float:
        kappas = []
        for one, other in itertools.combinations(values, 2):
            both = ~np.isnan(one) & ~np.isnan(other)
            if both.any():
                varies = len(np.unique(np.concatenate([one[both], other[both]]))) > 1
                kappas.append(kappa(one[both].astype(int), other[both].astype(int)) if varies else np.nan)
        return float(np.mean(kappas)) if kappas else float("nan")

    return mean


def _sklearn_kappa(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> float:
    from sklearn.metrics import cohen_kappa_score

    return float(cohen_kappa_score(one, other))


def _statsmodels_kappa(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> float:
    from statsmodels.stats.inter_rater import cohens_kappa

    counts = np.bincount(2 * one + other, minlength=4).reshape(2, 2)
    return float(cohens_kappa(counts, return_results=False))


def _their_fleiss(values: Floats) -> float:
    from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_fleiss

    applied = values.sum(axis=0)
    return float(statsmodels_fleiss(np.stack([len(values) - applied, applied], axis=1), method="fleiss"))
