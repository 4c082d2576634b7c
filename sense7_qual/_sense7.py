"""The ratings of SENSE-7, seven dimensions of five levels, and how a column of ratings is read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

import numpy as np
import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._messages import first_three, places, shown
from sense7_qual.errors import TableError

__all__ = ["LEVEL_WORDS", "NUMBER", "SENSE7_DIMENSIONS", "ratings_of", "sense7_levels"]

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
"""The number of each level of a rating; None stands for a missing one."""
NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_LABEL_THEM: Final = (
    'correct them, or say what each label stands for: rating_labels={"very poor": 1, …, "unknown": None}.'
)


def sense7_levels(column: pd.Series) -> pd.Series:
    """Return the ratings of a dimension, as the workbook words them or as numbers, as 1 to 5 (else missing).

    Parameters
    ----------
    column : Series
        One cell per row: one of the five words of the rating scale, a whole number from 1 to 5, or nothing.

    Raises
    ------
    TableError
        A cell is neither.
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
    """Return ratings as float64, NaN where blank or labelled as missing."""
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
