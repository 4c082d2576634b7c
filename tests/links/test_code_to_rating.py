from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from sense7_qual import adjudication, codings, figures, links, report
from sense7_qual.errors import QualError, TableError
from sense7_qual.frames import DECISIONS
from sense7_qual.links import _resample
from tests.helpers.places import PUBLISHED
from tests.helpers.rating_studies import frames, link, study
from tests.helpers.simulation import studies

REFERENCE = PUBLISHED / "agreement_reference.json"
RATINGS = PUBLISHED / "empathic_reactions_ratings.csv"


def test_rank_biserial_equals_the_reference_value() -> None:
    entries = json.loads(REFERENCE.read_text(encoding="utf-8"))
    entry = next(entry for entry in entries if entry["name"] == "wine_rank_biserial_temp")
    wine = pd.DataFrame(entry["data"]["rows"])  # Randall (1989), value by scipy's mannwhitneyu
    decisions, units = frames(
        (wine["temp"] == "warm").to_numpy(), wine["rating"].to_numpy(), wine["judge"].to_numpy()
    )
    row = link(decisions, units).iloc[0]
    assert row["rank_biserial"] == pytest.approx(entry["value"], abs=entry["tolerance"])
    assert (row["n_with"], row["n_without"], row["n_clusters"]) == (36, 36, 9)


@pytest.mark.long
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 100_000), st.sampled_from([2, 5, 1000]))
def test_effect_is_that_of_the_mann_whitney_test_and_of_statsmodels(seed: int, levels: int) -> None:
    from statsmodels.stats.nonparametric import rank_compare_2indep

    rng = np.random.default_rng(seed)
    applied = rng.permutation(np.arange(40) < rng.integers(7, 34))
    rating = rng.integers(0, levels, 40).astype(float)
    rating[:2] = [0, 1]
    row = link(*frames(applied, rating, np.arange(40)), n_boot=1).iloc[0]
    u = stats.mannwhitneyu(rating[applied], rating[~applied]).statistic
    assert row["rank_biserial"] == pytest.approx(2 * u / (applied.sum() * (~applied).sum()) - 1, abs=1e-12)
    superior = rank_compare_2indep(rating[applied], rating[~applied]).prob1
    assert row["rank_biserial"] == pytest.approx(2 * superior - 1, abs=1e-12)
    assert row["mean_difference"] == pytest.approx(rating[applied].mean() - rating[~applied].mean())


def test_standard_error_is_brunner_munzels_when_units_are_independent() -> None:
    from statsmodels.stats.nonparametric import rank_compare_2indep

    rng = np.random.default_rng(1)
    applied = rng.random(600) < 0.4
    rating = rng.integers(1, 6, 600) + applied * (rng.random(600) < 0.3)
    row = link(*frames(applied, rating.astype(float), np.arange(600))).iloc[0]
    expected = rank_compare_2indep(rating[applied], rating[~applied])
    t = stats.t.isf(row["p"] / 2, min(applied.sum(), (~applied).sum()) - 1)
    assert t == pytest.approx(abs(expected.statistic), rel=0.01)


def test_p_is_adjusted_over_the_codes_of_a_source() -> None:
    from statsmodels.stats.multitest import multipletests

    rng = np.random.default_rng(2)
    applied, rating, case = study(rng)
    decisions, units = frames(applied, rating, case)
    shuffled = [
        decisions.assign(code=f"c{i}", coder=coder, applied=rng.permutation(applied))
        for i in range(4)
        for coder in ("ana", "ben")
    ]
    never = decisions.assign(code="never", applied=False)
    result = link(pd.concat([*shuffled, never]), units)
    for _, rows in result.groupby("source"):
        tested = rows["p"].notna()
        assert rows["p_adjusted"].notna().equals(tested)
        assert rows["p_holm"].notna().equals(tested)
        expected = multipletests(rows.loc[tested, "p"], method="fdr_bh")[1]
        np.testing.assert_allclose(rows.loc[tested, "p_adjusted"], expected, rtol=1e-12)
        ordered = np.sort(rows.loc[tested, "p"])  # Holm (1979): the i-th smallest of m times m − i + 1
        holm = np.minimum(np.maximum.accumulate(ordered * np.arange(len(ordered), 0, -1)), 1)
        np.testing.assert_allclose(np.sort(rows.loc[tested, "p_holm"]), holm, rtol=1e-12)
    assert result["p"].notna().sum() == 4 * 4
    assert sorted(result["family"].unique()) == [
        f"codes of {s}" for s in ("ana", "ben", "majority", "pooled")
    ]


@pytest.mark.long
def test_p_and_interval_respect_participants() -> None:
    """Without an effect, p falls below .05 in about 5 % of studies; the row-wise test's far more often."""
    rng = np.random.default_rng(3)
    p, naive, covered = [], [], []
    for _ in range(100):
        applied, rating, case = study(rng)
        row = link(*frames(applied, rating, case), n_boot=250).iloc[0]
        p.append(row["p"])
        naive.append(stats.mannwhitneyu(rating[applied], rating[~applied]).pvalue)
        covered.append(row["rank_biserial_low"] <= 0 <= row["rank_biserial_high"])
    assert np.mean(np.array(p) < 0.05) <= 0.11  # 5 % + 2.8 standard errors of 100 studies
    assert np.mean(np.array(naive) < 0.05) >= 0.12
    assert 0.89 <= np.mean(covered) <= 0.99


@pytest.mark.simulation
def test_interval_covers_an_effect_and_p_finds_it() -> None:
    rng = np.random.default_rng(4)
    applied, rating, _ = study(rng, participants=40_000, shift=0.8)
    u = stats.mannwhitneyu(rating[applied], rating[~applied]).statistic
    true = 2 * u / (applied.sum() * (~applied).sum()) - 1
    rows = [link(*frames(*study(rng, shift=0.8)), n_boot=250).iloc[0] for _ in studies(50)]
    found = pd.DataFrame(rows)
    covered = (found["rank_biserial_low"] <= true) & (found["rank_biserial_high"] >= true)
    assert covered.mean() >= 0.86  # 95 % − 2.9 standard errors of 50 studies
    assert (found["p"] < 0.05).mean() > 0.9


@pytest.mark.long
def test_resampling_counts_is_resampling_participants() -> None:
    rng = np.random.default_rng(5)
    applied, rating, case = study(rng, participants=30, shift=0.5)
    members = np.arange(len(case)).reshape(30, 7)
    slow = []
    for _ in range(1000):
        drawn = members[rng.integers(0, 30, 30)].ravel()
        a, y = applied[drawn], rating[drawn]
        slow.append(2 * stats.mannwhitneyu(y[a], y[~a]).statistic / (a.sum() * (~a).sum()) - 1)
    counts = _resample.count(applied, rating, case)
    fast = _resample.resampled_effects(counts, _resample.cluster_weights(30, n_boot=20_000, seed=1))
    assert fast.mean() == pytest.approx(np.mean(slow), abs=4 * np.std(slow) / np.sqrt(1000))
    assert fast.std() == pytest.approx(np.std(slow), rel=0.1)


def test_interval_is_widened_by_the_clusters_on_the_rarer_side() -> None:
    case = np.repeat(np.arange(20), 5)
    applied = (np.arange(100) % 5 < 2) & (case < 7)
    rating = np.random.default_rng(11).integers(1, 6, 100).astype(float)
    decisions, units = frames(applied, rating, case)
    row = link(decisions, units, n_boot=2000, confidence_level=0.9).iloc[0]
    order = np.argsort(units["case_id"].to_numpy(), kind="stable")
    number = pd.factorize(units["case_id"], sort=True)[0]
    counts = _resample.count(applied[order], rating[order], number[order])
    resampled = _resample.resampled_effects(counts, _resample.cluster_weights(20, n_boot=2000, seed=7))
    z = stats.t.ppf(0.95, 6) * np.sqrt(7 / 6)  # seven of the twenty participants have the code
    expected = np.nanquantile(resampled, stats.norm.cdf([-z, z]))
    assert [row["rank_biserial_low"], row["rank_biserial_high"]] == pytest.approx(expected, abs=1e-12)
    assert row["n_undefined"] == np.isnan(resampled).sum()
    left_out = _resample.jackknifed_effects(counts)
    error = np.sqrt(19 / 20 * np.square(left_out - left_out.mean()).sum())
    assert row["p"] == pytest.approx(2 * stats.t.sf(abs(row["rank_biserial"]) / error, 6))


def test_leaving_out_a_cluster_is_leaving_out_its_units() -> None:
    applied, rating, case = study(np.random.default_rng(6), participants=12)
    found = _resample.jackknifed_effects(_resample.count(applied, rating, case))
    for cluster in range(12):
        keep = case != cluster
        a, y = applied[keep], rating[keep]
        expected = 2 * stats.mannwhitneyu(y[a], y[~a]).statistic / (a.sum() * (~a).sum()) - 1
        assert found[cluster] == pytest.approx(expected, abs=1e-12)


@pytest.mark.long
def test_sources_are_each_coder_the_majority_and_the_consensus() -> None:
    rng = np.random.default_rng(7)
    applied, rating, case = study(rng)
    decisions, units = frames(applied, rating, case)
    flipped = [
        decisions.assign(coder=coder, applied=applied ^ (rng.random(len(applied)) < 0.2))
        for coder in ("ben", "cleo")
    ]
    people = pd.concat([decisions, flipped[0], flipped[1].iloc[:100]])
    everything = pd.concat([people, adjudication.consensus(people)])
    result = link(everything, units)
    assert result["source"].tolist() == ["ana", "ben", "cleo", "majority", "consensus", "pooled"]
    computed = codings.majority(people)
    as_given = link(computed, units)
    assert as_given["source"].tolist() == ["majority"]
    counted = ["n_coders", "n_tied", "caution", "spearman", "spearman_low", "spearman_high", "basis"]
    same = as_given.columns.difference(counted)
    pd.testing.assert_frame_equal(as_given[same], result.iloc[[3]].reset_index(drop=True)[same])
    assert result.set_index("source")["n_coders"].fillna(0).to_dict() == {
        "ana": 1,
        "ben": 1,
        "cleo": 1,
        "majority": 3,
        "consensus": 0,
        "pooled": 3,
    }
    assert result.set_index("source").loc["majority", ["n_with", "n_without"]].sum() == len(computed)
    assert result.set_index("source").loc["majority", "n_tied"] == len(applied) - len(computed)
    assert result.set_index("source").loc["cleo", ["n_with", "n_without"]].sum() == 100
    chosen = link(everything, units, sources=["consensus", "ana"])
    assert chosen["source"].tolist() == ["consensus", "ana"]
    assert link(decisions, units)["source"].tolist() == ["ana"]  # one coder is no majority
    with pytest.raises(TableError, match=r"found 'ana', 'ben', 'cleo' \(6 in all\).*did you mean 'majority'"):
        link(everything, units, sources=["majorty"])


def test_units_without_a_rating_drop_out_and_are_counted_out() -> None:
    applied, rating, case = study(np.random.default_rng(8))
    decisions, units = frames(applied, rating, case)
    rated = np.arange(len(rating)) % 3 > 0
    some = link(decisions, units.assign(empathy=np.where(rated, rating, np.nan)), n_boot=100)
    expected = link(decisions[rated], units[rated], n_boot=100)
    pd.testing.assert_frame_equal(some.drop(columns="basis"), expected.drop(columns="basis"))
    assert some["n_with"].iloc[0] == (applied & rated).sum()
    as_integers = units.assign(empathy=pd.array(np.where(rated, rating, np.nan), dtype="Int64"))
    whole = link(decisions, as_integers, n_boot=100)
    pd.testing.assert_frame_equal(whole.drop(columns="basis"), expected.drop(columns="basis"))


def test_reasons_where_numbers_are_missing() -> None:
    case = np.arange(60) // 3
    rating = np.tile([1.0, 2.0, 3.0], 20)
    rng = np.random.default_rng(9)
    codes = {
        "never": np.zeros(60),
        "always": np.ones(60),
        "few": np.arange(60) < 15,
        "separate": rating == 3,
        "fine": rng.random(60) < 0.4,
        "balanced": rating == 2,
    }
    decisions = pd.concat([frames(a, rating, case, code=code)[0] for code, a in codes.items()])
    _, units = frames(codes["few"], rating, case)
    result = link(decisions, units).set_index("code")
    assert result["reason"].fillna("").to_dict() == {
        "never": "code_never_applied",
        "always": "code_always_applied",
        "few": "few_clusters",
        "separate": "complete_separation",
        "fine": "",
        "balanced": "no_variation_between_clusters",
    }
    inferred = ["rank_biserial_low", "rank_biserial_high", "p", "p_adjusted", "n_boot", "n_undefined"]
    assert result.loc["fine", [*inferred, "rank_biserial", "p_holm", "family", "varies"]].notna().all()
    assert result.drop(index="fine")[inferred].isna().all(axis=None)
    assert result["rank_biserial"].drop(index="fine").fillna(9).to_dict() == {
        "never": 9,
        "always": 9,
        "few": 0,
        "separate": 1,
        "balanced": 0,
    }
    assert np.isnan(result.loc["never", "mean_with"])
    assert result.loc["never", "mean_without"] == 2
    constant = link(decisions, units.assign(empathy=4.0)).set_index("code")
    assert constant.loc[["few", "fine"], "reason"].eq("constant_rating").all()
    assert constant["rank_biserial"].isna().all()
    assert (
        link(decisions, units.assign(case_id="p1")).set_index("code").loc["fine", "reason"] == "one_cluster"
    )
    unrated = link(decisions, units.assign(empathy=np.nan))
    assert unrated["reason"].eq("no_rated_units").all()
    assert unrated["n_clusters"].eq(0).all()


@pytest.mark.long
@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10_000))
def test_result_does_not_depend_on_row_order_or_on_the_scale_of_the_rating(seed: int) -> None:
    applied, rating, case = study(np.random.default_rng(seed), participants=15)
    decisions, units = frames(applied, rating, case)
    expected = link(decisions, units, n_boot=50)
    shuffled = link(
        decisions.sample(frac=1, random_state=seed), units.sample(frac=1, random_state=1), n_boot=50
    )
    pd.testing.assert_frame_equal(shuffled, expected)
    ranks = ["rank_biserial", "rank_biserial_low", "rank_biserial_high", "p"]
    stretched = link(decisions, units.assign(empathy=rating**3), n_boot=50)
    pd.testing.assert_frame_equal(stretched[ranks], expected[ranks])
    turned = link(decisions, units.assign(empathy=-rating), n_boot=50)
    assert turned["rank_biserial"].iloc[0] == pytest.approx(
        -expected["rank_biserial"].iloc[0], abs=1e-12, nan_ok=True
    )
    assert turned["p"].iloc[0] == pytest.approx(expected["p"].iloc[0], nan_ok=True)


def test_seed_moves_the_interval_and_nothing_else() -> None:
    decisions, units = frames(*study(np.random.default_rng(10)))
    one, same, other = (link(decisions, units, seed=seed) for seed in (1, 1, 2))
    pd.testing.assert_frame_equal(one, same)
    assert one["rank_biserial_low"].iloc[0] != other["rank_biserial_low"].iloc[0]
    ends = ["rank_biserial_low", "rank_biserial_high", "n_undefined", "seed"]
    pd.testing.assert_frame_equal(one.drop(columns=ends), other.drop(columns=ends))


def test_participants_widen_the_interval_on_real_ratings() -> None:
    units = pd.read_csv(RATINGS)
    # Half of the writers: a code that is a trait of the writer, so that five texts tell little more than one.
    writers = units["case_id"].drop_duplicates().iloc[::2]
    decisions = units[["unit_id"]].assign(coder="ana", code="c", applied=units["case_id"].isin(writers))
    whole = link(decisions, units, cluster="case_id").iloc[0]
    rows = link(decisions, units, cluster="unit_id").iloc[0]
    assert whole["rank_biserial"] == rows["rank_biserial"]
    assert (whole["n_clusters"], whole["n_with"] + whole["n_without"]) == (372, 1860)
    width = [row["rank_biserial_high"] - row["rank_biserial_low"] for row in (whole, rows)]
    assert width[0] > 1.2 * width[1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"empathy": ["good", "poor", 3.0]},
            r"numbers in column 'empathy'.*2 rows \(units 'u0000', 'u0001'\)",
        ),
        ({"empathy": ["4", "5", "3"]}, "3 rows"),
        ({"empathy": [True, False, True]}, "3 rows"),
        ({"empathy": [1.0, np.inf, 2.0]}, r"1 rows \(units 'u0001'\)"),
        ({"case_id": ["p0", None, "p2"]}, "'case_id'.*found none for 'u0001'"),
        ({"unit_id": ["u0000", "u0001", "u0009"]}, "found others: 'u0002'"),
        ({"unit_id": ["u0000", "u0001", "u0001"]}, "more than once"),
    ],
)
def test_units_that_cannot_be_used_are_refused(change: dict[str, list[object]], message: str) -> None:
    decisions, units = frames(np.array([1, 0, 1]), np.array([1.0, 2.0, 3.0]), np.arange(3))
    with pytest.raises(TableError, match=message) as raised:
        link(decisions, units.assign(**change))
    assert "good" not in str(raised.value)


def test_columns_and_settings_that_do_not_exist_are_refused() -> None:
    decisions, units = frames(np.array([1, 0, 1]), np.array([1.0, 2.0, 3.0]), np.arange(3))
    with pytest.raises(TableError, match="did you mean 'empathy'"):
        link(decisions, units, rating="empaty")
    with pytest.raises(TableError, match="did you mean 'case_id'"):
        link(decisions, units, cluster="caseid")
    for wrong in ({"n_boot": 0}, {"seed": 1.5}, {"confidence_level": 1}):
        with pytest.raises(QualError, match=f"expected {next(iter(wrong))}"):
            link(decisions, units, **wrong)


def test_no_decisions_give_no_rows() -> None:
    _, units = frames(np.array([1, 0]), np.array([1.0, 2.0]), np.arange(2))
    result = link(DECISIONS.empty(), units)
    assert len(result) == 0
    assert list(result.columns[:3]) == ["code", "source", "n_with"]


def test_every_row_says_with_what_level_and_seed_it_was_computed() -> None:
    decisions, units = frames(*study(np.random.default_rng(12)))
    never = decisions.assign(code="never", applied=False)
    result = link(pd.concat([decisions, never]), units, confidence_level=0.9, seed=2**62)
    assert result["reason"].isna().tolist() == [True, False]
    assert result["confidence_level"].tolist() == [0.9, 0.9]
    assert result["seed"].tolist() == [2**62, 2**62]
    assert str(result["seed"].dtype) == "Int64"


@pytest.mark.long
def test_the_default_has_what_tables_and_figures_print_and_details_the_rest() -> None:
    ana, units = frames(*study(np.random.default_rng(4), participants=30, shift=0.5))
    decisions = pd.concat([ana, ana.assign(coder="ben", applied=np.roll(ana["applied"], 1))])
    chosen = {"rating": "empathy", "cluster": "case_id", "n_boot": 50}
    short = links.code_to_rating(decisions, units, **chosen)
    whole = links.code_to_rating(decisions, units, **chosen, details=True)
    asked = links.code_to_rating(decisions, units, **chosen, sensitivity=True)
    assert (short.shape[1], whole.shape[1]) == (34, 63)
    pd.testing.assert_frame_equal(whole[list(short)], short)
    assert {"gee_odds_ratio", "gee_odds_ratio_p"} <= set(asked) - set(short)
    for source in ("majority", "pooled"):
        assert report.tables.link(short, source=source) == report.tables.link(whole, source=source)
        assert figures.link_plot(short, source=source) == figures.link_plot(whole, source=source)
    for effect in ("rank_biserial", "odds_ratio"):
        assert figures.link_forest(short, effect=effect) == figures.link_forest(whole, effect=effect)


@pytest.mark.long
def test_the_default_has_nothing_that_no_table_prints() -> None:
    """Each of its columns, changed, changes the table of all sources, with odds ratios or without."""
    ana, units = frames(*study(np.random.default_rng(4), participants=30, shift=0.5))
    decisions = pd.concat([ana, ana.assign(coder="ben", applied=np.roll(ana["applied"], 1))])
    chosen = {"rating": "empathy", "cluster": "case_id", "n_boot": 50}
    results = [links.code_to_rating(decisions, units, **chosen, odds_ratios=fit) for fit in (True, False)]
    others = {"code": "other", "family": "others", "pooling": "rubin", "caution": "selection"}
    others |= {
        "basis": "other decisions",
        "reason": "one_cluster",
        "odds_ratio_reason": "separation",
        "confidence_level": 0.5,
        "seed": 8,
    }

    def printed(result: pd.DataFrame) -> str:
        return report.tables.link(result, source=["ana", "majority", "pooled"]).markdown()

    def changed(values: pd.Series) -> pd.Series | object:
        if values.name in others:
            return others[values.name]
        return values.mask(values.notna(), 3) if str(values.name)[:2] == "n_" else values / 2 + 0.25

    for name in set(results[0]) - {"source"}:
        again = [result.assign(**{name: changed(result[name])}) for result in results]
        assert [printed(each) for each in again] != [printed(each) for each in results], name
