"""Decisions from named codes: the finished texts and the coders are asked for, never guessed."""

from __future__ import annotations

import re

import pandas as pd
import pytest

from sense7_qual import agreement
from sense7_qual.codebook import Code, Codebook
from sense7_qual.codings import from_segments, from_table
from sense7_qual.errors import ArgumentError, TableError
from sense7_qual.frames import is_model
from tests.helpers.places import SHARED

FIELD = SHARED / "data" / "field"
BOOK = Codebook(name="b", codes=(Code(id="warm", label="Warm"), Code(id="cold", label="Cold or distant")))
SEGMENTS = pd.DataFrame(
    {
        "Document name": ["t1", "t1", "t2"],
        "Coder": ["ana", "ben", "ana"],
        "Code": ["warm", "warm", "cold"],
    }
)
COLUMNS = {"unit_id": "Document name", "code": "Code", "coder": "Coder"}
TREE = Codebook(
    name="tree",
    codes=(
        Code(id="trust", label="Trust", codable=False),
        Code(id="fear", label="Fear", codable=False),
        Code(id="trust-people", label="In people", parent="trust"),
        Code(id="fear-people", label="In people", parent="fear"),
        Code(id="ui", label="UI/UX"),
    ),
)


def applied(frame: pd.DataFrame) -> set[tuple[str, ...]]:
    return set(frame.loc[frame["applied"], ["unit_id", "coder", "code"]].itertuples(index=False, name=None))


def pairs(frame: pd.DataFrame) -> list[tuple[str, ...]]:
    return sorted(set(frame[["unit_id", "coder"]].itertuples(index=False, name=None)))


def test_what_was_finished_is_asked_for_and_changes_the_number_of_decisions() -> None:
    with pytest.raises(ArgumentError, match=r"what was finished – found 3 rows, .* pass finished="):
        from_segments(SEGMENTS, BOOK, **COLUMNS)
    found = from_segments(SEGMENTS, BOOK, **COLUMNS, finished="coded")
    assert len(found) == 6
    assert applied(found) == {("t1", "ana", "warm"), ("t1", "ben", "warm"), ("t2", "ana", "cold")}
    units = pd.DataFrame({"unit_id": ["t1", "t2"]})
    whole = from_segments(SEGMENTS, BOOK, **COLUMNS, finished="all", units=units)
    assert len(whole) == 8
    assert applied(whole) == applied(found)
    had = pd.DataFrame({"unit_id": ["t1", "t2", "t1"], "coder": ["ana", "ana", "ben"]})
    assert pairs(from_segments(SEGMENTS, BOOK, **COLUMNS, finished=had)) == pairs(found)
    with pytest.raises(TableError, match="expected rows of texts that the coder finished – found 1 others"):
        from_segments(SEGMENTS, BOOK, **COLUMNS, finished=had.head(2))
    with pytest.raises(ArgumentError, match='expected "all" together with units'):
        from_segments(SEGMENTS, BOOK, **COLUMNS, finished="all")


def test_rows_without_a_code_are_finished_only_where_rows_count() -> None:
    blank = pd.concat([SEGMENTS, SEGMENTS.head(1).assign(**{"Document name": "t3", "Code": " "})])
    assert ("t3", "ana") in pairs(from_segments(blank, BOOK, **COLUMNS, finished="rows"))
    assert ("t3", "ana") not in pairs(from_segments(blank, BOOK, **COLUMNS, finished="coded"))


@pytest.mark.skipif(not FIELD.exists(), reason="the field files are not beside this checkout")
def test_segments_of_a_file_are_read_as_the_same_segments_in_a_frame() -> None:
    found = from_segments(pd.read_csv(FIELD / "e16_segments.csv"), BOOK, **COLUMNS, finished="coded")
    pd.testing.assert_frame_equal(found, from_segments(SEGMENTS, BOOK, **COLUMNS, finished="coded"))


@pytest.mark.parametrize(
    ("cell", "separator"),
    [
        ("warm, cold", ", "),
        ("Warm\nCold or distant", "\n"),
        ('["warm", "COLD OR DISTANT"]', None),
        ('[[0, 3, "warm"], [5, 9, "cold"]]', None),
        ('[{"start": 0, "end": 3, "labels": ["warm"]}, {"start": 5, "end": 9, "label": "cold"}]', None),
        ('{"choices": ["warm", "cold"]}', None),
        (["warm", "cold"], None),
    ],
)
def test_several_codes_stand_in_one_cell(cell: object, separator: str | None) -> None:
    table = pd.DataFrame({"u": ["t1", "t2"], "c": "ana", "k": [cell, "warm"]})
    found = from_segments(
        table, BOOK, unit_id="u", code="k", coder="c", separator=separator, finished="coded"
    )
    assert applied(found) == {("t1", "ana", "warm"), ("t1", "ana", "cold"), ("t2", "ana", "warm")}


def test_codes_stand_in_columns_and_coders_in_tables_or_columns_of_their_own() -> None:
    ana = pd.DataFrame({"u": ["t1", "t2"], "first": ["warm", "cold"], "second": ["cold", None]})
    ben = pd.DataFrame({"u": ["t1", "t2"], "first": ["warm", None], "second": [None, None]})
    found = from_segments(
        {"ana": ana, "ben": ben}, BOOK, unit_id="u", code=["first", "second"], finished="rows"
    )
    assert applied(found) == {
        ("t1", "ana", "warm"),
        ("t1", "ana", "cold"),
        ("t2", "ana", "cold"),
        ("t1", "ben", "warm"),
    }
    beside = ana.assign(ben=ben["first"])
    found = from_segments(beside, BOOK, unit_id="u", code={"ana": "first", "ben": "ben"}, finished="rows")
    assert applied(found) == {("t1", "ana", "warm"), ("t2", "ana", "cold"), ("t1", "ben", "warm")}
    assert len(found) == 8
    with pytest.raises(TableError, match="expected rows of each coder – found none of 'ben'"):
        from_segments({"ana": ana, "ben": ben.head(0)}, BOOK, unit_id="u", code="first", finished="rows")
    for told, coder in ((ana, None), ({"ana": ana}, "u")):
        with pytest.raises(ArgumentError, match="expected to be told once who coded"):
            from_segments(told, BOOK, unit_id="u", code="first", coder=coder, finished="rows")


@pytest.mark.parametrize(
    "name",
    [
        "trust-people",
        "Trust > In people",
        r"TRUST\In  people",
        "Trust>>in people",
        "Trust: In people",
    ],
)
def test_a_code_is_found_by_its_id_or_path(name: str) -> None:
    table = pd.DataFrame({"u": ["t1", "t1"], "c": "ana", "k": [name, "ui/ux"]})
    found = from_segments(table, TREE, unit_id="u", code="k", coder="c", finished="rows")
    assert applied(found) == {("t1", "ana", "trust-people"), ("t1", "ana", "ui")}


def test_a_name_that_is_no_code_or_fits_several_is_asked_about() -> None:
    def read(names: list[str], book: Codebook = TREE, **said: object) -> pd.DataFrame:
        table = pd.DataFrame({"u": [f"t{n}" for n in range(len(names))], "c": "ana", "k": names})
        return from_segments(table, book, unit_id="u", code="k", coder="c", finished="rows", **said)

    with pytest.raises(TableError, match=r"found 'In people' \(1×\) – it fits .*'fear-people'"):
        read(["In people", "ui"])
    assert applied(read(["In people"], codes={"In people": "fear-people"})) == {("t0", "ana", "fear-people")}
    with pytest.raises(
        TableError, match=r"found 'Trust-peopl' \(2×\) – did you mean 'trust-people'\?.*codes="
    ):
        read(["Trust-peopl", "Trust-peopl", "ui", "ui"])
    assert applied(read(["UX", "ui"], codes={"UX": None})) == {("t1", "ana", "ui")}
    with pytest.raises(TableError, match="names of codable codes of codebook 'tree' – found"):
        read(["Trust"])
    with pytest.raises(TableError, match="names of codable codes"):
        read(["x"], codes={"x": "trust"})
    with pytest.raises(TableError, match=r"found 10 characters .* pass separator=', '"):
        read(["warm, cold"], BOOK)
    with pytest.raises(TableError, match="names of codable codes"):
        read(["x"], codes={"x": "elsewhere"})


def test_texts_in_the_column_of_codes_are_not_shown() -> None:
    table = pd.DataFrame({"u": ["t1", "t2"], "c": "ana", "k": ["It heard me well", "It did not"]})
    with pytest.raises(TableError, match=r"found 16 characters \(1×\), 10 characters") as error:
        from_segments(table, BOOK, unit_id="u", code="k", coder="c", finished="rows")
    assert "heard" not in str(error.value)


@pytest.mark.parametrize(
    "name", ["ana@example.org", "Ana Meier", "Meier, Ana", "A. Meier", "Ana Maria Meier"]
)
def test_a_coder_by_their_own_name_gets_a_pseudonym_first(name: str) -> None:
    named = SEGMENTS.assign(Coder=SEGMENTS["Coder"].replace("ana", name))
    sheet = pd.DataFrame({"u": ["t1", "t2"], "c": [name, "ben"], "warm": [1, 0]})
    for read in (
        lambda **said: from_segments(named, BOOK, **COLUMNS, finished="coded", **said),
        lambda **said: from_table(sheet, unit_id="u", coder="c", codes=["warm"], **said),
    ):
        with pytest.raises(TableError, match="found 1 of 2 with a full name or an e-mail address") as error:
            read()
        assert not {"Meier", "example"} & set(re.findall(r"\w+", str(error.value)))
        assert set(read(coders={name: "ana"})["coder"]) == {"ana", "ben"}
        with pytest.raises(TableError, match="found one pseudonym for two coders"):
            read(coders={name: "ben"})
        with pytest.raises(TableError, match="found 1 other names"):
            read(coders={"Ana": "ana"})


@pytest.mark.parametrize("name", ["ana", "Coder A", "rater 2", "AM", "model-gpt", "R2 D2"])
def test_a_pseudonym_is_taken_as_it_is(name: str) -> None:
    named = SEGMENTS.assign(Coder=SEGMENTS["Coder"].replace("ana", name))
    assert set(from_segments(named, BOOK, **COLUMNS, finished="coded")["coder"]) == {name, "ben"}


def test_a_model_is_named_as_one_and_a_frame_of_finished_texts_may_have_either_name() -> None:
    model = SEGMENTS.assign(Coder=SEGMENTS["Coder"].replace("ben", "gpt"))
    for name in ("gpt", "model-gpt"):
        had = pd.DataFrame({"unit_id": ["t1", "t2", "t1", "t2"], "coder": ["ana", "ana", name, name]})
        found = from_segments(model, BOOK, **COLUMNS, finished=had, coders={"gpt": "model-gpt"})
        assert sorted(filter(is_model, found["coder"].unique())) == ["model-gpt"]
        assert len(found) == 8


def test_segments_and_the_same_marks_give_the_same_agreement() -> None:
    units = pd.DataFrame({"unit_id": [f"t{n}" for n in range(12)]})
    marks = {"ana": "110010011010", "ben": "100010111000"}
    rows = [(f"t{n}", who, "warm") for who, row in marks.items() for n, mark in enumerate(row) if mark == "1"]
    rows += [("t1", "ana", "cold"), ("t1", "ben", "cold"), ("t1", "ben", "cold")]
    table = pd.DataFrame(rows, columns=["Document name", "Coder", "Code"])
    named = from_segments(table, BOOK, **COLUMNS, finished="all", units=units)
    sheet = pd.DataFrame({"u": [*units["unit_id"]] * 2, "c": ["ana"] * 12 + ["ben"] * 12})
    sheet["warm"] = [*marks["ana"], *marks["ben"]]
    sheet["cold"] = [int(unit == "t1") for unit in sheet["u"]]
    marked = from_table(sheet, unit_id="u", coder="c", codes=["warm", "cold"])
    pd.testing.assert_frame_equal(agreement.by_code(named, n_boot=20), agreement.by_code(marked, n_boot=20))
