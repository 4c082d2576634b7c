from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sense7_qual.themes._graph_clusters import nearest_neighbours
from sense7_qual.themes._stability import _best_jaccard, jaccard_of_resamples, stability
from tests.helpers.planted_groups import grouped, planted, unit


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


def test_stability_is_over_the_resamples_that_drew_the_group() -> None:
    found = stability(np.array([[1.0, 0.5, np.nan], [0.75, 0.25, np.nan], [0.5, np.nan, np.nan]]))
    expected = {"stability": [0.75, 0.375, np.nan], "dissolved": [1 / 3, 1, np.nan]}
    pd.testing.assert_frame_equal(found, pd.DataFrame(expected | {"recovered": [2 / 3, 0, np.nan]}))
