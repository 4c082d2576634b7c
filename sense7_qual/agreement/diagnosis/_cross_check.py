"""Second opinion: the coefficients of a study, recomputed with other people's packages."""

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
from sense7_qual.agreement._counts import own_decisions, value_tables
from sense7_qual.agreement._results import CROSS_CHECK
from sense7_qual.agreement.coefficients import (
    cohen_kappa,
    fleiss_kappa,
    krippendorff_alpha,
    light_kappa,
    percent_agreement,
)

__all__ = ["cross_check"]

Floats = npt.NDArray[np.float64]
Statistic = Callable[[Floats], float]


@CROSS_CHECK.returns
def cross_check(decisions: pd.DataFrame) -> pd.DataFrame:
    """Return each code's agreement as this package and as other packages compute it, and the difference.

    Use it before reporting: `report.tables.reliability(…, cross_check=…)` prints the largest difference in
    the foot of the table. It shows that the numbers are those of the named coefficients, not that the
    coefficients suit the study. Intervals, AC1 and Conger's kappa have no second implementation here.

    Parameters
    ----------
    decisions : DataFrame
        unit_id, coder, code, applied (bool). Units that a coder has not finished are missing. Decisions of
        `consensus`, `majority` and `pooled` are left out.

    Raises
    ------
    TableError
        `decisions` is not what its contract says.

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
