from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2_contingency, f

from sense7_qual import themes
from sense7_qual.errors import ArgumentError, TableError
from tests.helpers.small_themes import frame, placed


def test_spread_by_hand() -> None:
    # Theme 0 = u000 … u002, theme 1 = u003, u004; u005 fits nowhere, u006 is blank, u007 has no value.
    units = frame(["x"] * 6 + [" ", "x"]).assign(model=["b", "a", "b", " a", "a", "b", "a", None])
    table = themes.spread(placed(0, 0, 0, 1, 1, -1, -1, 0), units, by="model")
    assert table[["theme", "label", "value"]].values.tolist() == [
        [0, "slow", "a"],
        [0, "slow", "b"],
        [0, "slow", pd.NA],
        [1, "kind", "a"],
        [1, "kind", "b"],
        [1, "kind", pd.NA],
    ]
    assert table["n_units"].tolist() == [3, 3, 1] * 2
    assert table["n_in_theme"].tolist() == [1, 2, 1, 2, 0, 0]
    np.testing.assert_allclose(table["share"], [1 / 3, 2 / 3, 1, 2 / 3, 0, 0])
    np.testing.assert_allclose(table["overall_share"], [1 / 2] * 3 + [1 / 3] * 3)
    np.testing.assert_allclose(table["lift"], [2 / 3, 4 / 3, np.nan, 2, 0, np.nan])
    assert table["share_low"].isna().all()  # fewer than six participants
    assert set(table["by"]) == {"model"}


def test_a_missing_value_changes_no_other_row() -> None:
    units = frame(["x"] * 60).assign(model=["a", "b"] * 30)
    of_units = placed(*[0, 1, 1] * 20)
    whole = themes.spread(of_units, units, by="model")
    more = pd.concat([units, frame(["x"] * 90).iloc[60:].assign(model=None)])
    found = themes.spread(placed(*[0, 1, 1] * 20, *[0] * 30), more, by="model")
    pd.testing.assert_frame_equal(found.dropna(subset="value").reset_index(drop=True), whole)
    assert found.loc[found["value"].isna(), "n_units"].tolist() == [30, 30]
    without = themes.spread(of_units, units.assign(model=None), by="model")
    assert without["value"].isna().all()
    assert without["overall_share"].isna().all()


def test_numbers_stand_in_their_order_or_in_groups_of_about_equally_many_texts() -> None:
    units = frame(["x"] * 40)
    of_units = placed(*[0, 1] * 20)
    rated = units.assign(rating=[10, 9, 2, np.nan] * 10)
    values = themes.spread(of_units, rated, by="rating").query("theme == 0")["value"]
    assert values.tolist() == ["2", "9", "10", pd.NA]
    cut = themes.spread(of_units, units, by="position", n_groups=2).query("theme == 0")
    assert cut["value"].tolist() == ["0 to 19", "20 to 39"]
    assert cut["n_units"].tolist() == [20, 20]
    tied = units.assign(rating=[1] * 30 + list(range(2, 12)))
    table = themes.spread(of_units, tied, by="rating").query("theme == 0")
    assert table["value"].tolist() == ["1", "2 to 11"]
    assert table["n_units"].tolist() == [30, 10]
    near = units.assign(rating=[0.5, 0.5 + 1e-9] * 20)
    points = themes.spread(of_units, near, by="rating").query("theme == 0")["value"]
    assert points.tolist() == ["0.5", "0.500000001"]
    ordered = pd.Categorical(["low", "high"] * 20, ["low", "middle", "high"])
    asked = themes.spread(of_units, units.assign(level=ordered), by="level").query("theme == 0")
    assert asked["value"].tolist() == ["low", "high"]


def test_what_cannot_be_a_condition_is_refused_without_a_word_of_it() -> None:
    units = frame([f"it listened {row}" for row in range(60)])
    of_units = placed(*[0, 1] * 30)
    with pytest.raises(ArgumentError, match="found 60 values in 'text'") as refused:
        themes.spread(of_units, units, by="text")
    assert "listened" not in str(refused.value)
    with pytest.raises(TableError, match="found no 'u030'"):
        themes.spread(of_units, units.head(30), by="position")
    with pytest.raises(TableError, match="model"):
        themes.spread(of_units, units, by="model")
    with pytest.raises(ArgumentError, match="confidence_level"):
        themes.spread(of_units, units, by="position", confidence_level=95)


@pytest.mark.nightly
@pytest.mark.long
def test_the_intervals_hold_the_share_of_the_participants_at_large() -> None:
    """80 studies of 40 participants who prefer some themes; benchmarks/themes_spread.py has more."""
    from benchmarks.themes_spread import Design, coverage

    held = coverage(Design(300, 40, "within"), 80)
    assert 0.92 < held["share"] < 0.98
    assert 0.92 < held["lift"] < 0.99


def test_participants_by_hand() -> None:
    units = frame(["x"] * 12).assign(case_id=[*"ppppqr", *"pqrs", None, " "])
    table = themes.participants_by_theme(placed(*[0] * 6, *[1] * 6), units)
    assert table["n_units"].tolist() == [6, 6]
    assert table["n_without"].tolist() == [0, 2]
    assert table["n_clusters"].tolist() == [3, 4]
    np.testing.assert_allclose(table["n_effective"], [36 / 18, 4])
    np.testing.assert_allclose(table["largest_share"], [4 / 6, 1 / 4])
    assert table["one_carries"].tolist() == [True, False]
    nobody = themes.participants_by_theme(placed(0, 0), frame(["x"] * 2).assign(case_id=None)).iloc[0]
    assert nobody["n_clusters"] == 0
    assert pd.isna(nobody["n_effective"])
    assert pd.isna(nobody["one_carries"])


def test_the_effective_number_of_a_random_draw_is_that_of_draws() -> None:
    whose = np.repeat(list("pqrst"), [20, 10, 5, 3, 2])
    units = frame(["x"] * 40).assign(case_id=whose)
    expected = themes.participants_by_theme(placed(*[0] * 12, *[1] * 28), units)["n_effective_random"][0]
    rng = np.random.default_rng(3)
    draws = [np.unique(rng.permutation(whose)[:12], return_counts=True)[1] for _ in range(4000)]
    squares = np.mean([(counts**2).sum() for counts in draws])
    assert expected == pytest.approx(144 / squares, rel=0.01)


def test_the_difference_between_values_is_tested_over_participants() -> None:
    """With one text per participant it is chi-squared, tested by F; copies of texts change nothing."""
    model = ["old"] * 60 + ["new"] * 60
    of_units = placed(*[0] * 24, *[1] * 36, *[0] * 12, *[1] * 48)
    units = frame(["x"] * 120).assign(case_id=[f"p{row}" for row in range(120)], model=model)
    one = themes.spread(of_units, units, by="model")
    squared = chi2_contingency([[24, 36], [12, 48]], correction=False).statistic
    assert one["p"].tolist() == pytest.approx([f.sf(squared * (1 - 2 / 120), 1, 120)] * 4)
    assert one["p_holm"].tolist() == pytest.approx(one["p"] * 2)
    three = frame(["x"] * 360).assign(case_id=[f"p{row % 120}" for row in range(360)], model=model * 3)
    same = themes.spread(placed(*[*[0] * 24, *[1] * 36, *[0] * 12, *[1] * 48] * 3), three, by="model")
    np.testing.assert_allclose(same["p"], one["p"])
    few = units.assign(model=["old"] * 115 + ["new"] * 5)
    assert themes.spread(of_units, few, by="model")["p"].isna().all()


@pytest.mark.simulation
def test_nothing_is_called_different_more_often_than_said() -> None:
    called = []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        who = np.repeat(np.arange(60), 10)
        odds = np.exp(rng.normal(size=(60, 8)))[who]
        theme = ((odds / odds.sum(axis=1, keepdims=True)).cumsum(axis=1) > rng.random((600, 1))).argmax(
            axis=1
        )
        model = np.array(["new", "old", "oldest"])[(rng.permutation(60) % (2 + seed % 2))[who]]
        units = frame(["x"] * 600).assign(case_id=[f"p{one}" for one in who], model=model)
        of_units = placed(*theme.tolist(), labels=tuple("abcdefgh"))
        called += (themes.spread(of_units, units, by="model").groupby("theme")["p"].first() < 0.05).tolist()
    assert 0.03 < np.mean(called) < 0.055
