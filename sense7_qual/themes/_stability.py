"""How stable themes are: whether bootstrap samples of the texts show the same groups again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pandas as pd

from sense7_qual.themes._communities import NO_GROUP, Labels
from sense7_qual.themes._granularity import NOT_DRAWN
from sense7_qual.themes._neighbours import Floats

__all__ = ["jaccard_of_resamples", "stability"]

#: Hennig (2007): at .5 or less a resample has dissolved the theme, from .75 on it has found it again.
_DISSOLVED: Final = 0.5
_RECOVERED: Final = 0.75


def stability(jaccard: Floats) -> pd.DataFrame:
    """Return how stable each group is, by what `jaccard_of_resamples` returned.

    A row per group, all in 0 … 1: stability (the mean Jaccard similarity over resamples), dissolved and
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


def jaccard_of_resamples(labels: Labels, resamples: Sequence[Labels]) -> Floats:
    """Return how well each group is found again in bootstrap samples of the rows.

    `resamples` have the groups in each sample, `NOT_DRAWN` for a row that is not in it. The result
    (n_resamples, groups) is NaN where no member of the group was drawn.

    A group's value is the Jaccard similarity of its drawn members to the most similar group of the sample
    (Hennig 2007; `clusterboot` of the R package fpc, `bootmethod="boot"`).

    References
    ----------
    Hennig (2007), Cluster-wise assessment of cluster stability, CSDA 52, 258–271.
    """
    n_groups = int(labels.max(initial=NO_GROUP)) + 1
    jaccard = np.empty((len(resamples), n_groups))
    for number, again in enumerate(resamples):
        drawn = again != NOT_DRAWN
        jaccard[number] = _best_jaccard(labels[drawn], again[drawn], n_groups)
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
