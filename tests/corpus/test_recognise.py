"""What a file is: by a program's mark for certain, else a table; no cell is quoted."""

from __future__ import annotations

import csv
import io
import json
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from sense7_qual import corpus
from sense7_qual._formats import KINDS, _recognise
from sense7_qual.errors import ImportRefused, QualError
from tests.helpers.exports import (
    HEADED,
    OBJECTS,
    ROWS,
    made,
    maxqda_german,
    qualtrics,
    redcap_forms,
    written,
)
from tests.helpers.places import ROOT, SHARED

PRIVATE = "Sentinel-Quokka"
ANSWERS = [(4, f"It was kind to me, {PRIVATE}"), (2, "Not really what I had hoped for"), (3, "It was fine")]
MADE = sorted({*HEADED, *ROWS, *OBJECTS})
quiet = pytest.mark.filterwarnings("ignore::UserWarning")


# Kinds


def test_every_kind_has_a_maker() -> None:
    assert {*KINDS} - {"nvivo codebook"} == {*MADE}  # NVivo's codebook is a Word document


@pytest.mark.parametrize("kind", MADE)
def test_each_kind_is_recognised(kind: str, tmp_path: Path) -> None:
    found = corpus.recognise(made(kind, ANSWERS, tmp_path))
    assert (found.kind, found.holds) == (kind, KINDS[kind]["holds"])
    assert found.evidence
    assert all(name in found.table for name in (*found.labelled, *found.personal, *found.aside))
    assert repr(found).startswith(KINDS[kind]["program"] or kind.capitalize())
    if kind in ROWS:
        assert corpus.recognise(found.table).kind == kind


def test_other_forms_of_a_kind(tmp_path: Path) -> None:
    assert corpus.recognise(written(maxqda_german(ANSWERS), tmp_path, "xlsx")).kind == "maxqda segments"
    assert corpus.recognise(written(redcap_forms(ANSWERS), tmp_path, "csv")).kind == "redcap"
    never_finished = [[*row[:3], "1" if n else row[3]] for n, row in enumerate(redcap_forms(ANSWERS))]
    assert corpus.recognise(written(never_finished, tmp_path, "csv")).kind == "table"


@pytest.mark.parametrize("kind", ROWS)
@pytest.mark.parametrize("form", ["tsv", "xlsx", "frame"])
def test_a_mark_is_found_in_every_form_of_the_file(kind: str, form: str, tmp_path: Path) -> None:
    assert corpus.recognise(written(ROWS[kind](ANSWERS), tmp_path, form)).kind == kind


def units_of(path: Path, **roles: object) -> tuple[pd.DataFrame, str]:
    """Return the units, and what was said when they were read."""
    with pytest.warns(UserWarning, match="left out") as said:
        units = corpus.read(path, **roles)
    (one,) = said
    return units, str(one.message)


def test_a_row_of_another_redcap_form_has_no_text(tmp_path: Path) -> None:
    path = made("redcap", ANSWERS, tmp_path)
    units, said = units_of(path, text="why", ratings=["stars"], variables=())
    assert units["unit_id"].tolist() == ["p0/visit/1", "p1/visit/1", "p2/visit/1"]
    assert units["case_id"].tolist() == ["p0", "p1", "p2"]
    assert said == "left out 3 rows of other forms."
    units, said = units_of(path, text="age", variables=())  # in the form that is not repeated
    assert (units["unit_id"].tolist(), said) == (["p0", "p1", "p2"], "left out 3 rows of other forms.")
    blank = written([*ROWS["redcap"](ANSWERS), ["p9", "visit", "1", "", "", "3", "", "0"]], tmp_path, "csv")
    with pytest.raises(
        QualError, match="expected a text in every row of column 'why' – found none in line 8"
    ):
        corpus.read(blank, text="why")


def test_unfinished_responses_of_limesurvey_are_kept_and_counted(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="^kept 1 unfinished response[.]$"):
        units = corpus.read(made("limesurvey", ANSWERS, tmp_path), text="Q2")
    assert units["unit_id"].tolist() == units["case_id"].tolist() == ["0", "1", "2"]


def test_the_data_of_a_task_of_label_studio_are_columns_as_they_are_written(tmp_path: Path) -> None:
    data = '{\n "text": "one\\ntwo\u2028three", "id": 7, "share": 1.50}'
    table = pd.DataFrame({"id": [1], "data": [data], "annotations": ["[]"]})
    found = corpus.recognise(table)
    assert found.kind == "label studio"
    assert found.table.to_dict("records") == [
        {"id": "1", "annotations": "[]", "text": "one\ntwo\u2028three", "data.id": "7", "share": "1.50"}
    ]


@pytest.mark.parametrize("kind", [*OBJECTS, "label studio rows"])
def test_texts_that_others_labelled_are_each_one_unit_without_the_labels(kind: str, tmp_path: Path) -> None:
    units, said = units_of(made(kind, ANSWERS, tmp_path), text="text")
    assert units["text"].tolist() == [text for _, text in ANSWERS]
    assert units["unit_id"].tolist() == ["0", "1", "2"]
    assert {*units.columns[6:]} <= {"stars", "status"}
    assert units["context"].isna().all()
    assert "of earlier labels" in said


def test_the_marks_of_two_programs_are_refused_with_both_named(tmp_path: Path) -> None:
    rows = [
        [*left, *right]
        for left, right in zip(ROWS["limesurvey"](ANSWERS), ROWS["mturk"](ANSWERS), strict=True)
    ]
    with pytest.raises(ImportRefused, match='found those of limesurvey and mturk – pass kind="table"'):
        corpus.recognise(written(rows, tmp_path, "csv"))
    assert corpus.recognise(written(rows, tmp_path, "csv"), kind="table").kind == "table"


def test_the_kind_table_switches_the_marks_off(tmp_path: Path) -> None:
    for kind in ROWS:
        found = corpus.recognise(made(kind, ANSWERS, tmp_path), kind="table")
        assert (found.kind, found.program, found.evidence, found.roles) == ("table", "", (), {})
    found = corpus.recognise(made("qualtrics", ANSWERS, tmp_path), kind="table", header=1)
    assert len(found.table) == 5  # two header rows among them


@pytest.mark.parametrize("kind", [kind for kind in MADE if KINDS[kind]["holds"] != "texts"])
def test_what_holds_no_texts_is_refused_with_the_way(kind: str, tmp_path: Path) -> None:
    way = {"codings": "codings.read", "codes": "Codebook.read", "people": "'Participant id' .pandas.merge."}
    with pytest.raises(
        ImportRefused, match=f"expected texts to code – found .* – .*{way[KINDS[kind]['holds']]}"
    ):
        corpus.read(made(kind, ANSWERS, tmp_path), text="Segment")


def test_what_is_found_is_printed(tmp_path: Path) -> None:
    export = qualtrics(ANSWERS)
    names, asked, ids = (
        [*row, more] for row, more in zip(export.block, ["Status", "Type", '{"ImportId":"s"}'], strict=True)
    )
    rows = [names, asked, ids, *([*row, status] for row, status in zip(export.responses, "910", strict=True))]
    found = corpus.recognise(written(rows, tmp_path, "csv"))
    assert repr(found).split("\n") == [
        "Qualtrics: 3 rows (lines 5 to 7), texts to code",
        "  5 import ids and nothing else in line 4",
        "  left out: lines 2, 4 (questions, import ids)",
        "  asked: preview (2 responses that Qualtrics marks as previews or tests, Status 1, 9, in "
        "lines 5, 6)",
    ]
    assert found.labels["Q1"] == "How satisfied were you?"
    assert found.header == (1, 2)
    assert found.left_out.to_dict("list") == {"line": [2, 4], "why": ["questions", "import ids"]}
    assert (found.roles["unit_id"], found.roles["case_id"]) == ("ResponseId", "ResponseId")
    assert found.asks[0].at.tolist() == [5, 6]


# Properties


texts = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=3, max_size=20)
answers = st.lists(st.tuples(st.integers(1, 7), texts.map("said: {}".format)), min_size=1, max_size=6)


@pytest.mark.long
@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    kind=st.sampled_from(sorted(ROWS)),
    answers=answers,
    turn=st.randoms(use_true_random=False),
    form=st.sampled_from(["csv", "xlsx", "frame"]),
)
def test_columns_in_any_order_are_the_same_kind(kind, answers, turn, form) -> None:
    rows = ROWS[kind](answers)
    first = len(KINDS[kind].get("begins", ())) or (kind == "redcap")
    order = [*range(first), *turn.sample(range(first, len(rows[0])), len(rows[0]) - first)]
    with tempfile.TemporaryDirectory() as folder:
        source = written([[row[at] for at in order] for row in rows], Path(folder), form)
        found = corpus.recognise(source)
    assert found.kind == kind
    assert len(found.table) == len(rows) - 1
    assert set(found.table.columns) == set(rows[0])


@pytest.mark.long
@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    answers=answers,
    order=st.permutations(range(4)),
    again=st.lists(st.integers(0, 5), max_size=2),
    form=st.sampled_from(["csv", "tsv", "xlsx", "frame"]),
)
def test_qualtrics_is_the_same_with_its_columns_in_any_order(answers, order, again, form) -> None:
    rows = qualtrics(answers).rows(again)
    with tempfile.TemporaryDirectory() as folder:
        source = written([[row[at] for at in order] for row in rows], Path(folder), form)
        with pytest.warns(UserWarning, match="header rows of Qualtrics"):
            units = corpus.read(source, text="Q2", ratings=["Q1"])
    assert units["text"].tolist() == [text for _, text in answers]
    assert units["Q1"].tolist() == [stars for stars, _ in answers]
    assert units["unit_id"].tolist() == [f"R_{n}" for n in range(len(answers))]
    assert not {"Why did you say so?\nPlease explain.", "Response ID"} & {*units.to_numpy().ravel()}


DELIMITERS = [",", ";", "\t"]
cells = st.one_of(
    texts, st.just(""), st.sampled_from(["a, b", "c; d", "e\tf", 'say "so"', "two\nlines", "1,5"])
)


@st.composite
def delimited(draw: st.DrawFn) -> tuple[bytes, str, list[list[str]], int]:
    """Draw a file: its bytes, its suffix, its rows, and how many titles are above them."""
    n_columns, n_rows = draw(st.integers(3, 5)), draw(st.integers(1, 4))
    rows = [[f"name {n}" for n in range(n_columns)]]
    # A filled first cell in every row, and a row that is filled: neither blank nor open to a guess.
    rows += [[draw(texts), *(draw(cells) for _ in range(n_columns - 1))] for _ in range(n_rows)]
    rows.append(["last", *["filled"] * (n_columns - 1)])
    titles = [[draw(texts), *[""] * (n_columns - 1)] for _ in range(draw(st.integers(0, 2)))]
    delimiter = draw(st.sampled_from(DELIMITERS))
    lines = io.StringIO()
    quoting = draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
    csv.writer(
        lines, delimiter=delimiter, quoting=quoting, lineterminator=draw(st.sampled_from(["\n", "\r\n"]))
    ).writerows(titles + rows)
    text = (f"sep={delimiter}\n" if draw(st.booleans()) else "") + lines.getvalue()
    return (
        text.encode(draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]))),
        draw(st.sampled_from(["csv", "tsv"])),
        rows,
        len(titles),
    )


def read_or_refused(packed: bytes, suffix: str, **how: object) -> corpus.Recognised | None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"a.{suffix}"
        path.write_bytes(packed)
        try:
            return corpus.recognise(path, **how)
        except ImportRefused as refused:
            if "found 2 (" not in str(refused) and "found 3 (" not in str(refused):
                raise
            return None


def check_delimited(file: tuple[bytes, str, list[list[str]], int]) -> None:
    packed, suffix, rows, n_titles = file
    found = read_or_refused(packed, suffix)
    if found is None:  # by chance another delimiter gives every row as many cells, too
        return
    expected = [[cell.replace("\r\n", "\n") for cell in row] for row in rows]
    assert found.table.columns.tolist() == expected[0]
    assert found.table.fillna("").to_numpy().tolist() == expected[1:]
    assert found.left_out["why"].tolist() == ["title"] * n_titles


@pytest.mark.long
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(delimited())
def test_a_table_is_the_same_in_every_spelling_of_the_file(file) -> None:
    check_delimited(file)


@pytest.mark.nightly
@settings(max_examples=3_000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(delimited())
def test_many_tables_are_the_same_in_every_spelling_of_the_file(file) -> None:
    check_delimited(file)


def test_a_file_that_two_delimiters_fit_is_refused_until_one_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id;a,b\n1;x,y\n2;z,w\n", "utf-8")
    with pytest.raises(ImportRefused, match=r"found 2 \(comma 2 cells, semicolon 2 cells\)"):
        corpus.read(path, text="a,b")
    assert corpus.read(path, text="a,b", delimiter=";")["text"].tolist() == ["x,y", "z,w"]
    for wrong in ({"delimiter": "||"}, {"delimiter": '"'}):
        with pytest.raises(QualError, match="a delimiter of one character"):
            corpus.recognise(path, **wrong)


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
    "Name",
    "Email",
    "answer",
    "data",
    "annotations",
    "tag",
    "document",
    "Code",
    "Segment",
    "token",
    "a_complete",
]
plain = st.one_of(
    texts, st.integers(0, 99).map(str), st.just(""), st.sampled_from(["NA", "[laughs] no", "{}"])
)


@st.composite
def tables(draw: st.DrawFn) -> pd.DataFrame:
    names, n_rows = draw(st.lists(st.sampled_from(NAMES), min_size=1, unique=True)), draw(st.integers(1, 5))
    table = pd.DataFrame({name: draw(st.lists(plain, min_size=n_rows, max_size=n_rows)) for name in names})
    return table.assign(said=[f"{n} was said" for n in range(n_rows)])


def check_plain(table: pd.DataFrame) -> None:
    found = corpus.recognise(table, header=1)
    assert (found.kind, found.program, found.evidence, found.asks) == ("table", "", (), ())
    assert (len(found.left_out), found.labelled, found.roles, found.keeps_variables) == (0, (), {}, True)
    pd.testing.assert_frame_equal(found.table, table.astype("string").set_index(found.table.index))


@pytest.mark.long
@settings(max_examples=100, deadline=None)
@given(tables())
def test_a_plain_table_is_a_table(table: pd.DataFrame) -> None:
    check_plain(table)


@pytest.mark.nightly
@settings(max_examples=10_000, deadline=None)
@given(tables())
def test_ten_thousand_plain_tables_are_tables(table: pd.DataFrame) -> None:
    check_plain(table)


@pytest.mark.parametrize("kind", MADE)
def test_no_cell_is_in_an_error_a_warning_or_what_is_printed(kind: str, tmp_path: Path) -> None:
    path = made(kind, [(4, PRIVATE), (2, f"{PRIVATE} {PRIVATE}")], tmp_path)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = corpus.recognise(path)
        printed = [repr(found), *found.evidence, *map(str, found.asks), *found.rows_left_out, *found.changes]
        for text in found.table.columns:
            try:
                corpus.read(path, text=text)
            except QualError as refused:
                printed.append(str(refused))
    assert PRIVATE in found.table.to_string() or kind == "prolific"
    assert PRIVATE not in "".join([*printed, *map(str, said)])


def test_long_names_are_shown_only_where_they_are_certainly_names(tmp_path: Path) -> None:
    asked = "Why did you give this rating? Please explain in your own words."
    for rows, evident in [
        ([[asked, "stars"], ["well", "4"], ["ill", "2"]], True),
        ([[asked, "like"], ["well", "yes"], ["ill", "no"], ["so", "yes"], ["so so", "no"]], True),
        ([[asked, "yes"], ["well", "yes"], ["ill", "no"], ["so", "yes"], ["so so", "no"]], False),
        ([[asked, "p1"], ["well", "p2"], ["ill", "p3"]], False),
    ]:
        assert corpus.recognise(written(rows, tmp_path, "csv")).evident == evident


@pytest.mark.nightly
def test_recognition_adds_at_most_a_tenth_to_the_time_of_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["it", "was", "kind", "to", "me", "and", "I", "felt", "heard", "not", "at", "all"]
    rows = [[f"p{n}", " ".join(words), *(words[(n * i) % 12] for i in range(48))] for n in range(20_000)]
    path = written([["id", "text", *(f"q{i}" for i in range(48))], *rows], tmp_path, "csv")
    reading: list[float] = []

    def timed(function: Callable[..., object]) -> Callable[..., object]:
        def call(*given: object, **named: object) -> object:
            start = time.process_time()
            found = function(*given, **named)
            reading.append(time.process_time() - start)
            return found

        return call

    for name in ("read_cells", "frame_of"):
        monkeypatch.setattr(_recognise, name, timed(getattr(_recognise, name)))
    added = []
    for _ in range(4):
        reading.clear()
        start = time.process_time()
        corpus.recognise(path)
        added.append((time.process_time() - start) / sum(reading))
    assert min(added) < 1.1


# Where a table begins, and what its columns are called


def test_titles_above_the_names_are_left_out_and_said(tmp_path: Path) -> None:
    rows = [
        ["Wave 1", "", ""],
        ["as of May", "", ""],
        ["id", "said", "stars"],
        ["1", "well", "4"],
        ["2", "ill", "2"],
    ]
    for form in ("csv", "tsv", "xlsx"):
        path = written(rows, tmp_path, form)
        with pytest.warns(UserWarning, match="left out a title in (lines|rows) 1, 2"):
            units = corpus.read(path, text="said", ratings=["stars"])
        assert units["text"].tolist() == ["well", "ill"]
        assert corpus.recognise(path).header == (3,)


def test_a_header_that_lacks_a_name_does_not_give_its_place_to_a_response(tmp_path: Path) -> None:
    for rows in (
        [["id", ""], ["p1", "well"], ["p2", "ill"]],
        [["id", "said", ""], ["p1", "well", "x"], ["p2", "ill", "y"]],
        [["Wave", "1", ""], ["id", "said", "stars"], ["1", "well", "4"]],
    ):
        path = written(rows, tmp_path, "csv")
        with pytest.raises(ImportRefused, match="a name for every column"):
            corpus.recognise(path)
    assert corpus.recognise(path, header=2).table["said"].tolist() == ["well"]


def test_lines_above_a_named_header_do_not_count(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('Wave 1; made; "by hand\nid;said\nthe number;the words\n1;well, well\n2;ill\n', "utf-8")
    with pytest.raises(ImportRefused):
        corpus.recognise(path)
    assert corpus.recognise(path, header=2).table["said"].tolist() == ["the words", "well, well", "ill"]
    found = corpus.recognise(path, header=(2, 3))
    assert found.table["said"].tolist() == ["well, well", "ill"]
    assert (found.header, found.labels["said"]) == ((2, 3), "the words")
    with pytest.raises(QualError, match="names in line 9"):
        corpus.recognise(written([["id", "said"], ["1", "x"]], tmp_path, "xlsx"), header=9)


def test_a_file_without_names_is_refused_until_they_are_said_to_be_names(tmp_path: Path) -> None:
    for rows in ([["1", "well"], ["2", "ill"]], [["well", "2026-01-31"], ["ill", "2026-02-01"]]):
        for form in ("csv", "xlsx", "frame"):
            with pytest.raises(
                ImportRefused, match="found numbers or dates above numbers or dates in column"
            ):
                corpus.recognise(written(rows, tmp_path, form))
    years = pd.DataFrame({"2019": ["4", "3"], "2020": ["5", ""], "said": ["well", "ill"]})
    assert corpus.recognise(years, header=1).table.columns.tolist() == ["2019", "2020", "said"]


def test_columns_of_one_name_are_numbered_and_said(tmp_path: Path) -> None:
    rows = [["id", "Why?", "Why?", "Why? (2)"], ["1", "a", "b", "c"], ["2", "d", "e", "f"]]
    path = written(rows, tmp_path, "csv")
    assert corpus.recognise(path).table.columns.tolist() == ["id", "Why?", "Why? (3)", "Why? (2)"]
    with pytest.warns(UserWarning, match="numbered the columns of one name, 'Why[?]'"):
        assert corpus.read(path, text="Why? (3)")["text"].tolist() == ["b", "e"]


@pytest.mark.parametrize("suffix", ["csv", "xlsx", "jsonl", "json", "parquet", "frame"])
def test_rows_of_blanks_are_left_out_in_every_format(suffix: str, tmp_path: Path) -> None:
    rows = [["1", "well"], [" ", None], ["2", "ill"], ["", "\u00a0"]]
    frame = pd.DataFrame(rows, columns=["id", "said"])
    path = tmp_path / f"a.{suffix}"
    match suffix:
        case "csv" | "xlsx":
            lines = [["", " "], ["id", "said"], *([cell or "" for cell in row] for row in rows)]
            path = written(lines, tmp_path, suffix)
        case "jsonl" | "json":
            frame.to_json(path, orient="records", lines=suffix == "jsonl")
        case "parquet":
            frame.to_parquet(path)
        case "frame":
            path = frame
    assert corpus.read(path, text="said")["text"].tolist() == ["well", "ill"]


def test_a_json_list_of_objects_is_read_and_anything_else_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps([{"id": 1, "said": "well"}, {"said": "ill"}]), "utf-8")
    found = corpus.recognise(path)
    assert (found.table["said"].tolist(), found.table.index.name) == (["well", "ill"], "item")
    for wrong in ({"said": "well"}, [1], [["a"]], "said"):
        path.write_text(json.dumps(wrong), "utf-8")
        with pytest.raises(ImportRefused, match=r"a list of them in \.json"):
            corpus.recognise(path)


# Files as people have them


def field(name: str) -> Path:
    path = SHARED / "data" / "field" / name
    if not path.exists():
        pytest.skip("the collected files are not part of the project")
    return path


@pytest.mark.parametrize(
    ("name", "kind", "places"),
    [
        ("a03_sep.csv", "table", [3, 4]),
        ("a06_merged.xlsx", "table", range(2, 8)),
        ("a08_qualtrics.csv", "qualtrics", [4, 5]),
        ("a13_doccano.jsonl", "labelled texts", [1, 2]),
        ("a13b_labels.jsonl", "labelled texts", range(1, 13)),
        ("d01_qualtrics_geo.csv", "table", range(2, 26)),
        ("e08_blank_rows.xlsx", "table", [2, 3]),
        ("e11_utf16.tsv", "table", [2, 3]),
        ("e20_two_waves.csv", "qualtrics", [4, 7]),
    ],
)
def test_collected_files(name: str, kind: str, places: list[int]) -> None:
    found = corpus.recognise(field(name))
    assert (found.kind, found.table.index.tolist()) == (kind, [*places])


def test_a_collected_sheet_with_merged_participants() -> None:
    found = corpus.recognise(field("a06_merged.xlsx"))
    (column,) = found.merged
    assert found.table[column].tolist() == ["p1", "p1", "p1", "p2", "p2", "p2"]


def test_a_collected_export_with_one_header_row_is_a_table_with_personal_columns() -> None:
    found = corpus.recognise(field("d01_qualtrics_geo.csv"))
    assert {"IPAddress", "RecipientEmail", "LocationLatitude", "LocationLongitude"} <= {*found.personal}
    assert "ProlificNumericId" in found.personal


# What programs do to a table


@quiet
@pytest.mark.parametrize("first", ["0", "1", "17"])
def test_the_numbers_of_the_rows_without_a_name_are_left_out_and_said(first: str, tmp_path: Path) -> None:
    numbers = [int(first), int(first) + 1, int(first) + 5]
    rows = [
        ["", "stars", "why"],
        *([str(n), str(s), text] for n, (s, text) in zip(numbers, ANSWERS, strict=True)),
    ]
    found = corpus.recognise(written(rows, tmp_path, "csv"))
    assert found.table.columns.tolist() == ["stars", "why"]
    assert "left out the numbers of the rows" in repr(found)
    by_pandas = pd.read_csv(written(rows, tmp_path, "csv"))
    assert corpus.recognise(by_pandas).table.columns.tolist() == ["stars", "why"]
    with pytest.warns(UserWarning, match="numbers of the rows"):
        corpus.read(written(rows, tmp_path, "csv"), text="why")
    falling = [rows[0], *reversed(rows[1:])]
    with pytest.raises(ImportRefused, match="expected a name for every column"):
        corpus.recognise(written(falling, tmp_path, "csv"))


def test_surveymonkey_without_a_collector_is_known_by_its_open_ended_responses(tmp_path: Path) -> None:
    head = [
        ["Respondent ID", "Start Date", "Why?", "Colours", ""],
        ["", "", "Open-Ended Response", "Red", "Blue"],
    ]
    rows = [[str(n), "2026-01-31", text, "Red", ""] for n, (_, text) in enumerate(ANSWERS)]
    found = corpus.recognise(written([*head, *rows], tmp_path, "csv"))
    assert found.kind == "surveymonkey"
    assert found.table.columns.tolist() == [
        "Respondent ID",
        "Start Date",
        "Why?",
        "Colours – Red",
        "Colours – Blue",
    ]


def test_a_batch_of_mturk_lacks_the_cells_of_its_last_two_columns(tmp_path: Path) -> None:
    names, *rows = ROWS["mturk"](ANSWERS)
    whole = [[*names, "Approve", "Reject"], *rows]
    found = corpus.recognise(written(whole, tmp_path, "csv"))
    assert (found.kind, found.table.columns.tolist()) == ("mturk", names)
    other = [[*names, "Approve", "Later"], *rows]
    with pytest.raises(ImportRefused, match=r"found none \(comma 7 to 9 cells"):
        corpus.recognise(written(other, tmp_path, "csv"))


def test_a_workbook_with_the_name_of_a_text_is_told_so(tmp_path: Path) -> None:
    book = written(ROWS["limesurvey"](ANSWERS), tmp_path, "xlsx")
    for suffix in (".csv", ".tsv", ".jsonl"):
        with pytest.raises(ImportRefused, match=r"found an Excel workbook .* rename it"):
            corpus.recognise(book.rename(book.with_suffix(suffix)))
        book = book.with_suffix(suffix)


@quiet
def test_the_participant_is_in_a_column_that_every_response_fills(tmp_path: Path) -> None:
    rows = qualtrics(ANSWERS).rows()
    pids = ["PROLIFIC_PID", "PROLIFIC_PID", '{"ImportId":"PROLIFIC_PID"}', "5f0c1a2b3c4d5e6f7a8b9c0d"]
    filled = [[*row, pid] for row, pid in zip(rows, [*pids, pids[3][::-1], "a" * 24], strict=True)]
    assert corpus.recognise(written(filled, tmp_path, "csv")).roles["case_id"] == "PROLIFIC_PID"
    filled[-1][-1] = " "
    assert corpus.recognise(written(filled, tmp_path, "csv")).roles["case_id"] == "ResponseId"


def test_a_text_that_stands_once_for_each_coder_is_still_the_text(tmp_path: Path) -> None:
    found = corpus.recognise(made("prodigy", [*ANSWERS, *ANSWERS, *ANSWERS], tmp_path))
    assert found.columns.set_index("role")["column"]["text"] == "text"


@pytest.mark.parametrize("name", ["Antwort ID", "ID de respuesta", "Response ID", "SurveyID", "Idea"])
def test_an_id_is_a_word_of_its_own_in_a_name(name: str) -> None:
    table = pd.DataFrame({name: ["11", "12", "13"], "why": ["It was kind to me"] * 3})
    columns = corpus.recognise(table).columns
    ids = columns.loc[columns["role"].eq("unit_id").fillna(False), "column"].tolist()
    assert ids == ([] if name in ("SurveyID", "Idea") else [name])


def test_the_page_has_a_row_for_each_program() -> None:
    page = (ROOT / "docs" / "files.md").read_text("utf-8")
    table = page.partition("## From your program")[2].partition("\n## ")[0]
    programs = {spec["program"] for spec in KINDS.values()} - {""}
    assert len(programs) > 12
    assert {name for name in programs if name not in table} == set()
