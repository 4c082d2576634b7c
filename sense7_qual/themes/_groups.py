"""The groups of distinct texts: themes as fine as resamples show them again, coarse and sub-themes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pandas as pd

from sense7_qual.themes import _granularity
from sense7_qual.themes._communities import NO_GROUP, Labels, by_size, centres, communities, fuzzy_graph
from sense7_qual.themes._granularity import (
    GRANULARITIES,
    N_KNOWN,
    Resamples,
    affordable,
    jaccard_of_resamples,
    n_neighbours,
)
from sense7_qual.themes._neighbours import Floats, Neighbours, Vectors, in_threads, nearest_neighbours
from sense7_qual.themes._texts import Progress

__all__ = ["Groups", "coarse_themes", "groups", "level", "sub_themes"]

_MOST_STARTS: Final = 3


@dataclass(frozen=True, slots=True)
class Groups:
    """Groups of distinct texts: a number per text at each level, Jaccard per resample and group."""

    granularity: float
    themes: Labels = field(repr=False)
    coarse: Labels = field(repr=False)
    subs: Labels = field(repr=False)
    jaccard: dict[str, Floats] = field(repr=False)
    granularities: pd.DataFrame = field(repr=False)
    settings: dict[str, Any] = field(repr=False)


def groups(
    vectors: Vectors,
    *,
    weights: Labels,
    granularity: float | None,
    min_size: int,
    n_resamples: int,
    seed: int,
    report: Progress,
) -> Groups:
    """Group distinct texts at every granularity, choose one, and resample.

    `vectors` (n, d) are of distinct texts, of length 1, and `weights` say how many units have each; `report`
    is called with (stage, done, total).
    """
    report("cluster", 0, 1)
    near = nearest_neighbours(vectors, N_KNOWN)
    tried = sorted({*GRANULARITIES} | ({granularity} if granularity else set()))
    whole = _at_each(near, tried, min_size=min_size, seed=seed)
    report("cluster", 1, 1)
    resamples = Resamples(near, n_neighbours(len(vectors)), min_size, seed)
    n_to_choose = affordable(len(vectors), most=n_resamples, least=3)
    resamples.run(tried, n_to_choose, lambda done, total: report("resample", done, n_resamples))
    table = _granularity.table(vectors, resamples, whole, lambda done, total: report("chance", done, total))
    best = granularity or _granularity.chosen(table)
    resamples.run([best], n_resamples, lambda done, total: report("resample", done, total))
    table["chosen"] = table["granularity"] == best
    return _levels(vectors, weights, whole, best, table, resamples)


def _at_each(near: Neighbours, tried: list[float], *, min_size: int, seed: int) -> dict[float, Labels]:
    graph = fuzzy_graph(near.nearest(n_neighbours(len(near.index))))
    n_starts = affordable(2 * len(near.index), most=_MOST_STARTS, least=1)
    at_each = in_threads(
        lambda each: communities(graph, resolution=each, min_size=min_size, seed=seed, n_starts=n_starts),
        tried,
    )
    return dict(zip(tried, at_each, strict=True))


def _levels(
    vectors: Vectors,
    weights: Labels,
    whole: dict[float, Labels],
    best: float,
    table: pd.DataFrame,
    resamples: Resamples,
) -> Groups:
    """Return the themes with the levels above and below, nested in them."""
    themes = by_size(whole[best], weights)
    above, below = level(table, best, finer=False), level(table, best, finer=True)
    coarse = themes if above is None else coarse_themes(themes, whole[above], weights)
    subs = themes
    if below is not None:
        subs = sub_themes(vectors, themes, whole[below], weights, min_size=resamples.min_size)
    jaccard = {
        name: jaccard_of_resamples(labels, resamples.labels.get(at or best, []))
        for name, labels, at in (("coarse", coarse, above), ("theme", themes, best), ("sub", subs, below))
    }
    settings = {
        "n_neighbours": resamples.n_neighbours,
        "granularity_coarse": above,
        "granularity_sub": below,
    }
    return Groups(best, themes, coarse, subs, jaccard, table, settings)


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
