"""The plan of who codes what: every unit dealt, loads even, the overlap as asked, the same for one seed."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from sense7_qual.corpus import assign
from sense7_qual.errors import ActError, QualError, TableError
from tests.helpers.plans import dealt, make_units


def loads(plan: dict[str, pd.DataFrame]) -> list[int]:
    return [len(part) for part in plan.values()]


@st.composite
def shapes(draw):
    n_coders = draw(st.integers(1, 7))
    n_units = draw(st.integers(0, 60))
    return {
        "n_units": n_units,
        "coders": [f"coder{i}" for i in range(n_coders)],
        "overlap": draw(st.sampled_from([0, 0.01, 0.2, 0.25, 1 / 3, 0.5, 0.9, 1]) | st.floats(0, 1)),
        "coders_per_unit": draw(st.none() | st.integers(min(2, n_coders), n_coders)),
        "seed": draw(st.integers(0, 2**32)),
        "strata": draw(st.lists(st.sampled_from(["a", "b", "c", None]), min_size=n_units, max_size=n_units)),
        "stratify": draw(st.sampled_from([None, "group"])),
    }


@pytest.mark.long
@settings(max_examples=60, deadline=None)
@given(shape=shapes())
def test_every_plan_keeps_its_promises(shape):
    units = make_units(shape["n_units"], group=pd.Series(shape["strata"], dtype="string"))
    several = shape["coders_per_unit"] or len(shape["coders"])
    chosen = {name: shape[name] for name in ("coders", "overlap", "coders_per_unit", "seed", "stratify")}
    plan = assign(units, **chosen)

    assert list(plan) == shape["coders"]
    assert max(loads(plan)) - min(loads(plan)) <= 1
    times = dealt(plan)
    assert set(times) == set(units["unit_id"])
    assert all(part["unit_id"].is_unique for part in plan.values())
    wanted = int(shape["overlap"] * len(units) + 0.5)
    wanted = max(wanted, 1) if shape["overlap"] and len(units) else wanted
    if several > 1:
        assert Counter(times.values()) == +Counter({several: wanted, 1: len(units) - wanted})
    shared = {unit for unit, count in times.items() if count > 1}
    in_shared = [int(part["unit_id"].isin(shared).sum()) for part in plan.values()]
    assert max(in_shared) - min(in_shared) <= 1
    if shape["stratify"]:
        for _, stratum in units.groupby("group", dropna=False):
            ids = set(stratum["unit_id"])
            if several > 1:
                assert abs(len(ids & shared) - wanted * len(ids) / len(units)) < 1
            alone = [len(ids & set(part["unit_id"]) - shared) for part in plan.values()]
            assert max(alone) - min(alone) <= 1

    again = assign(units.sample(frac=1, random_state=3), **chosen)
    for coder, part in plan.items():
        pd.testing.assert_frame_equal(part, again[coder])


def test_rows_of_units_arrive_whole_and_seeds_differ():
    units = make_units(40, text=[f"text {i}" for i in range(40)], stars=range(40))
    plan = assign(units, coders=["ana", "ben"], overlap=0.25, seed=7)
    for part in plan.values():
        assert part.columns.tolist() == units.columns.tolist()
        expected = units.set_index("unit_id").loc[part["unit_id"]].reset_index()
        pd.testing.assert_frame_equal(part, expected[units.columns])
    other = assign(units, coders=["ana", "ben"], overlap=0.25, seed=8)
    assert plan["ana"]["unit_id"].tolist() != other["ana"]["unit_id"].tolist()
    orders = [assign(units, coders=["ana", "ben"], overlap=1, seed=seed)["ana"]["unit_id"] for seed in (7, 8)]
    assert orders[0].tolist() != orders[1].tolist()


@pytest.mark.long
def test_the_overlap_cannot_be_told_by_its_place():
    # Over 100 plans a shared unit stands, on average, in the middle of a coder's list. Under a uniformly
    # random order the mean of its relative place is .5 with a standard error of about .007.
    units = make_units(40)
    places = []
    for seed in range(100):
        plan = assign(units, coders=["ana", "ben"], overlap=0.25, seed=seed)
        shared = set(plan["ana"]["unit_id"]) & set(plan["ben"]["unit_id"])
        for part in plan.values():
            places += [i / (len(part) - 1) for i, unit in enumerate(part["unit_id"]) if unit in shared]
    assert len(places) == 100 * 2 * 10
    assert abs(sum(places) / len(places) - 0.5) < 0.03
    firsts = [assign(units, coders=["ana", "ben"], overlap=1, seed=seed) for seed in range(20)]
    assert any(plan["ana"]["unit_id"][0] != plan["ben"]["unit_id"][0] for plan in firsts)


@pytest.mark.parametrize("seed", range(5))
def test_pairs_of_coders_share_as_evenly_as_can_be(seed):
    coders = ["ana", "ben", "cem", "dia"]
    plan = assign(make_units(60), coders=coders, overlap=1, coders_per_unit=2, seed=seed)
    given_to = {coder: set(part["unit_id"]) for coder, part in plan.items()}
    assert loads(plan) == [30, 30, 30, 30]
    assert [len(given_to[one] & given_to[other]) for one, other in combinations(coders, 2)] == [10] * 6


def test_strata_share_the_overlap_in_proportion():
    units = make_units(100, model=["m1"] * 50 + ["m2"] * 30 + ["m3"] * 20, wave=["1", "2"] * 50)
    plan = assign(units, coders=["ana", "ben"], overlap=0.2, stratify="model", seed=7)
    shared = plan["ana"].merge(plan["ben"], on="unit_id", suffixes=("", "_"))
    assert shared["model"].value_counts().to_dict() == {"m1": 10, "m2": 6, "m3": 4}
    assert loads(plan) == [60, 60]
    crossed = assign(units, coders=["ana", "ben"], overlap=0.2, stratify=["model", "wave"], seed=7)
    shared = crossed["ana"].merge(crossed["ben"], on="unit_id", suffixes=("", "_"))
    assert shared.groupby(["model", "wave"]).size().tolist() == [5, 5, 3, 3, 2, 2]


def test_one_coder_gets_everything():
    plan = assign(make_units(9), coders=["ana"], overlap=0.5, seed=0)
    assert sorted(plan["ana"]["unit_id"]) == [f"u{i:04d}" for i in range(9)]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"coders": []}, "expected a list of coders"),
        ({"coders": "ana"}, "expected coders to be a list of text – found 'ana'"),
        ({"coders": ["ana", " "]}, "expected a list of coders"),
        (
            {"coders": ["ana", "ben", "ana"]},
            "each coder once, also without regard to case or script – found 'ana', 'ana'",
        ),
        ({"coders": ["ana", "Ana"]}, "found 'ana', 'Ana'"),
        ({"overlap": 1.01}, "an overlap from 0 to 1, found 1.01"),
        ({"overlap": -0.1}, "found -0.1"),
        ({"overlap": "20%"}, "found '20%'"),
        ({"overlap": float("nan")}, "found nan"),
        ({"seed": None}, "expected seed to be a whole number – found None"),
        ({"seed": -1}, "found -1"),
        ({"stratify": "Model"}, "did you mean 'model'"),
        ({"coders_per_unit": 1}, "coders_per_unit from 2 to 2 – found 1"),
        ({"coders_per_unit": 3}, "found 3"),
    ],
)
def test_bad_plans_are_refused(change, reason):
    chosen = {"coders": ["ana", "ben"], "overlap": 0.2, "seed": 7} | change
    with pytest.raises(QualError, match=reason):
        assign(make_units(5, model="m"), **chosen)


def test_units_that_are_none_are_refused():
    with pytest.raises(TableError, match="units: expected a column 'text'"):
        assign(pd.DataFrame({"unit_id": ["a"]}), coders=["ana"], overlap=0, seed=0)


@pytest.mark.parametrize("name", ["Consensus", "majority", "pooled", "Ana Smith", "../ana"])
def test_a_name_that_could_not_code_gets_no_plan(name):
    with pytest.raises(ActError, match="expected a p"):
        assign(make_units(4), coders=["ana", name], overlap=0.5, seed=1)
