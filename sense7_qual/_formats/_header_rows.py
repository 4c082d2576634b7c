"""Rows below the names of the columns that are headers too: questions, a program's ids, repeated names.

Survey programs write one or two such rows, and a file made of several exports has them in the middle as well.
A row is left out only where it holds a program's mark or the names themselves, which no respondent writes; a
row that may be a header or a response is asked about.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import pandas as pd

from sense7_qual._formats._cells import Cells, are_measured, is_measured, is_word, text_of
from sense7_qual._formats._header import APART, QUESTIONS, distinct_names
from sense7_qual._messages import first_three, places, shown
from sense7_qual.errors import ImportRefused, TableError

_IMPORT_ID: Final = re.compile(r"""\s*\{.*["']ImportId["']\s*:""", re.DOTALL)
_LEGACY_NAMES: Final = frozenset({"ResponseID", "ResponseSet", "StartDate", "EndDate", "Finished"})
_LEGACY_COLUMN: Final = re.compile(r"V([1-9]|10)")
_OPEN_ENDED: Final = "Open-Ended Response"
_NO_PART: Final = frozenset({"", "Response", _OPEN_ENDED})
_NAMELESS: Final = re.compile(r"(Unnamed: \d+)?")  # as pandas.read_csv calls a column without a name
_NAMES: Final = "the names again"


@dataclass(frozen=True, slots=True, repr=False)
class HeaderRows:
    """The header rows that were left out of a table, and what they ask in each of its columns."""

    kind: str
    """Whose mark they have: a paragraph of kinds.toml; "" where there is none."""
    evidence: str
    """The mark in words; "" where there is none."""
    left_out: pd.Series
    """By their places in the file, why they were left out."""
    wordings: pd.Index[Any]
    """Where the questions are, among them."""
    questions: Mapping[str, Sequence[str]]
    """By column the questions asked in it, each wording once."""
    twice: Sequence[str]
    """The names that several columns had, which are numbered now."""


@dataclass(slots=True)
class _Found:
    """The header rows among the cells, by their place below the names."""

    kind: str
    names: Sequence[str]
    why: Mapping[int, str]
    evidence: str = ""

    @property
    def questions(self) -> list[int]:
        return [at for at, why in sorted(self.why.items()) if why == QUESTIONS]


def without_header_rows(
    cells: Cells, lines: tuple[int, int | None] | None, *, marked: bool = True
) -> tuple[Cells, HeaderRows]:
    """Leave out every header row below the names, and name the columns as the program that wrote them does.

    `lines`, of the names and of the questions, answers where nothing in the file does; without `marked` no
    program's mark is looked for.
    """
    found = (_qualtrics(cells) or _legacy_qualtrics(cells) or _surveymonkey(cells)) if marked else None
    found = found or _plain(cells, lines)
    names, twice = distinct_names(found.names)
    asked = {
        name: list(dict.fromkeys(filter(None, (text_of(column[at]) for at in found.questions))))
        for name, column in zip(names, cells.columns, strict=True)
    }
    left = sorted(found.why)
    why = pd.Series([found.why[at] for at in left], index=cells.index[left], dtype="string")
    rows = HeaderRows(found.kind, found.evidence, why, cells.index[found.questions], asked, twice)
    if not left:
        return replace(cells, header=names), rows
    kept = [at for at in range(len(cells.index)) if at not in found.why]
    columns = [[column[at] for at in kept] for column in cells.columns]
    return replace(cells, header=names, columns=columns, index=cells.index[kept]), rows


# The programs whose header rows bear a mark


def _qualtrics(cells: Cells) -> _Found | None:
    """Rows of import ids, the questions above each, and the names above those where they come again."""
    ids = _import_ids(cells)
    if not ids:
        return None
    again = _names_again(cells)
    questions = sorted({at - 1 for at in ids if at} - ids - set(again))
    for at in questions:
        if any(map(is_measured, _row(cells, at))):
            raise ImportRefused(
                f"{cells.name}: expected the questions above the import ids, as Qualtrics writes them – "
                f"found numbers or dates in {places(cells.index[[at]])}, as a response has – put the rows "
                "back into the order of the export."
            )
        _refuse_other_names(cells, at, own=False)
        if at and at - 1 not in ids:
            _refuse_other_names(cells, at - 1, own=at - 1 not in again)
    why = (
        dict.fromkeys(again, _NAMES) | dict.fromkeys(questions, QUESTIONS) | dict.fromkeys(ids, "import ids")
    )
    n_ids = sum(bool(text_of(column[min(ids)])) for column in cells.columns)
    where = places(cells.index[sorted(ids)])
    return _Found("qualtrics", cells.header, why, f"{n_ids} import ids and nothing else in {where}")


def _import_ids(cells: Cells) -> set[int]:
    """Return the rows of import ids and nothing else: column by column, so that most end with the first."""
    left, found = list(range(len(cells.index))), set[int]()
    for column in cells.columns:
        ids = {at for at in left if isinstance(cell := column[at], str) and _IMPORT_ID.match(cell)}
        left = [at for at in left if at in ids or not text_of(column[at])]
        found |= ids
    return found.intersection(left)


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
        f"in {places(cells.index[[at]])} – {APART}"
    )


def _legacy_qualtrics(cells: Cells) -> _Found | None:
    """Rows that name the first ten columns, V1 to V10 above them, and hold the questions of the others."""
    if [*cells.header[:2]] != ["V1", "V2"]:
        return None
    questions = [at for at, row in enumerate(_rows(cells)) if set(map(text_of, row[:10])) >= _LEGACY_NAMES]
    if not questions or questions[0] != 0:
        return None
    top = _row(cells, 0)
    coded = [_LEGACY_COLUMN.fullmatch(name) is not None for name in cells.header]
    for at in questions:
        if any(old and cell != name for old, cell, name in zip(coded, _row(cells, at), top, strict=True)):
            raise ImportRefused(_other_columns(cells, at))
    names = [new if old and new else name for old, new, name in zip(coded, top, cells.header, strict=True)]
    why = dict.fromkeys(_names_again(cells), _NAMES) | dict.fromkeys(questions, QUESTIONS)
    evidence = f"columns V1 and V2, which {places(cells.index[questions])} names ResponseID and ResponseSet"
    return _Found("qualtrics legacy", names, why, evidence)


def _surveymonkey(cells: Cells) -> _Found | None:
    """A row of the parts or options of each question, blank under both ids; question above the first."""
    names = _names(cells)
    parts = _row(cells, 0) if len(cells.index) else []
    if not _are_surveymonkeys(names, parts):
        return None
    again = _names_again(cells)
    for at in again:  # an export that was put below another has its own row of parts, if any
        has_parts = at + 1 < len(cells.index) and not any(_row(cells, at + 1)[:2])
        if has_parts and _row(cells, at + 1) != parts:
            raise ImportRefused(_other_columns(cells, at + 1))
    second = [
        at for at, row in enumerate(_rows(cells)) if not text_of(row[0]) and [*map(text_of, row)] == parts
    ]
    why = dict.fromkeys(again, _NAMES) | dict.fromkeys(second, "parts and options")
    evidence = f"columns {names[0]} and {names[1]}, both blank in {places(cells.index[second[:1]])}"
    return _Found("surveymonkey", _with_parts(names, parts), why, evidence)


def _are_surveymonkeys(names: Sequence[str], parts: Sequence[str]) -> bool:
    """Whether names, and the row below them, are those of a SurveyMonkey export: it begins with its ids."""
    ids = [re.sub(r"\s", "", name).casefold() for name in names[:2]]
    if ids[:1] != ["respondentid"] or not parts or any(parts[:2]):
        return False
    if ids[1:] != ["collectorid"] and _OPEN_ENDED not in parts:
        return False
    return any(part and (part in _NO_PART or not name) for name, part in zip(names, parts, strict=True))


def _with_parts(names: Sequence[str], parts: Sequence[str]) -> list[str]:
    """Return the names with their parts; a question stands above the first of its columns alone."""
    joined, question = [], ""
    for name, part in zip(names, parts, strict=True):
        question = name or question
        whole = question if name or part else ""
        joined.append(whole if part in _NO_PART else f"{question} – {part}")
    return joined


# Tables without a mark


def _plain(cells: Cells, lines: tuple[int, int | None] | None) -> _Found:
    """The names where they come again; with them the questions, if the header has two rows."""
    again = _names_again(cells)
    below = [at for at in (0, *(at + 1 for at in again)) if at < len(cells.index)]
    if lines is None:
        _ask_about_second_row(cells, {*again, *below})
    if lines is None or lines[1] is None:
        return _Found("", cells.header, dict.fromkeys(again, _NAMES))
    if len(cells.index) and lines[1] not in {lines[0] + 1, cells.index[0]}:
        raise TableError(
            f"{cells.name}: expected header to say two lines that follow each other – found {lines} – the "
            f"row below the names is in {places(cells.index[[0]])}."
        )
    for at in below:
        if _row(cells, at) != _row(cells, 0):
            raise ImportRefused(_other_columns(cells, at))
    return _Found("", cells.header, dict.fromkeys(again, _NAMES) | dict.fromkeys(below, QUESTIONS))


def _ask_about_second_row(cells: Cells, but: set[int]) -> None:
    """Refuse a second row of words above numbers or dates, in two columns or more."""
    strange = [
        shown(name)
        for name, column in zip(cells.header, cells.columns, strict=True)
        if name and column and is_word(text_of(column[0])) and are_measured(column, but)
    ]
    if len(strange) > 1:
        where = places(cells.index[[0]])
        names, second = (cells.top, cells.index[0]) if cells.top else (1, 2)
        raise ImportRefused(
            f"{cells.name}: expected responses from {where} on – found words there above numbers in columns "
            f"{first_three(strange)} – pass header=({names}, {second}) if {where} holds the questions, or "
            f"header={names} if it is a response (sense7-qual new: --header {names},{second} or --header "
            f"{names})."
        )


# Cells


def _rows(cells: Cells) -> Iterator[tuple[object, ...]]:
    return zip(*cells.columns, strict=True)


def _row(cells: Cells, at: int) -> list[str]:
    return [text_of(column[at]) for column in cells.columns]


def _names(cells: Cells) -> list[str]:
    return ["" if _NAMELESS.fullmatch(name) else name.strip() for name in cells.header]


def _names_again(cells: Cells) -> list[int]:
    """Return the rows that repeat all names, of which there are two or more."""
    names = _names(cells)
    if sum(map(bool, names)) < 2:
        return []
    first = next(at for at, name in enumerate(names) if name)
    likely = [at for at, cell in enumerate(cells.columns[first]) if text_of(cell) == names[first]]
    return [at for at in likely if _row(cells, at) == names]
