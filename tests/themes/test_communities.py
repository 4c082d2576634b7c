from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.metrics import adjusted_rand_score

from sense7_qual.themes._communities import adjusted_rand, by_size, centres, communities, fuzzy_graph
from sense7_qual.themes._neighbours import nearest_neighbours
from tests.helpers.planted_groups import grouped, planted, unit


def test_planted_groups_are_found_and_ordered_by_size() -> None:
    vectors, truth = planted([50, 30, 20], noise=0.1)
    np.testing.assert_array_equal(grouped(vectors), truth)


def test_more_resolution_gives_more_groups() -> None:
    vectors = unit(np.random.default_rng(8).normal(size=(200, 6)))
    counts = [grouped(vectors, resolution=resolution).max() + 1 for resolution in (0.3, 1, 4)]
    assert counts[0] < counts[1] < counts[2]


def test_a_small_group_goes_where_it_is_joined_most_strongly_or_to_none() -> None:
    # Two groups of 6; row 12 hangs on the second a little more, row 13 on row 12, the last two on nothing.
    weights = np.zeros((16, 16))
    weights[:6, :6] = weights[6:12, 6:12] = 1
    weights[0, 12] = weights[1, 12] = 0.01
    weights[6, 12], weights[12, 13], weights[14, 15] = 0.03, 0.5, 1
    weights = np.triu(weights, 1)
    labels = communities(csr_matrix(weights + weights.T), resolution=1.0, min_size=5, seed=1, n_starts=5)
    np.testing.assert_array_equal(labels, [1] * 6 + [0] * 8 + [-1, -1])


@pytest.mark.parametrize("n", [1, 2, 6, 16])
def test_fewer_rows_than_neighbours_have_groups_too(n: int) -> None:
    vectors = unit(1 + np.random.default_rng(n).random(size=(n, 4)))
    labels = grouped(vectors, k=15, min_size=2)
    assert labels.shape == (n,)
    assert (labels >= 0).all() == (n > 1)


@pytest.mark.parametrize("seed", range(5))
def test_the_adjusted_rand_index_is_that_of_scikit_learn(seed: int) -> None:
    rng = np.random.default_rng(seed)
    one = rng.integers(0, 6, 200)
    other = np.where(rng.random(200) < 0.5, one, rng.integers(0, 9, 200))
    assert adjusted_rand(one, other) == pytest.approx(adjusted_rand_score(one, other), abs=1e-12)
    # A row in no group is alone.
    one[:30], other[20:60] = -1, -1
    alone = [np.where(labels == -1, 100 + np.arange(200), labels) for labels in (one, other)]
    assert adjusted_rand(one, other) == pytest.approx(adjusted_rand_score(*alone), abs=1e-12)


def test_the_adjusted_rand_index_of_extremes() -> None:
    zeros = np.zeros(5, dtype=np.int64)
    assert adjusted_rand(zeros, zeros) == 1
    assert adjusted_rand(zeros, np.arange(5)) == 0
    assert adjusted_rand(zeros - 1, zeros - 1) == 1
    assert np.isnan(adjusted_rand(zeros[:1], zeros[:1]))


FOUND = """
import sys
import numpy as np
from tests.helpers.planted_groups import grouped, unit
noise = unit(np.random.default_rng(8).normal(size=(400, 20)))
sys.stdout.write(grouped(noise, resolution=2.0).tobytes().hex())
"""


@pytest.mark.long
def test_another_process_finds_the_same_groups() -> None:
    runs = [
        subprocess.run([sys.executable, "-c", FOUND], capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    ]
    assert runs[0] == runs[1]
    noise = unit(np.random.default_rng(8).normal(size=(400, 20)))
    assert runs[0] == grouped(noise, resolution=2.0).tobytes().hex()


def test_the_seed_decides_between_groupings_of_noise() -> None:
    graph = fuzzy_graph(nearest_neighbours(unit(np.random.default_rng(8).normal(size=(300, 20))), 10))
    one, same, other = (communities(graph, resolution=1.0, min_size=5, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)


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
