"""Codings, values and earlier turns as the browser shows them."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from sense7_qual.acts import Act
from sense7_qual.codebook import Codebook
from sense7_qual.widgets._utf16 import utf16_units

__all__ = ["shown_coding", "shown_value", "turns"]


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
