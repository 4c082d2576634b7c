"""The texts of a workbook are what Excel shows, whichever way they are spelled."""

from __future__ import annotations

from pathlib import Path

import pytest

from sense7_qual._formats import read_strings
from sense7_qual.errors import ImportRefused
from tests.helpers.written_files import sheet_of, strings_of, workbook, write_xlsx


def workbook_of(path: Path, cell: str, *strings: str) -> Path:
    """Write a sheet of the column `said` that holds one cell, and the shared strings."""
    items = "".join(f"<si>{item}</si>" for item in strings)
    rows = f'<row r="1"><c t="inlineStr"><is><t>said</t></is></c></row><row r="2">{cell}</row>'
    return workbook(path, noise=1, sheet=sheet_of(rows.encode()), strings=strings_of(items.encode()))


@pytest.mark.parametrize(
    ("spelled", "said"),
    [
        ("one_x000D_\ntwo_x000b_three snake_x_case", "one\r\ntwo\x0bthree snake_x_case"),
        ("_x005F_x000D_ as typed", "_x000D_ as typed"),
        ("_x005f_x005F_x000D_", "_x005F\r"),
        ("_x005F_x005F_", "_x005F_"),
        ("x005F_ and _x5F_ are no escapes", "x005F_ and _x5F_ are no escapes"),
        # Excel undoes every escape of four digits, not those of control characters alone.
        ("_x0041_x0042_", "Ax0042_"),
        ("_xD83D__xDE00_", "😀"),
    ],
)
def test_the_escapes_of_a_workbook_are_undone_as_excel_does(tmp_path: Path, spelled: str, said: str) -> None:
    """Among the shared strings, where openpyxl removes x005F_ wherever it stands, as well as in the cell."""
    shared = workbook_of(tmp_path / "a.xlsx", '<c t="s"><v>1</v></c>', "<t>no</t>", f"<t>{spelled}</t>")
    assert read_strings(shared)["said"].tolist() == [said]
    inline = workbook_of(tmp_path / "b.xlsx", f'<c t="inlineStr"><is><t>{spelled}</t></is></c>')
    assert read_strings(inline)["said"].tolist() == [said]
    formula = workbook_of(tmp_path / "c.xlsx", f'<c t="str"><f>A1</f><v>{spelled}</v></c>')
    assert read_strings(formula)["said"].tolist() == [said]
    # openpyxl writes what it is given, so that Excel shows the same as is read here.
    assert read_strings(write_xlsx(tmp_path / "d.xlsx", [["said"], [spelled]]))["said"].tolist() == [said]


def test_runs_are_joined_and_the_phonetic_reading_is_left_out(tmp_path: Path) -> None:
    runs = '<r><t xml:space="preserve">I </t></r><r><rPr><b/></rPr><t>felt_x00</t></r><r><t>0D_</t></r>'
    path = workbook_of(
        tmp_path / "a.xlsx", '<c t="s"><v>0</v></c>', f'{runs}<rPh sb="0" eb="1"><t>no</t></rPh>'
    )
    assert read_strings(path)["said"].tolist() == ["I felt\r"]


@pytest.mark.parametrize("spelled", ["_xD83D_", "_xDE00__xD83D_", "_x0000_"])
def test_half_a_pair_and_nul_in_escapes_are_refused(tmp_path: Path, spelled: str) -> None:
    path = workbook_of(tmp_path / "a.xlsx", '<c t="s"><v>0</v></c>', f"<t>{spelled}</t>")
    with pytest.raises(ImportRefused, match="found NUL or half of a surrogate pair in row 2"):
        read_strings(path)


@pytest.mark.parametrize("number", ["-1", "1", "x", ""])
def test_a_shared_string_that_is_not_there_is_none_of_the_others(tmp_path: Path, number: str) -> None:
    path = workbook_of(tmp_path / "a.xlsx", f'<c t="s"><v>{number}</v></c>', "<t>said by another</t>")
    if number:
        with pytest.raises(ImportRefused, match="found a damaged one"):
            read_strings(path)
    else:
        assert read_strings(path).empty
