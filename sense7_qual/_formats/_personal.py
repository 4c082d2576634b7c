"""Columns of personal data: who somebody is, where, or how to reach them; by their names or their cells."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final

import pandas as pd

__all__ = ["CROWD_ID", "is_personal", "personal_columns"]

_WORDS: Final = tomllib.loads((Path(__file__).parent / "people.toml").read_text("utf-8"))
_PERSONAL: Final = frozenset(map(str.casefold, _WORDS["personal"]))
_BESIDE: Final = _PERSONAL | frozenset(_WORDS["beside"])
_BEGINS: Final = re.compile("(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_BETWEEN: Final = re.compile(r"[\s\d_.,:;?!*/|()\[\]{}<>#@&+=-]+")

CROWD_ID: Final = re.compile(r"[\da-f]{24}")
"""An id of Prolific, which leads to a person there."""
_PART: Final = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"
_FORMS: Final = {
    "e-mail addresses": re.compile(r"[^@\s]+@[^@\s]+\.[^@\s.]+"),
    "IP addresses": re.compile(
        rf"{_PART}(?:\.{_PART}){{3}}|(?=.*::|(?:[^:]*:){{7}})[\da-fA-F]{{0,4}}(?::[\da-fA-F]{{0,4}}){{2,7}}"
    ),
    "ids of a crowd service": CROWD_ID,
}
_PRECISE: Final = re.compile(r"-?\d{1,3}\.\d{4,20}")
_NEAR_ZERO: Final = 4  # degrees: smaller numbers may be shares and scores
_LOOKED_AT: Final = 200  # filled cells of a column, evenly spread


def personal_columns(table: pd.DataFrame) -> dict[str, str]:
    """Return the columns of a frame of strings that are personal, and why; no cell is quoted."""
    found = {name: "its name" for name in table.columns if is_personal(name)}
    cells = {name: _sample(table[name]) for name in table.columns}
    found |= {name: why for name in cells if name not in found and (why := _form(cells[name]))}
    for pair in pairwise(table.columns):
        if all(name not in found for name in pair) and _are_coordinates(*(cells[name] for name in pair)):
            found |= dict.fromkeys(pair, "coordinates")
    return {name: found[name] for name in table.columns if name in found}


def is_personal(name: str) -> bool:
    """Return True if all words of a column's name fit one of personal data, and one of them says so.

    >>> [is_personal(name) for name in ("RecipientFirstName", "E-Mail", "Name of the assistant")]
    [True, True, False]
    """
    said = unicodedata.normalize("NFC", _BEGINS.sub(" ", name)).casefold()
    words = [word for word in _BETWEEN.split(said) if word]
    return not _PERSONAL.isdisjoint(words) and _BESIDE.issuperset(words)


def _sample(column: pd.Series) -> list[str]:
    if len(column) > _LOOKED_AT:
        filled = column.dropna()
        column = filled[filled.ne("")]
        column = column.iloc[:: len(column) // _LOOKED_AT + 1]
    return [cell.strip() for cell in column.array if cell is not pd.NA and cell]


def _form(cells: Sequence[str]) -> str | None:
    return next((why for why, form in _FORMS.items() if _are_half(cells, form)), None)


def _are_half(cells: Sequence[str], form: re.Pattern[str]) -> bool:
    return bool(cells) and 2 * sum(form.fullmatch(cell) is not None for cell in cells) >= len(cells)


def _are_coordinates(first: Sequence[str], second: Sequence[str]) -> bool:
    """Return True for a column of latitudes and one of longitudes."""
    return all(
        _are_half(cells, _PRECISE) and all(_NEAR_ZERO < abs(degrees) <= most for degrees in _degrees(cells))
        for cells, most in ((first, 90), (second, 180))
    )


def _degrees(cells: Sequence[str]) -> Iterator[float]:
    yield from (float(cell) for cell in cells if _PRECISE.fullmatch(cell))
