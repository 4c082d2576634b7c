"""Numbers that are customary codes for missing and stand apart from the other values: −99, 9 or 999.

Read as ratings they turn a link round, and two coders who agree on all that they rated have an alpha of 0.

A number is taken for such a code where it is a customary one (a negative whole number to −9, 9, or 66, 77,
88, 96 to 99 and their like with more digits, of either sign), lies beyond the other values, and is further
from the nearest of them than any of these are from one another (and than 1): −1 beside 1 to 5, 9 beside 1 to
7, 99 beside 0 to 10; not 9 on a scale from 1 to 9, nor −1 beside 0 and 1, nor −3 on a scale from −3 to 1.
With more than twelve levels it must be further than all of them lie apart, unless it alone is negative: 999
beside 0 to 100, or −9; not 99 beside 3 to 90. Values above 11 are amounts rather than a scale (seconds,
words), and beside them a number of two digits is no code.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

__all__ = ["codes_for_missing", "counted"]

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
    """Return the levels, sorted and distinct, that look like codes for missing values."""
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


def counted(levels: Floats, counts: npt.NDArray[np.int64], *, unit: str = "rows") -> str:
    """Name the first three values with how often each occurs, the most frequent first."""
    order = np.argsort(-counts, kind="stable")[:3]
    named = ", ".join(f"{levels[at]:g} in {counts[at]} {unit}" for at in order)
    return named if len(levels) <= 3 else f"{named} ({len(levels)} values in {counts.sum()} {unit} in all)"
