"""A code for missing that stands among the values enters no coefficient: it is refused, with its counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sense7_qual import agreement
from sense7_qual.errors import ArgumentError, TableError

CODED = [[1, 2, 3, -99, 5], [1, 2, 3, 4, 5]]
CLEAN = [[1, 2, 3, None, 5], [1, 2, 3, 4, 5]]
STATISTICS: dict[str, Callable[..., Any]] = {
    "krippendorff_alpha": lambda v, **k: agreement.coefficients.krippendorff_alpha(v, level="interval", **k),
    "percent_agreement": agreement.coefficients.percent_agreement,
    "cohen_kappa": lambda v, **k: agreement.coefficients.cohen_kappa(v, weights="quadratic", **k),
    "scott_pi": agreement.coefficients.scott_pi,
    "fleiss_kappa": agreement.coefficients.fleiss_kappa,
    "conger_kappa": agreement.coefficients.conger_kappa,
    "light_kappa": agreement.coefficients.light_kappa,
    "brennan_prediger": agreement.coefficients.brennan_prediger,
    "gwet_ac": agreement.coefficients.gwet_ac,
    "specific_agreement": lambda v, **k: agreement.coefficients.specific_agreement(v, category=1, **k),
    "icc": lambda v, **k: agreement.coefficients.icc(v, kind="agreement", **k),
    "kendall_w": agreement.coefficients.kendall_w,
    "per_category": lambda v, **k: agreement.coefficients.per_category(v, **k)["alpha"].to_numpy()[1],
    "estimate": lambda v, **k: (
        agreement.coefficients.estimate(v, "krippendorff_alpha", level="interval", **k).estimate
    ),
    "estimate kappa": lambda v, **k: agreement.coefficients.estimate(v, "cohen_kappa", **k).estimate,
}


@pytest.mark.parametrize("name", STATISTICS)
def test_no_coefficient_reads_a_code_for_missing_as_a_value(name: str) -> None:
    with pytest.raises(TableError, match=r"found -99 in 1 cells, next to 1 to 5, as codes for missing are"):
        STATISTICS[name](CODED)
    assert STATISTICS[name](CLEAN) > 0.7
    assert STATISTICS[name](CODED, categories=[-99, 1, 2, 3, 4, 5]) <= 1  # stated, so it counts
    with pytest.raises(ArgumentError, match="expected every value that occurs – found 1 of 6 missing"):
        STATISTICS[name](CODED, categories=[1, 2, 3, 4, 5])


def test_every_coefficient_can_be_told_its_scale() -> None:
    untold = {"alpha_u", "cu_alpha", "gamma"}
    told = set(agreement.coefficients.__all__) - untold
    assert {name for name in STATISTICS if " " not in name} - {"estimate"} <= told


def test_two_coders_who_agree_are_no_longer_taken_for_strangers() -> None:
    assert agreement.coefficients.krippendorff_alpha(CLEAN, level="interval") == 1
    nominal = [[1, 2, 3, 1, 9, 2, 9, 3], [1, 2, 3, 1, 2, 9, 1, 3]]
    with pytest.raises(TableError, match=r"found 9 in 3 cells, next to 1 to 3"):
        agreement.coefficients.krippendorff_alpha(nominal, level="nominal")


def test_patterns_numbers_as_text_and_frames_are_looked_at_alike() -> None:
    rows = [
        (f"m{unit}", coder, value)
        for coder, of in zip("ab", CODED, strict=True)
        for unit, value in enumerate(of)
    ]
    patterns = agreement.coefficients.patterns(
        pd.DataFrame(rows, columns=["unit_id", "coder", "value"]), value="value", keep_coders=True
    )
    frame = agreement.from_wide(pd.DataFrame(dict(zip("ab", CODED, strict=True))), coders="columns")
    text = [[str(value) for value in row] for row in CODED]
    for values in (patterns, frame, text, np.array(CODED)):
        with pytest.raises(TableError, match="found -99 in 1 cells"):
            agreement.coefficients.fleiss_kappa(values)


def test_an_ordered_categorical_states_its_scale() -> None:
    scale = pd.CategoricalDtype(["1", "2", "3", "99"], ordered=True)
    frame = pd.DataFrame({"ana": ["1", "2", "3", "99"], "ben": ["1", "2", "3", "99"]}).astype(scale)
    assert (
        agreement.coefficients.krippendorff_alpha(
            agreement.from_wide(frame, coders="columns"), level="ordinal"
        )
        == 1
    )


@pytest.mark.parametrize(
    "values",
    [
        [[0, 1, 1, 0], [0, 1, 0, 0]],
        [[True, False, True], [True, True, False]],
        [[-1, 0, 1, 1], [-1, 0, 0, 1]],
        [[-3, -2, -1, 0, 1], [-3, -2, -2, 0, 1]],
        [[1, 2, 3, 4, 5], [1, 2, 3, 5, 5]],
        [[6, 7, 8, 9, 9], [5, 7, 8, 9, 8]],
        [[0, 1, 2, 3, 4, 5], [0, 1, 1, 3, 4, 5]],
        [[12.4, 33, 88, 20], [12.0, 30, 88, 21]],  # seconds
        [[12, 15, 20, 99], [12, 15, 21, 99]],
        [[0.31, 0.55, 0.99], [0.3, 0.5, 0.9]],
        [[-1.3, 0.4, 2.2], [-1.1, 0.5, 2.0]],
        [[0, 25, 50, 99], [0, 25, 50, 100]],
        [["ja", "nein", "9"], ["ja", "nein", "9"]],
        [[9, 9, 9], [9, 9, 9]],
    ],
)
def test_values_that_may_be_real_are_taken(values: list[list[Any]]) -> None:
    assert 0 <= agreement.coefficients.percent_agreement(values) <= 1


def test_amounts_have_codes_of_three_digits_or_negative_ones() -> None:
    for code in (-99, 999):
        with pytest.raises(TableError, match=f"found {code} in 1 cells"):
            agreement.coefficients.icc([[12, 15, 20, code], [12, 15, 21, 30]], kind="agreement")


WORDS = ("NA", "n/a", "N/A", "None", "none", "-", "–", "?", "nan", "#N/A", "missing", "k.A.")


@pytest.mark.parametrize("word", WORDS)
def test_no_coefficient_takes_a_word_for_missing_as_a_category(word: str) -> None:
    given = ["warm", "cold", "warm", "mixed", "cold", "warm"] * 5
    half = [word if place % 4 == 0 else value for place, value in enumerate(given)]
    whole = [None if place % 4 == 0 else value for place, value in enumerate(given)]
    alpha = agreement.coefficients.krippendorff_alpha
    assert alpha([given, whole], level="nominal") == 1
    frame = agreement.from_wide(pd.DataFrame({"ana": given, "ben": half}), coders="columns")
    for values in ([given, half], np.array([given, half], dtype=object), frame):
        with pytest.raises(TableError, match="in 8 cells"):
            alpha(values, level="nominal")
    assert alpha([given, half], level="nominal", categories=["warm", "cold", "mixed", word]) < 0.7
    with pytest.raises(TableError, match="expected None where a coder has no set"):
        agreement.sets.set_alpha([[{one} for one in given], [{one} for one in half]], distance="masi")


def test_minus_is_a_category_next_to_plus() -> None:
    given = ["+", "-", "0"] * 8
    assert agreement.coefficients.percent_agreement([given, given]) == 1


def test_a_zero_next_to_one_to_five_is_asked_about_where_coders_do_not_agree_on_it() -> None:
    rated = [1, 2, 3, 4, 5] * 6
    spoiled = [0 if place % 7 == 0 else value for place, value in enumerate(rated)]
    for name, statistic in STATISTICS.items():
        if name in ("specific_agreement", "per_category"):
            continue
        with pytest.raises(TableError, match="found 0 in 5 cells, next to 1 to 5"):
            statistic([rated, spoiled])
        assert statistic([rated, spoiled], categories=range(6)) <= 1
    both = [0, 1, 2, 3, 4, 5] * 5
    assert agreement.coefficients.krippendorff_alpha([both, both], level="ordinal") == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (["yes", "no"], ["Yes", "No"]),
        (["1", "2"], ["1.0", "2"]),
        (["3.5", "2"], ["3,5", "2"]),
        (["very good", "poor"], ["very  good", "poor"]),
        (["very good", "poor"], ["very_good", "poor"]),
        (["1", "0"], ["1", "o"]),
        (["1", "0"], ["l", "0"]),
    ],
)
def test_two_spellings_are_not_two_categories(one: list[str], other: list[str]) -> None:
    values = [one * 10, other * 10]
    with pytest.raises(TableError, match=r"expected (one spelling|digits)"):
        agreement.coefficients.krippendorff_alpha(values, level="nominal")
    stated = sorted({*one, *other})
    assert agreement.coefficients.krippendorff_alpha(values, level="nominal", categories=stated) < 1


def test_what_was_given_once_is_said() -> None:
    words = ["warm", "cold", "mixed"] * 8
    numbers = [1, 2, 3, 4, 5] * 6
    for values, slip in ((words, "wram"), (numbers, 44)):
        other = [slip, *values[1:]]
        with pytest.warns(RuntimeWarning, match="was given once"):
            agreement.coefficients.krippendorff_alpha([values, other], level="nominal")
        stated = list(dict.fromkeys([*values, slip]))
        assert agreement.coefficients.percent_agreement([values, other], categories=stated) < 1
    agreement.coefficients.percent_agreement([numbers, [2, *numbers[1:]]])
