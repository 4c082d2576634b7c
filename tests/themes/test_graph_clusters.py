from __future__ import annotations

import numpy as np
import pytest

from sense7_qual.themes._graph_clusters import (
    Neighbours,
    by_size,
    centres,
    group,
    nearest_neighbours,
)
from tests.helpers.planted_groups import grouped, planted, unit


@pytest.mark.parametrize("n", [2, 7, 600, 1100])
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


def test_planted_groups_are_found_and_ordered_by_size() -> None:
    vectors, truth = planted([50, 30, 20], noise=0.1)
    np.testing.assert_array_equal(grouped(vectors), truth)


def test_more_resolution_gives_more_groups() -> None:
    vectors = unit(np.random.default_rng(8).normal(size=(200, 6)))
    counts = [grouped(vectors, resolution=resolution).max() + 1 for resolution in (0.3, 1, 4)]
    assert counts[0] < counts[1] < counts[2]


def test_a_small_group_goes_to_a_near_centre_or_to_none() -> None:
    vectors, truth = planted([40, 40], noise=0.1)
    centre, far = np.eye(20)[0], np.eye(20)[7]
    vectors = np.vstack([vectors, unit(np.array([centre, far]))])
    near = nearest_neighbours(vectors, 10)
    near.index[-2:] = -1  # two texts that no edge reaches: groups of one
    near.index[(near.index >= 80)] = -1
    labels = group(vectors, near, resolution=1.0, min_size=5, seed=3, n_starts=5)
    members = labels[:80][truth == 0]
    assert set(members) == {labels[80]}
    assert labels[81] == -1


def test_where_every_group_is_small_there_are_none() -> None:
    vectors, _ = planted([20, 20], noise=0.1)
    labels = grouped(vectors, min_size=30)
    np.testing.assert_array_equal(labels, -1)


def test_rows_without_any_likeness_are_in_no_group() -> None:
    vectors, truth = planted([40, 30], noise=0.05)
    vectors = np.vstack([vectors, np.zeros((3, 20), dtype=np.float32)])
    np.testing.assert_array_equal(grouped(vectors), [*truth, -1, -1, -1])


def test_by_size_counts_weights_and_breaks_ties_by_the_first_row() -> None:
    labels = np.array([5, 2, 2, -1, -1, -1, 7])
    assert by_size(labels).tolist() == [1, 0, 0, -1, -1, -1, 2]
    assert by_size(labels, np.array([1, 1, 1, 9, 9, 9, 4])).tolist() == [2, 1, 1, -1, -1, -1, 0]


def test_centres_are_mean_directions() -> None:
    found = centres(np.array([[1, 0], [0, 1], [0, 1], [-1, 0]], dtype=np.float32), np.array([0, 0, 1, -1]))
    np.testing.assert_allclose(found, [[np.sqrt(0.5), np.sqrt(0.5)], [0, 1]])
