"""The cells of a file, and a frame of strings made of them.

Every format gives `Cells`, and everything ends in a frame of strings (`frame_of`): a cell is what was
written, or missing; the index says where the row is in its file. Errors name rows, cells and columns, never
what a cell holds.
"""

from __future__ import annotations

import datetime as dt
import decimal
import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pandas as pd

from sense7_qual._limits import Limits
from sense7_qual._messages import first_three, places, shown
from sense7_qual.errors import ImportRefused

_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")


@dataclass(frozen=True, slots=True, repr=False)
class Cells:
    """The cells of a file or a frame as they were found, column by column."""

    header: Sequence[str]
    """The first row, which names the columns; "" where it is blank."""
    columns: Sequence[Sequence[object]]
    """The cells of each column below the header."""
    index: pd.Index[Any]
    """Where each row is in the file; its name says what is counted."""
    name: str
    """The file's name, for errors."""
    top: int = 0
    """Where the header is in the file; 0 in a format that names its columns elsewhere."""
    merged: Mapping[int, Mapping[str, tuple[int, int]]] = field(default_factory=dict)
    """By the position of a column the cells merged down it, such as "A2:A4", with their first and last row;
    each row has their value."""
    across: Mapping[int, str] = field(default_factory=dict)
    """By row the cells that are merged across columns, of which the first alone has the value."""


def cells_of(frame: pd.DataFrame) -> Cells:
    """Return the cells of a DataFrame, its rows counted from 1."""
    columns = [list(frame.iloc[:, i].array) for i in range(frame.shape[1])]
    rows = pd.RangeIndex(1, len(frame) + 1, name="row")
    return Cells([str(label) for label in frame.columns], columns, rows, "the DataFrame")


def frame_of(cells: Cells, limits: Limits | None = None) -> pd.DataFrame:
    """Return each cell as a string exactly as written, or missing, under its column's name.

    Numbers become the shortest decimal, booleans TRUE and FALSE, dates ISO 8601, lists and dictionaries
    compact JSON; None, NaN, NaT and NA are missing.

    Examples
    --------
    >>> frame = pd.DataFrame({"id": [7, 8], "stars": [4.0, None], "said": ["None", " NA"]})
    >>> frame_of(cells_of(frame)).loc[2].tolist()
    ['8', <NA>, ' NA']
    """
    header, columns, index, name = cells.header, cells.columns, cells.index, cells.name
    if limits is not None:
        remedy = "keep the columns that you need"
        limits.require("columns", len(header), name=name, of="columns", remedy=remedy)
    _refuse_header(cells)
    _refuse_merged(cells)
    named = [(label, cells) for label, cells in zip(header, columns, strict=True) if label]
    typed = {label: _column(label, cells, index, name) for label, cells in named}
    if limits is not None:
        _refuse_long(typed, index, name, limits)
    return pd.DataFrame(typed, index=index, dtype="string")


def require_size(rows: int, cells: int, name: str, limits: Limits) -> None:
    """Raise `ImportRefused` if a file has more rows or cells than the limits allow."""
    limits.require("rows", rows, name=name, of="rows", remedy="split the file")
    limits.require("cells", cells, name=name, of="cells", remedy="split the file, or keep fewer columns")


def _refuse_long(
    columns: dict[str, list[str | None]], index: pd.Index[Any], name: str, limits: Limits
) -> None:
    for label, cells in columns.items():
        row, longest = max(enumerate(len(cell or "") for cell in cells), key=lambda at: at[1], default=(0, 0))
        if longest > limits.cell_characters:
            of = f"characters in a cell of column {shown(label)!r} ({places(index[[row]])})"
            limits.require("cell_characters", longest, name=name, of=of, remedy="shorten the text")


def _refuse_header(cells: Cells) -> None:
    header, name = cells.header, cells.name
    nameless: dict[int, list[int]] = {}
    for number, (label, column) in enumerate(zip(header, cells.columns, strict=True), start=1):
        filled = [] if label else [row for row, cell in enumerate(column) if cell is not None and cell != ""]
        if filled:
            nameless[number] = filled
    if nameless:
        where = places(cells.index[next(iter(nameless.values()))])
        raise ImportRefused(
            f"{name}: expected a name for every column – found none for column {first_three(nameless)}, "
            f"which is filled in {where} – write one into the header, empty the cells, or say where the "
            "names are, such as header=3."
        )
    twice = [label for label, times in Counter(header).items() if label and times > 1]
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


def _refuse_merged(cells: Cells) -> None:
    """Refuse cells merged across columns, or from the header down into the table."""
    refused = [place for row, place in cells.across.items() if row >= cells.top]
    for ranges in cells.merged.values():
        refused += [place for place, (first, last) in ranges.items() if first <= cells.top <= last]
    if refused:
        raise ImportRefused(
            f"{cells.name}: expected a value in each cell – found cells merged in {first_three(refused)}, "
            "which hold one value for several – unmerge them, and fill each."
        )


def _column(label: str, cells: Sequence[object], index: pd.Index[Any], name: str) -> list[str | None]:
    texts: list[str | None] = []
    for row, cell in enumerate(cells):
        try:
            texts.append(written(cell))
        except (TypeError, ValueError, RecursionError):
            # The original error may quote the cell.
            raise ImportRefused(
                f"{name}: expected text, numbers, dates or lists in column {shown(label)!r} – found "
                f"{type(cell).__name__} in {places(index[[row]])} – convert the column, or leave it out."
            ) from None
    bad = [row for row, text in enumerate(texts) if text is not None and _UNSTORABLE.search(text)]
    if bad:
        raise ImportRefused(
            f"{name}: expected valid text in column {shown(label)!r} – found NUL or half of a surrogate pair "
            f"in {places(index[bad])} – correct these cells; nothing is replaced or left out."
        )
    return texts


def written(value: object) -> str | None:
    """Return a cell as it is written, or None where it is missing."""
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


def text_of(cell: object) -> str:
    """Return the text of a cell without surrounding white space; "" if it is missing."""
    if isinstance(cell, str):
        return cell.strip()
    try:
        return written(cell) or ""
    except (TypeError, ValueError, RecursionError):  # refused where the frame is made
        return type(cell).__name__


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


# Is a cell a number, a date, a time, or a word?

# Digits, with the marks and letters that numbers, dates and times are written with.
_MEASURED: Final = re.compile(
    r"(?:[\W\d_]|(?<=\d)[TZ]|(?<=\d)e(?=[-+]?\d)|[ap]\.?m\b|UTC|GMT)+", re.IGNORECASE
)
_MISSING: Final = frozenset({"", "na", "n/a", "nan", "null", "none"})


def are_measured(column: Iterable[object], but: Collection[int] = ()) -> bool:
    """Return True if the filled cells, of which there are some, are numbers, dates or times."""
    texts = (text_of(cell) for at, cell in enumerate(column) if at not in but)
    filled = (text for text in texts if text.casefold() not in _MISSING)
    return next((is_measured(text) for text in filled), False) and all(map(is_measured, filled))


def is_measured(text: str) -> bool:
    """Return True for a number, a date or a time."""
    return any(map(str.isdecimal, text)) and _MEASURED.fullmatch(text) is not None


def is_word(text: str) -> bool:
    """Return True for a filled cell with a letter that is no number, date or time."""
    return text.casefold() not in _MISSING and any(map(str.isalpha, text)) and not is_measured(text)
