"""The one representation behind every coefficient: a table *pattern → number of units*.

A pattern is how many coders gave a unit each value. Units of one pattern are interchangeable for every
coefficient that treats coders alike, so a million units shrink to a few hundred rows, and a resample is a set
of numbers of units rather than a new table. Coefficients that tell coders apart (Cohen, Conger, Light) keep
in each pattern who gave which value.

Reading a table has two steps: `coded` reads the values and numbers them, `tally` counts the patterns.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from sense7_qual.agreement._values import Coded, bad_values, blocks, coded
from sense7_qual.errors import ArgumentError

__all__ = [
    "Coded",
    "Patterns",
    "as_patterns",
    "bad_values",
    "coded",
    "from_values",
    "joint_numbers",
    "known_coders",
    "tally",
    "tally_units",
]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Truths = npt.NDArray[np.bool_]

_JOINT: Final = 2**18
"""Joint patterns that are counted in one array; where more are possible, only those that occur are kept."""
_LARGEST_TABLE: Final = 2 * 10**8
"""Cells of patterns × values; more would not fit an ordinary machine."""


@dataclass(frozen=True, slots=True)
class Patterns:
    """Numbers of units by pattern of values: the one representation behind every coefficient.

    Only units with at least one value are included.

    Attributes
    ----------
    categories : ndarray (V,)
        The values that occur: numbers as float64, sorted; or strings as objects, sorted by the alphabet or,
        where they are `ordered`, as on their scale.
    counts : ndarray (P, V), int64
        Number of coders who gave each value, one row per distinct pattern.
    n_units : ndarray (P,), int64
        Number of units with that pattern, 1 or more.
    coders : ndarray (P, C), int64, or None
        Each coder's value, as its place in `categories`; −1 is missing. Coefficients that distinguish coders
        need it; rows of `counts` may then repeat.
    ordered : bool
        Whether strings are in an order that the caller gave.
    """

    categories: npt.NDArray[Any]
    counts: Integers
    n_units: Integers
    coders: Integers | None = None
    ordered: bool = False

    @property
    def marginals(self) -> Floats:
        """How often each value was given in all (V,)."""
        return np.asarray(self.n_units @ self.counts, dtype=np.float64)

    @property
    def n_values(self) -> Integers:
        """How many values a unit of each pattern has (P,), 1 or more."""
        return np.asarray(self.counts.sum(axis=1), dtype=np.int64)

    def pairable(self) -> Patterns:
        """Return the patterns of units with two or more values, and only the values that occur in them."""
        has_pairs = self.n_values >= 2
        used = self.counts[has_pairs].sum(axis=0) > 0
        if has_pairs.all() and used.all():
            return self
        coders = None
        if self.coders is not None:
            coders = _places(used)[self.coders[has_pairs]]
        return replace(
            self,
            categories=self.categories[used],
            counts=self.counts[has_pairs][:, used],
            n_units=self.n_units[has_pairs],
            coders=coders,
        )


def from_values(values: npt.ArrayLike, *, keep_coders: bool = False) -> Patterns:
    """Count the units with each pattern of values.

    `values` (coders, units) are numbers (truth values count as 0 and 1) or strings. NaN, None, pandas' NA,
    blank strings and what a masked array hides are missing; white space around strings does not count.
    `keep_coders` keeps who gave which value, for coefficients that tell coders apart. Units without a value
    have no pattern.

    Examples
    --------
    Three units with two zeros, one with a zero and a one, and one that nobody has seen:

    >>> patterns = from_values([[0, 0, 0, 0, None], [0, 0, 0, 1, None]])
    >>> patterns.counts.tolist(), patterns.n_units.tolist()
    ([[2, 0], [1, 1]], [3, 1])
    """
    return tally(coded(values), keep_coders=keep_coders)


def as_patterns(values: npt.ArrayLike | Patterns, *, keep_coders: bool = False) -> Patterns:
    """Return `values` as patterns; patterns are passed on, and must have coders where those are needed."""
    if not isinstance(values, Patterns):
        return from_values(values, keep_coders=keep_coders)
    if keep_coders:
        known_coders(values)
    return values


def known_coders(patterns: Patterns) -> Integers:
    """Return each coder's value (P, C), or raise `ArgumentError` for patterns without coders."""
    if patterns.coders is None:
        raise ArgumentError(
            "values: expected patterns with coders (who gave which value) – found patterns without – "
            "make them with keep_coders=True."
        )
    return patterns.coders


def tally(table: Coded, *, keep_coders: bool = False) -> Patterns:
    """Count the patterns of a coded table."""
    return _counted(table, keep_coders, locate=False)[0]


def tally_units(table: Coded, *, keep_coders: bool = False) -> tuple[Patterns, Integers]:
    """Count the patterns of a coded table, and say which pattern each unit has (units,), −1 for none."""
    return _counted(table, keep_coders, locate=True)


# ---- counting -----------------------------------------------------------------------------------------


def _counted(table: Coded, keep_coders: bool, *, locate: bool) -> tuple[Patterns, Integers]:
    if not _fits_jointly(table):
        table = _without_unused(table)
    if not len(table.codes):  # no coder at all: as one who has seen nothing
        table = replace(table, codes=np.zeros((1, table.codes.shape[1]), dtype=np.uint8))
    count = _joint if _fits_jointly(table) else _in_blocks
    rows, n_units, which = count(table.codes, len(table.categories) + 1, keep_coders, locate)
    # Units that nobody gave a value to are not in the table.
    has_values = np.asarray(rows.any(axis=1), dtype=np.bool_)
    if not has_values.all():
        rows, n_units, which = rows[has_values], n_units[has_values], _places(has_values)[which]
    used = np.zeros(len(table.categories) + 1, dtype=np.bool_)
    used[rows] = True
    rows = _places(used[1:])[rows.astype(np.int64) - 1]
    patterns = Patterns(
        categories=table.categories[used[1:]],
        counts=_counts(rows, int(used[1:].sum())),
        n_units=n_units.astype(np.int64),
        coders=rows if keep_coders else None,
        ordered=table.ordered,
    )
    return patterns, which


def _counts(rows: Integers, n_categories: int) -> Integers:
    """Count each category in each row (P, V); −1 is missing."""
    if len(rows) * n_categories > _LARGEST_TABLE:
        raise ArgumentError(
            f"values: expected a scale of categories – found {n_categories} different values in {len(rows)} "
            "patterns – group them, or take krippendorff_alpha, which does without their table."
        )
    cells = rows + 1 + np.arange(len(rows))[:, None] * (n_categories + 1)
    counts = np.bincount(cells.ravel(), minlength=len(rows) * (n_categories + 1))
    return np.ascontiguousarray(counts.reshape(len(rows), n_categories + 1)[:, 1:], dtype=np.int64)


def _fits_jointly(table: Coded) -> bool:
    return bool((len(table.categories) + 1) ** len(table.codes) <= _JOINT)


def _joint(
    codes: npt.NDArray[Any], size: int, keep_coders: bool, locate: bool
) -> tuple[Integers, Integers, Integers]:
    """Count in an array with a cell for every possible joint pattern: one addition a unit."""
    n_joint = size ** len(codes)
    keys = np.empty(codes.shape[1] if locate else 0, dtype=np.min_scalar_type(n_joint))
    counts = np.zeros(n_joint, dtype=np.int64)
    for block in blocks(1, codes.shape[1]):
        key = joint_numbers(codes[:, block], size)
        counts += np.bincount(key, minlength=n_joint)
        if locate:
            keys[block] = key
    shape, occur = (size,) * len(codes), np.flatnonzero(counts)
    kinds = occur
    if not keep_coders:
        kinds = np.ravel_multi_index(tuple(np.sort(np.stack(np.unravel_index(occur, shape)), axis=0)), shape)
    n_units = np.bincount(kinds, counts[occur], minlength=n_joint).astype(np.int64)
    distinct = np.flatnonzero(n_units)
    place = np.full(n_joint, -1, dtype=np.int64)
    place[distinct] = np.arange(len(distinct))
    place[occur] = place[kinds]
    return np.stack(np.unravel_index(distinct, shape), axis=1), n_units[distinct], place[keys]


def joint_numbers(rows: npt.NDArray[Any], size: int) -> npt.NDArray[Any]:
    """Return one number for each column of numbers below `size`, the first row counting most."""
    number, so_far = rows[0], size
    for row in rows[1:]:
        so_far *= size
        # In the smallest type that holds it: most of the work is moving bytes.
        number = np.multiply(number, size, dtype=np.min_scalar_type(so_far))
        number += row
    return np.asarray(number)


def _in_blocks(
    codes: npt.NDArray[Any], size: int, keep_coders: bool, locate: bool
) -> tuple[Integers, Integers, Integers]:
    """Find the distinct patterns of each block of units, then those of all blocks."""
    parts, places, start = [], [], 0
    for block in blocks(1, codes.shape[1]):
        units = codes[:, block].T
        distinct, n_units, inverse = _distinct(units, np.ones(len(units)), size, keep_coders)
        parts.append((distinct, n_units))
        if locate:
            places.append(inverse + start)
        start += len(distinct)
    width = max((distinct.shape[1] for distinct, _ in parts), default=len(codes))
    padded = [np.pad(rows, ((0, 0), (width - rows.shape[1], 0))) for rows, _ in parts]
    rows = np.concatenate([np.empty((0, width), dtype=codes.dtype), *padded])
    weights = np.concatenate([np.empty(0), *(n_units for _, n_units in parts)])
    distinct, n_units, inverse = _distinct(rows, weights, size, keep_coders)
    where = inverse[np.concatenate(places)] if places else np.empty(0, dtype=np.int64)
    return distinct, n_units, where


def _distinct(
    rows: npt.NDArray[Any], weights: npt.NDArray[Any], size: int, keep_coders: bool
) -> tuple[Integers, Integers, Integers]:
    """Return the distinct rows, the sum of the weights of each, and which of them each row is.

    Where coders are not kept, the order of values within a row means nothing: the rows are sorted.
    """
    if not keep_coders:
        rows = np.sort(rows, axis=1)
        filled = np.flatnonzero(rows.any(axis=0))
        rows = rows[:, filled[0] :] if len(filled) else rows[:, -1:]
    if size ** rows.shape[1] < 2**63:
        powers = np.array([size**place for place in range(rows.shape[1])][::-1], dtype=np.int64)
        _, first, inverse = np.unique(rows @ powers, return_index=True, return_inverse=True)
        distinct = rows[first]
    else:
        distinct, inverse = np.unique(rows, axis=0, return_inverse=True)
    inverse = inverse.ravel()
    n_units = np.bincount(inverse, weights, minlength=len(distinct)).astype(np.int64)
    return distinct.astype(np.int64), n_units, inverse


def _places(used: Truths) -> Integers:
    """Return the new place of each value when unused ones are dropped; the last, place −1, stays missing."""
    return np.append(np.where(used, np.cumsum(used) - 1, -1), -1).astype(np.int64)


def _without_unused(table: Coded) -> Coded:
    """Drop the categories that do not occur, and renumber the others."""
    size = len(table.categories) + 1
    given = np.zeros(size, dtype=np.int64)
    for row in table.codes:
        for block in blocks(1, len(row)):
            given += np.bincount(row[block], minlength=size)
    used = given[1:] > 0
    if used.all():
        return table
    numbers = np.append(0, _places(used)[:-1] + 1).astype(table.codes.dtype)
    return replace(table, categories=table.categories[used], codes=numbers[table.codes])
