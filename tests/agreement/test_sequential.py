"""Double coding that stops itself: the interval by hand, what it needs, how often it holds at all looks."""

from __future__ import annotations

import math
import re

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from benchmarks import agreement_sequential as benchmark
from sense7_qual.agreement import by_code, sequential
from sense7_qual.agreement._sequential import _boundary
from sense7_qual.agreement.coefficients import krippendorff_alpha
from sense7_qual.errors import ArgumentError, TableError
from tests.helpers.simulation import studies


def table(values: np.ndarray, code: str = "interest") -> pd.DataFrame:
    """Return decisions from an array (coders, units) of 0 and 1."""
    rows = [
        (f"m{unit:04d}", f"c{coder}", code, bool(value))
        for coder, row in enumerate(values)
        for unit, value in enumerate(row)
    ]
    return pd.DataFrame(rows, columns=["unit_id", "coder", "code", "applied"])


def cells(both: int, one: int, neither: int) -> np.ndarray:
    """Return the values of two coders (coders, units), the disputed units shared out evenly."""
    first = [1] * both + [i % 2 for i in range(one)] + [0] * neither
    second = [1] * both + [1 - i % 2 for i in range(one)] + [0] * neither
    return np.array([first, second])


def jackknife(values: np.ndarray) -> tuple[float, float]:
    """Return alpha's standard error on log(1 − alpha), and Satterthwaite's degrees of freedom."""
    n = values.shape[1]
    without = np.array(
        [krippendorff_alpha(np.delete(values, unit, axis=1), level="nominal") for unit in range(n)]
    )
    apart = np.square(without - without.mean())
    error = math.sqrt((n - 1) / n * apart.sum()) / (1 - krippendorff_alpha(values, level="nominal"))
    return error, 2 * n / (n * np.square(apart).sum() / apart.sum() ** 2 - 1)


@pytest.mark.long
def test_the_boundary_is_crossed_as_often_as_its_level_says() -> None:
    """A Brownian motion, seen 4,000 times between t = 1/30 and 30 and corrected for what lies between."""
    rng, n_paths = np.random.default_rng(1), 4000
    t = np.geomspace(1 / 30, 30, 4000)
    step = np.diff(np.concatenate([[0], t]))
    for level in (0.8, 0.95):
        limit, crossed = _boundary(level) * np.maximum(1, t), np.zeros(n_paths, dtype=bool)
        for path in range(n_paths):
            place = np.cumsum(rng.standard_normal(len(t)) * np.sqrt(step))
            # Siegmund (1979): a discrete walk crosses as if the limit lay .583 of a step further out.
            crossed[path] = (np.abs(place) + 0.583 * np.sqrt(step) * (t > t[0]) > limit).any()
        assert crossed.mean() == pytest.approx(1 - level, abs=3 * math.sqrt(level * (1 - level) / n_paths))


@pytest.mark.parametrize("width", [0.25, 0.6])
def test_the_interval_is_the_boundary_on_the_scale_of_the_logarithm(width: float) -> None:
    values = cells(20, 12, 68)
    alpha = krippendorff_alpha(values, level="nominal")
    error, degrees = jackknife(values)
    needed = math.asinh(width / 2 / (1 - alpha))
    c = -stats.t.ppf(stats.norm.sf(2.344743), degrees)
    half = max(needed, (c * error) ** 2 / needed)
    row = sequential(table(values), width=width).iloc[0]
    assert row["estimate"] == pytest.approx(alpha)
    assert row["low"] == pytest.approx(max(1 - (1 - alpha) * math.exp(half), -1), abs=1e-6)
    assert row["high"] == pytest.approx(1 - (1 - alpha) * math.exp(-half), abs=1e-6)
    assert row["reached"] == (width == 0.6)


def test_once_the_width_is_reached_it_stays_and_no_more_units_are_needed() -> None:
    for times in (8, 30):
        row = sequential(table(np.tile(cells(20, 12, 68), times)), width=0.3).iloc[0]
        assert (row["reached"], row["n_more"], row["reason"]) == (True, 0, pd.NA)
        assert row["high"] - row["low"] == pytest.approx(0.3)


@pytest.mark.parametrize("values", [cells(20, 12, 68), cells(12, 0, 48)], ids=["disputed", "undisputed"])
def test_as_many_units_as_it_says_are_enough_and_fewer_are_not(values: np.ndarray) -> None:
    n = values.shape[1]
    row = sequential(table(values), width=0.2).iloc[0]
    assert not row["reached"]
    enough, fewer = math.ceil(1 + row["n_more"] / n), math.floor(1 + row["n_more"] / n)
    assert enough > fewer >= 1
    assert sequential(table(np.tile(values, enough)), width=0.2)["reached"].iloc[0]
    assert not sequential(table(np.tile(values, fewer)), width=0.2)["reached"].iloc[0]


def test_the_estimates_are_those_of_by_code() -> None:
    rng = np.random.default_rng(3)
    parts = [table(benchmark.study(0, 80, share, 0.6, rng)[0] - 1, f"{share}") for share in (0.2, 0.4)]
    decisions = pd.concat(parts)
    once = by_code(decisions, n_boot=10)
    for coefficient, column in (
        ("krippendorff_alpha", "alpha"),
        ("gwet_ac", "ac1"),
        ("percent_agreement", "percent"),
    ):
        result = sequential(decisions, width=0.2, coefficient=coefficient)
        np.testing.assert_allclose(result["estimate"], once[column])
        assert (result["low"] < result["estimate"]).all()
        assert (result["estimate"] < result["high"]).all()
        for same in ("code", "n_units", "n_coders", "n_clusters", "prevalence"):
            assert result[same].tolist() == once[same].tolist()


def test_units_of_a_participant_who_says_the_same_five_times_count_once() -> None:
    once = cells(20, 12, 68)
    fivefold = table(np.repeat(once, 5, axis=1))
    labels = [(f"m{i:04d}", f"p{i // 5}") for i in range(500)]
    units = pd.DataFrame(labels, columns=["unit_id", "case_id"])
    clustered = sequential(fivefold, width=0.3, units=units, cluster="case_id").iloc[0]
    single, blind = sequential(table(once), width=0.3).iloc[0], sequential(fivefold, width=0.3).iloc[0]
    assert (clustered["n_units"], clustered["n_clusters"]) == (500, 100)
    assert clustered["low"] == pytest.approx(single["low"], abs=0.01)
    assert clustered["n_more"] == pytest.approx(5 * single["n_more"], rel=0.05)
    assert blind["reached"]
    assert not clustered["reached"]


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        (cells(0, 0, 40), "no_variation"),
        (cells(1, 1, 40), "few_units"),
        (cells(0, 1, 0), "one_unit"),
        (cells(3, 4, 0)[:1], "one_coder"),
    ],
)
def test_too_little_gives_no_interval_and_says_why(values: np.ndarray, reason: str) -> None:
    row = sequential(table(values), width=0.3).iloc[0]
    assert row["reason"] == reason
    assert not row["reached"]
    assert row[["low", "high", "n_more"]].isna().all()


def test_all_units_of_one_participant_give_no_interval() -> None:
    units = pd.DataFrame({"unit_id": [f"m{i:04d}" for i in range(60)], "case_id": "p"})
    row = sequential(table(cells(20, 10, 30)), width=0.3, units=units, cluster="case_id").iloc[0]
    assert row["reason"] == "one_cluster"
    assert pd.isna(row["low"])


def test_without_disagreement_the_interval_says_how_much_could_have_gone_unseen() -> None:
    """Half the error, on one side: 1 − .0125^(1/60), over the .32 that would differ by chance."""
    row = sequential(table(cells(12, 0, 48)), width=0.1).iloc[0]
    assert (row["estimate"], row["high"], row["reason"]) == (1, 1, "no_disagreement")
    assert row["low"] == pytest.approx(1 - (1 - 0.0125 ** (1 / 60)) / 0.32)


def test_computed_decisions_are_no_coders() -> None:
    decisions = table(cells(20, 12, 68))
    ruled = decisions[decisions["coder"] == "c0"].assign(coder="consensus")
    pd.testing.assert_frame_equal(
        sequential(pd.concat([decisions, ruled]), width=0.3), sequential(decisions, width=0.3)
    )


def test_what_is_refused() -> None:
    decisions = table(cells(20, 12, 68))
    for wrong in ({"width": 0.0}, {"width": 2.0}, {"confidence_level": 1.0}):
        (name,) = wrong
        with pytest.raises(ArgumentError, match=re.escape(f"sequential: expected {name}")):
            sequential(decisions, **{"width": 0.3, **wrong})
    units = pd.DataFrame({"unit_id": ["m0001"], "case_id": ["p"]})
    with pytest.raises(TableError, match="cluster: expected a label"):
        sequential(decisions, width=0.3, units=units, cluster="case_id")


@pytest.mark.simulation
def test_the_interval_holds_at_all_looks_and_ordinary_ones_do_not() -> None:
    held, naive = [], []
    for participants, alpha in ((0, 0.3), (40, 0.6)):
        rng = np.random.default_rng(5)
        for _ in studies(60):
            seen = benchmark.looks(*benchmark.study(participants, 200, 0.3, alpha, rng), 0.4, 200)
            held.append(all(benchmark.holds(shown.low, shown.high, alpha) for _, shown, _ in seen))
            naive.append(all(benchmark.holds(*ends, alpha) for *_, ends in seen))
    assert np.mean(held) >= 0.93  # see benchmarks/agreement_sequential.md
    assert np.mean(naive) <= 0.88
    assert np.mean(naive) < np.mean(held) - 0.05


@pytest.mark.simulation
def test_a_common_code_of_convabuse_takes_far_fewer_units_than_a_fixed_quarter() -> None:
    rng = np.random.default_rng(1)
    for _ in studies(2):
        values, conversation, truth = benchmark.drawn("abusive", rng)
        n, last, _ = benchmark.looks(values, conversation, 0.3, 1046, control=False)[-1]
        assert last.reached
        assert n <= 0.7 * 1046
        assert last.low <= truth <= last.high
