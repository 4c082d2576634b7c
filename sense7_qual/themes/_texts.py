"""Units as a topic model takes them: in the order of their ids, each distinct text once, embedded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual.errors import TableError
from sense7_qual.tables import UNITS
from sense7_qual.themes._graph_clusters import NO_GROUP

__all__ = ["Embed", "Progress", "Texts", "distinct_texts", "embedded"]

Embed = Callable[[list[str]], npt.NDArray[Any]]
Progress = Callable[[str, int, int], None]

#: Texts between two calls of `progress`.
_AT_ONCE: Final = 256


@dataclass(frozen=True, slots=True)
class Texts:
    """The units in order of their ids, and their distinct texts; `text_of` is −1 for a blank one."""

    units: pd.DataFrame = field(repr=False)
    distinct: list[str] = field(repr=False)
    text_of: npt.NDArray[np.int64]


def distinct_texts(units: pd.DataFrame) -> Texts:
    """Put the units in the order of their ids, and find the distinct texts (surrounding space aside)."""
    ordered = UNITS.check(units).sort_values("unit_id", ignore_index=True)
    stripped = ordered["text"].fillna("").str.strip()
    number: dict[str, int] = {}
    places = [number.setdefault(text, len(number)) if text else NO_GROUP for text in stripped]
    return Texts(ordered, list(number), np.array(places, dtype=np.int64))


def embedded(texts: list[str], embed: Embed, report: Progress) -> npt.NDArray[np.float32]:
    """Return the vector of each text, brought to length 1, telling `report` after every 256 of them.

    Raises
    ------
    TableError
        `embed` does not give one row of finite numbers per text.
    """
    parts: list[npt.NDArray[np.float32]] = []
    for start in range(0, len(texts), _AT_ONCE):
        part = texts[start : start + _AT_ONCE]
        vectors = np.asarray(embed(part), dtype=np.float32)
        if vectors.ndim != 2 or len(vectors) != len(part) or not np.isfinite(vectors).all():
            raise TableError(
                f"embed: expected {len(part)} rows of finite numbers – found shape "
                f"{vectors.shape}, {int((~np.isfinite(vectors)).sum())} values not finite – check the model."
            )
        parts.append(vectors)
        report("embed", start + len(part), len(texts))
    whole = np.concatenate(parts)
    length = np.linalg.norm(whole, axis=1, keepdims=True)
    length[length == 0] = 1  # a vector of zeros is alike to nothing
    unit: npt.NDArray[np.float32] = whole / length
    return unit
