"""Columns whose names say that they name people, or say where they are or how to reach them."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from sense7_qual.redact._names import words

__all__ = ["is_of_people"]

_OF_PEOPLE: Final = frozenset(map(str.casefold, words("columns_of_people")))
_BESIDE: Final = _OF_PEOPLE | frozenset(words("beside_columns_of_people"))
_BEGINS: Final = re.compile("(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_BETWEEN: Final = re.compile(r"[\s\d_.,:;?!*/|()\[\]{}<>#@&+=-]+")


def is_of_people(column: str) -> bool:
    """Return True if all words of a column's name fit a column of people, and one says so.

    >>> [is_of_people(name) for name in ("RecipientFirstName", "E-Mail", "Name of the assistant")]
    [True, True, False]
    """
    named = unicodedata.normalize("NFC", _BEGINS.sub(" ", column)).casefold()
    said = [word for word in _BETWEEN.split(named) if word]
    return not _OF_PEOPLE.isdisjoint(said) and _BESIDE.issuperset(said)
