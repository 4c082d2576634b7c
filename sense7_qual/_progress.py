"""How far a long call has come: told to a function of the caller's, or shown as a bar."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["Progress", "reporting"]

Progress = Callable[[int, int], None]


@contextmanager
def reporting(
    progress: Progress | bool | None, total: int, *, doing: str, unit: str
) -> Iterator[Callable[[int, int], Any]]:
    """Turn the `progress` argument into a function (done, total), closing the bar in the end."""
    if callable(progress):
        yield progress
    elif progress:
        from tqdm.auto import tqdm  # type: ignore[import-untyped]

        with tqdm(total=total, desc=doing, unit=unit, leave=False) as bar:
            yield lambda done, _: bar.update(done - bar.n)
    else:
        yield lambda done, total: None
