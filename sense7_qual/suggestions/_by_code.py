"""What suggests one code: a classifier that was learned, or what the codebook says of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from sense7_qual.suggestions._learn import Calibration, Scorer

__all__ = ["ByDefinition", "ByModel", "Described"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Described:
    """What the codebook says of a code, as vectors, and how near texts are to it on average.

    `defined`: it says more than the label, which alone may be a word or a number and tells a model nothing.
    """

    vectors: Floats = field(repr=False)
    mean: float
    deviation: float
    defined: bool

    def similarity(self, meaning: Floats) -> Floats:
        """Return the cosine of each text to what the codebook says that is nearest to it."""
        near: Floats = (meaning @ self.vectors.T).max(axis=1)
        return near

    def beside(self, rows: Any, meaning: Floats) -> Any:
        """Return rows of features with one more, where the code is defined: how near the text is to that."""
        from scipy import sparse

        if not self.defined:
            return rows
        nearer = (self.similarity(meaning) - self.mean) / self.deviation
        return sparse.hstack([rows, sparse.csr_array(nearer[:, None])], format="csr")


@dataclass(frozen=True, slots=True, eq=False)
class ByModel:
    """What scores a code's texts, and sentences of coded spans; `learned`: probabilities out of fold."""

    described: Described
    texts: Scorer = field(repr=False)
    sentences: Scorer | None = field(repr=False)
    calibration: Calibration = field(repr=False)
    threshold: float
    learned: Mapping[str, float] = field(repr=False)

    def text_score(self, rows: Any, meaning: Floats) -> Floats:
        """Return the scores of whole texts."""
        return self.texts(self.described.beside(rows, meaning))

    def probability(self, rows: Any, meaning: Floats, parts: list[Floats]) -> Floats:
        """Return probabilities, 0 to 1, from whole texts and the vectors of their sentences."""
        score = self.text_score(rows, meaning)
        if self.sentences is not None:
            score = (score + self.sentences(parts)) / 2
        return self.calibration.probability(score)


@dataclass(frozen=True, slots=True, eq=False)
class ByDefinition:
    """Suggests a code for texts from a cosine of `threshold` to what the codebook says of it on."""

    described: Described
    threshold: float
