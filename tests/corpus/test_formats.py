"""Files into frames of strings: what is written comes back, what would be a guess is refused."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from openpyxl import Workbook

from sense7_qual import corpus
from sense7_qual._formats import read_strings
from sense7_qual._formats._cells import cells_of, frame_of
from sense7_qual._limits import Limits
from sense7_qual._messages import places, shown
from sense7_qual.errors import ImportRefused
from tests.helpers.written_files import fill_sheet, write_table, write_xlsx

PRIVATE = "my brother hit me"
AS_WRITTEN = [
    "None",
    "NA",
    "nan",
    "NULL",
    "007",
    "1e5",
    "7.0",
    " x ",
    "TRUE",
    "=1+1",
    "2024-01-05",
    '"q"',
    "\u00a0",
]


def lossy(found: pd.DataFrame) -> list[list[object]]:
    return [[None if cell is pd.NA else cell for cell in row] for row in found.to_numpy(dtype=object)]


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".xlsx", ".jsonl", ".parquet"])
def test_cells_that_look_like_something_else_stay_as_written(tmp_path, suffix):
    path = write_table(tmp_path / f"data{suffix}", ["id", "said"], [["1", text] for text in AS_WRITTEN])
    found = read_strings(path)
    assert found["said"].tolist() == AS_WRITTEN
    assert [str(dtype) for dtype in found.dtypes] == ["string", "string"]


# XML 1.0 has no other control characters, and openpyxl refuses to write them.
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=30)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    texts=st.lists(TEXTS, min_size=1, max_size=4),
    suffix=st.sampled_from([".csv", ".tsv", ".jsonl", ".parquet"]),
)
def test_any_text_comes_back_the_same(tmp_path, texts, suffix):
    path = write_table(tmp_path / f"data{suffix}", ["id", "said"], [["1", text] for text in texts])
    assert read_strings(path)["said"].tolist() == texts


@pytest.mark.long
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    texts=st.lists(
        st.text(
            st.characters(codec="utf-8", exclude_categories=["Cc", "Cn"]) | st.sampled_from("\n\t"),
            min_size=1,
        ),
        min_size=1,
        max_size=4,
    )
)
def test_any_text_of_a_workbook_comes_back_the_same(tmp_path, texts):
    path = write_xlsx(tmp_path / "data.xlsx", [["id", "said"], *(["1", text] for text in texts)])
    assert read_strings(path)["said"].tolist() == texts


# CSV and encodings


def test_csv_index_is_the_line_where_the_row_starts(tmp_path):
    (tmp_path / "a.csv").write_text('id,said\n1,"two\nlines"\n\n2,one\n3,\n', encoding="utf-8")
    found = read_strings(tmp_path / "a.csv")
    assert found.index.tolist() == [2, 5, 6]
    assert found.index.name == "line"
    assert lossy(found) == [["1", "two\nlines"], ["2", "one"], ["3", None]]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_byte_order_marks_decide_the_encoding(tmp_path, encoding):
    (tmp_path / "a.csv").write_bytes("id,said\n1,größer 😀\n".encode(encoding))
    found = read_strings(tmp_path / "a.csv")
    assert found.columns.tolist() == ["id", "said"]
    assert found["said"].tolist() == ["größer 😀"]


def test_utf16_with_a_mark_of_either_end_is_read(tmp_path):
    for mark, encoding in ((b"\xfe\xff", "utf-16-be"), (b"\xff\xfe", "utf-16-le")):
        (tmp_path / "a.tsv").write_bytes(mark + "id\tsaid\n1\té\n".encode(encoding))
        assert read_strings(tmp_path / "a.tsv")["said"].tolist() == ["é"]


def test_cp1252_is_named_and_asked_for_never_replaced(tmp_path):
    packed = "id,said\n1,plain\n2,It’s naïve – “café”\n".encode("cp1252")
    (tmp_path / "a.csv").write_bytes(packed)
    with pytest.raises(ImportRefused) as refused:
        read_strings(tmp_path / "a.csv")
    message = str(refused.value)
    assert f"offset {packed.index(0x92)}, line 3" in message
    assert "'cp1252'" in message
    assert 'encoding="…"' in message
    assert refused.value.__cause__ is None  # the UnicodeDecodeError holds the bytes
    assert read_strings(tmp_path / "a.csv", encoding="cp1252")["said"].tolist()[1] == "It’s naïve – “café”"


@pytest.mark.parametrize(
    ("encoding", "text"),
    [("shift_jis", "これはテストです。とても悲しい"), ("cp1251", "Привет как дела это хорошо")],
)
def test_other_encodings_are_named_too(tmp_path, encoding, text):
    (tmp_path / "a.csv").write_bytes(f"id,said\n1,{text}\n".encode(encoding))
    with pytest.raises(ImportRefused, match=f"the bytes would fit '{encoding}'"):
        read_strings(tmp_path / "a.csv")


@pytest.mark.parametrize("encoding", ["unicode_escape", "raw_unicode_escape", "punycode", "hex", "cp99"])
def test_what_is_no_encoding_of_a_file_is_refused(tmp_path, encoding):
    (tmp_path / "a.csv").write_bytes(rb"id,said" + b"\n" + rb"1,a\d")
    with pytest.raises(ImportRefused, match="a text encoding that Python knows"):
        read_strings(tmp_path / "a.csv", encoding=encoding)


def test_a_workbook_in_the_strict_form_is_named(tmp_path):
    path = write_xlsx(tmp_path / "a.xlsx", [["id"], ["1"]])
    old, new = b"http://schemas.openxmlformats.org/", b"http://purl.oclc.org/ooxml/"
    rewrite_zip(path, "xl/workbook.xml", old, new)
    rewrite_zip(path, "xl/worksheets/sheet1.xml", old, new)
    with pytest.raises(ImportRefused, match="not as 'Strict Open XML'"):
        read_strings(path)


def test_a_wrong_encoding_is_refused_strictly(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"id,said\n1,\x81\n")  # 0x81 stands for nothing in cp1252
    with pytest.raises(ImportRefused, match="offset 10, line 2"):
        read_strings(tmp_path / "a.csv", encoding="cp1252")
    with pytest.raises(ImportRefused, match="encoding that Python knows – found 'latin9000'"):
        read_strings(tmp_path / "a.csv", encoding="latin9000")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (
            "a,b\n1,2\n3\n4,5,6\n",
            r"found none \(comma 1 to 3 cells, semicolon 1, tab 1; first odd line 3\) – quote the cells",
        ),
        ("a,b,a\n1,2,3\n", "each column name once – found 'a' more than once"),
        (",b\n1,2\n", "a name for every column – found none for column '1'"),
        ('a,b\n1,"never closed\n2,3\n', "found in the row from line 2: unexpected end of data"),
        ('a,b\n1,"x"y\n', "found in the row from line 2: ',' expected after '\"'"),
        ('id\t"s"\t""it""', "found in the row from line 1: '\\t' expected after"),
        ('id,"said', "found in the row from line 1: unexpected end of data"),
        ("a,b;c\n1,2;3\n", r"found 2 \(comma 2 cells, semicolon 2 cells\) – .*--delimiter"),
        (
            "said\nwell, well\nill\n",
            r"found none \(comma 1 to 2 cells, semicolon 1, tab 1; first odd line 2\)",
        ),
        (
            '"a";"b"\n"1";"2";"3"\n',
            r"found none \(comma 0, semicolon 2 to 3 cells, tab 0; first odd line 2\)",
        ),
        (
            "a,b;c\n1;2;3\n3,4;5\n",
            r"none \(comma 1 to 2 cells, semicolon 2 to 3 cells, tab 1; first odd line 2",
        ),
        ("Wave 1\nid;said\n1;well\n", r"semicolon 1 to 2 cells.*pass header=… if the table begins further"),
        ("a,b\n1,x\x00y\n", "NUL character in line 2.*utf-16-le"),
        ("a,b\n1," + "x" * 131_073 + "\n", "field larger than field limit.*JSONL or Parquet"),
    ],
)
def test_csv_that_would_need_a_guess_is_refused(tmp_path, content, reason):
    (tmp_path / "a.csv").write_text(content, encoding="utf-8", newline="")
    with pytest.raises(ImportRefused, match=f"(?s)a.csv: .*{reason}"):
        read_strings(tmp_path / "a.csv")


def test_a_row_that_the_named_delimiter_parts_otherwise_is_named(tmp_path):
    (tmp_path / "a.csv").write_text("a;b\n1;2\n3\n4;5;6\n", encoding="utf-8")
    with pytest.raises(
        ImportRefused, match="found 1 in line 3; other than 2 in lines 3, 4 – quote the cells"
    ):
        corpus.recognise(tmp_path / "a.csv", delimiter=";")
    with pytest.raises(ImportRefused, match="found 3 in line 4; other than 1 in line 4"):
        corpus.recognise(tmp_path / "a.csv", delimiter=";", header=3)


@pytest.mark.parametrize("suffix", ["csv", "tsv"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_the_delimiter_is_that_of_the_cells_and_not_of_the_suffix(tmp_path, delimiter, suffix):
    rows = [["id", "said"], ["1", "well, well; I\tsaid"], ["2", "ill"], [" ", ""], ["", ""]]
    lines = io.StringIO()
    csv.writer(lines, delimiter=delimiter).writerows(rows)
    (tmp_path / f"a.{suffix}").write_text(lines.getvalue() + "  \n", encoding="utf-8", newline="")
    assert lossy(read_strings(tmp_path / f"a.{suffix}")) == [["1", "well, well; I\tsaid"], ["2", "ill"]]


@pytest.mark.parametrize(("delimiter", "suffix"), [(",", "csv"), (";", "csv"), ("\t", "csv"), (";", "tsv")])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_first_line_that_names_the_delimiter_is_no_row(tmp_path, delimiter, suffix, end):
    rows = [f"sep={delimiter}", f"id{delimiter}said", f"1{delimiter}well, well", f"2{delimiter}ill"]
    rows = [row.replace("well, well", '"well, well"') for row in rows]
    (tmp_path / f"a.{suffix}").write_text(end.join(rows) + end, encoding="utf-8", newline="")
    found = read_strings(tmp_path / f"a.{suffix}")
    assert lossy(found) == [["1", "well, well"], ["2", "ill"]]
    assert (found.index.tolist(), found.index.name) == ([3, 4], "line")


def test_blank_columns_without_a_name_are_left_out(tmp_path):
    (tmp_path / "a.csv").write_text("a,b,,\n1,2,,\n3,4,,\n", encoding="utf-8")
    assert read_strings(tmp_path / "a.csv").columns.tolist() == ["a", "b"]


# JSONL


def test_json_lines_keep_their_spelling(tmp_path):
    (tmp_path / "a.jsonl").write_text(
        '{"id": 1.50, "big": 123456789012345678901234567890, "said": "None", "yes": true}\r\n\n'
        '{"id": 2, "said": null, "list": [1.0, "é", {"k": null, "f": false}], "said2": ""}\n',
        encoding="utf-8",
    )
    found = read_strings(tmp_path / "a.jsonl")
    assert found.columns.tolist() == ["id", "big", "said", "yes", "list", "said2"]
    assert found.index.tolist() == [1, 3]
    assert lossy(found) == [
        ["1.50", "123456789012345678901234567890", "None", "true", None, None],
        ["2", None, None, None, '[1.0,"é",{"k":null,"f":false}]', ""],
    ]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (f'{{"said": "{PRIVATE}"', "Expecting ',' delimiter at character"),
        ("[1, 2]", "a value that is not an object"),
        ('{"a": NaN}', "NaN, which JSON does not have"),
        ('{"a": 1, "a": 2}', "a duplicate key in one object"),
        ('{"a":' + "[" * 100_000, "maximum recursion depth"),
    ],
)
def test_a_bad_json_line_is_named(tmp_path, line, reason):
    (tmp_path / "a.ndjson").write_text(f'{{"a": 1}}\n{line}\n', encoding="utf-8")
    with pytest.raises(ImportRefused, match=f"found in line 2: .*{reason}") as refused:
        read_strings(tmp_path / "a.ndjson")
    assert PRIVATE not in str(refused.value)


@pytest.mark.parametrize("bad", ["\\ud800", "\\u0000"])
def test_what_cannot_be_stored_is_refused_with_its_line(tmp_path, bad):
    (tmp_path / "a.jsonl").write_text(
        f'{{"a": "ok \\ud83d\\ude00"}}\n{{"a": "{PRIVATE}{bad}"}}\n', encoding="utf-8"
    )
    with pytest.raises(
        ImportRefused, match="column 'a' – found NUL or half of a surrogate pair in line 2"
    ) as refused:
        read_strings(tmp_path / "a.jsonl")
    assert PRIVATE not in str(refused.value)


# Workbooks


def test_typed_cells_of_a_workbook(tmp_path):
    book = Workbook()
    sheet = book.active
    sheet.append(["n", "d", "t", "b", "when", "hour"])
    sheet.append(
        [7.0, date(2024, 1, 5), datetime(2024, 1, 5), True, datetime(2024, 1, 5, 13, 30), time(9, 5)]
    )
    sheet.append([5.667, None, None, False, None, None])
    sheet.append([1e-7, None, None, None, None, None])
    book.save(tmp_path / "a.xlsx")
    found = read_strings(tmp_path / "a.xlsx")
    assert lossy(found) == [
        ["7", "2024-01-05", "2024-01-05T00:00:00", "TRUE", "2024-01-05T13:30:00", "09:05:00"],
        ["5.667", None, None, "FALSE", None, None],
        ["1e-07", None, None, None, None, None],
    ]
    assert found.index.tolist() == [2, 3, 4]


def test_the_index_holds_excels_row_numbers_and_blank_rows_are_left_out(tmp_path):
    path = write_xlsx(
        tmp_path / "a.xlsx", [[None], ["id", "said"], [None, None], ["1", "x"], [None, ""], ["2", None]]
    )
    found = read_strings(path)
    assert found.index.tolist() == [4, 6]
    assert lossy(found) == [["1", "x"], ["2", None]]


def test_cells_merged_down_a_column_have_their_value_in_each_row(tmp_path):
    """The sheet shows it for all of them and the file has it once: the others would be missing, unsaid."""
    book = Workbook()
    rows = [["About the survey", None, None], ["person", "wave", "said"]]
    rows += [["p1", "1", "well"], [None, None, "ill"], [None, "2", "so so"], ["p2", None, "fine"]]
    fill_sheet(book.active, rows)
    for place in ("A1:C1", "A3:A5", "B3:B4", "B5:B6"):
        book.active.merge_cells(place)
    book.save(tmp_path / "a.xlsx")
    with pytest.warns(UserWarning, match="left out a title in row 1; filled") as said:
        units = corpus.read(tmp_path / "a.xlsx", text="said", case_id="person")
    assert units["case_id"].tolist() == ["p1", "p1", "p1", "p2"]
    assert units["wave"].tolist() == ["1", "1", "2", "2"]
    assert [str(one.message) for one in said] == [
        "left out a title in row 1; filled 1 merged range down in column 'person'; filled 2 merged ranges "
        "down in column 'wave'."
    ]


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ("A2:B2", "a value in each cell – found cells merged in 'A2:B2'"),
        ("A1:A2", "a value in each cell – found cells merged in 'A1:A2'"),
        ("B2:B3", "a text of its own in each row of column 'said' – found cells merged in 'B2:B3'"),
    ],
)
def test_merged_cells_that_leave_open_what_a_row_holds_are_refused(tmp_path, place, reason):
    book = Workbook()
    fill_sheet(book.active, [["id", "said"], ["1", "warm"], ["2", "cold"], [None, None]])
    book.active.merge_cells("A4:B4")
    book.save(tmp_path / "a.xlsx")
    assert len(corpus.read(tmp_path / "a.xlsx", text="said")) == 2
    book.active.merge_cells(place)
    book.create_sheet("merged").merge_cells("A1:B2")
    book.save(tmp_path / "a.xlsx")
    with pytest.raises(ImportRefused, match=reason):
        corpus.read(tmp_path / "a.xlsx", text="said", sheet="Sheet")


def test_hidden_rows_and_columns_are_read_and_formats_are_not_applied(tmp_path):
    book = Workbook()
    fill_sheet(book.active, [["id", "said", "share"], [12, "x", 0.5], [13, "y", 1.1]])
    book.active["A2"].number_format, book.active["C2"].number_format = "0000", "0%"
    book.active["C3"].number_format = "0.00"
    book.active.row_dimensions[3].hidden = True
    book.active.column_dimensions["B"].hidden = True
    book.save(tmp_path / "a.xlsx")
    assert lossy(read_strings(tmp_path / "a.xlsx")) == [["12", "x", "0.5"], ["13", "y", "1.1"]]


@pytest.mark.parametrize("number", [1234567890123456, 1e16, -1e300, float("inf")])
def test_a_number_that_excel_has_rounded_is_refused(tmp_path, number):
    """Ids of 16 digits and more end in zeros there: two participants would be one."""
    path = write_xlsx(tmp_path / "a.xlsx", [["id", "said"], [123456789012345, "x"]])
    assert read_strings(path)["id"].tolist() == ["123456789012345"]
    spelled = "1e999" if number == float("inf") else repr(number)
    rewrite_zip(path, "xl/worksheets/sheet1.xml", b"<v>123456789012345</v>", f"<v>{spelled}</v>".encode())
    with pytest.raises(ImportRefused, match="a number of more than 15 digits, which Excel rounds, in 'A2'"):
        read_strings(path)


def test_a_date_that_excel_does_not_have_is_refused_without_a_warning(tmp_path):
    """openpyxl warns of it, and quotes the cell."""
    path = write_xlsx(tmp_path / "a.xlsx", [["when"], [date(2024, 1, 5)]])
    rewrite_zip(path, "xl/worksheets/sheet1.xml", b"<v>45296</v>", b"<v>99999999999</v>")
    with pytest.raises(ImportRefused, match="the Excel error #VALUE! in 'A2'"):
        read_strings(path)


def test_a_sheet_whose_claimed_size_is_wrong_loses_nothing(tmp_path):
    path = write_xlsx(tmp_path / "a.xlsx", [["id", "said"], ["1", "x"], ["2", "y"]])
    lying = rewrite_zip(
        path, "xl/worksheets/sheet1.xml", b'<dimension ref="A1:B3"', b'<dimension ref="A1:A1"'
    )
    assert lossy(read_strings(lying)) == [["1", "x"], ["2", "y"]]


def rewrite_zip(path: Path, member: str, old: bytes, new: bytes) -> Path:
    with zipfile.ZipFile(path) as archive:
        members = {info.filename: archive.read(info) for info in archive.infolist()}
    assert old in members[member]
    members[member] = members[member].replace(old, new)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def test_several_sheets_are_not_guessed_between(tmp_path):
    book = Workbook()
    fill_sheet(book.active, [["a"], ["1"]])
    book.active.title = "Wave 1"
    fill_sheet(book.create_sheet("Wave 2"), [["a"], ["2"]])
    book.save(tmp_path / "a.xlsx")
    with pytest.raises(ImportRefused, match="found 'Wave 1', 'Wave 2' – pass sheet="):
        read_strings(tmp_path / "a.xlsx")
    with pytest.raises(ImportRefused, match="did you mean 'Wave 2'"):
        read_strings(tmp_path / "a.xlsx", sheet="wave2")
    assert read_strings(tmp_path / "a.xlsx", sheet="Wave 2")["a"].tolist() == ["2"]


def test_a_formula_without_its_value_is_refused(tmp_path):
    book = Workbook()
    book.active.append(["a", "b"])
    book.active.append(["x", "=A2"])
    book.save(tmp_path / "a.xlsx")
    with pytest.raises(ImportRefused, match="a formula without its value in 'B2'"):
        read_strings(tmp_path / "a.xlsx")
    # With a value stored, as Excel and LibreOffice write it, the value is read.
    with zipfile.ZipFile(tmp_path / "a.xlsx") as archive:
        sheet = archive.read("xl/worksheets/sheet1.xml")
    empty = next(spelled for spelled in (b"<v />", b"<v/>", b"<v></v>") if spelled in sheet)
    rewrite_zip(tmp_path / "a.xlsx", "xl/worksheets/sheet1.xml", empty, b"<v>7</v>")
    assert lossy(read_strings(tmp_path / "a.xlsx")) == [["x", "7"]]


def test_an_excel_error_and_a_cut_text_are_refused(tmp_path):
    book = Workbook()
    book.active.append(["a", "b"])
    book.active.append(["#NAME?", "x" * 32_767])
    book.active["A2"].data_type = "e"
    book.save(tmp_path / "a.xlsx")
    with pytest.raises(
        ImportRefused, match=r"the Excel error #NAME\? in 'A2'; text of exactly 32,767 characters"
    ):
        read_strings(tmp_path / "a.xlsx")


def test_a_filled_cell_without_a_header_is_refused(tmp_path):
    path = write_xlsx(tmp_path / "a.xlsx", [["a"], ["1", None, PRIVATE]])
    with pytest.raises(ImportRefused, match="none for column '3', which is filled in row 2 – ") as refused:
        read_strings(path)
    assert PRIVATE not in str(refused.value)


def test_a_zip_bomb_and_too_many_cells_are_refused(tmp_path):
    path = write_xlsx(tmp_path / "a.xlsx", [["a", "b"], ["1", "2"], ["3", "4"]])
    with pytest.raises(ImportRefused, match=r"at most 5 cells or shared strings \(limits.cells\) – found 6"):
        read_strings(path, limits=Limits(cells=5))
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/media/zeros.bin", bytes(20_000_000))
    with pytest.raises(ImportRefused, match=r"\(limits.expansion\).*limits=corpus.Limits\(expansion=…\)"):
        read_strings(path)


def test_entities_in_a_workbook_are_not_expanded(tmp_path):
    path = write_xlsx(tmp_path / "a.xlsx", [["a"], ["1"]])
    with zipfile.ZipFile(path) as archive:
        start = archive.read("xl/worksheets/sheet1.xml")[:9]
    bomb = b'<!DOCTYPE x [<!ENTITY e "boom">]>' + start
    rewrite_zip(path, "xl/worksheets/sheet1.xml", start, bomb)
    with pytest.raises(ImportRefused, match="found XML that declares entities"):
        read_strings(path)


@pytest.mark.parametrize(
    ("content", "found"),
    [(b"\xd0\xcf\x11\xe0\xa1\xb1", "an old .xls file, or one with a password"), (b"a,b\n", "something else")],
)
def test_what_is_no_workbook_is_named(tmp_path, content, found):
    (tmp_path / "a.xlsx").write_bytes(content)
    with pytest.raises(ImportRefused, match=f"expected an .xlsx workbook – found {found}"):
        read_strings(tmp_path / "a.xlsx")


def test_a_damaged_workbook_is_refused_whatever_openpyxl_says(tmp_path):
    path = write_xlsx(tmp_path / "a.xlsx", [["a"], ["1"]])
    rewrite_zip(path, "xl/worksheets/sheet1.xml", b"</row>", b"")
    with pytest.raises(ImportRefused, match="found a damaged one"):
        read_strings(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme.txt", "not a workbook")
    with pytest.raises(ImportRefused, match="found a damaged one"):
        read_strings(path)


# Parquet, DataFrames, any file


def test_parquet_types(tmp_path):
    table = pa.table(
        {
            "single": pa.array([5.667, None], pa.float32()),
            "whole": pa.array([7, None], pa.int64()),
            "label": pa.array(["None", ""]).dictionary_encode(),
            "list": pa.array([["a", "é"], None]),
            "when": pa.array([datetime(2024, 1, 5, 13), None]),
            "flag": pa.array([True, None]),
        }
    )
    pq.write_table(table, tmp_path / "a.parquet")
    assert lossy(read_strings(tmp_path / "a.parquet")) == [
        ["5.667", "7", "None", '["a","é"]', "2024-01-05T13:00:00", "TRUE"],
        [None, None, "", None, None, None],
    ]


@pytest.mark.parametrize("encoding", ["DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY"])
def test_texts_that_are_differences_are_refused_with_the_way_out(tmp_path, encoding):
    """As parquet-mr and DuckDB write them when they are asked for the second version of the format."""
    table = pa.table({"id": ["1", "2"], "said": ["a", "ab"]})
    pq.write_table(
        table, tmp_path / "a.parquet", use_dictionary=False, column_encoding={"said": encoding, "id": "PLAIN"}
    )
    with pytest.raises(ImportRefused, match=r"column 'said' – write the file again .*DataFrame\.to_parquet"):
        read_strings(tmp_path / "a.parquet")
    pd.read_parquet(tmp_path / "a.parquet").to_parquet(tmp_path / "b.parquet")
    assert lossy(read_strings(tmp_path / "b.parquet")) == [["1", "a"], ["2", "ab"]]


@pytest.mark.long
@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("compression", ["none", "snappy", "gzip", "brotli", "zstd", "lz4"])
@pytest.mark.parametrize("numbers", ["PLAIN", "DELTA_BINARY_PACKED"])
def test_parquet_of_any_packing_is_read(tmp_path, numbers, compression, version):
    texts = [None if n % 7 == 0 else f"{'so ' * (n % 50)}😀 {n}" for n in range(2_000)]
    lists = [[text or "" for text in texts[n : n + n % 3]] for n in range(2_000)]
    pq.write_table(
        pa.table({"said": texts, "list": lists, "id": range(2_000)}),
        tmp_path / "a.parquet",
        use_dictionary=False,
        column_encoding={"said": "PLAIN", "list.list.element": "PLAIN", "id": numbers},
        compression=compression,
        data_page_version=version,
        row_group_size=900,
        data_page_size=5_000,
    )
    found = read_strings(tmp_path / "a.parquet")
    assert [row[0] for row in lossy(found)] == texts
    assert [json.loads(row) for row in found["list"]] == lists


def test_damaged_binary_and_large_parquet_are_refused(tmp_path):
    (tmp_path / "a.parquet").write_bytes(b"PAR1 nothing PAR1")
    with pytest.raises(ImportRefused, match="expected a Parquet file"):
        read_strings(tmp_path / "a.parquet")
    pq.write_table(pa.table({"raw": [PRIVATE.encode()] * 2}), tmp_path / "a.parquet")
    with pytest.raises(ImportRefused, match="column 'raw' – found bytes in row 1") as refused:
        read_strings(tmp_path / "a.parquet")
    assert PRIVATE not in str(refused.value)
    with pytest.raises(ImportRefused, match=r"at most 1 cells \(limits.cells\) – found 2"):
        read_strings(tmp_path / "a.parquet", limits=Limits(cells=1))


def test_a_data_frame_is_written_out_by_the_same_rules():
    frame = pd.DataFrame(
        {
            "mixed": ["None", np.nan, None],
            "whole": [7.0, np.nan, 1e17],
            "single": np.array([5.667, np.nan, -0.0], dtype=np.float32),
            "when": pd.to_datetime(["2024-01-05 13:30", None, "2024-01-06 00:00"]),
            "flag": pd.array([True, None, False], dtype="boolean"),
            "kind": pd.Categorical(["a", None, "b"]),
            "listed": [[1, 2.5], None, {"k": "é"}],
        }
    )
    assert lossy(frame_of(cells_of(frame))) == [
        ["None", "7", "5.667", "2024-01-05T13:30:00", "TRUE", "a", "[1,2.5]"],
        [None, None, None, None, None, None, None],
        [None, "1e+17", "0", "2024-01-06T00:00:00", "FALSE", "b", '{"k":"é"}'],
    ]


def test_rarer_objects_of_a_data_frame_are_written_out_too():
    frame = pd.DataFrame(
        {
            "exact": [Decimal("1.50"), Decimal("NaN")],
            "lasted": pd.to_timedelta(["00:01:30", None]),
            "nested": [[np.int64(1), np.array([2.5]), date(2024, 1, 5)], (True, None)],
        }
    )
    assert lossy(frame_of(cells_of(frame))) == [
        ["1.50", "0 days 00:01:30", '[1,[2.5],"2024-01-05"]'],
        [None, None, "[true,null]"],
    ]
    for nested in ([object()], [float("nan")]):
        with pytest.raises(ImportRefused, match="column 'a' – found list in row 1"):
            frame_of(cells_of(pd.DataFrame({"a": [nested]})))


def test_a_column_name_that_cannot_be_stored_and_an_empty_sheet(tmp_path):
    with pytest.raises(ImportRefused, match="expected column names of valid text"):
        frame_of(cells_of(pd.DataFrame({"a\x00": ["1"]})))
    assert read_strings(write_xlsx(tmp_path / "a.xlsx", [])).empty


def test_objects_and_repeated_columns_of_a_data_frame_are_refused():
    with pytest.raises(ImportRefused, match="column 'a' – found StringIO in row 2"):
        frame_of(cells_of(pd.DataFrame({"a": ["x", io.StringIO(PRIVATE)]})))
    with pytest.raises(ImportRefused, match="found 'a' more than once"):
        frame_of(cells_of(pd.DataFrame([["1", "2"]], columns=["a", "a"])))


def test_missing_folders_unknown_and_large_files_are_refused(tmp_path):
    (tmp_path / "comments.csv").write_text("a\n1\n", encoding="utf-8")
    with pytest.raises(ImportRefused, match=r"did you mean 'comments.csv'\?"):
        read_strings(tmp_path / "coments.csv")
    with pytest.raises(ImportRefused, match="found none – there are none"):
        read_strings(tmp_path / "nowhere" / "a.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(ImportRefused, match=r"cannot be read \(Is a directory\)"):
        read_strings(tmp_path / "folder.csv")
    with pytest.raises(ImportRefused, match=r"expected a file of \.csv.*found 'a.sav'"):
        read_strings(tmp_path / "a.sav")
    with pytest.raises(ImportRefused, match="expected no sheet"):
        read_strings(tmp_path / "comments.csv", sheet="x")
    with pytest.raises(ImportRefused, match="expected no encoding"):
        read_strings(tmp_path / "a.xlsx", encoding="utf-8")
    with pytest.raises(
        ImportRefused, match=r"comments.csv: .*at most 3 bytes \(limits.file_bytes\) – found 4"
    ):
        read_strings(tmp_path / "comments.csv", limits=Limits(file_bytes=3))


def test_places_and_shown_name_without_telling():
    assert places(pd.Index([4], name="line")) == "line 4"
    assert places(pd.Index([4, 5])) == "rows 4, 5"
    assert shown(f"{PRIVATE}\nand more") == "(26 characters)"
    assert shown("x" * 61) == "(61 characters)"
