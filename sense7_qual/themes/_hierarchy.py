"""Coarse themes and sub-themes: what the other granularities say of the themes, nested."""

from __future__ import annotations

from typing import Final

import numpy as np
import pandas as pd

from sense7_qual.themes._communities import NO_GROUP, Labels, by_size, centres
from sense7_qual.themes._neighbours import Vectors

__all__ = ["coarse_themes", "level", "sub_themes"]

#: Another level is one with at most half, or at least one and a half times, as many groups.
_FEWER: Final = 0.5
_MORE: Final = 1.5


def level(granularities: pd.DataFrame, chosen: float, *, finer: bool) -> float | None:
    """Return the granularity of the coarse themes, or of the sub-themes: the best beyond chance, or None."""
    own = int(granularities.loc[granularities["granularity"] == chosen, "n_themes"].iloc[0])
    number = granularities["n_themes"]
    if finer:
        other = granularities[(granularities["granularity"] > chosen) & (number >= _MORE * own)]
    else:
        other = granularities[(granularities["granularity"] < chosen) & number.between(2, _FEWER * own)]
    if other.empty:
        return None
    nearest_first = other if finer else other.iloc[::-1]
    value = nearest_first["beyond_chance"].fillna(0).to_numpy()
    return float(nearest_first["granularity"].iloc[value.argmax()])


def coarse_themes(themes: Labels, coarse: Labels, weights: Labels) -> Labels:
    """Return the coarse theme of each row: its theme is where most of the theme's rows are, as a whole."""
    home = _homes(themes, coarse)
    return by_size(np.where(themes == NO_GROUP, NO_GROUP, home[themes]), weights)


def sub_themes(vectors: Vectors, themes: Labels, fine: Labels, weights: Labels, *, min_size: int) -> Labels:
    """Return the sub-theme of each row, within its theme.

    The rows of a theme that are together at the finer granularity too are a sub-theme, from `min_size` rows
    on; the rest of the theme goes to the sub-theme with the nearest centre. A theme that does not fall apart
    is its own sub-theme.
    """
    width = int(fine.max(initial=NO_GROUP)) + 2
    pieces = np.where(themes == NO_GROUP, NO_GROUP, themes * width + fine + 1)
    numbers, inverse, size = np.unique(pieces, return_inverse=True, return_counts=True)
    large = (size >= min_size) & (numbers >= 0) & (numbers % width > 0)
    subs = np.full(len(themes), NO_GROUP, dtype=np.int64)
    n_subs = 0
    for theme in range(int(themes.max(initial=NO_GROUP)) + 1):
        rows = np.flatnonzero(themes == theme)
        own = np.unique(inverse[rows][large[inverse[rows]]])
        labels = np.searchsorted(own, inverse[rows]) if len(own) else np.zeros(len(rows), dtype=np.int64)
        rest = ~np.isin(inverse[rows], own)
        if len(own) and rest.any():
            labels[rest] = NO_GROUP
            labels[rest] = (vectors[rows[rest]] @ centres(vectors[rows], labels).T).argmax(axis=1)
        subs[rows] = n_subs + labels
        n_subs += max(len(own), 1)
    return by_size(subs, weights)


def _homes(themes: Labels, other: Labels) -> Labels:
    """Return for each theme the group of `other` with most of its rows (ties: the larger group)."""
    inside = themes != NO_GROUP
    both = np.zeros((int(themes.max(initial=NO_GROUP)) + 1, int(other.max(initial=NO_GROUP)) + 2))
    np.add.at(both, (themes[inside], other[inside]), 1)
    both[:, -1] -= 0.5  # rows in no group decide only where there is nothing else
    return np.asarray(both[:, :-1].argmax(axis=1) if both.shape[1] > 1 else np.zeros(len(both), int))
