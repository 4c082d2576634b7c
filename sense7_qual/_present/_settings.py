"""The confidence level and the seed that all rows of a result were computed with, in words."""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from sense7_qual._messages import first_three
from sense7_qual.errors import TableError

__all__ = ["interval_name", "seed"]


def interval_name(rows: Sequence[Mapping[str, Any]], *, frame_name: str) -> str:
    """Return what the intervals of a result are called: their confidence level, then "CI".

    Without rows there is no level to name.

    Examples
    --------
    >>> interval_name([{"confidence_level": 0.95}], frame_name="agreement"), interval_name([], frame_name="x")
    ('95% CI', 'CI')
    """
    level = _setting(rows, "confidence_level", frame_name=frame_name)
    if level is None:
        return "CI"
    if not isinstance(level, float) or not 0 < level < 1:
        raise TableError(
            f"{frame_name}: expected a confidence_level between 0 and 1 – found {level!r} – pass the result "
            "as it was computed."
        )
    return f"{100 * level:.10g}% CI"


def seed(rows: Sequence[Mapping[str, Any]], *, frame_name: str) -> str:
    """Return the seed of a result in words, for a note; without rows, "no seed".

    Examples
    --------
    >>> seed([{"seed": 7}, {"seed": 7}], frame_name="agreement")
    'seed 7'
    """
    value = _setting(rows, "seed", frame_name=frame_name)
    if value is None:
        return "no seed"
    if not isinstance(value, numbers.Integral):
        raise TableError(
            f"{frame_name}: expected a whole number as seed – found {value!r} – pass the result as it was "
            "computed."
        )
    return f"seed {int(value)}"


def _setting(rows: Sequence[Mapping[str, Any]], name: str, *, frame_name: str) -> Any:
    """Return the one value that all rows have in column `name`, None without rows."""
    values = list(dict.fromkeys(None if pd.isna(row[name]) else row[name] for row in rows))
    if len(values) > 1 or None in values:
        raise TableError(
            f"{frame_name}: expected one {name} in all rows – found {first_three(values)} – pass the rows of "
            "one call at a time, as they were computed."
        )
    return values[0] if values else None
