"""Drift: the alarm rings where a coder's share of a code shifts, and seldom where it does not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest
from scipy.stats import fisher_exact

from benchmarks import drift as benchmark
from sense7_qual import acts, codings
from sense7_qual.agreement import drift
from sense7_qual.agreement._drift import Comparison, comparisons, first_alarm
from sense7_qual.errors import ArgumentError, TableError
from tests.helpers.simulation import studies


def frames(applied: Sequence[bool], *, coder: str = "ana") -> tuple[pd.DataFrame, pd.DataFrame]:
    """Decisions and coverage of texts that a coder finished in the order of their ids, an hour each."""
    ids = [f"m{i:04}" for i in range(len(applied))]
    at = pd.date_range("2026-01-05", periods=len(ids), freq="h", tz="UTC").strftime("%Y-%m-%dT%H:%M:%SZ")
    decisions = pd.DataFrame({"unit_id": ids, "coder": coder, "code": "interest", "applied": list(applied)})
    coverage = decisions[["unit_id", "coder"]].assign(round=None, finished_at=at, codebook=None)
    return decisions, coverage


def shifted(n_first: int, n_later: int, before: int = 6, after: int = 2) -> list[bool]:
    """The code on every `before`th of the first texts, on every `after`th of the later ones."""
    return [i % before == 0 for i in range(n_first)] + [i % after == 0 for i in range(n_later)]


def planned(n: int, *, coder: str = "ana") -> pd.DataFrame:
    ids = [f"m{i:04}" for i in range(n)]
    return pd.DataFrame({"coder": coder, "unit_id": ids, "round": None, "place": range(n)})


def test_shares_before_and_after_and_where_the_alarm_rang() -> None:
    found = drift(*frames(shifted(100, 200))).iloc[0]
    assert found[["coder", "code", "n_first", "n_later"]].tolist() == ["ana", "interest", 100, 200]
    assert (found["share_first"], found["share_later"]) == (0.17, 0.5)
    assert found["difference"] == pytest.approx(0.33)
    assert found["alarm"]
    assert found["at_unit"] == 40
    assert pd.isna(found["reason"])


def test_a_shift_downwards_rings_too_and_an_even_share_does_not() -> None:
    assert drift(*frames(shifted(100, 200, 2, 12)))["alarm"].tolist() == [True]
    even = drift(*frames(shifted(100, 200, 3, 3)))
    assert even["alarm"].tolist() == [False]
    assert even["at_unit"].isna().all()


def test_the_order_is_that_in_which_texts_were_finished() -> None:
    decisions, coverage = frames(shifted(100, 200))
    mixed = np.random.default_rng(1).permutation(300)
    pd.testing.assert_frame_equal(drift(decisions.iloc[mixed], coverage), drift(decisions, coverage))
    backwards = coverage.assign(finished_at=coverage["finished_at"].to_numpy()[::-1])
    assert drift(decisions, backwards)["share_first"].tolist() == [0.5]


def test_of_texts_finished_at_once_the_plan_says_the_order() -> None:
    decisions, coverage = frames(shifted(100, 200))
    at_once = coverage.assign(finished_at="2026-01-05T00:00:00Z")
    plan = planned(300)
    assert drift(decisions, at_once, plan=plan)["share_first"].tolist() == [0.17]
    backwards = plan.assign(place=range(299, -1, -1))
    assert drift(decisions, at_once, plan=backwards)["share_first"].tolist() == [0.5]


def test_with_a_plan_an_alarm_stays_where_it_rang_however_often_one_looks() -> None:
    applied = shifted(100, 200)
    decisions, coverage = frames(applied)
    looks = [
        drift(decisions.head(n), coverage.head(n), plan=planned(300)).iloc[0]
        for n in (60, 119, 139, 140, 220, 300)
    ]
    assert [look["n_first"] for look in looks] == [60, 100, 100, 100, 100, 100]
    assert [look["n_later"] for look in looks] == [0, 19, 39, 40, 120, 200]
    assert [look["alarm"] for look in looks] == [False, False, False, True, True, True]
    assert [look["at_unit"] for look in looks[3:]] == [40, 40, 40]
    assert [look["reason"] for look in looks[:2]] == ["few_units", "few_units"]


def test_each_comparison_is_fishers_exact_test() -> None:
    """A second implementation: the two-sided p, doubled from one side, against the level."""
    rng, n_first, n_now, level = np.random.default_rng(2), 33, 20, 0.01
    first, later = rng.random((300, n_first)) < 0.3, rng.random((300, n_now)) < rng.random((300, 1))
    found = first_alarm(first, later, [Comparison(0, n_now, level)]) > 0
    for one, two, rings in zip(first.sum(axis=1), later.sum(axis=1), found, strict=True):
        table = [[two, n_now - two], [one, n_first - one]]
        p = 2 * min(fisher_exact(table, alternative=side).pvalue for side in ("less", "greater"))
        assert rings == (p <= level)
    assert 50 < found.sum() < 250


def test_the_whole_error_is_spent_and_no_more() -> None:
    for n_later in (20, 45, 67, 200, 667):
        compared = comparisons(n_later, 0.05)
        assert sum(one.level for one in compared) == pytest.approx(0.05)
        assert max(one.end for one in compared) <= n_later
        assert all(one.end > one.start for one in compared)
    assert comparisons(19, 0.05) == []


@pytest.mark.long
def test_the_error_is_divided_by_coders_and_codes_also_by_who_is_only_planned() -> None:
    decisions, coverage = frames(shifted(100, 60, 6, 3))
    assert not drift(decisions, coverage)["alarm"].any()
    decisions, coverage = frames(shifted(100, 200, 4, 2))
    alone = drift(decisions, coverage)
    many = pd.concat([planned(300), *(planned(9, coder=f"c{i}") for i in range(400))], ignore_index=True)
    assert alone["at_unit"].tolist() == [60]
    assert drift(decisions, coverage, plan=many)["at_unit"].isna().all()


def test_computed_decisions_are_no_coder() -> None:
    decisions, coverage = frames(shifted(100, 200))
    both = pd.concat([decisions, decisions.assign(coder="majority")], ignore_index=True)
    pd.testing.assert_frame_equal(drift(both, coverage), drift(decisions, coverage))


def test_too_few_texts_have_a_reason_and_no_alarm() -> None:
    found = drift(*frames(shifted(2, 5)))
    assert found["reason"].tolist() == ["few_units"]
    assert found["alarm"].tolist() == [False]
    assert drift(*frames([])).empty


def test_what_is_wrong_is_refused() -> None:
    decisions, coverage = frames(shifted(10, 20))
    for share in (0.0, 1.0):
        with pytest.raises(ArgumentError, match="false_alarms"):
            drift(decisions, coverage, false_alarms=share)
    with pytest.raises(TableError, match="finished_at"):
        drift(decisions, coverage.assign(finished_at=None))
    with pytest.raises(TableError, match="coverage"):
        drift(decisions, coverage.head(3))


@pytest.mark.parametrize("order", ["no participants", "random"])
def test_without_drift_hardly_any_study_has_an_alarm(order: str) -> None:
    """The benchmark in small: at most 5 % and three standard errors; the control rings in most."""
    rng, n = np.random.default_rng(4), 300
    compared = comparisons(200, 0.05 / 21)
    often = [Comparison(0, end, 0.05) for end in range(10, 201, 10)]
    given = [benchmark.study(3, 7, 300, order, rng) for _ in range(n)]
    rung = [(first_alarm(one[:, :100], one[:, 100:], compared) > 0).any() for one in given]
    naive = [(first_alarm(one[:, :100], one[:, 100:], often) > 0).any() for one in given]
    assert np.mean(rung) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / n)
    assert np.mean(naive) > 0.5


def test_a_shift_by_a_fifth_is_found_as_often_as_is_said() -> None:
    rng, n = np.random.default_rng(5), 500
    first, later = rng.random((n, 333)) < 0.1, rng.random((n, 667)) < 0.3
    at = first_alarm(first, later, comparisons(667, 0.05 / 14))
    assert np.mean((at > 0) & (at <= 60)) > 0.55
    assert np.mean(at > 0) > 0.97


@pytest.mark.simulation
def test_without_drift_a_code_that_is_split_rings_no_alarm() -> None:
    """The benchmark of revised studies in small: at the end, and before stale texts are looked at again."""
    rng, rung, by_last = np.random.default_rng(6), [], []
    for _ in studies(8):
        one = benchmark.revised_study(300, rng)
        for made in (one.made, [act for act in one.made if act.at < one.reviewed]):
            record = acts.fold(made)
            decided = codings.decisions(
                record.codings, record.coverage, one.codebook, revisions=[one.revision]
            )
            found = drift(decided, record.coverage, plan=one.plan)
            rung.append(found["alarm"].any())
            if made is one.made:
                last = record.coverage.drop(columns="first_finished_at")
                by_last.append(drift(decided, last, plan=one.plan)["alarm"].any())
            else:
                # What was decided before the split waits, and what was decided since is too little.
                parts = found[found["code"].isin(["a1", "a2"])]
                assert parts["reason"].tolist() == ["few_units"] * 4
    assert np.mean(rung) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / len(rung))
    assert np.mean(by_last) > 0.5


def test_a_text_that_was_looked_at_again_keeps_its_place() -> None:
    decisions, coverage = frames(shifted(100, 200))
    again = coverage.assign(first_finished_at=coverage["finished_at"])
    chosen = decisions["applied"].to_numpy()  # what is looked at again goes with the code
    again.loc[chosen, "finished_at"] = "2027-01-01T00:00:00Z"
    pd.testing.assert_frame_equal(drift(decisions, again), drift(decisions, coverage))
    later_round = coverage[chosen].assign(round="second", finished_at="2027-01-01T00:00:00Z")
    both = pd.concat([later_round, coverage], ignore_index=True)
    pd.testing.assert_frame_equal(drift(decisions, both), drift(decisions, coverage))


def test_a_code_that_is_open_where_it_was_applied_rings_no_alarm() -> None:
    """Split and not looked at again: where it was applied first it is undecided, and so it seems rare."""
    decisions, coverage = frames([i % 3 == 0 for i in range(300)])
    other = decisions.assign(code="other")
    stale = decisions["applied"] & (decisions["unit_id"] < "m0150")
    found = drift(pd.concat([decisions[~stale], other]), coverage)
    assert found["alarm"].tolist() == [False, False]
    assert found["reason"].fillna("").tolist() == ["open_between", ""]
    came_later = drift(pd.concat([decisions[decisions["unit_id"] >= "m0050"], other]), coverage)
    assert came_later["reason"].isna().all()
    assert came_later["n_first"].tolist() == [50, 100]


def test_texts_of_one_sheet_without_a_plan_have_no_order_of_participants() -> None:
    """Ids in a row are of one participant: in their order the code would seem to shift."""
    decisions, coverage = frames([i >= 150 for i in range(300)])
    at_once = coverage.assign(finished_at="2026-01-05T00:00:00Z")
    assert drift(decisions, coverage)["alarm"].all()
    assert not drift(decisions, at_once)["alarm"].any()
