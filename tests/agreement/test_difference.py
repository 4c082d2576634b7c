"""The difference of two alphas, against alphas and a jackknife that are computed the long way."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from benchmarks.difference_coverage import SIZES, frames, one_study, true_difference
from sense7_qual import agreement
from sense7_qual.errors import ArgumentError, TableError

KEY = ["unit_id", "coder", "code"]
SIZE = (30, 4, 0.35, 0.7, 0.8)


def alpha(decisions: pd.DataFrame) -> float:
    table = decisions.pivot(index="coder", columns="unit_id", values="applied").astype("float64")
    return float(agreement.coefficients.krippendorff_alpha(table.to_numpy(), level="nominal"))


@pytest.mark.parametrize("kind", ["teams", "rounds", "others", "discussion"])
def test_alphas_difference_and_interval_are_those_of_leaving_out_each_participant(kind: str) -> None:
    first, second, units = frames(kind, SIZE, np.random.default_rng(3))
    row = agreement.difference(first, second, units=units, cluster="case_id").iloc[0]
    assert [row["first"], row["second"]] == pytest.approx([alpha(first), alpha(second)])
    assert row["first"] == pytest.approx(agreement.by_code(first, n_boot=5)["alpha"][0])
    case = units.set_index("unit_id")["case_id"]
    people = case.unique()

    def without(person: str) -> float:
        one, two = (frame[frame["unit_id"].map(case) != person] for frame in (first, second))
        return alpha(two) - alpha(one)

    left = np.array([without(person) for person in people])
    apart = left - left.mean()
    n = len(people)
    error = np.sqrt((n - 1) / n * (apart**2).sum())
    assert row["n_clusters"] == n == (60 if kind == "others" else 30)
    half = (row["high"] - row["low"]) / 2
    assert (row["high"] + row["low"]) / 2 == pytest.approx(row["difference"])
    degrees = 2 * stats.t.sf(abs(row["difference"]) / error, np.arange(2, n))
    assert degrees.min() <= row["p"] <= degrees.max()
    assert stats.t.ppf(0.975, n - 1) * error <= half <= stats.t.ppf(0.975, 2) * error
    assert (row["p"] < 0.05) == (not row["low"] <= 0 <= row["high"])
    assert row["n_both"] == (120 if kind in ("teams", "discussion") else 0)


def test_a_discussion_revises_what_was_decided_and_adds_nothing() -> None:
    first, second, units = frames("discussion", SIZE, np.random.default_rng(5))
    changed = first["applied"].to_numpy() != second["applied"].to_numpy()
    talked = second[changed]
    stranger = talked.head(1).assign(coder="c9")
    named = {"units": units, "cluster": "case_id"}
    whole = agreement.difference(first, second, **named)
    revised = agreement.difference(first, pd.concat([talked, stranger]), discussion=True, **named)
    pd.testing.assert_frame_equal(whole.drop(columns="basis"), revised.drop(columns="basis"))
    assert whole["n_changed"][0] == changed.sum() > 0


def test_codes_can_be_compared_with_each_other_and_each_has_a_row() -> None:
    first, second, _ = frames("codes", SIZE, np.random.default_rng(7))
    both = pd.concat([first.assign(code="warm"), second.assign(code="cold")])
    row = agreement.difference(both, both, codes={"warm": "cold"}).iloc[0]
    assert (row["code"], row["other"]) == ("warm", "cold")
    assert row["difference"] == pytest.approx(alpha(second) - alpha(first))
    rows = agreement.difference(both, both.assign(applied=~both["applied"]))
    assert rows["code"].tolist() == ["warm", "cold"]
    assert rows["difference"].tolist() == pytest.approx([0, 0])


def test_without_a_number_there_is_a_reason() -> None:
    first, second, units = frames("teams", (12, 4, 0.35, 0.7, 0.8), np.random.default_rng(3))
    named = {"units": units, "cluster": "case_id"}

    def reason(one: pd.DataFrame, two: pd.DataFrame) -> tuple[object, bool, bool]:
        row = agreement.difference(one, two, **named).iloc[0]
        return row["reason"], bool(pd.isna(row["difference"])), bool(pd.isna(row["low"]))

    assert reason(first[first["coder"] == "c0"], second) == ("no_pairable_units", True, True)
    assert reason(first.assign(applied=False), second) == ("no_variation", True, True)
    assert reason(first, first) == ("one_pattern", False, True)
    one = first["unit_id"].str.startswith("0-")
    assert reason(first[one], second[one.to_numpy()])[0] in ("one_cluster", "no_variation")
    rare = first.assign(applied=first["unit_id"].isin(["0-0", "1-0"]) & (first["coder"] == "c0"))
    assert reason(rare, second) == ("few_clusters", False, True)
    with pytest.raises(TableError):
        agreement.difference(first.drop(columns="applied"), second)
    with pytest.raises(TableError, match="expected a code in both"):
        agreement.difference(first, second.assign(code="y"))
    with pytest.raises(ArgumentError, match="codes of the second decisions – found 'z'"):
        agreement.difference(first, second, codes={"x": "z"})
    with pytest.raises(ArgumentError, match="confidence_level"):
        agreement.difference(first, second, confidence_level=95)


@pytest.mark.nightly
@pytest.mark.simulation
@pytest.mark.parametrize("kind", ["teams", "rounds", "discussion"])
def test_the_interval_holds_the_true_difference(kind: str) -> None:
    rng = np.random.default_rng(4)
    true = true_difference(kind, SIZES[3], rng)
    rows = np.array([one_study(kind, SIZES[3], rng) for _ in range(200)])
    held = np.mean((rows[:, 0] <= true) & (true <= rows[:, 1]))
    assert 0.9 <= held <= 0.99  # benchmarks/difference_coverage.md
