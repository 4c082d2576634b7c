"""Agreement on units drawn with unequal probabilities speaks of all units again."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

from benchmarks import weighted_back as benchmark
from benchmarks.agreement_sequential import study
from sense7_qual.agreement import by_code
from sense7_qual.corpus import assign, inclusion
from sense7_qual.errors import TableError
from tests.helpers.plans import make_units

PLAIN = [
    "n_units",
    "n_coders",
    "n_clusters",
    "prevalence",
    "percent",
    "alpha",
    "kappa",
    "ac1",
    "positive_agreement",
    "negative_agreement",
]


def decided(values: np.ndarray) -> pd.DataFrame:
    """Decisions on one code from values (coders, units): 0 missing, 1 absent, 2 applied."""
    rows = [
        (f"u{unit:04d}", f"coder{coder}", "interest", bool(value == 2))
        for (coder, unit), value in np.ndenumerate(values)
        if value
    ]
    return pd.DataFrame(rows, columns=["unit_id", "coder", "code", "applied"])


def known(n: int, probability: float | np.ndarray) -> pd.DataFrame:
    """The units that were coded with their probability, and as many others that could have been drawn."""
    coded = pd.DataFrame({"unit_id": [f"u{i:04d}" for i in range(n)], "probability": probability})
    others = pd.DataFrame({"unit_id": [f"x{i:04d}" for i in range(n)], "probability": 1.0})
    return pd.concat([coded, others], ignore_index=True)


def test_more_units_than_the_probabilities_allow_are_refused() -> None:
    """All 200 units coded twice, and the probabilities of an overlap of 60 of them."""
    units = make_units(200)
    weights = dict(zip(units["unit_id"], np.where(np.arange(200) % 4 == 0, 5.0, 1.0), strict=True))
    chance = inclusion(units, overlap=0.3, weights=weights)
    values = np.random.default_rng(5).integers(1, 3, (2, 200))
    decisions = decided(values).assign(unit_id=np.tile(units["unit_id"].to_numpy(), 2))
    with pytest.raises(TableError, match="found 200 texts"):
        by_code(decisions, inclusion=chance)
    drawn = chance.nlargest(60, "probability")["unit_id"]
    assert by_code(decisions[decisions["unit_id"].isin(drawn)], inclusion=chance)["n_units"][0] == 60


@pytest.mark.parametrize("n_coders", [2, 3])
def test_with_equal_probabilities_every_number_is_the_unweighted_one(n_coders: int) -> None:
    rng = np.random.default_rng(1)
    values = rng.integers(0 if n_coders > 2 else 1, 3, (n_coders, 60))
    decisions = decided(values)
    plain = by_code(decisions, n_boot=50)
    for probability in (1.0, 0.25):
        found = by_code(decisions, inclusion=known(60, probability))
        pd.testing.assert_frame_equal(found[PLAIN], plain[PLAIN])
    assert found["n_boot"].isna().all()
    assert found.loc[0, "alpha_low"] < found.loc[0, "alpha"] < found.loc[0, "alpha_high"]


def test_a_unit_of_half_the_probability_counts_as_two() -> None:
    """A second implementation: of many units, a weight of 2 is the unit twice."""
    values = np.random.default_rng(2).integers(1, 3, (2, 400))
    half = np.where(np.arange(400) % 4 == 0, 0.5, 1.0)
    found = by_code(decided(values), inclusion=known(400, half)).iloc[0]
    twice = by_code(decided(np.repeat(values, (1 / half).astype(int), axis=1)), n_boot=50).iloc[0]
    for name in ("prevalence", "percent", "kappa", "ac1", "positive_agreement", "negative_agreement"):
        assert found[name] == pytest.approx(twice[name]), name
    assert found["alpha"] == pytest.approx(twice["alpha"], abs=0.001)


@pytest.mark.long
def test_over_every_sample_the_mean_is_the_alpha_of_all() -> None:
    """Brute force: all samples of 6 of 9 units, each unit's probability counted, the sums are unbiased."""
    values = np.array([[2, 2, 2, 1, 1, 2, 1, 1, 1], [2, 1, 2, 1, 2, 2, 1, 1, 2]])
    samples = list(itertools.combinations(range(9), 6))
    likely = np.array([2.0 if 0 in sample else 1.0 for sample in samples])
    likely /= likely.sum()
    chance = [
        sum(p for p, sample in zip(likely, samples, strict=True) if unit in sample) for unit in range(9)
    ]
    shares = []
    for sample in samples:
        rows = list(sample)
        kept = np.where(np.isin(np.arange(9), rows), values, 0)
        found = by_code(decided(kept), inclusion=known(9, np.array(chance))).iloc[0]
        total = (1 / np.array(chance)[rows]).sum()
        shares.append(found["percent"] * total / 9)
    assert likely @ np.array(shares) == pytest.approx((values[0] == values[1]).mean())


def test_a_unit_without_its_probability_or_a_wrong_one_is_refused() -> None:
    decisions = decided(np.random.default_rng(3).integers(1, 3, (2, 20)))
    with pytest.raises(TableError, match="'u0019'"):
        by_code(decisions, inclusion=known(19, 0.5))
    for wrong in (0.0, 1.5, np.nan):
        with pytest.raises(TableError, match="probabilities above 0"):
            by_code(decisions, inclusion=known(20, wrong))
    with pytest.raises(TableError, match="each unit once"):
        by_code(decisions, inclusion=pd.concat([known(20, 0.5), known(1, 0.5)]))
    with pytest.raises(TableError, match="probability"):
        by_code(decisions, inclusion=known(20, 0.5)[["unit_id"]])


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        (np.ones((2, 20), int), "no_variation"),
        (np.array([[1] * 20, [0] * 20]), "no_pairable_units"),
        (np.array([[2, 1] * 10] * 2), "no_disagreement"),
        (np.array([[2] + [1] * 19, [1] * 20]), "few_units"),
    ],
)
def test_what_cannot_be_computed_has_a_reason(values: np.ndarray, reason: str) -> None:
    found = by_code(decided(values), inclusion=known(20, 0.5)).iloc[0]
    assert found["reason"] == reason
    if reason == "no_disagreement":
        assert found["alpha_high"] == 1
        assert found["alpha_low"] < 1


def test_the_way_through_weights_plan_and_back() -> None:
    """What `assign` draws has the probabilities of `inclusion`, and agreement is that of all units."""
    rng = np.random.default_rng(4)
    both, _ = study(0, 400, 0.15, 0.7, rng)
    units = make_units(400)
    weights = pd.Series(np.where(both[0] == 2, 4.0, 1.0), index=units["unit_id"].tolist())
    plan = assign(units, coders=["coder0", "coder1"], overlap=0.3, weights=weights, seed=5)
    chance = inclusion(units, overlap=0.3, weights=weights, seed=5)
    twice = set(plan["coder0"]["unit_id"]) & set(plan["coder1"]["unit_id"])
    assert len(twice) == 120
    decisions = decided(both)
    kept = decisions[(decisions["coder"] == "coder0") | decisions["unit_id"].isin(twice)]
    found = by_code(kept, inclusion=chance).iloc[0]
    assert found["n_units"] == 120
    assert found["prevalence"] == pytest.approx((both == 2).mean(), abs=0.03)
    with pytest.warns(UserWarning, match="pass inclusion="):  # what shows that the texts were drawn by code
        unweighted = by_code(kept, n_boot=50)
    assert unweighted.loc[0, "prevalence"] > (both == 2).mean() + 0.1


def test_alpha_is_unbiased_and_its_interval_holds() -> None:
    """The benchmark in small: three standard errors; unweighted it is not."""
    rng, n, values, plain, held = np.random.default_rng(6), 300, [], [], []
    for _ in range(n):
        both, who = study(0, 1000, 0.2, 0.6, rng)
        shown, unweighted = benchmark.drawn(both, who, 200, 10.0, rng)
        values.append(shown["alpha"])
        plain.append(unweighted)
        held.append(shown["alpha_low"] <= 0.6 <= shown["alpha_high"])
    assert abs(np.mean(values) - 0.6) < 0.01 + 3 * np.std(values) / np.sqrt(n)
    assert abs(np.mean(plain) - 0.6) > 0.1
    assert np.mean(held) >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / n)
