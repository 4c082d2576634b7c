"""Several threads for work that leaves Python's lock: matrix products, communities."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Any, Final, TypeVar

__all__ = ["in_threads", "one_blas_thread"]

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
