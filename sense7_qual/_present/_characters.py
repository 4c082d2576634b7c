"""Where a text can be cut without dividing what is drawn as one character."""

from __future__ import annotations

import unicodedata
from typing import Final

__all__ = ["divides"]

# Marks, modifiers and joiners that belong to the character before them.
_EXTENDING: Final = frozenset({"Mn", "Mc", "Me", "Sk", "Cf"})


def divides(text: str, at: int) -> bool:
    """Return True if a cut before code point `at` divides a letter and its mark, a joined emoji or a flag.

    >>> divides("e\\u0301t", 1), divides("e\\u0301t", 2)
    (True, False)
    """
    if not 0 < at < len(text):
        return False
    before, character = text[at - 1], text[at]
    flag = all("\U0001f1e6" <= half <= "\U0001f1ff" for half in (character, before))
    return flag or before == "\u200d" or unicodedata.category(character) in _EXTENDING
