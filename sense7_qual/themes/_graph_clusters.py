"""Groups of alike vectors: a neighbour graph and its communities.

Plain functions over arrays; `themes` gives them meaning. Everything is exact and seeded, and depends on
the order of the rows: callers sort them by an id first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

__all__ = [
    "NO_GROUP",
    "Neighbours",
    "by_size",
    "centres",
    "group",
    "nearest_neighbours",
]

Vectors = npt.NDArray[np.float32]
Labels = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

NO_GROUP: Final = -1
#: Rows of the similarity matrix held in memory at once (512 rows × 50,000 columns are 100 MB).
_BLOCK: Final = 512


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The nearest rows of each row, nearest first: `index` (n, k) and `similarity` (n, k), cosines."""

    index: npt.NDArray[np.int64]
    similarity: Floats

    def nearest(self, k: int) -> Neighbours:
        """Keep the first `k` of each row."""
        return Neighbours(self.index[:, :k], self.similarity[:, :k])

    def among(self, rows: npt.NDArray[np.int64], k: int) -> Neighbours:
        """Return the `k` nearest of each of `rows` among `rows`, renumbered; −1 where fewer are known."""
        place = np.full(len(self.index), -1, dtype=np.int64)
        place[rows] = np.arange(len(rows))
        index, similarity = place[self.index[rows]], self.similarity[rows]
        # A stable sort of "is absent" moves the rows that are there to the front and keeps their order.
        front = np.argsort(index < 0, axis=1, kind="stable")[:, :k]
        return Neighbours(np.take_along_axis(index, front, 1), np.take_along_axis(similarity, front, 1))


def nearest_neighbours(vectors: Vectors, k: int) -> Neighbours:
    """Return each row's `k` nearest other rows by cosine, exactly.

    Parameters
    ----------
    vectors
        Shape (n, d), rows of length 1 (or 0). Equal rows are each other's neighbours.
    k
        Neighbours per row; at most n − 1 are returned.

    Returns
    -------
    Neighbours
        Cosines are in −1 … 1. Time grows with n², memory with n.

    Examples
    --------
    >>> near = nearest_neighbours(np.array([[1, 0], [0.8, 0.6], [0, 1]], dtype=np.float32), 1)
    >>> near.index.ravel().tolist(), near.similarity.ravel().round(2).tolist()
    ([1, 0, 1], [0.8, 0.8, 0.6])
    """
    n = len(vectors)
    k = min(k, n - 1)
    index = np.empty((n, k), dtype=np.int64)
    similarity = np.empty((n, k), dtype=np.float64)
    for start in range(0, n, _BLOCK):
        cosines = (vectors[start : start + _BLOCK] @ vectors.T).astype(np.float64)
        rows = np.arange(len(cosines))
        cosines[rows, start + rows] = -np.inf
        # Rounding takes the float noise of another batch or machine out of ties and edge weights.
        cosines = cosines.round(6)
        columns = np.sort(np.argpartition(-cosines, k - 1, axis=1)[:, :k], axis=1)
        order = np.argsort(-np.take_along_axis(cosines, columns, 1), axis=1, kind="stable")
        index[start : start + _BLOCK] = np.take_along_axis(columns, order, 1)
        similarity[start : start + _BLOCK] = np.take_along_axis(cosines, index[start : start + _BLOCK], 1)
    return Neighbours(index, similarity)


def group(
    vectors: Vectors,
    near: Neighbours,
    *,
    resolution: float,
    min_size: int,
    seed: int,
    n_starts: int,
) -> Labels:
    """Return a group number per row: communities of the neighbour graph, too small ones dissolved.

    The graph joins two rows where either is among the other's neighbours, weighted by their cosine; its
    communities are those of the best of `n_starts` Louvain runs by modularity. The rows of a community
    under `min_size` go to the group with the nearest centre, if they are at least as near to it as its
    own farthest member; otherwise they are −1.

    Parameters
    ----------
    vectors
        Shape (n, d), rows of length 1.
    near
        The neighbours of each row; −1 and cosines of 0 or below join nothing.
    resolution
        Above 0; more gives more and smaller groups (Reichardt & Bornholdt's gamma).
    min_size
        The least number of rows of a group.
    seed, n_starts
        The seed of the first run, and how many runs.

    Returns
    -------
    numpy.ndarray
        int64, shape (n,): 0 is the largest group, ties in the order of their first rows; −1 is none.

    References
    ----------
    Blondel et al. (2008), J. Stat. Mech. P10008; Reichardt & Bornholdt (2006), Phys. Rev. E 74, 016110.
    """
    labels = _louvain(near, resolution=resolution, seed=seed, n_starts=n_starts)
    small = np.bincount(labels)[labels] < min_size
    if small.all():
        return np.full(len(labels), NO_GROUP, dtype=np.int64)
    large = by_size(np.where(small, NO_GROUP, labels))
    return by_size(_adopted(vectors, large))


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


def _louvain(near: Neighbours, *, resolution: float, seed: int, n_starts: int) -> Labels:
    import networkx as nx

    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(len(near.index)))
    graph.add_weighted_edges_from(_edges(near))
    labels = np.arange(len(near.index), dtype=np.int64)
    if not graph.number_of_edges():
        return labels
    best = -np.inf
    for start in range(n_starts):
        communities = nx.community.louvain_communities(graph, resolution=resolution, seed=seed + start)
        quality = nx.community.modularity(graph, communities, resolution=resolution) if n_starts > 1 else 0.0
        if quality > best:
            best = quality
            for number, members in enumerate(communities):
                labels[list(members)] = number
    return labels


def _edges(near: Neighbours) -> list[tuple[int, int, float]]:
    """List each edge once, lower row first, in order: Louvain's result depends on it."""
    n, k = near.index.shape
    one, other = np.repeat(np.arange(n), k), near.index.ravel()
    weight = near.similarity.ravel()
    joined = (other >= 0) & (weight > 0)
    low, high = np.minimum(one, other)[joined], np.maximum(one, other)[joined]
    _, first = np.unique(low * n + high, return_index=True)
    return list(zip(low[first].tolist(), high[first].tolist(), weight[joined][first].tolist(), strict=True))


def _adopted(vectors: Vectors, labels: Labels) -> Labels:
    """Give the rows without a group to the nearest one, where they are as near as its members are."""
    inside = labels != NO_GROUP
    if inside.all():
        return labels
    middle = centres(vectors, labels)
    own = np.einsum("ij,ij->i", vectors[inside], middle[labels[inside]])
    farthest = np.full(len(middle), np.inf)
    np.minimum.at(farthest, labels[inside], own)
    similarity = vectors[~inside] @ middle.T
    nearest = similarity.argmax(axis=1)
    near_enough = similarity.max(axis=1, initial=-np.inf) >= farthest[nearest]
    adopted = labels.copy()
    adopted[~inside] = np.where(near_enough, nearest, NO_GROUP)
    return adopted
