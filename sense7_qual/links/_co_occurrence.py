"""Which codes occur together."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._reasons import Reason
from sense7_qual.links._resample import decided_by
from sense7_qual.links._results import CO_OCCURRENCE

__all__ = ["by_unit", "co_occurrence"]


@CO_OCCURRENCE.returns
def co_occurrence(decisions: pd.DataFrame, *, source: str) -> pd.DataFrame:
    """Return how often each two codes are applied to the same unit, and whether more often than by chance.

    Parameters
    ----------
    decisions : DataFrame
        unit_id, coder, code, applied (bool).
    source : str
        One coder, "majority" or "consensus".

    Raises
    ------
    TableError
        The frame or the source is not what it should be.

    Notes
    -----
    phi = (n · n_both − n_code · n_other) / √(n_code (n − n_code) n_other (n − n_other)), Pearson's
    correlation of two truth values. It describes these units: it comes with no interval, because units of
    one participant are not independent.

    Examples
    --------
    >>> applied = {"interest": [True, True, False, False], "prosocial": [True, False, False, False]}
    >>> decisions = pd.concat([pd.DataFrame({"unit_id": list("abcd"), "coder": "ana", "code": code,
    ...                                      "applied": values}) for code, values in applied.items()])
    >>> pairs = co_occurrence(decisions, source="ana")
    >>> pairs[["code", "other", "n_both", "phi", "lift"]].round(3).values.tolist()
    [['interest', 'prosocial', 1, 0.577, 2.0]]
    """
    check_arguments(co_occurrence, locals())
    decided = decided_by(decisions, decisions, source, function="co_occurrence")
    wide = by_unit(decided)
    pairs = itertools.combinations(wide, 2)
    rows = [
        {"code": a, "other": b, "source": source, **_together(wide[[a, b]].dropna().to_numpy(dtype=bool))}
        for a, b in pairs
    ]
    return CO_OCCURRENCE.frame(rows)


def by_unit(decided: pd.DataFrame) -> pd.DataFrame:
    """Return a row per unit and a column per code, in the order in which they first appear."""
    wide = decided.set_index(["unit_id", "code"])["applied"].unstack("code")  # noqa: PD010 – keys are unique
    return wide.reindex(columns=[str(code) for code in decided["code"].unique()])


def _together(applied: Any) -> dict[str, object]:
    """Return counts, phi and lift of two codes (units, 2)."""
    n, both = len(applied), int(applied.all(axis=1).sum())
    one, other = (int(column.sum()) for column in applied.T)
    spread = float(one * (n - one)) * float(other * (n - other))
    reason = (
        None if spread else Reason.CODE_NEVER_APPLIED if 0 in (one, other) else Reason.CODE_ALWAYS_APPLIED
    )
    return {
        "n": n,
        "n_code": one,
        "n_other": other,
        "n_both": both,
        "phi": (n * both - one * other) / np.sqrt(spread) if spread else np.nan,
        "lift": n * both / (one * other) if one and other else np.nan,
        "reason": reason if n else Reason.NO_COMMON_UNITS,
    }
