"""Coefficients of agreement, each a number from a table of values (coders, units).

All take the same table: numbers or strings, with NaN, None or pandas' NA where a coder has no value. A unit
counts with the values it has. A number that looks like a code for missing is refused unless `categories`
names it. All take `Patterns` instead; these need `keep_coders=True` for Cohen's, Conger's and Light's kappa
and Scott's pi. A coefficient that cannot be computed is NaN, with one warning that gives the reason.
`estimate` gives any of them an interval, and `patterns` counts a table of any size where it is stored.

No coefficient is right for all data. Krippendorff's alpha serves any number of coders, any scale and missing
values, and is the main one here; the others allow comparison with what a field is used to.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from sense7_qual._arguments import check_arguments
from sense7_qual._reasons import Reason
from sense7_qual.agreement._engines import patterns
from sense7_qual.agreement._intervals import Estimate, estimate
from sense7_qual.agreement._values import read_values
from sense7_qual.agreement.coefficients._compute import compute, options_of, per_category
from sense7_qual.agreement.coefficients._icc_kendall import icc, kendall_w
from sense7_qual.agreement.coefficients._patterns import Patterns
from sense7_qual.agreement.coefficients._scale import check_scale
from sense7_qual.agreement.coefficients._weights import Metric, Weights

__all__ = [
    "Estimate",
    "Patterns",
    "brennan_prediger",
    "cohen_kappa",
    "conger_kappa",
    "estimate",
    "fleiss_kappa",
    "gwet_ac",
    "icc",
    "kendall_w",
    "krippendorff_alpha",
    "light_kappa",
    "patterns",
    "per_category",
    "percent_agreement",
    "scott_pi",
    "specific_agreement",
]

Values = npt.ArrayLike | Patterns
Categories = Sequence[Any]
_WHY: Final = {
    Reason.NO_PAIRABLE_UNITS: "no unit has values from two or more coders",
    Reason.ONE_CODER: "no unit has values from two or more coders: there is one coder",
}


def __dir__() -> list[str]:
    return __all__


def krippendorff_alpha(values: Values, *, level: Metric, categories: Categories | None = None) -> float:
    """Return Krippendorff's alpha, the chance-corrected agreement of any number of coders.

    Use it as the main number, whatever the number of coders, the scale, and what is missing. Do not use it
    where a code is very rare and one would say "they nearly always agree": alpha asks whether the rare code
    is found reliably; `percent_agreement` and `gwet_ac` ask the other question.

    Parameters
    ----------
    values : array-like (coders, units), frame of `from_wide`, or Patterns
        What each coder gave each unit. Numbers; or strings where `level` is nominal (or, of an ordered
        Categorical, ordinal). NaN, None and NA are missing: the unit counts with the values that it has, and
        a unit with fewer than two values does not count.
    level : {"nominal", "ordinal", "interval", "ratio"}, matrix (V, V), or function of two values
        How far apart two values are: unequal or not; by the ranks of the pooled values; by their difference;
        by their difference relative to their sum (values ≥ 0). The ordinal level is Krippendorff's, not
        Gwet's ordinal weights. A matrix, in the order of the sorted values of the units that count (a
        DataFrame by its names), or a function gives the differences as they enter alpha (squared or not).
    categories : sequence, optional
        All values that could have been given; any other is refused. Without it, a number that looks like a
        code for missing is.

    Returns
    -------
    float
        At most 1 (perfect agreement); 0 is the agreement expected by chance; negative is less than that.
        NaN, with a warning, where no unit has two values or all values are the same.

    Raises
    ------
    TableError
        Not a table of two dimensions; strings where `level` needs numbers; numbers mixed with strings;
        an infinite value; a negative value where `level` is ratio; a number that looks like a code for
        missing (−99, or 9 next to 1 to 5), without `categories`.
    ArgumentError
        An unknown level, an invalid matrix of differences, or a value missing in `categories`.

    References
    ----------
    Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, University of Pennsylvania, sections C
    and D (the example, published as .743 and .815). Krippendorff (2004), Content Analysis: An Introduction
    to Its Methods (2nd ed.), chapter 11.

    Examples
    --------
    >>> values = [[1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    ...           [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, None],
    ...           [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 3],
    ...           [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None]]
    >>> round(krippendorff_alpha(values, level="nominal"), 3)
    0.743
    >>> round(krippendorff_alpha(values, level="ordinal"), 3)
    0.815
    """
    check_arguments(krippendorff_alpha, locals())
    return _value("krippendorff_alpha", values, level=level, categories=categories)


def percent_agreement(
    values: Values, *, weights: Weights | None = None, categories: Categories | None = None
) -> float:
    """Return the share of agreeing pairs of values, averaged over the units.

    Use it with a chance-corrected coefficient, never instead of one: with a rare code two coders who guess
    agree nearly always.

    Parameters
    ----------
    values : array-like (coders, units), frame of `from_wide`, or Patterns
        Each coder's value of each unit; None or NaN is missing. Units with two or more values count, all with
        the same weight.
    weights : {"linear", "quadratic", "ordinal", "radical", "ratio", "circular", "bipolar"}, matrix, None
        Gwet's weights: the agreement of two unequal values, 0 to 1. A matrix is in the order of the
        categories (a DataFrame by its names). Words need an order: `categories`, or a Categorical's.
    categories : sequence, optional
        All categories that could have been given, words in the order of their scale; without it, those that
        occur. Weights depend on them.

    Returns
    -------
    float
        0 to 1. NaN, with a warning, where no unit has two values.

    Raises
    ------
    TableError
        `values` is not a table of numbers or of strings; a number looks like a code for missing (−99, or 9
        next to 1 to 5) and `categories` does not list it.
    ArgumentError
        Unknown weights, or a category missing in `categories`.

    References
    ----------
    Gwet (2014), Handbook of Inter-Rater Reliability (4th ed.), chapters 2 and 3.

    Examples
    --------
    Krippendorff (2011, section A), 60 % agreement:

    >>> percent_agreement([[0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]])
    0.6
    """
    check_arguments(percent_agreement, locals())
    return _value("percent_agreement", values, weights=weights, categories=categories)


def cohen_kappa(
    values: Values, *, weights: Weights | None = None, categories: Categories | None = None
) -> float:
    """Return Cohen's kappa of two coders, with chance agreement from each coder's own habits.

    Use it for two fixed coders, where a field expects it. Do not use it for more coders (`conger_kappa`), and
    know that it rewards coders with different habits: their chance agreement is lower.

    `values` holds two coders (2, units), else a TableError; units without both values do not count. With
    quadratic weights kappa is close to an intraclass correlation. Parameters and errors: as for
    `percent_agreement`; patterns need coders.

    Returns
    -------
    float
        At most 1; 0 is chance. NaN, with a warning, where no unit has both values or there is one category.

    References
    ----------
    Cohen (1960), A coefficient of agreement for nominal scales, Educational and Psychological Measurement 20,
    37–46 (the example, p. 45, published as .492). Cohen (1968), Weighted kappa, Psychological Bulletin 70.

    Examples
    --------
    >>> table = [[88, 14, 18], [10, 40, 10], [2, 6, 12]]
    >>> pairs = [(a, b) for a in range(3) for b in range(3) for _ in range(table[a][b])]
    >>> round(cohen_kappa(list(zip(*pairs))), 3)
    0.492
    """
    check_arguments(cohen_kappa, locals())
    return _value("cohen_kappa", values, weights=weights, categories=categories)


def scott_pi(
    values: Values, *, weights: Weights | None = None, categories: Categories | None = None
) -> float:
    """Return Scott's pi of two coders, with chance agreement from the pooled values.

    Use it for two interchangeable coders in large samples; Krippendorff's nominal alpha is the same with a
    correction for small samples. Do not use it for more coders (`fleiss_kappa`).

    Parameters and errors: as for `cohen_kappa`.

    Returns
    -------
    float
        At most 1; 0 is chance. NaN, with a warning, where no unit has both values or there is one category.

    References
    ----------
    Scott (1955), Reliability of content analysis, Public Opinion Quarterly 19, 321–325. The example: Artstein
    and Poesio (2008), Inter-coder agreement for computational linguistics, Computational Linguistics 34,
    p. 568 (.7995).

    Examples
    --------
    >>> table = [[46, 0, 0], [6, 32, 6], [0, 0, 10]]
    >>> pairs = [(a, b) for a in range(3) for b in range(3) for _ in range(table[a][b])]
    >>> round(scott_pi(list(zip(*pairs))), 4)
    0.7995
    """
    check_arguments(scott_pi, locals())
    return _value("scott_pi", values, weights=weights, categories=categories)


def fleiss_kappa(
    values: Values, *, weights: Weights | None = None, categories: Categories | None = None
) -> float:
    """Return Fleiss' kappa of any number of coders, with chance agreement from the pooled values.

    Use it where every unit has values from several coders, who may differ by unit. Do not use it where the
    same few coders coded all units and their habits matter (`conger_kappa`).

    Agreement is averaged over the units with two or more values; chance comes from all units with a value
    (Gwet). Parameters and errors: as for `percent_agreement`.

    Returns
    -------
    float
        At most 1; 0 is chance. NaN, with a warning, where no unit has two values or there is one category.

    References
    ----------
    Fleiss (1971), Measuring nominal scale agreement among many raters, Psychological Bulletin 76, 378–382.
    Missing values and weights: Gwet (2014), Handbook of Inter-Rater Reliability (4th ed.), chapters 2 and 3;
    the example is its table 4.4 (.76117).

    Examples
    --------
    >>> values = [[1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    ...           [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, None],
    ...           [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 3],
    ...           [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None]]
    >>> round(fleiss_kappa(values), 5)
    0.76117
    """
    check_arguments(fleiss_kappa, locals())
    return _value("fleiss_kappa", values, weights=weights, categories=categories)


def conger_kappa(
    values: Values, *, weights: Weights | None = None, categories: Categories | None = None
) -> float:
    """Return Conger's kappa, Cohen's kappa for any number of coders.

    Use it where the same few coders coded all units. Do not use it where many coders did a few units each:
    a coder's habits cannot be told from a handful of values.

    Agreement is averaged over the units with two or more values; a coder's habits come from all of the
    coder's units (Gwet). Parameters and errors: as for `percent_agreement`; patterns need coders.

    Returns
    -------
    float
        At most 1; 0 is chance. NaN, with a warning, where no unit has two values or there is one category.
        For two coders without missing values it is Cohen's kappa.

    References
    ----------
    Conger (1980), Integration and generalization of kappas for multiple raters, Psychological Bulletin 88,
    322–328. Missing values: Gwet (2014); the example is its table 4.4 (.76282).

    Examples
    --------
    >>> values = [[1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    ...           [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, None],
    ...           [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 3],
    ...           [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None]]
    >>> round(conger_kappa(values), 5)
    0.76282
    """
    check_arguments(conger_kappa, locals())
    return _value("conger_kappa", values, weights=weights, categories=categories)


def light_kappa(
    values: Values, *, weights: Weights | None = None, categories: Categories | None = None
) -> float:
    """Return Light's kappa, the mean of Cohen's kappas over all pairs of coders.

    Use it for a few coders who coded the same units, and look at the pairs as well (`pairwise`). Do not use
    it with many missing values: every pair of coders counts the same, however few units they share.

    Each pair of coders counts with the units that both have; a pair without any is left out. Parameters and
    errors: as for `percent_agreement`; patterns need coders.

    Returns
    -------
    float
        At most 1; 0 is chance. NaN, with a warning, where no pair has a unit, or where both of a pair gave
        one category only, so that their kappa does not exist.

    References
    ----------
    Light (1971), Measures of response agreement for qualitative data, Psychological Bulletin 76, 365–377.
    The example: Freelon (2010), ReCal, International Journal of Internet Science 5, table 10 (.644).

    Examples
    --------
    >>> values = [[1, 1] + [0] * 8, [0, 1, 1] + [0] * 7, [0, 1, 1] + [0] * 7, [0, 1] + [0] * 8,
    ...           [0, 1] + [0] * 8]
    >>> round(light_kappa(values), 3)
    0.644
    """
    check_arguments(light_kappa, locals())
    return _value("light_kappa", values, weights=weights, categories=categories)


def brennan_prediger(
    values: Values, *, weights: Weights | None = None, categories: Categories | None = None
) -> float:
    """Return Brennan and Prediger's kappa, with chance agreement 1 / number of categories.

    Use it where coders had no expectation of how often each category occurs. Name all `categories`: a
    category that nobody used raises it. For two categories it is Bennett's S.

    Parameters and errors: as for `percent_agreement`.

    Returns
    -------
    float
        At most 1; 0 is chance. NaN, with a warning, where no unit has two values or there is one category.

    References
    ----------
    Brennan and Prediger (1981), Coefficient kappa: some uses, misuses, and alternatives, Educational and
    Psychological Measurement 41, 687–699. The example: Artstein and Poesio (2008), p. 568 (.82).

    Examples
    --------
    >>> table = [[46, 0, 0], [6, 32, 6], [0, 0, 10]]
    >>> pairs = [(a, b) for a in range(3) for b in range(3) for _ in range(table[a][b])]
    >>> round(brennan_prediger(list(zip(*pairs))), 2)
    0.82
    """
    check_arguments(brennan_prediger, locals())
    return _value("brennan_prediger", values, weights=weights, categories=categories)


def gwet_ac(values: Values, *, weights: Weights | None = None, categories: Categories | None = None) -> float:
    """Return Gwet's AC1 or, with weights, AC2: chance agreement is low where one category prevails.

    Use it with alpha where a code is rare, to see that alpha's low value comes from rarity. Do not use it
    alone for rare codes: it is also high for coders who never find the code.

    Agreement is averaged over the units with two or more values; chance comes from all units with a value.
    Parameters and errors: as for `percent_agreement`.

    Returns
    -------
    float
        At most 1; 0 is chance. NaN, with a warning, where no unit has two values or there is one category.

    References
    ----------
    Gwet (2008), Computing inter-rater reliability and its variance in the presence of high agreement, British
    Journal of Mathematical and Statistical Psychology 61, 29–48. Gwet (2014), Handbook of Inter-Rater
    Reliability (4th ed.), table 4.4 (the example, .77544).

    Examples
    --------
    >>> values = [[1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    ...           [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, None],
    ...           [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 3],
    ...           [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None]]
    >>> round(gwet_ac(values), 5)
    0.77544
    """
    check_arguments(gwet_ac, locals())
    return _value("gwet_ac", values, weights=weights, categories=categories)


def specific_agreement(values: Values, *, category: object, categories: Categories | None = None) -> float:
    """Return the specific agreement on a category: how often a coder gives it where another one does.

    Use it for a code applied (positive agreement) and not applied (negative agreement): the two show where
    coders differ. It is not corrected for chance.

    Parameters
    ----------
    values : array-like (coders, units), frame of `from_wide`, or Patterns
        What each coder gave each unit; None or NaN is missing. All pairs of values count the same, so a unit
        with more values counts more.
    category : number or string
        The category.
    categories : sequence, optional
        As for `krippendorff_alpha`.

    Returns
    -------
    float
        0 to 1. NaN, with a warning, where nobody gave the category to a unit with two or more values.

    Raises
    ------
    TableError
        `values` is not a table of numbers or of strings.

    References
    ----------
    Cicchetti and Feinstein (1990), High agreement but low kappa: II. Resolving the paradoxes, Journal of
    Clinical Epidemiology 43, 551–558. Fleiss (1975), Measuring agreement between two judges on the presence
    or absence of a trait, Biometrics 31, 651–659.

    Examples
    --------
    Of 4 + 2 applications by two coders, twice 1 agree; of 6 + 8 absences, twice 5:

    >>> values = [[0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]]
    >>> round(specific_agreement(values, category=1), 3), round(specific_agreement(values, category=0), 3)
    (0.333, 0.714)
    """
    check_arguments(specific_agreement, locals())
    return _value("specific_agreement", values, category=category, categories=categories)


def _value(statistic: str, values: Values, *, categories: Categories | None = None, **options: Any) -> float:
    table = values if isinstance(values, Patterns) else read_values(values)
    check_scale(table, categories, level=options.get("level"))
    if "categories" in options_of(statistic):
        options["categories"] = categories
    computed = compute(statistic, table, options)
    estimate = computed.coefficient.estimate
    if np.isnan(estimate):
        why = (computed.reason and _WHY.get(computed.reason)) or _no_variation(statistic, computed.n_pairable)
        warnings.warn(f"{statistic} is not defined here (NaN): {why}.", RuntimeWarning, stacklevel=3)
    return estimate


def _no_variation(statistic: str, n_pairable: int) -> str:
    if statistic == "specific_agreement":
        return f"nobody gave the category in the {n_pairable} units with two or more values"
    if statistic == "light_kappa":
        return "two coders have one and the same value for all units that they share"
    if statistic in ("cohen_kappa", "scott_pi"):
        return "all values are the same in the units with both"
    return f"all values are the same in the {n_pairable} units with two or more"
