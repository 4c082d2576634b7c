"""Agreement where a coder may give a unit several codes at once: set alpha and multi-valued alpha.

Each unit then has a set of codes from each coder. There are three questions, each with its own number. *Is
each code applied reliably?* is the main one: `by_code`, one alpha for each code. *Do coders give the same
sets?*: `set_alpha`, alpha with a distance between sets. *Do they give the same sets more often than labels
drawn at random into sets of these sizes?*: `multivalued_alpha`.

An empty set is an answer ("finished, nothing applies"); only `None` is missing.
"""

from __future__ import annotations

import itertools
import warnings
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._reasons import Reason
from sense7_qual.agreement.coefficients._patterns import joint_numbers
from sense7_qual.agreement.sets._values import (
    Numbers,
    SetDistance,
    SetPatterns,
    Sets,
    check_distance,
    distance,
    distances,
    membership,
    parsed,
    row_distances,
    set_distances as set_distances,
    set_patterns as set_patterns,
)

__all__ = ["distance", "multivalued_alpha", "set_alpha"]


def __dir__() -> list[str]:
    return __all__


Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Truths = npt.NDArray[np.bool_]

_NO_DISAGREEMENT: Final = 1e-12  # what rounding leaves of an expected disagreement of 0
_BINS: Final = 2**22  # up to so many joint patterns are counted in an array with a cell for each
_BLOCK: Final = 2**22  # distances between sets that are held at a time


def set_alpha(sets: Sets, *, distance: SetDistance) -> float:
    """Return Krippendorff's alpha of coders who each give a unit a set of codes.

    Use it for one number on whole sets, where a partial match counts in part. Do not use it instead of the
    codes' own alphas (`by_code`): codes that everybody agrees on hide one that nobody agrees on. The distance
    changes the number, so report it: `masi` counts a subset for more than an overlap, `jaccard` counts shared
    codes against all codes given, `dice` counts the shared ones twice.

    Parameters
    ----------
    sets : sequence of coders' sequences of sets, frame of `from_wide`, or array (coders, units, codes)
        One row per coder, one set per unit: a set, frozenset, list or tuple of labels. `None` (or NaN) is
        missing; an empty set is an answer. An array has 1 or True where the code is given, else 0 or False;
        if one of a coder's codes is NaN, the coder's set of that unit is missing.
    distance : {"masi", "jaccard", "dice"}
        The distance between two sets, 0 to 1; see `distance`.

    Returns
    -------
    float
        At most 1 (equal sets); 0 is the agreement expected by chance; negative is less than that. NaN, with
        one warning, where no unit has two sets or all sets are the same. A unit with fewer than two sets does
        not count.

    Raises
    ------
    TableError
        Not one row per coder, rows of unequal length, or something that is no set of labels.
    ArgumentError
        An unknown distance.

    References
    ----------
    Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, section D, with a distance between sets
    instead of the metric, as Passonneau (2006), Measuring agreement on set-valued items (MASI) for
    semantic and pragmatic annotation, LREC. The distances are not squared.

    Examples
    --------
    >>> ana = [{"prosocial"}, {"affective", "prosocial"}, set(), {"interest"}]
    >>> ben = [{"prosocial"}, {"prosocial"}, set(), None]
    >>> round(set_alpha([ana, ben], distance="masi"), 3)
    0.667
    """
    check_distance(distance)
    values, members = parsed(sets)
    return _warned("set_alpha", *_set_alpha(values, members, distance))


def set_alpha_of(decisions: pd.DataFrame, *, distance: SetDistance) -> tuple[float, str | None]:
    """Return the set alpha of decisions, and a reason code where it cannot be computed.

    The second value is None, or why alpha is NaN: `no_pairable_units`, `no_variation`.

    Examples
    --------
    >>> decisions = pd.DataFrame({"unit_id": ["m1", "m1", "m2", "m2"], "coder": ["ana", "ben"] * 2,
    ...                           "code": "interest", "applied": [True, True, False, False]})
    >>> set_alpha_of(decisions, distance="masi")
    (1.0, None)
    """
    check_distance(distance)
    patterns = set_patterns(decisions)
    return _set_alpha(patterns.values, membership(patterns.sets), distance)


def set_table(sets: Sets | SetPatterns, *, distance: SetDistance) -> tuple[Floats, Floats]:
    """Return sets as numbers, and the distances that make Krippendorff's alpha of these numbers set alpha.

    In the table (coders, units) NaN is missing. The sets of units with two or more are numbered 0 … S − 1,
    those of others beyond.

    Examples
    --------
    >>> values, apart = set_table([[{"a"}, {"a", "b"}], [{"a"}, {"b"}]], distance="jaccard")
    >>> values.tolist(), apart.round(2).tolist()
    ([[0.0, 1.0], [0.0, 2.0]], [[0.0, 0.5, 1.0], [0.5, 0.0, 0.5], [1.0, 0.5, 0.0]])
    """
    check_distance(distance)
    if isinstance(sets, SetPatterns):
        given, members = sets.values, membership(sets.sets)
    else:
        numbers, members = parsed(sets)
        given = numbers.astype(np.int64)
    paired = given[:, (given >= 0).sum(axis=0) >= 2]
    used = np.unique(paired[paired >= 0])
    order = np.append(used, np.setdiff1d(np.arange(len(members)), used))
    place = np.empty(len(members) + 1)
    place[order] = np.arange(len(members))
    place[-1] = np.nan  # where −1, missing, points to
    return place[given], distances(members[used], members[used], distance)


def multivalued_alpha(sets: Sets) -> float:
    """Return the multi-valued alpha of Krippendorff and Craggs, for coders who give a unit a set of labels.

    Use it where labels are combined freely, so that the same set seldom occurs twice: chance agreement is
    that of labels drawn into sets of the sizes that occur, not that of sets. It is not comparable with
    `set_alpha`, which has another chance agreement. If every set has one label it is Krippendorff's nominal
    alpha.

    Parameters
    ----------
    sets : sequence of coders' sequences of sets, or array (coders, units, codes)
        As for `set_alpha`. `None` is missing; an empty set is an answer.

    Returns
    -------
    float
        At most 1 (equal sets); 0 is the agreement expected by chance; negative is less than that. NaN, with
        one warning, where no unit has two sets or chance allows no disagreement.

    Raises
    ------
    TableError
        Not one row per coder, rows of unequal length, or something that is no set of labels.

    Notes
    -----
    Observed disagreement is that of `set_alpha` with the Dice distance. For the expected one, every
    combination of two sets C and K of sizes that occur is weighted with the product of n over the labels of
    either and of n · (n − 1) over those of both, n being how many sets have the label (drawing without
    replacement); sizes are weighted with their shares. All combinations of a pair of sizes are summed at once
    as coefficients of ∏ (1 + n·x + n·y + n·(n − 1)·x·y), so many labels cost little.

    References
    ----------
    Krippendorff & Craggs (2016), The reliability of multi-valued coding of data, Communication Methods and
    Measures 10(4), 181–198.

    Examples
    --------
    Table 3 of the paper; .2866 is also what the R package mvalpha gives:

    >>> table_3 = [[{"b", "d"}, {"a", "b", "d"}, set(), {"a"}],
    ...            [{"d"}, {"b"}, {"a"}, None],
    ...            [None, {"b", "d"}, {"a"}, None]]
    >>> round(multivalued_alpha(table_3), 4)
    0.2866
    """
    values, members = parsed(sets)
    return _warned("multivalued_alpha", *_multivalued_alpha(values, members))


def _warned(function: str, alpha: float, reason: Reason | None) -> float:
    """Return alpha, with a warning in the name of the public function where there is none."""
    why = {
        Reason.NO_PAIRABLE_UNITS: "no unit has sets from two or more coders",
        Reason.NO_VARIATION: "all sets are the same in the units with two or more",
    }
    if reason:
        warnings.warn(
            f"{function} is not defined here (NaN, {reason}): {why[reason]}.", RuntimeWarning, stacklevel=3
        )
    return alpha


def _set_alpha(values: Numbers, members: Truths, distance: SetDistance) -> tuple[float, Reason | None]:
    """Return alpha, or NaN and the reason, from which set (coders, units) and their labels (S, labels)."""
    patterns, units = _counted(values)
    given = _given(patterns, units, len(members))
    if not given.any():
        return float("nan"), Reason.NO_PAIRABLE_UNITS
    if (given > 0).sum() < 2:
        return float("nan"), Reason.NO_VARIATION
    observed = _observed(patterns, units, members, distance)
    return float(1 - (given.sum() - 1) * observed / _expected(given, members, distance)), None


def _multivalued_alpha(values: Numbers, members: Truths) -> tuple[float, Reason | None]:
    patterns, units = _counted(values)
    given = _given(patterns, units, len(members))
    if not given.any():
        return float("nan"), Reason.NO_PAIRABLE_UNITS
    expected = _expected_of_labels(given, members)
    if expected < _NO_DISAGREEMENT:
        return float("nan"), Reason.NO_VARIATION
    return float(1 - _observed(patterns, units, members, "dice") / given.sum() / expected), None


def _counted(values: Numbers) -> tuple[Numbers, Integers]:
    """Return the distinct columns (coders, P) with two or more sets, and how many units have each (P,)."""
    base = int(values.max(initial=-1)) + 2
    if len(values) and base ** len(values) <= _BINS:
        given = np.add(values, 1, dtype=np.min_scalar_type(base), casting="unsafe")
        key = joint_numbers(given, base)
        counts = np.bincount(key, minlength=1)
        occur = np.flatnonzero(counts)
        patterns = np.stack(np.unravel_index(occur, (base,) * len(values))) - 1
        units = counts[occur]
    else:
        patterns, units = _counted_by_hash(values, base)
    pairable = (patterns >= 0).sum(axis=0) >= 2
    return (patterns, units) if pairable.all() else (patterns[:, pairable], units[pairable])


def _counted_by_hash(values: Numbers, base: int) -> tuple[Numbers, Integers]:
    key, size = np.zeros(values.shape[1], dtype=np.int64), 1
    for row in values:
        if size * base >= 2**62:
            key, size = pd.factorize(key)[0], values.shape[1] + 1
        key = key * base + row + 1
        size *= base
    which, kinds = pd.factorize(key)
    one = np.empty(len(kinds), dtype=np.int64)
    one[which] = np.arange(len(which))
    return values[:, one].astype(np.int64), np.bincount(which, minlength=len(kinds))


def _given(patterns: Numbers, units: Integers, n_sets: int) -> Floats:
    """Count how often each set was given in the units that count (S,)."""
    given = np.zeros(n_sets)
    for row in patterns:
        given += np.bincount(row[row >= 0], units[row >= 0], minlength=n_sets)
    return given


def _observed(patterns: Numbers, units: Integers, members: Truths, distance: SetDistance) -> float:
    """Return the sum over units of the distances between their sets, each by its number of sets − 1."""
    weight = units / ((patterns >= 0).sum(axis=0) - 1)
    if (len(members) + 1) ** 2 <= _BLOCK:
        # One row and one column more, of zeros, for the sets that are missing.
        between = np.pad(distances(members, members, distance), ((0, 1), (0, 1)))
        place = np.where(patterns < 0, len(members), patterns)
        pairs = itertools.combinations(place, 2)
        return 2 * sum(float(weight @ between.take(a * len(between) + b)) for a, b in pairs)
    total = 0.0
    for first, second in itertools.combinations(patterns, 2):
        unequal = np.flatnonzero((first >= 0) & (second >= 0) & (first != second))
        for block in np.array_split(unequal, 1 + unequal.size * members.shape[1] // _BLOCK):
            apart = row_distances(members[first[block]], members[second[block]], distance)
            total += 2 * float(weight[block] @ apart)
    return total


def _expected(given: Floats, members: Truths, distance: SetDistance) -> float:
    """Return the sum of the distances between all sets given, in blocks of rows."""
    occurs = np.flatnonzero(given)
    given, members = given[occurs], members[occurs]
    total = 0.0
    for rows in np.array_split(np.arange(len(given)), 1 + len(given) ** 2 // _BLOCK):
        total += float(given[rows] @ (distances(members[rows], members, distance) @ given))
    return total


def _expected_of_labels(given: Floats, members: Truths) -> float:
    """Return the mean Dice distance of sets of the sizes that occur, filled with labels drawn at random."""
    occurs = given > 0
    sizes, share = members[occurs].sum(axis=1), given[occurs] / given.sum()
    of_size = np.bincount(sizes, share)
    label = given[occurs] @ members[occurs]
    weight, shared = _weights_of_sizes(label[label > 0], len(of_size))
    both = np.add.outer(np.arange(len(of_size)), np.arange(len(of_size)))
    mean = np.divide(shared, weight, out=np.zeros_like(shared), where=weight > 0)
    between = 1 - np.divide(2 * mean, both, out=np.ones_like(mean), where=both > 0)
    # Where two sets of these sizes cannot be drawn from the labels that there are, they count as no distance.
    return float(of_size @ np.where(weight > 0, between, 0.0) @ of_size)


def _weights_of_sizes(label: Floats, n_sizes: int) -> tuple[Floats, Floats]:
    """Return, for each pair of sizes, the weight of all pairs of sets and that times the labels they share.

    `label` is how many sets have each label. The labels enter one after the other: a label is in neither
    set, in the one, in the other, or in both.
    """
    once = label / label.sum()  # the scale drops out of every quotient, and keeps the products small
    twice = once * (label - 1) / label.sum()
    weight, shared = np.zeros((n_sizes, n_sizes)), np.zeros((n_sizes, n_sizes))
    weight[0, 0] = 1.0
    for one, two in zip(once, twice, strict=True):
        before = weight.copy()
        weight[1:] += one * before[:-1]
        weight[:, 1:] += one * before[:, :-1]
        weight[1:, 1:] += two * before[:-1, :-1]
        so_far = shared.copy()
        shared[1:] += one * so_far[:-1]
        shared[:, 1:] += one * so_far[:, :-1]
        shared[1:, 1:] += two * (so_far[:-1, :-1] + before[:-1, :-1])
    return weight, shared
