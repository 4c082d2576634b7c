"""The order of categories: the caller's, never the alphabet's."""

from __future__ import annotations

from collections.abc import Callable

import duckdb
import ibis
import numpy as np
import pandas as pd
import polars as pl
import pytest

from sense7_qual import agreement
from sense7_qual.errors import QualError, TableError

SCALE = ["very poor", "poor", "fair", "good", "very good"]
RNG = np.random.default_rng(5)
TRUTH = RNG.integers(0, 5, 60)
# Coders who miss by one step, so that the order matters.
NUMBERS = np.clip(TRUTH + RNG.integers(-1, 2, (3, 60)), 0, 4)
WORDS = np.array(SCALE, dtype=object)[NUMBERS]
ORDERED = pd.CategoricalDtype(SCALE, ordered=True)
WEIGHTED = {
    "cohen_kappa": agreement.coefficients.cohen_kappa,
    "scott_pi": agreement.coefficients.scott_pi,
    "conger_kappa": agreement.coefficients.conger_kappa,
    "light_kappa": agreement.coefficients.light_kappa,
    "fleiss_kappa": agreement.coefficients.fleiss_kappa,
    "brennan_prediger": agreement.coefficients.brennan_prediger,
    "gwet_ac": agreement.coefficients.gwet_ac,
    "percent_agreement": agreement.coefficients.percent_agreement,
}
WEIGHTS = ["linear", "quadratic", "ordinal", "radical", "circular", "bipolar"]


def of(name: str, table: np.ndarray) -> np.ndarray:
    return table[:2] if name in ("cohen_kappa", "scott_pi") else table


def frame_of(words: np.ndarray, dtype: object) -> pd.DataFrame:
    names = ["ana", "ben", "cleo"][: len(words)]
    return agreement.from_wide(pd.DataFrame(words.T, columns=names).astype(dtype), coders="columns")


@pytest.mark.long
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("name", WEIGHTED)
def test_weights_on_words_go_by_the_order_that_is_given(name: str, weights: str) -> None:
    coefficient, words = WEIGHTED[name], of(name, WORDS)
    expected = coefficient(of(name, NUMBERS), weights=weights, categories=range(5))
    assert coefficient(words, weights=weights, categories=SCALE) == pytest.approx(expected, abs=1e-12)
    assert coefficient(frame_of(words, ORDERED), weights=weights) == pytest.approx(expected, abs=1e-12)
    rows = [pd.Categorical(row, dtype=ORDERED) for row in words]
    assert coefficient(rows, weights=weights) == pytest.approx(expected, abs=1e-12)
    for table in (words, frame_of(words, "category"), frame_of(words, "str")):
        with pytest.raises(QualError, match="expected an order of the 5 categories, because they are words"):
            coefficient(table, weights=weights)


@pytest.mark.parametrize("name", WEIGHTED)
def test_words_without_weights_need_no_order(name: str) -> None:
    coefficient = WEIGHTED[name]
    expected = coefficient(of(name, NUMBERS), categories=range(5))
    assert coefficient(of(name, WORDS), categories=SCALE) == pytest.approx(expected)
    assert coefficient(of(name, WORDS)) == pytest.approx(expected)
    assert coefficient(frame_of(of(name, WORDS), "category")) == pytest.approx(expected)


def test_a_category_that_nobody_gave_keeps_its_place() -> None:
    words = np.where(WORDS == "fair", "poor", WORDS)
    numbers = np.where(NUMBERS == 2, 1, NUMBERS)
    expected = agreement.coefficients.gwet_ac(numbers, weights="linear", categories=range(5))
    assert agreement.coefficients.gwet_ac(words, weights="linear", categories=SCALE) == pytest.approx(
        expected
    )
    assert agreement.coefficients.gwet_ac(frame_of(words, ORDERED), weights="linear") == pytest.approx(
        expected
    )
    assert agreement.coefficients.brennan_prediger(
        frame_of(words, ORDERED)
    ) == agreement.coefficients.brennan_prediger(numbers, categories=range(5))


def test_words_that_look_like_numbers_are_words() -> None:
    tens = (NUMBERS * 5).astype(str)  # "10" comes before "5" in the alphabet
    for ordered_use in (
        lambda: agreement.coefficients.gwet_ac(tens, weights="linear"),
        lambda: agreement.coefficients.krippendorff_alpha(tens, level="ordinal"),
        lambda: agreement.coefficients.krippendorff_alpha(tens, level="interval"),
    ):
        with pytest.raises(QualError, match=r"words|strings"):
            ordered_use()
    expected = agreement.coefficients.gwet_ac(NUMBERS, weights="linear")
    assert agreement.coefficients.gwet_ac(tens.astype(int), weights="linear") == pytest.approx(expected)
    in_order = ["0", "5", "10", "15", "20"]
    assert agreement.coefficients.gwet_ac(tens, weights="linear", categories=in_order) == pytest.approx(
        expected
    )


def test_the_ordinal_level_takes_an_ordered_categorical_and_no_other_words() -> None:
    expected = agreement.coefficients.krippendorff_alpha(NUMBERS, level="ordinal")
    ordered = frame_of(WORDS, ORDERED)
    assert agreement.coefficients.krippendorff_alpha(ordered, level="ordinal") == pytest.approx(expected)
    for table in (WORDS, frame_of(WORDS, "category")):
        with pytest.raises(
            TableError, match="expected numbers or an ordered Categorical for level 'ordinal'"
        ):
            agreement.coefficients.krippendorff_alpha(table, level="ordinal")
    for level in ("interval", "ratio"):
        with pytest.raises(TableError, match=f"expected numbers for level '{level}'"):
            agreement.coefficients.krippendorff_alpha(ordered, level=level)


@pytest.mark.parametrize("ci", ["analytic", "unit", "gwet", "coders"])
def test_intervals_go_by_the_order_too(ci: str) -> None:
    def settled(values: object, **options: object) -> tuple[float, ...]:
        found = agreement.coefficients.estimate(
            values, "gwet_ac", ci=ci, n_boot=200, seed=1, weights="quadratic", **options
        )
        return found.estimate, found.low, found.high, found.standard_error

    expected = settled(NUMBERS, categories=range(5))
    assert settled(WORDS, categories=SCALE) == pytest.approx(expected)
    assert settled(frame_of(WORDS, ORDERED)) == pytest.approx(expected)
    with pytest.raises(QualError, match="expected an order"):
        settled(WORDS)
    of_alpha = [
        agreement.coefficients.estimate(
            values, "krippendorff_alpha", ci=ci, n_boot=200, seed=1, level="ordinal"
        ).low
        for values in (NUMBERS, frame_of(WORDS, ORDERED))
    ]
    assert of_alpha[0] == pytest.approx(of_alpha[1])


def test_clusters_go_by_the_order_too() -> None:
    cluster = np.repeat(np.arange(15), 4)
    settings = {"weights": "linear", "seed": 1, "n_boot": 200, "groups": cluster}
    expected = agreement.coefficients.estimate(NUMBERS, "gwet_ac", **settings)
    assert agreement.coefficients.estimate(
        frame_of(WORDS, ORDERED), "gwet_ac", **settings
    ).low == pytest.approx(expected.low)
    assert agreement.coefficients.estimate(
        WORDS, "gwet_ac", categories=SCALE, **settings
    ).low == pytest.approx(expected.low)


def test_per_category_keeps_the_order() -> None:
    found = agreement.coefficients.per_category(frame_of(WORDS, ORDERED))
    assert found["category"].tolist() == SCALE
    expected = agreement.coefficients.per_category(NUMBERS)
    assert found["alpha"].tolist() == pytest.approx(expected["alpha"].tolist())
    assert found["n_units"].tolist() == expected["n_units"].tolist()


LONG = pd.DataFrame(
    [(f"m{u}", f"c{c}", WORDS[c, u]) for c in range(3) for u in range(60)],
    columns=["unit_id", "coder", "value"],
)


@pytest.mark.long
@pytest.mark.parametrize(
    "engine",
    [
        lambda frame: frame,
        lambda frame: frame.astype({"value": ORDERED}),
        pl.from_pandas,
        lambda frame: pl.from_pandas(frame).with_columns(pl.col("value").cast(pl.Enum(SCALE))),
        lambda frame: duckdb.connect().from_arrow(pl.from_pandas(frame).to_arrow()),
        lambda frame: ibis.memtable(pl.from_pandas(frame)),
    ],
)
def test_words_out_of_an_engine_need_an_order(engine: Callable[[pd.DataFrame], object]) -> None:
    found = agreement.coefficients.patterns(engine(LONG), keep_coders=True)
    with pytest.raises(QualError, match="expected an order of the 5 categories"):
        agreement.coefficients.gwet_ac(found, weights="quadratic")
    with pytest.raises(TableError, match="for level 'ordinal'"):
        agreement.coefficients.krippendorff_alpha(found, level="ordinal")
    for name in ("gwet_ac", "conger_kappa"):
        expected = WEIGHTED[name](NUMBERS, weights="quadratic")
        assert WEIGHTED[name](found, weights="quadratic", categories=SCALE) == pytest.approx(expected)


def test_a_matrix_of_weights_goes_by_names_or_by_the_order_given() -> None:
    place = np.arange(5)
    matrix = 1 - np.abs(place[:, None] - place) / 4
    expected = agreement.coefficients.gwet_ac(NUMBERS, weights="linear")
    named = pd.DataFrame(matrix, index=SCALE, columns=SCALE)
    shuffled = named.sort_index().sort_index(axis=1)
    assert agreement.coefficients.gwet_ac(WORDS, weights=matrix, categories=SCALE) == pytest.approx(expected)
    for frame in (named, shuffled):
        assert agreement.coefficients.gwet_ac(WORDS, weights=frame) == pytest.approx(expected)
    with pytest.raises(QualError, match="expected an order"):
        agreement.coefficients.gwet_ac(WORDS, weights=matrix)
    with pytest.raises(QualError, match="named by the 5 categories"):
        agreement.coefficients.gwet_ac(WORDS, weights=pd.DataFrame(matrix))
    with pytest.raises(QualError, match="ascending order"):
        agreement.coefficients.gwet_ac(NUMBERS, weights=matrix, categories=[4, 3, 2, 1, 0])


def test_a_matrix_of_differences_goes_by_names() -> None:
    apart = np.square(np.arange(5.0)[:, None] - np.arange(5.0))
    expected = agreement.coefficients.krippendorff_alpha(NUMBERS, level="interval")
    named = pd.DataFrame(apart, index=SCALE, columns=SCALE).sort_index().sort_index(axis=1)
    assert agreement.coefficients.krippendorff_alpha(WORDS, level=named) == pytest.approx(expected)
    assert agreement.coefficients.krippendorff_alpha(frame_of(WORDS, ORDERED), level=apart) == pytest.approx(
        expected
    )
    by_function = agreement.coefficients.krippendorff_alpha(
        WORDS, level=lambda a, b: (SCALE.index(a) - SCALE.index(b)) ** 2
    )
    assert by_function == pytest.approx(expected)
    by_coder = agreement.coefficients.estimate(WORDS, "krippendorff_alpha", ci="coders", level=named)
    expected_by_coder = agreement.coefficients.estimate(
        NUMBERS, "krippendorff_alpha", ci="coders", level="interval"
    )
    assert by_coder.low == pytest.approx(expected_by_coder.low)
    with pytest.raises(TableError, match="for level 'a matrix' – found strings"):
        agreement.coefficients.krippendorff_alpha(WORDS, level=apart)


@pytest.mark.parametrize(
    "categories", [set(SCALE), [*SCALE, "poor"], dict.fromkeys(SCALE), "poor", SCALE[:4], range(5)]
)
def test_what_has_no_order_is_no_list_of_categories(categories: object) -> None:
    with pytest.raises(QualError, match=r"expected categories to be|categories: expected"):
        agreement.coefficients.gwet_ac(WORDS, weights="linear", categories=categories)


def test_an_ordered_categorical_of_one_coder_says_nothing_of_the_others() -> None:
    rows = [
        pd.Categorical(WORDS[0], dtype=ORDERED),
        pd.Categorical(WORDS[1], categories=SCALE[::-1], ordered=True),
    ]
    with pytest.raises(QualError, match="expected an order"):
        agreement.coefficients.cohen_kappa(rows, weights="linear")
