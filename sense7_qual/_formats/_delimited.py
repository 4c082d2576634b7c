"""The cells of a CSV or TSV file, none of them guessed."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from typing import Final

import pandas as pd

from sense7_qual._formats._cells import Cells, require_size
from sense7_qual._limits import Limits
from sense7_qual._messages import places
from sense7_qual.errors import ImportRefused

__all__ = ["read_delimited"]

_SEP: Final = re.compile(r'sep=([^"\r\n])(?:\r\n|\r|\n|$)')


def read_delimited(text: str, delimiter: str, name: str, limits: Limits) -> Cells:
    """Return the cells of delimited text, its rows counted in lines."""
    if "\x00" in text:
        line = text[: text.index("\x00")].count("\n") + 1
        raise ImportRefused(
            f"{name}: expected text – found a NUL character in line {line} – if the file was saved as "
            "UTF-16, "
            'name it: encoding="utf-16-le".'
        )
    first = 1
    if named := _SEP.match(text):  # as Excel writes and takes it: no row
        delimiter, text, first = named[1], text[named.end() :], 2
    lines: list[int] = []
    rows: list[list[str]] = []
    start, cells = first, 0
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        for row in reader:
            if row:  # a blank line; a row of blank cells is [''] or longer
                lines.append(start)
                rows.append(row)
                cells += len(row)
                require_size(len(rows) - 1, cells, name, limits)
            start = reader.line_num + first
    except csv.Error as error:
        raise ImportRefused(
            f"{name}: expected CSV with each quote doubled or closed – found in the row from line {start}: "
            f"{error} – correct the row; a cell of over {csv.field_size_limit():,} characters needs JSONL or "
            "Parquet."
        ) from None
    header = rows[0] if rows else []
    _refuse_other_delimiter(header, delimiter, name)
    _refuse_ragged(lines, rows, name)
    columns = [list(column) for column in zip(*rows, strict=True)]
    texts = [[cell or None for cell in column[1:]] for column in columns]
    return Cells(header, texts, pd.Index(lines[1:], name="line", dtype="int64"), name)


def _refuse_other_delimiter(header: Sequence[str], delimiter: str, name: str) -> None:
    others = [other for other in ",;\t" if other != delimiter and other in header[0]] if header else []
    if len(header) == 1 and others:
        raise ImportRefused(
            f"{name}: expected cells separated by {delimiter!r} – found one column with a header that holds "
            f"{others[0]!r} – save it as .csv with commas or as .tsv with tabs, or pass "
            f"pandas.read_csv(path, sep={others[0]!r}, dtype=str, keep_default_na=False)."
        )


def _refuse_ragged(lines: Sequence[int], rows: Sequence[Sequence[str]], name: str) -> None:
    ragged = [(line, len(row)) for line, row in zip(lines, rows, strict=True) if len(row) != len(rows[0])]
    if ragged:
        where = pd.Index([line for line, _ in ragged], name="line")
        raise ImportRefused(
            f"{name}: expected {len(rows[0])} cells in every row, as in the header – found {ragged[0][1]} in "
            f"line {ragged[0][0]}; other than {len(rows[0])} in {places(where)} – quote the cells that hold "
            "the delimiter, or fill the rows."
        )
