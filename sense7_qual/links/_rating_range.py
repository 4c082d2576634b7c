"""The scale of a rating: a stated range, or values that stand so far apart that they are no ratings.

A code for missing (−99, or 0 on a scale from 1 to 5) that is read as a rating turns a link round. Every
function of `links` that takes ratings checks them here.

Where a range is stated (`rating_range=(1, 5)`), any value outside it is refused. The ratings of SENSE-7 have
a range of their own, 1 to 5. Elsewhere a column is refused where it holds

- a number that is a customary code for missing and stands apart from the others (`_missing_codes`);
- 0 beside levels from 1 to 5 or from 1 to 7, which may be either: scales from 0 have customarily 4, 5, 7 or
  11 levels, those from 1 have 5 or 7.

What neither rule sees (a 0 where nobody gave the highest rating, a mistyped 4.5) takes a stated range.
"""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._messages import did_you_mean
from sense7_qual._missing_codes import codes_for_missing, counted
from sense7_qual._sense7 import SENSE7_DIMENSIONS
from sense7_qual.errors import ArgumentError, TableError

__all__ = ["Range", "RatingRange", "checked_range", "range_in", "refuse_off_scale"]

Floats = npt.NDArray[np.float64]
Range = tuple[float, float]
RatingRange = Range | Mapping[str, Range] | None

_SENSE7: Final = (1.0, 5.0)
_HIGHEST_OF_SCALES_FROM_1: Final = (5.0, 7.0)


def range_in(
    units: pd.DataFrame, column: str, rating_range: RatingRange, *, is_rating: bool = True
) -> Range | None:
    """Return the range of one column: as stated, or that of SENSE-7's ratings; None where it is unknown.

    A pair is the range of all ratings; a mapping names columns, also those that are no ratings.
    """
    if isinstance(rating_range, Mapping):
        for name in rating_range:
            if name not in units:
                raise TableError(
                    f"rating_range: expected columns of `units` – found {name!r} – "
                    f"{did_you_mean(str(name), [str(known) for known in units.columns])}"
                )
        stated = checked_range(rating_range[column]) if column in rating_range else None
    else:
        stated = checked_range(rating_range) if is_rating else None
    own = set(SENSE7_DIMENSIONS)
    of_sense7 = column in {*own, "EmpathyOverall"} and own <= set(units.columns)
    return _SENSE7 if stated is None and of_sense7 else stated


def checked_range(rating_range: Range | None) -> Range | None:
    """Return the lowest and the highest rating as floats, or refuse what is not such a pair."""
    if rating_range is None:
        return None
    pair = list(rating_range) if isinstance(rating_range, tuple | list) else []
    real = [isinstance(end, numbers.Real) and not isinstance(end, bool) for end in pair]
    if len(pair) != 2 or not all(real) or not np.isfinite(pair).all() or pair[0] >= pair[1]:
        raise ArgumentError(
            "rating_range: expected the lowest and the highest rating, such as (1, 5) – found "
            f"{rating_range!r} – correct it."
        )
    return float(pair[0]), float(pair[1])


def refuse_off_scale(values: Floats, known: Range | None, *, what: str, is_rating: bool = True) -> None:
    """Raise `TableError` where values are outside the known range, or look like codes for missing.

    `what` names the column; with `is_rating` False a 0 is never taken for a code.
    """
    levels, counts = np.unique(values[~np.isnan(values)], return_counts=True)
    if known is not None:
        bad = (levels < known[0]) | (levels > known[1])
        expected, remedy = f"from {known[0]:g} to {known[1]:g}", "correct rating_range, if these are ratings"
    else:
        bad = codes_for_missing(levels)
        if is_rating:
            bad[~bad] = _ambiguous_zero(levels[~bad])
        expected, remedy = "without codes for missing", "state their range, if these count: rating_range"
    if bad.any():
        beside = f", beside {levels[~bad][0]:g} to {levels[~bad][-1]:g}" if not bad.all() else ""
        raise TableError(
            f"{what}: expected numbers {expected} – found {counted(levels[bad], counts[bad])}{beside} – "
            f"make codes for missing values missing (NaN), or {remedy}."
        )


def _ambiguous_zero(levels: Floats) -> npt.NDArray[np.bool_]:
    """Return where 0 stands beside a scale that may begin at 1."""
    rest = levels[levels != 0]
    may_begin_at_1 = len(rest) > 1 and rest[0] >= 1 and rest[-1] in _HIGHEST_OF_SCALES_FROM_1
    return np.asarray((levels == 0) & may_begin_at_1, dtype=np.bool_)
