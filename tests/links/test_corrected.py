"""Links of the true code: recovery where coders err, and what is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from sense7_qual import adjudication, links
from sense7_qual.errors import QualError, TableError
from tests.helpers.rating_studies import frames, people, study
from tests.helpers.simulation import studies


def effect(rating: np.ndarray, applied: np.ndarray) -> float:
    u = stats.mannwhitneyu(rating[applied], rating[~applied]).statistic
    return float(2 * u / (int(applied.sum()) * int((~applied).sum())) - 1)


def likely(decisions: pd.DataFrame, units: pd.DataFrame, **settings: object) -> adjudication.TrueCodes:
    chosen = {"units": units, "prevalence_by": "empathy", "cluster": "case_id", "n_draws": 20, "seed": 3}
    return adjudication.dawid_skene(decisions, **{**chosen, **settings})


def correct(posterior: pd.DataFrame, units: pd.DataFrame, **settings: object) -> pd.DataFrame:
    return links.corrected(
        posterior, units, **{"rating": "empathy", "cluster": "case_id", "seed": 7, **settings}
    )


@pytest.mark.simulation
def test_effect_of_the_true_code_is_recovered_where_a_fifth_of_the_decisions_are_wrong() -> None:
    rng = np.random.default_rng(1)
    applied, rating, _ = study(rng, participants=40_000, shift=0.8)
    true = effect(rating, applied)
    rows = []
    for _ in studies(15):
        decisions, units = people(rng, error=0.2, participants=100)
        draws = likely(decisions, units, n_draws=10).draws
        found = correct(draws, units, n_imputations=10).iloc[0]
        seen = links.code_to_rating(
            decisions,
            units,
            rating="empathy",
            cluster="case_id",
            sources=["pooled"],
            odds_ratios=False,
            n_boot=1,
            seed=1,
        ).iloc[0]
        inside = found["rank_biserial_low"] <= true <= found["rank_biserial_high"]
        rows.append((found["rank_biserial"], seen["rank_biserial"], inside, found["imputation_share"]))
    mean = np.mean(rows, axis=0)
    assert mean[0] == pytest.approx(true, abs=0.07)
    assert mean[1] < 0.75 * true  # what the coders' own codes show
    assert mean[2] >= 0.78  # 95 % − 3 standard errors of 15 studies
    assert 0.1 < mean[3] < 0.9


@pytest.mark.long
def test_leaving_the_rating_out_of_the_imputation_would_pull_towards_0_and_is_refused() -> None:
    decisions, units = people(np.random.default_rng(2), participants=300)
    without = likely(decisions, units, prevalence_by=None)
    with pytest.raises(TableError, match=r"prevalence by the rating 'empathy' – found none"):
        correct(without.draws, units)
    other = likely(decisions, units.rename(columns={"empathy": "trust"}), prevalence_by="trust")
    with pytest.raises(TableError, match="found 'trust'"):
        correct(other.draws, units)
    forced = correct(without.draws.assign(prevalence_by="empathy"), units).iloc[0]
    rightly = correct(likely(decisions, units).draws, units).iloc[0]
    assert forced["rank_biserial"] < rightly["rank_biserial"] - 0.03


@pytest.mark.long
def test_certain_codes_give_what_a_coder_without_error_gives() -> None:
    applied, rating, case = study(np.random.default_rng(3), shift=0.8)
    decisions, units = frames(applied, rating, case)
    sure = decisions[["unit_id", "code"]].assign(
        probability=decisions["applied"].astype(float), prevalence_by="empathy"
    )
    row = correct(sure, units, odds_ratios=True).iloc[0]
    one = links.code_to_rating(decisions, units, rating="empathy", cluster="case_id", seed=7).iloc[0]
    same = ["rank_biserial", "mean_difference", "n_with", "n_clusters", "odds_ratio"]
    assert row[same].astype(float).to_numpy() == pytest.approx(one[same].astype(float).to_numpy())
    assert row["imputation_share"] == pytest.approx(0, abs=1e-9)
    assert row["parameters_drawn"] == np.False_
    assert np.log(row["odds_ratio_high"] / row["odds_ratio_low"]) == pytest.approx(
        np.log(one["odds_ratio_high"] / one["odds_ratio_low"]), rel=0.05
    )


@pytest.mark.long
def test_draws_widen_the_interval_and_the_seed_repeats_it() -> None:
    decisions, units = people(np.random.default_rng(4), participants=40)
    found = likely(decisions, units)
    drawn, fixed = correct(found.draws, units).iloc[0], correct(found.posterior, units).iloc[0]
    assert drawn["parameters_drawn"]
    assert not fixed["parameters_drawn"]
    assert drawn["imputation_share"] > fixed["imputation_share"]
    pd.testing.assert_frame_equal(correct(found.draws, units), correct(found.draws, units))


@pytest.mark.long
def test_reasons_and_refusals() -> None:
    decisions, units = people(np.random.default_rng(5))
    two = likely(decisions[decisions["coder"] != "cleo"], units)
    row = correct(two.posterior, units).iloc[0]
    assert (row["reason"], pd.isna(row["rank_biserial"])) == ("no_posterior", True)
    found = likely(decisions, units)
    constant = likely(decisions, units.assign(empathy=3.0))
    assert correct(constant.draws, units.assign(empathy=3.0))["reason"].tolist() == ["constant_rating"]
    alone = units.assign(case_id="p1")
    assert correct(found.draws, alone)["reason"].tolist() == ["one_cluster"]
    assert correct(found.draws, units.assign(empathy=np.nan))["reason"].tolist() == ["no_rated_units"]
    with pytest.raises(TableError, match="found 21, and 20 draws"):
        correct(found.draws, units, n_imputations=21)
    with pytest.raises(TableError, match="others in 1 rows"):
        correct(found.posterior.assign(probability=[1.2, *[0.5] * (len(units) - 1)]), units)
    with pytest.raises(TableError, match="more than once"):
        correct(pd.concat([found.posterior] * 2), units)
    with pytest.raises(QualError, match="expected seed"):
        correct(found.draws, units, seed=-1)
