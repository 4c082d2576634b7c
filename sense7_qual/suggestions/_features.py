"""Texts as a classifier takes them: vectors of meaning, words (TF-IDF), and the surface."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from sense7_qual.codebook import Code
from sense7_qual.errors import TableError
from sense7_qual.suggestions._texts import surface

__all__ = ["Embed", "Features", "definition_texts", "fit_features", "vectors"]

Embed = Callable[[list[str]], npt.NDArray[Any]]
Floats = npt.NDArray[np.float64]

_AT_ONCE: Final = 256
_MOST_TERMS: Final = 20_000
_TERM: Final = r"(?u)\b\w[\w'’]*\b|[?!]"
#: How much each kind of feature weighs in the distance of two texts (benchmarks/suggestions.py chose them).
_MEANING: Final = 3.0
_WORDS: Final = 2.0
_SURFACE: Final = 0.15


def vectors(texts: Sequence[str], embed: Embed) -> Floats:
    """Return the vector of each text, of length 1, each distinct text embedded once."""
    distinct = list(dict.fromkeys(texts))
    if not distinct:
        return np.empty((0, 0))
    parts = [_embedded(distinct[at : at + _AT_ONCE], embed) for at in range(0, len(distinct), _AT_ONCE)]
    whole = np.concatenate(parts)
    length = np.linalg.norm(whole, axis=1, keepdims=True)
    length[length == 0] = 1  # a vector of zeros is alike to nothing
    place = {text: row for row, text in enumerate(distinct)}
    unit: Floats = (whole / length)[[place[text] for text in texts]]
    return unit


def _embedded(texts: list[str], embed: Embed) -> Floats:
    rows = np.asarray(embed(texts), dtype=np.float64)
    if rows.ndim != 2 or len(rows) != len(texts) or not np.isfinite(rows).all():
        raise TableError(
            f"embed: expected {len(texts)} rows of finite numbers – found shape {rows.shape} – check the "
            "model."
        )
    return rows


def definition_texts(code: Code) -> list[str]:
    """Return what the codebook says of a code: its label with the definition, when to use it, examples."""
    whole = f"{code.label}. {code.definition}".strip()
    return [text for text in (whole, *code.use_when, *code.examples) if text.strip()]


@dataclass(frozen=True, slots=True)
class Features:
    """What makes rows of features of texts; holds words of the texts, so its `repr` shows none of it."""

    words: Any = field(repr=False)
    mean: Floats = field(repr=False)
    deviation: Floats = field(repr=False)

    def rows(self, texts: Sequence[str], meaning: Floats) -> Any:
        """Return a sparse matrix of one row per text, from the texts and their vectors."""
        from scipy import sparse

        shown = (surface(list(texts)) - self.mean) / self.deviation
        shown = np.clip(shown, -3, 3) * _SURFACE
        dense = sparse.csr_array(np.hstack([meaning * _MEANING, shown]))
        return sparse.hstack([dense, self.words.transform(texts) * _WORDS], format="csr")


def fit_features(texts: Sequence[str]) -> Features:
    """Learn from texts, coded or not, which words there are and how long and how marked texts are."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    words = TfidfVectorizer(
        ngram_range=(1, 2), min_df=2 if len(texts) >= 50 else 1, sublinear_tf=True,
        token_pattern=_TERM, max_features=_MOST_TERMS,
    )  # fmt: skip
    try:
        words.fit(texts)
    except ValueError:  # no word stands twice
        words.set_params(min_df=1).fit([*texts, "text"])
    seen = surface(list(texts))
    deviation = seen.std(axis=0)
    deviation[deviation == 0] = 1
    return Features(words, seen.mean(axis=0), deviation)
