"""Groups of alike rows: the communities of a graph, and what can be said of groups.

Plain functions over arrays; `fit` gives them meaning. Everything is seeded and depends on the order of the
rows: callers sort them first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from sense7_qual.themes._neighbours import Floats, Neighbours, Vectors

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

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


_STEPS: Final = 64
_TOLERANCE: Final = 1e-6
_LEAST_WIDTH: Final = 1e-3


def strengths(distances: Floats) -> Floats:
    """Return the strength of the link of each row to each of its neighbours, 0 … 1.

    `distances` (n, k) are without the row itself, and infinite where there is no neighbour.

    The nearest at a distance above 0 has strength 1; the others fall off exponentially, at a width of each
    row's own, at which the strengths of the row sum to log2(k + 1). A row in a sparse place so holds on to
    its neighbours as firmly as one in a dense place.

    References
    ----------
    McInnes, Healy & Melville (2018), UMAP, arXiv 1802.03426, algorithm 3.
    """
    nearest = np.where(distances > 0, distances, np.inf).min(axis=1, initial=np.inf)
    nearest[~np.isfinite(nearest)] = 0
    beyond = np.maximum(distances - nearest[:, None], 0)
    width = np.maximum(_widths(beyond), _LEAST_WIDTH * _scale(distances, nearest))
    joined: Floats = np.exp(-beyond / width[:, None])
    return joined


def _widths(beyond: Floats) -> Floats:
    """Find each row's width by Newton's method.

    0 where every width is too wide, the largest number where none is wide enough.
    """
    target = np.log2(beyond.shape[1] + 1)
    known = np.isfinite(beyond)
    n_nearest, n_known = (beyond == 0).sum(axis=1), known.sum(axis=1)
    width = np.where(n_nearest < target, np.finfo(float).max, 0.0)
    rows = np.flatnonzero((n_nearest < target) & (n_known > target))
    distance = np.where(known, beyond, 0)[rows]
    target += beyond.shape[1] - n_known[rows]  # who is no neighbour counts 1 in each sum below
    rate = np.zeros(len(rows))
    # The sum falls with the rate, 1 / width, and is convex: from 0 on no step goes too far.
    for _ in range(_STEPS):
        strength = np.exp(-distance * rate[:, None])
        too_much = strength.sum(axis=1) - target
        if (too_much < _TOLERANCE).all():
            break
        rate += np.maximum(too_much, 0) / (strength * distance).sum(axis=1)
    width[rows] = 1 / rate
    return width


def _scale(distances: Floats, nearest: Floats) -> Floats:
    """Return each row's mean distance (itself counted); that of all rows where its neighbours are equal."""
    finite = np.where(np.isfinite(distances), distances, 0)
    of_row = finite.sum(axis=1) / (distances.shape[1] + 1)
    return np.where(nearest > 0, of_row, of_row.mean() if len(of_row) else 0) + np.finfo(float).tiny


def fuzzy_graph(near: Neighbours) -> csr_matrix:
    """Join each row to its neighbours, with weights above 0 up to 1, the same in both directions.

    Two rows are joined with a + b − ab, where a and b are the strengths in the one and the other direction
    (the fuzzy union). Neighbours at a cosine of 0 or below are not alike, and not joined.
    """
    from scipy.sparse import csr_matrix

    n, k = near.index.shape
    known = near.index >= 0
    one_way = strengths(np.where(known, np.maximum(1 - near.similarity, 0), np.inf))
    joined = (known & (near.similarity > 0) & (one_way > 0)).ravel()
    rows = np.repeat(np.arange(n), k)[joined]
    there = csr_matrix((one_way.ravel()[joined], (rows, near.index.ravel()[joined])), shape=(n, n))
    back = there.T.tocsr()
    union = csr_matrix(there + back - there.multiply(back))
    union.sort_indices()
    return union
