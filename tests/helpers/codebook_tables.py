"""Codebooks as people keep them in Excel, Word and CSV, written from rows with cells that may be merged."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from docx import Document
from openpyxl import Workbook

Row = Sequence[str]
Range = tuple[int, int, int, int]
"""First row, first column, last row, last column, from 0."""


def write_rows(
    path: Path, rows: Sequence[Row], merged: Sequence[Range] = (), *, delimiter: str = ","
) -> Path:
    """Write a table as the suffix of `path` says; a CSV has no merged cells."""
    write = {".xlsx": _xlsx, ".docx": _docx}.get(path.suffix)
    if write:
        path.write_bytes(write(rows, merged))
    else:
        text = io.StringIO(newline="")
        csv.writer(text, delimiter=delimiter).writerows(rows)
        path.write_text(text.getvalue(), "utf-8", newline="")
    return path


def _xlsx(rows: Sequence[Row], merged: Sequence[Range]) -> bytes:
    book = Workbook()
    for row in rows:
        book.active.append([cell or None for cell in row])
    for first, left, last, right in merged:
        book.active.merge_cells(None, first + 1, left + 1, last + 1, right + 1)
    return _saved(book)


def _docx(rows: Sequence[Row], merged: Sequence[Range]) -> bytes:
    document = Document()
    document.add_paragraph("Our codebook, version 3")
    table = document.add_table(len(rows), len(rows[0]))
    for row, cells in zip(rows, table.rows, strict=True):
        for text, cell in zip(row, cells.cells, strict=True):
            cell.text = text
    for first, left, last, right in merged:
        text = rows[first][left]
        table.cell(first, left).merge(table.cell(last, right)).text = text
    return _saved(document)


def _saved(document: object) -> bytes:
    buffer = io.BytesIO()
    document.save(buffer)  # type: ignore[attr-defined]
    return buffer.getvalue()
