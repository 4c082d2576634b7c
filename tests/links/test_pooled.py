from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from sense7_qual import links, report
from sense7_qual._bootstrap import holm
from sense7_qual.errors import QualError
from sense7_qual.links import _code_to_rating, _pooled, _resample
from tests.helpers.rating_studies import frames, link, people, study
from tests.helpers.simulation import studies


def test_rubins_rules_equal_the_published_worked_values() -> None:
    """By hand: W = .02, B = .01, T = .02 + 1.5 · .01 = .035; df by Barnard & Rubin (1999), equation 3."""
    found = _pooled.pool(np.array([0.2, np.sqrt(0.02) + 0.2]), np.array([0.01, 0.03]), df=30)
    share = 0.015 / 0.035
    observed = 31 / 33 * 30 * (1 - share)
    assert found.standard_error**2 == pytest.approx(0.035)
    assert found.between_share == pytest.approx(share)
    assert found.df == pytest.approx(1 / (1 / observed + share**2))
    low, high = found.interval(0.9)
    half = stats.t.ppf(0.95, found.df) * np.sqrt(0.035)
    assert [low, high] == pytest.approx([found.estimate - half, found.estimate + half])
    assert found.p == pytest.approx(2 * stats.t.sf(found.estimate / np.sqrt(0.035), found.df))


@pytest.mark.long
def test_a_pooled_row_is_rubins_rules_over_the_coders_rows() -> None:
    decisions, units = people(np.random.default_rng(1))
    table = link(decisions, units, odds_ratios=True, pooling="rubin").set_index("source")
    coders = table.loc[["ana", "ben", "cleo"]]
    pooled = table.loc["pooled"]
    # Each coder's standard error from that row's own p, on the scale of Fisher's z.
    fewest = coders[["n_clusters_with", "n_clusters_without"]].min(axis=1)
    t = stats.t.isf(coders["p"] / 2, fewest - 1)
    errors = (coders["rank_biserial"] / t / (1 - coders["rank_biserial"] ** 2)).to_numpy()
    z = np.arctanh(coders["rank_biserial"]).to_numpy()
    total = np.mean(errors**2) + 4 / 3 * np.var(z, ddof=1)
    assert pooled["rank_biserial"] == pytest.approx(np.tanh(z.mean()))
    assert pooled["between_coder_share"] == pytest.approx(4 / 3 * np.var(z, ddof=1) / total)
    expected = _pooled.pool(z, errors**2, df=fewest.min() - 1)
    assert [pooled["rank_biserial_low"], pooled["rank_biserial_high"]] == pytest.approx(
        np.tanh(expected.interval(0.95))
    )
    assert pooled["p"] == pytest.approx(expected.p)
    logs = np.log(coders["odds_ratio"]).to_numpy()
    width = np.log(coders["odds_ratio_high"] / coders["odds_ratio_low"]).to_numpy()
    df = coders["odds_ratio_df"]
    spread = width / 2 / stats.t.ppf(0.975, df)
    odds = _pooled.pool(logs, spread**2, df=df.min())
    assert pooled["odds_ratio_df"] == pytest.approx(odds.df)
    assert pooled["odds_ratio"] == pytest.approx(np.exp(logs.mean()))
    assert np.log([pooled["odds_ratio_low"], pooled["odds_ratio_high"]]) == pytest.approx(odds.interval(0.95))
    assert pooled["odds_ratio_p"] == pytest.approx(odds.p)
    assert pooled["mean_difference"] == pytest.approx(coders["mean_difference"].mean())


def test_pooled_rows_count_each_unit_once() -> None:
    decisions, units = people(np.random.default_rng(2))
    pooled = link(decisions, units, sources=["pooled"]).iloc[0]
    any_coder = decisions.groupby("unit_id")["applied"].any()
    assert (pooled["n_with"], pooled["n_without"]) == (any_coder.sum(), (~any_coder).sum())
    assert (pooled["n_coders"], pooled["n_clusters"]) == (3, 40)


@pytest.mark.parametrize("way", ["rubin", "joint"])
def test_coders_who_agree_fully_pool_to_what_each_of_them_finds(way: str) -> None:
    decisions, units = people(np.random.default_rng(3), error=0)
    table = link(decisions, units, pooling=way).set_index("source")
    assert table.loc["pooled", "rank_biserial"] == pytest.approx(table.loc["ana", "rank_biserial"])
    assert table.loc["pooled", "between_coder_share"] == pytest.approx(0, abs=1e-9)
    assert table.loc["ana", "p"] < table.loc["pooled", "p"] < 0.001  # that of Fisher's z is more cautious
    width = table["rank_biserial_high"] - table["rank_biserial_low"]
    assert width["pooled"] == pytest.approx(width["ana"], rel=0.25)


def test_disagreement_widens_the_pooled_interval() -> None:
    decisions, units = people(np.random.default_rng(4), error=0)
    turned = decisions["applied"] ^ (
        (decisions["coder"] == "cleo") & (np.random.default_rng(5).random(len(decisions)) < 0.5)
    )
    alike, apart = (
        link(d, units, sources=["pooled"], pooling="rubin").iloc[0]
        for d in (decisions, decisions.assign(applied=turned))
    )
    assert apart["between_coder_share"] > 0.3
    assert np.isclose(alike["between_coder_share"], 0)
    width = [
        np.arctanh(row["rank_biserial_high"]) - np.arctanh(row["rank_biserial_low"]) for row in (alike, apart)
    ]
    assert width[1] > 1.5 * width[0]


def test_joint_variance_is_that_of_the_mean_where_coders_read_different_participants() -> None:
    """Coders of disjoint participants are independent: the variance of their mean is ΣU / m²."""
    variances = np.array([0.04, 0.02, 0.03])
    found = _pooled.pool_jointly(np.array([0.3, 0.3, 0.3]), np.diag(variances), df=20)
    assert found.standard_error**2 == pytest.approx(variances.sum() / 9)
    alike = _pooled.pool_jointly(np.array([0.3, 0.3]), np.full((2, 2), 0.04), df=20)
    assert alike.standard_error**2 == pytest.approx(0.04)
    apart = _pooled.pool_jointly(np.array([0.1, 0.5]), np.full((2, 2), 0.04), df=20)
    assert apart.standard_error**2 == pytest.approx(0.04 + 0.08 / 2)
    assert apart.between_share == pytest.approx(0.5)


@pytest.mark.simulation
def test_joint_interval_covers_the_mean_effect_of_coders_who_read_different_participants() -> None:
    rng = np.random.default_rng(6)
    truth = []
    applied, rating, _ = study(rng, participants=20_000, shift=0.8)
    u = stats.mannwhitneyu(rating[applied], rating[~applied]).statistic
    true = 2 * u / (applied.sum() * (~applied).sum()) - 1
    for _ in studies(40):
        decisions, units = people(rng, error=0, participants=60)
        case = decisions.merge(units)["case_id"].str[1:].astype(int).to_numpy() % 3
        own = case == decisions["coder"].map({"ana": 0, "ben": 1, "cleo": 2}).to_numpy()
        rows = {
            way: link(decisions[own], units, sources=["pooled"], pooling=way, n_boot=1).iloc[0]
            for way in ("rubin", "joint")
        }
        inside = {way: r["rank_biserial_low"] <= true <= r["rank_biserial_high"] for way, r in rows.items()}
        widths = {way: r["rank_biserial_high"] - r["rank_biserial_low"] for way, r in rows.items()}
        truth.append((inside["joint"], inside["rubin"], widths["rubin"] > widths["joint"]))
    covered = np.mean(truth, axis=0)
    assert covered[0] >= 0.85  # 95 % − 2.9 standard errors of 40 studies
    assert covered[1] >= covered[0]  # Rubin's rules count the participants' variance twice here
    assert covered[2] > 0.8


@pytest.mark.simulation
def test_by_default_pooling_throws_no_power_away() -> None:
    """Three coders who err independently: Rubin's rules hardly ever found what each of them found."""
    rng = np.random.default_rng(11)
    below: dict[str, list[bool]] = {"absent": [], "alone": [], "pooled": [], "rubin": []}
    for _ in studies(40):
        nothing = link(*people(rng, shift=0.0), sources=["pooled"], n_boot=1).iloc[0]
        below["absent"].append(bool(nothing["p"] < 0.05))
        table = link(*(some := people(rng, shift=0.7)), n_boot=1).set_index("source")
        rubin = link(*some, sources=["pooled"], pooling="rubin", n_boot=1).iloc[0]
        assert (table.loc["pooled", "pooling"], rubin["pooling"]) == ("joint", "rubin")
        found = {"alone": table.loc["ana", "p"], "pooled": table.loc["pooled", "p"], "rubin": rubin["p"]}
        for name, p in found.items():
            below[name].append(bool(p < 0.05))
    share = {name: np.mean(each) for name, each in below.items()}
    assert share["absent"] <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 40)
    assert share["pooled"] >= share["alone"]
    assert share["pooled"] > 2 * share["rubin"]


def test_a_coder_of_few_units_weighs_less_than_one_of_many() -> None:
    """Weights by hand: 1 / (c / information + τ²), with c the mean of variance × information."""
    estimates, variances = np.array([0.3, 0.3, 0.9]), np.diag([0.01, 0.01, 0.05])
    found = _pooled.pool_jointly(
        estimates, variances, df=np.array([39, 39, 7]), information=np.array([50.0, 50.0, 10.0])
    )
    tau = max(0.0, np.var(estimates, ddof=1) - 0.07 / 3)
    own = 1 / (0.5 / np.array([50, 50, 10]) + tau)
    weights = own / own.sum()
    assert found.weights == pytest.approx(weights)
    assert found.estimate == pytest.approx(weights @ estimates)
    assert found.standard_error**2 == pytest.approx(weights**2 @ np.diag(variances) + tau * weights @ weights)
    alike = _pooled.pool_jointly(
        np.array([0.3, 0.3]), np.eye(2) * 0.0, df=9, information=np.array([5.0, 1.0])
    )
    assert alike.weights == (0.5, 0.5)
    decisions, units = people(np.random.default_rng(12), error=0.1)
    few = decisions["unit_id"].isin(units["unit_id"].sample(60, random_state=1))
    uneven = decisions[(decisions["coder"] != "cleo") | few]
    table = link(uneven, units).set_index("source")
    z = np.arctanh(table.loc[["ana", "ben", "cleo", "pooled"], "rank_biserial"])
    many, every = z[["ana", "ben"]].mean(), z[["ana", "ben", "cleo"]].mean()
    assert abs(z["pooled"] - many) < abs(every - many)
    assert table.loc["pooled", "p"] < table.loc["cleo", "p"]


def test_pooling_says_why_not_and_whom_it_left_out() -> None:
    decisions, units = people(np.random.default_rng(7))
    never = decisions["applied"] & (decisions["coder"] != "cleo")
    some = link(decisions.assign(applied=never), units, sources=["pooled"]).iloc[0]
    assert (some["n_coders"], some["caution"]) == (2, "coders_left_out")
    alone = link(decisions.assign(applied=decisions["applied"] & (decisions["coder"] == "ana")), units)
    row = alone.set_index("source").loc["pooled"]
    assert (row["reason"], row["n_coders"]) == ("fewer_than_two_coders", 1)
    assert np.isnan(row["rank_biserial"])
    nobody = link(decisions.assign(applied=False), units, sources=["pooled"]).iloc[0]
    assert nobody["reason"] == "code_never_applied"
    with pytest.raises(QualError, match="expected pooling to be"):
        link(decisions, units, pooling="mean")
    with pytest.raises(QualError, match="two or more estimates"):
        _pooled.pool(np.array([1.0]), np.array([1.0]), df=3)


@pytest.mark.long
def test_a_majority_of_two_says_how_many_disputed_units_it_leaves_out() -> None:
    """Two coders who are each wrong on a fifth: every unit on which they differ has no majority."""
    decisions, units = people(np.random.default_rng(7))
    two = decisions[decisions["coder"] != "cleo"]
    units = units.assign(empathy=units["empathy"].where(np.arange(len(units)) >= 20))
    applied = two.pivot(index="unit_id", columns="coder", values="applied").loc[units["unit_id"]]
    disputed = int((applied["ana"] != applied["ben"]).to_numpy()[20:].sum())
    table = link(two, units).set_index("source")
    row = table.loc["majority"]
    assert (row["n_tied"], row["n_with"] + row["n_without"]) == (disputed, len(units) - 20 - disputed)
    assert "ties_left_out" in row["caution"].split(", ")
    assert table.drop("majority")["n_tied"].isna().all()
    joint = links.joint(two, units, rating="empathy", cluster="case_id", source="majority").iloc[0]
    assert (joint["n_tied"], joint["n"]) == (disputed, row["n_with"] + row["n_without"])
    assert "ties_left_out" in joint["caution"].split()
    note = f"because coders were tied: interest {disputed} of {len(units) - 20}."
    assert note in " ".join(report.tables.link(link(two, units), source="majority").notes)
    three = link(decisions, units).set_index("source").loc["majority"]
    assert three["n_tied"] == 0
    assert "ties_left_out" not in str(three["caution"])
    given = two.assign(coder="majority").drop_duplicates("unit_id")  # counted elsewhere
    assert pd.isna(link(given, units, sources=["majority"])["n_tied"].iloc[0])


def test_spearman_with_the_share_of_coders_is_scipys() -> None:
    decisions, units = people(np.random.default_rng(8))
    share = decisions.groupby("unit_id")["applied"].mean()
    expected = stats.spearmanr(share, units.set_index("unit_id").loc[share.index, "empathy"]).statistic
    table = link(decisions, units).set_index("source")
    assert table.loc[["majority", "pooled"], "spearman"].to_numpy() == pytest.approx([expected] * 2)
    assert table.loc[["ana", "ben", "cleo"], "spearman"].isna().all()
    row = table.loc["pooled"]
    assert row["spearman_low"] < expected < row["spearman_high"]
    with_unit_clusters = link(decisions, units, cluster="unit_id", sources=["pooled"]).iloc[0]
    # Independent units: the standard error √(1.06 / (n − 3)) of Fisher's z of ranks (Fieller 1957).
    half = np.arctanh(with_unit_clusters["spearman_high"]) - np.arctanh(with_unit_clusters["spearman"])
    assert half == pytest.approx(1.96 * np.sqrt(1.06 / 277), rel=0.15)
    constant = pd.DataFrame({"cluster": range(8), "share": 0.5, "rating": range(8)})
    assert np.isnan(_code_to_rating.share_columns(constant, 0.95)["spearman"])


@pytest.mark.long
def test_adjusted_p_are_those_of_statsmodels() -> None:
    from statsmodels.stats.multitest import multipletests

    p = np.random.default_rng(9).random(12) ** 2
    np.testing.assert_allclose(holm(p), multipletests(p, method="holm")[1], rtol=1e-12)
    rows = _resample.with_adjusted(pd.DataFrame({"p": [*p, np.nan]}), "p")
    np.testing.assert_allclose(rows["p_adjusted"][:12], multipletests(p, method="fdr_bh")[1], rtol=1e-12)
    assert np.isnan(rows["p_holm"].iloc[12])


def test_probability_of_superiority_follows_from_the_rank_biserial() -> None:
    applied, rating, case = study(np.random.default_rng(10), shift=0.8)
    row = link(*frames(applied, rating, case)).iloc[0]
    pairs = np.sign(rating[applied][:, None] - rating[~applied][None, :])
    superior = (pairs > 0).mean() + (pairs == 0).mean() / 2
    assert (row["rank_biserial"] + 1) / 2 == pytest.approx(superior)
    assert links.code_to_rating.__doc__ is not None
