"""The graph of alike texts: UMAP's weights on each row's nearest neighbours, without UMAP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from sense7_qual.themes._neighbours import Floats, Neighbours

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

__all__ = ["fuzzy_graph", "strengths"]

_STEPS: Final = 64
_TOLERANCE: Final = 1e-6
_LEAST_WIDTH: Final = 1e-3


def strengths(distances: Floats) -> Floats:
    """Return how strongly each row is joined to each of its neighbours, 0 … 1.

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
