"""Units as a topic model takes them: in the order of their ids, each distinct text once, embedded."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual.errors import TableError
from sense7_qual.frames import UNITS
from sense7_qual.themes._communities import NO_GROUP

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
    """Put the units in the order of their ids, and find the distinct texts.

    Texts that differ only in case, punctuation and blanks are one, in its commonest spelling. The distinct
    texts stand in an order of their own, so that neither rows nor ids decide a theme.
    """
    ordered = UNITS.check(units).sort_values("unit_id", ignore_index=True)
    stripped = ordered["text"].fillna("").str.strip()
    plain = stripped.map(_plain)
    spelled = stripped[plain != ""].groupby(plain).agg(_commonest)
    distinct = sorted(spelled)
    number = {text: place for place, text in enumerate(distinct)}
    places = [number[spelled[each]] if each else NO_GROUP for each in plain]
    return Texts(ordered, distinct, np.array(places, dtype=np.int64))


def _plain(text: str) -> str:
    """Return the text without what is not said: case, punctuation, blanks; a text of signs alone as it is."""
    kept = "".join(" " if unicodedata.category(sign).startswith("P") else sign for sign in text.casefold())
    return " ".join(kept.split()) or text


def _commonest(spellings: pd.Series) -> str:
    counts = spellings.value_counts()
    return str(min(counts.index[counts == counts.max()]))


def sha256_of(texts: Texts) -> str:
    """Return the SHA-256 of the units' ids and texts, in the order of the ids."""
    whole = hashlib.sha256()
    for unit_id, text in zip(texts.units["unit_id"], texts.units["text"].fillna(""), strict=True):
        whole.update(f"{len(unit_id)} {unit_id} {len(text)} {text}\n".encode("utf-8", "surrogatepass"))
    return whole.hexdigest()


def embedded(texts: list[str], embed: Embed, report: Progress) -> npt.NDArray[np.float32]:
    """Return the vector of each text, of length 1, telling `report` before the first and every 256."""
    report("embed", 0, len(texts))  # before the first call of `embed`, which may take seconds to load a model
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
