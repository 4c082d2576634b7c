from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from sense7_qual.errors import ImportRefused
from sense7_qual.themes import _neighbours
from sense7_qual.themes._neighbours import Neighbours, check_number, nearest_neighbours
from tests.helpers.planted_groups import unit


@pytest.mark.parametrize("n", [1, 2, 7, 600, 1100])
def test_neighbours_are_those_of_a_full_sort(n: int) -> None:
    vectors = unit(np.random.default_rng(n).normal(size=(n, 8)))
    cosines = vectors.astype(float) @ vectors.T.astype(float)
    np.fill_diagonal(cosines, -np.inf)
    near = nearest_neighbours(vectors, 6)
    k = min(6, n - 1)
    assert near.index.shape == near.similarity.shape == (n, k)
    np.testing.assert_allclose(near.similarity, -np.sort(-cosines, axis=1)[:, :k], atol=1e-6)
    np.testing.assert_allclose(np.take_along_axis(cosines, near.index, 1), near.similarity, atol=1e-6)


def test_equal_rows_are_neighbours_and_a_row_is_not_its_own() -> None:
    near = nearest_neighbours(unit(np.array([[1, 0], [1, 0], [1, 0], [0, 1]])), 2)
    assert near.index[:3].tolist() == [[1, 2], [0, 2], [0, 1]]
    np.testing.assert_array_equal(near.similarity[:3], 1)


def test_of_rows_that_are_as_near_the_first_are_kept() -> None:
    near = nearest_neighbours(unit(np.repeat(np.random.default_rng(2).normal(size=(40, 8)), 30, axis=0)), 4)
    first = 30 * (np.arange(1200) // 30)
    wanted = [[row for row in range(a, a + 5) if row != own][:4] for own, a in enumerate(first)]
    assert near.index.tolist() == wanted


def test_neighbours_among_drawn_rows_are_those_computed_anew() -> None:
    vectors = unit(np.random.default_rng(5).normal(size=(300, 8)))
    drawn = np.unique(np.random.default_rng(6).integers(0, 300, 300))
    kept = nearest_neighbours(vectors, 40).among(drawn, 10)
    anew = nearest_neighbours(vectors[drawn], 10)
    np.testing.assert_array_equal(kept.index, anew.index)
    # By one unit of the last decimal that is kept: products of other shapes are summed in another order.
    np.testing.assert_allclose(kept.similarity, anew.similarity, rtol=0, atol=1.01e-6)


def test_neighbours_that_were_not_drawn_are_marked() -> None:
    near = Neighbours(np.array([[1, 2], [0, 2], [1, 0]]), np.array([[0.9, 0.8], [0.9, 0.7], [0.7, 0.8]]))
    assert near.among(np.array([0, 2]), 2).index.tolist() == [[1, -1], [0, -1]]


def test_faiss_finds_the_same_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = unit(np.random.default_rng(2).normal(size=(400, 16)))
    expected = nearest_neighbours(vectors, 12)
    monkeypatch.setattr(_neighbours, "_MOST_IN_BLOCKS", 100)
    found = nearest_neighbours(vectors, 12)
    np.testing.assert_array_equal(found.index, expected.index)
    np.testing.assert_allclose(found.similarity, expected.similarity, rtol=0, atol=1.01e-6)
    vectors[:30] = vectors[0]  # more equal rows than neighbours: a row is still not among its own
    found = nearest_neighbours(vectors, 12)
    assert (found.index != np.arange(400)[:, None]).all()
    np.testing.assert_array_equal(found.similarity[:30], 1)
    assert (found.index[:30] < 30).all()


def test_many_texts_without_faiss_are_refused_with_the_name_of_the_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    check_number(20_001, function="fit")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    check_number(20_000, function="fit")
    with pytest.raises(
        ImportRefused, match=r"found 20,001 and no faiss – pip install 'sense7_qual\[large\]'"
    ):
        check_number(20_001, function="fit")
