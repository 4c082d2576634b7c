"""Where a table begins, and what its columns are called.

Above the names may be the rows of a title; below the table may be blank rows. Two columns may have one name.
What cannot be known is asked about: `header=` says in which line the names are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

import pandas as pd

from sense7_qual._formats._cells import Cells, are_measured, is_measured, text_of
from sense7_qual._messages import first_three
from sense7_qual.errors import ImportRefused, TableError

APART: Final = "read each part by itself, and put the units together (pandas.concat)."
TITLE: Final = "title"
QUESTIONS: Final = "questions"
_FEWEST_BELOW_A_TITLE: Final = 3  # columns: in two, a title is like a header that lacks a name


def header_lines(header: int | Sequence[int] | None) -> tuple[int, int | None] | None:
    """Return the lines of the names and, if it is given, of the questions that `header` says."""
    lines = [header] if isinstance(header, int) else header
    if lines is None:
        return None
    match list(lines):
        case [int(names)] if names > 0:
            return names, None
        case [int(names), int(questions)] if 0 < names < questions:
            return names, questions
    raise TableError(
        "expected header to be the line of the names, such as 1, or of the names and of the questions, such "
        f"as (1, 2) – found {header!r} – correct it."
    )


def without_blank_rows(cells: Cells) -> Cells:
    """Leave out the rows of which no cell holds more than white space."""
    blank = list(range(len(cells.index)))
    for column in cells.columns:
        blank = [at for at in blank if not text_of(column[at])]
        if not blank:
            return cells
    kept = sorted({*range(len(cells.index))} - {*blank})
    columns = [[column[at] for at in kept] for column in cells.columns]
    return replace(cells, columns=columns, index=cells.index[kept])


def without_row_numbers(cells: Cells) -> tuple[Cells, bool]:
    """Leave out a first column without a name that counts the rows, as R and pandas write one."""
    if not cells.header or cells.header[0] not in ("", "Unnamed: 0"):
        return cells, False
    numbers = [text_of(cell) for cell in cells.columns[0]]
    if not all(map(str.isdecimal, numbers)) or not all(int(a) < int(b) for a, b in pairwise(numbers)):
        return cells, False
    merged = {at - 1: places for at, places in cells.merged.items() if at}
    return replace(cells, header=cells.header[1:], columns=cells.columns[1:], merged=merged), True


def below_titles(cells: Cells, names_at: int | None) -> tuple[Cells, list[int]]:
    """Return the table without the rows above its names, and where these are.

    The names are in line `names_at`, or in the first row that names every column filled below it, if each row
    above has one filled cell.
    """
    if names_at is not None:
        at = names_at - 1 if not cells.top else (cells.top < names_at) + int((cells.index < names_at).sum())
        if at > (len(cells.index) if cells.top else 0):
            raise TableError(
                f"{cells.name}: expected names in line {names_at} – found no row there – correct header."
            )
        return _begun(cells, at)
    if not cells.top:
        return cells, []
    row, at = [name.strip() for name in cells.header], 0
    filled = [any(map(text_of, column)) for column in cells.columns]
    while sum(map(bool, row)) == 1 < _FEWEST_BELOW_A_TITLE <= sum(filled) and at < len(cells.index):
        row, at = [text_of(column[at]) for column in cells.columns], at + 1
        filled = [any(map(text_of, column[at:])) for column in cells.columns] if at else filled
    named = all(name or not below for name, below in zip(row, filled, strict=True))
    return _begun(cells, at) if named else (cells, [])


def _begun(cells: Cells, at: int) -> tuple[Cells, list[int]]:
    """Return the cells whose header is the row `at`, counted from the header as it was."""
    if not at:
        return cells, []
    places = [cells.top, *cells.index]
    header = [text_of(column[at - 1]) for column in cells.columns]
    columns = [column[at:] for column in cells.columns]
    begun = replace(cells, header=header, columns=columns, index=cells.index[at:], top=places[at])
    return begun, places[:at]


def refuse_headless(cells: Cells) -> None:
    """Refuse a table whose first line may be a response: it has numbers or dates above numbers or dates."""
    numbers = [
        at
        for at, (name, column) in enumerate(zip(cells.header, cells.columns, strict=True), start=1)
        if is_measured(name.strip()) and are_measured(column)
    ]
    if numbers:
        line = cells.top or 1
        raise ImportRefused(
            f"{cells.name}: expected names of columns in the first row – found numbers or dates above "
            f"numbers or dates in column {first_three(numbers)} – write a row of names above the table, or "
            f"pass header={line} if these are the names (sense7-qual new: --header {line})."
        )


def is_evident(table: pd.DataFrame) -> bool:
    """Return True if the names are certainly no response: words above numbers, or above repeated answers."""
    return any(
        (not is_measured(name) and are_measured(table[name])) or _all_repeat(name, table[name].dropna())
        for name in map(str, table.columns)
    )


def _all_repeat(name: str, answers: pd.Series) -> bool:
    times = answers.value_counts()
    return name not in times.index and len(times) > 0 and int(times.min()) > 1


def distinct_names(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the names, numbered where several columns have one, such as "Why? (2)"; and these names."""
    known, times = {*names}, Counter[str]()
    distinct: list[str] = []
    for name in names:
        times[name] += 1
        new = name
        while name and times[name] > 1 and (new := f"{name} ({times[name]})") in known:
            times[name] += 1
        distinct.append(new)
        known.add(new)
    return distinct, [name for name, again in times.items() if name and again > 1]
