"""Where coders disagree: hand-computed examples, second implementations, and what may not matter."""

from __future__ import annotations

import itertools
import warnings

import krippendorff
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.metrics import cohen_kappa_score

from sense7_qual.agreement import pairwise
from sense7_qual.agreement._by_code import by_code
from sense7_qual.agreement.diagnosis import by_unit, confusion
from sense7_qual.errors import TableError
from tests.helpers.places import PUBLISHED

CONVABUSE = PUBLISHED / "convabuse_ratings.csv"


def decisions_of(rows: list[tuple[str, str, str, bool]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["unit_id", "coder", "code", "applied"])


def study(
    seed: int, *, coders: int = 4, units: int = 40, codes: int = 3, missing: float = 0.3
) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    truth = rng.random((units, codes)) < 0.35
    return decisions_of(
        [
            (f"u{unit:03}", f"c{coder}", f"code{code}", bool(truth[unit, code] ^ (rng.random() < 0.2)))
            for unit in range(units)
            for coder in range(coders)
            if rng.random() > missing
            for code in range(codes)
        ]
    )


def tables(decisions: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Each code's values (units, coders), NaN where a coder has not decided: by pandas, unlike ours."""
    floats = decisions.assign(applied=decisions["applied"].astype(float))
    return {
        str(code): group.pivot_table(index="unit_id", columns="coder", values="applied")
        for code, group in floats.groupby("code")
    }


# ---- pairwise -----------------------------------------------------------------------------------------


def test_pairwise_of_cohens_own_layout() -> None:
    """Two coders, 20 both, 5 only the first, 10 only the second, 15 neither: kappa .4, by hand.

    Agreement .70; chance .5 · .6 + .5 · .4 = .5; kappa (.7 − .5) / (1 − .5) = .4. Alpha: 55 of 100 values
    are 1, 1 − 99 · 30 / (2 · 55 · 45) = .4.
    """
    cells = [(True, True)] * 20 + [(True, False)] * 5 + [(False, True)] * 10 + [(False, False)] * 15
    rows = [
        (f"u{unit}", coder, "x", value)
        for unit, pair in enumerate(cells)
        for coder, value in zip(("ana", "ben"), pair, strict=True)
    ]
    found = pairwise(decisions_of(rows)).iloc[0]
    assert found[["n_units", "n_both", "n_only_a", "n_only_b", "n_neither"]].tolist() == [50, 20, 5, 10, 15]
    assert found["percent"] == pytest.approx(0.7)
    assert found["kappa"] == pytest.approx(0.4)
    assert found["alpha"] == pytest.approx(1 - 99 * 30 / (2 * 55 * 45))
    assert pd.isna(found["reason"])


@pytest.mark.long
@pytest.mark.parametrize("seed", range(5))
def test_pairwise_equals_other_packages(seed: int) -> None:
    decisions = study(seed)
    found = pairwise(decisions).set_index(["code", "coder_a", "coder_b"])
    assert len(found) == 3 * 6
    for code, table in tables(decisions).items():
        for one, other in itertools.combinations(sorted(table.columns), 2):
            both = table[[one, other]].dropna()
            row = found.loc[(code, one, other)]
            assert row["n_units"] == len(both)
            assert row["percent"] == pytest.approx((both[one] == both[other]).mean(), abs=1e-12)
            assert row["kappa"] == pytest.approx(cohen_kappa_score(both[one], both[other]), abs=1e-12)
            alpha = krippendorff.alpha(reliability_data=both.T.to_numpy(), level_of_measurement="nominal")
            assert row["alpha"] == pytest.approx(alpha, abs=1e-12)


def test_pairwise_says_why_a_number_is_missing() -> None:
    rows = [("u1", "ana", "x", True), ("u1", "ben", "x", True), ("u2", "cleo", "x", False)]
    found = pairwise(decisions_of(rows)).set_index(["coder_a", "coder_b"])
    assert found["reason"].tolist() == ["no_variation", "no_pairable_units", "no_pairable_units"]
    assert found["n_units"].tolist() == [1, 0, 0]
    assert found.loc[("ana", "ben"), "percent"] == 1
    assert found[["kappa", "alpha"]].isna().all(axis=None)
    assert np.isnan(found.loc[("ana", "cleo"), "percent"])


def test_computed_decisions_are_no_coders() -> None:
    decisions = study(1)
    extra = decisions[decisions["coder"] == "c0"].assign(coder="consensus")
    both = pd.concat([decisions, extra])
    pd.testing.assert_frame_equal(pairwise(both), pairwise(decisions))
    pd.testing.assert_frame_equal(confusion(both), confusion(decisions))
    pd.testing.assert_frame_equal(by_unit(both), by_unit(decisions))


# ---- confusion ----------------------------------------------------------------------------------------


def test_confusion_by_hand() -> None:
    applied = {
        ("u1", "ana"): {"a"},
        ("u1", "ben"): {"b"},  # a–b
        ("u2", "ana"): {"a", "c"},
        ("u2", "ben"): {"b", "c"},  # a–b; c is no part of it
        ("u3", "ana"): {"a", "b"},
        ("u3", "ben"): {"c"},  # a–c and b–c
        ("u4", "ana"): {"a"},
        ("u4", "ben"): set(),  # a left out
        ("u5", "ana"): {"a"},
        ("u5", "ben"): {"a"},  # no difference
        ("u5", "cleo"): {"b"},  # a–b twice, on one unit
    }
    rows = [(unit, coder, code, code in codes) for (unit, coder), codes in applied.items() for code in "abc"]
    found = confusion(decisions_of(rows))
    missing = found["code_b"].isna()
    assert found[~missing][["code_a", "code_b", "n_pairs", "n_units"]].values.tolist() == [
        ["a", "b", 4, 3],
        ["a", "c", 1, 1],
        ["b", "c", 1, 1],
    ]
    assert found[missing][["code_a", "n_pairs", "n_units"]].values.tolist() == [["a", 1, 1]]
    # Coders differ six times: once on u1 to u4, twice on u5.
    assert found["share"].tolist() == pytest.approx([4 / 6, 1 / 6, 1 / 6, 1 / 6])


def slow_confusion(decisions: pd.DataFrame) -> dict[tuple[str, str | None], tuple[int, int]]:
    """The definition, word by word."""
    names = list(dict.fromkeys(decisions["code"]))
    value = {(r.unit_id, r.coder, r.code): r.applied for r in decisions.itertuples()}
    counted: dict[tuple[str, str | None], list[str]] = {}
    for unit in decisions["unit_id"].unique():
        for one, other in itertools.combinations(sorted(decisions["coder"].unique()), 2):
            common = [c for c in names if (unit, one, c) in value and (unit, other, c) in value]
            first = [c for c in common if value[unit, one, c] and not value[unit, other, c]]
            second = [c for c in common if value[unit, other, c] and not value[unit, one, c]]
            if not first or not second:
                for code in first + second:
                    counted.setdefault((code, None), []).append(unit)
            for pair in itertools.product(first, second):
                low, high = sorted(pair, key=names.index)
                counted.setdefault((low, high), []).append(unit)
    return {key: (len(units), len(set(units))) for key, units in counted.items()}


@pytest.mark.parametrize("seed", range(5))
def test_confusion_equals_its_definition(seed: int) -> None:
    decisions = study(seed, codes=5).sample(frac=0.8, random_state=seed)
    found = {
        (row.code_a, None if pd.isna(row.code_b) else row.code_b): (row.n_pairs, row.n_units)
        for row in confusion(decisions).itertuples()
    }
    assert found == slow_confusion(decisions)
    assert confusion(decisions)["n_pairs"].is_monotonic_decreasing


def test_nothing_confused() -> None:
    rows = [("u1", coder, "x", True) for coder in ("ana", "ben")]
    assert len(confusion(decisions_of(rows))) == 0
    assert list(confusion(decisions_of(rows))) == [
        "code_a",
        "code_b",
        "n_pairs",
        "n_units",
        "share",
        "basis",
    ]


# ---- by_unit ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_alpha_without_a_unit_is_alpha_of_the_others(seed: int) -> None:
    decisions = study(seed, units=20)
    found = by_unit(decisions)
    for code, table in tables(decisions).items():
        rows = found[found["code"] == code].set_index("unit_id")
        pairable = table[table.notna().sum(axis=1) >= 2]
        assert sorted(rows.index) == sorted(pairable.index)
        alpha = krippendorff.alpha(reliability_data=pairable.T.to_numpy(), level_of_measurement="nominal")
        assert rows["alpha"].to_numpy() == pytest.approx(alpha, abs=1e-12)
        for unit, row in rows.iterrows():
            others = pairable.drop(index=unit).T.to_numpy()
            left = krippendorff.alpha(reliability_data=others, level_of_measurement="nominal")
            assert row["alpha_without"] == pytest.approx(left, abs=1e-12)
            assert row["cost"] == pytest.approx(left - alpha, abs=1e-12)
            values = pairable.loc[unit].dropna()
            pairs = list(itertools.combinations(values, 2))
            assert row["disagreement"] == pytest.approx(np.mean([a != b for a, b in pairs]))
        assert rows["share"].sum() == pytest.approx(1)
        assert rows["cost"].round(12).is_monotonic_decreasing


def test_a_code_without_disagreement_costs_nothing() -> None:
    rows = [(f"u{i}", coder, "x", i < 3) for i in range(6) for coder in ("ana", "ben")]
    found = by_unit(decisions_of(rows))
    assert found["alpha"].tolist() == [1.0] * 6
    assert found["cost"].tolist() == [0.0] * 6
    assert found["share"].isna().all()
    never = by_unit(decisions_of([(f"u{i}", c, "x", False) for i in range(3) for c in ("ana", "ben")]))
    assert never[["alpha", "alpha_without", "cost"]].isna().all(axis=None)
    assert never["unit_id"].tolist() == ["u0", "u1", "u2"]


# ---- all three ----------------------------------------------------------------------------------------


@pytest.mark.long
@given(seed=st.integers(0, 10_000), order=st.randoms(use_true_random=False))
@settings(max_examples=20, deadline=None)
def test_order_and_names_do_not_matter(seed: int, order: object) -> None:
    """Rows shuffled (codes kept in their order), and coders and units renamed in their order."""
    decisions = study(seed, units=12)
    rows = list(range(len(decisions)))
    order.shuffle(rows)  # type: ignore[attr-defined]
    other = decisions.iloc[rows].sort_values("code", kind="stable")
    other = other.assign(coder="p-" + other["coder"], unit_id="q-" + other["unit_id"])
    for function in (pairwise, confusion, by_unit):
        expected = function(decisions.sort_values("code", kind="stable"))
        found = function(other).drop(columns="basis").replace({"^[pq]-": ""}, regex=True)
        pd.testing.assert_frame_equal(found, expected.drop(columns="basis"))


def test_units_that_one_coder_has_seen_change_nothing() -> None:
    decisions = study(2)
    alone = decisions_of([("z1", "c0", "code0", True), ("z1", "c0", "code1", False)])
    more = pd.concat([decisions, alone])
    for function in (pairwise, confusion, by_unit):
        same, found = (function(frame).drop(columns="basis") for frame in (decisions, more))
        pd.testing.assert_frame_equal(found, same)


@pytest.mark.parametrize("function", [pairwise, confusion, by_unit])
def test_nothing_and_nonsense(function: object) -> None:
    empty = decisions_of([])
    assert len(function(empty)) == 0  # type: ignore[operator]
    twice = decisions_of([("u1", "ana", "x", True), ("u1", "ana", "x", False)])
    with pytest.raises(TableError, match="more than once: 'u1 / ana / x'"):
        function(twice)  # type: ignore[operator]


def test_eight_coders_of_a_real_study() -> None:
    """4,185 units; alpha of `sexist` is .648776 (krippendorff 0.9)."""
    ratings = pd.read_csv(CONVABUSE)
    names = ["sexist", "transphobic"]
    long = ratings.melt(["unit_id", "coder"], names, var_name="code", value_name="applied")
    decisions = long.assign(applied=long["applied"].astype(bool)).astype({"unit_id": str, "coder": str})
    found = by_unit(decisions)
    assert found.groupby("code")["alpha"].first()["sexist"] == pytest.approx(0.648776, abs=1e-6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        alphas = by_code(decisions, n_boot=10, seed=1).set_index("code")["alpha"]
    assert found.groupby("code")["alpha"].first().to_dict() == pytest.approx(alphas.to_dict(), abs=1e-12)
    pairs = pairwise(decisions)
    assert len(pairs) == 2 * 28
    # Every pair of decisions on a unit is in exactly one row.
    sizes = ratings.groupby("unit_id").size()
    assert pairs.groupby("code")["n_units"].sum()["sexist"] == (sizes * (sizes - 1) // 2).sum()
