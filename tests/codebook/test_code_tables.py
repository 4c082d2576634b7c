"""Codebooks from Excel, Word and CSV tables: columns by any name, ids of labels, trees of headings."""

from __future__ import annotations

import re
import tempfile
import time
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from docx import Document
from hypothesis import given, settings, strategies as st
from openpyxl import Workbook, load_workbook

from sense7_qual.codebook import Code, Codebook
from sense7_qual.errors import ArgumentError, CodebookError
from tests.helpers.codebook_tables import write_rows
from tests.helpers.places import ROOT

FIELD = ROOT.parent / "shared" / "data" / "field"
FORMS = (".xlsx", ".docx", ".csv")


def read(path: Path, **how: Any) -> tuple[Codebook, str]:
    """Return the codebook, and what its one warning says."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        book = Codebook.read(path, **how)
    assert len(said) <= 1
    assert all(warning.filename == __file__ for warning in said)
    return book, str(said[0].message) if said else ""


def tree(book: Codebook) -> list[tuple[int, str, bool]]:
    return [(depth, code.label, code.codable) for code, depth in book.tree]


# Our own columns


@pytest.mark.parametrize("suffix", FORMS)
def test_our_own_columns_are_read_as_they_are_and_nothing_is_said(tmp_path: Path, suffix: str) -> None:
    rows = [("id", "label", "definition"), ("warm", "Warm", "Sounds kind"), ("cold", "Cold", "Sounds cold")]
    book, said = read(write_rows(tmp_path / f"book{suffix}", rows))
    codes = (
        Code(id="warm", label="Warm", definition="Sounds kind"),
        Code(id="cold", label="Cold", definition="Sounds cold"),
    )
    assert (book, said) == (Codebook(name="book", title="book", codes=codes), "")


@pytest.mark.parametrize(
    ("name", "how", "ids"),
    [
        ("b15_codebook.xlsx", {}, ("warm", "cold")),
        ("b17_cp1252.csv", {"encoding": "cp1252"}, ("warm",)),
        ("e17_codebook.csv", {}, ("recommend", "improve")),
    ],
)
def test_files_as_people_have_them(name: str, how: dict[str, str], ids: tuple[str, ...]) -> None:
    if not FIELD.is_dir():
        pytest.skip("the files of others are not in the repository")
    book, said = read(FIELD / name, **how)
    assert (book.ids, said) == (ids, "")


def test_an_encoding_is_named_and_never_guessed(tmp_path: Path) -> None:
    path = tmp_path / "book.csv"
    path.write_bytes("id,label,definition\nwarm,Warm,Klingt schön – nett„“\n".encode("cp1252"))
    with pytest.raises(CodebookError, match=r"the bytes would fit 'cp1252'.*name it: encoding=") as caught:
        Codebook.read(path)
    assert "Klingt" not in str(caught.value)
    assert Codebook.read(path, encoding="cp1252")["warm"].definition == "Klingt schön – nett„“"


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_the_delimiter_is_found_whatever_the_suffix(tmp_path: Path, delimiter: str, suffix: str) -> None:
    rows = [("id", "label", "definition"), ("warm", "Warm; kind", "Kind, and\tso"), ("cold", "Cold", "")]
    book, _ = read(write_rows(tmp_path / f"b{suffix}", rows, delimiter=delimiter))
    assert [(code.label, code.definition) for code in book] == [("Warm; kind", "Kind, and\tso"), ("Cold", "")]


# Columns by other names

HANDBOOK = [
    ("TRUST STUDY: CODEBOOK", "", "", "", "", "", "", ""),
    (
        "Code",
        "Code Type",
        "Brief Definition",
        "Full Definition",
        "When to Use",
        "When NOT to Use",
        "Example Quotations",
        "Frequency",
    ),
    (
        "Would recommend?",
        "A priori",
        "Likelihood",
        "Whether they would.",
        "When they say so",
        "When asked",
        "I would\nNever",
        "12",
    ),
    ("Areas, improved", "Emergent", "How to improve", "", "", "", "", "3"),
]


@pytest.mark.parametrize("suffix", [".xlsx", ".docx"])
def test_the_form_that_handbooks_teach_is_read_with_what_was_taken_as_what(
    tmp_path: Path, suffix: str
) -> None:
    book, said = read(write_rows(tmp_path / f"b{suffix}", HANDBOOK, [(0, 0, 0, 7)]))
    assert book.codes == (
        Code(
            id="would-recommend",
            label="Would recommend?",
            definition="Likelihood\n\nWhether they would.",
            use_when=("When they say so",),
            avoid_when=("When asked",),
            examples=("I would", "Never"),
            origin="deductive",
        ),
        Code(id="areas-improved", label="Areas, improved", definition="How to improve", origin="inductive"),
    )
    assert said == (
        f"codebook 'b{suffix}': Columns: label from 'Code'; origin from 'Code Type'; definition from 'Brief "
        "Definition', 'Full Definition'; use_when from 'When to Use'; avoid_when from 'When NOT to Use'; "
        "examples from 'Example Quotations'. Left out: 'Frequency'. Ids were made from labels."
    )


def test_columns_overrule_what_names_mean_and_find_the_header(tmp_path: Path) -> None:
    rows = [("our codes", ""), ("Kode", "Betydning"), ("Varm", "Lyder venlig"), ("Kold", "Lyder kold")]
    path = write_rows(tmp_path / "b.xlsx", rows)
    with pytest.raises(
        CodebookError, match=r"expected a column of codes in 'b\.xlsx' – found 'our codes' – if"
    ):
        Codebook.read(path)
    book, said = read(path, columns={"Kode": "label", "Betydning": "definition"})
    assert [(code.id, code.definition) for code in book] == [("varm", "Lyder venlig"), ("kold", "Lyder kold")]
    book, said = read(path, columns={"Kode": "label", "Betydning": None})
    assert book.codes[0].definition == ""
    assert "Left out: 'Betydning'" in said


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        (
            {"Codes": "label"},
            "expected the columns 'Codes' in one row of 'b.csv' – found 'Code', 'Definition'",
        ),
        ({"Code": "labl"}, r"found 'labl' for 'Code' – did you mean 'label'\?"),
    ],
)
def test_columns_that_cannot_be_are_refused(tmp_path: Path, columns: dict[str, str], said: str) -> None:
    path = write_rows(tmp_path / "b.csv", [("Code", "Definition"), ("Warm", "Kind")])
    with pytest.raises(CodebookError, match=said):
        Codebook.read(path, columns=columns)
    with pytest.raises(ArgumentError, match="columns"):
        Codebook.read(path, columns=["label"])  # type: ignore[arg-type]


def test_of_equal_names_the_first_that_is_filled_counts(tmp_path: Path) -> None:
    rows = [("Code", "Description", "Code", "Code"), ("", "So", "Warm", "1 if yes")]
    book, said = read(write_rows(tmp_path / "b.xlsx", rows))
    assert [(code.label, code.definition) for code in book] == [("Warm", "So")]
    assert "label from 'Code (2)'; definition from 'Description'. Left out: 'Code (3)'" in said
    with pytest.raises(
        CodebookError, match="expected at least one code below its column's name – found none"
    ):
        Codebook.read(write_rows(tmp_path / "b.xlsx", [("Code", "Description"), ("", "So")]))


@pytest.mark.parametrize(
    ("codes", "ids", "said"),
    [
        (("W1", "C1"), ("W1", "C1"), "id from 'Code'"),
        (("1.1", "C1"), ("warm", "cold"), "Left out: 'Code'"),
    ],
)
def test_ids_are_taken_only_where_each_is_one(
    tmp_path: Path, codes: tuple[str, str], ids: tuple[str, str], said: str
) -> None:
    rows = [("Code", "Name"), (codes[0], "Warm"), (codes[1], "Cold")]
    book, warning = read(write_rows(tmp_path / "b.xlsx", rows))
    assert (book.ids, [code.label for code in book]) == (ids, ["Warm", "Cold"])
    assert said in warning


def test_a_list_of_variables_is_refused_as_one(tmp_path: Path) -> None:
    rows = [("Variable", "Label", "Coding & Labels"), ("age", "Age in years", "Numeric")]
    path = write_rows(tmp_path / "b.docx", rows)
    said = (
        "found 'Variable', 'Label', 'Coding & Labels', as a list of variables has – if it is a codebook, pass"
    )
    with pytest.raises(CodebookError, match=said):
        Codebook.read(path)
    assert read(path, columns={"Variable": "label", "Label": "definition"})[0].codes == (
        Code(id="age", label="age", definition="Age in years"),
    )


def test_one_sheet_with_codes_is_found_and_one_of_two_is_asked_for(tmp_path: Path) -> None:
    book = Workbook()
    book.active.title = "Notes"
    book.active.append(["To do", "Who"])
    book.create_sheet("Codes").append(["Code", "Definition"])
    book["Codes"].append(["Warm", "Kind"])
    book.create_sheet("Broken").append(["=1/0"])
    book.save(tmp_path / "b.xlsx")
    assert read(tmp_path / "b.xlsx")[0].ids == ("warm",)
    book.copy_worksheet(book["Codes"]).title = "Old codes"
    book["Old codes"]["A2"] = "Cold"
    book.save(tmp_path / "b.xlsx")
    with pytest.raises(CodebookError, match="found 'Codes', 'Old codes' – pass sheet="):
        Codebook.read(tmp_path / "b.xlsx")
    assert read(tmp_path / "b.xlsx", sheet="Old codes")[0].ids == ("cold",)
    with pytest.raises(CodebookError, match="expected a sheet 'New' – found none"):
        Codebook.read(tmp_path / "b.xlsx", sheet="New")


def test_tables_of_a_document_have_numbers(tmp_path: Path) -> None:
    document = Document()
    for label in ("Warm", "Cold"):
        table = document.add_table(2, 2)
        for cell, text in zip(table._cells, ["Code", "Definition", label, "So"], strict=True):
            cell.text = text
    document.save(tmp_path / "b.docx")
    with pytest.raises(CodebookError, match="found 'table 1', 'table 2' – pass sheet="):
        Codebook.read(tmp_path / "b.docx")
    assert read(tmp_path / "b.docx", sheet="table 2")[0].ids == ("cold",)
    Document().save(tmp_path / "none.docx")
    with pytest.raises(
        CodebookError, match=r"expected a table with a row per code in 'none\.docx' – found none"
    ):
        Codebook.read(tmp_path / "none.docx")


def test_what_is_for_tables_is_refused_for_other_files(tmp_path: Path) -> None:
    with pytest.raises(CodebookError, match=r"expected no sheet for 'sense7.yaml', which is no table"):
        Codebook.read("sense7", sheet="Codes")


# Exports of other programs


def test_taguette_and_maxqda_and_atlas(tmp_path: Path) -> None:
    rows = [("tag", "description", "number of highlights"), ("warm", "Kind", "4"), ("cold", "", "0")]
    book, said = read(write_rows(tmp_path / "taguette.csv", rows))
    assert [(code.id, code.definition) for code in book] == [("warm", "Kind"), ("cold", "")]
    assert "Left out: 'number of highlights'." in said
    rows = [("Code", "Memo"), ("Tone", "How"), ("Tone > Warm", "Kind"), ("Facts > Price > High", "")]
    book, said = read(write_rows(tmp_path / "maxqda.xlsx", rows))
    assert tree(book) == [
        (0, "Tone", True),
        (1, "Warm", True),
        (0, "Facts", False),
        (1, "Price", False),
        (2, "High", True),
    ]
    rows = [
        ("Code", "", "", "Groundedness"),
        ("○ Tone", "", "", "3"),
        ("", "○ Warm", "", "2"),
        ("", "○ Cold", "", "1"),
        ("○ Facts", "", "", "0"),
    ]
    book, said = read(write_rows(tmp_path / "atlas.xlsx", rows, [(0, 0, 0, 2)]))
    assert tree(book) == [(0, "Tone", False), (1, "Warm", True), (1, "Cold", True), (0, "Facts", True)]
    assert said.endswith(
        "label from 'Code'; headings from 'Code'. Left out: 'Groundedness'. Ids were made from labels."
    )


def test_coded_segments_are_no_codebook(tmp_path: Path) -> None:
    rows = [("Document group", "Document name", "Code", "Segment"), ("a", "b", "Warm", "zqcanary")]
    path = write_rows(tmp_path / "b.xlsx", rows)
    with pytest.raises(
        CodebookError, match=r"found coded segments of MAXQDA – read it with codings\.read\.$"
    ):
        Codebook.read(path)
    assert read(path, columns={"Code": "label"})[0].ids == ("warm",)


# Trees


def test_merged_and_blank_cells_below_a_heading_belong_to_it(tmp_path: Path) -> None:
    rows = [
        ("Theme", "Description", "Subtheme", "Code", "Description"),
        ("Tone", "How it sounds", "Good", "Warm", "Kind"),
        ("", "", "", "Calm", "Calm"),
        ("", "", "Bad", "Cold", "Cold"),
        ("Facts", "What it says", "", "Price", "What it costs"),
        ("Length", "How long", "", "", ""),
    ]
    want = [
        (0, "Tone", False),
        (1, "Good", False),
        (2, "Warm", True),
        (2, "Calm", True),
        (1, "Bad", False),
        (2, "Cold", True),
        (0, "Facts", False),
        (1, "Price", True),
        (0, "Length", True),
    ]
    blank, said = read(write_rows(tmp_path / "b.csv", rows))
    assert tree(blank) == want
    assert [blank[each].definition for each in ("tone", "good", "warm", "length")] == [
        "How it sounds",
        "",
        "Kind",
        "How long",
    ]
    assert said.endswith("Blank cells below a heading that belong to it: 3.")
    for suffix in (".xlsx", ".docx"):
        merged, said = read(
            write_rows(tmp_path / f"b{suffix}", rows, [(1, 0, 3, 0), (1, 1, 3, 1), (1, 2, 2, 2)])
        )
        assert merged.codes == blank.codes
        assert "Blank cells" not in said


def test_a_row_merged_across_the_table_is_the_heading_of_the_rows_below(tmp_path: Path) -> None:
    rows = [
        ("Code", "Label", "Definition"),
        ("Layer 1", "", ""),
        ("A1", "Warm", "Kind"),
        ("Layer 2", "", ""),
        ("B1", "Cold", "Cold"),
    ]
    for suffix in (".xlsx", ".docx"):
        book, _ = read(write_rows(tmp_path / f"b{suffix}", rows, [(1, 0, 1, 2), (3, 0, 3, 2)]))
        assert tree(book) == [
            (0, "Layer 1", False),
            (1, "Warm", True),
            (0, "Layer 2", False),
            (1, "Cold", True),
        ]
        assert book.ids == ("layer-1", "A1", "layer-2", "B1")


def test_a_column_of_parents_names_ids_or_labels_and_else_headings(tmp_path: Path) -> None:
    rows = [
        ("ID", "Name", "Parent"),
        ("a", "Tone", ""),
        ("b", "Warm", "A"),
        ("c", "Cold", "tone"),
        ("d", "Price", "Facts"),
    ]
    book, _ = read(write_rows(tmp_path / "b.csv", rows))
    assert tree(book) == [
        (0, "Tone", True),
        (1, "Warm", True),
        (1, "Cold", True),
        (0, "Facts", False),
        (1, "Price", True),
    ]


def test_a_group_to_the_right_is_a_heading_too(tmp_path: Path) -> None:
    rows = [("Code", "Category", "Definition"), ("Warm", "Tone", "Kind"), ("Other", "", "The rest")]
    book, _ = read(write_rows(tmp_path / "b.csv", rows))
    assert tree(book) == [(0, "Tone", False), (1, "Warm", True), (0, "Other", True)]
    assert book["warm"].definition == "Kind"


def test_labels_are_paths_only_where_it_is_said(tmp_path: Path) -> None:
    path = write_rows(
        tmp_path / "b.csv", [("Code", "Definition"), ("Tone/Warm", "Kind"), ("UI > UX", "Looks")]
    )
    book, said = read(path)
    assert [code.label for code in book] == ["Tone/Warm", "UI > UX"]
    assert said.endswith("Names with >, \\ or :: in them: 1; if these are paths, pass split=…")
    book, said = read(path, split="/")
    assert tree(book) == [(0, "Tone", False), (1, "Warm", True), (0, "UI > UX", True)]


def test_rows_that_go_on_with_a_code_add_to_it(tmp_path: Path) -> None:
    rows = [
        ("Code", "Definition", "Example"),
        ("Warm", "Kind", "So kind"),
        ("", "", "Lovely"),
        ("Cold", "Cold", "Brr"),
        ("Warm", "", "Nice"),
    ]
    book, said = read(write_rows(tmp_path / "b.xlsx", rows))
    assert [(code.label, code.examples) for code in book] == [
        ("Warm", ("So kind", "Lovely", "Nice")),
        ("Cold", ("Brr",)),
    ]
    assert said.endswith("Rows that name a code again, joined with the first: 1.")


# Any table

LABELS = ("Code", "Codes", "Name", "Tag", "Code name", "LABEL")
DEFINITIONS = (
    "Definition",
    "Description",
    "Description for coders",
    "Operational definition",
    "Memo",
    "Meaning",
)
EXAMPLES = ("Example", "Example quote", "Quotes", "Typical exemplars")
USE = ("When to use", "Include", "Inclusion criteria", "Use when", "Coding rules")
AVOID = ("When not to use", "Exclude", "Do not code", "Exclusion criteria")
HEADINGS = (("Theme", "Category"), ("Category", "Sub-category"), ("Topic", "Subtopic"))
OTHERS = ("Frequency", "Coder", "n", "Date")
word = st.text(st.sampled_from("abcdefghij äé😀"), min_size=1, max_size=12).map(str.strip).filter(bool)
label = word.map(lambda text: f"L{' '.join(text.split())}")


@st.composite
def code_tables(draw: st.DrawFn) -> tuple[list[list[str]], list[list[str]], dict[str, dict[str, str]]]:
    """A header, a row per code with all headings named, and the texts of each column by its field."""
    depth = draw(st.integers(0, 2))
    headings = list(draw(st.sampled_from(HEADINGS))[:depth])
    fields = {
        "definition": DEFINITIONS,
        "examples": EXAMPLES,
        "use_when": USE,
        "avoid_when": AVOID,
        "": OTHERS,
    }
    kept = draw(st.lists(st.sampled_from(sorted(fields)), unique=True))
    columns = [(field, draw(st.sampled_from(fields[field]))) for field in kept]
    paths = draw(st.lists(st.tuples(*[label] * (depth + 1)), min_size=1, max_size=6, unique=True))
    header = [*headings, draw(st.sampled_from(LABELS)), *(name for _, name in columns)]
    rows = [[*path, *(draw(word) for _ in columns)] for path in sorted(paths)]
    return [header], rows, {name: field for field, name in columns}


def expected(rows: list[list[str]], depth: int, header: list[str], fields: dict[str, str]) -> list[Any]:
    """Return the path, and the texts by field, of each code, as somebody reads them off the table."""
    return [
        (tuple(row[: depth + 1]), {fields[n]: c for n, c in zip(header, row, strict=True) if fields.get(n)})
        for row in rows
    ]


def found(book: Codebook) -> list[Any]:
    by_id = {code.id: code for code in book}

    def path(code: Code) -> tuple[str, ...]:
        return (*path(by_id[code.parent]), code.label) if code.parent else (code.label,)

    texts = [
        {
            "definition": code.definition,
            "examples": "\n".join(code.examples),
            "use_when": "\n".join(code.use_when),
            "avoid_when": "\n".join(code.avoid_when),
        }
        for code in book.codable
    ]
    return [
        (path(code), {n: t for n, t in each.items() if t})
        for code, each in zip(book.codable, texts, strict=True)
    ]


@pytest.mark.parametrize("form", ["merged.xlsx", "merged.docx", "blank.csv", "full.csv", "path.csv"])
@settings(max_examples=25, deadline=None)
@given(table=code_tables())
def test_any_table_gives_its_labels_texts_and_tree(form: str, table: Any) -> None:
    (header,), rows, fields = table
    depth = next(at for at, name in enumerate(header) if name in LABELS)
    how, suffix = form.split(".")
    split: dict[str, str] = {}
    merged = []
    written = [list(row) for row in rows]
    if how == "path":
        split = {"split": "::"}
        written = [["::".join(row[: depth + 1]), *row[depth + 1 :]] for row in rows]
    elif how != "full":
        for column in range(depth):
            start = 0
            for at in range(1, len(rows) + 1):
                if at == len(rows) or rows[at][: column + 1] != rows[start][: column + 1]:
                    merged += [(start + 1, column, at, column)] if at - start > 1 else []
                    for again in range(start + 1, at):
                        written[again][column] = ""
                    start = at
    names = header[depth:] if how == "path" else header
    with tempfile.TemporaryDirectory() as folder:
        path = write_rows(Path(folder) / f"b.{suffix}", [names, *written], merged if how == "merged" else ())
        book, said = read(path, **split)
    assert found(book) == expected(rows, depth, header, fields)
    assert all(re.fullmatch("[A-Za-z][A-Za-z0-9_.-]{0,63}", one) for one in book.ids)
    for name in names:
        assert repr(name) in said
    assert ("Left out" in said) == ("" in fields.values())


# Hostile documents


def with_document(path: Path, change: Callable[[bytes], bytes]) -> Path:
    """Write a document of one table, its XML changed."""
    write_rows(path, [("Code", "Definition"), ("Warm", "Kind")])
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members["word/document.xml"] = change(members["word/document.xml"])
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def _entity(xml: bytes) -> bytes:
    head, declared, rest = xml.partition(b"?>")
    return head + declared + b'<!DOCTYPE a [<!ENTITY x "yyyy">]>' + rest.replace(b"Warm", b"&x;")


def _in_cell(inner: bytes) -> Callable[[bytes], bytes]:
    return lambda xml: re.sub(rb"<w:tcPr>(?=.{0,200}Warm)", b"<w:tcPr>" + inner, xml, count=1, flags=re.S)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_entity, "XML that declares entities"),
        (lambda xml: xml.replace(b"Warm", b"<w:r>" * 100 + b"</w:r>" * 100), "levels of XML"),
        (lambda xml: xml.replace(b"Warm", b"W" * 2_000_000), "characters outside the cells"),
        (lambda xml: xml.replace(b"<w:tbl>", b"<w:tbl><w:tr/>" + b"<w:tr/>" * 400_000), "XML elements"),
        (_in_cell(b'<w:gridSpan w:val="2000000000"/>'), "cells of tables"),
        (_in_cell(b'<w:gridSpan w:val="x"/>'), "found a damaged one"),
        (lambda xml: xml[: len(xml) // 2], "found a damaged one"),
    ],
)
def test_a_hostile_document_is_refused_within_limits(tmp_path: Path, change: Any, said: str) -> None:
    path = with_document(tmp_path / "b.docx", change)
    began = time.monotonic()
    with pytest.raises(CodebookError, match=said) as caught:
        Codebook.read(path)
    assert time.monotonic() - began < 20
    assert "Warm" not in str(caught.value)
    assert "limits=" not in str(caught.value)


def test_a_bomb_and_what_is_no_document_are_refused(tmp_path: Path) -> None:
    path = with_document(tmp_path / "b.docx", lambda xml: xml + b" " * 300_000_000)
    assert path.stat().st_size < 1_000_000
    with pytest.raises(CodebookError, match="when it is unpacked"):
        Codebook.read(path)
    for content, said in ((b"x", "found something else"), (b"\xd0\xcf\x11\xe0", "found an old .doc file")):
        path.write_bytes(content)
        with pytest.raises(CodebookError, match=f"expected a .docx Word document – {said}"):
            Codebook.read(path)


def test_cells_merged_down_a_long_table_take_no_quadratic_time(tmp_path: Path) -> None:
    xml = b"<w:tr><w:tc><w:tcPr><w:vMerge%b/></w:tcPr><w:p><w:r><w:t>%b</w:t></w:r></w:p></w:tc>"
    cell = b"<w:tc><w:p><w:r><w:t>C%d</w:t></w:r></w:p></w:tc></w:tr>"
    rows = [
        xml % (b' w:val="restart"', b"Tone") + cell % 0,
        *(xml % (b"", b"") + cell % n for n in range(1, 3_000)),
    ]

    def long(document: bytes) -> bytes:
        table = document.index(b"<w:tbl>")
        first = document.index(b"<w:tr>", table)
        document = document.replace(b"Definition", b"Code").replace(b">Code<", b">Theme<", 1)
        end = document.rindex(b"</w:tbl>")
        second = document.index(b"</w:tr>", first) + len(b"</w:tr>")
        return document[:second] + b"".join(rows) + document[end:]

    began = time.monotonic()
    book, _ = read(with_document(tmp_path / "b.docx", long))
    assert (len(book.codable), {code.parent for code in book.codable}) == (3_000, {"tone"})
    assert time.monotonic() - began < 20


def test_no_cell_is_in_an_error_or_a_warning(tmp_path: Path) -> None:
    words = "zqcanary brother left me"
    rows = [("Code", "Definition", "Example", "Other"), ("Warm", words, words, words)]
    _, said = read(write_rows(tmp_path / "b.xlsx", rows))
    assert "zqcanary" not in said
    book = load_workbook(tmp_path / "b.xlsx")
    book.active["A1"] = "Variable"
    book.save(tmp_path / "b.xlsx")
    for how in ({}, {"columns": {"Codes": "label"}}, {"sheet": "x"}):
        with pytest.raises(CodebookError) as caught:
            Codebook.read(tmp_path / "b.xlsx", **how)
        assert "zqcanary" not in str(caught.value)
