"""What several modules ask of a text: its canonical form, a printable name, whole characters."""

from __future__ import annotations

import re

from sense7_qual._arguments import check_arguments
from sense7_qual._messages import UNPRINTABLE
from sense7_qual.errors import ImportRefused

__all__ = ["canonical", "is_name", "is_unicode"]


def canonical(text: str) -> str:
    """Return a text in the one form in which it is stored, hashed and counted.

    A byte order mark at the start is removed, and CRLF and CR become LF. Nothing else changes: no Unicode
    normalisation, no trimming. Applied twice it changes nothing more.

    Raises
    ------
    ImportRefused
        The text holds NUL or half of a surrogate pair, which no file and no database would give back.

    Examples
    --------
    >>> canonical("\\ufeffI felt heard.\\r\\nMostly.\\r")
    'I felt heard.\\nMostly.\\n'
    """
    check_arguments(canonical, locals())
    bad = re.search("[\x00\ud800-\udfff]", text)
    if bad:
        raise ImportRefused(
            f"expected valid text – found U+{ord(bad[0]):04X} at character {bad.start()} – correct the text."
        )
    return text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def is_name(value: object) -> bool:
    """Return True if a value can name a round: text without control characters, and no space at its ends."""
    return (
        isinstance(value, str)
        and bool(value)
        and value == value.strip()
        and UNPRINTABLE.search(value) is None
    )


def is_unicode(value: str) -> bool:
    """Return True if a text holds whole characters only, no half of a surrogate pair."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
