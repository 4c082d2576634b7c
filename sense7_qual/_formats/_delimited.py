"""The cells of a CSV or TSV file, none of them guessed.

The delimiter is the one that gives every row the same number of cells, whatever the file's suffix.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import pandas as pd

from sense7_qual._formats._cells import Cells, require_size
from sense7_qual._limits import Limits
from sense7_qual._messages import places
from sense7_qual.errors import ImportRefused, TableError

_DELIMITERS: Final = {",": "comma", ";": "semicolon", "\t": "tab"}
_DECISIONS_OF_MTURK: Final = ["Approve", "Reject"]
_SEP: Final = re.compile(r'sep=([^"\r\n])(?:\r\n|\r|\n|$)')
_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|$)")


@dataclass(slots=True)
class _Parted:
    """The rows of a text under one delimiter."""

    delimiter: str
    lines: list[int] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    problem: str = ""
    """What `csv` says of the row that begins in the last of `lines`."""

    @property
    def width(self) -> int:
        return len(self.rows[0]) if self.rows else 0

    @property
    def widths(self) -> list[int]:
        return sorted({len(row) for row in self.rows}) or [0]

    @property
    def odd(self) -> list[int]:
        """The lines of the rows whose number of cells is not that of the first."""
        return [line for line, row in zip(self.lines, self.rows, strict=False) if len(row) != self.width]

    @property
    def is_sound(self) -> bool:
        """Whether all could be read, and each row has as many cells."""
        return not self.problem and not self.odd


def read_delimited(text: str, delimiter: str | None, top: int, name: str, limits: Limits) -> Cells:
    """Return the cells of delimited text, its rows counted in lines, from line `top` on."""
    if "\x00" in text:
        line = text[: text.index("\x00")].count("\n") + 1
        raise ImportRefused(
            f"{name}: expected text – found a NUL character in line {line} – if the file was saved as "
            "UTF-16, "
            'name it: encoding="utf-16-le".'
        )
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
        raise TableError(f'expected a delimiter of one character – found {delimiter!r} – pass delimiter=";".')
    first = 1
    if named := _SEP.match(text):  # as Excel writes and takes it: no row
        delimiter, text, first = delimiter or named[1], text[named.end() :], 2
    while first < top and text:
        text, first = _LINE.sub("", text, count=1), first + 1
    found = _parted(text, delimiter, first, name, limits)
    columns = [list(column) for column in zip(*found.rows, strict=True)]
    texts = [[cell or None for cell in column[1:]] for column in columns]
    index = pd.Index(found.lines[1:], name="line", dtype="int64")
    header = found.rows[0] if found.rows else []
    return Cells(header, texts, index, name, top=found.lines[0] if found.lines else 1)


def _parted(text: str, delimiter: str | None, first: int, name: str, limits: Limits) -> _Parted:
    """Return the rows under the delimiter named, or under the only one that gives each row as many cells."""
    tried = [delimiter] if delimiter else _DELIMITERS
    if not delimiter:
        begun = [_rows_of(text, each, first, name, limits, to_the_end=False) for each in tried]
        fits = [parted for parted in begun if parted.width > 1 and parted.is_sound]
        if len(fits) == 1:
            return fits[0]
    parts = [_rows_of(text, each, first, name, limits, to_the_end=True) for each in tried]
    if all(parted.is_sound and (parted.width < 2 or delimiter) for parted in parts):
        return parts[0]  # one column, or nothing, or as it was named
    # One cell in every row is no sign of a delimiter: what is wrong under another one says more.
    telling = [parted for parted in parts if parted.width > 1 or not parted.is_sound]
    widest = max(telling, key=lambda parted: (parted.width, bool(parted.problem), bool(parted.odd)))
    if widest.problem:
        raise ImportRefused(
            f"{name}: expected CSV with each quote doubled or closed – found in the row from line "
            f"{widest.lines[-1]}: {widest.problem} – correct the row; a cell of over "
            f"{csv.field_size_limit():,} characters needs JSONL or Parquet."
        )
    raise ImportRefused(_ragged(widest, name) if delimiter else _undecided(parts, widest, name))


def _rows_of(
    text: str, delimiter: str, first: int, name: str, limits: Limits, *, to_the_end: bool
) -> _Parted:
    """Return the rows that are not blank, `to_the_end` or up to the first that shows another delimiter."""
    parted, start, cells = _Parted(delimiter), first, 0
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        for row in reader:
            if any(map(str.strip, row)):
                parted.lines.append(start)
                parted.rows.append(row)
                if len(parted.rows) == 2 and parted.rows[0][len(row) :] == _DECISIONS_OF_MTURK:
                    parted.rows[0] = parted.rows[0][: len(row)]  # columns for an upload, which no row has
                cells += len(row)
                require_size(len(parted.rows) - 1, cells, name, limits)
                if not to_the_end and not 1 < len(row) == parted.width:
                    break
            start = reader.line_num + first
    except csv.Error as error:
        parted.lines.append(start)
        parted.problem = str(error)
    return parted


def _undecided(parts: Sequence[_Parted], widest: _Parted, name: str) -> str:
    fits = [parted for parted in parts if parted.width > 1 and not parted.problem and not parted.odd]
    counts = ", ".join(_counted(parted) for parted in fits or parts)
    odd = "" if fits else f"; first odd line {widest.odd[0]}"
    return (
        f"{name}: expected one delimiter (comma, semicolon or tab) that gives every row the same number of "
        f"cells – found {len(fits) or 'none'} ({counts}{odd}) – quote the cells that contain it, pass "
        'delimiter="…", or pass header=… if the table begins further down (sense7-qual new: --delimiter, '
        "--header)."
    )


def _counted(parted: _Parted) -> str:
    least, most = parted.widths[0], parted.widths[-1]
    return f"{_DELIMITERS[parted.delimiter]} {least if least == most else f'{least} to {most}'}" + (
        " cells" if most > 1 else ""
    )


def _ragged(parted: _Parted, name: str) -> str:
    line, where = parted.odd[0], places(pd.Index(parted.odd, name="line"))
    found = len(parted.rows[parted.lines.index(line)])
    return (
        f"{name}: expected as many cells in every row as in the header – found {found} in line {line}; other "
        f"than {parted.width} in {where} – quote the cells that hold the delimiter, fill the rows, or take "
        "out lines above the header."
    )
