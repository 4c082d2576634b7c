"""Rows below the names of the columns that are headers too: questions, a program's ids, repeated names.

Survey programs write one or two such rows, and a file made of several exports has them in the middle as well.
A row is left out only where it holds a program's mark or the names themselves, which no respondent writes; a
row that may be a header or a response is asked about.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import pandas as pd

from sense7_qual._formats._cells import Cells, written
from sense7_qual._messages import first_three, places, shown
from sense7_qual.errors import ImportRefused, TableError

__all__ = ["HeaderRows", "without_header_rows"]

_IMPORT_ID: Final = re.compile(r"""\s*\{.*["']ImportId["']\s*:""", re.DOTALL)
_LEGACY_NAMES: Final = frozenset({"ResponseID", "ResponseSet", "StartDate", "EndDate", "Finished"})
_LEGACY_COLUMN: Final = re.compile(r"V([1-9]|10)")
_NO_PART: Final = frozenset({"", "Response", "Open-Ended Response"})
_NAMELESS: Final = re.compile(r"(Unnamed: \d+)?")  # as pandas.read_csv calls a column without a name
# Digits, with the marks and letters that numbers, dates and times are written with.
_MEASURED: Final = re.compile(
    r"(?:[\W\d_]|(?<=\d)[TZ]|(?<=\d)e(?=[-+]?\d)|[ap]\.?m\b|UTC|GMT)+", re.IGNORECASE
)
_MISSING: Final = frozenset({"", "na", "n/a", "nan", "null", "none"})
_APART: Final = "read each part by itself, and put the units together (pandas.concat)."


@dataclass(frozen=True, slots=True, repr=False)
class HeaderRows:
    """The header rows that were left out of a table, and what they ask in each of its columns."""

    program: str
    """Whose mark they have; "" where there is none."""
    left_out: pd.Index[Any]
    """Where they are in the file."""
    questions: Mapping[str, Sequence[str]]
    """By column the questions asked in it, each wording once."""

    def __str__(self) -> str:
        of = f" of {self.program}" if self.program else ""
        rows = "1 header row" if len(self.left_out) == 1 else f"{len(self.left_out)} header rows"
        return f"{rows}{of} in {places(self.left_out)}"

    def refuse_reworded(self, column: str) -> None:
        """Raise `ImportRefused` where a column holds the answers to several questions."""
        n_wordings = len(self.questions.get(column, ()))
        if n_wordings > 1:
            raise ImportRefused(
                f"expected one question in column {shown(column)!r} – found {n_wordings} wordings in "
                f"{self} – use one wording if they ask the same, or {_APART}"
            )


@dataclass(slots=True)
class _Found:
    """The header rows among the cells, by their place below the names."""

    program: str
    names: Sequence[str]
    left_out: set[int]
    questions: list[int] = field(default_factory=list)


def without_header_rows(cells: Cells, header: int | Sequence[int] | None = None) -> tuple[Cells, HeaderRows]:
    """Leave out every header row below the names, and name the columns as the program that wrote them does.

    `header`, 1 or (1, 2), answers where nothing in the file does.
    """
    n_rows = _rows_of_header(header)
    marked = _qualtrics(cells) or _legacy_qualtrics(cells) or _surveymonkey(cells)
    found = marked or _plain(cells, n_rows)
    asked = {
        name: list(dict.fromkeys(filter(None, (_text(column[at]) for at in found.questions))))
        for name, column in zip(found.names, cells.columns, strict=True)
    }
    rows = HeaderRows(found.program, cells.index[sorted(found.left_out)], asked)
    if not found.left_out:
        return cells, rows
    kept = [at for at in range(len(cells.index)) if at not in found.left_out]
    columns = [[column[at] for at in kept] for column in cells.columns]
    return replace(cells, header=found.names, columns=columns, index=cells.index[kept]), rows


def _rows_of_header(header: int | Sequence[int] | None) -> int | None:
    lines = [header] if isinstance(header, int) else header
    if lines is None or list(lines) in ([1], [1, 2]):
        return None if lines is None else len(lines)
    raise TableError(
        f"expected header=1 (names alone) or header=(1, 2) (names, then questions) – found {header!r} – "
        "choose one."
    )


# The programs whose header rows bear a mark


def _qualtrics(cells: Cells) -> _Found | None:
    """Rows of import ids, the questions above each, and the names above those where they come again."""
    ids = {at for at, row in enumerate(_rows(cells)) if _are_import_ids(row)}
    if not ids:
        return None
    again = _names_again(cells)
    questions = sorted({at - 1 for at in ids if at} - ids - set(again))
    for at in questions:
        if any(map(_is_measured, _row(cells, at))):
            raise ImportRefused(
                f"{cells.name}: expected the questions above the import ids, as Qualtrics writes them – "
                f"found numbers or dates in {places(cells.index[[at]])}, as a response has – put the rows "
                "back into the order of the export."
            )
        _refuse_other_names(cells, at, own=False)
        if at and at - 1 not in ids:
            _refuse_other_names(cells, at - 1, own=at - 1 not in again)
    return _Found("Qualtrics", cells.header, {*ids, *questions, *again}, questions)


def _are_import_ids(row: Sequence[object]) -> bool:
    found = False
    for cell in row:
        if isinstance(cell, str) and _IMPORT_ID.match(cell):
            found = True
        elif _text(cell):
            return False
    return found


def _refuse_other_names(cells: Cells, at: int, *, own: bool) -> None:
    """Refuse a row of names that are not those at the top: `own`, also of a column's own name."""
    row, names = _row(cells, at), set(_names(cells)) - {""}
    if (
        sum(cell in names and (own or cell != name) for cell, name in zip(row, _names(cells), strict=True))
        > 1
    ):
        raise ImportRefused(_other_columns(cells, at))


def _other_columns(cells: Cells, at: int) -> str:
    return (
        f"{cells.name}: expected the same columns in every part of the file – found a header row with others "
        f"in {places(cells.index[[at]])} – {_APART}"
    )


def _legacy_qualtrics(cells: Cells) -> _Found | None:
    """Rows that name the first ten columns, V1 to V10 above them, and hold the questions of the others."""
    if [*cells.header[:2]] != ["V1", "V2"]:
        return None
    questions = [at for at, row in enumerate(_rows(cells)) if set(map(_text, row[:10])) >= _LEGACY_NAMES]
    if not questions or questions[0] != 0:
        return None
    top = _row(cells, 0)
    coded = [_LEGACY_COLUMN.fullmatch(name) is not None for name in cells.header]
    for at in questions:
        if any(old and cell != name for old, cell, name in zip(coded, _row(cells, at), top, strict=True)):
            raise ImportRefused(_other_columns(cells, at))
    names = [new if old and new else name for old, new, name in zip(coded, top, cells.header, strict=True)]
    return _Found("Qualtrics", names, {*questions, *_names_again(cells)}, questions)


def _surveymonkey(cells: Cells) -> _Found | None:
    """A row of the parts or options of each question, blank under both ids; question above the first."""
    names = _names(cells)
    ids = [re.sub(r"\s", "", name).casefold() for name in names[:2]]
    parts = _row(cells, 0) if len(cells.index) else []
    if ids != ["respondentid", "collectorid"] or not parts or any(parts[:2]):
        return None
    again = _names_again(cells)
    below = [at + 1 for at in again if at + 1 < len(cells.index) and not any(_row(cells, at + 1)[:2])]
    for at in below:
        if _row(cells, at) != parts:
            raise ImportRefused(_other_columns(cells, at))
    second = [at for at, row in enumerate(_rows(cells)) if not _text(row[0]) and [*map(_text, row)] == parts]
    joined, question = [], ""
    for name, part in zip(names, parts, strict=True):
        question = name or question
        joined.append(f"{question} – {part}" if part not in _NO_PART else question if name or part else "")
    return _Found("SurveyMonkey", joined, {*again, *second})


# Tables without a mark


def _plain(cells: Cells, n_rows: int | None) -> _Found:
    """The names where they come again; with them the questions, if the header has two rows."""
    again = _names_again(cells)
    below = [at for at in (0, *(at + 1 for at in again)) if at < len(cells.index)]
    if n_rows is None:
        _ask_about_second_row(cells, {*again, *below})
    if n_rows != 2:
        return _Found("", cells.header, {*again})
    for at in below:
        if _row(cells, at) != _row(cells, 0):
            raise ImportRefused(_other_columns(cells, at))
    return _Found("", cells.header, {*again, *below}, below)


def _ask_about_second_row(cells: Cells, but: set[int]) -> None:
    """Refuse a second row of words above numbers or dates, in two columns or more."""
    strange = [
        shown(name)
        for name, column in zip(cells.header, cells.columns, strict=True)
        if column and _is_word(_text(column[0])) and _are_measured(column, but)
    ]
    if len(strange) > 1:
        where = places(cells.index[[0]])
        raise ImportRefused(
            f"{cells.name}: expected responses from {where} on – found words there above numbers in columns "
            f"{first_three(strange)} – pass header=(1, 2) if {where} holds the questions, or header=1 if it "
            "is a response (sense7-qual new: --header 1,2 or --header 1)."
        )


def _are_measured(column: Sequence[object], but: set[int]) -> bool:
    texts = (_text(cell) for at, cell in enumerate(column) if at not in but)
    filled = (text for text in texts if text.casefold() not in _MISSING)
    return next((_is_measured(text) for text in filled), False) and all(map(_is_measured, filled))


# Cells


def _rows(cells: Cells) -> Iterator[tuple[object, ...]]:
    return zip(*cells.columns, strict=True)


def _row(cells: Cells, at: int) -> list[str]:
    return [_text(column[at]) for column in cells.columns]


def _names(cells: Cells) -> list[str]:
    return ["" if _NAMELESS.fullmatch(name) else name.strip() for name in cells.header]


def _names_again(cells: Cells) -> list[int]:
    """Return the rows that repeat all names, of which there are two or more."""
    names = _names(cells)
    if sum(map(bool, names)) < 2:
        return []
    return [
        at
        for at, row in enumerate(_rows(cells))
        if all(_text(cell) == name for cell, name in zip(row, names, strict=True))
    ]


def _text(cell: object) -> str:
    if isinstance(cell, str):
        return cell.strip()
    try:
        return written(cell) or ""
    except (TypeError, ValueError, RecursionError):  # refused where the frame is made
        return type(cell).__name__


def _is_measured(text: str) -> bool:
    """Return True for a number, a date or a time."""
    return any(map(str.isdecimal, text)) and _MEASURED.fullmatch(text) is not None


def _is_word(text: str) -> bool:
    return text.casefold() not in _MISSING and any(map(str.isalpha, text)) and not _is_measured(text)
