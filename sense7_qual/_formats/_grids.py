"""The tables of a workbook, a Word document or a CSV, with the rows above the header and merged cells.

For readers that look for the header themselves.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sense7_qual._formats._cells import written
from sense7_qual._formats._delimited import read_delimited
from sense7_qual._formats._docx import read_word_tables
from sense7_qual._formats._xlsx import read_sheets
from sense7_qual._limits import Limits
from sense7_qual.errors import ImportRefused

__all__ = ["Grid", "grid_of_text", "read_grids"]

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
