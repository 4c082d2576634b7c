"""Numbers, confidence levels and seeds in APA style: no zero before the point of what cannot exceed 1."""

from __future__ import annotations

import numbers
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import pandas as pd

from sense7_qual._messages import first_three
from sense7_qual.errors import ArgumentError, TableError

MISSING: Final = "–"
"""Printed for a value that could not be computed or is not known."""

_CONVENTIONS: Final = (0.667, 0.8)  # Krippendorff (2004, p. 241)
_MOST_DIGITS: Final = 6


def number(value: Any, digits: int) -> str:
    """Return a number with a true minus sign, and none before a zero.

    >>> number(-1.25, 1), number(-0.001, 2), number(None, 2)
    ('−1.2', '0.00', '–')
    """
    if not 1 <= digits <= 6:
        raise ArgumentError(f"report: expected digits from 1 to 6 – found {digits} – 2 is the usual number.")
    if pd.isna(value):
        return MISSING
    text = f"{abs(float(value)):.{digits}f}"
    return f"−{text}" if float(value) < 0 and float(text) != 0 else text


def coefficient(value: Any, digits: int) -> str:
    """Return a number that cannot exceed 1 without the zero before its point (APA 7, section 6.36).

    >>> coefficient(0.7681, 2), coefficient(-0.046, 2), coefficient(1, 2)
    ('.77', '−.05', '1.00')
    """
    text = number(value, digits)
    return text.replace("0.", ".", 1) if text.removeprefix("−").startswith("0.") else text


def alpha(value: Any, digits: int) -> str:
    """Return Krippendorff's alpha, with more decimals where fewer would lift it to .667 or .800.

    >>> alpha(0.7968, 2), alpha(0.6649, 2), alpha(0.7681, 2), alpha(0.69996, 2)
    ('.797', '.66', '.77', '.70')
    """
    if pd.isna(value):
        return MISSING
    while digits < _MOST_DIGITS and any(value < one <= round(float(value), digits) for one in _CONVENTIONS):
        digits += 1
    return coefficient(value, digits)


def interval(low: Any, high: Any, digits: int) -> str:
    """Return an interval of coefficients, or the missing sign where both ends are missing.

    >>> interval(0.61, 0.8, 2)
    '[.61, .80]'
    """
    if pd.isna(low) and pd.isna(high):
        return MISSING
    return f"[{coefficient(low, digits)}, {coefficient(high, digits)}]"


def number_interval(low: Any, high: Any, digits: int) -> str:
    """Return an interval of numbers that can exceed 1, or the missing sign where both ends are missing.

    >>> number_interval(0.61, 12.04, 2)
    '[0.61, 12.04]'
    """
    if pd.isna(low) and pd.isna(high):
        return MISSING
    return f"[{number(low, digits)}, {number(high, digits)}]"


def percent(share: Any) -> str:
    """Return a share (0–1) as a percentage; 0.0 and 100.0 are printed only for exactly none and all.

    >>> percent(0.9123), percent(0.99999), percent(1)
    ('91.2', '> 99.9', '100.0')
    """
    if pd.isna(share):
        return MISSING
    text = f"{100 * float(share):.1f}"
    if text == "100.0" and share < 1:
        return "> 99.9"
    return "< 0.1" if text == "0.0" and share > 0 else text


def p_value(value: Any) -> str:
    """Return a p-value with three decimals, or "< .001" (APA 7, section 6.36).

    >>> p_value(0.0004), p_value(0.0456), p_value(1.0)
    ('< .001', '.046', '> .999')
    """
    if pd.isna(value):
        return MISSING
    if float(value) < 0.001:
        return "< .001"
    text = f"{float(value):.3f}"
    return "> .999" if text == "1.000" else text[1:]


def count(value: Any) -> str:
    """Return a count with commas between thousands.

    >>> count(1860)
    '1,860'
    """
    return MISSING if pd.isna(value) else f"{int(value):,}"


def counted(n: Any, one: str, several: str | None = None) -> str:
    """Return a count with its noun: "no" where there is none, the singular of one.

    >>> counted(0, "text"), counted(1, "text"), counted(1860, "text"), counted(2, "study", "studies")
    ('no texts', '1 text', '1,860 texts', '2 studies')
    """
    noun = one if n == 1 else several or f"{one}s"
    return f"{count(n) if n else 'no'} {noun}"


def count_range(counts: Iterable[Any]) -> str:
    """Return the count that all rows share, or their range.

    >>> count_range([40, 40]), count_range([38, 40])
    ('40', '38–40')
    """
    known = sorted({int(value) for value in counts if not pd.isna(value)})
    if not known:
        return "none"
    return count(known[0]) if len(known) == 1 else f"{count(known[0])}–{count(known[-1])}"


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


def interval_name(rows: Sequence[Mapping[str, Any]], *, frame_name: str) -> str:
    """Name the intervals of a result: their confidence level, then "CI".

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
