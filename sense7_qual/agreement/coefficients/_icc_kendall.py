"""Agreement of coders who rate on a scale: intraclass correlation and Kendall's W."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from sense7_qual._arguments import check_arguments
from sense7_qual._messages import did_you_mean
from sense7_qual.agreement._values import Coded, read_values
from sense7_qual.agreement.coefficients._scale import check_scale
from sense7_qual.errors import ArgumentError, TableError

Kind = Literal["one_way", "agreement", "consistency"]

Floats = npt.NDArray[np.float64]


def icc(
    values: npt.ArrayLike, *, kind: Kind, n_averaged: int = 1, categories: Sequence[Any] | None = None
) -> float:
    """Return the intraclass correlation of coders who rate units on a numeric scale.

    Use it for ratings that are later averaged over coders (`n_averaged`), or where a field expects it. Do not
    use it for few categories or missing values; alpha at the interval level takes both. `estimate` gives the
    interval.

    Parameters
    ----------
    values : array-like (coders, units), or frame of `from_wide`
        Numbers. Units that lack a coder's value are left out.
    kind : {"one_way", "agreement", "consistency"}
        ICC(1) for different coders of every unit; ICC(A) or ICC(2) for the same coders, a sample, who should
        give the same values; ICC(C) or ICC(3) for the same coders, who need only order and space units alike.
    n_averaged : int
        The number of coders averaged; 1 is the reliability of a single coder.
    categories : sequence, optional
        As for `krippendorff_alpha`.

    Returns
    -------
    float
        At most 1. NaN, with a warning, with fewer than two units or coders, or where its denominator is not
        above 0: nothing varies, or units differ less than by chance and `n_averaged` is above 1.

    Raises
    ------
    TableError
        Not a table (coders, units) of numbers, or one looks like a code for missing.
    ArgumentError
        An unknown kind, `n_averaged` below 1, or a value missing in `categories`.

    References
    ----------
    Shrout and Fleiss (1979), Intraclass correlations: uses in assessing rater reliability, Psychological
    Bulletin 86, 420–428 (the example, table 2, published as .17, .29 and .71). McGraw and Wong (1996),
    Psychological Methods 1, 30–46.

    Examples
    --------
    >>> values = [[9, 6, 8, 7, 10, 6], [2, 1, 4, 1, 5, 2], [5, 3, 6, 2, 6, 4], [8, 2, 8, 6, 9, 7]]
    >>> [round(icc(values, kind=kind), 2) for kind in ("one_way", "agreement", "consistency")]
    [0.17, 0.29, 0.71]
    """
    check_arguments(icc, locals())
    table = rated(values, categories, kind=kind, n_averaged=n_averaged)
    if min(table.shape) < 2:
        return _undefined("icc", "fewer than two coders, or fewer than two units with a value of every coder")
    found = averaged(correlation(table, kind), n_averaged)
    if np.isnan(found):
        return _undefined("icc", "the values do not vary, or vary too much within units")
    return found


def rated(
    values: npt.ArrayLike | Coded, categories: Sequence[Any] | None, *, kind: object, n_averaged: object
) -> Floats:
    """Return the units with a value of every coder (coders, units), after checking the options of `icc`."""
    if kind not in get_args(Kind):
        raise ArgumentError(
            f"icc: expected kind to be one of {', '.join(get_args(Kind))} – found {kind!r} – "
            f"{did_you_mean(str(kind), get_args(Kind))}"
        )
    if isinstance(n_averaged, bool) or not isinstance(n_averaged, int) or n_averaged < 1:
        raise ArgumentError(
            f"icc: expected n_averaged to be 1 or more – found {n_averaged!r} – 1 is one coder."
        )
    return _complete(values, categories)


def correlation(table: Floats, kind: Kind) -> float:
    """Return the ICC of a single coder from complete values (coders, units), NaN where there is none."""
    between, coders, error, within = mean_squares(table)
    k, n = table.shape
    # The variances of the units' true values, and of what comes on top of them in one value.
    unexplained = within if kind == "one_way" else error
    of_units = (between - unexplained) / k
    total = of_units + unexplained + ((coders - error) / n if kind == "agreement" else 0.0)
    return float(of_units / total) if total > 0 else float("nan")


def averaged(single: float, n_averaged: int) -> float:
    """Return the reliability of a mean over coders (Spearman and Brown), NaN where there is none."""
    total = 1 + (n_averaged - 1) * single
    return float(n_averaged * single / total) if total > 0 else float("nan")


def kendall_w(values: npt.ArrayLike, *, categories: Sequence[Any] | None = None) -> float:
    """Return Kendall's W, the concordance of coders who order the units, corrected for ties.

    Use it where only the order of units matters and every coder ordered all of them. It is not the
    reliability of values: coders who differ by a constant are in perfect concordance.

    Parameters
    ----------
    values : array-like (coders, units), or frame of `from_wide`
        Numbers, ranked within each coder. Units that lack a coder's value are left out.
    categories : sequence, optional
        As for `krippendorff_alpha`.

    Returns
    -------
    float
        0 (no concordance) to 1. NaN, with a warning, with fewer than three units or two coders, or where
        every coder gave all units the same value.

    Raises
    ------
    TableError
        Not a table (coders, units) of numbers, or one looks like a code for missing.

    References
    ----------
    Kendall and Babington Smith (1939), The problem of m rankings, Annals of Mathematical Statistics 10,
    275–287. Siegel and Castellan (1988), Nonparametric Statistics for the Behavioral Sciences (2nd ed.),
    p. 262 ff.

    Examples
    --------
    >>> kendall_w([[1, 2, 3, 4], [10, 20, 30, 40], [2, 3, 4, 5]])
    1.0
    """
    check_arguments(kendall_w, locals())
    from scipy import stats

    table = _complete(values, categories)
    k, n = table.shape
    if k < 2 or n < 3:
        return _undefined("kendall_w", "fewer than two coders, or fewer than three units with all values")
    ranks = stats.rankdata(table, axis=1)
    ties = sum(float((t**3 - t).sum()) for row in table for t in [np.unique(row, return_counts=True)[1]])
    spread = np.square(ranks.sum(axis=0) - k * (n + 1) / 2).sum()
    most = k**2 * (n**3 - n) - k * ties
    if most <= 0:
        return _undefined("kendall_w", "no coder told units apart")
    return float(12 * spread / most)


def _complete(values: npt.ArrayLike | Coded, categories: Sequence[Any] | None) -> Floats:
    """Return the units with a value of every coder, as numbers (coders, units)."""
    table = values if isinstance(values, Coded) else read_values(values)
    if len(table.categories) and table.categories.dtype.kind not in "biuf":
        raise TableError("values: expected numbers – found strings – rank or score them first.")
    check_scale(table, categories)
    complete = (table.codes > 0).all(axis=0)
    numbers = table.categories[table.codes[:, complete].astype(np.int64) - 1]
    return np.asarray(numbers, dtype=np.float64).reshape(len(table.codes), -1)


def mean_squares(table: Floats) -> tuple[float, float, float, float]:
    """Return the mean squares between units, between coders, of the rest, and within units."""
    k, n = table.shape
    units, coders, mean = table.mean(axis=0), table.mean(axis=1), table.mean()
    between = k * np.square(units - mean).sum() / (n - 1)
    of_coders = n * np.square(coders - mean).sum() / (k - 1)
    rest = np.square(table - units - coders[:, None] + mean).sum() / ((n - 1) * (k - 1))
    within = np.square(table - units).sum() / (n * (k - 1))
    return float(between), float(of_coders), float(rest), float(within)


def _undefined(statistic: str, why: str) -> float:
    warnings.warn(f"{statistic} is not defined here (NaN): {why}.", RuntimeWarning, stacklevel=3)
    return float("nan")
