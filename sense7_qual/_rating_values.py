"""How a column of ratings is read: its labels, the seven dimensions of SENSE-7, and codes for missing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._messages import first_three, places, shown
from sense7_qual.errors import TableError

SENSE7_DIMENSIONS: Final = (
    *("Affective", "Cognitive", "Response", "Prosocial", "Interest", "Contextual", "Relational"),
)
"""The columns of the seven ratings of a turn."""
LEVEL_WORDS: Final[Mapping[str, float | None]] = {
    "very poor": 1.0,
    "poor": 2.0,
    "neutral": 3.0,
    "good": 4.0,
    "very good": 5.0,
    "unknown": None,
}
"""The number of each level of a rating; None for a missing one."""
NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_LABEL_THEM: Final = (
    'correct them, or give the number of each label: rating_labels={"very poor": 1, …, "unknown": None}.'
)


def sense7_levels(column: pd.Series) -> pd.Series:
    """Convert the ratings of a dimension, in the words of the workbook or as numbers, to 1 to 5 (or missing).

    Parameters
    ----------
    column : Series
        One cell per row: one of the five words of the rating scale, a whole number from 1 to 5, or nothing.

    Raises
    ------
    TableError
        A cell holds anything else.
    """
    check_arguments(sense7_levels, locals())
    cells = column.astype(object).where(column.notna(), "").map(str)
    return ratings_of(
        cells.rename(str(column.name)), LEVEL_WORDS, low=1, high=5, remedy="correct these cells."
    )


def ratings_of(
    column: pd.Series,
    labels: Mapping[str, float | None],
    *,
    low: float = -np.inf,
    high: float = np.inf,
    remedy: str = _LABEL_THEM,
) -> pd.Series:
    """Convert ratings to float64; NaN if blank or labelled as missing."""
    known: dict[str, float | None] = {"": None, **labels}
    written = column.fillna("").map(str.strip)
    numbers: list[float] = []
    bad: list[bool] = []
    for value in written:
        number = known.get(value.casefold(), float(value) if NUMBER.fullmatch(value) else np.inf)
        numbers.append(np.nan if number is None else number)
        bad.append(number is not None and not (np.isfinite(number) and low <= number <= high))
    wrong = written[bad]
    if len(wrong):
        span = f" from {low:g} to {high:g}" if np.isfinite(low) else ""
        known_labels = f" (or {', '.join(map(repr, labels))})" if labels else ""
        values = [shown(value, limit=20, words=2) for value in wrong.unique()]
        raise TableError(
            f"expected numbers{span}{known_labels} in column {shown(column.name)!r} – found "
            f"{first_three(values)} in {places(wrong.index)} – {remedy}"
        )
    return pd.Series(numbers, index=column.index, dtype="float64")


Floats = npt.NDArray[np.float64]

_REPEATED: Final = [int(digits * times) for digits in ("6", "7", "8", "9") for times in (2, 3, 4, 5)]
_NINES: Final = [int("9" * times + last) for times in (1, 2, 3) for last in "678"]
_CODES: Final = np.array(
    [9, *range(-9, 0), *(sign * code for code in (*_REPEATED, *_NINES) for sign in (1, -1))],
    dtype=np.float64,
)
_MANY_LEVELS: Final = 12
_HIGHEST_OF_SCALES: Final = 11


def codes_for_missing(levels: Floats) -> npt.NDArray[np.bool_]:
    """Find the levels, sorted and distinct, that look like codes for missing values: −99, 9 or 999.

    Read as ratings they reverse a link, and two coders who agree on all that they rated have an alpha of 0.

    A level is taken for such a code if it is a customary one (a negative whole number to −9, 9, or 66, 77,
    88, 96 to 99 and their like with more digits, of either sign), lies beyond the other values, and is
    further from the nearest of them than any of these are from one another (and than 1): −1 with 1 to 5, 9
    with 1 to 7, 99 with 0 to 10; not 9 on a scale from 1 to 9, nor −1 with 0 and 1, nor −3 on a scale from −3
    to 1. With more than twelve levels it must be further away than the range of all others, unless it alone
    is negative: 999 with 0 to 100, or −9; not 99 with 3 to 90. Values above 11 are amounts (seconds, words)
    rather than a scale; with them a number of two digits is no code.
    """
    own = np.flatnonzero(~np.isin(levels, _CODES))
    if len(own) and levels[own[-1]] > _HIGHEST_OF_SCALES:
        own = np.flatnonzero(~np.isin(levels, _CODES) | ((levels > _HIGHEST_OF_SCALES) & (levels < 100)))
    bad = np.zeros(len(levels), dtype=np.bool_)
    if not len(own):
        return bad
    gaps, values = np.diff(levels), levels[own]
    widest = max(1.0, float(np.diff(values).max())) if len(own) > 1 else 2.0
    # Of many levels the highest may stand apart by chance; a negative number does not, where none else is.
    far = float(np.ptp(values)) if len(own) > _MANY_LEVELS else widest
    above = own[-1] + np.flatnonzero(gaps[own[-1] :] > far)
    negative = levels[: own[0]] < 0
    below = np.flatnonzero(negative & (gaps[: own[0]] > (widest if values[0] >= 0 else far)))
    bad[above[0] + 1 if len(above) else len(levels) :] = True
    bad[: below[-1] + 1 if len(below) else 0] = True
    return bad


_HIGHEST_OF_SCALES_FROM_1: Final = (5.0, 7.0)


def zeros_for_missing(levels: Floats) -> npt.NDArray[np.bool_]:
    """Mark a 0 where the other levels look like a scale that begins at 1: 0 next to 1 to 5, or 1 to 7."""
    rest = levels[levels != 0]
    may_begin_at_1 = len(rest) > 1 and rest[0] >= 1 and rest[-1] in _HIGHEST_OF_SCALES_FROM_1
    return np.asarray((levels == 0) & may_begin_at_1, dtype=np.bool_)


def counted(levels: Floats, counts: npt.NDArray[np.int64], *, unit: str = "rows") -> str:
    """Name the first three values with how often each occurs, the most frequent first."""
    order = np.argsort(-counts, kind="stable")[:3]
    named = ", ".join(f"{levels[at]:g} in {counts[at]} {unit}" for at in order)
    return named if len(levels) <= 3 else f"{named} ({len(levels)} values in {counts.sum()} {unit} in all)"
