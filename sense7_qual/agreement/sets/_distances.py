"""How far apart two sets of labels are: MASI, Jaccard and Dice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set as AbstractSet
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from sense7_qual._arguments import check_arguments
from sense7_qual._messages import did_you_mean, word
from sense7_qual.agreement.sets._values import Label, Truths, labels_of, membership
from sense7_qual.errors import ArgumentError

__all__ = [
    "SetDistance", "check_distance", "distance", "distances", "row_distances", "set_distances",
]  # fmt: skip

SetDistance = Literal["masi", "jaccard", "dice"]
Floats = npt.NDArray[np.float64]


def distance(a: Iterable[Label], b: Iterable[Label], distance: SetDistance) -> float:
    """Return how far apart two sets of labels are.

    Parameters
    ----------
    a, b : set of labels
        May be empty: two empty sets have distance 0, an empty one and another 1.
    distance : {"masi", "jaccard", "dice"}
        "masi": 1 − Jaccard × monotonicity, which is 1 for equal sets, 2/3 where one is within the other, 1/3
        where they overlap and 0 where they do not. "jaccard": the share of the labels of either that are not
        in both, ``1 − |a ∩ b| / |a ∪ b|``. "dice": ``1 − 2·|a ∩ b| / (|a| + |b|)``.

    Returns
    -------
    float
        0 to 1.

    Raises
    ------
    ArgumentError
        There is no distance of that name.
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
            f"distance: expected one out of {', '.join(get_args(SetDistance))} – found {word(distance)} – "
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
