"""What suggests one code: a classifier that was learned, or what the codebook says of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from sense7_qual.suggestions._learn import Calibration

__all__ = ["ByDefinition", "ByModel", "best_sentence"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class ByModel:
    """A code's classifier, and of sentences where spans were coded; `learned`: probabilities out of fold."""

    classifier: Any = field(repr=False)
    sentence_classifier: Any = field(repr=False)
    calibration: Calibration = field(repr=False)
    threshold: float
    learned: Mapping[str, float] = field(repr=False)

    def score(self, rows: Any, parts: list[Floats]) -> Floats:
        """Return the log odds before calibration, from rows of features and the vectors of sentences."""
        score: Floats = self.classifier.decision_function(rows)
        if self.sentence_classifier is None:
            return score
        return (score + best_sentence(self.sentence_classifier, parts)) / 2


@dataclass(frozen=True, slots=True, eq=False)
class ByDefinition:
    """What the codebook says of a code, as vectors; suggested from a cosine of `threshold` on."""

    vectors: Floats = field(repr=False)
    threshold: float

    def similarity(self, meaning: Floats) -> Floats:
        """Return the cosine of each text to what the codebook says that is nearest to it."""
        near: Floats = (meaning @ self.vectors.T).max(axis=1)
        return near


def best_sentence(classifier: Any, parts: list[Floats]) -> Floats:
    """Return each text's highest score of a sentence; of a text without one the lowest of all."""
    if not parts:
        return np.empty(0)
    scored = [classifier.decision_function(part).max() if len(part) else np.nan for part in parts]
    made = np.array(scored, dtype=np.float64)
    return np.where(np.isnan(made), np.nanmin(made) if not np.isnan(made).all() else 0.0, made)
