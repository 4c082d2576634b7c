"""The other columns of the table of links: odds ratios and their parts, flags, cautions, distributions."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sense7_qual import links
from sense7_qual.links import _odds
from tests.helpers.messages import SOURCES, messages
from tests.helpers.rating_studies import frames, link, study


def test_mixed_odds_ratio_is_that_of_the_mixed_model() -> None:
    applied, rating, case = study(np.random.default_rng(1), shift=0.8)
    decisions, units = frames(applied, rating, case)
    row = link(decisions, units, odds_ratios=True, confidence_level=0.9).iloc[0]
    code = pd.DataFrame({"code": applied.astype(float)})
    model = links.models.cumulative_mixed(pd.Series(rating), code, groups=pd.Series(case))
    assert row["mixed_odds_ratio"] == pytest.approx(np.exp(model.coefficients["code"]), rel=1e-6)
    # The standard error is the model's; Student's t has the clusters with the code, or without it, less one.
    from scipy import stats

    t = stats.t.ppf(0.95, min(row["n_clusters_with"], row["n_clusters_without"]) - 1)
    half = t * model.standard_errors["code"]
    assert np.log([row["mixed_odds_ratio_low"], row["mixed_odds_ratio_high"]]) == pytest.approx(
        model.coefficients["code"] + np.array([-half, half]), rel=1e-5
    )
    assert row["mixed_odds_ratio_p"] != row["odds_ratio_p"] != row["p"]
    assert pd.isna(row["odds_ratio_reason"])


def test_parts_within_and_between_participants_are_told_apart() -> None:
    """Participants who use the code rate higher; within a participant it goes with lower ratings."""
    rng = np.random.default_rng(2)
    case = np.repeat(np.arange(120), 6)
    trait = rng.standard_normal(120)
    applied = rng.random(720) < 1 / (1 + np.exp(-2 * trait[case]))
    latent = 2.5 * trait[case] - 1.2 * applied + rng.logistic(size=720)
    rating = 1.0 + np.searchsorted([-2, -0.7, 0.7, 2], latent)
    row = link(*frames(applied, rating, case), odds_ratios=True).iloc[0]
    assert row["odds_ratio_high"] < 1 < row["between_odds_ratio_low"]
    assert row["odds_ratio"] == pytest.approx(np.exp(-1.2), rel=0.5)
    assert (row["varies"], row["odds_ratio_p"] < 0.05) == ("both", True)
    assert row["caution"] == "within_and_between_differ"


def test_a_code_that_varies_only_between_participants_is_said_so() -> None:
    rng = np.random.default_rng(3)
    _, rating, case = study(rng)
    between = link(*frames(case % 2 == 0, rating, case), odds_ratios=True).iloc[0]
    assert (between["varies"], between["caution"]) == ("between", "varies_between_only")
    assert np.isnan(between["odds_ratio"])
    assert between["between_odds_ratio"] == between["mixed_odds_ratio"]
    within = link(*frames(np.arange(len(case)) % 7 < 3, rating, case), odds_ratios=True).iloc[0]
    assert (within["varies"], pd.isna(within["caution"])) == ("within", True)
    assert np.isnan(within["between_odds_ratio"])
    assert within["odds_ratio"] == pytest.approx(within["mixed_odds_ratio"], rel=1e-6)


def test_few_participants_are_cautioned_about_and_fewer_have_no_interval() -> None:
    rng = np.random.default_rng(4)
    applied, rating, case = study(rng, participants=40)
    nine = link(*frames(applied & (case < 9), rating, case), odds_ratios=True).iloc[0]
    assert nine["n_clusters_with"] in (7, 8, 9)
    assert nine["caution"] == "fewer_than_10_clusters"
    assert np.isfinite(nine["odds_ratio_low"])
    four = link(*frames(applied & (case < 4), rating, case), odds_ratios=True).iloc[0]
    assert (four["reason"], four["odds_ratio_reason"]) == ("few_clusters", "few_clusters")
    assert np.isfinite(four["odds_ratio"])
    assert four[["odds_ratio_low", "odds_ratio_p", "p"]].isna().all()


def test_odds_ratios_say_why_they_are_missing() -> None:
    case = np.arange(80) // 2
    rating = np.tile([1.0, 2.0, 4.0, 5.0], 20)
    separate = link(*frames(rating > 3, rating, case), odds_ratios=True).iloc[0]
    assert separate["reason"] == "complete_separation"
    assert separate["odds_ratio_reason"] == "separation"
    assert np.isnan(separate["odds_ratio"])
    mixed = np.random.default_rng(5).random(80) < 0.5
    never = link(*frames(np.zeros(80), rating, case), odds_ratios=True).iloc[0]
    assert never["odds_ratio_reason"] == "code_never_applied"
    constant = link(*frames(mixed, np.full(80, 3.0), case), odds_ratios=True).iloc[0]
    assert constant["odds_ratio_reason"] == "constant_rating"
    one = link(*frames(mixed, rating, np.zeros(80, dtype=int)), odds_ratios=True).iloc[0]
    assert (one["reason"], one["odds_ratio_reason"]) == ("one_cluster", "one_cluster")
    singles = link(*frames(mixed, rating, np.arange(80)), odds_ratios=True).iloc[0]
    assert singles["caution"] == "varies_between_only, clusters_of_one"
    assert singles["odds_ratio_reason"] == "no_own_comparison"
    assert np.isfinite(singles["between_odds_ratio_low"])
    without = link(*frames(mixed, rating, case)).iloc[0]
    assert np.isnan(without["odds_ratio"])
    assert pd.isna(without["odds_ratio_reason"])


def test_sensitivity_adds_the_population_averaged_odds_ratio() -> None:
    applied, rating, case = study(np.random.default_rng(6), shift=0.8)
    decisions, units = frames(applied, rating, case)
    row = link(decisions, units, odds_ratios=True, sensitivity=True).iloc[0]
    code = pd.DataFrame({"code": applied.astype(float)})
    model = links.models.marginal(pd.Series(rating), code, groups=pd.Series(case))
    assert row["gee_odds_ratio"] == pytest.approx(np.exp(model.coefficients["code"]), rel=1e-6)
    assert 1 < row["gee_odds_ratio_low"] < row["gee_odds_ratio"] < row["gee_odds_ratio_high"]
    # Averaged over participants, an odds ratio is nearer to 1 (Neuhaus, Kalbfleisch & Hauck 1991).
    assert row["gee_odds_ratio"] < row["mixed_odds_ratio"]
    assert np.isnan(link(decisions, units, odds_ratios=True).iloc[0]["gee_odds_ratio"])


def test_many_rating_levels_are_merged_in_order_for_the_odds_ratio_alone() -> None:
    rng = np.random.default_rng(7)
    ratings = rng.normal(size=500).round(2)
    merged = _odds.few_levels(ratings)
    assert 8 <= len(np.unique(merged)) <= 10
    order = np.argsort(ratings)
    assert (np.diff(merged[order]) >= 0).all()
    assert np.unique(merged, return_counts=True)[1].min() > 30
    gaps = np.array([0.0, 5.0, 2.0, 5.0])
    assert _odds.few_levels(gaps).tolist() == [1.0, 3.0, 2.0, 3.0]


def test_distributions_add_up_and_keep_empty_levels() -> None:
    applied, rating, case = study(np.random.default_rng(8))
    decisions, units = frames(applied, rating, case)
    found = links.distributions(decisions, units, rating="empathy")
    assert list(found.columns) == ["code", "source", "applied", "level", "n", "share", "basis"]
    expected = pd.Series(rating[applied]).value_counts().sort_index()
    having = found[found["applied"]].set_index("level")["n"]
    assert having.to_dict() == expected.to_dict()
    assert found.groupby("applied")["share"].sum().to_numpy() == pytest.approx([1, 1])
    never = links.distributions(decisions.assign(applied=False), units, rating="empathy")
    assert never.loc[never["applied"], "n"].eq(0).all()
    assert never.loc[never["applied"], "share"].isna().all()
    both = pd.concat([decisions, decisions.assign(coder="ben")])
    sources = links.distributions(both, units, rating="empathy")["source"].unique().tolist()
    assert sources == ["ana", "ben", "majority"]
    assert links.distributions(decisions.iloc[:0], units, rating="empathy").empty


@pytest.mark.nightly
@pytest.mark.long
@pytest.mark.parametrize("source", SOURCES)
def test_the_whole_table_of_seven_codes_and_three_coders_takes_seconds(source: str, tmp_path: Path) -> None:
    """1,860 (286) texts; each code stands where a word does, and coders err in a tenth of them."""
    from benchmarks import links_speed

    decisions, units = links_speed.coded(messages(source, tmp_path))
    start = time.process_time()
    table = links.code_to_rating(
        decisions, units, rating="distress", cluster="response_id", seed=7, details=True
    )
    assert time.process_time() - start < 10
    assert len(table) == 7 * 5
    assert table["between_odds_ratio"].notna().all()
    assert table["n_clusters"].eq({"real": 372, "synthetic": 40}[source]).all()
