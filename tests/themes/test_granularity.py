from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.metrics import adjusted_rand_score

from sense7_qual.themes import _granularity
from sense7_qual.themes._communities import fuzzy_graph
from sense7_qual.themes._granularity import (
    GRANULARITIES,
    NOT_DRAWN,
    Groups,
    Resamples,
    affordable,
    as_good,
    chosen,
    coarse_themes,
    groups,
    level,
    n_neighbours,
    sub_themes,
    table,
)
from sense7_qual.themes._neighbours import Neighbours, nearest_neighbours
from tests.helpers.planted_groups import planted, unit


def silent(done: int, total: int) -> None:
    pass


def found(vectors: np.ndarray, *, granularity: float | None = None, n_resamples: int = 6) -> Groups:
    return groups(
        vectors,
        weights=np.ones(len(vectors), dtype=np.int64),
        granularity=granularity,
        min_size=5,
        n_resamples=n_resamples,
        seed=2,
        report=lambda stage, done, total: None,
    )


def nested(seed: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Return vectors of three matters, each with three sides, and the side of each row."""
    rng = np.random.default_rng(seed)
    truth = rng.permutation(np.repeat(np.arange(9), 30))
    axes = np.eye(24)
    rows = axes[truth // 3] + 0.7 * axes[3 + truth] + 0.1 * rng.normal(size=(len(truth), 24))
    return unit(rows), truth


def test_the_index_between_samples_is_that_of_scikit_learn_on_the_common_rows() -> None:
    resamples = Resamples(
        nearest_neighbours(unit(np.random.default_rng(1).normal(size=(120, 6))), 40), 15, 5, 9
    )
    resamples.run([1.0, 2.0], 4, silent)
    expected = []
    for one, other in combinations(resamples.labels[2.0], 2):
        both = (one != NOT_DRAWN) & (other != NOT_DRAWN)
        assert (one[both] >= 0).all()
        expected.append(adjusted_rand_score(one[both], other[both]))
    np.testing.assert_allclose(resamples.similarity(2.0), expected)
    assert [(labels != NOT_DRAWN).mean() for labels in resamples.labels[1.0]] == pytest.approx(
        [1 - 1 / np.e] * 4, abs=0.1
    )


def test_more_samples_begin_where_the_first_ended() -> None:
    vectors = unit(np.random.default_rng(1).normal(size=(80, 6)))
    resamples, at_once = (Resamples(nearest_neighbours(vectors, 40), 15, 5, 9) for _ in range(2))
    resamples.run([1.0, 2.0], 2, silent)
    resamples.run([2.0], 4, silent)
    at_once.run([1.0, 2.0], 4, silent)
    np.testing.assert_array_equal(resamples.labels[2.0], at_once.labels[2.0])
    assert len(resamples.labels[1.0]) == 2


def test_the_table_says_what_chance_gives_and_the_best_beyond_it_is_chosen() -> None:
    vectors, truth = planted([60, 50, 40], noise=0.1)
    result = found(vectors)
    assert adjusted_rand_score(truth, result.themes) == 1
    rows = result.granularities
    assert rows["granularity"].tolist() == list(GRANULARITIES)
    assert rows["chosen"].sum() == 1
    beyond = (rows["ari"] - rows["ari_chance"]) / (1 - rows["ari_chance"])
    np.testing.assert_allclose(rows["beyond_chance"], beyond)
    assert rows.loc[rows["chosen"], "beyond_chance"].iloc[0] > 0.95 * rows["beyond_chance"].max()
    assert rows["ari_chance"].between(-0.1, 0.8).all()
    assert (rows["ari_low"] <= rows["ari"] + 1e-12).all()
    assert (rows["ari"] <= rows["ari_high"] + 1e-12).all()


@pytest.mark.long
@pytest.mark.parametrize("n_groups", [2, 12])
def test_few_and_many_planted_groups_are_found(n_groups: int) -> None:
    vectors, truth = planted([30] * n_groups, noise=0.12)
    result = found(vectors)
    assert adjusted_rand_score(truth, result.themes) > 0.98
    assert result.themes.max() + 1 == n_groups


@pytest.mark.long
def test_texts_without_groups_are_no_more_alike_than_by_chance() -> None:
    noise = unit(np.random.default_rng(6).normal(size=(300, 30)))
    assert found(noise).granularities["beyond_chance"].abs().max() < 0.2


def test_the_middle_of_what_samples_show_again_is_chosen() -> None:
    rows = pd.DataFrame(
        {
            "granularity": [0.5, 1.0, 2.0, 4.0],
            "n_themes": 3,
            "beyond_chance": [0.1, 0.5, 0.48, 0.52],
            "largest": 0.4,
            "ari": 0.7,
        }
    )
    assert chosen(rows) == 2.0  # not 4.0, which another sample of texts would not have chosen
    assert chosen(rows.assign(beyond_chance=[0.1, 0.5, 0.48, 0.8])) == 4.0
    # By hand: weights 1 and .64 (.928 ** 6) at octaves −1 and 0 have their middle at −.39, at 0 and 1 at .39.
    two = rows.assign(beyond_chance=[0.5, 0.928 * 0.5, 0, -0.9])
    assert chosen(two) == 0.5
    assert chosen(two.assign(granularity=[1.0, 2.0, 0.4, 0.3])) == 1.0
    assert chosen(rows.assign(beyond_chance=[0.3, 0.3, 0, -1])) == 0.5  # half way: the coarser
    assert chosen(rows.assign(beyond_chance=[-0.3, -0.1, -0.1, -0.2])) == 1.0
    assert chosen(rows.assign(n_themes=[3, 3, 1, 0], beyond_chance=[0.2, 0.1, 0.9, 0.9])) == 0.5


def test_the_coarsest_of_equally_good_ones_is_chosen_and_one_without_themes_never() -> None:
    rows = pd.DataFrame(
        {
            "granularity": [0.5, 1.0, 2.0],
            "n_themes": [0, 3, 4],
            "beyond_chance": [0.9, 0.7, 0.7 + 1e-12],
            "largest": [0.0, 0.4, 0.3],
            "ari": 0.7,
        }
    )
    assert chosen(rows) == 1.0
    assert chosen(rows.assign(n_themes=0)) == 0.5
    assert chosen(rows.assign(n_themes=[1, 3, 4])) == 1.0
    assert chosen(rows.assign(n_themes=[0, 1, 0])) == 1.0


def test_a_theme_of_most_texts_is_taken_only_where_samples_are_clearly_alike() -> None:
    rows = pd.DataFrame(
        {
            "granularity": [0.5, 1.0],
            "n_themes": [2, 6],
            "beyond_chance": [0.6, 0.3],
            "largest": [0.6, 0.2],
            "ari": [0.74, 0.5],
        }
    )
    assert chosen(rows) == 1.0
    assert chosen(rows.assign(ari=[0.76, 0.5])) == 0.5
    assert chosen(rows.assign(largest=[0.5, 0.2])) == 0.5
    assert chosen(rows.assign(largest=[0.6, 0.6])) == 0.5
    result = found(planted([90, 30], noise=0.1)[0])
    assert np.bincount(result.themes).tolist() == [90, 30]


def test_numbers_of_themes_do_as_well_whose_best_samples_reach_the_mean_of_the_chosen() -> None:
    table = pd.DataFrame(
        {
            "granularity": [0.5, 1.0, 2.0, 4.0, 8.0],
            "n_themes": [1, 4, 9, 20, 40],
            "ari_high": [0.9, 0.6, 0.62, 0.55, 0.9],
            "ari_chance": 0.2,
            "beyond_chance": [0.8, 0.4, 0.5, 0.3, 0.2],
            "chosen": [False, False, True, False, False],
        }
    )
    # (.6 − .2) / .8 reaches .5, (.55 − .2) / .8 does not and ends the range; one theme is none.
    assert as_good(table) == [4, 9]
    assert as_good(table.assign(ari_high=np.nan)) == [9, 9]
    assert as_good(table.assign(n_themes=[2, 4, 9, 20, 40], ari_high=0.9)) == [2, 40]


def test_a_granularity_that_is_given_is_taken_and_shown_among_the_others() -> None:
    vectors, _ = planted([60, 50, 40], noise=0.1)
    result = found(vectors, granularity=3.0)
    assert result.granularity == 3.0
    assert result.granularities["granularity"].tolist() == sorted([*GRANULARITIES, 3.0])
    assert result.granularities.loc[result.granularities["chosen"], "granularity"].tolist() == [3.0]
    finer = found(vectors, granularity=8.0, n_resamples=0)
    assert finer.themes.max() != result.themes.max()
    assert finer.granularities[["ari", "ari_chance", "beyond_chance"]].isna().all(axis=None)


def test_the_runs_become_fewer_where_texts_are_many() -> None:
    assert [affordable(n, most=20, least=5) for n in (50, 1000, 2000, 4000, 50_000)] == [20, 20, 10, 5, 5]


def test_texts_are_joined_to_a_tenth_of_all_between_fifteen_and_thirty() -> None:
    numbers = [50, 150, 220, 300, 5_000, 7_500, 10_000, 50_000]
    assert [n_neighbours(n) for n in numbers] == [15, 15, 22, 30, 30, 20, 15, 15]
    vectors = unit(np.random.default_rng(6).normal(size=(300, 30)))
    assert found(vectors, granularity=1.0, n_resamples=0).settings["n_neighbours"] == 30


def test_a_sample_is_joined_to_as_large_a_share_of_its_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = []

    def joined(near: Neighbours) -> csr_matrix:
        numbers.append(near.index.shape)
        return fuzzy_graph(near)

    monkeypatch.setattr(_granularity, "fuzzy_graph", joined)
    near = nearest_neighbours(unit(np.random.default_rng(1).normal(size=(400, 6))), 45)
    Resamples(near, 30, 5, 9).run([1.0], 3, silent)
    Resamples(near, 15, 5, 9).run([1.0], 1, silent)
    assert [k for _, k in numbers] == [*(round(30 * n / 400) for n, _ in numbers[:3]), 15]


@pytest.mark.long
def test_two_samples_in_one_heap_show_no_groups() -> None:
    vectors, truth = planted([20, 20], noise=0.1)
    heaps = [np.where(np.arange(40) % 3 == part, NOT_DRAWN, 0) for part in (0, 1)]
    parted = np.where(heaps[0] == NOT_DRAWN, NOT_DRAWN, truth)
    labels = {0.1: heaps, 0.5: [parted, parted]}
    resamples = Resamples(nearest_neighbours(vectors, 40), 15, 5, 9, labels)
    assert resamples.similarity(0.1).tolist() == [0]
    assert resamples.similarity(0.5).tolist() == [1]
    noise = unit(np.random.default_rng(6).normal(size=(300, 30)))
    rows = found(noise).granularities
    heap = rows["n_themes"] == 1
    assert heap.any()
    assert not rows.loc[heap, "chosen"].any()


@pytest.mark.long
def test_chance_is_the_mean_over_several_sets_of_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    seeds = []

    def drawn(vectors: np.ndarray, seed: list[int]) -> np.ndarray:
        seeds.append(seed)
        return structureless(vectors, seed)

    structureless = _granularity._structureless
    monkeypatch.setattr(_granularity, "_structureless", drawn)
    noise = unit(np.random.default_rng(6).normal(size=(300, 30)))
    rows = found(noise, n_resamples=2).granularities
    assert seeds == [[2, number] for number in range(6)]
    alone = []
    for seed in seeds:
        resamples = Resamples(nearest_neighbours(structureless(noise, seed), 45), 30, 5, 2)
        resamples.run([1.0], 2, silent)
        alone.append(resamples.similarity(1.0).item())
    assert rows.loc[rows["granularity"] == 1.0, "ari_chance"].item() == pytest.approx(np.mean(alone))


def test_structureless_rows_have_the_mean_and_covariance_of_the_rows() -> None:
    vectors = unit(np.random.default_rng(6).normal(size=(950, 4)) * [1, 2, 3, 4] + [9, 9, 9, 0])
    drawn = _granularity._structureless(vectors, [1])
    np.testing.assert_allclose(np.linalg.norm(drawn, axis=1), 1, rtol=1e-5)
    np.testing.assert_allclose(drawn.mean(axis=0), vectors.mean(axis=0), atol=0.03)
    np.testing.assert_allclose(np.cov(drawn.T), np.cov(vectors.T), atol=0.01)
    assert len(_granularity._structureless(np.tile(vectors, (3, 1)), [1])) <= 1000


# --- coarse themes and sub-themes --------------------------------------------------------------------


def test_sides_lie_in_matters_and_no_row_is_lost() -> None:
    vectors, truth = nested()
    result = found(vectors, granularity=1.0)
    for labels in (result.coarse, result.themes, result.subs):
        assert (labels >= 0).all()
    for finer, coarser in ((result.themes, result.coarse), (result.subs, result.themes)):
        assert pd.crosstab(finer, coarser).gt(0).sum(axis=1).eq(1).all()
    assert adjusted_rand_score(truth, result.subs) > 0.9 or adjusted_rand_score(truth, result.themes) > 0.9
    assert {name: part.shape[0] for name, part in result.jaccard.items()} == dict.fromkeys(result.jaccard, 6)


def test_levels_have_half_and_one_and_a_half_times_as_many_groups() -> None:
    rows = pd.DataFrame(
        {
            "granularity": [0.5, 1.0, 2.0, 4.0, 8.0],
            "n_themes": [1, 3, 6, 8, 20],
            "beyond_chance": [0.9, 0.2, 0.5, 0.9, 0.1],
        }
    )
    assert level(rows, 2.0, finer=False) == 1.0
    assert level(rows, 2.0, finer=True) == 8.0
    assert level(rows, 1.0, finer=False) is None
    assert level(rows, 8.0, finer=True) is None
    assert level(rows, 1.0, finer=True) == 4.0


def test_a_theme_goes_to_the_coarse_theme_with_most_of_its_rows() -> None:
    themes, coarse = np.array([0, 0, 0, 1, 1, 2, -1, 2]), np.array([1, 1, 0, 0, -1, 1, 0, 1])
    ones = np.ones(8, dtype=np.int64)
    assert coarse_themes(themes, coarse, ones).tolist() == [0, 0, 0, 1, 1, 0, -1, 0]


def test_the_rest_of_a_theme_goes_to_its_nearest_sub_theme() -> None:
    vectors = unit(np.array([[1, 0], [1, 0.1], [0, 1], [0.1, 1], [1, 0.3], [1, 1]]))
    themes, fine = np.array([0, 0, 0, 0, 0, 1]), np.array([0, 0, 1, 1, 2, 2])
    ones = np.ones(6, dtype=np.int64)
    assert sub_themes(vectors, themes, fine, ones, min_size=2).tolist() == [0, 0, 1, 1, 0, 2]


def test_the_table_without_resamples_is_empty_of_numbers() -> None:
    resamples = Resamples(nearest_neighbours(planted([20, 20], noise=0.1)[0], 40), 15, 5, 1)
    rows = table(planted([20, 20], noise=0.1)[0], resamples, {1.0: np.repeat([0, 1], 20)}, silent)
    assert rows[["n_themes", "n_resamples"]].iloc[0].tolist() == [2, 0]
    assert rows["ari"].isna().all()
