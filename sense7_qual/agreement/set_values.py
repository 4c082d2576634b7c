"""Which set of codes each coder gave each unit: read from lists of sets, arrays and decisions.

Sets are numbered, and everything later works on the numbers: there are far fewer distinct sets than units.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual.acts import RESERVED_CODERS
from sense7_qual.errors import TableError, first_three
from sense7_qual.tables import DECISIONS

__all__ = ["SetPatterns", "labels_of", "membership", "parsed", "representatives", "set_patterns"]

Label = Hashable
Sets = Sequence[Sequence[Iterable[Label] | None]] | npt.NDArray[Any]
Integers = npt.NDArray[np.int64]
Truths = npt.NDArray[np.bool_]

_BINS: Final = 2**22  # where keys are smaller than this, counting into bins is faster than sorting them
_BITS: Final = 20  # so many labels are numbered through bins
_CONTAINERS: Final = (frozenset, set, list, tuple)


@dataclass(frozen=True, slots=True)
class SetPatterns:
    """Which set of codes each coder gave each unit.

    Attributes
    ----------
    sets : tuple of frozenset
        The distinct sets that occur, S of them; the empty set is one of them where a coder gave no code.
    values : array (coders, units) of int64
        Which of `sets` a coder gave a unit, 0 … S − 1; −1 where the coder has not decided.
    coders, unit_ids : tuple of str
        Whose the rows, and what the columns are.
    """

    sets: tuple[frozenset[str], ...]
    values: Integers
    coders: tuple[str, ...]
    unit_ids: tuple[str, ...]


def set_patterns(decisions: pd.DataFrame) -> SetPatterns:
    """Return which set of codes each coder gave each unit.

    Parameters
    ----------
    decisions : DataFrame
        unit_id, coder, code, applied (bool). A coder's set of a unit counts where the coder has decided on
        every code of `decisions` there; otherwise it is missing. Decisions of `consensus`, `majority` and
        `pooled` are left out.

    Returns
    -------
    SetPatterns
        Units and coders in the order of their first appearance; sets in the order of the codes.

    Raises
    ------
    TableError
        `decisions` is not what its contract says.

    Examples
    --------
    >>> decisions = pd.DataFrame({"unit_id": "m1", "coder": ["ana", "ana", "ben"],
    ...                           "code": ["interest", "prosocial", "interest"], "applied": True})
    >>> set_patterns(decisions).values.tolist()  # ben has not decided on prosocial
    [[0], [-1]]
    """
    checked = DECISIONS.check(decisions)
    people = checked[~checked["coder"].isin(RESERVED_CODERS)]
    unit, unit_ids = pd.factorize(people["unit_id"])
    coder, coders = pd.factorize(people["coder"])
    code, codes = pd.factorize(people["code"])
    shape = (len(coders), len(unit_ids), len(codes))
    place = np.ravel_multi_index((coder, unit, code), shape) if len(people) else np.empty(0, dtype=np.int64)
    decided = np.bincount(coder * len(unit_ids) + unit, minlength=shape[0] * shape[1]) == len(codes)
    given = np.zeros(shape, dtype=np.bool_)
    given.reshape(-1)[place[people["applied"].to_numpy(dtype=np.bool_)]] = True
    values, members = _distinct(given, decided.reshape(shape[:2]))
    names = np.array([str(name) for name in codes], dtype=object)
    return SetPatterns(
        sets=tuple(frozenset(names[row]) for row in members),
        values=values,
        coders=tuple(map(str, coders)),
        unit_ids=tuple(map(str, unit_ids)),
    )


def representatives(key: Integers, size: int) -> tuple[Integers, Integers]:
    """Return the place of one occurrence of each distinct key below `size`, and its number of occurrences."""
    if size > _BINS:
        _, one, counts = np.unique(key, return_index=True, return_counts=True)
        return one, counts
    counts = np.bincount(key, minlength=size)
    place = np.empty(size, dtype=np.int64)
    place[key] = np.arange(len(key))
    occurs = np.flatnonzero(counts)
    return place[occurs], counts[occurs]


def membership(sets: Sequence[AbstractSet[Label]]) -> Truths:
    """Return which label is in which set (S, labels), labels in the order of their first appearance."""
    labels = {label: place for place, label in enumerate(dict.fromkeys(x for one in sets for x in one))}
    members = np.zeros((len(sets), len(labels)), dtype=np.bool_)
    for row, one in enumerate(sets):
        members[row, [labels[label] for label in one]] = True
    return members


def parsed(sets: Sets) -> tuple[Integers, Truths]:
    """Return the number of each set (coders, units), −1 missing, and the sets' labels (S, labels)."""
    if isinstance(sets, np.ndarray) and sets.ndim == 3:
        return _of_indicators(sets)
    rows = [
        _sequence(row, f"a list of sets from coder {coder}")
        for coder, row in enumerate(_sequence(sets, "one row of sets per coder"))
    ]
    lengths = {len(row) for row in rows}
    if len(lengths) > 1:
        raise TableError(
            f"sets: expected as many units from every coder – found rows of {first_three(sorted(lengths))} – "
            "give None where a coder has no set."
        )
    known: dict[AbstractSet[Label], int] = {}
    values = np.empty((len(rows), lengths.pop() if lengths else 0), dtype=np.int64)
    for coder, row in enumerate(rows):
        # No list of the sets is kept: most are let go at once, for an equal one is known.
        found = (-1 if one is None else known.setdefault(one, len(known)) for one in _row(row, coder))
        values[coder] = np.fromiter(found, dtype=np.int64, count=len(row))
    return values, membership(list(known))


def _of_indicators(given: npt.NDArray[Any]) -> tuple[Integers, Truths]:
    """Return the same as `parsed` from a 0/1 array (coders, units, codes)."""
    if given.dtype == np.bool_:
        return _distinct(given, np.ones(given.shape[:2], dtype=np.bool_))
    present: Truths = ~np.asarray(pd.isna(given), dtype=np.bool_)
    wrong = np.argwhere(present & ~np.isin(given, (0, 1)))
    if len(wrong):
        places = [f"coder {coder}, unit {unit}" for coder, unit, _ in wrong.tolist()]
        raise TableError(
            f"sets: expected 0 or 1 in an array (coders, units, codes) – found others at (counted from 0) "
            f"{first_three(places)} – 1 is given, 0 is not, NaN is missing."
        )
    return _distinct(np.asarray(present & (given == 1)), np.asarray(present.all(axis=2)))


def _distinct(given: Truths, decided: Truths) -> tuple[Integers, Truths]:
    """Number the distinct rows of labels of an array (coders, units, codes), −1 where not decided."""
    if given.shape[2] > _BITS:
        return _distinct_of_many(given, decided)
    # Bits are counted down, so that sets stand in the order of their labels and the empty one last. Powers
    # of two up to 2^20 are exact as 32-bit floats, whose product is ten times faster than that of integers.
    full = 1 << given.shape[2]
    bits = 2 ** np.arange(given.shape[2] - 1, -1, -1, dtype=np.float32)
    key = np.empty(decided.shape, dtype=np.int64)
    for place, row in zip(key, given, strict=True):
        place[:] = full - 1 - row.astype(np.float32) @ bits
    everyone = bool(decided.all())
    flat = key.reshape(-1) if everyone else key[decided]
    one, _ = representatives(flat, full)
    number = np.full(full, -1, dtype=np.int64)
    number[flat[one]] = np.arange(len(one))
    rows = given.reshape(decided.size, given.shape[2]) if everyone else given[decided]
    return number[key] if everyone else np.where(decided, number[key], -1), rows[one]


def _distinct_of_many(given: Truths, decided: Truths) -> tuple[Integers, Truths]:
    rows = given[decided]
    values = np.full(decided.shape, -1, dtype=np.int64)
    if not len(rows):
        return values, np.zeros((0, given.shape[2]), dtype=np.bool_)
    packed = np.packbits(~rows, axis=1)
    _, one, inverse = np.unique(packed, axis=0, return_index=True, return_inverse=True)
    values[decided] = inverse.reshape(-1)
    return values, rows[one]


def _sequence(value: object, expected: str) -> Sequence[Any]:
    if isinstance(value, str | bytes | AbstractSet | dict) or not isinstance(value, Iterable):
        raise TableError(
            f"sets: expected {expected} – found {type(value).__name__} – give [[set, set, …], [set, …]], one "
            "list per coder."
        )
    return value if isinstance(value, list | tuple) else list(value)


def _row(row: Sequence[Any], coder: int) -> Iterator[AbstractSet[Label] | None]:
    """Return a coder's sets as frozensets, None where missing."""
    kinds = {type(one) for one in row}
    if kinds <= {frozenset, set}:
        return map(frozenset, row)
    if kinds <= {frozenset, set, type(None)}:
        return (None if one is None else frozenset(one) for one in row)
    return (None if _missing(one) else labels_of(one, coder, unit) for unit, one in enumerate(row))


def _missing(one: object) -> bool:
    return one is None or one is pd.NA or (isinstance(one, float) and np.isnan(one))


def labels_of(one: object, coder: int, unit: int) -> frozenset[Label]:
    """Return a set of labels, or say where something else stands (never what: it may be a text)."""
    where = f"coder {coder}, unit {unit} (counted from 0)"
    if not isinstance(one, _CONTAINERS):
        raise TableError(
            f"sets: expected a set of labels – found {type(one).__name__} at {where} – write "
            "{'interest'} for one label, set() for none and None for missing."
        )
    try:
        return frozenset(one)
    except TypeError:
        raise TableError(
            f"sets: expected labels that are strings or numbers – found others at {where} – convert them."
        ) from None
