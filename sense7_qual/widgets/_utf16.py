"""Offsets of a selection: UTF-16 code units in the browser, Unicode code points everywhere else."""

from __future__ import annotations

from sense7_qual.errors import ActError

__all__ = ["code_points", "utf16_units"]


def code_points(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span of code points that a browser's selection `start` … `end` covers.

    `start` and `end` are in UTF-16 code units, as JavaScript counts; an offset inside a surrogate pair is
    moved outwards, so that no character is ever cut.

    Examples
    --------
    >>> code_points("a 👍🏽 b", 2, 6)
    (2, 4)
    """
    units = [2 if ord(character) > 0xFFFF else 1 for character in text]
    if not 0 <= start < end <= sum(units):
        raise ActError(
            f"selection: expected a span inside the text of {sum(units)} UTF-16 units – found {start} to "
            f"{end} – select again."
        )
    first = last = position = 0
    for index, width in enumerate(units):
        if position <= start:
            first = index
        if position < end:
            last = index + 1
        position += width
    return first, last


def utf16_units(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span in UTF-16 code units of the code points `start` … `end`.

    Examples
    --------
    >>> utf16_units("a 👍🏽 b", 2, 4)
    (2, 6)
    """
    before = _length(text[:start])
    return before, before + _length(text[start:end])


def _length(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
