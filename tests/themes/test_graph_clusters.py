from __future__ import annotations

import numpy as np
import pytest

from sense7_qual.themes._graph_clusters import (
    Neighbours,
    _best_jaccard,
    by_size,
    centres,
    group,
    jaccard_of_resamples,
    nearest_neighbours,
)


def unit(rows: np.ndarray) -> np.ndarray:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def planted(sizes: list[int], *, noise: float, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Return unit vectors around as many axes as there are sizes, mixed, and the axis of each."""
    rng = np.random.default_rng(seed)
    truth = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    return unit(np.eye(20)[truth] + noise * rng.normal(size=(len(truth), 20))), truth


def grouped(vectors: np.ndarray, *, resolution: float = 1.0, min_size: int = 5, k: int = 10) -> np.ndarray:
    near = nearest_neighbours(vectors, k)
    return group(vectors, near, resolution=resolution, min_size=min_size, seed=3, n_starts=5)


def resampled(vectors: np.ndarray, labels: np.ndarray, *, n: int = 10, seed: int = 3) -> np.ndarray:
    return jaccard_of_resamples(
        vectors,
        nearest_neighbours(vectors, 40),
        labels,
        n_neighbours=10,
        resolution=1.0,
        min_size=5,
        n_resamples=n,
        seed=seed,
        report=lambda done, total: None,
    )


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
    np.testing.assert_array_equal(kept.similarity, anew.similarity)


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
    assert resampled(vectors, labels, n=2).shape == (2, 0)


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


def test_best_jaccard_by_hand() -> None:
    # Groups {0,1,2}, {3,4}, and one without a drawn row; found again as {0,1}, {2,3,4}; row 5 in none.
    labels = np.array([0, 0, 0, 1, 1, -1])
    again = np.array([0, 0, 1, 1, 1, -1])
    np.testing.assert_allclose(_best_jaccard(labels, again, 3), [2 / 3, 2 / 3, np.nan])
    np.testing.assert_array_equal(_best_jaccard(labels, np.full(6, -1), 2), [0, 0])


def test_rows_in_no_group_count_in_the_union() -> None:
    # {0,1} found again as {0,1,2}, where row 2 had no group: 2 of 3.
    np.testing.assert_allclose(_best_jaccard(np.array([0, 0, -1]), np.array([0, 0, 0]), 1), [2 / 3])


def test_clear_groups_are_stable_and_noise_is_not() -> None:
    vectors, truth = planted([50, 30, 20], noise=0.1)
    np.testing.assert_array_equal(resampled(vectors, truth), 1)
    noise = unit(np.random.default_rng(8).normal(size=(150, 20)))
    assert resampled(noise, grouped(noise)).mean() < 0.5


def test_the_seed_decides_the_resamples() -> None:
    noise = unit(np.random.default_rng(8).normal(size=(120, 20)))
    labels = grouped(noise)
    one, same, other = (resampled(noise, labels, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)
