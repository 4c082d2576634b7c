"""Are the values that coders gave those of one scale? Words for "missing" and slips would be categories."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from sense7_qual._coder_names import spelling
from sense7_qual._messages import first_three, outside, shown
from sense7_qual._missing_words import words_for_missing
from sense7_qual._rating_values import codes_for_missing, counted, zeros_for_missing
from sense7_qual.agreement.coefficients._patterns import Coded, Patterns
from sense7_qual.agreement.coefficients._weights import places_named, wanted
from sense7_qual.errors import TableError

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

_FEWEST_CELLS: Final = 20
_USUAL: Final = 3
"""A category that was given once is pointed out among so many cells, where every other has so many."""
_LOOKS_LIKE: Final = {"o": "0", "l": "1", "i": "1"}
"""Letters that are typed for a digit."""
_VARIATION: Final = re.compile("[\ufe0e\ufe0f\u200b-\u200d]")
"""What makes two emoji, or words, that look alike differ."""
_STATE: Final = "state the scale if they are values: categories=[…] with every value"


def check_scale(
    table: Coded | Patterns,
    categories: Sequence[Any] | None,
    *,
    level: object = None,
    takes_categories: bool = True,
) -> None:
    """Refuse values that are not among `categories` or, without these, what is likely no value of the scale.

    These are codes and words for missing, and one word in two spellings. A value that was given once is
    pointed out. A function that takes no categories warns of a 0 next to 1 to 5, which nothing could allow.
    Values whose distances are given as `level` are all of the scale.
    """
    levels, counts = _given(table)
    if categories is not None and len(levels):
        places_named(levels, wanted(categories, text=levels.dtype == object))
    if categories is not None or table.ordered or not len(levels):
        return
    words = [str(level) for level in levels] if levels.dtype == object else []
    _refuse_words_for_missing(words, counts)
    _refuse_two_spellings(words)
    _refuse_letters_among_digits(words)
    try:  # words may be numbers as text
        numbers = levels.astype(np.float64)
    except ValueError:
        _say_given_once(words, counts)
        return
    order = np.argsort(numbers)
    if np.isfinite(numbers).all():
        zero = levels[numbers == 0]
        asked = (level is None or isinstance(level, str)) and bool(len(zero)) and _is_anywhere(table, zero[0])
        _check_numbers(numbers[order], counts[order], asked=asked, takes_categories=takes_categories)


def _given(table: Coded | Patterns) -> tuple[npt.NDArray[Any], Counts]:
    """Return the values that occur, and in how many cells."""
    if isinstance(table, Patterns):
        counts = table.marginals.astype(np.int64)
    else:
        counts = np.bincount(table.codes.ravel(), minlength=len(table.categories) + 1)[1:]
    return table.categories[counts > 0], counts[counts > 0]


def _refuse_words_for_missing(words: Sequence[str], counts: Counts) -> None:
    found = words_for_missing(words)
    if found and len(found) < len(words):
        n = dict(zip(words, counts.tolist(), strict=True))
        named = ", ".join(f"{word!r} in {n[word]} cells" for word in found[:3])
        raise TableError(
            f"values: expected missing values to be None or NaN – found {named}, as what is missing is "
            f"called – make them missing, or {_STATE}."
        )


def _refuse_two_spellings(words: Sequence[str]) -> None:
    """Refuse words that differ in case, spaces or a number's form alone: "Yes" and "yes", "1" and "1.0"."""
    folded = [_spelling(word) for word in words]
    times = Counter(folded)
    alike = [word for word, fold in zip(words, folded, strict=True) if times[fold] > 1]
    if alike:
        raise TableError(
            "values: expected one spelling of each category – found "
            f"{first_three(shown(one, limit=20) for one in alike)} – use one, such as "
            f"frame.apply(lambda column: column.str.lower()), or {_STATE}."
        )


def _spelling(word: str) -> str:
    bare = _VARIATION.sub("", spelling(word))
    folded = re.sub(r"[\s_-]+", " ", bare).strip(" .:;!")
    try:
        return repr(float(folded.replace(",", "."))) if folded else word
    except ValueError:
        return folded


def _refuse_letters_among_digits(words: Sequence[str]) -> None:
    letters = [word for word in words if word.casefold() in _LOOKS_LIKE]
    others = [word for word in words if word not in letters]
    if letters and others and all(other.isdecimal() for other in others):
        raise TableError(
            f"values: expected digits, as the other values are – found the letter {letters[0]!r}, as it is "
            f"typed for {_LOOKS_LIKE[letters[0].casefold()]} – correct it, or {_STATE}."
        )


def _is_anywhere(table: Coded | Patterns, level: Any) -> bool:
    """Return True if coders do not agree beyond chance on where a value is, as on one that means "missing".

    Of few cells it cannot be told, and a value that most cells have means something.
    """
    place = int(np.flatnonzero(table.categories == level)[0])
    if isinstance(table, Patterns):
        given, values, times = table.counts[:, place], table.counts.sum(axis=1), table.n_units
    else:
        given, values = (table.codes == place + 1).sum(axis=0), (table.codes > 0).sum(axis=0)
        times = np.ones(len(values), dtype=np.int64)
    pairable = values >= 2
    given, values, times = given[pairable], values[pairable], times[pairable]
    apart = float((times * given * (values - given) / (values - 1)).sum())
    n, n_given = int((times * values).sum()), int((times * given).sum())
    is_rare = n >= _FEWEST_CELLS and 2 * n_given <= n
    return is_rare and (n - 1) * apart >= n_given * (n - n_given)


def _check_numbers(numbers: Floats, counts: Counts, *, asked: bool, takes_categories: bool) -> None:
    """Refuse codes for missing, among them a 0 next to 1 to 5 where it is `asked` about."""
    bad = codes_for_missing(numbers)
    zero = np.zeros(len(numbers), dtype=np.bool_)
    zero[~bad] = zeros_for_missing(numbers[~bad]) & asked
    if zero.any() and not takes_categories:
        warnings.warn(
            f"values: 0 in {counts[zero][0]} cells counts as a value next to {numbers[~bad & ~zero][0]:g} to "
            f"{numbers[~bad][-1]:g}. Make it missing (NaN) if it means so.",
            RuntimeWarning,
            stacklevel=outside(),
        )
    elif zero.any():
        bad |= zero
    if bad.any():
        others = f"{numbers[~bad][0]:g} to {numbers[~bad][-1]:g}"
        codes = counted(numbers[bad], counts[bad], unit="cells")
        raise TableError(
            f"values: expected missing values to be None or NaN – found {codes}, next to {others}"
            f", as codes for missing are – make them missing, or {_STATE}."
        )
    _say_far_off(numbers, counts)


def _say_given_once(words: Sequence[str], counts: Counts) -> None:
    """Warn of the one word that was given once, where all others are usual: it may be a slip."""
    if _one_is_rare(counts):
        _say(f"the category {shown(words[int(counts.argmin())], limit=20)!r}")


def _say_far_off(numbers: Floats, counts: Counts) -> None:
    """Warn of a number that was given once and lies beyond all others: 44 next to 1 to 5."""
    at = int(counts.argmin())
    if not _one_is_rare(counts) or at not in (0, len(numbers) - 1) or len(numbers) < 3:
        return
    rest = np.delete(numbers, at)
    gap = numbers[at] - rest[-1] if at else rest[0] - numbers[at]
    if gap > max(1.0, float(np.diff(rest).max())):
        _say(f"the value {numbers[at]:g}, next to {rest[0]:g} to {rest[-1]:g},")


def _one_is_rare(counts: Counts) -> bool:
    return bool(
        counts.sum() >= _FEWEST_CELLS
        and (counts == 1).sum() == 1
        and (counts >= _USUAL).sum() == len(counts) - 1
    )


def _say(what: str) -> None:
    warnings.warn(
        f"values: {what} was given once. Correct it if it is a slip, or state the scale: categories=[…].",
        RuntimeWarning,
        stacklevel=outside(),
    )
