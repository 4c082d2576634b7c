"""What suggests one code: a classifier that was learned, or what the codebook says of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from sense7_qual.suggestions._learn import Calibration

__all__ = ["ByDefinition", "ByModel", "Described", "best_sentence"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Described:
    """What the codebook says of a code, as vectors, and how near texts are to it on average."""

    vectors: Floats = field(repr=False)
    mean: float
    deviation: float

    def similarity(self, meaning: Floats) -> Floats:
        """Return the cosine of each text to what the codebook says that is nearest to it."""
        near: Floats = (meaning @ self.vectors.T).max(axis=1)
        return near

    def beside(self, rows: Any, meaning: Floats) -> Any:
        """Return rows of features with one more: how much nearer than the average the text is."""
        from scipy import sparse

        nearer = (self.similarity(meaning) - self.mean) / self.deviation
        return sparse.hstack([rows, sparse.csr_array(nearer[:, None])], format="csr")


@dataclass(frozen=True, slots=True, eq=False)
class ByModel:
    """A code's classifier, and of sentences where spans were coded; `learned`: probabilities out of fold."""

    described: Described
    classifier: Any = field(repr=False)
    sentence_classifier: Any = field(repr=False)
    calibration: Calibration = field(repr=False)
    threshold: float
    learned: Mapping[str, float] = field(repr=False)

    def text_score(self, rows: Any, meaning: Floats) -> Floats:
        """Return the log odds of whole texts, before calibration."""
        score: Floats = self.classifier.decision_function(self.described.beside(rows, meaning))
        return score

    def score(self, rows: Any, meaning: Floats, parts: list[Floats]) -> Floats:
        """Return the log odds before calibration, from whole texts and the vectors of their sentences."""
        score = self.text_score(rows, meaning)
        if self.sentence_classifier is None:
            return score
        return (score + best_sentence(self.sentence_classifier, parts)) / 2


@dataclass(frozen=True, slots=True, eq=False)
class ByDefinition:
    """Suggests a code for texts from a cosine of `threshold` to what the codebook says of it on."""

    described: Described
    threshold: float


def best_sentence(classifier: Any, parts: list[Floats]) -> Floats:
    """Return each text's highest score of a sentence; of a text without one the lowest of all."""
    if not parts:
        return np.empty(0)
    scored = [classifier.decision_function(part).max() if len(part) else np.nan for part in parts]
    made = np.array(scored, dtype=np.float64)
    return np.where(np.isnan(made), np.nanmin(made) if not np.isnan(made).all() else 0.0, made)
