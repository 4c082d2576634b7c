"""One coefficient of a table of values: its function of sums, its counts, and why it may be missing.

The units that count differ: for Krippendorff's alpha those with two or more values, for Cohen's kappa and
Scott's pi those with values of both coders, for the others all with a value.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._messages import did_you_mean
from sense7_qual._reasons import Reason
from sense7_qual.agreement._intervals._bootstrap import Evidence
from sense7_qual.agreement._results import CATEGORIES
from sense7_qual.agreement._values import read_values
from sense7_qual.agreement.coefficients import _sums
from sense7_qual.agreement.coefficients._patterns import (
    Coded,
    Patterns,
    as_patterns,
    bad_values,
    coded,
    tally,
    tally_units,
)
from sense7_qual.agreement.coefficients._scale import check_scale
from sense7_qual.agreement.coefficients._sums import Totals
from sense7_qual.agreement.coefficients._weights import (
    Level,
    Metric,
    WideAlpha,
    check_level,
    wide_alpha,
)
from sense7_qual.errors import ArgumentError, TableError

Integers = npt.NDArray[np.int64]
Truths = npt.NDArray[np.bool_]
Values = npt.ArrayLike | Patterns | Coded

_CELLS: Final = 10**7
"""Cells of patterns × values (ordinal: × values again) beyond which alpha is computed without their table."""

_RANKED: Final = 64
"""Values beyond which the same holds of ordinal alpha, whose slope goes through pairs of pairs of values."""

STATISTICS: Final[Mapping[str, Callable[..., Totals]]] = {
    "krippendorff_alpha": _sums.alpha_totals,
    "percent_agreement": _sums.percent_totals,
    "fleiss_kappa": _sums.fleiss_totals,
    "conger_kappa": _sums.conger_totals,
    "scott_pi": _sums.scott_totals,
    "cohen_kappa": _sums.cohen_totals,
    "light_kappa": _sums.light_totals,
    "brennan_prediger": _sums.brennan_prediger_totals,
    "gwet_ac": _sums.gwet_totals,
    "specific_agreement": _sums.specific_totals,
}
"""The coefficients by name, each as the function that makes it of patterns and options."""

_BY_CODER: Final = frozenset({"cohen_kappa", "scott_pi", "conger_kappa", "light_kappa"})
_TWO_CODERS: Final = frozenset({"cohen_kappa", "scott_pi"})
_OTHER_CHANCE: Final = frozenset({"brennan_prediger", "gwet_ac", "specific_agreement"})
"""Coefficients whose chance agreement is not that of the values that were given."""


@dataclass(frozen=True, slots=True)
class Computed:
    """A coefficient of one table.

    `coefficient` holds the sums that it is made of; `n_units` how many units have a value, `n_pairable` two
    or more, `n_coders` how many coders gave a value in those (None where the table does not say). `rests_on`
    is what those units say of how sure the coefficient is. `coded` is the table as it was counted, and
    `group` (units,) which row of `coefficient` each of its units has, −1 for none; both None where patterns
    were given.
    """

    coefficient: Totals | WideAlpha
    n_units: int
    n_pairable: int
    n_coders: int | None
    rests_on: Evidence
    coded: Coded | None
    group: Integers | None

    @property
    def reason(self) -> Reason | None:
        """Why the coefficient is missing."""
        return reason_why(self.coefficient.estimate, n_pairable=self.n_pairable, n_coders=self.n_coders)


def reason_why(estimate: float, *, n_pairable: int, n_coders: int | None) -> Reason | None:
    """Return the reason code of a missing coefficient, None if it exists."""
    if not np.isnan(estimate):
        return None
    if n_pairable:
        return Reason.NO_VARIATION
    return Reason.ONE_CODER if n_coders == 1 else Reason.NO_PAIRABLE_UNITS


def compute(statistic: str, values: Values, options: Mapping[str, Any], *, locate: bool = False) -> Computed:
    """Read `values` for the coefficient of that name; `locate` also says which row each unit has."""
    check_options(statistic, options)
    if statistic == "krippendorff_alpha" and isinstance(options["level"], str):
        check_level(options["level"])
    if isinstance(values, Patterns):
        return _of_patterns(statistic, values, options)
    table = values if isinstance(values, Coded) else coded(values)
    options = with_scale(statistic, table, options)
    if statistic == "krippendorff_alpha":
        _check_scale(table, options["level"], table)
    if statistic in _TWO_CODERS and len(table.codes) != 2:
        raise TableError(
            f"values: expected two coders – found {len(table.codes)} – choose two, or take a coefficient for "
            "more: conger_kappa, fleiss_kappa, light_kappa, krippendorff_alpha."
        )
    size = len(table.categories)
    if locate or _is_wide(statistic, options, size, _most_patterns(table)):
        return _of_table(statistic, table, options)
    patterns = tally(table, keep_coders=statistic in _BY_CODER)
    computed = _of_patterns(statistic, patterns, options)
    return replace(computed, n_coders=1) if len(table.codes) == 1 else computed


def check_options(statistic: str, options: Mapping[str, Any]) -> None:
    """Raise `ArgumentError` where there is no coefficient of that name, or it does not take an option."""
    if statistic not in STATISTICS:
        raise ArgumentError(
            f"statistic: expected {', '.join(STATISTICS)} – found {statistic!r} – "
            f"{did_you_mean(statistic, STATISTICS)}"
        )
    known = options_of(statistic)
    for name in options:
        if name not in known:
            raise ArgumentError(
                f"{statistic}: expected options among {', '.join(known)} – found {name!r} – "
                f"{did_you_mean(name, known)}"
            )


def with_scale(statistic: str, table: Coded | Patterns, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options with the categories of an ordered Categorical, where none are named."""
    known = isinstance(table, Coded) and table.ordered and "categories" in options_of(statistic)
    if known and options.get("categories") is None:
        return {**options, "categories": table.categories}
    return dict(options)


@cache  # asked for in every estimate
def options_of(statistic: str) -> tuple[str, ...]:
    """Return the names of the options that a coefficient takes."""
    return tuple(name for name in inspect.signature(STATISTICS[statistic]).parameters if name != "patterns")


def _of_patterns(statistic: str, patterns: Patterns, options: Mapping[str, Any]) -> Computed:
    if statistic == "krippendorff_alpha":
        _check_scale(patterns, options["level"], None)
    patterns = as_patterns(patterns, keep_coders=statistic in _BY_CODER)
    paired = patterns.pairable()
    n_coders = None
    if paired.coders is not None:
        n_coders = int((paired.coders >= 0).any(axis=0).sum())
    sums: Totals | WideAlpha
    if _is_wide(statistic, options, len(paired.categories), len(paired.n_units)):
        sums = wide_alpha(paired, level=cast(Level, options["level"]))
    else:
        sums = STATISTICS[statistic](patterns, **options)
    return Computed(
        coefficient=sums,
        n_units=int(patterns.n_units.sum()),
        n_pairable=int(paired.n_units.sum()),
        n_coders=n_coders,
        rests_on=_of_paired(statistic, paired),
        coded=None,
        group=None,
    )


def _of_paired(statistic: str, paired: Patterns) -> Evidence:
    given = paired.marginals
    if not len(paired.n_units):
        return Evidence(groups=0, other=0, agreed=0, n_values=len(given), unequal=0.0)
    others = paired.n_values - paired.counts[:, int(given.argmax())]
    return Evidence(
        groups=int(paired.n_units.sum()),
        other=int(paired.n_units[others >= 1].sum()),
        agreed=int(paired.n_units[others >= 2].sum()),
        n_values=int(np.count_nonzero(given)),
        unequal=_unequal(statistic, given),
    )


def evidence(
    statistic: str, codes: npt.NDArray[Any], n_categories: int, cluster: Integers | None
) -> Evidence:
    """Return the evidence of units (coders, units) with two or more values, or of their clusters (units,)."""
    given = np.bincount(codes[codes > 0], minlength=n_categories + 1)[1:]
    most = int(given.argmax()) + 1 if given.any() else 0
    others = values_of(codes) - values_of(codes == most)
    number = np.arange(codes.shape[1]) if cluster is None else cluster
    return Evidence(
        groups=len(np.unique(number)),
        other=len(np.unique(number[others >= 1])),
        agreed=len(np.unique(number[others >= 2])),
        n_values=int(np.count_nonzero(given)),
        unequal=_unequal(statistic, given),
    )


def _unequal(statistic: str, given: npt.NDArray[Any]) -> float:
    """Return the share of pairs that differ by chance, 0 where the coefficient has another idea of chance."""
    if statistic == "percent_agreement":
        return 1.0
    if statistic in _OTHER_CHANCE or not given.any():
        return 0.0
    return float(1 - np.square(given / given.sum()).sum())


def values_of(codes: npt.NDArray[Any]) -> Integers:
    """Count the values of each unit (units,) in codes (coders, units) with 0 for none."""
    n_values = np.zeros(codes.shape[1], dtype=np.int64)
    for row in codes:
        n_values += row > 0
    return n_values


def coders_of(table: Coded, n_values: Integers) -> int:
    """Count the coders of units with two or more values; if there are none, of any."""
    chosen = n_values >= 2
    if not chosen.any():
        chosen = n_values > 0
    return sum(bool(row[chosen].any()) for row in table.codes)


def _of_table(statistic: str, table: Coded, options: Mapping[str, Any]) -> Computed:
    n_values = values_of(table.codes)
    pairable = n_values >= 2
    counted = _counted(statistic, table, pairable)
    sums: Totals | WideAlpha
    if _is_wide(statistic, options, len(table.categories), _most_patterns(table)):
        sums = wide_alpha(counted, level=cast(Level, options["level"]))
        group = np.where(pairable, np.cumsum(pairable) - 1, -1)
    else:
        patterns, group = tally_units(counted, keep_coders=statistic in _BY_CODER)
        sums = STATISTICS[statistic](patterns, **options)
    return Computed(
        coefficient=sums,
        n_units=int((n_values > 0).sum()),
        n_pairable=int(pairable.sum()),
        n_coders=coders_of(table, n_values),
        rests_on=evidence(statistic, table.codes[:, pairable], len(table.categories), None),
        coded=counted,
        group=group,
    )


def _counted(statistic: str, table: Coded, pairable: Truths) -> Coded:
    """Blank the units that the coefficient leaves out."""
    whole = statistic not in _TWO_CODERS | {"krippendorff_alpha"}
    return table if whole or pairable.all() else replace(table, codes=table.codes * pairable)


def _most_patterns(table: Coded) -> int:
    """Return the largest possible number of patterns: the units, or the ways of giving the values."""
    n_coders, n_units = table.codes.shape
    return min(int(n_units), math.comb(len(table.categories) + n_coders, n_coders))


def _is_wide(statistic: str, options: Mapping[str, Any], n_values: int, n_patterns: int) -> bool:
    if statistic != "krippendorff_alpha" or not isinstance(options["level"], str):
        return False
    if options["level"] == "ordinal":
        return n_values > _RANKED or n_patterns * n_values**2 > _CELLS
    return n_patterns * n_values > _CELLS


def _check_scale(values: Coded | Patterns, level: Metric, table: Coded | None) -> None:
    """Refuse strings where the level needs numbers or an order, and negative values where it is ratio."""
    categories = values.categories
    by_name = callable(level) or isinstance(level, pd.DataFrame)
    if by_name or (isinstance(level, str) and level == "nominal") or not len(categories):
        return
    text = np.full(len(categories), categories.dtype.kind not in "biuf")
    named = level if isinstance(level, str) else "a matrix"
    if values.ordered and named in ("ordinal", "a matrix"):
        return
    either = "numbers or an ordered Categorical" if named in ("ordinal", "a matrix") else "numbers"
    problem = (text, f"{either} for level {named!r}", "strings")
    if not text.any() and named == "ratio":
        problem = (categories < 0, "values ≥ 0 for level 'ratio'", "negative ones")
    bad, expected, described = problem
    if bad.any():
        raise _refused(table, bad, expected, described)


def _refused(table: Coded | None, bad: Truths, expected: str, problem: str) -> TableError:
    if table is not None:
        return bad_values(table, bad, expected=expected, problem=problem)
    return TableError(f"values: expected {expected} – found {problem} – correct them, or choose their level.")


@CATEGORIES.returns
def per_category(
    values: npt.ArrayLike | Patterns, *, categories: Sequence[Any] | None = None
) -> pd.DataFrame:
    """Return the agreement on each category against all others together.

    Use it to find a category of a scale that coders cannot distinguish from the others. Each category is
    treated as given or not given; if codes are not exclusive, use `by_code` instead.

    Parameters
    ----------
    values : array-like (coders, units), frame of `from_wide`, or Patterns
        Each coder's value of each unit; None or NaN is missing. Units with two or more values count, for
        alpha and specific agreement; for the chance agreement of Fleiss' kappa all units do.
    categories : sequence, optional
        As for `krippendorff_alpha`.

    Raises
    ------
    TableError
        `values` is not a table of numbers or of strings, or a number looks like a code for missing.
    ArgumentError
        A value is missing in `categories`.

    References
    ----------
    Fleiss (1971), Measuring nominal scale agreement among many raters, Psychological Bulletin 76, 378–382:
    the conditional kappa of a category is the kappa of the category against the rest.

    Examples
    --------
    >>> per_category([["a", "a", "b", "c"], ["a", "b", "b", "c"]])[["category", "fleiss_kappa"]].round(3)
      category  fleiss_kappa
    0        a         0.467
    1        b         0.467
    2        c         1.000
    """
    check_arguments(per_category, locals())
    patterns = values if isinstance(values, Patterns) else tally(read_values(values))
    check_scale(patterns, categories)
    paired = patterns.pairable()
    rows = []
    for place, category in enumerate(patterns.categories):
        binary = _against_rest(patterns, place)
        given = _against_rest(paired, int(np.flatnonzero(paired.categories == category)[:1].sum()), category)
        alpha = compute("krippendorff_alpha", binary, {"level": "nominal"})
        rows.append(
            {
                "category": category,
                "n_units": int(given.n_units[given.counts[:, -1] > 0].sum()),
                "prevalence": given.marginals[-1] / given.marginals.sum() if len(given.n_units) else np.nan,
                "alpha": alpha.coefficient.estimate,
                "fleiss_kappa": compute("fleiss_kappa", binary, {}).coefficient.estimate,
                "specific_agreement": compute(
                    "specific_agreement", binary, {"category": 1}
                ).coefficient.estimate,
                "reason": alpha.reason,
            }
        )
    return CATEGORIES.frame(rows)


def _against_rest(patterns: Patterns, place: int, category: object = None) -> Patterns:
    """Return the patterns of a category given (1) or another (0)."""
    known = category is None or (place < len(patterns.categories) and patterns.categories[place] == category)
    given = patterns.counts[:, place] if known else np.zeros(len(patterns.counts), dtype=np.int64)
    counts = np.stack([patterns.n_values - given, given], axis=1)
    return Patterns(np.array([0.0, 1.0]), counts, patterns.n_units)
