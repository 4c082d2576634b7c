"""The rating against the share of coders who apply a code: Spearman's correlation, by participant."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._bootstrap import FEWEST_CLUSTERS
from sense7_qual.links._resample import jackknife_interval, left_out

__all__ = ["share_columns", "spearman"]

Floats = npt.NDArray[np.float64]


def share_columns(shares: pd.DataFrame, confidence_level: float) -> dict[str, float]:
    """Return spearman and its interval from units with a share, a rating and a cluster.

    The interval is that of Fisher's z with its delete-one-cluster jackknife standard error; without one where
    there are fewer than six clusters, or the correlation is ±1.
    """
    tables = _tables(shares)
    rho = float(spearman(tables.sum(axis=0))) if len(tables) else np.nan
    if len(tables) < FEWEST_CLUSTERS:
        return {"spearman": rho}
    without = left_out(
        tables.reshape(len(tables), -1), lambda sums: spearman(sums.reshape(-1, *tables.shape[1:]))
    )
    low, high = jackknife_interval(rho, without, confidence_level, onto=np.arctanh, back=np.tanh)
    return {"spearman": rho, "spearman_low": low, "spearman_high": high}


def spearman(tables: Floats) -> Floats:
    """Return Spearman's rank correlation (…) of counts (…, shares, levels), NaN if one margin is constant.

    >>> round(float(spearman(np.array([[2.0, 1.0], [0.0, 3.0]]))), 6)  # Pearson's phi of the table
    0.707107
    """
    n = tables.sum(axis=(-2, -1))[..., None]
    ranks = []
    for axis in (-1, -2):
        margin = tables.sum(axis=axis)
        ranks.append(np.cumsum(margin, axis=-1) - margin / 2 - n / 2)
    products = np.einsum("...s,...sl,...l->...", ranks[0], tables, ranks[1])
    squares = [
        (np.square(rank) * tables.sum(axis=axis)).sum(axis=-1)
        for rank, axis in zip(ranks, (-1, -2), strict=True)
    ]
    scale = np.sqrt(squares[0] * squares[1])
    return np.asarray(np.divide(products, scale, out=np.full(np.shape(scale), np.nan), where=scale > 0))


def _tables(shares: pd.DataFrame) -> Floats:
    """Return the counts of units by cluster, share and rating level (clusters, shares, levels)."""
    index = [np.unique(shares[name], return_inverse=True)[1] for name in ("cluster", "share", "rating")]
    shape = tuple(int(part.max()) + 1 if len(part) else 0 for part in index)
    tables = np.zeros(shape)
    np.add.at(tables, tuple(index), 1)
    return tables
