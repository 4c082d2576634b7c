"""The nearest rows of each row by cosine, exactly: in blocks with NumPy, with faiss where rows are many."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt

from sense7_qual.errors import ImportRefused

Vectors = npt.NDArray[np.float32]
Floats = npt.NDArray[np.float64]

#: Rows of the similarity matrix held in memory at once (512 rows × 20,000 columns are 40 MB).
_BLOCK: Final = 512
#: Groups of columns for each neighbour that is looked for: the more, the fewer columns are looked at in vain.
_GROUPS: Final = 8
#: Cosines this far apart may be equal when rounded to six digits.
_ROUNDED: Final = 2e-6
#: From here on NumPy takes several times as long as faiss.
_MOST_IN_BLOCKS: Final = 20_000


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


def check_number(n: int, *, function: str) -> None:
    """Raise `ImportRefused` where so many rows need faiss and it is not installed."""
    if n > _MOST_IN_BLOCKS and importlib.util.find_spec("faiss") is None:
        raise ImportRefused(
            f"{function}: expected the package of the extra 'large' for more than {_MOST_IN_BLOCKS:,} "
            f"distinct texts – found {n:,} and no faiss – pip install 'sense7_qual[large]'."
        )


def nearest_neighbours(vectors: Vectors, k: int) -> Neighbours:
    """Return each row's `k` nearest other rows by cosine, exactly.

    `vectors` (n, d) have rows of length 1 (or 0); equal rows are each other's neighbours. At most n − 1 of
    the `k` are returned, with cosines in −1 … 1. Time grows with n², memory with n.

    Examples
    --------
    >>> near = nearest_neighbours(np.array([[1, 0], [0.8, 0.6], [0, 1]], dtype=np.float32), 1)
    >>> near.index.ravel().tolist(), near.similarity.ravel().round(2).tolist()
    ([1, 0, 1], [0.8, 0.8, 0.6])
    """
    n = len(vectors)
    k = min(k, n - 1)
    if n > _MOST_IN_BLOCKS:
        return _with_faiss(vectors, k)
    index = np.empty((n, k), dtype=np.int64)
    similarity = np.empty((n, k), dtype=np.float64)

    def fill(start: int) -> None:
        block = slice(start, start + _BLOCK)
        cosines = vectors[block] @ vectors.T
        rows = np.arange(len(cosines))
        cosines[rows, start + rows] = -np.inf
        columns = _largest(cosines, k) if k else index[block]
        index[block], similarity[block] = _ordered(columns, np.take_along_axis(cosines, columns, 1))

    for _ in in_threads(fill, range(0, n, _BLOCK)):
        pass
    return Neighbours(index, similarity)


def _with_faiss(vectors: Vectors, k: int) -> Neighbours:
    import faiss

    whole = faiss.IndexFlatIP(vectors.shape[1])
    whole.add(vectors)
    cosines, columns = whole.search(vectors, k + 1)
    own = columns == np.arange(len(vectors))[:, None]
    own[~own.any(axis=1), k] = True  # among more than k equal rows a row may not be listed itself
    kept = np.argsort(own, axis=1, kind="stable")[:, :k]
    return Neighbours(*_ordered(np.take_along_axis(columns, kept, 1), np.take_along_axis(cosines, kept, 1)))


def _largest(cosines: npt.NDArray[np.float32], k: int) -> npt.NDArray[np.int64]:
    """Return the columns of the `k` largest of each row, rounded; of equal ones, the first columns."""
    candidates = cosines >= _surely_among(cosines, k)[:, None] - _ROUNDED
    rows, columns = np.divmod(np.flatnonzero(candidates), cosines.shape[1])  # faster than `nonzero`
    n_candidates = np.bincount(rows, minlength=len(cosines))
    places = np.arange(len(rows)) - np.repeat(np.cumsum(n_candidates) - n_candidates, n_candidates)
    shape = len(cosines), int(n_candidates.max())
    values, of_row = np.full(shape, -np.inf, dtype=np.float32), np.zeros(shape, dtype=np.int64)
    values[rows, places], of_row[rows, places] = cosines[rows, columns].round(6), columns
    return np.take_along_axis(of_row, np.argsort(-values, axis=1, kind="stable")[:, :k], 1)


def _surely_among(cosines: npt.NDArray[np.float32], k: int) -> npt.NDArray[np.float32]:
    """Return for each row a value that at least `k` columns reach, and few more."""
    # The largest of each of many groups of columns: `k` of these maxima are `k` columns.
    n_groups = _GROUPS * k
    depth = cosines.shape[1] // n_groups
    if depth < 2:
        return np.partition(cosines, -k, axis=1)[:, -k]
    maxima = cosines[:, : depth * n_groups].reshape(len(cosines), depth, n_groups).max(axis=1)
    return np.asarray(np.partition(maxima, -k, axis=1)[:, -k])


def _ordered(
    columns: npt.NDArray[np.int64], cosines: npt.NDArray[np.float32]
) -> tuple[npt.NDArray[np.int64], Floats]:
    """Order the neighbours of each row by cosine, ties by their number."""
    # Rounding takes the float noise of another batch or machine out of ties and edge weights.
    rounded = cosines.astype(np.float64).round(6)
    by_number = np.argsort(columns, axis=1)
    columns, rounded = np.take_along_axis(columns, by_number, 1), np.take_along_axis(rounded, by_number, 1)
    order = np.argsort(-rounded, axis=1, kind="stable")
    return np.take_along_axis(columns, order, 1), np.take_along_axis(rounded, order, 1)


_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

#: Each may hold a block of a matrix, so memory stays bounded where processors are many.
_MOST: Final = 4


def in_threads(function: Callable[[_Item], _Result], items: Iterable[_Item]) -> Iterator[_Result]:
    """Yield the result for each item, in the order of the items; those to come are computed meanwhile."""
    with one_blas_thread(), ThreadPoolExecutor(min(_MOST, os.cpu_count() or 1)) as threads:
        yield from threads.map(function, items)


def one_blas_thread() -> AbstractContextManager[Any]:
    """Keep matrix products in the thread that asks for them.

    Threads of BLAS wait busily for their next product: a third of the processor time of 600 texts.
    """
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    limits: AbstractContextManager[Any] = threadpool_limits(1, user_api="blas")
    return limits
