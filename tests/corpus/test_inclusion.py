"""Units drawn by weights: as probable as is said, as many as asked, and refused where that is not known."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sense7_qual import Store
from sense7_qual.corpus import assign, inclusion
from sense7_qual.corpus._assign import drawn_first, probabilities
from sense7_qual.errors import TableError
from sense7_qual.rounds import assignments
from tests.helpers.plans import dealt, make_units
from tests.helpers.small_study import CODEBOOK

UNITS = make_units(40, group=["a"] * 10 + ["b"] * 30)
WEIGHTS = dict(zip(UNITS["unit_id"], [9.0] * 4 + [1.0] * 36, strict=True))
PLAN = {"coders": ["ana", "ben"], "overlap": 0.25, "seed": 3}


def together(plan: dict[str, pd.DataFrame]) -> set[str]:
    return {unit for unit, times in dealt(plan).items() if times > 1}


def test_units_are_drawn_with_their_probabilities() -> None:
    weight = np.array([20.0, 5, 3, 2, 1, 1, 1, 1])
    chance = probabilities(weight, 4)
    assert chance.sum() == pytest.approx(4)
    assert chance[0] == 1
    rng, n, times = np.random.default_rng(7), 4000, Counter[int]()
    for _ in range(n):
        order = drawn_first(range(8), 4, weight, rng)
        assert sorted(order) == list(range(8))
        times.update(order[:4])
    shares = np.array([times[row] / n for row in range(8)])
    assert np.abs(shares - chance).max() < 4 * np.sqrt(0.25 / n)


def test_the_overlap_has_as_many_units_as_asked_in_every_stratum() -> None:
    for seed in range(5):
        plan = assign(UNITS, weights=WEIGHTS, stratify="group", **PLAN | {"seed": seed})
        drawn = together(plan)
        assert len(drawn) == 10
        assert len(drawn & set(UNITS["unit_id"].iloc[:10])) in (2, 3)
        chance = inclusion(UNITS, overlap=0.25, weights=WEIGHTS, seed=seed, stratify="group")
        assert chance["probability"].sum() == pytest.approx(10)
        assert drawn <= set(chance["unit_id"])


def test_equal_weights_give_everybody_the_same_probability() -> None:
    chance = inclusion(UNITS, overlap=0.25, weights=dict.fromkeys(UNITS["unit_id"], 2.0))
    assert chance["probability"].to_numpy() == pytest.approx(np.full(40, 0.25))


def test_without_weights_the_plan_of_a_seed_is_as_it_was() -> None:
    plan = assign(UNITS, **PLAN)
    assert together(plan) == set(UNITS["unit_id"].iloc[[2, 3, 11, 12, 17, 20, 23, 30, 32, 33]])


def test_what_everybody_codes_first_is_among_the_units_drawn() -> None:
    plan = assign(UNITS, weights=WEIGHTS, calibration=5, **PLAN)
    first = plan["ana"]["unit_id"].head(5).tolist()
    assert first == plan["ben"]["unit_id"].head(5).tolist()
    assert set(first) <= together(plan)
    assert len(together(plan)) == 10
    with pytest.raises(TableError, match="be among those drawn"):
        assign(UNITS, weights=WEIGHTS, calibration=11, **PLAN)


def test_what_several_have_begun_must_have_been_drawn() -> None:
    drawn = sorted(together(assign(UNITS, weights=WEIGHTS, **PLAN)))
    fixed = {"ana": drawn[:3], "ben": drawn[:3]}
    again = assign(UNITS, weights=WEIGHTS, fixed=fixed, **PLAN)
    assert together(again) == set(drawn)
    other = [unit for unit in UNITS["unit_id"] if unit not in drawn][:1]
    with pytest.raises(TableError, match="be among those drawn"):
        assign(UNITS, weights=WEIGHTS, fixed={"ana": other, "ben": other}, **PLAN)


def test_weights_that_are_none_are_refused() -> None:
    for wrong in (0.0, -1.0, float("nan"), None):
        with pytest.raises(TableError, match="numbers above 0"):
            assign(UNITS, weights=WEIGHTS | {"u0007": wrong}, **PLAN)
    with pytest.raises(TableError, match="'u0001'"):
        assign(UNITS, weights={"u0000": 1.0}, **PLAN)
    with pytest.raises(TableError, match="overlap above 0"):
        inclusion(UNITS, overlap=0, weights=WEIGHTS)


def test_a_study_keeps_the_plan_and_of_the_weights_only_that_they_are_the_same(tmp_path: Path) -> None:
    study = Store.create(tmp_path / "study", units=UNITS, codebook=CODEBOOK)
    plan = study.assign(coder="lead", weights=WEIGHTS, **PLAN)
    twice = plan["unit_id"].value_counts()
    assert set(twice[twice > 1].index) == together(assign(UNITS, weights=WEIGHTS, **PLAN))
    study.assign(coder="lead", weights=dict(reversed(WEIGHTS.items())), **PLAN)
    assert len(study.acts(kind="assign")) == 1
    ((act, made),) = assignments(study.acts())
    assert len(made.weights) == 32
    assert "9.0" not in str(act.text)
    study.assign(coder="lead", weights=WEIGHTS | {"u0005": 9.0}, **PLAN)
    assert len(study.acts(kind="assign")) == 2
