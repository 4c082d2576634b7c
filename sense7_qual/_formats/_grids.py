"""The tables of a workbook, a Word document or a CSV, with the rows above the header and merged cells.

For readers that look for the header themselves.
"""

from __future__ import annotations

import io
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sense7_qual._formats._cells import written
from sense7_qual._formats._delimited import read_delimited
from sense7_qual._formats._harmless import BROKEN_ZIP, require_harmless
from sense7_qual._formats._xlsx import read_sheets
from sense7_qual._limits import Limits
from sense7_qual._messages import did_you_mean
from sense7_qual.errors import ImportRefused

if TYPE_CHECKING:
    from docx.table import Table

Rows = dict[int, list[str | None]]
Range = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True, repr=False)
class Grid:
    """A table of a file: cells merged downwards have their value in each row, across in the first column."""

    title: str
    """The name of its sheet, or "table 2" of a document."""
    counted: str
    """What its rows are numbered in: "line" or "row"."""
    rows: Mapping[int, Sequence[str | None]]
    """By number, without blank ones."""
    across: Mapping[tuple[int, int], int] = field(default_factory=dict)
    """How many columns a cell merged across covers, by row number and column."""


def read_grids(packed: bytes, name: str, sheet: str | None, limits: Limits) -> list[Grid | ImportRefused]:
    """Return each table of a workbook or a Word document, or why it cannot be read; `sheet` names one."""
    if name.casefold().endswith(".xlsx"):
        found = read_sheets(packed, sheet, name, limits)
    else:
        found = read_word_tables(packed, sheet, name, limits)
    return [
        each if isinstance(each, ImportRefused) else _grid(title, *each, name, limits)
        for title, each in found.items()
    ]


def _grid(title: str, rows: Rows, merged: Sequence[Range], name: str, limits: Limits) -> Grid:
    across: dict[tuple[int, int], int] = {}
    numbers, filled = sorted(rows), 0
    for column, first, last_column, last in merged:
        value = rows.get(first, [])[column - 1 : column]
        covered = numbers[bisect_left(numbers, first) : bisect_right(numbers, last)] if value else []
        filled += len(covered)
        limits.require("cells", filled, name=name, of="merged cells", remedy="split the table")
        for number in covered:
            rows[number] += [None] * (column - len(rows[number]))
            rows[number][column - 1] = value[0]
            across[number, column - 1] = last_column - column + 1
    return Grid(title, "row", rows, across)


def grid_of_text(text: str, name: str, limits: Limits) -> Grid:
    """Return the table that delimited text holds."""
    cells = read_delimited(text, None, 1, name, limits)
    columns = [[written(cell) for cell in column] for column in cells.columns]
    rows = dict(zip(cells.index, map(list, zip(*columns, strict=True)), strict=True)) if columns else {}
    return Grid(name, "line", {cells.top: list(cells.header), **rows} if cells.header else {})


# The tables of a Word document, a ZIP of XML that is looked through before it is opened


def read_word_tables(
    packed: bytes, table: str | None, name: str, limits: Limits
) -> dict[str, tuple[Rows, list[Range]] | ImportRefused]:
    """Return the filled rows of each table, by number, and its merged cells (column, row, to column, to row).

    Tables are called "table 1", "table 2" …; a table within a cell belongs to no row.
    """
    require_harmless(packed, limits=limits, name=name, kind="Word document")
    try:
        tables = {f"table {number}": each for number, each in enumerate(_tables(packed), start=1)}
        if table is not None and table not in tables:
            raise ImportRefused(f"{name}: expected a {table!r} – found none – {did_you_mean(table, tables)}")
        kept = tables if table is None else {table: tables[table]}
        return {title: _rows(each, name, limits) for title, each in kept.items()}
    except ImportRefused:  # a ValueError too, which says more
        raise
    except (*BROKEN_ZIP, SyntaxError, LookupError, TypeError, AttributeError):  # of python-docx, and of lxml
        raise ImportRefused(
            f"{name}: expected a Word document – found a damaged one – open it in Word or LibreOffice and "
            "save it again as .docx."
        ) from None


def _tables(packed: bytes) -> list[Table]:
    from docx import Document

    return list(Document(io.BytesIO(packed)).tables)


def _rows(table: Table, name: str, limits: Limits) -> tuple[Rows, list[Range]]:
    rows: Rows = {}
    merged: dict[tuple[int, int], Range] = {}  # by the first column and the last row so far
    read = 0
    for number, row in enumerate(table.rows, start=1):
        cells: list[str | None] = []
        for cell, span in [
            (None, row.grid_cols_before),
            *((each, each.grid_span) for each in row._tr.tc_lst),
        ]:
            read += span
            limits.require("cells", read, name=name, of="cells of tables", remedy="split the table")
            column, last = len(cells) + 1, len(cells) + span
            cells += [_text(cell, table) or None, *[None] * (span - 1)] if cell is not None else [None] * span
            above = merged.pop((column, number - 1), None) if _continues(cell) else None
            merged[column, number] = (column, above[1] if above else number, last, number)
        rows[number] = cells
    places = [place for place in merged.values() if place[:2] != place[2:]]
    held = {number for _, first, _, last in places for number in range(first, last + 1)}
    return {number: cells for number, cells in rows.items() if any(cells) or number in held}, places


def _continues(cell: Any) -> bool:
    return cell is not None and cell.vMerge == "continue"


def _text(cell: Any, table: Table) -> str:
    from docx.table import _Cell

    return str(_Cell(cell, table).text).strip()
