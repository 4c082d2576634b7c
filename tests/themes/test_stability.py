from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sense7_qual.themes._communities import communities, fuzzy_graph
from sense7_qual.themes._granularity import (
    NOT_DRAWN,
    Resamples,
    _best_jaccard,
    jaccard_of_resamples,
    stability,
)
from sense7_qual.themes._neighbours import nearest_neighbours
from tests.helpers.planted_groups import grouped, planted, unit


def resampled(
    vectors: np.ndarray, labels: np.ndarray, *, resolution: float = 0.5, n: int = 10, seed: int = 3
) -> np.ndarray:
    resamples = Resamples(nearest_neighbours(vectors, 40), 15, 5, seed)
    resamples.run([resolution], n, lambda done, total: None)
    return jaccard_of_resamples(labels, resamples.labels[resolution])


def test_the_stability_is_that_of_a_direct_second_computation() -> None:
    vectors = unit(np.random.default_rng(4).normal(size=(150, 8)))
    labels = grouped(vectors, resolution=1.0)
    expected = np.empty((6, labels.max() + 1))
    for resample in range(6):
        rng = np.random.default_rng([3, resample])
        drawn = np.unique(rng.integers(0, 150, 150))
        graph = fuzzy_graph(nearest_neighbours(vectors[drawn], 15))
        least = max(2, round(5 * len(drawn) / 150))
        again = communities(graph, resolution=1.0, min_size=least, seed=int(rng.integers(2**31)))
        sets = [set(drawn[again == number]) for number in range(again.max() + 1)]
        for group in range(labels.max() + 1):
            own = set(drawn[labels[drawn] == group])
            expected[resample, group] = max(len(own & other) / len(own | other) for other in sets)
    np.testing.assert_allclose(resampled(vectors, labels, resolution=1.0, n=6), expected)


def test_best_jaccard_by_hand() -> None:
    # Groups {0,1,2}, {3,4}, and one without a drawn row; found again as {0,1}, {2,3,4}; row 5 in none.
    labels = np.array([0, 0, 0, 1, 1, -1])
    again = np.array([0, 0, 1, 1, 1, -1])
    np.testing.assert_allclose(_best_jaccard(labels, again, 3), [2 / 3, 2 / 3, np.nan])
    np.testing.assert_array_equal(_best_jaccard(labels, np.full(6, -1), 2), [0, 0])


def test_rows_in_no_group_count_in_the_union() -> None:
    # {0,1} found again as {0,1,2}, where row 2 had no group: 2 of 3.
    np.testing.assert_allclose(_best_jaccard(np.array([0, 0, -1]), np.array([0, 0, 0]), 1), [2 / 3])


@pytest.mark.long
def test_clear_groups_are_stable_and_noise_is_not() -> None:
    vectors, truth = planted([50, 30, 20], noise=0.1)
    np.testing.assert_array_equal(resampled(vectors, truth), 1)
    noise = unit(np.random.default_rng(8).normal(size=(150, 20)))
    assert resampled(noise, grouped(noise)).mean() < 0.5


@pytest.mark.long
def test_the_seed_decides_the_resamples() -> None:
    noise = unit(np.random.default_rng(8).normal(size=(120, 20)))
    labels = grouped(noise)
    one, same, other = (resampled(noise, labels, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)


def test_without_groups_there_is_nothing_to_find_again() -> None:
    vectors, _ = planted([20, 20], noise=0.1)
    assert resampled(vectors, np.full(40, -1), n=2).shape == (2, 0)
    assert jaccard_of_resamples(np.array([0, 0, -1]), []).shape == (0, 1)
    undrawn = jaccard_of_resamples(np.array([0, 0, 1]), [np.array([0, 0, NOT_DRAWN])])
    np.testing.assert_array_equal(undrawn, [[1, np.nan]])


def test_stability_is_over_the_resamples_that_drew_the_group() -> None:
    found = stability(np.array([[1.0, 0.5, np.nan], [0.75, 0.25, np.nan], [0.5, np.nan, np.nan]]))
    expected = {"stability": [0.75, 0.375, np.nan], "dissolved": [1 / 3, 1, np.nan]}
    pd.testing.assert_frame_equal(found, pd.DataFrame(expected | {"recovered": [2 / 3, 0, np.nan]}))
