from __future__ import annotations

import itertools
import json
import math
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from sense7_qual import agreement
from sense7_qual.agreement import sets
from sense7_qual.errors import QualError, TableError
from tests.helpers.places import PUBLISHED

REFERENCE = PUBLISHED / "agreement_reference.json"
DISTANCES = ("masi", "jaccard", "dice")
PAIR_DISTANCE = {name: partial(sets.distance, distance=name) for name in DISTANCES}

Answer = frozenset[str] | None


def reference_rows(statistic: str) -> list[Any]:
    rows = json.loads(REFERENCE.read_text("utf-8"))
    chosen = [row for row in rows if row["statistic"] == statistic]
    return [pytest.param(row, id=f"{row['name']}: {row['source']}") for row in chosen]


def table_of(rows: list[dict[str, Any]]) -> list[list[set[Any] | None]]:
    shape = (1 + max(row["coder"] for row in rows), 1 + max(row["unit"] for row in rows))
    table: list[list[set[Any] | None]] = [[None] * shape[1] for _ in range(shape[0])]
    for row in rows:
        table[row["coder"]][row["unit"]] = set(row["value"])
    return table


@pytest.mark.parametrize("row", reference_rows("masi_distance"))
def test_masi_distances_of_the_reference(row: dict[str, Any]) -> None:
    a, b = row["data"]["values"]
    assert sets.distance(a, b, "masi") == pytest.approx(row["value"], abs=row["tolerance"])


@pytest.mark.parametrize("row", reference_rows("mv_alpha"))
def test_multivalued_alphas_of_the_reference(row: dict[str, Any]) -> None:
    found = sets.multivalued_alpha(table_of(row["data"]["rows"]))
    assert found == pytest.approx(row["value"], abs=row["tolerance"])
    # The row's own disagreements make up its value, so they are checked by it.
    assert 1 - row["params"]["Do"] / row["params"]["De"] == pytest.approx(found, abs=row["tolerance"])


def test_krippendorff_and_craggs_table_3() -> None:
    """.2865907: Krippendorff & Craggs (2016), table 3, as R's mvalpha 0.6.0 computes it."""
    table = [
        [{"b", "d"}, {"a", "b", "d"}, set(), {"a"}],
        [{"d"}, {"b"}, {"a"}, None],
        [None, {"b", "d"}, {"a"}, None],
    ]
    assert sets.multivalued_alpha(table) == pytest.approx(0.2865907, abs=5e-8)


@pytest.mark.parametrize(
    ("a", "b", "masi", "jaccard", "dice"),
    [
        ({1, 2}, {1, 2, 3, 4}, 2 / 3, 1 / 2, 1 / 3),  # Passonneau (2006): monotonicity 2/3 of a subset
        ({1, 2}, {2, 3}, 8 / 9, 2 / 3, 1 / 2),  # 1/3 of an overlap
        ({1}, {2}, 1, 1, 1),
        ({1}, {1}, 0, 0, 0),
        (set(), set(), 0, 0, 0),  # both say that nothing applies
        (set(), {1}, 1, 1, 1),
    ],
)
def test_distances_of_two_sets(a: set[int], b: set[int], masi: float, jaccard: float, dice: float) -> None:
    for one, other in ((a, b), (b, a)):
        assert sets.distance(one, other, "masi") == pytest.approx(masi, abs=1e-12)
        assert sets.distance(one, other, "jaccard") == pytest.approx(jaccard, abs=1e-12)
        assert sets.distance(one, other, "dice") == pytest.approx(dice, abs=1e-12)


def slow_set_alpha(table: list[list[Answer]], distance: str) -> float:
    """Krippendorff's definition, value by value and pair by pair."""
    units = [[one for one in unit if one is not None] for unit in zip(*table, strict=True)]
    units = [unit for unit in units if len(unit) > 1]
    values = [one for unit in units for one in unit]
    apart = PAIR_DISTANCE[distance]
    observed = sum(
        sum(apart(a, b) for a, b in itertools.permutations(unit, 2)) / (len(unit) - 1) for unit in units
    )
    expected = sum(apart(a, b) for a, b in itertools.permutations(values, 2)) / max(len(values) - 1, 1)
    return 1 - observed / expected if expected else math.nan


def slow_multivalued_alpha(table: list[list[Answer]]) -> float:
    """Krippendorff & Craggs (2016), every combination of two sets of the sizes that occur, one by one."""
    units = [[one for one in unit if one is not None] for unit in zip(*table, strict=True)]
    units = [unit for unit in units if len(unit) > 1]
    values = [one for unit in units for one in unit]
    label = {x: sum(x in one for one in values) for one in values for x in one}
    sizes = sorted({len(one) for one in values})
    share = {size: sum(len(one) == size for one in values) / len(values) for size in sizes}
    expected = 0.0
    for i, j in itertools.product(sizes, repeat=2):
        weights, sums = 0.0, 0.0
        for a in map(set, itertools.combinations(sorted(label), i)):
            for b in map(set, itertools.combinations(sorted(label), j)):
                weight = math.prod(label[x] for x in a | b) * math.prod(label[x] - 1 for x in a & b)
                weights += weight
                sums += weight * sets.distance(a, b, "dice")
        expected += share[i] * share[j] * (sums / weights if weights else 0)
    observed = sum(
        sum(sets.distance(a, b, "dice") for a, b in itertools.permutations(unit, 2)) / (len(unit) - 1)
        for unit in units
    ) / max(len(values), 1)
    return 1 - observed / expected if expected else math.nan


answers = st.none() | st.frozensets(st.sampled_from("abcd"), max_size=3)
tables = st.integers(1, 6).flatmap(
    lambda n: st.lists(st.lists(answers, min_size=n, max_size=n), min_size=2, max_size=4)
)


def alpha(table: Any, distance: str) -> float:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return sets.multivalued_alpha(table) if distance == "mv" else sets.set_alpha(table, distance=distance)  # type: ignore[arg-type]


def slow(table: list[list[Answer]], distance: str) -> float:
    return slow_multivalued_alpha(table) if distance == "mv" else slow_set_alpha(table, distance)


@pytest.mark.long
@pytest.mark.parametrize("distance", [*DISTANCES, "mv"])
@given(table=tables)
@settings(max_examples=60, deadline=None)
def test_alphas_equal_their_definitions(table: list[list[Answer]], distance: str) -> None:
    assert alpha(table, distance) == pytest.approx(slow(table, distance), abs=1e-10, nan_ok=True)


@pytest.mark.parametrize("distance", [*DISTANCES, "mv"])
@given(table=tables, seed=st.integers(0, 99))
@settings(max_examples=25, deadline=None)
def test_neither_the_order_nor_the_names_matter(table: list[list[Answer]], distance: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    coders, units = rng.permutation(len(table)), rng.permutation(len(table[0]))
    renamed = dict(zip("abcd", rng.permutation(list("wxyz")).tolist(), strict=True))
    shuffled = [
        [None if table[c][u] is None else {renamed[x] for x in table[c][u] or ()} for u in units]
        for c in coders
    ]
    unseen = [[*row, None] for row in shuffled]  # a unit that nobody has coded changes nothing
    assert alpha(unseen, distance) == pytest.approx(alpha(table, distance), abs=1e-10, nan_ok=True)


@pytest.mark.parametrize("distance", [*DISTANCES, "mv"])
@given(row=st.lists(st.frozensets(st.sampled_from("abcd"), max_size=3), min_size=2, max_size=8))
@settings(max_examples=25, deadline=None)
def test_equal_sets_agree_perfectly(row: list[frozenset[str]], distance: str) -> None:
    found = alpha([row, row, row], distance)
    assert math.isnan(found) if len(set(row)) == 1 and distance != "mv" else True
    assert found == pytest.approx(1, abs=1e-12) or math.isnan(found)


@given(
    table=st.integers(2, 8).flatmap(
        lambda n: st.lists(st.lists(st.sampled_from("abc"), min_size=n, max_size=n), min_size=2, max_size=3)
    )
)
@settings(max_examples=40, deadline=None)
def test_of_single_labels_every_alpha_is_the_nominal_one(table: list[list[str]]) -> None:
    import krippendorff

    if len({value for row in table for value in row}) < 2:
        return
    nominal = krippendorff.alpha(
        [["abc".index(x) for x in row] for row in table], level_of_measurement="nominal"
    )
    single = [[{x} for x in row] for row in table]
    for distance in (*DISTANCES, "mv"):
        assert alpha(single, distance) == pytest.approx(nominal, abs=1e-12)


@pytest.mark.long
def test_many_labels_and_many_sets_take_the_other_ways_to_the_same_number() -> None:
    """More than 20 labels are not numbered by bits; more sets than a matrix holds are taken in blocks."""
    rng = np.random.default_rng(5)
    given_codes = rng.random((3, 400, 30)) < 0.2
    given_codes[1] = np.where(rng.random((400, 1)) < 0.6, given_codes[0], given_codes[1])
    as_sets = [[set(np.flatnonzero(one).tolist()) for one in row] for row in given_codes]
    for distance in (*DISTANCES, "mv"):
        assert alpha(given_codes, distance) == pytest.approx(alpha(as_sets, distance), abs=1e-12)


def test_large_tables_are_taken_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(6)
    table = rng.random((4, 300, 8)) < 0.3
    whole = {distance: alpha(table, distance) for distance in DISTANCES}
    monkeypatch.setattr(sets, "_BLOCK", 500)
    monkeypatch.setattr(sets, "_BINS", 10)
    monkeypatch.setattr("sense7_qual.agreement.sets._values._BLOCK", 7)
    for distance in DISTANCES:
        assert alpha(table, distance) == pytest.approx(whole[distance], abs=1e-12)


@pytest.mark.long
def test_many_coders_do_not_overflow() -> None:
    rng = np.random.default_rng(7)
    table = rng.random((40, 5, 5)) < 0.3
    as_sets = [[frozenset("abcde"[i] for i in np.flatnonzero(one)) for one in row] for row in table]
    assert alpha(table, "masi") == pytest.approx(slow_set_alpha(as_sets, "masi"), abs=1e-10)


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ([[{"a"}, None], [None, {"b"}]], "no_pairable_units"),
        ([[{"a"}, {"b"}]], "no_pairable_units"),  # one coder
        ([], "no_pairable_units"),
        ([[{"a"}, {"a"}], [{"a"}, {"a"}]], "no_variation"),
        ([[set()], [set()]], "no_variation"),
    ],
)
def test_what_cannot_be_computed_is_nan_with_one_warning(table: Any, reason: str) -> None:
    with pytest.warns(RuntimeWarning, match=f"set_alpha is not defined here .*{reason}") as caught:
        assert math.isnan(sets.set_alpha(table, distance="masi"))
    assert len(caught) == 1
    with pytest.warns(RuntimeWarning, match=f"multivalued_alpha is not defined here .*{reason}"):
        assert math.isnan(sets.multivalued_alpha(table))


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA])
def test_what_is_missing(missing: object) -> None:
    complete = [[{"a"}, {"a", "b"}, {"b"}], [{"a"}, {"b"}, {"b"}]]
    padded = [[*complete[0], {"c"}], [*complete[1], missing]]
    assert sets.set_alpha(padded, distance="dice") == sets.set_alpha(complete, distance="dice")  # type: ignore[arg-type]


def test_a_set_with_an_undecided_code_is_missing() -> None:
    table = np.array([[[1, 0], [1, 1], [0, 1]], [[1, 0], [0, 1], [np.nan, 1]]])
    assert sets.set_alpha(table, distance="masi") == sets.set_alpha(table[:, :2], distance="masi")


def test_an_unknown_distance() -> None:
    with pytest.raises(QualError, match="did you mean 'jaccard'"):
        sets.set_alpha([[{"a"}], [{"a"}]], distance="jacard")  # type: ignore[arg-type]
    with pytest.raises(QualError, match="one of masi, jaccard, dice"):
        sets.set_distances([{"a"}], distance="manhattan")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ([{"a"}, {"b"}], "list of sets from coder 0 – found set"),
        ([[{"a"}], [{"a"}, {"b"}]], "as many units from every coder – found rows of '1', '2'"),
        ([["interest"], [{"a"}]], "found str at coder 0, unit 0"),
        ([[{"a"}, {"a"}], [{"a"}, 3]], "found int at coder 1, unit 1"),
        ([[[["a"]]], [{"a"}]], "labels that are strings or numbers"),
        (None, "one row of sets per coder – found NoneType"),
        (np.full((2, 2, 2), 3), "0 or 1 in an array"),
    ],
)
def test_what_is_no_table_of_sets(table: Any, said: str) -> None:
    with pytest.raises(TableError, match=said):
        sets.set_alpha(table, distance="masi")


def test_a_text_in_the_place_of_a_set_is_not_shown() -> None:
    with pytest.raises(TableError) as caught:
        sets.set_alpha([["I felt heard"], [{"a"}]], distance="masi")
    assert "heard" not in str(caught.value)


def frame(rows: list[tuple[str, str, str, bool]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["unit_id", "coder", "code", "applied"])


def decisions_of(table: list[list[Answer]], codes: str) -> pd.DataFrame:
    return frame(
        [
            (f"m{unit}", f"coder{coder}", code, code in one)
            for coder, row in enumerate(table)
            for unit, one in enumerate(row)
            if one is not None
            for code in codes
        ]
    )


@pytest.mark.long
@given(table=tables)
@settings(max_examples=30, deadline=None)
def test_decisions_give_the_same_alpha_as_sets(table: list[list[Answer]]) -> None:
    decisions = decisions_of(table, "abcd")
    for distance in DISTANCES:
        found, reason = sets.set_alpha_of(decisions, distance=distance)  # type: ignore[arg-type]
        assert found == pytest.approx(alpha(table, distance), abs=1e-12, nan_ok=True)
        assert (reason is not None) == math.isnan(found)


def test_patterns_of_decisions() -> None:
    decisions = frame(
        [
            ("m1", "ana", "interest", True),
            ("m1", "ana", "prosocial", True),
            ("m1", "ben", "interest", False),
            ("m1", "ben", "prosocial", False),
            ("m2", "ana", "interest", True),  # prosocial is undecided
            ("m1", "consensus", "interest", True),
            ("m1", "consensus", "prosocial", False),
        ]
    )
    found = sets.set_patterns(decisions)
    assert found.coders == ("ana", "ben")
    assert found.unit_ids == ("m1", "m2")
    assert found.values.tolist() == [[0, -1], [1, -1]]
    assert found.sets == (frozenset({"interest", "prosocial"}), frozenset())
    distances = sets.set_distances(found.sets, distance="masi")
    assert distances.tolist() == [[0, 1], [1, 0]]


def test_decisions_of_nobody() -> None:
    empty = frame([]).astype({"applied": bool})
    assert sets.set_patterns(empty).sets == ()
    assert sets.set_alpha_of(empty, distance="masi")[1] == "no_pairable_units"


def test_distances_between_all_sets_are_those_between_two() -> None:
    found = [frozenset(x) for n in range(4) for x in itertools.combinations("abcd", n)]
    for distance in DISTANCES:
        matrix = sets.set_distances(found, distance=distance)  # type: ignore[arg-type]
        pairwise = [[PAIR_DISTANCE[distance](a, b) for b in found] for a in found]
        np.testing.assert_allclose(matrix, pairwise, rtol=0, atol=1e-15)


def test_against_nltk() -> None:
    """nltk's alpha takes the same distances; its MASI divides by zero on empty sets, so there are none."""
    agreement = pytest.importorskip("nltk.metrics.agreement", reason="nltk is not installed")
    from nltk.metrics import jaccard_distance, masi_distance

    rng = np.random.default_rng(8)
    table = [[frozenset(rng.choice(list("abcde"), 1 + rng.integers(3))) for _ in range(60)] for _ in range(3)]
    rows = [(f"c{c}", f"u{u}", one) for c, row in enumerate(table) for u, one in enumerate(row)]
    for name, distance in (("masi", masi_distance), ("jaccard", jaccard_distance)):
        theirs = agreement.AnnotationTask(data=rows, distance=distance).alpha()
        assert alpha(table, name) == pytest.approx(theirs, abs=1e-12)


def test_set_alpha_has_the_intervals_of_alpha() -> None:
    """Numbered sets and their distances, by hand; one set stands only where a coder was alone."""
    rng = np.random.default_rng(3)
    kinds = [set(), {"a"}, {"a", "b"}, {"b", "c"}]
    given = np.where(rng.random((3, 40)) < 0.6, rng.integers(0, 4, 40), rng.integers(0, 4, (3, 40)))
    given_sets = [[kinds[number] for number in row] for row in given]
    given_sets[0] += [{"alone"}, None]
    given_sets[1] += [None, None]
    given_sets[2] += [None, {"a"}]
    apart = [[sets.distance(one, other, "masi") for other in kinds] for one in kinds]
    for options in ({}, {"ci": "unit"}, {"ci": "coders"}, {"groups": np.arange(42) // 2}):
        settings = {"n_boot": 4000, "seed": 1, **options}
        near = 1e-12 if options in ({}, {"ci": "coders"}) else 0.03  # sets are drawn in another order
        found = agreement.coefficients.estimate(
            given_sets, agreement.sets.set_alpha, distance="masi", **settings
        )
        settings["groups"] = np.arange(40) // 2 if "groups" in options else None
        by_hand = agreement.coefficients.estimate(given, "krippendorff_alpha", level=apart, **settings)
        assert found.estimate == pytest.approx(
            agreement.sets.set_alpha(given_sets, distance="masi"), abs=1e-12
        )
        assert found.low == pytest.approx(by_hand.low, abs=near)
        assert found.high == pytest.approx(by_hand.high, abs=near)
        assert (found.n_units, found.n_pairable, found.n_coders) == (42, 40, 3)
    with pytest.raises(QualError, match="did you mean 'masi'"):
        agreement.coefficients.estimate(given_sets, "set_alpha", distance="massi")


def test_a_frame_of_sets() -> None:
    rows = [[{"a"}, {"b"}, None], [{"a"}, {"b", "c"}, set()]]
    frame = agreement.from_wide(pd.DataFrame(rows, index=["ana", "ben"]), coders="rows")
    for values in (frame, frame.T):
        assert agreement.sets.set_alpha(values, distance="dice") == agreement.sets.set_alpha(
            rows, distance="dice"
        )
