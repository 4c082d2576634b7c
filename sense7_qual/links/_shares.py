"""Predictors within participants (less their means) and between them (the means)."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._bootstrap import FEWEST_CLUSTERS
from sense7_qual._reasons import Reason

Integers = npt.NDArray[np.int64]

Cluster = pd.Series | Integers

_DEPENDENT: Final = 1e-9


def parts_of(predictors: pd.DataFrame, cluster: Cluster) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the predictors less their means in each cluster, and these means.

    The first has only columns that vary within clusters. A mean that is constant, or follows from those
    before it, is left out of the second: the model of both is the same without it.
    """
    means = predictors.groupby(np.asarray(cluster)).transform("mean")
    within = predictors - means
    varying = [name for name in within if within[name].abs().max() > 1e-12]
    shares = predictors.iloc[:, :0]
    for name in means:
        if adds(shares, means[name]):
            shares = shares.assign(**{f"share of {name}": means[name]})
    return within[varying], shares


def adds(columns: pd.DataFrame, column: pd.Series) -> bool:
    """Return True if no combination of the columns and a constant gives the column."""
    known = np.column_stack([np.ones(len(columns)), columns.to_numpy(dtype=np.float64)])
    values = column.to_numpy(dtype=np.float64)
    if not len(values):
        return False
    rest = values - known @ np.linalg.lstsq(known, values, rcond=None)[0]
    spread = float(np.square(values - values.mean()).sum())
    return bool(spread > 1e-12 and float(rest @ rest) > _DEPENDENT * spread)


def n_with_both(predictor: pd.Series, cluster: Cluster) -> int:
    """Count the clusters in which a predictor varies."""
    grouped = predictor.groupby(np.asarray(cluster))
    return int((grouped.max() > grouped.min()).sum())


def too_few(n_both: int) -> Reason | None:
    """Return why so few clusters with both have no interval; None where they are enough."""
    if not n_both:
        return Reason.NO_OWN_COMPARISON
    return Reason.FEW_OWN_COMPARISONS if n_both < FEWEST_CLUSTERS else None
