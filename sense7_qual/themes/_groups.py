"""The groups of distinct texts: themes as fine as resamples show them again, coarse and sub-themes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import pandas as pd

from sense7_qual.themes import _granularity
from sense7_qual.themes._communities import Labels, by_size, communities
from sense7_qual.themes._fuzzy_graph import fuzzy_graph
from sense7_qual.themes._granularity import GRANULARITIES, N_KNOWN, Resamples, affordable, n_neighbours
from sense7_qual.themes._hierarchy import coarse_themes, level, sub_themes
from sense7_qual.themes._neighbours import Floats, Neighbours, Vectors, nearest_neighbours
from sense7_qual.themes._stability import jaccard_of_resamples
from sense7_qual.themes._texts import Progress
from sense7_qual.themes._threads import in_threads

__all__ = ["Groups", "groups"]

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
