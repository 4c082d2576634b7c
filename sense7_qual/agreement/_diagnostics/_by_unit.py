"""Which units cost most agreement."""

from __future__ import annotations

from typing import Final

import numpy as np
import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual.agreement._counts import (
    binary_alpha,
    own_decisions,
    unit_counts,
)

__all__ = ["by_unit"]


_BY_UNIT: Final = {
    "code": "string",
    "unit_id": "string",
    "n_coders": "int64",
    "n_applied": "int64",
    "disagreement": "float64",
    "share": "float64",
    "alpha": "float64",
    "alpha_without": "float64",
    "cost": "float64",
}


def by_unit(decisions: pd.DataFrame) -> pd.DataFrame:
    """Return what each unit costs in agreement: its disagreement, and each code's alpha without it.

    Use it to find the units worth discussing and the definitions that they break. Do not remove units
    because they are costly: alpha without them is no longer the agreement of the study.

    Parameters
    ----------
    decisions : DataFrame
        unit_id, coder, code, applied (bool). A unit counts for a code where two or more coders have
        decided on it.

    Returns
    -------
    DataFrame
        One row per code × unit, codes in the order in which they first appear, within a code the most
        costly unit first:

        - code, unit_id
        - n_coders (2 or more), n_applied (0 to n_coders)
        - disagreement: share of the unit's pairs of coders that differ, 0–1
        - share: the unit's part of the code's observed disagreement, 0–1, adding up to 1 over its units;
          missing where coders never differ on the code
        - alpha: Krippendorff's nominal alpha of the code over all units, at most 1
        - alpha_without: the same without this unit
        - cost: alpha_without − alpha; above 0 the unit lowers alpha, below 0 it holds alpha up. Missing
          where one of the two is not defined because every decision was the same

    Raises
    ------
    TableError
        `decisions` is not what its contract says.

    References
    ----------
    Krippendorff (2004), Content Analysis: An Introduction to Its Methods (2nd ed.), chapter 11: alpha as
    observed over expected disagreement, to which each unit adds its part.

    Examples
    --------
    >>> given = {"ana": [1, 1, 0, 0], "ben": [1, 0, 0, 0]}
    >>> decisions = pd.DataFrame([
    ...     {"unit_id": f"m{i}", "coder": coder, "code": "interest", "applied": bool(value)}
    ...     for coder, row in given.items() for i, value in enumerate(row, start=1)])
    >>> columns = ["unit_id", "share", "alpha", "alpha_without", "cost"]
    >>> by_unit(decisions)[columns].round(3).head(2).values.tolist()
    [['m2', 1.0, 0.533, 1.0, 0.467], ['m3', 0.0, 0.533, 0.444, -0.089]]
    """
    check_arguments(by_unit, locals())
    counts = unit_counts(own_decisions(decisions, function="by_unit"))
    totals, disagreement = counts.totals(), counts.disagreement
    absent = counts.n_coders - counts.n_applied
    part = np.stack([disagreement, counts.n_applied, absent], axis=1)
    alpha = binary_alpha(totals)[counts.code]
    # Rounding takes away what the order of a sum leaves behind: without its one dispute a code has none.
    without = totals[counts.code] - part
    without[:, 0] = np.where(without[:, 0] < 1e-9, 0.0, without[:, 0])
    alpha_without = binary_alpha(without)
    observed = totals[counts.code, 0]
    share = np.full(len(observed), np.nan)
    np.divide(disagreement, observed, out=share, where=observed > 0)
    cost = alpha_without - alpha
    order = np.lexsort((counts.unit, -np.round(np.nan_to_num(cost, nan=-np.inf), 12), counts.code))
    columns = {
        "code": counts.codes[counts.code],
        "unit_id": counts.units[counts.unit],
        "n_coders": counts.n_coders,
        "n_applied": counts.n_applied,
        "disagreement": disagreement / counts.n_coders,
        "share": share,
        "alpha": alpha,
        "alpha_without": alpha_without,
        "cost": cost,
    }
    frame = pd.DataFrame(columns, columns=list(_BY_UNIT)).astype(_BY_UNIT)
    return frame.iloc[order].reset_index(drop=True)
