from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from benchmarks import disagreement_profile as planted
from sense7_qual import acts, adjudication
from sense7_qual.adjudication import _kinds
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ActError, ArgumentError, TableError
from tests.helpers.reference import in_clusters

pytestmark = pytest.mark.long

SENSE7 = Codebook.read("sense7")
KINDS = list(_kinds.KINDS)
QUICK: dict[str, Any] = {"n_draws": 200, "n_boot": 50}


def coded(**applied: str) -> pd.DataFrame:
    """Decisions on one code, a coder and their marks each: 1, 0, or . where they did not decide."""
    rows = [
        (f"m{place:02}", coder, "interest", mark == "1")
        for coder, marks in applied.items()
        for place, mark in enumerate(marks)
        if mark != "."
    ]
    return pd.DataFrame(rows, columns=["unit_id", "coder", "code", "applied"])


def rule(
    unit_id: str, applied: bool | None, reason: str | None, *, at: str = "2026-03-01T09:00:00Z"
) -> acts.Act:
    return acts.rule(
        coder="dora", unit_id=unit_id, code="interest", applied=applied, reason=reason, codebook=SENSE7, at=at
    )


def drawn(**changed: Any) -> tuple[planted.Study, pd.DataFrame, pd.DataFrame | None, pd.DataFrame]:
    plan = planted.Plan(**{"coders": 3, "texts": 300, "repeats": 0.3} | changed)
    study = planted.study(plan, np.random.default_rng(5))
    return study, *planted.frames(study)


def overall(found: adjudication.Profile) -> pd.DataFrame:
    return found.shares[found.shares["code"].isna()].set_index("kind")


@pytest.mark.nightly
def test_planted_kinds_are_found_where_coders_decided_again() -> None:
    study, decisions, again, _ = drawn()
    found = adjudication.profile(decisions, repeats=again, n_boot=50, seed=1)
    rows = found.disagreements
    chance = rows[KINDS].to_numpy(float)
    assert chance.sum(axis=1) == pytest.approx(np.ones(len(rows)))
    place = rows["unit_id"].str[1:].astype(int), rows["code"].str[1:].astype(int)
    true = np.eye(3)[study.kind[place]]
    shares = overall(found).loc[KINDS]
    assert (shares["low"] <= true.mean(axis=0)).all()
    assert (shares["high"] >= true.mean(axis=0)).all()
    assert shares["share"].sum() == pytest.approx(1)
    assert shares["share"].to_numpy(float) == pytest.approx(true.mean(axis=0), abs=0.1)
    named = (rows["kind"] != "not_told").to_numpy()
    right = rows["kind"].to_numpy()[named] == np.array(KINDS)[true.argmax(axis=1)][named]
    assert right.mean() > 0.8  # a kind is named from .8 on
    assert planted.calibration(chance, true) < 0.06
    assert set(rows["source"]) == {"model", "repeats"}
    assert set(rows.loc[rows["n_again"] > 0, "source"]) == {"repeats"}
    assert (
        (found.slips["added_low"] <= planted.SLIPS[:3]) & (planted.SLIPS[:3] <= found.slips["added_high"])
    ).all()


def test_two_coders_have_no_interval_of_slips_and_ambiguous_texts() -> None:
    _, decisions, again, _ = drawn(coders=2, texts=100)
    shares = overall(adjudication.profile(decisions, repeats=again, **QUICK)).loc[KINDS]
    assert shares["share"].sum() == pytest.approx(1)
    assert shares["low"].notna().tolist() == [False, False, True]
    assert shares["reason"].tolist()[:2] == ["two_coders"] * 2
    assert pd.isna(shares["reason"].iloc[2])


def likeliest(rows: _kinds.Rows, readings: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same mixture, one code, by expectation–maximisation: shares of classes, slips by coder."""
    n_coders = rows.applied.shape[1]
    share, slips = np.full(len(readings) + 1, 1 / (len(readings) + 1)), np.full((n_coders, 2), 0.05)
    for _ in range(3000):
        classes, wrong, cases = np.zeros_like(share), np.zeros_like(slips), np.zeros_like(slips)
        for row, n in enumerate(rows.n):
            weights = []
            for place, reading in enumerate([*readings, None]):
                weight = share[place]
                for coder in range(n_coders):
                    yes, no = rows.applied[row, coder], rows.absent[row, coder]
                    p = 0.5 if reading is None else 1 - slips[coder, 1] if reading[coder] else slips[coder, 0]
                    weight *= p**yes * (1 - p) ** no
                weights.append(weight)
            believed = n * np.array(weights) / sum(weights)
            classes += believed
            for reading, units in zip(readings, believed[:-1], strict=True):
                for coder, read in enumerate(reading.astype(int)):
                    yes, no = rows.applied[row, coder], rows.absent[row, coder]
                    wrong[coder, read] += units * (no if read else yes)
                    cases[coder, read] += units * (yes + no)
        share, slips = classes / classes.sum(), wrong / cases
    return share, slips


def test_the_draws_agree_with_maximum_likelihood_by_another_way() -> None:
    readings = np.array([[0, 0], [1, 1], [0, 1], [1, 0]], dtype=float)
    share, slips = np.array([0.6, 0.2, 0.02, 0.08, 0.1]), np.array([[0.02, 0.06], [0.04, 0.03]])
    ways = list(itertools.product(range(3), repeat=2))  # how often each of two applied it, of two times
    chance = np.zeros(len(ways))
    for part, reading in zip(share, [*readings, None], strict=True):
        p = [0.5 if reading is None else 1 - slips[j, 1] if reading[j] else slips[j, 0] for j in range(2)]
        chance += part * np.array([stats.binom.pmf(yes, 2, p).prod() for yes in ways])
    applied = np.array(ways, dtype=float)
    rows = _kinds.Rows(
        code=np.zeros(len(ways), dtype=np.int64),
        n=np.round(20_000 * chance).astype(np.int64),  # what 20,000 units show without chance
        applied=applied,
        absent=2 - applied,
        counted=applied[:, 0] != applied[:, 1],
        possible=np.ones((len(ways), 3), dtype=np.bool_),
    )
    em_share, em_slips = likeliest(rows, readings)
    assert em_share == pytest.approx(share, abs=0.005)  # the other way itself is right
    found = _kinds.draw(rows, shared=True, n_draws=400, seed=2, level=0.95)
    assert found.slips.mean(axis=0) == pytest.approx(em_slips, abs=0.006)
    assert found.slips.mean(axis=0) == pytest.approx(slips, abs=0.006)
    weight = np.array(
        [p if reading is None else 0 for p, reading in zip(em_share, [*readings, None], strict=True)]
    )
    ambiguous = weight[-1] * np.array([stats.binom.pmf(yes, 2, 0.5).prod() for yes in ways]) / chance
    assert found.probability[:, 1] == pytest.approx(ambiguous, abs=0.06)


def dawid_skene_em(applied: np.ndarray) -> np.ndarray:
    """Dawid and Skene (1979), equations 2.3 to 2.5, for two classes: probability of the first (units,)."""
    believed = applied.mean(axis=0)
    for _ in range(500):
        prevalence = believed.mean()
        sensitivity = (believed * applied).sum(axis=1) / believed.sum()
        specificity = ((1 - believed) * (1 - applied)).sum(axis=1) / (1 - believed).sum()
        with_it, without = np.full(applied.shape[1], prevalence), np.full(applied.shape[1], 1 - prevalence)
        for marks, se, sp in zip(applied, sensitivity, specificity, strict=True):
            with_it = with_it * np.where(marks, se, 1 - se)
            without = without * np.where(marks, 1 - sp, sp)
        believed = with_it / (with_it + without)
    return np.asarray(believed)


def test_soft_labels_of_three_coders_are_those_of_dawid_and_skene() -> None:
    rng = np.random.default_rng(3)
    true = rng.random(3000) < 0.35
    applied = np.stack([np.where(true, rng.random(3000) < 0.8, rng.random(3000) < 0.1) for _ in range(3)])
    marks = {
        name: "".join("01"[mark] for mark in row)
        for name, row in zip("abc", applied.astype(int), strict=True)
    }
    labels = adjudication.profile(coded(**marks), **QUICK).soft_labels
    assert set(labels["source"]) == {"error_rates"}
    by_unit = labels.set_index("unit_id")["probability"].loc[[f"m{place:02}" for place in range(3000)]]
    assert by_unit.to_numpy(float) == pytest.approx(dawid_skene_em(applied), abs=0.01)
    assert labels["share"].to_numpy(float) == pytest.approx(labels["n_applied"] / 3)


@pytest.mark.nightly
def test_soft_labels_are_nearer_to_what_coders_read_than_their_share() -> None:
    for changed in ({"coders": 5, "repeats": 0.0}, {"coders": 3}, {"coders": 2}):
        study, decisions, again, _ = drawn(**changed)
        labels = adjudication.profile(decisions, repeats=again, **QUICK).soft_labels
        assert set(labels["source"]) == {"readings"}
        (log, brier), (log_of_share, brier_of_share) = planted.soft(labels, study)
        assert log < log_of_share
        assert brier < brier_of_share


@pytest.mark.parametrize("coders", [2, 3])
def test_few_coders_who_decided_once_tell_nothing(coders: int) -> None:
    _, decisions, _, _ = drawn(coders=coders, repeats=0.0)
    found = adjudication.profile(decisions, **QUICK)
    rows = found.disagreements
    assert len(rows) > 50
    assert set(rows["kind"]) == {"not_told"}
    assert rows[KINDS].isna().all(axis=None)
    assert rows["source"].isna().all()
    assert set(rows["reason"]) == {"few_repeats"}
    shares = overall(found)
    assert shares.loc[KINDS, ["share", "low", "high"]].isna().all(axis=None)
    assert set(shares.loc[KINDS, "reason"]) == {"few_repeats"}
    assert shares.loc["not_told", "n_named"] == len(rows)
    assert found.slips["added"].isna().all()
    assert found.soft_labels["probability"].notna().all() == (coders == 3)
    stance = found.coders.set_index(["coder", "code"]).loc[("c0", "k2")]
    assert stance["leans"] == "more"  # planted, and seen without repeats


def test_many_coders_who_decided_once_tell_ambiguous_texts_alone() -> None:
    study, decisions, _, _ = drawn(coders=5, repeats=0.0)
    found = adjudication.profile(decisions, **QUICK)
    rows = found.disagreements
    assert set(rows["kind"]) == {"ambiguous_text", "not_told"}
    assert rows[["slip", "stance"]].isna().all(axis=None)
    assert rows["ambiguous_text"].notna().all()
    shares = overall(found)
    place = rows["unit_id"].str[1:].astype(int), rows["code"].str[1:].astype(int)
    true = (study.kind[place] == 1).mean()
    assert shares.loc["ambiguous_text", "low"] <= true <= shares.loc["ambiguous_text", "high"]
    assert shares.loc[["slip", "stance"], "share"].isna().all()
    assert set(shares.loc[["slip", "stance"], "reason"]) == {"few_repeats"}
    divided = rows[rows["n_applied"].isin([2, 3])]["ambiguous_text"].mean()
    assert divided > 0.5 > rows[rows["n_applied"].isin([1, 4])]["ambiguous_text"].mean()


STANCE = coded(ana="100100" * 10, ben="110110" * 10)  # ben applies it to twenty texts more, each time


@pytest.mark.nightly
def test_what_a_person_said_counts_before_the_model() -> None:
    again = STANCE.copy()
    again.iloc[0, 3] = False
    rulings = [
        rule("m01", True, "slip"),
        rule("m04", False, "ambiguous_text"),
        rule("m07", True, "unclear_rule"),
        rule("m10", None, "different_reading"),
        rule("m13", True, None),
        rule("m02", True, "slip"),
    ]
    found = adjudication.profile(STANCE, repeats=again, rulings=rulings, **QUICK)
    rows = found.disagreements.set_index("unit_id")
    assert rows["kind"].value_counts().to_dict() == {
        "stance": 16,
        "slip": 1,
        "ambiguous_text": 1,
        "unclear_rule": 1,
        "different_reading": 1,
    }
    assert rows.loc["m01", KINDS].tolist() == [1, 0, 0]
    assert rows.loc["m04", KINDS].tolist() == [0, 1, 0]
    assert rows.loc["m07", KINDS].isna().all()
    assert rows.loc["m07", "kind"] == "unclear_rule"
    assert (rows.loc[["m01", "m04", "m07", "m10"], "source"] == "ruling").all()
    assert rows.loc["m13", "source"] == "repeats"  # ruled on without a reason
    shares = overall(found)
    assert shares["n_given"].to_dict() == {
        "slip": 1,
        "ambiguous_text": 1,
        "stance": 0,
        "unclear_rule": 1,
        "missing_code": 0,
        "different_reading": 1,
        "not_told": 0,
    }
    assert shares["share"].sum() == pytest.approx(1)
    assert shares.loc["unclear_rule", "share"] == pytest.approx(1 / 20)
    assert shares.loc["slip", "share"] >= 1 / 20
    without = adjudication.profile(STANCE, repeats=again, **QUICK)
    assert set(without.disagreements["kind"]) == {"stance"}
    taken_back = [rulings[0], acts.undo(rulings[0], codebook=SENSE7, at="2026-03-02T09:00:00Z")]
    undone = adjudication.profile(STANCE, repeats=again, rulings=taken_back, **QUICK)
    assert undone.disagreements.set_index("unit_id").loc["m01", "kind"] == "stance"


def test_reasons_alone_tell_what_they_are_on() -> None:
    decisions = coded(ana="1100", ben="1010")
    one = adjudication.profile(decisions, rulings=[rule("m01", True, "slip")], **QUICK)
    assert one.disagreements[["unit_id", "kind"]].to_numpy().tolist() == [
        ["m01", "slip"],
        ["m02", "not_told"],
    ]
    assert overall(one).loc["slip", ["n_disputed", "n_told", "n_given"]].tolist() == [2, 1, 1]
    assert overall(one)["share"].isna().all()  # those ruled on first need not be like the rest
    both = [rule("m01", True, "slip"), rule("m02", True, "missing_code")]
    every = overall(adjudication.profile(decisions, rulings=both, **QUICK))
    assert every["share"].dropna().to_dict() == {
        "slip": 0.5,
        "ambiguous_text": 0,
        "stance": 0,
        "unclear_rule": 0,
        "missing_code": 0.5,
        "different_reading": 0,
    }
    later = [*both, rule("m01", True, "ambiguous_text", at="2026-03-05T09:00:00Z")]
    changed = adjudication.profile(decisions, rulings=later, **QUICK).disagreements
    assert changed["kind"].tolist() == ["ambiguous_text", "missing_code"]


def test_a_coder_without_repeats_leaves_the_others_told() -> None:
    again = STANCE.copy()
    again.iloc[0, 3] = False
    cleo = coded(cleo="110110" * 9 + "101100")
    found = adjudication.profile(pd.concat([STANCE, cleo]), repeats=again, **QUICK)
    rows = found.disagreements.set_index("unit_id")
    assert rows.loc["m01", "kind"] == "stance"
    assert rows.loc["m56", ["applied_by", "kind"]].tolist() == ["cleo", "not_told"]
    assert rows.loc["m56", "reason"] == "few_repeats"
    assert overall(found).loc["stance", ["n_disputed", "n_told"]].tolist() == [21, 20]
    assert found.slips.set_index("coder")["reason"].notna().to_dict() == {
        "ana": False,
        "ben": False,
        "cleo": True,
    }


def test_each_coder_is_set_against_most_of_the_others() -> None:
    decisions = coded(ana="111100001", ben="110011001", cleo="1101100..", dora="........1")
    rulings = [rule("m02", False, "slip"), rule("m03", True, "slip")]
    views = adjudication.profile(decisions, rulings=rulings, **QUICK).coders.set_index("coder")
    # m03 and m05 are left out: there ben and cleo are apart.
    ana = views.loc["ana"]
    others = {"m00": 1, "m01": 1, "m02": 0, "m04": 1, "m06": 0, "m07": 0, "m08": 1}
    own = {"m00": 1, "m01": 1, "m02": 1, "m04": 0, "m06": 0, "m07": 0, "m08": 1}
    assert ana["n_units"] == len(others)
    assert ana["prevalence"] == pytest.approx(sum(own.values()) / 7)
    assert ana["others"] == pytest.approx(sum(others.values()) / 7)
    assert ana["difference"] == pytest.approx(0)
    assert ana[["n_present", "n_absent"]].tolist() == [4, 3]
    assert ana["sensitivity"] == pytest.approx(3 / 4)
    assert ana["specificity"] == pytest.approx(2 / 3)
    assert ana[["n_ruled", "n_overruled"]].tolist() == [2, 1]
    assert views.loc["ben", ["n_ruled", "n_overruled"]].tolist() == [2, 1]
    assert views.loc["dora", "n_units"] == 1
    assert views.loc["dora", "reason"] == "few_clusters"


def test_ends_of_shares_of_independent_units_are_those_of_clopper_and_pearson() -> None:
    rng = np.random.default_rng(8)
    ben = rng.random(3000) < 0.4
    ana = np.where(rng.random(3000) < 0.1, ~ben, ben)
    marks = {
        name: "".join("01"[mark] for mark in row.astype(int)) for name, row in (("ana", ana), ("ben", ben))
    }
    view = adjudication.profile(coded(**marks), n_boot=2000, n_draws=1).coders.set_index("coder").loc["ana"]
    hits, n = int((ana & ben).sum()), int(ben.sum())
    exact = stats.binomtest(hits, n).proportion_ci(method="exact")
    assert [view["sensitivity_low"], view["sensitivity_high"]] == pytest.approx(list(exact), abs=0.003)
    difference = ana.mean() - ben.mean()
    error = np.sqrt(((ana != ben).mean() - difference**2) / 3000)
    ends = [difference - 1.96 * error, difference + 1.96 * error]
    assert [view["difference_low"], view["difference_high"]] == pytest.approx(ends, abs=0.001)
    alike = np.argsort(np.argsort(ana.astype(int) - ben, kind="stable")) // 300  # as uneven as can be
    participants = pd.Series([f"p{number}" for number in alike], index=[f"m{at:02}" for at in range(3000)])
    clustered = adjudication.profile(coded(**marks), **in_clusters(participants), n_boot=200, n_draws=1)
    wider = clustered.coders.iloc[0]
    assert wider["difference_high"] - wider["difference_low"] > 3 * (ends[1] - ends[0])


def test_nothing_that_differs_is_no_error() -> None:
    alike = coded(ana="1010" * 10, ben="1010" * 10)
    for decisions, reason in (
        (alike, "no_disagreement"),
        (coded(ana="1010"), "no_pairable_units"),
        (coded(ana="10..", ben="..10"), "no_pairable_units"),
        (alike.iloc[:0], "no_pairable_units"),
    ):
        found = adjudication.profile(decisions, **QUICK)
        assert found.disagreements.empty
        assert set(overall(found)["reason"].dropna()) == {reason}
        assert overall(found)["share"].isna().all()
        assert len(found.soft_labels) == decisions["unit_id"].nunique()
    apart = adjudication.profile(coded(ana="10..", ben="..10"), **QUICK).coders
    assert apart["reason"].tolist() == ["no_pairable_units"] * 2
    assert apart["sensitivity"].isna().all()
    again = alike.copy()
    again.iloc[0, 3] = False
    assert adjudication.profile(alike, repeats=again, **QUICK).slips["added"].notna().all()


def test_order_computed_decisions_and_spaces_do_not_matter_and_the_seed_does() -> None:
    _, decisions, again, units = drawn(texts=100, repeats=0.3)
    kept = decisions.copy()
    found = adjudication.profile(decisions, repeats=again, units=units, cluster="case_id", **QUICK)
    pd.testing.assert_frame_equal(decisions, kept)
    computed = decisions[decisions["coder"] == "c0"].assign(coder="majority")
    shuffled = pd.concat([decisions, computed]).sample(frac=1, random_state=1)
    shuffled["unit_id"] = " " + shuffled["unit_id"]
    same = adjudication.profile(
        shuffled, repeats=again.sample(frac=1, random_state=2), units=units, cluster="case_id", **QUICK
    )
    pd.testing.assert_frame_equal(found.disagreements, same.disagreements)
    pd.testing.assert_frame_equal(found.shares, same.shares)
    pd.testing.assert_frame_equal(found.slips, same.slips)
    other = adjudication.profile(decisions, repeats=again, seed=1, **QUICK)
    assert not other.shares["share"].equals(found.shares["share"])


def test_numbers_for_words_are_taken_where_they_are_clear() -> None:
    decisions = coded(ana="1100", ben="1010")
    as_numbers = decisions.assign(applied=decisions["applied"].astype(int), unit_id=[1, 2, 3, 4] * 2)
    rows = adjudication.profile(as_numbers, **QUICK).disagreements
    assert rows["unit_id"].tolist() == ["2", "3"]
    with pytest.raises(TableError, match="expected True or False in column 'applied'"):
        adjudication.profile(decisions.assign(applied="yes"), **QUICK)


def test_repeats_that_are_none_are_refused_and_the_same_again_is_warned_of() -> None:
    with pytest.raises(TableError, match="repeats: expected decisions that coders made again – found 120"):
        adjudication.profile(STANCE, repeats=STANCE.assign(coder="eve" + STANCE["coder"]), **QUICK)
    with pytest.warns(RuntimeWarning, match="repeats: none of 120 decisions differs"):
        adjudication.profile(STANCE, repeats=STANCE, **QUICK)
    few = adjudication.profile(STANCE, repeats=STANCE[STANCE["unit_id"] < "m19"], **QUICK)
    assert set(few.disagreements["kind"]) == {"not_told"}  # nineteen texts
    assert set(few.disagreements["n_again"]) == {0, 2}


def test_what_cannot_be_used_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"told_from above 0.5 and at most 1 – found 0.5"):
        adjudication.profile(STANCE, told_from=0.5)
    with pytest.raises(ArgumentError, match="n_draws"):
        adjudication.profile(STANCE, n_draws=0)
    with pytest.raises(ArgumentError, match="expected confidence_level"):
        adjudication.profile(STANCE, confidence_level=1)
    with pytest.raises(ArgumentError, match="expected units and the name of their column"):
        adjudication.profile(STANCE, cluster="case_id")
    with pytest.raises(TableError, match="cluster: expected a label for every unit"):
        adjudication.profile(STANCE, **in_clusters(pd.Series("p1", index=["m00"])))
    by_facet = STANCE.assign(code="interest.valence=met")
    with pytest.raises(ActError, match="by a facet"):
        adjudication.profile(by_facet, rulings=[rule("m01", True, "slip")], **QUICK)


def test_the_errors_of_the_ends_are_seen_from_batches_of_draws() -> None:
    draws = np.random.default_rng(1).normal(size=(8000, 1))
    error = _kinds.end_errors(draws, 0.95)
    # The standard error of the 2.5 % quantile of n independent normal values: √(p (1 − p) / n) / density.
    expected = np.sqrt(0.025 * 0.975 / 8000) / stats.norm.pdf(stats.norm.ppf(0.025))
    assert error.ravel() == pytest.approx([expected, expected], rel=0.8)
    assert _kinds.end_errors(np.repeat(draws[::50], 50, axis=0), 0.95).min() > 3 * expected
    assert np.isnan(_kinds.end_errors(draws[:7], 0.95)).all()


def test_draws_are_added_while_chance_moves_an_end() -> None:
    _, decisions, again, _ = drawn(texts=100, repeats=0.2, codes=1)
    for n_draws in (100, 7):
        shares = overall(adjudication.profile(decisions, repeats=again, n_draws=n_draws, n_boot=5)).loc[KINDS]
        made = shares["n_draws"].unique().tolist()
        errors = shares[["low_error", "high_error"]].to_numpy(float)
        if n_draws < 8:
            assert made == [n_draws]
            assert np.isnan(errors).all()
        else:
            assert made[0] % n_draws == 0
            assert made[0] == 8 * n_draws or (errors < 0.02).all()
            assert made[0] > n_draws
