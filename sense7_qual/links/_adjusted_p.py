"""p adjusted for the number of codes that are tested together."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

__all__ = ["holm", "with_adjusted"]

Floats = npt.NDArray[np.float64]


def with_adjusted(rows: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return `rows`, one family, with the p in column `name` adjusted where there is one.

    Adds the columns `{name}_adjusted` (Benjamini & Hochberg 1995) and `{name}_holm` (Holm 1979).
    """
    from scipy import stats

    tested = rows[name].notna()
    if not tested.any():
        return rows
    p = rows.loc[tested, name].to_numpy(dtype=np.float64)
    adjusted = rows.copy()
    adjusted.loc[tested, f"{name}_adjusted"] = stats.false_discovery_control(p, method="bh")
    adjusted.loc[tested, f"{name}_holm"] = holm(p)
    return adjusted


def holm(p: Floats) -> Floats:
    """Return p (n,) adjusted by Holm's step-down procedure.

    The rule by hand: the smallest of three times 3, the next times 2, the largest as it is, never falling:

    >>> holm(np.array([0.01, 0.04, 0.03])).round(6).tolist()
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p)
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(stepped, 1)
    return adjusted
