"""Result frames made ready for print: labels, order, the reasons for what is missing, and APA numbers.

What tables and figures share. A result frame has one row per code with unrounded numbers; here its codes get
the codebook's labels and order, its reason codes become words, and its numbers become text.
"""

from __future__ import annotations

import numbers
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import pandas as pd

from sense7_qual.codebook import Codebook
from sense7_qual.errors import QualError, TableError, did_you_mean, first_three
from sense7_qual.tables import require_column

__all__ = [
    "AGREEMENT_COLUMNS",
    "LINK_COLUMNS",
    "MISSING",
    "caution_words",
    "coefficient",
    "count",
    "count_range",
    "interval",
    "interval_name",
    "number",
    "number_interval",
    "of_source",
    "of_sources",
    "p_value",
    "percent",
    "reason_words",
    "rows",
    "seed",
]

MISSING: Final = "–"
"""Printed for a value that could not be computed or is not known."""

# fmt: off
AGREEMENT_COLUMNS: Final = (
    "code", "n_units", "n_coders", "n_clusters", "prevalence", "percent", "alpha", "alpha_low", "alpha_high",
    "n_boot", "n_undefined", "confidence_level", "seed", "reason",
)
"""What a table needs of the result of `agreement.by_code`."""

LINK_COLUMNS: Final = (
    "code", "source", "n_with", "n_without", "n_clusters", "mean_difference", "rank_biserial",
    "rank_biserial_low", "rank_biserial_high", "p", "p_adjusted", "family", "odds_ratio", "odds_ratio_low",
    "odds_ratio_high", "odds_ratio_p", "odds_ratio_p_adjusted", "between_coder_share", "caution", "n_boot",
    "n_undefined", "confidence_level", "seed", "reason", "odds_ratio_reason",
)
# fmt: on
"""What a table needs of the result of `links.code_to_rating`."""

_REASONS: Final[Mapping[str, str]] = {
    "no_pairable_units": "no text was finished by two or more coders",
    "no_variation": "every decision was the same, so agreement beyond chance is not defined",
    "no_disagreement": "the coders never disagreed; some disagreement could have gone unseen",
    "no_rated_units": "no decided text has a rating",
    "constant_rating": "every rating was the same",
    "code_never_applied": "the code was never applied",
    "code_always_applied": "the code was applied to every text",
    "complete_separation": "the ratings with and without the code do not overlap",
    "no_variation_between_clusters": "no cluster makes a difference to the effect",
    "one_cluster": "all texts belong to one cluster",
    "few_clusters": "too few clusters have, or lack, the code",
    "few_humans": "fewer than three people could be tested against the model",
    "few_units": "too few texts for an interval, or for a test, that could be relied on",
    "few_coders": "too few coders to say whether others would agree as well",
    "few_levels": "the rating has too few levels",
    "fewer_than_two_coders": "fewer than two coders have an effect and an interval",
    "one_unit": "only one text was coded by two or more coders",
    "one_coder": "there is only one coder",
    "one_pattern": "all texts were coded in the same way, so resampling says nothing",
    "one_code": "there is no other code to take it for",
    "not_coded_by_two": "no text was given some code by two or more coders where this one was",
    "too_few_spans": "there are too few spans that one of them could meet by chance",
    "overlapping_codes": "a coder gave one stretch of text several codes: compare code by code",
    "no_comparison": "there is nothing to compare with",
    "no_common_units": "no text was decided on for both codes",
    "no_complete_rows": "no text has a value of every variable",
    "no_own_rating": "no participant rated this",
    "no_pairs": "there is no pair of a true and a predicted value",
    "no_poor_turn": "no turn was rated as poor",
    "no_posterior": "the model of the coders' errors could not be fitted",
    "no_rated_turn": "no turn was rated",
    "no_answer": "the model gave no answer",
    "unparsable": "the model's answer is not a number alone",
    "outside_scale": "the model's answer is not on the scale",
    "rating_not_computable": "a rating that the comparison needs could not be computed",
    "constant_predictions": "every prediction was the same",
    "constant_truth": "every true value was the same",
    "constant_within_folds": "every prediction was the same within each fold",
    "constant_variable": "a variable has the same value everywhere",
    "collinear_codes": "the other codes say exactly whether the code is applied",
    "collinear_predictors": "one variable follows from the others",
    "code_varies_between_only": "each cluster has the code in all of its texts or in none",
    "only_between_clusters": "the code differs between clusters only, not within them",
    "no_variation_within_clusters": "nothing differs within the clusters, only between them",
    "separation": "the code tells the ratings apart without exception, so the effect has no finite estimate",
    "not_converged": "the model's estimates did not converge",
    "not_estimated": "the effect was not estimated",
    "not_identified": "the coders share too few texts to tell their errors from how often the code applies",
    "level_in_few_clusters": "a level of the variable occurs in too few clusters",
    "levels_not_separable": "one level has as many groups as the one within it, so they cannot be told apart",
    "many_levels": "the rating has too many levels for an interval",
    "negative_estimate": "the component came out below zero and counts as zero",
    "not_decided": "no decision on the code is there",
    "few_decided": "too few texts were decided on",
    "one_side_undefined": "only one of the two programs gives a number",
    "package_absent": "the other package is not installed",
}


# Of numbers that there are: what to know of them. Some have the name of a reason, and mean less by it.
_CAUTIONS: Final[Mapping[str, str]] = {
    "fewer_than_10_clusters": "fewer than 10 clusters have, or lack, the code",
    "few_clusters": "there are fewer than 10 clusters",
    "varies_between_only": "the code differs between clusters only, so it cannot be told apart from them",
    "clusters_of_one": "no cluster has two texts, so the odds ratio is of a model without random intercepts",
    "coders_left_out": "coders for whom the code has no effect and interval are left out",
    "ties_left_out": "texts on which the coders were tied are left out, and so the disputed ones",
    "zero_variance": "the variance between clusters was estimated as 0",
    "zero_nested_variance": "the variance between conversations of a cluster was estimated as 0",
    "laplace_approximation": "variances are somewhat small where conversations have few texts",
    "selection": "conversations with a poor turn may have been poorer all along: no effect of that turn",
    "coarse_quadrature": "with more quadrature nodes the estimate would move",
}


def rows(
    result: pd.DataFrame, columns: Iterable[str], *, frame_name: str, codebook: Codebook | None
) -> list[dict[str, Any]]:
    """Return the rows of a result as dictionaries with a `label`, in the order of the codebook.

    Without a codebook the label is the code's id and the order is the frame's. Two codes with one label are
    told apart by their ids.

    Raises
    ------
    TableError
        A column is missing, or a code has several rows.
    CodebookError
        A code is not in the codebook.
    """
    for name in columns:
        require_column(result, name, frame_name=frame_name)
    codes = [str(code) for code in result["code"]]
    twice = sorted(code for code, times in Counter(codes).items() if times > 1)
    if twice:
        raise TableError(
            f"{frame_name}: expected one row per code – found several for {first_three(twice)} – "
            "pass one group of rows at a time."
        )
    records = zip(codes, result.to_dict("records"), strict=True)
    names = _labels(codes, codebook)
    labelled = [{str(k): v for k, v in record.items()} | {"label": names[code]} for code, record in records]
    if codebook is None:
        return labelled
    place = {code: number for number, code in enumerate(codebook.ids)}
    return sorted(labelled, key=lambda row: place[str(row["code"])])


def _labels(codes: Sequence[str], codebook: Codebook | None) -> dict[str, str]:
    if codebook is None:
        return {code: code for code in codes}
    names = {code: codebook.code(code).label for code in codes}
    times = Counter(names.values())
    return {code: f"{name} ({code})" if times[name] > 1 else name for code, name in names.items()}


def of_source(links: pd.DataFrame, source: str) -> pd.DataFrame:
    """Return the rows of `links` that belong to one source: a coder, "majority" or "consensus".

    Raises
    ------
    TableError
        There is no column `source`, or no row of this source.
    """
    require_column(links, "source", frame_name="links")
    known = list(dict.fromkeys(str(name) for name in links["source"]))
    if source not in known:
        raise TableError(
            f"links: expected rows of source {source!r} – found sources {first_three(known) or 'none'} – "
            f"{did_you_mean(source, known)}"
        )
    return links[links["source"].astype("string") == source]


def of_sources(
    links: pd.DataFrame, sources: Sequence[str], codebook: Codebook | None
) -> list[dict[str, Any]]:
    """Return the rows of several sources as `rows` does, those of one code beside each other.

    Raises
    ------
    TableError
        A source is unknown or named twice, or has several rows for a code.
    CodebookError
        A code is not in the codebook.
    """
    twice = sorted(name for name, times in Counter(sources).items() if times > 1)
    if twice or not sources:
        raise TableError(
            f"links: expected one or more different sources – found {first_three(twice) or 'none'} – name "
            "each once."
        )
    found = [
        row
        for source in sources
        for row in rows(of_source(links, source), (), frame_name="links", codebook=codebook)
    ]
    order = dict.fromkeys(str(row["code"]) for row in found) if codebook is None else codebook.ids
    place = {code: number for number, code in enumerate(order)}
    return sorted(found, key=lambda row: place[str(row["code"])])


def reason_words(reason: Any) -> str:
    """Return a reason code in words; a code that is not known here is printed with spaces.

    >>> reason_words("constant_rating")
    'every rating was the same'
    """
    if pd.isna(reason) or not str(reason):
        return "the result gives no reason"
    return _REASONS.get(str(reason), str(reason).replace("_", " "))


def caution_words(cautions: Any) -> list[str]:
    """Return in words each caution of a cell that lists them with commas or spaces between.

    >>> caution_words("few_clusters, zero_variance")
    ['there are fewer than 10 clusters', 'the variance between clusters was estimated as 0']
    """
    if pd.isna(cautions):
        return []
    codes = str(cautions).replace(",", " ").split()
    return [_CAUTIONS.get(code, code.replace("_", " ")) for code in codes]


def number(value: Any, digits: int) -> str:
    """Return a number with a true minus sign, and none before a zero.

    >>> number(-1.25, 1), number(-0.001, 2), number(None, 2)
    ('−1.2', '0.00', '–')
    """
    if not 1 <= digits <= 6:
        raise QualError(f"report: expected digits from 1 to 6 – found {digits} – 2 is the usual number.")
    if pd.isna(value):
        return MISSING
    text = f"{abs(float(value)):.{digits}f}"
    return f"−{text}" if float(value) < 0 and float(text) != 0 else text


def coefficient(value: Any, digits: int) -> str:
    """Return a number that cannot exceed 1 without the zero before its point (APA 7, section 6.36).

    >>> coefficient(0.7681, 2), coefficient(-0.046, 2), coefficient(1, 2)
    ('.77', '−.05', '1.00')
    """
    text = number(value, digits)
    return text.replace("0.", ".", 1) if text.removeprefix("−").startswith("0.") else text


def interval(low: Any, high: Any, digits: int) -> str:
    """Return an interval of coefficients, or the missing sign where both ends are missing.

    >>> interval(0.61, 0.8, 2)
    '[.61, .80]'
    """
    if pd.isna(low) and pd.isna(high):
        return MISSING
    return f"[{coefficient(low, digits)}, {coefficient(high, digits)}]"


def number_interval(low: Any, high: Any, digits: int) -> str:
    """Return an interval of numbers that can exceed 1, or the missing sign where both ends are missing.

    >>> number_interval(0.61, 12.04, 2)
    '[0.61, 12.04]'
    """
    if pd.isna(low) and pd.isna(high):
        return MISSING
    return f"[{number(low, digits)}, {number(high, digits)}]"


def percent(share: Any) -> str:
    """Return a share (0–1) as a percentage; 0.0 and 100.0 are printed only for exactly none and all.

    >>> percent(0.9123), percent(0.99999), percent(1)
    ('91.2', '> 99.9', '100.0')
    """
    if pd.isna(share):
        return MISSING
    text = f"{100 * float(share):.1f}"
    if text == "100.0" and share < 1:
        return "> 99.9"
    return "< 0.1" if text == "0.0" and share > 0 else text


def p_value(value: Any) -> str:
    """Return a p-value with three decimals, and below .001 as such (APA 7, section 6.36).

    >>> p_value(0.0004), p_value(0.0456), p_value(1.0)
    ('< .001', '.046', '> .999')
    """
    if pd.isna(value):
        return MISSING
    if float(value) < 0.001:
        return "< .001"
    text = f"{float(value):.3f}"
    return "> .999" if text == "1.000" else text[1:]


def count(value: Any) -> str:
    """Return a count with commas between thousands.

    >>> count(1860)
    '1,860'
    """
    return MISSING if pd.isna(value) else f"{int(value):,}"


def count_range(counts: Iterable[Any]) -> str:
    """Return what some counts have in common, or the range between the rows.

    >>> count_range([40, 40]), count_range([38, 40])
    ('40', '38–40')
    """
    known = sorted({int(value) for value in counts if not pd.isna(value)})
    if not known:
        return "none"
    return count(known[0]) if len(known) == 1 else f"{count(known[0])}–{count(known[-1])}"


def interval_name(rows: Sequence[Mapping[str, Any]], *, frame_name: str) -> str:
    """Return what the intervals of a result are called: their confidence level, then "CI".

    Without rows there is no level to name.

    Raises
    ------
    TableError
        Rows were computed with different levels, or a level is missing or not between 0 and 1.

    Examples
    --------
    >>> interval_name([{"confidence_level": 0.95}], frame_name="agreement"), interval_name([], frame_name="x")
    ('95% CI', 'CI')
    """
    level = _setting(rows, "confidence_level", frame_name=frame_name)
    if level is None:
        return "CI"
    if not isinstance(level, float) or not 0 < level < 1:
        raise TableError(
            f"{frame_name}: expected a confidence_level between 0 and 1 – found {level!r} – pass the result "
            "as it was computed."
        )
    return f"{100 * level:.10g}% CI"


def seed(rows: Sequence[Mapping[str, Any]], *, frame_name: str) -> str:
    """Return the seed of a result in words, for a note; without rows, "no seed".

    Raises
    ------
    TableError
        Rows were computed with different seeds, or a seed is missing or not a whole number.

    Examples
    --------
    >>> seed([{"seed": 7}, {"seed": 7}], frame_name="agreement")
    'seed 7'
    """
    value = _setting(rows, "seed", frame_name=frame_name)
    if value is None:
        return "no seed"
    if not isinstance(value, numbers.Integral):
        raise TableError(
            f"{frame_name}: expected a whole number as seed – found {value!r} – pass the result as it was "
            "computed."
        )
    return f"seed {int(value)}"


def _setting(rows: Sequence[Mapping[str, Any]], name: str, *, frame_name: str) -> Any:
    """Return the one value that all rows have in column `name`, None without rows."""
    found = list(dict.fromkeys(None if pd.isna(row[name]) else row[name] for row in rows))
    if len(found) > 1 or None in found:
        raise TableError(
            f"{frame_name}: expected one {name} in all rows – found {first_three(found)} – pass the rows of "
            "one call at a time, as they were computed."
        )
    return found[0] if found else None
