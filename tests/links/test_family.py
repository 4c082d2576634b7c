"""Adjusted over codes × sources by max-T, and equivalence within a margin: values, by hand, and studies."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from benchmarks.links_family import (
    Design,
    called_equivalent,
    draw,
    estimated,
    every_test,
    false_links,
    paired,
)
from sense7_qual import links
from sense7_qual._bootstrap import holm
from sense7_qual.errors import ArgumentError
from sense7_qual.links._family import equivalence_p, max_t
from sense7_qual.links._pooled import Moves, Pooled, correlation_of
from tests.helpers.simulation import studies

RATED = {"rating": "rating", "cluster": "case_id", "n_boot": 2}


def two_sided(z: list[float]) -> np.ndarray:
    return 2 * stats.norm.sf(np.abs(z))


def alike(n: int, r: float) -> np.ndarray:
    return np.where(np.eye(n) > 0, 1.0, r)


@pytest.mark.parametrize(("n", "limit"), [(2, 2.21), (3, 2.35), (4, 2.44), (5, 2.51), (9, 2.69)])
def test_the_smallest_p_is_that_of_dunnetts_table(n: int, limit: float) -> None:
    """Dunnett (1964), Biometrics 20, table II: two-sided 5 %, infinite degrees of freedom, correlation .5."""
    p = np.append(two_sided([limit]), np.full(n - 1, 0.9))
    assert max_t(p, alike(n, 0.5))[0] == pytest.approx(0.05, abs=0.0012)


def test_steps_are_those_of_multcomp() -> None:
    """R, multcomp 1.4-22: summary(glht(parm(z, R, df = 0), diag(n)), test = adjusted("free"))."""
    falling = 0.7 ** np.abs(np.subtract.outer(np.arange(5), np.arange(5)))
    for z, correlation, expected in (
        ([2.9, 2.4, 2.2, 1.6, 0.3], falling, [0.01556, 0.05145, 0.06611, 0.17524, 0.76418]),
        ([-2.6, 2.45, 2.1, 1.9], alike(4, 0.5), [0.03267, 0.03841, 0.06567, 0.06567]),
    ):
        np.testing.assert_allclose(max_t(two_sided(z), correlation), expected, rtol=0.015)


def test_each_p_is_between_its_own_and_holms_however_small() -> None:
    rng = np.random.default_rng(2)
    for n in (1, 2, 7, 30):
        p = 10.0 ** -rng.uniform(0, 40, n)
        moves = rng.standard_normal((n, 5))
        moves /= np.sqrt(np.square(moves).sum(axis=1))[:, None]
        adjusted = max_t(p, moves @ moves.T)
        assert (adjusted >= p * (1 - 1e-9)).all()
        assert (adjusted <= holm(p) * (1 + 1e-9)).all()
        assert (np.diff(adjusted[np.argsort(p)]) >= 0).all()
    assert max_t(np.zeros(2), np.eye(2)).max() < 1e-300


def test_tests_go_together_as_clusters_move_them_less_what_is_chance() -> None:
    one, other = (Moves(np.array(ids), np.array([0.6, 0.8])) for ids in ([0, 2], [2, 5]))
    assert correlation_of([one, other, None]).tolist() == np.eye(3).tolist()  # of three clusters, all chance
    rng = np.random.default_rng(5)
    together = rng.multivariate_normal([0, 0, 0], [[1, 0.8, 0], [0.8, 1, 0], [0, 0, 1]], size=400).T
    for n, least, most in ((400, 0.75, 0.85), (15, 0.3, 0.8)):
        moved = together[:, :n] / np.sqrt(np.square(together[:, :n]).sum(axis=1))[:, None]
        found = correlation_of([Moves(np.arange(n), each) for each in moved])
        own = moved @ moved.T
        squares = own[~np.eye(3, dtype=bool)] ** 2
        by_hand = 1 - ((1 - squares) ** 2).sum() / (n - 1) / squares.sum()
        assert found[0, 1] == pytest.approx(own[0, 1] * by_hand)
        assert least < found[0, 1] < most
        assert np.linalg.eigvalsh(found).min() > -1e-9


@cache
def independent() -> tuple[pd.DataFrame, pd.DataFrame]:
    """One text of each of 240 participants, six codes that partly go together."""
    rng = np.random.default_rng(11)
    n = 240
    rating = rng.integers(1, 6, n)
    codes = {"a": rng.random(n) < 0.4}
    codes["b"] = np.where(rng.random(n) < 0.75, codes["a"], rng.random(n) < 0.4)
    codes["c"] = rng.random(n) < 0.25 + 0.05 * (rating > 3)
    codes["d"] = rng.random(n) < 0.3 + 0.07 * (rating - 3)
    codes["e"] = np.where(rng.random(n) < 0.6, codes["d"], rng.random(n) < 0.4)
    codes["f"] = rng.random(n) < 0.5
    ids = [f"u{i:03}" for i in range(n)]
    units = pd.DataFrame({"unit_id": ids, "case_id": ids, "rating": rating * 1.0})
    return pd.concat(
        [
            units[["unit_id"]].assign(coder="ana", code=code, applied=applied)
            for code, applied in codes.items()
        ]
    ), units


def test_with_one_text_each_it_is_westfall_and_youngs_by_permutation() -> None:
    """R, coin 1.4-2: pvalue(independence_test(a + … + f ~ rating, …), "step-down"), ranks, 200,000 times."""
    table = links.code_to_rating(*independent(), **RATED, adjust="max-t", odds_ratios=False, details=True)
    expected = [0.822925, 0.510115, 0.822925, 0.198485, 0.822925, 0.822925]
    np.testing.assert_allclose(table["p_adjusted"], expected, atol=0.02)
    assert table["p_holm"].tolist() == pytest.approx(holm(table["p"].to_numpy()).tolist())


SHIFTED = Design(participants=25, shift=1.2, prevalences=(0.5, 0.4, 0.4, 0.3))


@cache
def study() -> tuple[pd.DataFrame, pd.DataFrame]:
    return draw(SHIFTED, np.random.default_rng(4)).frames


def test_the_benchmark_computes_what_code_to_rating_does() -> None:
    drawn = draw(SHIFTED, np.random.default_rng(4))
    table = links.code_to_rating(*study(), **RATED, adjust="max-t", odds_ratios=False)
    own = every_test(drawn)
    assert ["abcd"[code] for code in own.code] == table["code"].tolist()
    np.testing.assert_allclose(own.p, table["p"], rtol=1e-9)
    np.testing.assert_allclose(max_t(own.p, correlation_of(own.moves)), table["p_adjusted"], rtol=1e-6)
    one = draw(Design(prevalences=(0.4,)), np.random.default_rng(2), coders=1)
    for margin in (("rank_biserial", 0.3), ("odds_ratio", 3.0)):
        row = links.code_to_rating(*one.frames, **RATED, equivalence=margin).iloc[0]
        assert equivalence_p(estimated(one, margin[0]), margin) == pytest.approx(
            row["equivalence_p"], rel=1e-6
        )


def test_the_family_is_all_codes_and_sources_of_the_table() -> None:
    whole = links.code_to_rating(*study(), **RATED, adjust="max-t")
    assert whole["family"].unique().tolist() == ["codes × sources"]
    assert whole["adjustment"].unique().tolist() == ["max-t"]
    usual = links.code_to_rating(*study(), **RATED, details=True)
    assert usual["family"].unique().tolist() == [f"codes of {name}" for name in usual["source"].unique()]
    assert usual["adjustment"].unique().tolist() == ["Benjamini–Hochberg"]
    for name in ("p", "odds_ratio_p"):
        assert (whole[f"{name}_adjusted"] > whole[name]).all()
        assert (whole[f"{name}_adjusted"] < holm(whole[name].to_numpy()) + 1e-12).all()
    one = links.code_to_rating(*study(), **RATED, adjust="max-t", sources=["ana"])
    some = whole[whole["source"] == "ana"].reset_index(drop=True)
    assert (one["p_adjusted"] <= some["p_adjusted"] + 1e-3).all()
    assert one["p"].tolist() == some["p"].tolist()


def test_no_adjusted_p_depends_on_the_seed_or_the_order_of_rows() -> None:
    decisions, units = study()
    first, second = (
        links.code_to_rating(of, units, **RATED, adjust="max-t", odds_ratios=False, seed=seed)
        for of, seed in ((decisions, 0), (decisions.sample(frac=1, random_state=1), 9))
    )
    key = ["source", "code"]
    one, other = (of.set_index(key)["p_adjusted"].sort_index() for of in (first, second))
    pd.testing.assert_series_equal(one, other)


def test_equivalence_is_that_of_a_published_example() -> None:
    """Lakens (2017), Social Psychological and Personality Science 8, 355–362: t(182) = −2.69, p = .004."""
    sd = np.sqrt((94 * 0.95**2 + 88 * 0.83**2) / 182)
    error = sd * np.sqrt(1 / 95 + 1 / 89)
    found = Pooled(5.25 - 5.22, error, 182, between_share=np.nan, n=1)
    p = equivalence_p(found, ("odds_ratio", float(np.exp(0.43 * sd))))
    assert stats.t.ppf(p, 182) == pytest.approx(-2.69, abs=0.01)
    assert round(p, 3) == 0.004


def test_with_one_text_each_equivalence_is_statsmodels_on_pseudo_values() -> None:
    weightstats = pytest.importorskip("statsmodels.stats.weightstats")
    decisions, units = independent()
    table = links.code_to_rating(
        decisions, units, **RATED, odds_ratios=False, equivalence=("rank_biserial", 0.2)
    )
    for row in table.itertuples():
        own = decisions[decisions["code"] == row.code].merge(units, on="unit_id")
        z = {None: 0.0}
        for left in (None, *range(len(own))):
            kept = own if left is None else own.drop(index=left)
            sides = [kept.loc[kept["applied"] == side, "rating"] for side in (True, False)]
            u = stats.mannwhitneyu(*sides).statistic
            z[left] = np.arctanh(2 * u / (len(sides[0]) * len(sides[1])) - 1)
        n, whole = len(own), z.pop(None)
        pseudo = n * whole - (n - 1) * np.array(list(z.values()))
        moved = weightstats.DescrStatsW(pseudo - pseudo.mean() + whole)
        p = moved.ttost_mean(-np.arctanh(0.2), np.arctanh(0.2))[0]
        fewest = min(
            own["applied"].sum(), (~own["applied"]).sum()
        )  # the rarer side has the degrees of freedom
        expected = stats.t.sf(stats.t.isf(p, n - 1), fewest - 1)
        assert row.equivalence_p == pytest.approx(expected, rel=0.02)


def test_equivalence_names_its_effect_and_is_adjusted_over_the_family() -> None:
    found = links.code_to_rating(*study(), **RATED, equivalence=("odds_ratio", 6))
    assert found["equivalence_effect"].unique().tolist() == ["odds_ratio"]
    assert found["equivalence_margin"].unique().tolist() == [6.0]
    of_ana = found[found["source"] == "ana"]
    expected = stats.false_discovery_control(of_ana["equivalence_p"].to_numpy())
    assert of_ana["equivalence_p_adjusted"].tolist() == pytest.approx(expected.tolist())
    held = links.code_to_rating(*study(), **RATED, equivalence=("odds_ratio", 6), adjust="max-t")
    assert held["equivalence_p"].tolist() == found["equivalence_p"].tolist()
    expected = holm(held["equivalence_p"].to_numpy())
    assert held["equivalence_p_adjusted"].tolist() == pytest.approx(expected.tolist())
    wide = links.code_to_rating(*study(), **RATED, equivalence=("odds_ratio", 1000.0))
    assert (wide["equivalence_p"] < found["equivalence_p"]).all()


def test_without_an_interval_there_is_neither() -> None:
    decisions, units = study()
    seldom = units["case_id"].isin(["p00000", "p00001"]) & (np.arange(len(units)) % 2 == 0)
    rare = units[["unit_id"]].assign(coder="ana", code="rare", applied=seldom.to_numpy())
    found = links.code_to_rating(
        pd.concat([decisions[decisions["coder"] == "ana"], rare]),
        units,
        **RATED,
        adjust="max-t",
        equivalence=("rank_biserial", 0.3),
    ).set_index("code")
    assert found.loc["rare", "reason"] == "few_clusters"
    assert found.loc["rare", ["p_adjusted", "odds_ratio_p_adjusted", "equivalence_p_adjusted"]].isna().all()
    assert found.drop("rare")["p_adjusted"].notna().all()


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"equivalence": ("rank_biserial", 1.5)}, "a margin between 0 and 1"),
        ({"equivalence": ("odds_ratio", 0.7)}, "a ratio above 1"),
        ({"equivalence": ("odds_ratio", 1.5), "odds_ratios": False}, "with odds_ratios"),
        ({"equivalence": ("mean", 0.5)}, "rank_biserial"),
        ({"equivalence": 0.2}, "a pair of text and a finite number"),
        ({"equivalence": ("rank_biserial", "small")}, "a pair of text and a finite number"),
        ({"adjust": "holm"}, "'bh' or 'max-t'"),
    ],
)
def test_another_margin_or_way_is_refused(given: dict[str, object], expected: str) -> None:
    with pytest.raises(ArgumentError, match=expected):
        links.code_to_rating(*study(), **RATED, **given)


@pytest.mark.simulation
def test_max_t_holds_its_size_and_finds_no_less_than_holm() -> None:
    n = len(studies(400))
    found = false_links(Design(), n, seed=3)
    assert found["max-T"] <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / n)
    assert found["as it is"] > 0.3
    assert found["texts as clusters"] > 0.1
    by_holm, by_max_t, fewer, false = paired(Design(shift=float(np.log(4))), n, seed=4)
    assert fewer == 0
    assert by_max_t > by_holm
    assert false <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / n)


@pytest.mark.simulation
def test_a_link_at_the_margin_is_seldom_called_equivalent() -> None:
    n = len(studies(300))
    at = Design(shift=float(np.log(5)), error=0.0, prevalences=(0.5,))
    own, by_text = called_equivalent(at, "odds_ratio", 5.0, n, seed=2)
    assert own <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / n)
    assert by_text == 0  # a text by itself has no other text of its writer to be compared with
    none = replace(at, shift=0.0)
    assert called_equivalent(none, "odds_ratio", 5.0, n, seed=2)[0] > 0.5
