"""Rulings on similar texts of the same code: by words, and by meaning where there is an embedding."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final

import numpy as np

from sense7_qual.widgets._folded import folded
from sense7_qual.widgets._new_code import Embed

__all__ = ["SimilarTexts"]

_MOST: Final = 4
_LEAST_BY_WORDS: Final = 0.1
_LEAST_BY_MEANING: Final = 0.5  # cosine, as for codes that are alike


class SimilarTexts:
    """Which of some texts are most like one.

    By words: the cosine of the words that two texts have, each with its inverse document frequency (Spärck
    Jones 1972), at least 0.1. By meaning: the cosine of their vectors, at least 0.5.

    Attributes
    ----------
    texts : mapping of str to str
        All texts by unit_id.
    embed : callable, optional
        Texts to an array of vectors.
    """

    def __init__(self, texts: Mapping[str, str], *, embed: Embed | None) -> None:
        self._texts, self._embed = texts, embed
        self._vectors: dict[str, Any] = {}
        self._words_of: dict[str, frozenset[str]] = {}

    def __repr__(self) -> str:
        return f"SimilarTexts({len(self._texts)} texts)"

    def to(self, unit_id: str, others: Sequence[str]) -> tuple[list[tuple[str, str]], str]:
        """Return those of `others` that are like a text, each with how, and why there are none by meaning."""
        how = dict.fromkeys(self._by_words(unit_id, others), "words")
        note = ""
        if self._embed is not None and others:
            try:
                for one in self._by_meaning(unit_id, others, self._embed):
                    how.setdefault(one, "meaning")
            except Exception as error:  # noqa: BLE001 – a model that fails keeps nobody from settling
                note = f"Compared by words alone: the comparison by meaning failed ({type(error).__name__})."
        return list(how.items()), note

    def _words(self, unit_id: str) -> frozenset[str]:
        if unit_id not in self._words_of:
            self._words_of[unit_id] = frozenset(re.findall(r"\w+", folded(self._texts[unit_id])))
        return self._words_of[unit_id]

    @cached_property
    def _weights(self) -> dict[str, float]:
        """The squared inverse document frequency of each word."""
        counts = Counter(word for unit_id in self._texts for word in self._words(unit_id))
        return {word: math.log(len(self._texts) / n) ** 2 for word, n in counts.items()}

    def _by_words(self, unit_id: str, others: Sequence[str]) -> list[str]:
        mine = self._words(unit_id)
        scores = [(-self._cosine(mine, self._words(one)), place) for place, one in enumerate(others)]
        return [others[place] for score, place in sorted(scores)[:_MOST] if -score >= _LEAST_BY_WORDS]

    def _cosine(self, mine: frozenset[str], theirs: frozenset[str]) -> float:
        both, one, other = (sum(self._weights[word] for word in s) for s in (mine & theirs, mine, theirs))
        return both / math.sqrt(one * other) if one and other else 0.0

    def _by_meaning(self, unit_id: str, others: Sequence[str], embed: Embed) -> list[str]:
        new = [one for one in (unit_id, *others) if one not in self._vectors]
        if new:
            vectors = np.asarray(embed([self._texts[one] for one in new]), dtype=float)
            lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
            self._vectors |= dict(zip(new, vectors / np.where(lengths > 0, lengths, 1), strict=True))
        cosines = np.array([self._vectors[one] for one in others]) @ self._vectors[unit_id]
        order = np.argsort(-cosines, kind="stable")[:_MOST]
        return [others[place] for place in order if cosines[place] >= _LEAST_BY_MEANING]
