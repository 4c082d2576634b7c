"""Typed cells as strings: DataFrames, the sheets of a workbook, Parquet.

Everything ends in a frame of strings (`frame_of`): a cell is what was written, or missing; the index says
where the row stands in its file. Errors name rows, cells and columns, never what a cell holds.
"""

from __future__ import annotations

import datetime as dt
import decimal
import io
import json
import re
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final
from xml.etree.ElementTree import ParseError

import numpy as np
import pandas as pd

from sense7_qual.errors import ImportRefused, did_you_mean, first_three

if TYPE_CHECKING:
    from openpyxl.cell.cell import Cell

__all__ = [
    "MAX_BYTES",
    "MAX_CELLS",
    "MAX_EXPANSION",
    "frame_of",
    "places",
    "read_parquet",
    "read_sheet",
    "shown",
    "strings",
]

#: The largest file, or unpacked content of a file, that is read, in bytes.
MAX_BYTES: Final = 500_000_000
#: The most cells of a sheet or of a Parquet file that are read.
MAX_CELLS: Final = 5_000_000
#: How many times its packed size a member of a workbook above 1 MB may grow when it is unpacked.
MAX_EXPANSION: Final = 100

_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")
_EXCEL_CELL_LIMIT: Final = 32_767
# Excel writes control characters as _xHHHH_ (a pasted CR is _x000D_), which openpyxl leaves as it is.
_EXCEL_ESCAPE: Final = re.compile("_x(00[01][0-9A-Fa-f])_")


def shown(value: object, *, limit: int = 60) -> str:
    """Return `value` for use in an error, or its length alone where it may be somebody's text.

    >>> shown("PostTaskExperience_UseAgain"), shown("I felt that it did not listen", limit=20)
    ('PostTaskExperience_UseAgain', '(29 characters)')
    """
    written = str(value)
    short = len(written) <= limit and not re.search(r"[\r\n]", written)
    return written if short else f"({len(written)} characters)"


def places(index: pd.Index[Any]) -> str:
    """Name the first three places that `index` holds and say how many there are in all.

    >>> places(pd.Index([3, 5, 8, 9], name="line"))
    'lines 3, 5, 8 (4 in all)'
    """
    named = ", ".join(str(place) for place in index[:3])
    some = f"{index.name or 'row'}{'' if len(index) == 1 else 's'} {named}"
    return f"{some} ({len(index)} in all)" if len(index) > 3 else some


def strings(frame: pd.DataFrame, *, name: str = "the DataFrame") -> pd.DataFrame:
    """Return `frame` with each cell as a string exactly as written, or missing; rows counted from 1.

    Numbers become the shortest decimal, booleans TRUE and FALSE, dates ISO 8601, lists and dictionaries
    compact JSON; None, NaN, NaT and NA are missing.

    Raises
    ------
    ImportRefused
        A column has no name or the name of another, or a cell cannot be written or stored as text.

    Examples
    --------
    >>> strings(pd.DataFrame({"id": [7, 8], "stars": [4.0, None], "said": ["None", " NA"]})).loc[2].tolist()
    ['8', <NA>, ' NA']
    """
    columns = [list(frame.iloc[:, i].array) for i in range(frame.shape[1])]
    rows = pd.RangeIndex(1, len(frame) + 1, name="row")
    return frame_of([str(label) for label in frame.columns], columns, rows, name)


def frame_of(
    header: Sequence[str], columns: Sequence[Sequence[object]], index: pd.Index[Any], name: str
) -> pd.DataFrame:
    """Build a frame of strings from columns of cells, or refuse it; `name` is the file's, for errors."""
    _refuse_header(header, columns, name)
    named = [(label, cells) for label, cells in zip(header, columns, strict=True) if label]
    written = {label: _column(label, cells, index, name) for label, cells in named}
    return pd.DataFrame(written, index=index, dtype="string")


def _refuse_header(header: Sequence[str], columns: Sequence[Sequence[object]], name: str) -> None:
    nameless = [
        i + 1
        for i, label in enumerate(header)
        if not label and not all(cell is None or (isinstance(cell, str) and not cell) for cell in columns[i])
    ]
    if nameless:
        raise ImportRefused(
            f"{name}: expected a name for every column – found none for column {first_three(nameless)} – "
            "write one into the header."
        )
    twice = list(dict.fromkeys(label for label in header if label and list(header).count(label) > 1))
    if twice:
        raise ImportRefused(
            f"{name}: expected each column name once – found {first_three(map(shown, twice))} more than once "
            "– rename all but one."
        )
    if any(_UNSTORABLE.search(label) for label in header):
        raise ImportRefused(
            f"{name}: expected column names of valid text – found NUL or half of a surrogate pair – rename "
            "them."
        )


def _column(label: str, cells: Sequence[object], index: pd.Index[Any], name: str) -> list[str | None]:
    written: list[str | None] = []
    for row, cell in enumerate(cells):
        try:
            written.append(_written(cell))
        except (TypeError, ValueError):
            # The original error may quote the cell.
            raise ImportRefused(
                f"{name}: expected text, numbers, dates or lists in column {shown(label)!r} – found "
                f"{type(cell).__name__} in {places(index[[row]])} – convert the column, or leave it out."
            ) from None
    bad = [row for row, text in enumerate(written) if text is not None and _UNSTORABLE.search(text)]
    if bad:
        raise ImportRefused(
            f"{name}: expected valid text in column {shown(label)!r} – found NUL or half of a surrogate pair "
            f"in {places(index[bad])} – correct these cells; nothing is replaced or left out."
        )
    return written


def _written(value: object) -> str | None:
    if value is None or value is pd.NA or value is pd.NaT:
        return None
    match value:
        case str():
            return str(value)
        case bool() | np.bool_():
            return "TRUE" if value else "FALSE"
        case int() | np.integer():
            return str(int(value))
        case float() | np.floating():
            return _shortest(value)
        case dt.timedelta() | np.timedelta64():
            return None if pd.isna(value) else str(value)
        case dt.date() | dt.time():
            return value.isoformat()
        case decimal.Decimal():
            return None if value.is_nan() else str(value)
        case list() | tuple() | dict() | np.ndarray():
            return json.dumps(
                value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_plain
            )
    raise TypeError


def _shortest(value: float | np.floating[Any]) -> str | None:
    if np.isnan(value):
        return None
    # From 2**53 a double no longer holds every integer, and digits would be invented.
    whole = float(value).is_integer() and abs(float(value)) < 2**53
    # str of a float32 is its own shortest decimal: 5.667, not 5.666999816894531.
    return str(int(value)) if whole else str(value)


def _plain(value: object) -> object:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    raise TypeError


# Workbooks


def read_sheet(packed: bytes, sheet: str | None, name: str) -> pd.DataFrame:
    """Read one sheet of an .xlsx workbook, given as bytes, into a frame of strings.

    The first row that is not blank is the header; the index holds Excel's own row numbers. A workbook of
    several sheets is refused unless `sheet` names one.
    """
    from openpyxl.formula.tokenizer import TokenizerError
    from openpyxl.utils.exceptions import InvalidFileException

    _refuse_bomb(packed, name)
    broken = (InvalidFileException, TokenizerError, zipfile.BadZipFile, zlib.error, ParseError, EOFError)
    try:
        cells = _sheet_cells(packed, sheet, name)
    except (*broken, OSError, LookupError, ValueError, TypeError, AttributeError):
        # openpyxl raises any of these on a damaged workbook, and some quote a cell.
        raise ImportRefused(
            f"{name}: expected an Excel workbook – found a damaged one – open it in Excel or LibreOffice and "
            "save it again."
        ) from None
    if not cells:
        return frame_of([], [], pd.RangeIndex(0, name="row"), name)
    return _sheet_frame(cells, name)


def _sheet_frame(cells: dict[int, list[str | None]], name: str) -> pd.DataFrame:
    from openpyxl.utils import get_column_letter

    width = max(len(row) for row in cells.values())
    (_, header), *rows = cells.items()
    names = [label or "" for label in header] + [""] * (width - len(header))
    beyond = [
        f"{get_column_letter(i + 1)}{number}"
        for number, row in rows
        for i, cell in enumerate(row)
        if cell and not names[i]
    ]
    if beyond:
        raise ImportRefused(
            f"{name}: expected a name above every filled column – found none above cells "
            f"{first_three(beyond)} – write one into the header, or empty the cells."
        )
    padded = [row + [None] * (width - len(row)) for _, row in rows]
    columns = [[row[i] for row in padded] for i in range(width)]
    return frame_of(names, columns, pd.Index([number for number, _ in rows], name="row", dtype="int64"), name)


def _refuse_bomb(packed: bytes, name: str) -> None:
    try:
        with zipfile.ZipFile(io.BytesIO(packed)) as archive:
            members = archive.infolist()
    except (zipfile.BadZipFile, ValueError):
        locked = packed.startswith(b"\xd0\xcf\x11\xe0")
        found = "an old .xls file, or one with a password" if locked else "something else"
        raise ImportRefused(
            f"{name}: expected an .xlsx workbook – found {found} – save it as .xlsx without a password."
        ) from None
    # zipfile never unpacks more of a member than the size that it declares.
    unpacked = sum(member.file_size for member in members)
    steepest = max(
        (m.file_size / max(m.compress_size, 1) for m in members if m.file_size > 1_000_000), default=0
    )
    if unpacked > MAX_BYTES or steepest > MAX_EXPANSION:
        raise ImportRefused(
            f"{name}: expected a workbook that unpacks to at most {MAX_BYTES:,} bytes (MAX_BYTES) and no "
            f"part of it to {MAX_EXPANSION} times its packed size (MAX_EXPANSION) – found {unpacked:,} bytes "
            f"and {steepest:.0f} times – save the sheet as CSV or Parquet."
        )


def _sheet_cells(packed: bytes, sheet: str | None, name: str) -> dict[int, list[str | None]]:
    cells: dict[int, list[str | None]] = {}
    refused: dict[str, list[str]] = {}
    unknown: list[str] = []
    for number, row in _rows(packed, sheet, name, values=True):
        written = []
        for cell in row:
            text, reason = _sheet_cell(cell)
            written.append(text)
            if reason:
                refused.setdefault(reason, []).append(cell.coordinate)
            # EMPTY_CELL has no coordinate; a cell that is there and has no value may hide a formula.
            elif cell.value is None and cell.data_type == "n" and hasattr(cell, "coordinate"):
                unknown.append(cell.coordinate)
        if any(written):
            cells[number] = written
    if unknown:
        refused |= _formulas_without_value(packed, sheet, name, frozenset(unknown))
    _refuse_cells(refused, name)
    return cells


def _refuse_cells(refused: dict[str, list[str]], name: str) -> None:
    if refused:
        reasons = "; ".join(f"{reason} in {first_three(where)}" for reason, where in refused.items())
        raise ImportRefused(
            f"{name}: expected values in every cell – found {reasons} – correct the cells (a formula gets "
            "its value when Excel or LibreOffice saves the file)."
        )


def _formulas_without_value(
    packed: bytes, sheet: str | None, name: str, unknown: frozenset[str]
) -> dict[str, list[str]]:
    rows = _rows(packed, sheet, name, values=False)
    found = [c.coordinate for _, row in rows for c in row if c.data_type == "f" and c.coordinate in unknown]
    return {"a formula without its value": found} if found else {}


def _rows(
    packed: bytes, sheet: str | None, name: str, *, values: bool
) -> Iterator[tuple[int, tuple[Cell, ...]]]:
    """Yield the rows of the sheet that hold cells, with Excel's row numbers."""
    from openpyxl import load_workbook

    book = load_workbook(io.BytesIO(packed), read_only=True, data_only=values, keep_links=False)
    try:
        found = _sheet_named(book, sheet, name)
        # The size that a file claims for its sheet is often wrong, and then columns would be lost.
        found.reset_dimensions()
        read = 0
        for number, row in enumerate(found.iter_rows(), start=1):
            read += max(len(row), 1)
            if read > MAX_CELLS:
                raise ImportRefused(
                    f"{name}: expected at most {MAX_CELLS:,} cells (MAX_CELLS) – found more by row {number} "
                    "– split the sheet, or delete the empty rows and columns around the data."
                )
            if row:
                yield number, row
    finally:
        book.close()


def _sheet_named(book: Any, sheet: str | None, name: str) -> Any:
    titles = [found.title for found in book.worksheets]
    if sheet is None and len(titles) > 1:
        raise ImportRefused(
            f"{name}: expected one sheet, or the name of one – found {first_three(titles)} – pass sheet=…"
        )
    if sheet is not None and sheet not in titles:
        raise ImportRefused(
            f"{name}: expected a sheet {sheet!r} – found none – {did_you_mean(sheet, titles)}"
        )
    if not titles:
        raise ImportRefused(
            f"{name}: expected a workbook with a sheet – found none – save it again in Excel."
        )
    return book[sheet or titles[0]]


def _sheet_cell(cell: Cell) -> tuple[str | None, str | None]:
    """Return the text of a cell, or the reason why it is refused."""
    value = cell.value
    if value is None:
        return None, None
    if cell.data_type == "e":
        return None, f"the Excel error {shown(value, limit=15)}"
    if isinstance(value, str):
        if _EXCEL_CELL_LIMIT in (len(value), len(value.encode("utf-16-le", "surrogatepass")) // 2):
            return None, f"text of exactly {_EXCEL_CELL_LIMIT:,} characters, where Excel cuts it off,"
        return _EXCEL_ESCAPE.sub(lambda found: chr(int(found[1], 16)), value) or None, None
    if isinstance(value, dt.datetime) and _is_date_only(cell.number_format):
        return (value.date() if value.time() == dt.time() else value).isoformat(), None
    return _written(value), None


def _is_date_only(number_format: str) -> bool:
    from openpyxl.styles.numbers import is_datetime

    return is_datetime(number_format) == "date"


# Parquet


def read_parquet(packed: bytes, name: str) -> pd.DataFrame:
    """Read a Parquet file, given as bytes, into a frame of strings; rows are counted from 1."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(pa.BufferReader(packed))
        _refuse_large(file.metadata, name)
        table = file.read()
        columns = [_arrow_cells(column) for column in table.columns]
    except (pa.ArrowException, OSError, UnicodeError):
        # The original error may quote a cell.
        raise ImportRefused(
            f"{name}: expected a Parquet file – found a damaged one, or text in it that is not UTF-8 – write "
            "it again."
        ) from None
    return frame_of(table.column_names, columns, pd.RangeIndex(1, table.num_rows + 1, name="row"), name)


def _refuse_large(metadata: Any, name: str) -> None:
    cells = metadata.num_rows * metadata.num_columns
    size = sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
    if cells > MAX_CELLS or size > MAX_BYTES:
        raise ImportRefused(
            f"{name}: expected at most {MAX_CELLS:,} cells (MAX_CELLS) and {MAX_BYTES:,} bytes (MAX_BYTES) – "
            f"found {cells:,} cells and {size:,} bytes – split it, or keep fewer columns."
        )


def _arrow_cells(column: Any) -> list[object]:
    import pyarrow as pa

    if pa.types.is_float32(column.type) or pa.types.is_float16(column.type):
        # to_pylist would widen 5.667 to 5.666999816894531.
        return list(column.to_numpy())
    cells: list[object] = column.to_pylist()
    return cells
