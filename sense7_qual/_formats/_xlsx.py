"""The cells of a sheet of an .xlsx workbook."""

from __future__ import annotations

import datetime as dt
import io
import re
import warnings
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import IO, TYPE_CHECKING, Any, Final
from xml.parsers import expat

import pandas as pd

from sense7_qual._formats._cells import Cells, text_of, written
from sense7_qual._formats._harmless import BROKEN_ZIP, require_harmless
from sense7_qual._limits import Limits
from sense7_qual._messages import did_you_mean, first_three, shown
from sense7_qual.errors import ImportRefused

if TYPE_CHECKING:
    from openpyxl.cell.cell import Cell
    from openpyxl.reader.excel import ExcelReader

_EXCEL_CELL_LIMIT: Final = 32_767
_EXCEL_DIGITS: Final = 15


def read_sheet(packed: bytes, sheet: str | None, name: str, limits: Limits) -> Cells:
    """Read one sheet of an .xlsx workbook, given as bytes.

    The first row that is not blank is the header; the index holds Excel's own row numbers. A workbook of
    several sheets is refused unless `sheet` names one.
    """
    merged = require_harmless(packed, limits=limits, name=name)
    with _damage_refused(name):
        cells, part = _sheet_cells(packed, sheet, name, limits)
        down, across = _filled_down(merged.get(part, ()), cells, name, limits)
    if not cells:
        return Cells([], [], pd.RangeIndex(0, name="row"), name)
    return replace(_padded(cells, name, limits), merged=down, across=across)


def read_sheets(
    packed: bytes, sheet: str | None, name: str, limits: Limits
) -> dict[str, tuple[dict[int, list[str | None]], list[tuple[int, int, int, int]]] | ImportRefused]:
    """Return the filled rows of each sheet, by number, and its merged cells (column, row, to column, to row).

    A sheet that cannot be read has the reason in its place; `sheet` names the only one that is read.
    """
    from openpyxl.utils import range_boundaries

    merged = require_harmless(packed, limits=limits, name=name)
    with _damage_refused(name):
        book = _opened(packed, values=True).wb
        kept: list[Any] = list(book.worksheets) if sheet is None else [_sheet_named(book, sheet, name)]
        found: dict[str, Any] = {}
        for worksheet in kept:
            places = merged.get(worksheet._worksheet_path, ())
            try:
                cells, _ = _sheet_cells(packed, worksheet.title, name, limits)
                found[worksheet.title] = cells, [range_boundaries(place) for place in places]
            except ImportRefused as error:
                found[worksheet.title] = error
    return found


@contextmanager
def _damage_refused(name: str) -> Iterator[None]:
    from openpyxl.formula.tokenizer import TokenizerError
    from openpyxl.utils.exceptions import InvalidFileException

    # Both readers of XML that openpyxl uses have a SyntaxError of their own.
    broken = (InvalidFileException, TokenizerError, SyntaxError, expat.ExpatError, *BROKEN_ZIP)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # some quote a cell
            yield
    except ImportRefused:  # a ValueError too, which says more
        raise
    except (*broken, LookupError, TypeError, AttributeError, ArithmeticError):
        # openpyxl raises any of these on a damaged workbook, and some quote a cell.
        raise ImportRefused(
            f"{name}: expected an Excel workbook – found a damaged one – open it in Excel or LibreOffice and "
            "save it again."
        ) from None


def _padded(cells: dict[int, list[str | None]], name: str, limits: Limits) -> Cells:
    width = max(len(row) for row in cells.values())
    _require_cells(width * len(cells), name, limits)
    header, *rows = (row + [None] * (width - len(row)) for row in cells.values())
    columns = [[row[i] for row in rows] for i in range(width)]
    index = pd.Index(list(cells)[1:], name="row", dtype="int64")
    return Cells([label or "" for label in header], columns, index, name, top=next(iter(cells)))


def _require_cells(read: int, name: str, limits: Limits) -> None:
    remedy = "split the sheet, or delete the empty rows and columns around the data"
    limits.require("cells", read, name=name, of="cells, empty ones among them", remedy=remedy)


def _sheet_cells(
    packed: bytes, sheet: str | None, name: str, limits: Limits
) -> tuple[dict[int, list[str | None]], str]:
    """Return the filled rows of a sheet by their number, and the part of the workbook that holds it."""
    cells: dict[int, list[str | None]] = {}
    refused: dict[str, list[str]] = {}
    unknown: list[str] = []
    characters = 0
    worksheet = _sheet_named(_opened(packed, values=True).wb, sheet, name)
    for number, row in _rows(worksheet, name, limits):
        texts = []
        for cell in row:
            text, reason = _sheet_cell(cell)
            texts.append(text)
            characters += len(text or "")
            if reason:
                refused.setdefault(reason, []).append(cell.coordinate)
            # EMPTY_CELL has no coordinate; a cell that is there and has no value may hide a formula.
            elif cell.value is None and cell.data_type == "n" and hasattr(cell, "coordinate"):
                unknown.append(cell.coordinate)
        # Many cells may share one long string, which takes no room until each is written out.
        _require_characters(characters, len(packed), name, limits)
        if any(map(text_of, texts)):
            cells[number] = texts
    if unknown:
        refused |= _formulas_without_value(packed, sheet, name, limits, frozenset(unknown))
    _refuse_cells(refused, name)
    return cells, worksheet._worksheet_path


def _filled_down(
    merged: Sequence[str], cells: dict[int, list[str | None]], name: str, limits: Limits
) -> tuple[dict[int, dict[str, tuple[int, int]]], dict[int, str]]:
    """Give each row the value of the cells that are merged down one column, as the sheet shows it.

    Return these ranges with their rows by the position of their column, and by row those across columns.
    """
    from openpyxl.utils import range_boundaries

    down: dict[int, dict[str, tuple[int, int]]] = {}
    across: dict[int, str] = {}
    numbers, filled = list(cells), 0
    for place in merged:
        column, row, last_column, last = (number or 1 for number in range_boundaries(place))
        value = next(iter(cells.get(row, [])[column - 1 : column]), None)
        if value and column < last_column:
            across[row] = place
        elif value and row < last:
            down.setdefault(column - 1, {})[place] = (row, last)
            below = numbers[bisect_right(numbers, row) : bisect_right(numbers, last)]
            filled += len(below)
            _require_cells(filled, name, limits)
            for number in below:
                cells[number] += [None] * (column - len(cells[number]))
                cells[number][column - 1] = value
    return down, across


def _require_characters(characters: int, packed: int, name: str, limits: Limits) -> None:
    allowed = limits.unpacked(packed)
    setting = "unpacked_bytes" if allowed == limits.unpacked_bytes else "expansion"
    of = f"characters of text in a workbook of {packed:,} bytes"
    limits.require(setting, characters, name=name, of=of, remedy="save the sheet as CSV", allowed=allowed)


def _refuse_cells(refused: dict[str, list[str]], name: str) -> None:
    if refused:
        reasons = "; ".join(f"{reason} in {first_three(where)}" for reason, where in refused.items())
        raise ImportRefused(
            f"{name}: expected values in every cell – found {reasons} – correct the cells (a formula gets "
            "its value when Excel or LibreOffice saves the file)."
        )


def _formulas_without_value(
    packed: bytes, sheet: str | None, name: str, limits: Limits, unknown: frozenset[str]
) -> dict[str, list[str]]:
    worksheet = _sheet_named(_opened(packed, values=False).wb, sheet, name)
    rows = _rows(worksheet, name, limits)
    formulas = [
        c.coordinate for _, row in rows for c in row if c.data_type == "f" and c.coordinate in unknown
    ]
    return {"a formula without its value": formulas} if formulas else {}


def _opened(packed: bytes, *, values: bool) -> ExcelReader:
    """Open the workbook with openpyxl, which gets the shared strings as they are spelled."""
    from openpyxl.reader.excel import ExcelReader

    class Reader(ExcelReader):
        def read_strings(self) -> None:
            if part := _strings_part(self):
                with self.archive.open(part) as file:
                    self.shared_strings = _Strings(shared_strings(file))

    reader = Reader(io.BytesIO(packed), read_only=True, data_only=values, keep_links=False)
    reader.read()
    return reader


class _Strings(list[str]):
    """Shared strings, of which the one before the first is not the last."""

    def __getitem__(self, number: Any) -> Any:
        if number < 0:
            raise IndexError
        return super().__getitem__(number)


def _strings_part(reader: ExcelReader) -> str | None:
    from openpyxl.xml.constants import SHARED_STRINGS

    part = reader.package.find(SHARED_STRINGS)  # type: ignore[no-untyped-call]
    return None if part is None else str(part.PartName)[1:]


def _rows(worksheet: Any, name: str, limits: Limits) -> Iterator[tuple[int, tuple[Cell, ...]]]:
    """Yield the rows of the sheet that hold cells, with Excel's row numbers."""
    # The size that a file claims for its sheet is often wrong, and then columns would be lost.
    worksheet.reset_dimensions()
    read = 0
    for number, row in enumerate(worksheet.iter_rows(), start=1):
        read += max(len(row), 1)
        _require_cells(read, name, limits)
        if row:
            yield number, row


def _sheet_named(book: Any, sheet: str | None, name: str) -> Any:
    titles = [worksheet.title for worksheet in book.worksheets]
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
            f"{name}: expected a workbook with a sheet – found none – save it again in Excel, as 'Excel "
            "Workbook (.xlsx)' and not as 'Strict Open XML'."
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
        text = unescaped(value)
        if _EXCEL_CELL_LIMIT in (len(text), len(text.encode("utf-16-le", "surrogatepass")) // 2):
            return None, f"text of exactly {_EXCEL_CELL_LIMIT:,} characters, where Excel cuts it off,"
        return text or None, None
    if isinstance(value, int | float) and abs(value) >= 10**_EXCEL_DIGITS:
        return None, f"a number of more than {_EXCEL_DIGITS} digits, which Excel rounds,"
    if isinstance(value, dt.datetime) and _is_date_only(cell.number_format):
        return (value.date() if value.time() == dt.time() else value).isoformat(), None
    return written(value), None


def _is_date_only(number_format: str) -> bool:
    from openpyxl.styles.numbers import is_datetime

    return is_datetime(number_format) == "date"


_MAIN: Final = "http://schemas.openxmlformats.org/spreadsheetml/2006/main "
_STRING, _TEXT, _PHONETIC = (_MAIN + name for name in ("si", "t", "rPh"))
_ESCAPE: Final = re.compile("_x([0-9A-Fa-f]{4})_")
_PAIR: Final = re.compile("[\ud800-\udbff][\udc00-\udfff]")  # the halves of a surrogate pair, each escaped


def unescaped(text: str) -> str:
    """Return a text of a workbook with its escapes undone, as Excel shows it.

    >>> unescaped("one_x000D_two, and the name _x005F_x000D_ itself")
    'one\\rtwo, and the name _x000D_ itself'
    """
    if "_x" not in text:
        return text
    return _PAIR.sub(_joined, _ESCAPE.sub(lambda escape: chr(int(escape[1], 16)), text))


def _joined(pair: re.Match[str]) -> str:
    return pair[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le")


def shared_strings(file: IO[bytes]) -> list[str]:
    """Return the shared strings of a workbook in order, their runs joined, their escapes as they are."""
    reader = _Reader()
    reader.parser.ParseFile(file)
    return reader.strings


class _Reader:
    """Collects the text of each string, without its phonetic reading."""

    def __init__(self) -> None:
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.StartElementHandler, self.parser.EndElementHandler = self._start, self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.buffer_text = True
        self.strings: list[str] = []
        self._runs: list[str] | None = None
        self._taken = self._silent = False

    def _start(self, tag: str, _: dict[str, str]) -> None:
        if tag == _STRING:
            self._runs = []
        elif tag == _PHONETIC:
            self._silent = True
        elif tag == _TEXT:
            self._taken = not self._silent

    def _end(self, tag: str) -> None:
        if tag == _STRING and self._runs is not None:
            self.strings.append("".join(self._runs))
            self._runs = None
        elif tag == _PHONETIC:
            self._silent = False
        elif tag == _TEXT:
            self._taken = False

    def _text(self, text: str) -> None:
        if self._taken and self._runs is not None:
            self._runs.append(text)
