from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import optimize

from sense7_qual import adjudication
from sense7_qual.adjudication._dawid_skene import Patterns, fit_latent_class, probabilities
from sense7_qual.errors import ArgumentError, QualError, TableError
from tests.helpers.reference import in_clusters

CODERS = ("ana", "ben", "cleo")


def coded(true: np.ndarray, sensitivity: list[float], specificity: list[float], seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    parts = []
    for coder, se, sp in zip(CODERS, sensitivity, specificity, strict=False):
        applied = np.where(true, rng.random(len(true)) < se, rng.random(len(true)) > sp)
        unit_ids = [f"u{i:05d}" for i in range(len(true))]
        parts.append(pd.DataFrame({"unit_id": unit_ids, "coder": coder, "code": "c", "applied": applied}))
    return pd.concat(parts, ignore_index=True)


def test_fit_is_the_highest_point_of_the_posterior_found_by_brute_force() -> None:
    kinds = np.array(list(itertools.product([0, 1], repeat=3)), dtype=np.float64)
    patterns = Patterns(kinds, 1 - kinds, np.zeros(8, dtype=np.int64), 1)
    weights = np.array([60, 12, 9, 5, 8, 4, 6, 21], dtype=np.float64)

    def height(logits: np.ndarray) -> float:
        """Straight from the definition: pattern by pattern, class by class, coder by coder."""
        p = 1 / (1 + np.exp(-logits))
        total = 0.5 * (np.log(p) + np.log(1 - p)).sum()
        for row, n in zip(kinds, weights, strict=True):
            true, false = p[0], 1 - p[0]
            for coder, mark in enumerate(row):
                true *= p[1 + coder] if mark else 1 - p[1 + coder]
                false *= 1 - p[4 + coder] if mark else p[4 + coder]
            total += n * np.log(true + false)
        return float(-total)

    starts = np.random.default_rng(1).normal(size=(12, 7))
    best = min((optimize.minimize(height, start, method="BFGS") for start in starts), key=lambda r: r.fun)
    found = fit_latent_class(patterns, weights)
    assert found.converged
    assert found.log_posterior == pytest.approx(-best.fun, abs=1e-5)
    values = np.concatenate(
        [found.parameters.prevalence, found.parameters.sensitivity, found.parameters.specificity]
    )
    assert height(np.log(values / (1 - values))) == pytest.approx(best.fun, abs=1e-5)
    chance = probabilities(patterns, found.parameters)
    assert chance[7] > 0.95  # all three applied it
    assert chance[0] < 0.05


def test_error_rates_and_prevalence_are_recovered() -> None:
    true = np.random.default_rng(2).random(6000) < 0.3
    sensitivity, specificity = [0.9, 0.7, 0.8], [0.95, 0.9, 0.75]
    found = adjudication.dawid_skene(coded(true, sensitivity, specificity, 3))
    # 1,800 units with the code: a standard error of .013 and less, if the truth were known
    assert found.coders["sensitivity"].to_numpy() == pytest.approx(sensitivity, abs=0.05)
    assert found.coders["specificity"].to_numpy() == pytest.approx(specificity, abs=0.03)
    assert found.prevalence["prevalence"].iloc[0] == pytest.approx(0.3, abs=0.03)
    chance = found.posterior["probability"].to_numpy()
    for low, high in ((0.0, 0.2), (0.2, 0.5), (0.5, 0.8), (0.8, 1.0)):  # calibrated
        inside = (chance > low) & (chance <= high)
        assert true[inside].mean() == pytest.approx(chance[inside].mean(), abs=0.08)
    assert found.fits["reason"].isna().all()
    assert found.fits["converged"].all()


def test_a_coder_worse_than_chance_does_not_turn_the_classes_round() -> None:
    true = np.random.default_rng(4).random(2000) < 0.8
    found = adjudication.dawid_skene(coded(true, [0.9, 0.85, 0.3], [0.9, 0.85, 0.2], 5))
    assert found.coders["sensitivity"].to_numpy() == pytest.approx([0.9, 0.85, 0.3], abs=0.06)
    assert found.prevalence["prevalence"].iloc[0] == pytest.approx(0.8, abs=0.05)


def test_units_that_a_coder_did_not_decide_on_are_missing_not_absent() -> None:
    true = np.random.default_rng(6).random(4000) < 0.3
    whole = coded(true, [0.85] * 3, [0.9] * 3, 7)
    kept = whole[(whole["coder"] != "cleo") | (whole.index % 4 == 0)]
    found = adjudication.dawid_skene(kept)
    cleo = found.coders.set_index("coder").loc["cleo"]
    assert cleo["n_units"] == 1000
    assert [cleo["sensitivity"], cleo["specificity"]] == pytest.approx([0.85, 0.9], abs=0.07)
    assert found.posterior["n_coders"].value_counts().to_dict() == {2: 3000, 3: 1000}
    assert found.prevalence["prevalence"].iloc[0] == pytest.approx(0.3, abs=0.05)


def by_level(levels: pd.Series) -> dict[str, Any]:
    units = pd.DataFrame({"unit_id": levels.index, "empathy": levels.to_numpy()})
    return {"units": units, "prevalence_by": "empathy"}


def test_prevalence_by_a_level_is_recovered_for_each_level() -> None:
    rng = np.random.default_rng(8)
    level = rng.integers(1, 6, 8000)
    true = rng.random(8000) < level / 10
    decisions = coded(true, [0.85] * 3, [0.9] * 3, 9)
    ratings = pd.Series(level.astype(float), index=[f"u{i:05d}" for i in range(8000)])
    found = adjudication.dawid_skene(decisions, **by_level(ratings))
    assert found.prevalence["level"].tolist() == ["1.0", "2.0", "3.0", "4.0", "5.0"]
    expected = [true[level == k].mean() for k in range(1, 6)]
    assert found.prevalence["prevalence"].to_numpy() == pytest.approx(expected, abs=0.04)
    assert found.posterior["prevalence_by"].eq("empathy").all()
    some = adjudication.dawid_skene(decisions, **by_level(ratings.iloc[:7000]))
    assert some.prevalence["level"].tolist()[-1] == "missing"
    assert some.prevalence["n_units"].sum() == 8000
    assert some.prevalence["n_units"].iloc[-1] == 1000


@pytest.mark.long
def test_draws_spread_as_the_estimates_do_and_repeat_by_seed() -> None:
    true = np.random.default_rng(10).random(300) < 0.4
    decisions = coded(true, [0.8] * 3, [0.8] * 3, 11)
    cluster = pd.Series([f"p{i // 5}" for i in range(300)], index=[f"u{i:05d}" for i in range(300)])
    found = adjudication.dawid_skene(decisions, **in_clusters(cluster), n_draws=30, seed=1)
    again = adjudication.dawid_skene(
        decisions.sample(frac=1, random_state=3), **in_clusters(cluster), n_draws=30, seed=1
    )
    assert len(found.draws) == 30 * 300
    shares = found.draws.groupby("draw")["probability"].mean()
    # The estimated prevalence has at least the standard error of a known one, sqrt(.4 · .6 / 300) = .028.
    assert 0.02 < shares.std() < 0.15
    assert shares.mean() == pytest.approx(found.posterior["probability"].mean(), abs=0.05)
    columns = ["unit_id", "probability"]
    pd.testing.assert_frame_equal(
        found.posterior[columns],
        again.posterior[columns].sort_values("unit_id", ignore_index=True),
        atol=1e-6,
    )
    other = adjudication.dawid_skene(decisions, **in_clusters(cluster), n_draws=30, seed=2)
    assert not other.draws["probability"].equals(found.draws["probability"])


def test_what_cannot_be_told_apart_is_said() -> None:
    true = np.random.default_rng(12).random(200) < 0.4
    decisions = coded(true, [0.8] * 3, [0.8] * 3, 13)
    two = adjudication.dawid_skene(decisions[decisions["coder"] != "cleo"], n_draws=2)
    assert two.fits["reason"].tolist() == ["not_identified"]
    assert two.posterior["probability"].isna().all()
    assert two.coders["sensitivity"].isna().all()
    number = decisions["unit_id"].str.removeprefix("u").astype(int)
    chain = decisions[
        ~((decisions["coder"] == "ana") & (number >= 100))
        & ~((decisions["coder"] == "cleo") & (number < 100))
    ]
    assert adjudication.dawid_skene(chain).fits["reason"].tolist() == ["not_identified"]
    for applied, reason in ((False, "code_never_applied"), (True, "code_always_applied")):
        found = adjudication.dawid_skene(decisions.assign(applied=applied))
        assert found.fits["reason"].tolist() == [reason]
    with_majority = pd.concat([decisions, decisions.iloc[:200].assign(coder="majority")])
    assert "majority" not in set(adjudication.dawid_skene(with_majority).coders["coder"])
    empty = adjudication.dawid_skene(decisions.iloc[:0], n_draws=3)
    assert empty.posterior.empty
    assert empty.fits.empty


def test_what_cannot_be_used_is_refused() -> None:
    decisions = coded(np.arange(40) % 2 == 0, [0.8] * 3, [0.8] * 3, 14)
    units = [f"u{i:05d}" for i in range(40)]
    with pytest.raises(TableError, match="at most 20 levels – found 40"):
        adjudication.dawid_skene(decisions, **by_level(pd.Series(range(40), index=units)))
    with pytest.raises(TableError, match=r"cluster: expected a label.*'u00039'"):
        adjudication.dawid_skene(decisions, **in_clusters(pd.Series("p1", index=units[:39])))
    with pytest.raises(TableError, match="several for 'u00000'"):
        adjudication.dawid_skene(decisions, **in_clusters(pd.Series("p1", index=[*units, "u00000"])))
    with pytest.raises(QualError, match="expected seed"):
        adjudication.dawid_skene(decisions, seed=-1)


def test_a_level_is_found_by_unit_id_and_most_units_have_one() -> None:
    true = np.arange(60) % 4 == 0
    decisions = coded(true, [0.8, 0.8, 0.8], [0.9, 0.9, 0.9], seed=3)
    units = pd.DataFrame({"unit_id": decisions["unit_id"].unique()})
    units["rating"] = [place % 3 for place in range(len(units))]
    with pytest.raises(TableError, match=r"units: expected a column 'raiting' .* did you mean 'rating'"):
        adjudication.dawid_skene(decisions, units=units, prevalence_by="raiting")
    with pytest.raises(ArgumentError, match="expected units and the name of their column"):
        adjudication.dawid_skene(decisions, prevalence_by="rating")
    rating = units.set_index("unit_id")["rating"]
    expected = adjudication.dawid_skene(decisions, **by_level(rating)).posterior
    for same in (rating[::-1], rating.rename(lambda unit: f"{unit} ")):
        pd.testing.assert_frame_equal(
            adjudication.dawid_skene(decisions, **by_level(same)).posterior, expected
        )
    few = len(units) * 2 // 5
    with pytest.raises(TableError, match=rf"a level for most .* found none for {len(units) - few} of"):
        adjudication.dawid_skene(decisions, **by_level(rating.iloc[:few]))
