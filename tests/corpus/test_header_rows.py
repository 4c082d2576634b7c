"""Header rows below the first: left out where a program's mark is in them, asked about where it is not."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from sense7_qual import corpus
from sense7_qual.errors import ImportRefused, TableError
from tests.helpers.exports import (
    FORMS,
    Export,
    legacy_qualtrics,
    qualtrics,
    surveymonkey,
    written,
)
from tests.helpers.places import SHARED

PRIVATE = "Sentinel-Quokka"
ANSWERS = [(4, f"It was kind to me, {PRIVATE}"), (2, "Not really what I had hoped for"), (3, "It was fine")]
PROGRAMS = {
    "Qualtrics": (qualtrics, "Q2", "Q1"),
    "Qualtrics, single quotes": (lambda answers: qualtrics(answers, quote="'"), "Q2", "Q1"),
    "Qualtrics legacy": (legacy_qualtrics, "Q2", "Q1"),
    "SurveyMonkey": (surveymonkey, "Why?", "How satisfied?"),
}


def units_of(source: Path | pd.DataFrame, **roles: object) -> tuple[pd.DataFrame, list[str]]:
    """Return the units, and what was said when they were read."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        units = corpus.read(source, **roles)
    return units, [str(one.message) for one in said]


# Programs


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_header_rows_of_a_program_are_left_out_and_said(program: str, form: str, tmp_path: Path) -> None:
    make, text, rating = PROGRAMS[program]
    export = make(ANSWERS)
    units, said = units_of(written(export.rows(), tmp_path, form), text=text, ratings=[rating])
    assert units["text"].tolist() == [words for _, words in ANSWERS]
    assert units[rating].tolist() == [4, 2, 3]
    n_rows = len(export.below)
    assert len(said) == 1
    assert said[0].startswith(
        f"left out {n_rows} header row{'s' * (n_rows > 1)} of {program.split()[0].strip(',')}"
    )
    assert PRIVATE not in said[0]


def test_the_lines_of_the_file_are_named(tmp_path: Path) -> None:
    rows = qualtrics(ANSWERS).rows(again=[1])
    _, said = units_of(written(rows, tmp_path, "csv"), text="Q2")
    assert said == ["left out 5 header rows of Qualtrics in lines 2, 4, 6 (5 in all)."]  # line 3 is of a cell
    _, said = units_of(written(rows, tmp_path, "frame"), text="Q2")
    assert said == ["left out 5 header rows of Qualtrics in rows 1, 2, 4 (5 in all)."]


texts = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=3, max_size=20)
answers = st.lists(st.tuples(st.integers(1, 7), texts.map("said: {}".format)), min_size=1, max_size=6)


@pytest.mark.long
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    program=st.sampled_from(sorted(PROGRAMS)),
    answers=answers,
    again=st.lists(st.integers(0, 5), max_size=2),
    with_names=st.booleans(),
    form=st.sampled_from(FORMS),
)
def test_no_cell_of_a_header_row_is_in_the_units(
    program: str, answers: list[tuple[int, str]], again: list[int], with_names: bool, form: str
) -> None:
    make, text, rating = PROGRAMS[program]
    export: Export = make(answers)
    with tempfile.TemporaryDirectory() as folder:
        source = written(export.rows(again, with_names=with_names), Path(folder), form)
        units, said = units_of(source, text=text, ratings=[rating])
    assert units["text"].tolist() == [words for _, words in answers]
    assert units[rating].tolist() == [stars for stars, _ in answers]
    header = {cell for row in export.block for cell in row} - {"", "Red"}  # an option, which is an answer too
    assert not header & set(units.astype("string").to_numpy().ravel())
    personal = {"Name", "EmailAddress", "IPAddress"}
    ids = [name for name in export.named if name in {"ResponseId", "ResponseID", "Respondent ID"}]
    assert set(export.named) - {text, *ids} - personal <= set(units.columns)
    assert (
        units["unit_id"].tolist()
        == [row[export.named.index(ids[0])] for row in export.responses]
        == units["case_id"].tolist()
    )
    assert personal.isdisjoint(units.columns)
    assert len(said) == 1


def test_columns_that_were_kept_of_a_frame_are_read_like_the_whole(tmp_path: Path) -> None:
    frame = written(qualtrics(ANSWERS).rows(), tmp_path, "frame")
    for part in (frame, frame[["Q2"]], frame[["ResponseId", "Q2"]], frame.iloc[1:], frame.iloc[2:]):
        units, _ = units_of(part, text="Q2")
        assert units["text"].tolist() == [words for _, words in ANSWERS]


def test_parts_that_ask_something_else_or_have_other_columns_are_refused(tmp_path: Path) -> None:
    export = qualtrics(ANSWERS)
    first, second = export.rows()[:4], [list(row) for row in export.rows()]
    second[1][3] = f"What for, {PRIVATE}?"
    path = written([*first, *second], tmp_path, "csv")
    with pytest.raises(
        ImportRefused, match="one question in column 'Q2' – found 2 wordings in lines 2, 7"
    ) as refused:
        corpus.read(path, text="Q2")
    assert PRIVATE not in str(refused.value)
    with pytest.warns(UserWarning, match="left out 5 header rows of Qualtrics"):
        corpus.read(path, text="Q1", unit_id=())  # the answers to this one are to one question
    turned = [row[::-1] for row in export.rows()]
    for other in (turned, [turned[0], *turned[2:]]):  # with the questions, and without
        with pytest.raises(ImportRefused, match="the same columns in every part of the file"):
            corpus.read(written([*first, *other], tmp_path, "csv"), text="Q2")
    replaced = [[*row[:3], f"Q9 {row[3]}"] for row in export.rows()[:1]] + export.rows()[1:]
    with pytest.raises(ImportRefused, match="the same columns in every part of the file"):
        corpus.read(written([*first, *replaced], tmp_path, "csv"), text="Q2")
    options = surveymonkey(ANSWERS).rows()
    others = [options[0], [*options[1][:5], "Blue", "Red", "Other"], *options[2:]]
    with pytest.raises(ImportRefused, match="the same columns in every part of the file"):
        corpus.read(written([*options, *others], tmp_path, "csv"), text="Why?")


def test_a_response_above_the_import_ids_is_never_left_out(tmp_path: Path) -> None:
    names, asked, ids, *responses = qualtrics(ANSWERS).rows()
    with pytest.raises(ImportRefused, match="found numbers or dates in line 2, as a response has"):
        corpus.read(written([names, responses[0], ids, asked, *responses[1:]], tmp_path, "csv"), text="Q2")


# Tables without a mark


@pytest.mark.parametrize("form", FORMS)
def test_a_second_row_of_words_above_numbers_is_asked_about(form: str, tmp_path: Path) -> None:
    names, asked, _, *responses = qualtrics(ANSWERS).rows()
    source = written([names, asked, *responses], tmp_path, form)
    place = {"xlsx": "row 2", "frame": "row 1"}.get(form, "line 2")
    with pytest.raises(ImportRefused) as refused:
        corpus.read(source, text="Q2")
    assert str(refused.value).endswith(
        f"expected responses from {place} on – found words there above numbers in columns 'StartDate', 'Q1' "
        f"– pass header=(1, 2) if {place} holds the questions, or header=1 if it is a response (sense7-qual "
        "new: --header 1,2 or --header 1)."
    )
    with pytest.raises(ImportRefused, match="header="):
        corpus.recognise(source)
    with pytest.warns(UserWarning, match=f"left out 1 header row in {place}"):
        units = corpus.read(source, text="Q2", header=(1, 2), ratings=["Q1"])
    assert units["text"].tolist() == [words for _, words in ANSWERS]
    assert len(corpus.read(source, text="Q2", header=1)) == 1 + len(ANSWERS)


def test_a_second_row_is_found_where_the_file_was_put_together_too(tmp_path: Path) -> None:
    names, asked, _, *responses = qualtrics(ANSWERS).rows()
    path = written([names, asked, *responses[:1], names, asked, *responses[1:]], tmp_path, "csv")
    with pytest.raises(ImportRefused, match="header="):
        corpus.read(path, text="Q2")
    with pytest.warns(UserWarning, match="left out 3 header rows in lines 2, 5, 6"):
        units = corpus.read(path, text="Q2", header=[1, 2])
    assert units["text"].tolist() == [words for _, words in ANSWERS]
    path = written([names, asked, *responses[:1], names, *responses[1:]], tmp_path, "csv")
    with pytest.raises(ImportRefused, match="in line 6"):
        corpus.read(path, text="Q2", header=(1, 2))


def test_names_that_come_again_are_left_out_and_said(tmp_path: Path) -> None:
    rows = [["id", "said", "stars"], ["1", "well", "4"], ["id", "said", "stars"], ["2", "ill", "2"]]
    units, said = units_of(written(rows, tmp_path, "csv"), text="said", ratings=["stars"])
    assert (units["text"].tolist(), said) == (["well", "ill"], ["left out 1 header row in line 3."])
    # One column alone: somebody may have written the word.
    assert len(corpus.read(pd.DataFrame({"said": ["well", "said"]}), text="said")) == 2


@pytest.mark.parametrize("header", [2, 0, (2, 1), (1, 2, 3), (), [1, 1], (1, 3)])
def test_another_header_is_refused(header: object) -> None:
    with pytest.raises(TableError, match=r"header to be the line|names in line 2|two lines that follow"):
        corpus.read(pd.DataFrame({"said": ["well"]}), text="said", header=header)


def test_a_first_response_that_leaves_numbers_open_is_no_question() -> None:
    table = pd.DataFrame({"age": ["NA", "33"], "stars": ["n/a", "2"], "said": ["well", "ill"]})
    assert len(corpus.read(table, text="said")) == 2


MEASURED = [
    "4",
    "-99",
    "3.5",
    "1,5",
    "1e-05",
    "50 %",
    "2026-01-31",
    "31.01.2026 10:02",
    "2026-01-31T10:02:00Z",
]
MEASURED += ["1/31/2026 10:02:33 PM", "2023/05/16 10:12:33 AM GMT+2", "10:02"]


@pytest.mark.parametrize("number", MEASURED)
def test_numbers_dates_and_times_are_known(number: str) -> None:
    table = pd.DataFrame({"a": ["When was it?", number], "b": ["How much?", number], "c": ["x", "y"]})
    with pytest.raises(ImportRefused, match="found words there above numbers in columns 'a', 'b'"):
        corpus.read(table, text="c")


@pytest.mark.parametrize("answer", ["R_1", "p1", "3 times", "T", "PM", "I am 5", "Jan", "e5"])
def test_words_with_digits_are_no_numbers(answer: str) -> None:
    table = pd.DataFrame({"a": ["yes", answer], "b": ["no", answer], "c": ["x", "y"]})
    assert len(corpus.read(table, text="c")) == 2


NAMES = [
    "Status",
    "id",
    "label",
    "Codes",
    "text",
    "Finished",
    "V1",
    "ResponseId",
    "Respondent ID",
    "Collector ID",
]
cells = st.one_of(
    texts, st.integers(0, 99).map(str), st.just(""), st.sampled_from(["NA", "[laughs] no", "{}"])
)


@pytest.mark.long
@settings(max_examples=200, deadline=None)
@given(st.data(), st.lists(st.sampled_from(NAMES), min_size=1, unique=True), st.integers(1, 5))
def test_a_plain_table_is_left_alone(data: st.DataObject, names: list[str], n_rows: int) -> None:
    table = pd.DataFrame(
        {name: data.draw(st.lists(cells, min_size=n_rows, max_size=n_rows)) for name in names}
    )
    table["said"] = [f"{n} was said" for n in range(n_rows)]
    table, header = table.rename(columns={"text": "Text"}), None
    try:
        corpus.read(table, text="said")
    except ImportRefused:  # words above numbers: asked about, never left out
        header = 1
    units, said = units_of(table, text="said", header=header)
    assert said == []
    assert units["text"].tolist() == table["said"].tolist()
    for name in table.columns.drop("said"):
        assert units[name].tolist() == table[name].tolist()


# Files as people have them


def field(name: str) -> Path:
    path = SHARED / "data" / "field" / name
    if not path.exists():
        pytest.skip("the collected files are not part of the project")
    return path


@pytest.mark.parametrize("read", [lambda path: path, pd.read_csv], ids=["file", "pandas"])
@pytest.mark.parametrize(("name", "n_left_out"), [("a08_qualtrics.csv", 2), ("e20_two_waves.csv", 4)])
def test_an_export_of_two_responses_has_two_texts(
    name: str, n_left_out: int, read: Callable[[Path], Path | pd.DataFrame]
) -> None:
    units, said = units_of(read(field(name)), text="Q2", unit_id="ResponseId", ratings=["Q1"])
    assert units["unit_id"].tolist() == ["R_1", "R_2"]
    assert units["text"].tolist() == ["It was kind", "Not really"]
    assert units["Q1"].tolist() == [4, 2]
    assert said[0].startswith(f"left out {n_left_out} header rows of Qualtrics")


def test_one_header_row_of_qualtrics_is_a_plain_table() -> None:
    units, said = units_of(field("d01_qualtrics_geo.csv"), text="Q2")
    assert len(units) == 24
    assert {*units.columns[6:]} == {"StartDate", "ResponseId", "PID", "Age", "Q1"}
    assert said[0].startswith("left out 5 columns of personal data, 'IPAddress', 'Recipient")
