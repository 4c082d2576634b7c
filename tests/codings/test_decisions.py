from __future__ import annotations

import statistics
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from sense7_qual import acts
from sense7_qual.codebook import Code, Codebook
from sense7_qual.codings import decisions, majority, tally
from sense7_qual.errors import ArgumentError, CodebookError, TableError
from sense7_qual.frames import CODINGS, COVERAGE, DECISIONS, RESERVED_CODERS
from tests.helpers.small_study import facet

BOOK = Codebook(
    name="three",
    codes=(
        Code(id="group", label="Group", codable=False),
        Code(id="warm", label="Warm", parent="group"),
        Code(id="cold", label="Cold", parent="group"),
        Code(id="other", label="Other"),
    ),
)


def coded(
    coder: str, unit_id: str, *codes: str, finish: bool = True, round: str | None = None
) -> list[acts.Act]:
    done = [acts.apply(coder=coder, unit_id=unit_id, code=code, round=round, codebook=BOOK) for code in codes]
    return done + [acts.finish(coder=coder, unit_id=unit_id, round=round, codebook=BOOK)] * finish


def decided(*deeds: list[acts.Act], round: str | None = None) -> pd.DataFrame:
    record = acts.fold([act for deed in deeds for act in deed])
    return decisions(record.codings, record.coverage, BOOK, round=round)


def applied(frame: pd.DataFrame, coder: str, unit_id: str) -> dict[str, bool]:
    rows = frame[(frame["coder"] == coder) & (frame["unit_id"] == unit_id)]
    return dict(zip(rows["code"], rows["applied"], strict=True))


def test_a_finished_unit_has_every_codable_code_in_the_codebooks_order() -> None:
    found = decided(coded("ana", "m1", "cold"))
    assert found["code"].tolist() == ["warm", "cold", "other"]
    assert found["applied"].tolist() == [False, True, False]
    assert found["applied"].dtype == bool
    assert list(found.columns) == ["unit_id", "coder", "code", "applied", "basis"]


def test_not_coded_and_coded_absent_differ() -> None:
    found = decided(
        coded("ana", "m1", "warm"),
        coded("ana", "m2"),
        coded("ben", "m1", "warm", finish=False),
        coded("ben", "m2"),
    )
    assert applied(found, "ana", "m2") == {"warm": False, "cold": False, "other": False}
    assert applied(found, "ben", "m1") == {}  # coded, but not finished: missing
    assert applied(found, "ben", "m2") == {"warm": False, "cold": False, "other": False}
    assert applied(found, "chi", "m1") == {}  # never opened: missing
    assert len(found) == 9


def test_reopening_takes_the_decisions_back() -> None:
    reopened = [acts.reopen(coder="ana", unit_id="m1", codebook=BOOK)]
    assert len(decided(coded("ana", "m1", "warm"), reopened)) == 0
    again = [acts.finish(coder="ana", unit_id="m1", codebook=BOOK)]
    assert applied(decided(coded("ana", "m1", "warm"), reopened, again), "ana", "m1")["warm"]


def test_a_code_on_a_span_on_two_spans_or_on_the_whole_unit_is_applied_once() -> None:
    def span(start: int | None, end: int | None, code: str) -> list[acts.Act]:
        return [acts.apply(coder="ana", unit_id="m1", code=code, start=start, end=end, codebook=BOOK)]

    found = decided(
        span(0, 4, "warm"),
        span(6, 9, "warm"),
        span(None, None, "warm"),
        span(2, 3, "cold"),
        coded("ana", "m1"),
    )
    assert applied(found, "ana", "m1") == {"warm": True, "cold": True, "other": False}
    assert len(found) == 3


def test_a_code_stays_applied_until_its_last_span_is_gone() -> None:
    spans = [(0, 4), (6, 9)]
    put = [
        acts.apply(coder="ana", unit_id="m1", code="warm", start=s, end=e, codebook=BOOK) for s, e in spans
    ]
    gone = [
        acts.remove(coder="ana", unit_id="m1", code="warm", start=s, end=e, codebook=BOOK) for s, e in spans
    ]
    assert applied(decided(put, gone[:1], coded("ana", "m1")), "ana", "m1")["warm"]
    assert not applied(decided(put, gone, coded("ana", "m1")), "ana", "m1")["warm"]


def test_rounds_choose_the_units_that_were_finished_in_them() -> None:
    deeds = [
        coded("ana", "m1", "warm", round="1"),
        coded("ana", "m2", "cold", round="2"),
        coded("ben", "m1", "warm", round="1"),
        coded("ben", "m2", finish=False, round="2"),
    ]
    assert set(zip(*decided(*deeds, round="1")[["unit_id", "coder"]].to_numpy().T, strict=True)) == {
        ("m1", "ana"),
        ("m1", "ben"),
    }
    assert decided(*deeds, round="2")["unit_id"].unique().tolist() == ["m2"]
    assert len(decided(*deeds, round="3")) == 0
    assert len(decided(*deeds)) == 9


def test_each_round_has_its_own_codings() -> None:
    deeds = [
        coded("ana", "m1", "warm", round="1"),
        coded("ana", "m1", "cold", round="2"),
        coded("ana", "m2", "cold", finish=False, round="2"),
    ]
    assert applied(decided(*deeds, round="1"), "ana", "m1") == {"warm": True, "cold": False, "other": False}
    assert applied(decided(*deeds, round="2"), "ana", "m1") == {"warm": False, "cold": True, "other": False}
    assert applied(decided(*deeds), "ana", "m1")["cold"]  # what was decided last
    taken = acts.remove(coder="ana", unit_id="m1", code="warm", round="2", codebook=BOOK)
    assert applied(decided(*deeds, [taken], round="1"), "ana", "m1")["warm"]  # not undone by another round


def test_codings_whose_round_is_unclear_are_refused_and_not_guessed() -> None:
    old = coded("ana", "m1", "warm", finish=False)
    once = [acts.finish(coder="ana", unit_id="m1", round="1", codebook=BOOK)]
    named = coded("ana", "m1", "warm", finish=False, round="1")
    for deeds in ([old, once], [named, coded("ana", "m1")]):
        with pytest.raises(TableError, match="leave these rows out") as refused:
            decided(*deeds)
        assert "on unit 'm1'" in str(refused.value)
    first = coded("ana", "m1", "warm")  # finished without a round, then again in one
    assert applied(decided(first, once, round="1"), "ana", "m1")["warm"] is False
    assert applied(decided(first, [*named, *once], round="1"), "ana", "m1")["warm"]


def test_without_times_it_is_not_guessed_which_round_was_last() -> None:
    record = acts.fold(coded("ana", "m1", "warm", round="1") + coded("ana", "m1", round="2"))
    with pytest.raises(TableError, match="found none for unit 'm1'"):
        decisions(record.codings, record.coverage.assign(finished_at=None), BOOK)


def test_times_that_are_none_and_other_arguments_are_refused() -> None:
    record = acts.fold(coded("ana", "m1", "warm", round="1") + coded("ana", "m1", round="2"))
    with pytest.raises(TableError, match="expected times in ISO 8601 in column 'finished_at'"):
        decisions(record.codings, record.coverage.assign(finished_at="yesterday"), BOOK)
    with pytest.raises(ArgumentError, match="expected codebook to be a Codebook – found 'three'"):
        decisions(record.codings, record.coverage, "three")
    with pytest.raises(ArgumentError, match="expected revisions to be a list of Revision"):
        decisions(record.codings, record.coverage, BOOK, revisions="all")


def test_no_revisions_do_not_mean_that_another_codebook_means_the_same() -> None:
    record = acts.fold(coded("ana", "m1", "warm"))
    other = replace(BOOK, title="Edited by hand")
    for none in (None, ()):
        with pytest.raises(TableError, match="and no revisions"):
            decisions(record.codings, record.coverage, other, revisions=none)
    as_they_are = [frame.assign(codebook=None) for frame in (record.codings, record.coverage)]
    assert applied(decisions(*as_they_are, other), "ana", "m1")["warm"]


def test_a_unit_finished_in_two_rounds_counts_once() -> None:
    found = decided(coded("ana", "m1", "warm", round="1"), coded("ana", "m1", round="2"))
    assert len(found) == 3


def test_a_coding_of_an_unknown_code_is_refused_and_not_lost() -> None:
    record = acts.fold(coded("ana", "m1", "warm"))
    stranger = record.codings.assign(code="warmth")
    with pytest.raises(TableError, match=r"found 'warmth' – did you mean 'warm'\?"):
        decisions(stranger, record.coverage, BOOK)


def test_a_coding_of_a_code_that_only_groups_is_refused_and_not_lost() -> None:
    """It would have no row: the code was codable once, and the codebook has changed since."""
    record = acts.fold(coded("ana", "m1", "warm"))
    with pytest.raises(TableError, match=r"expected codable codes of codebook 'three' – found 'group'"):
        decisions(record.codings.assign(code="group"), record.coverage, BOOK)


def test_empty_frames_give_empty_decisions_of_the_right_types() -> None:
    found = decisions(CODINGS.empty(), COVERAGE.empty(), BOOK)
    assert len(found) == 0
    assert found["applied"].dtype == bool
    assert found["unit_id"].dtype == "string"
    finished = acts.fold(coded("ana", "m1"))
    assert decisions(finished.codings, finished.coverage, BOOK)["applied"].tolist() == [False] * 3


def test_decisions_do_not_change_what_they_are_given() -> None:
    record = acts.fold(coded("ana", "m1", "warm") + coded("ben", "m1"))
    codings, coverage = record.codings.copy(deep=True), record.coverage.copy(deep=True)
    decisions(record.codings, record.coverage, BOOK)
    pd.testing.assert_frame_equal(record.codings, codings)
    pd.testing.assert_frame_equal(record.coverage, coverage)


def test_the_order_of_the_rows_of_codings_and_the_index_do_not_matter() -> None:
    record = acts.fold(coded("ana", "m1", "warm", "cold") + coded("ben", "m1", "other") + coded("ben", "m2"))
    shuffled = record.codings.sample(frac=1, random_state=3)
    pd.testing.assert_frame_equal(
        decisions(shuffled, record.coverage, BOOK), decisions(record.codings, record.coverage, BOOK)
    )


CODERS, UNITS, CODES = ["ana", "ben", "chi"], ["m1", "m2", "m3"], ["warm", "cold", "other"]
places = st.sets(st.tuples(st.sampled_from(UNITS), st.sampled_from(CODERS), st.sampled_from(CODES)))
finishes = st.sets(st.tuples(st.sampled_from(UNITS), st.sampled_from(CODERS)))


@pytest.mark.long
@settings(max_examples=40, deadline=None)
@given(places, finishes)
def test_decisions_are_coverage_times_codes(
    coded_at: set[tuple[str, str, str]], done: set[tuple[str, str]]
) -> None:
    """The definition, spelled out over sets."""
    deeds = [acts.apply(coder=c, unit_id=u, code=code, codebook=BOOK) for u, c, code in sorted(coded_at)]
    deeds += [acts.finish(coder=c, unit_id=u, codebook=BOOK) for u, c in sorted(done)]
    found = decided(deeds)
    expected = {(u, c, code): (u, c, code) in coded_at for u, c in done for code in CODES}
    rows = zip(found["unit_id"], found["coder"], found["code"], found["applied"], strict=True)
    assert {(u, c, code): bool(yes) for u, c, code, yes in rows} == expected
    assert len(found) == len(expected)


def verdicts(*rows: tuple[str, str, str, int]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=["unit_id", "coder", "code", "applied"])
    return frame.assign(applied=frame["applied"].astype(bool))


GIVEN = verdicts(
    ("m2", "ana", "warm", 1),
    ("m2", "ben", "warm", 0),
    ("m1", "ana", "warm", 1),
    ("m1", "ben", "warm", 1),
    ("m1", "cleo", "warm", 0),
    ("m1", "ana", "cold", 0),
    ("m1", "ben", "cold", 0),
    ("m1", "cleo", "cold", 1),
    ("m3", "cleo", "warm", 1),
)


def test_majority_is_more_than_half_of_those_who_decided_and_leaves_ties_out() -> None:
    found = majority(GIVEN)
    assert found[list(DECISIONS.columns)].to_numpy().tolist() == [
        ["m1", "majority", "warm", True],
        ["m1", "majority", "cold", False],
        ["m3", "majority", "warm", True],
    ]
    assert found["applied"].dtype == bool


def test_tally_counts_people_in_the_order_of_first_appearance() -> None:
    expected = [["m2", "warm", 2, 1], ["m1", "warm", 3, 2], ["m1", "cold", 3, 1], ["m3", "warm", 1, 1]]
    counts = ["unit_id", "code", "n_coders", "n_applied"]
    assert tally(GIVEN)[counts].to_numpy().tolist() == expected
    computed = [GIVEN[GIVEN["coder"] == "cleo"].assign(coder=name) for name in RESERVED_CODERS]
    with_computed = pd.concat([GIVEN, *computed])
    assert tally(with_computed)[counts].to_numpy().tolist() == expected
    pd.testing.assert_frame_equal(majority(with_computed), majority(GIVEN))


@pytest.mark.long
@settings(max_examples=40, deadline=None)
@given(
    st.dictionaries(
        st.tuples(st.sampled_from(["m1", "m2"]), st.sampled_from(["a", "b", "c", "d", "e"])), st.booleans()
    )
)
def test_majority_is_the_median_verdict(given_by: dict[tuple[str, str], bool]) -> None:
    found = majority(verdicts(*[(unit, who, "warm", said) for (unit, who), said in given_by.items()]))
    for unit in ("m1", "m2"):
        said = [int(verdict) for (where, _), verdict in given_by.items() if where == unit]
        middle = statistics.median(said) if said else 0.5
        expected = [] if middle == 0.5 else [middle == 1]
        assert found.loc[found["unit_id"] == unit, "applied"].tolist() == expected


def test_majority_and_tally_of_nothing_and_of_what_is_not_decisions() -> None:
    assert list(majority(DECISIONS.empty()).columns) == [*DECISIONS.columns, "basis"]
    for function in (majority, tally):
        assert function(DECISIONS.empty()).empty
        with pytest.raises(TableError, match="more than once"):
            function(pd.concat([GIVEN, GIVEN]))


VALENCED = Codebook(
    name="valenced",
    facets=(facet("valence", "met", "unmet", "mixed"),),
    codes=(Code(id="warm", label="Warm"), Code(id="cold", label="Cold")),
)


def by_valence(*rows: tuple[str, str | None], book: Codebook = VALENCED, finish: bool = True) -> set[str]:
    """Code one unit with spans that carry a valence each, and return the codes that are applied."""
    done = [
        acts.apply(
            coder="ana",
            unit_id="m1",
            code=code,
            facets={"valence": value} if value else None,
            start=i,
            end=i + 1,
            codebook=VALENCED,
        )
        for i, (code, value) in enumerate(rows)
    ]
    done += [acts.finish(coder="ana", unit_id="m2", codebook=VALENCED)]
    done += [acts.finish(coder="ana", unit_id="m1", codebook=VALENCED)] * finish
    record = acts.fold(done, codebook=VALENCED)
    as_it_is = [frame.assign(codebook=None) for frame in (record.codings, record.coverage)]
    found = decisions(*as_it_is, book, facet="valence")
    assert not found.loc[found["unit_id"] == "m2", "applied"].any()
    assert found.groupby("unit_id")["code"].nunique().nunique() == 1
    return set(found.loc[found["applied"], "code"])


def test_valence_makes_a_code_of_each_of_its_values() -> None:
    assert by_valence(("warm", "met"), ("cold", "unmet")) == {"warm.valence=met", "cold.valence=unmet"}
    assert by_valence(("warm", "met"), ("warm", "unmet")) == {"warm.valence=met", "warm.valence=unmet"}
    assert by_valence(("warm", "mixed")) == {"warm.valence=mixed"}
    record = acts.fold([acts.finish(coder="ana", unit_id="m1", codebook=VALENCED)], codebook=VALENCED)
    found = decisions(record.codings, record.coverage, VALENCED, facet="valence")
    assert found["code"].tolist() == [
        f"{code}.valence={value}" for code in ("warm", "cold") for value in ("met", "unmet", "mixed")
    ]


def test_codings_without_a_valence_are_not_lost() -> None:
    assert by_valence(("warm", None), ("cold", "met")) == {"warm.valence=unstated", "cold.valence=met"}
    assert by_valence(("warm", None), finish=False) == set()


def test_valence_that_cannot_be_told_is_refused() -> None:
    with pytest.raises(
        CodebookError, match="'three': expected one of its facets – found 'valence' – there are"
    ):
        decisions(CODINGS.empty(), COVERAGE.empty(), BOOK, facet="valence")
    with pytest.raises(CodebookError, match="found 'valance' – did you mean 'valence'"):
        decisions(CODINGS.empty(), COVERAGE.empty(), VALENCED, facet="valance")
    with pytest.raises(TableError, match="expected a column 'valence'"):
        decisions(CODINGS.empty(), COVERAGE.empty(), VALENCED, facet="valence")
    narrow = Codebook(name="narrow", facets=(facet("valence", "met", "unmet"),), codes=VALENCED.codes)
    with pytest.raises(TableError, match="expected valence to be one of met, unmet – found 'mixed'"):
        by_valence(("warm", "mixed"), book=narrow)


def test_a_code_that_the_facet_is_not_for_is_decided_on_as_it_is() -> None:
    narrow = facet("valence", "met", "unmet", "mixed", codes=("warm",))
    book = Codebook(name="narrow", facets=(narrow,), codes=VALENCED.codes)
    assert by_valence(("warm", "met"), ("cold", None), book=book) == {"warm.valence=met", "cold"}


@pytest.mark.long
def test_a_link_that_cancels_out_is_seen_by_valence() -> None:
    from sense7_qual import links

    rng = np.random.default_rng(1)
    done, ratings = [], []
    for i in range(200):
        value = ("met", "unmet", None)[int(rng.integers(3))]
        ratings.append(3 + int(rng.integers(2)) * {"met": 1, "unmet": -1, None: 0}[value])
        if value is not None:
            done.append(
                acts.apply(
                    coder="ana", unit_id=f"m{i}", code="warm", facets={"valence": value}, codebook=VALENCED
                )
            )
        done.append(acts.finish(coder="ana", unit_id=f"m{i}", codebook=VALENCED))
    record = acts.fold(done)
    units = pd.DataFrame(
        {"unit_id": [f"m{i}" for i in range(200)], "stars": ratings, "pid": np.arange(200) // 4}
    )
    found = {}
    for name in (None, "valence"):
        decided = decisions(record.codings, record.coverage, VALENCED, facet=name)
        table = links.code_to_rating(decided, units, rating="stars", cluster="pid", n_boot=100, seed=7)
        found |= table.set_index("code")["rank_biserial"].to_dict()
    assert abs(found["warm"]) < 0.2
    assert found["warm.valence=met"] > 0.3
    assert found["warm.valence=unmet"] < -0.3
