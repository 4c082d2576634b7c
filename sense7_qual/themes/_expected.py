"""Themes that the codebook expects: where each code's definition and examples have their nearest texts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from sense7_qual.codebook import Code, Codebook
from sense7_qual.themes._communities import NO_GROUP, Labels
from sense7_qual.themes._neighbours import Floats, Neighbours, Vectors
from sense7_qual.themes._texts import Embed, embedded

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

#: Where half of a code's nearest texts are in one theme, it is the code's (`benchmarks/themes_expected.md`).
_N_SEEDS: Final = 8
_HOME: Final = 0.5
#: How many texts the definition and examples count for, when texts are dealt out between codes.
_WORTH: Final = 5
_ROUNDS: Final = 3
#: Under this closeness no text seems to show the code; a definition alone is further from any text.
_SHOWN: Final = 0.2
_SHOWN_WITHOUT_EXAMPLES: Final = 0.05


def described(code: Code) -> list[str]:
    """Return the label with the definition, and each example."""
    first = f"{code.label}. {code.definition}" if code.definition.strip() else code.label
    return [first, *code.examples]


@dataclass(frozen=True, slots=True)
class Expected:
    """The codes of a codebook as places among the texts.

    `middles` (codes, d) are the means of each code's definition and examples, `closeness` (codes) tells how
    near these are to the texts, `nearest` which text is nearest to one of them. `similarity` (texts, codes)
    is that of each text, and of its neighbours, to each middle, beyond the mean over texts; −1 for a code
    that no text shows.
    """

    codes: list[str] = field(repr=False)
    smooth: Floats = field(repr=False)
    middles: Floats = field(repr=False)
    similarity: Floats = field(repr=False)
    closeness: Floats = field(repr=False)
    nearest: Labels = field(repr=False)
    is_shown: np.ndarray = field(repr=False)

    def themes(
        self, vectors: Vectors, labels: Labels, rows: Labels, *, min_size: int
    ) -> tuple[Labels, Labels]:
        """Return the themes of `rows` with those of the codes, and the code of each row (−1: none).

        `labels` are the groups of these rows without the codebook. A code has its theme in the group that
        holds half of its nearest texts or more; a group of several codes is divided between them, so long as
        each has `min_size` texts; a code with two groups joins them.
        """
        homes, seeds = self._homes(labels, rows)
        own = np.full(len(rows), NO_GROUP, dtype=np.int64)
        for group in np.flatnonzero(homes.any(axis=1)):
            inside = np.flatnonzero(labels == group)
            codes = np.flatnonzero(homes[group])
            own[inside] = codes[0]
            while len(codes) > 1:
                own[inside] = codes[self._dealt(vectors, rows[inside], codes, seeds)]
                size = (own[inside][:, None] == codes).sum(axis=0)
                if size.min() >= min_size:
                    break
                codes = np.delete(codes, size.argmin())
                own[inside] = codes[0]
        n_groups = int(labels.max(initial=NO_GROUP)) + 1
        return np.where(own != NO_GROUP, own + n_groups, labels), own

    def _homes(self, labels: Labels, rows: Labels) -> tuple[np.ndarray, list[Labels]]:
        """Return which groups hold half of a code's nearest texts (groups, codes), and these texts."""
        near = self.similarity[rows]
        of_row = near.argmax(axis=1) if near.shape[1] else np.empty(0, dtype=np.int64)
        homes = np.zeros((int(labels.max(initial=NO_GROUP)) + 1, len(self.codes)), dtype=bool)
        seeds = []
        for code in range(len(self.codes)):
            own = np.flatnonzero((of_row == code) & self.is_shown[code])
            own = own[np.argsort(-near[own, code].round(9), kind="stable")][:_N_SEEDS]
            seeds.append(rows[own])
            there = labels[own][labels[own] != NO_GROUP]
            homes[:, code] = np.bincount(there, minlength=len(homes)) >= _HOME * _N_SEEDS
        return homes, seeds

    def _dealt(self, vectors: Vectors, rows: Labels, codes: Labels, seeds: list[Labels]) -> Labels:
        """Return for each row the place of the nearest of the codes, whose middles move to their texts."""
        texts: list[Labels] = [seeds[code] for code in codes]
        nearest = np.zeros(len(rows), dtype=np.int64)
        for _ in range(_ROUNDS + 1):
            sums = np.array([vectors[own].sum(axis=0, dtype=np.float64) for own in texts])
            middles = _unit(sums + _WORTH * self.middles[codes])
            nearest = (self.smooth[rows] @ middles.T).round(9).argmax(axis=1)
            texts = [rows[nearest == place] for place in range(len(codes))]
        return nearest

    def frame(self, labels: Labels, own: Labels, codebook: Codebook, unit_of: pd.Series) -> pd.DataFrame:
        """Return a row per code: its theme, how near it is to texts, and the unit that is nearest to it."""
        theme_of = {int(code): int(labels[own == code][0]) for code in np.unique(own[own != NO_GROUP])}
        at = range(len(self.codes))
        return pd.DataFrame(
            {
                "code": pd.array(self.codes, dtype="string"),
                "label": pd.array([codebook[code].label for code in self.codes], dtype="string"),
                "theme": pd.array([theme_of.get(place) for place in at], dtype="Int64"),
                "shown": pd.array(self.is_shown, dtype="boolean"),
                "closeness": self.closeness,
                "nearest_unit": pd.array(unit_of.to_numpy()[self.nearest], dtype="string"),
            }
        )


def expected(
    vectors: Vectors, near: Neighbours, graph: csr_matrix, codebook: Codebook, embed: Embed
) -> Expected:
    """Return the codes of a codebook as places among the texts, by their definitions and examples."""
    codes = list(codebook.codable)
    of_code = [described(code) for code in codes]
    texts = sorted({text for each in of_code for text in each})
    place = {text: row for row, text in enumerate(texts)}
    known = embedded(texts, embed, lambda stage, done, total: None).astype(np.float64)
    anchors = [known[[place[text] for text in each]] for each in of_code]
    middles = _unit(np.array([each.mean(axis=0) for each in anchors]))
    own = np.sort(near.similarity[:, 0])
    to_texts = [(each @ vectors.T).round(6) for each in anchors]
    closeness = np.array([_closeness(each, own) for each in to_texts])
    least = np.array([_SHOWN if code.examples else _SHOWN_WITHOUT_EXAMPLES for code in codes])
    is_shown = closeness >= least
    smooth = _smooth(vectors, graph)
    similarity = smooth @ middles.T
    similarity -= similarity.mean(axis=0)
    similarity[:, ~is_shown] = -1
    nearest = np.array([each.max(axis=0).argmax() for each in to_texts], dtype=np.int64)
    ids = [code.id for code in codes]
    return Expected(ids, smooth, middles, similarity, closeness, nearest, is_shown)


def _closeness(to_texts: Floats, own: Floats) -> float:
    """Return the share of texts whose nearest other text is no nearer than the anchor's; mean of anchors."""
    return float(np.searchsorted(own, to_texts.max(axis=1), side="right").mean() / len(own))


def _smooth(vectors: Vectors, graph: csr_matrix) -> Floats:
    """Return each text's vector with the mean of its neighbours', which alone says little of a short text."""
    total = np.asarray(graph.sum(axis=1)).ravel()
    weight = np.divide(1, total, out=np.zeros_like(total), where=total > 0)
    return _unit(vectors + (graph @ vectors.astype(np.float64)) * weight[:, None])


def _unit(vectors: Floats) -> Floats:
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    unit: Floats = vectors / np.where(length > 0, length, 1)
    return unit
