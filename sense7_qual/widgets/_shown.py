"""What a browser is shown, and its offsets: UTF-16 code units there, code points everywhere else."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from sense7_qual.acts import Act
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ActError

__all__ = ["code_points", "shown_coding", "shown_value", "turns", "utf16_units"]


def turns(context: object) -> list[dict[str, str]]:
    """Parse the earlier turns (role and text); a missing context, however pandas writes it, has none."""
    if not isinstance(context, str) or not context:
        return []
    return [
        {"role": str(turn.get("role") or ""), "text": str(turn.get("text") or "")}
        for turn in json.loads(context)
    ]


def shown_value(value: object) -> str | None:
    """Return a value of a variable in words."""
    if value is None:
        return None
    # A column with a missing rating holds floats: 2 is shown as it was given, not as 2.0.
    if isinstance(value, float | np.floating) and value.is_integer():
        return str(int(value))
    return str(value)


def shown_coding(act: Act, text: str, codebook: Codebook) -> dict[str, Any]:
    """Return a coding as the browser shows it, its span in UTF-16 code units."""
    span: tuple[int | None, int | None] = (None, None)
    if act.start is not None and act.end is not None:
        span = utf16_units(text, act.start, act.end)
    # What an earlier version of the codebook had cannot be said again, so it is not shown as if it could.
    known = {facet.name: facet.names for facet in codebook.facets_of(str(act.code))}
    stated = act.facet_values.items()
    return {
        "code": act.code,
        "start": span[0],
        "end": span[1],
        "facets": {name: value for name, value in stated if value in known.get(name, ())},
        "confidence": act.confidence,
    }


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
