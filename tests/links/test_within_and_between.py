"""The odds ratio of a participant's own texts, next to that between participants."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.links_within import Design, draw, simulated
from sense7_qual import links
from sense7_qual.errors import ArgumentError
from sense7_qual.links import _shares
from tests.helpers.rating_studies import frames, link, study

DATA = Path(__file__).parents[1] / "data"


@pytest.mark.parametrize("number", range(1, 6))
def test_both_parts_are_those_of_clmm(number: int) -> None:
    """R's clmm of the code less its share, and the share, with ten nodes, on five simulated studies."""
    rows = pd.read_csv(DATA / "within_between_rows.csv").query(f"set == {number}")
    known = pd.read_csv(DATA / "within_between_clmm.csv").query(f"set == {number}").set_index("part")
    decisions, units = frames(
        rows["code"].to_numpy(), rows["rating"].to_numpy(), rows["participant"].to_numpy()
    )
    row = link(decisions, units, odds_ratios=True).iloc[0]
    for name, part in (("odds_ratio", "within"), ("between_odds_ratio", "share")):
        assert np.log(row[name]) == pytest.approx(known["estimate"][part], abs=5e-5)
    from scipy import stats

    half = stats.t.ppf(0.975, row["n_clusters_both"] - 1) * known["standard_error"]["within"]
    ends = np.log(row[["odds_ratio_low", "odds_ratio_high"]].to_numpy(dtype=float))
    assert ends == pytest.approx(known["estimate"]["within"] + np.array([-half, half]), abs=2e-4)
    assert row["odds_ratio_df"] == row["n_clusters_both"] - 1
    both = rows.groupby("participant")["code"].nunique().gt(1).sum()
    assert row["n_clusters_both"] == both
    errors = known["standard_error"].pow(2).sum() - 2 * known["covariance"]["within"]
    t = (known["estimate"]["share"] - known["estimate"]["within"]) / np.sqrt(errors)
    assert row["contextual_p"] == pytest.approx(2 * stats.t.sf(abs(t), both - 1), abs=1e-4)
    assert ("within_and_between_differ" in str(row["caution"])) == (row["contextual_p"] < 0.05)


@pytest.mark.long
def test_people_who_use_a_code_more_and_rate_higher_make_no_link_within() -> None:
    """No effect within participants; the control is one coefficient for texts and participants together."""
    rows = simulated(Design(), 150, seed=1)
    assert (rows["odds_ratio_p"] < 0.05).mean() <= 0.08
    assert 0.9 < rows["odds_ratio"].median() < 1.1
    assert rows["mixed_odds_ratio"].median() > 1.2
    assert (rows["mixed_odds_ratio_p"] < 0.05).mean() > 0.1
    assert rows["between_odds_ratio"].median() > 3


def test_participants_who_always_have_the_code_carry_nothing_within() -> None:
    decisions, units = draw(Design(odds_ratio=2.5), np.random.default_rng(3))
    more = pd.DataFrame(
        {
            "unit_id": [f"x{i}" for i in range(60)],
            "case_id": np.repeat([f"x{i}" for i in range(12)], 5),
            "rating": np.tile([3.0, 4, 4, 5, 5], 12),
        }
    )
    always = more[["unit_id"]].assign(coder="ana", code="code", applied=True)
    settings = {"rating": "rating", "cluster": "case_id", "n_boot": 2}
    without = links.code_to_rating(decisions, units, **settings).iloc[0]
    with_them = links.code_to_rating(
        pd.concat([decisions, always]), pd.concat([units, more]), **settings
    ).iloc[0]
    assert with_them["n_clusters"] == without["n_clusters"] + 12
    assert with_them["odds_ratio_df"] == without["odds_ratio_df"] == without["n_clusters_both"] - 1
    assert with_them["between_odds_ratio"] != without["between_odds_ratio"]


@pytest.mark.parametrize(
    ("n_both", "reason"), [(0, "no_own_comparison"), (1, "few_own_comparisons"), (5, "few_own_comparisons")]
)
def test_fewer_than_six_who_wrote_both_have_no_test_of_their_own_texts(n_both: int, reason: str) -> None:
    rng = np.random.default_rng(3)
    _, rating, case = study(rng)
    applied = (case % 2 == 0) & ~((case < 2 * n_both) & (np.arange(len(case)) % 7 < 3))
    row = link(*frames(applied, rating, case), odds_ratios=True).iloc[0]
    assert (row["n_clusters_both"], row["odds_ratio_reason"]) == (n_both, reason)
    assert row[["odds_ratio_low", "odds_ratio_p", "odds_ratio_df"]].isna().all()
    assert np.isfinite(row["odds_ratio"]) == (n_both > 0)
    assert np.isfinite(row[["between_odds_ratio_low", "between_odds_ratio_p", "p"]].astype(float)).all()


def test_six_to_nine_who_wrote_both_are_cautioned_about() -> None:
    _, rating, case = study(np.random.default_rng(3))
    applied = (case % 2 == 0) & ~((case < 14) & (np.arange(len(case)) % 7 < 3))
    row = link(*frames(applied, rating, case), odds_ratios=True).iloc[0]
    assert (row["n_clusters_both"], row["odds_ratio_df"]) == (7, 6)
    assert "fewer_than_10_clusters" in row["caution"]
    alone = link(*frames(applied, rating, case)).iloc[0]
    assert "fewer_than_10_clusters" not in str(alone["caution"])


def test_pooled_and_max_t_rest_on_what_participants_do_to_the_odds_ratio() -> None:
    """Two coders who decide alike have one test, also where r tells them apart from nothing else."""
    decisions, units = draw(Design(odds_ratio=2.5), np.random.default_rng(5))
    both = pd.concat([decisions, decisions.assign(coder="ben")])
    settings = {"rating": "rating", "cluster": "case_id", "n_boot": 2, "details": True}
    table = links.code_to_rating(both, units, **settings, adjust="max-t").set_index("source")
    ana, pooled = table.loc["ana"], table.loc["pooled"]
    for name in ("odds_ratio", "odds_ratio_low", "odds_ratio_df", "between_odds_ratio", "n_clusters_both"):
        assert pooled[name] == pytest.approx(ana[name], rel=1e-6)
    assert pooled["odds_ratio_p_adjusted"] == pytest.approx(ana["odds_ratio_p"], rel=0.02)


def test_a_hypothesis_between_participants_has_the_margin_and_the_adjusted_p() -> None:
    decisions, units = draw(Design(), np.random.default_rng(5))
    settings = {"rating": "rating", "cluster": "case_id", "n_boot": 2, "equivalence": ("odds_ratio", 2.0)}
    own = links.code_to_rating(decisions, units, **settings).iloc[0]
    between = links.code_to_rating(decisions, units, **settings, hypothesis="between").iloc[0]
    assert "hypothesis" not in own.index
    assert between["hypothesis"] == "between"
    assert between["between_odds_ratio_p_adjusted"] == between["between_odds_ratio_p"]
    assert own["equivalence_p"] < 0.5 < between["equivalence_p"]
    with pytest.raises(ArgumentError, match="'within' or 'between'"):
        links.code_to_rating(decisions, units, **settings, hypothesis="mixed")


def test_a_share_that_follows_from_the_others_is_left_out() -> None:
    case = np.repeat(np.arange(4), 2)
    codes = pd.DataFrame({"a": [0.0, 1, 0, 0, 1, 1, 0, 1], "always_half": [0.0, 1] * 4, "person": case * 1.0})
    codes["like_a"] = 1 - codes["a"]
    within, shares = _shares.parts_of(codes, case)
    assert list(within) == ["a", "always_half", "like_a"]
    assert list(shares) == ["share of a", "share of person"]


def test_joint_compares_own_texts_too() -> None:
    """Users of the code rate higher throughout, and the other code has nothing to do with either."""
    rng = np.random.default_rng(11)
    decisions, units = draw(Design(participants=200, odds_ratio=1.0), rng)
    other = decisions.assign(code="other", applied=rng.random(len(decisions)) < 0.4)
    both = pd.concat([decisions, other])
    row = (
        links.joint(both, units, rating="rating", cluster="case_id", source="ana")
        .set_index("code")
        .loc["code"]
    )
    alone = links.code_to_rating(decisions, units, rating="rating", cluster="case_id", n_boot=2).iloc[0]
    assert row["odds_ratio"] == pytest.approx(alone["odds_ratio"], rel=0.05)
    assert row["n_clusters_both"] == alone["n_clusters_both"]
    assert row["p"] == pytest.approx(alone["odds_ratio_p"], abs=0.05)


def test_proportional_odds_of_a_participant_are_those_of_their_own_texts() -> None:
    decisions, units = draw(Design(participants=200, odds_ratio=1.0), np.random.default_rng(11))
    code = decisions["applied"].astype(float).rename("code")
    found = links.models.proportional_odds(units["rating"], code, groups=units["case_id"], model="mixed")
    alone = links.code_to_rating(decisions, units, rating="rating", cluster="case_id", n_boot=2).iloc[0]
    assert found["odds_ratio"][0] == pytest.approx(alone["odds_ratio"], rel=1e-5)
    assert found["predictor"].unique().tolist() == ["code"]
