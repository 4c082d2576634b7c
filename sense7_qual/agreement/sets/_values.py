"""The set of codes that each coder gave each unit: read from lists of sets, arrays and decisions.

Sets are numbered, and everything later works on the numbers: there are far fewer distinct sets than units.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence, Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._messages import did_you_mean, first_three, word
from sense7_qual._missing_words import words_for_missing
from sense7_qual.agreement._counts import own_decisions
from sense7_qual.agreement._values import check_rows, named_table, refuse_other_frames, warn_of_shape
from sense7_qual.errors import ArgumentError, TableError

Label = Hashable
Sets = Sequence[Sequence[Iterable[Label] | None]] | pd.DataFrame | npt.NDArray[Any]
Integers = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.signedinteger[Any]]
Truths = npt.NDArray[np.bool_]

_BLOCK: Final = 32_768  # units handled at a time, within a processor's second cache
_BITS: Final = 20  # up to so many labels are numbered through a table of all sets
_CONTAINERS: Final = (frozenset, set, list, tuple)
SetDistance = Literal["masi", "jaccard", "dice"]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SetPatterns:
    """The set of codes that each coder gave each unit.

    Attributes
    ----------
    sets : tuple of frozenset
        The S distinct sets that occur, among them the empty set where a coder gave no code.
    values : array (coders, units) of int64
        The place in `sets` of a coder's set of a unit, 0 … S − 1; −1 where the coder has not decided.
    coders, unit_ids : tuple of str
        The names of the rows and of the columns.
    """

    sets: tuple[frozenset[str], ...]
    values: Integers
    coders: tuple[str, ...]
    unit_ids: tuple[str, ...]


def set_patterns(decisions: pd.DataFrame, *, function: str = "overall") -> SetPatterns:
    """Return the set of codes that each coder gave each unit.

    A coder's set of a unit is missing unless the coder has decided on every code of `decisions` there.
    Computed decisions are left out, and those of models with a warning in the name of `function`. The order
    of rows changes nothing.

    Examples
    --------
    >>> decisions = pd.DataFrame({"unit_id": "m1", "coder": ["ana", "ana", "ben"],
    ...                           "code": ["interest", "prosocial", "interest"],
    ...                           "applied": [True, True, False]})
    >>> set_patterns(decisions).values.tolist()  # ben has not decided on prosocial
    [[0], [-1]]
    """
    own = own_decisions(decisions, function=function)
    unit, unit_ids = pd.factorize(own["unit_id"], sort=True)
    coder, coders = pd.factorize(own["coder"], sort=True)
    code, codes = pd.factorize(own["code"], sort=True)
    shape = (len(coders), len(unit_ids), len(codes))
    place = np.ravel_multi_index((coder, unit, code), shape) if len(own) else np.empty(0, dtype=np.int64)
    decided = np.bincount(coder * len(unit_ids) + unit, minlength=shape[0] * shape[1]) == len(codes)
    given = np.zeros(shape, dtype=np.bool_)
    given.reshape(-1)[place[own["applied"].to_numpy(dtype=np.bool_)]] = True
    values, members = _distinct(given, decided.reshape(shape[:2]))
    names = np.array([str(name) for name in codes], dtype=object)
    return SetPatterns(
        sets=tuple(frozenset(names[row]) for row in members),
        values=values.astype(np.int64),
        coders=tuple(map(str, coders)),
        unit_ids=tuple(map(str, unit_ids)),
    )


def membership(sets: Sequence[AbstractSet[Label]]) -> Truths:
    """Return the labels of each set as truth values (S, labels), labels in order of first appearance."""
    labels = {label: place for place, label in enumerate(dict.fromkeys(x for one in sets for x in one))}
    members = np.zeros((len(sets), len(labels)), dtype=np.bool_)
    for row, one in enumerate(sets):
        members[row, [labels[label] for label in one]] = True
    return members


def parsed(sets: Sets) -> tuple[Numbers, Truths]:
    """Return the number of each set (coders, units), −1 missing, and the sets' labels (S, labels)."""
    named = isinstance(sets, pd.DataFrame)
    if isinstance(sets, pd.DataFrame):
        sets = named_table(sets).values
    refuse_other_frames(sets)
    if isinstance(sets, np.ndarray) and sets.ndim == 3:
        warn_of_shape(*sets.shape[:2])
        return _of_indicators(sets)
    given = _sequence(sets, "one row of sets per coder")
    check_rows(given)
    rows = [_sequence(row, f"a list of sets from coder {coder}") for coder, row in enumerate(given)]
    lengths = {len(row) for row in rows}
    if len(lengths) > 1:
        raise TableError(
            f"sets: expected as many units from every coder – found rows of {first_three(sorted(lengths))} – "
            "give None where a coder has no set."
        )
    known = _Numbered()
    values = np.empty((len(rows), lengths.pop() if lengths else 0), dtype=np.int64)
    if not named:
        warn_of_shape(*values.shape)
    for coder, row in enumerate(rows):
        values[coder] = np.fromiter(_numbered(row, coder, known), dtype=np.int64, count=len(row))
    _refuse_words_for_missing(known.sets)
    return values, membership(list(known.sets))


def _refuse_words_for_missing(sets: Iterable[AbstractSet[Label]]) -> None:
    """Refuse sets of one label that means "missing": the set itself would be missing, or empty."""
    found = words_for_missing(label for one in sets if len(one) == 1 for label in one)
    if found:
        raise TableError(
            f"sets: expected None where a coder has no set – found {first_three(found)} as a label – write "
            "None where the coder did not decide, and the empty set where no label applies."
        )


class _Numbered(dict[Collection[Label], int]):
    """The number of each set, under each order in which its labels were met.

    A set is found by the tuple of its labels, which is cheaper to make and to look up than a frozenset.
    """

    def __init__(self) -> None:
        self.sets: dict[frozenset[Label], int] = {}

    def __missing__(self, labels: Collection[Label]) -> int:
        words = (label.strip() if isinstance(label, str) else label for label in labels)
        number = self.sets.setdefault(frozenset(label for label in words if label != ""), len(self.sets))
        self[labels] = number
        return number


def _of_indicators(given: npt.NDArray[Any]) -> tuple[Numbers, Truths]:
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


def _distinct(given: Truths, decided: Truths) -> tuple[Numbers, Truths]:
    """Number the distinct rows of labels of an array (coders, units, codes), −1 where not decided."""
    n_codes = given.shape[2]
    if n_codes > _BITS:
        return _distinct_of_many(given, decided)
    # Bits are counted down, so that sets stand in the order of their labels and the empty one last.
    full = 1 << n_codes
    key = np.empty(decided.shape, dtype=np.min_scalar_type(full))
    counts = np.zeros(full, dtype=np.int64)
    everyone = bool(decided.all())
    for coder, start in itertools.product(range(len(given)), range(0, given.shape[1], _BLOCK)):
        units = slice(start, start + _BLOCK)
        bits = key[coder, units]
        bits[:] = 0
        for code in range(n_codes):
            bits <<= 1
            bits |= given[coder, units, code]
        np.subtract(full - 1, bits, out=bits)
        counts += np.bincount(bits if everyone else bits[decided[coder, units]], minlength=full)
    occurs = np.flatnonzero(counts)
    number = np.full(full, -1, dtype=np.min_scalar_type(-full))
    number[occurs] = np.arange(len(occurs))
    values = number[key]
    if not everyone:
        values[~decided] = -1
    return values, ((full - 1 - occurs)[:, None] >> np.arange(n_codes)[::-1] & 1).astype(np.bool_)


def _distinct_of_many(given: Truths, decided: Truths) -> tuple[Numbers, Truths]:
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


def _numbered(row: Sequence[Any], coder: int, known: _Numbered) -> Iterator[int]:
    """Return the numbers of a coder's sets, −1 where missing."""
    kinds = set(map(type, row))
    if kinds == {frozenset}:  # it remembers its hash
        return map(known.__getitem__, row)
    if kinds <= {frozenset, set}:
        return map(known.__getitem__, map(tuple, row))
    if kinds <= {frozenset, set, type(None)}:
        return (-1 if one is None else known[tuple(one)] for one in row)
    return (-1 if _missing(one) else known[labels_of(one, coder, unit)] for unit, one in enumerate(row))


def _missing(one: object) -> bool:
    return one is None or one is pd.NA or (isinstance(one, float) and np.isnan(one))


def labels_of(one: object, coder: int, unit: int) -> frozenset[Label]:
    """Return a set of labels, or raise with the place of anything else (never its value, maybe a text)."""
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


def distance(a: Iterable[Label], b: Iterable[Label], distance: SetDistance) -> float:
    """Return the distance between two sets of labels, 0 to 1.

    Parameters
    ----------
    a, b : set of labels
        May be empty: two empty sets have distance 0, an empty one and another 1.
    distance : {"masi", "jaccard", "dice"}
        "masi": 1 − Jaccard × monotonicity, which is 1 for equal sets, 2/3 where one is within the other, 1/3
        where they overlap and 0 where they do not. "jaccard": the share of all their labels that are not in
        both, ``1 − |a ∩ b| / |a ∪ b|``. "dice": ``1 − 2·|a ∩ b| / (|a| + |b|)``.

    Returns
    -------
    float
        0 to 1.

    Raises
    ------
    ArgumentError
        The distance is unknown.
    TableError
        Not a set, frozenset, list or tuple of labels.

    References
    ----------
    Passonneau (2006), Measuring agreement on set-valued items (MASI) for semantic and pragmatic annotation.
    (Versions of nltk before 3.6 took .67 and .33 for the thirds.) Jaccard (1912), The distribution of the
    flora in the alpine zone, New Phytologist 11, 37–50. Dice (1945), Measures of the amount of ecologic
    association between species, Ecology 26, 297–302.

    Examples
    --------
    >>> round(distance({1, 2}, {1, 2, 3, 4}, "masi"), 4), round(distance({1, 2}, {2, 3}, "masi"), 4)
    (0.6667, 0.8889)
    >>> distance({1, 2}, {1, 2, 3, 4}, "jaccard"), round(distance({1, 2}, {1, 2, 3, 4}, "dice"), 4)
    (0.5, 0.3333)
    """
    check_arguments(globals()["distance"], locals(), but=("distance",))  # a parameter has its name
    check_distance(distance)
    both = [labels_of(a, 0, 0), labels_of(b, 1, 0)]
    members = membership(both)
    return float(distances(members[:1], members[1:], distance)[0, 0])


def set_distances(sets: Sequence[AbstractSet[Label]], *, distance: SetDistance) -> Floats:
    """Return the distance of each set from each other set.

    The result (S, S) is 0 to 1 and takes S² · 8 bytes: 8 MB for 1,000 sets.

    Examples
    --------
    >>> set_distances([frozenset(), {"a"}, {"a", "b"}], distance="jaccard").tolist()
    [[0.0, 1.0, 1.0], [1.0, 0.0, 0.5], [1.0, 0.5, 0.0]]
    """
    check_distance(distance)
    members = membership(sets)
    return distances(members, members, distance)


def check_distance(distance: str) -> None:
    """Raise `ArgumentError` with the nearest distance's name where there is none of that name."""
    if not isinstance(distance, str) or distance not in get_args(SetDistance):
        raise ArgumentError(
            f"distance: expected one of {', '.join(get_args(SetDistance))} – found {word(distance)} – "
            f"{did_you_mean(str(distance), get_args(SetDistance))}"
        )


def _formula(
    common: npt.NDArray[Any], size_a: npt.NDArray[Any], size_b: npt.NDArray[Any], distance: SetDistance
) -> Floats:
    """Return the distances of sets from the numbers of labels in both and in each."""
    both, either = size_a + size_b, size_a + size_b - common
    if distance == "dice":
        near = np.divide(2 * common, both, out=np.ones(np.shape(both)), where=both > 0)
        return np.asarray(1 - near)
    near = np.divide(common, either, out=np.ones(np.shape(either)), where=either > 0)
    if distance == "masi":
        within = common == np.minimum(size_a, size_b)
        near = near * np.where(common == either, 1.0, np.where(within, 2 / 3, 1 / 3))
    return np.asarray(1 - near)


def row_distances(members_a: Truths, members_b: Truths, distance: SetDistance) -> Floats:
    """Return the distance of each set from the other of its row (A,)."""
    common = (members_a & members_b).sum(axis=1)
    return _formula(common, members_a.sum(axis=1), members_b.sum(axis=1), distance)


def distances(members_a: Truths, members_b: Truths, distance: SetDistance) -> Floats:
    """Return the distances of sets from other sets (A, B), given which label is in which set (A, labels)."""
    common = members_a.astype(np.float64) @ members_b.T.astype(np.float64)
    return _formula(common, members_a.sum(axis=1)[:, None], members_b.sum(axis=1)[None, :], distance)
