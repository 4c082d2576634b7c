from __future__ import annotations

import warnings

import numpy as np
import pytest

from sense7_qual.themes._communities import fuzzy_graph, strengths
from sense7_qual.themes._neighbours import Neighbours, nearest_neighbours
from tests.helpers.planted_groups import planted, unit


def far_and_near() -> np.ndarray:
    rng = np.random.default_rng(3)
    vectors = unit(np.abs(rng.normal(size=(300, 30))))
    vectors[40:60] = vectors[40]  # equal texts: distances of 0
    return vectors


@pytest.mark.nightly
@pytest.mark.model
@pytest.mark.parametrize("k", [10, 15])
@pytest.mark.parametrize("vectors", [far_and_near(), planted([80, 60, 60], noise=0.1)[0]])
def test_the_weights_are_those_of_umap(k: int, vectors: np.ndarray) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from umap.umap_ import fuzzy_simplicial_set
    near = nearest_neighbours(vectors, k)
    n = len(vectors)
    index = np.hstack([np.arange(n)[:, None], near.index])
    distances = np.hstack([np.zeros((n, 1)), np.maximum(1 - near.similarity, 0)])
    expected, _, _ = fuzzy_simplicial_set(
        vectors,
        k + 1,
        np.random.RandomState(0),
        "cosine",
        knn_indices=index,
        knn_dists=distances.astype(np.float32),
    )
    np.testing.assert_allclose(fuzzy_graph(near).toarray(), expected.toarray(), rtol=0, atol=1e-5)


def test_the_strengths_of_a_row_by_hand() -> None:
    # The nearest at a distance above 0 has strength 1, and all of them sum to log2(k + 1).
    found = strengths(np.array([[0.1, 0.2, 0.4], [0.0, 0.3, 0.5]]))
    assert found[0, 0] == found[1, 0] == found[1, 1] == 1
    np.testing.assert_allclose(found[0].sum(), 2, atol=1e-4)
    assert (np.diff(found, axis=1) <= 0).all()


def test_the_strengths_sum_to_what_is_wanted_however_far_the_neighbours_are() -> None:
    rng = np.random.default_rng(5)
    distances = np.sort(rng.gamma(0.5, 1, (400, 15)) * 10 ** rng.uniform(-5, 5, (400, 1)), axis=1)
    np.testing.assert_allclose(strengths(distances).sum(axis=1), 4, rtol=0, atol=1e-6)


def test_where_some_neighbours_are_absent_the_others_have_the_strength() -> None:
    near, few = np.array([[0.1, 0.2, 0.4, 0.5, 0.9]]), np.array([[0.1, 0.2, np.inf, np.inf, np.inf]])
    far = np.array([[0.1, 0.2, 0.4, 0.5, np.inf]])
    np.testing.assert_allclose(strengths(far)[0, :4].sum(), np.log2(6), atol=1e-6)
    assert (strengths(far)[0, :4] > strengths(near)[0, :4]).sum() == 3
    assert strengths(few).tolist() == [[1, 1, 0, 0, 0]]


def test_rows_without_neighbours_and_neighbours_that_are_not_alike_are_not_joined() -> None:
    near = Neighbours(
        np.array([[1, -1], [0, 2], [-1, -1], [1, 0]]), np.array([[0.9, 0], [0.9, -0.2], [0, 0], [0, -1]])
    )
    joined = fuzzy_graph(near).toarray()
    assert joined[0, 1] == joined[1, 0] == 1
    assert joined.sum() == 2


def test_equal_rows_alone_are_joined_with_weight_one() -> None:
    graph = fuzzy_graph(nearest_neighbours(np.ones((6, 1), dtype=np.float32), 5)).toarray()
    np.testing.assert_array_equal(graph, 1 - np.eye(6))
