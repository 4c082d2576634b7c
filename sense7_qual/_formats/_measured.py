"""Is a cell a number, a date, a time, or a word?"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Final

from sense7_qual._formats._cells import text_of

__all__ = ["are_measured", "is_measured", "is_word"]

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
