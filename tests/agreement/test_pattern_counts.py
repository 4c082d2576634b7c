"""Tables of values counted as patterns: nothing lost, nothing merged, whatever the kind of value."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from sense7_qual.agreement._from_wide import from_wide
from sense7_qual.agreement.coefficients._patterns import (
    Patterns,
    as_patterns,
    coded,
    from_values,
    tally_units,
)
from sense7_qual.errors import QualError, TableError

KINDS = {
    "small whole numbers": np.array([0.0, 1.0, 2.0, 7.0]),
    "negative whole numbers": np.array([-3.0, 0.0, 4.0]),
    "halves": np.array([0.5, 1.0, 1.5]),
    "far apart": np.array([0.0, 1.0, 5000.0]),
    "many": np.arange(200.0),
}


def seen_of(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The values that occur, and how often each unit has each of them, by comparing."""
    categories = np.unique(table[~np.isnan(table)])
    counts = np.zeros((table.shape[1], len(categories)), dtype=int)
    for place, value in enumerate(categories):
        counts[:, place] = (table == value).sum(axis=0)
    return categories, counts


@settings(max_examples=120, deadline=None)
@given(
    st.sampled_from(sorted(KINDS)),
    st.integers(1, 12),
    st.integers(0, 40),
    st.booleans(),
    st.integers(0, 10**6),
)
def test_every_unit_is_counted_once_with_its_values(
    kind: str, coders: int, units: int, keep_coders: bool, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    table = rng.choice(KINDS[kind], (coders, units))
    table[rng.random(table.shape) < rng.random()] = np.nan
    patterns, which = tally_units(coded(table), keep_coders=keep_coders)
    categories, counts = seen_of(table)
    seen = counts.sum(axis=1) > 0
    assert np.array_equal(patterns.categories, categories)
    assert np.array_equal(patterns.counts[which[seen]], counts[seen])
    assert np.array_equal(which < 0, ~seen)
    assert np.array_equal(np.bincount(which[seen], minlength=len(patterns.n_units)), patterns.n_units)
    if keep_coders:
        given_by = np.append(patterns.categories, np.nan)[patterns.coders[which[seen]]].T
        assert np.array_equal(given_by, table[:, seen], equal_nan=True)
    else:
        assert len(np.unique(patterns.counts, axis=0)) == len(patterns.counts)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64, np.float32, np.float64, object])
def test_the_type_of_the_array_means_nothing(dtype: type) -> None:
    table = np.random.default_rng(3).integers(0, 5, (3, 200))
    found, expected = from_values(table.astype(dtype)), from_values(table.astype(float))
    assert found.categories.dtype == np.float64
    for name in ("categories", "counts", "n_units"):
        assert np.array_equal(getattr(found, name), getattr(expected, name))


def test_strings_truth_values_decimals_and_frames() -> None:
    words = from_values([["b", "a", None], ["a", pd.NA, np.nan]])
    assert words.categories.tolist() == ["a", "b"]
    assert sorted(zip(words.counts.tolist(), words.n_units.tolist(), strict=True)) == [
        ([1, 0], 1),
        ([1, 1], 1),
    ]
    assert from_values([[True, False], [True, True]]).categories.tolist() == [0.0, 1.0]
    assert from_values(np.array([[True, False]])).categories.tolist() == [0.0, 1.0]
    assert from_values([[Decimal("1.5"), 2]]).categories.tolist() == [1.5, 2.0]
    frame = from_wide(pd.DataFrame([[1, None], [1, 2]]).astype("Int64"), coders="rows")
    assert from_values(frame).counts.tolist() == from_values([[1, None], [1, 2]]).counts.tolist()
    assert from_values(np.array([["x", "y"], ["x", "x"]])).categories.tolist() == ["x", "y"]


def test_almost_whole_numbers_are_not_rounded() -> None:
    table = np.array([[1.0, 1.0 + 1e-12], [1.0, 1e-20]])
    assert len(from_values(table).categories) == 3
    high = 2.0**53
    assert from_values(np.array([[high, high - 1]])).categories.tolist() == [high - 1, high]


@pytest.mark.long
def test_many_units_are_counted_in_blocks() -> None:
    """More units than a block holds, more coders than fit jointly, and values up to the widest byte."""
    rng = np.random.default_rng(4)
    for coders, values in ((3, 5), (9, 6), (2, 254)):
        table = rng.integers(0, values, (coders, 150_000)).astype(float)
        table[rng.random(table.shape) < 0.3] = np.nan
        patterns = from_values(table)
        assert patterns.n_units.sum() == (~np.isnan(table)).any(axis=0).sum()
        assert np.array_equal(patterns.marginals, [(table == value).sum() for value in range(values)])
        squares = np.square(seen_of(table)[1]).sum()
        assert patterns.n_units @ np.square(patterns.counts).sum(axis=1) == squares


@pytest.mark.long
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "longdouble"])
@pytest.mark.parametrize(
    "rare",
    [
        -3.0,
        0.0,
        -1.0,
        -128.0,
        -129.0,
        127.0,
        128.0,
        129.0,
        131.0,
        200.0,
        250.0,
        257.0,
        -255.0,
        2.5,
        3.0005,
        6e-8,
        -0.0,
    ],
)
def test_a_value_far_down_the_table_is_found(dtype: str, rare: float) -> None:
    """Most units have 1 to 5; one unit in the third block has something else, or nobody has seen the first.

    Values that end in the same byte as a value of the scale (−255, 257) are other values.
    """
    rng = np.random.default_rng(2)
    for low in (1, 1000):
        table = rng.integers(low, low + 5, (3, 60_000)).astype(dtype)
        table[rng.random(table.shape) < 0.2] = np.nan
        table[1, 58_000] = rare
        for values in (
            table,
            np.asfortranarray(table),
            np.hstack([np.full((3, 2000), np.nan, dtype), table]),
        ):
            found = coded(values)
            read = np.append(np.nan, found.categories)[found.codes]
            assert np.array_equal(read, values.astype(np.float64), equal_nan=True)


@pytest.mark.parametrize("wrong", [np.inf, -np.inf, 2.0**60])
def test_a_wrong_value_far_down_the_table_is_refused(wrong: float) -> None:
    table = np.ones((3, 60_000))
    table[1, 58_000] = wrong
    with pytest.raises(TableError, match="coder 1, unit 58000"):
        coded(table)


def test_crowds_of_coders() -> None:
    rng = np.random.default_rng(5)
    table = np.full((400, 500), np.nan)
    for unit in range(500):
        table[rng.choice(400, 3, replace=False), unit] = rng.integers(0, 3, 3)
    patterns = from_values(table)
    assert patterns.n_units.sum() == 500
    assert len(patterns.n_units) <= 10
    kept = from_values(table, keep_coders=True)
    assert (kept.coders >= 0).sum(axis=1).tolist() == [3] * len(kept.n_units)


def test_pairable_leaves_single_values_and_their_categories_out() -> None:
    patterns = from_values([[0, 5, 1, None], [1, None, 1, None]], keep_coders=True).pairable()
    assert patterns.categories.tolist() == [0.0, 1.0]
    assert patterns.counts.tolist() == [[1, 1], [0, 2]]
    assert patterns.coders.tolist() == [[0, 1], [1, 1]]
    whole = from_values([[0, 1], [1, 1]])
    assert whole.pairable() is whole


def test_nobody_and_nothing() -> None:
    for table in (np.empty((0, 0)), np.empty((0, 4)), np.full((2, 3), np.nan), [[], []], [[None], [None]]):
        patterns = from_values(table, keep_coders=True)
        assert (len(patterns.categories), len(patterns.n_units)) == (0, 0)


def test_patterns_pass_through() -> None:
    patterns = from_values([[0, 1], [1, 1]])
    assert as_patterns(patterns) is patterns
    assert isinstance(as_patterns([[0, 1], [1, 1]]), Patterns)
    with pytest.raises(QualError, match="keep_coders=True"):
        as_patterns(patterns, keep_coders=True)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1, 2], "1 dimension"),
        ([["a", 1]], "strings among numbers at .* 'coder 0, unit 0'"),
        ([[1, np.inf]], "infinite ones at .* 'coder 0, unit 1'"),
        ([[2**60, 1]], "numbers up to 2\\*\\*53"),
        ([[1, object()]], "another kind"),
        ([[1, {}]], "another kind"),
        (np.array([["2020-01-01"]], dtype="datetime64[D]"), "another kind"),
        (np.array([[1 + 2j]]), "another kind"),
    ],
)
def test_what_is_no_value_is_refused(values: object, message: str) -> None:
    with pytest.raises(TableError, match=message):
        from_values(values)


def test_real_numbers_are_told_what_to_do() -> None:
    table = np.random.default_rng(6).normal(size=(2, 20_000))
    with pytest.raises(QualError, match="expected a scale of categories"):
        from_values(table)


@pytest.mark.parametrize("dtype", [float, int, object])
def test_what_a_mask_hides_is_missing(dtype: type) -> None:
    hidden = np.ma.array([[1, 2, 9, 1], [1, 9, 2, 1]], mask=[[0, 0, 1, 0], [0, 1, 0, 0]], dtype=dtype)
    expected = from_values([[1, 2, None, 1], [1, None, 2, 1]])
    for table in (hidden, list(hidden)):
        found = from_values(table)
        assert found.categories.tolist() == expected.categories.tolist() == [1, 2]
        assert found.counts.tolist() == expected.counts.tolist()
        assert found.n_units.tolist() == expected.n_units.tolist()


def test_other_arrays() -> None:
    words = [["a", "b", "b"], ["a", "b", "a"]]
    expected = from_values(words)
    found = from_values(np.array(words, dtype=np.dtypes.StringDType()))
    assert found.counts.tolist() == expected.counts.tolist()
    with pytest.raises(TableError, match="values of another kind"):
        from_values(np.array([[b"1", b"2"], [b"1", b"3"]]))
