"""Texts as a search compares them: without case and accents."""

from __future__ import annotations

import unicodedata

__all__ = ["find_folded", "folded"]


class _Letters(dict[int, str]):
    """What each letter is compared as, computed when it first comes."""

    def __missing__(self, letter: int) -> str:
        parts = unicodedata.normalize("NFKD", chr(letter).casefold())
        plain = "".join(part for part in parts if unicodedata.category(part) != "Mn").casefold()
        self[letter] = plain
        return plain


_LETTERS = _Letters()


def folded(text: str) -> str:
    """Return the text without case and accents, letter by letter; a new line counts as a space.

    >>> folded("Café, STRASSE, straße")
    'cafe, strasse, strasse'
    """
    return (text.lower() if text.isascii() else text.translate(_LETTERS)).replace("\n", " ")


def find_folded(text: str, wanted: str) -> tuple[int, int]:
    """Return where the folded `wanted` first stands in `text`, as code points; (0, 0) where it does not.

    >>> find_folded("Ein Café", "cafe")
    (4, 8)
    """
    at = folded(text).find(wanted)
    if at < 0 or not wanted:
        return 0, 0
    start = end = length = 0
    for place, letter in enumerate(text):
        if length <= at:
            start = place
        length += len(folded(letter))
        end = place + 1
        if length >= at + len(wanted):
            break
    return start, end
