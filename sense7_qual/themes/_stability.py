"""How stable themes are: whether bootstrap samples of the texts show the same groups again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
import pandas as pd

from sense7_qual.themes._graph_clusters import NO_GROUP, Floats, Labels, Neighbours, Vectors, group

__all__ = ["jaccard_of_resamples", "stability"]

#: Hennig (2007): at .5 or less a resample has dissolved the theme, from .75 on it has found it again.
_DISSOLVED: Final = 0.5
_RECOVERED: Final = 0.75


def stability(jaccard: Floats) -> pd.DataFrame:
    """Return how stable each group is, by what `jaccard_of_resamples` returned.

    Returns
    -------
    DataFrame
        One row per group, all in 0 … 1: stability (the mean Jaccard similarity over resamples), dissolved and
        recovered (the shares of resamples with at most .5 and at least .75); missing without resamples.

    References
    ----------
    Hennig (2007), Cluster-wise assessment of cluster stability, CSDA 52, 258–271.
    """
    by_group = pd.DataFrame(jaccard.T)
    counted = by_group.notna().sum(axis=1).replace(0, np.nan)
    return pd.DataFrame(
        {
            "stability": by_group.mean(axis=1),
            "dissolved": (by_group <= _DISSOLVED).sum(axis=1) / counted,
            "recovered": (by_group >= _RECOVERED).sum(axis=1) / counted,
        }
    )


def jaccard_of_resamples(
    vectors: Vectors,
    near: Neighbours,
    labels: Labels,
    *,
    n_neighbours: int,
    resolution: float,
    min_size: int,
    n_resamples: int,
    seed: int,
    report: Callable[[int, int], None],
) -> Floats:
    """Return how well each group is found again in bootstrap samples of the rows.

    Each resample draws n rows with replacement, uses each drawn row once, and is grouped anew from the
    neighbours that were drawn. A group's value is the Jaccard similarity of its drawn members to the most
    similar group found (Hennig 2007; `clusterboot` of the R package fpc, `bootmethod="boot"`).

    Parameters
    ----------
    near
        More neighbours per row than `n_neighbours`: about 63 % of them are drawn.

    Returns
    -------
    numpy.ndarray
        Shape (n_resamples, groups), 0 … 1; NaN where no member of the group was drawn.

    References
    ----------
    Hennig (2007), Cluster-wise assessment of cluster stability, CSDA 52, 258–271.
    """
    n = len(labels)
    jaccard = np.empty((n_resamples, int(labels.max(initial=NO_GROUP)) + 1))
    for resample in range(n_resamples):
        rng = np.random.default_rng([seed, resample])
        drawn = np.unique(rng.integers(0, n, n))
        again = group(
            vectors[drawn],
            near.among(drawn, n_neighbours),
            resolution=resolution,
            min_size=max(2, round(min_size * len(drawn) / n)),
            seed=int(rng.integers(2**31)),
            n_starts=1,
        )
        jaccard[resample] = _best_jaccard(labels[drawn], again, jaccard.shape[1])
        report(resample + 1, n_resamples)
    return jaccard


def _best_jaccard(labels: Labels, again: Labels, n_groups: int) -> Floats:
    both = np.zeros((n_groups + 1, int(again.max(initial=NO_GROUP)) + 2))
    np.add.at(both, (labels, again), 1)  # −1 counts in the last row and column, which are then left out
    size, size_again = both.sum(axis=1)[:-1, None], both.sum(axis=0)[None, :-1]
    either = size + size_again - both[:-1, :-1]
    overlap = np.divide(both[:-1, :-1], either, out=np.zeros_like(either), where=either > 0)
    best = overlap.max(axis=1, initial=0.0)
    best[size[:, 0] == 0] = np.nan
    return np.asarray(best)
