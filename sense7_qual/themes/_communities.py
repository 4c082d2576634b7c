"""Groups of alike rows: the communities of a graph, and what can be said of groups.

Plain functions over arrays; `fit` gives them meaning. Everything is seeded and depends on the order of the
rows: callers sort them first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from sense7_qual.themes._neighbours import Floats, Vectors

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

__all__ = ["NO_GROUP", "Labels", "adjusted_rand", "by_size", "centres", "communities"]

Labels = npt.NDArray[np.int64]

NO_GROUP: Final = -1


def communities(
    graph: csr_matrix, *, resolution: float, min_size: int, seed: int, n_starts: int = 1
) -> Labels:
    """Return a group number per row: communities of the graph, too small ones dissolved.

    `graph` has symmetric weights above 0. More `resolution` (Reichardt & Bornholdt's gamma) gives more and
    smaller groups; those of fewer than `min_size` rows are none (−1). Group 0 of the result (n,) is the
    largest, ties in the order of their first rows.

    The communities are those of the best of `n_starts` Leiden runs by modularity. The rows of a community
    under `min_size` go to the larger groups that they are joined to most strongly; a row that nothing
    joins to one is −1.

    References
    ----------
    Traag, Waltman & van Eck (2019), Scientific Reports 9, 5233; Reichardt & Bornholdt (2006), Phys. Rev. E
    74, 016110.
    """
    labels = _leiden(graph, resolution=resolution, seed=seed, n_starts=n_starts)
    small = np.bincount(labels)[labels] < min_size
    return by_size(_joined(graph, by_size(np.where(small, NO_GROUP, labels))))


def _leiden(graph: csr_matrix, *, resolution: float, seed: int, n_starts: int) -> Labels:
    n = graph.shape[0]
    if not graph.nnz:
        return np.arange(n, dtype=np.int64)
    import graspologic_native

    _, community = graspologic_native.leiden_csr(
        graph.indptr.astype(np.int64),
        graph.indices.astype(np.int32),
        graph.data.astype(np.float64),
        n,
        resolution=resolution,
        seed=seed,
        trials=n_starts,
    )
    labels = np.empty(n, dtype=np.int64)
    rows = np.fromiter(community.keys(), np.int64, len(community))
    labels[rows] = np.fromiter(community.values(), np.int64, len(community))
    return labels


def _joined(graph: csr_matrix, labels: Labels) -> Labels:
    """Give the rows without a group to the one they are joined to most strongly, the near ones first."""
    from scipy.sparse import csr_matrix

    labels = labels.copy()
    n_groups = int(labels.max(initial=NO_GROUP)) + 1
    while n_groups and (outside := np.flatnonzero(labels == NO_GROUP)).size:
        inside = np.flatnonzero(labels != NO_GROUP)
        member = csr_matrix((np.ones(len(inside)), (inside, labels[inside])), shape=(len(labels), n_groups))
        weight = (graph[outside] @ member).toarray()
        reached = weight.max(axis=1) > 0
        if not reached.any():
            break
        labels[outside[reached]] = weight[reached].argmax(axis=1)
    return labels


def adjusted_rand(one: Labels, other: Labels) -> float:
    """Return the adjusted Rand index of two groupings of the same rows; a row in no group (−1) is alone.

    It is 1 for equal groupings, about 0 for unrelated ones, and NaN for fewer than two rows.

    References
    ----------
    Hubert & Arabie (1985), Comparing partitions, Journal of Classification 2, 193–218.
    """
    n = len(one)
    if n < 2:
        return float("nan")
    grouped = (one >= 0) & (other >= 0)
    width = int(other.max(initial=0)) + 1
    both = _pairs(one[grouped] * width + other[grouped])
    in_one, in_other = _pairs(one[one >= 0]), _pairs(other[other >= 0])
    chance, most = in_one * in_other / (n * (n - 1) / 2), (in_one + in_other) / 2
    return 1.0 if most == chance else float((both - chance) / (most - chance))


def _pairs(labels: Labels) -> float:
    """Count the pairs of rows with the same label."""
    size = np.bincount(labels).astype(float)
    return float((size * (size - 1)).sum() / 2)


def by_size(labels: Labels, weights: npt.NDArray[np.int64] | None = None) -> Labels:
    """Renumber groups by size (of `weights`), largest first, ties in the order of their first rows."""
    groups, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    size = np.bincount(inverse, weights=weights)
    ranked = [place for place in np.lexsort((first, -size)) if groups[place] != NO_GROUP]
    number = np.full(len(groups), NO_GROUP, dtype=np.int64)
    number[ranked] = np.arange(len(ranked))
    return number[inverse]


def centres(vectors: Vectors, labels: Labels) -> Floats:
    """Return the centre of each group 0 … g − 1: the mean of its rows, brought to length 1."""
    n_groups = int(labels.max(initial=NO_GROUP)) + 1
    sums = np.empty((n_groups, vectors.shape[1]))
    for number in range(n_groups):
        sums[number] = vectors[labels == number].sum(axis=0, dtype=np.float64)
    length = np.linalg.norm(sums, axis=1, keepdims=True)
    length[length == 0] = 1
    middle: Floats = sums / length
    return middle
