"""Which codes are applied in the place of which others."""

from __future__ import annotations

import numpy as np
import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual.agreement._counts import (
    Pairs,
    binary_alpha,
    own_decisions,
    paired,
    unit_counts,
)
from sense7_qual.agreement._pairwise import Integers
from sense7_qual.agreement._results import BY_UNIT, CONFUSION

__all__ = ["by_unit", "confusion"]


@CONFUSION.returns
def confusion(decisions: pd.DataFrame) -> pd.DataFrame:
    """Return which codes are taken for one another: one coder applied A where the other applied B instead.

    On a unit, two coders confuse A and B where one of them applied A without B, and the other B without A,
    and both have decided on both codes. A code that one applied where the other put no code in its stead
    stands in a row without `code_b`: an omission, which a sharper definition of another code does not
    cure.

    Parameters
    ----------
    decisions : DataFrame
        unit_id, coder, code, applied (bool). Every two coders are compared on the units that both have
        finished; codes that both applied, or neither did, are no part of a confusion.

    Raises
    ------
    TableError
        `decisions` is not what its contract says.

    Examples
    --------
    >>> given = [("m1", "ana", "affective", True), ("m1", "ana", "cognitive", False),
    ...          ("m1", "ben", "affective", False), ("m1", "ben", "cognitive", True),
    ...          ("m2", "ana", "affective", True), ("m2", "ana", "cognitive", False),
    ...          ("m2", "ben", "affective", False), ("m2", "ben", "cognitive", False)]
    >>> decisions = pd.DataFrame(given, columns=["unit_id", "coder", "code", "applied"])
    >>> confusion(decisions).values.tolist()
    [['affective', 'cognitive', 1, 1, 0.5], ['affective', <NA>, 1, 1, 0.5]]
    """
    check_arguments(confusion, locals())
    pairs = paired(own_decisions(decisions, function="confusion"))
    confused, n_differing = _confused(pairs)
    cells, place = np.unique(confused[:, :2], axis=0, return_inverse=True)
    n_pairs = np.bincount(place, minlength=len(cells))
    n_units = np.bincount(np.unique(np.c_[place, confused[:, 2]], axis=0)[:, 0], minlength=len(cells))
    order = np.lexsort((cells[:, 1], cells[:, 0], -n_pairs))
    names = np.array([*pairs.codes, None], dtype=object)
    columns = {
        "code_a": names[cells[order, 0]],
        "code_b": names[cells[order, 1]],
        "n_pairs": n_pairs[order],
        "n_units": n_units[order],
        "share": n_pairs[order] / max(n_differing, 1),
    }
    return CONFUSION.frame(columns)


def _confused(pairs: Pairs) -> tuple[Integers, int]:
    """Return the codes and the unit of each confusion (n, 3), and how many times two coders differed.

    A code past the last stands for "nothing instead", and so sorts behind all codes.
    """
    differ = pairs.applied_first != pairs.applied_second
    meeting = (pairs.unit * len(pairs.coders) + pairs.first) * len(pairs.coders) + pairs.second
    columns = {"meeting": meeting, "unit": pairs.unit, "code": pairs.code, "of_first": pairs.applied_first}
    disputes = pd.DataFrame(columns)[differ]
    of_first, of_second = disputes[disputes["of_first"]], disputes[~disputes["of_first"]]
    met = of_first.merge(of_second, on=["meeting", "unit"])
    alone = disputes[disputes.groupby("meeting")["of_first"].transform("nunique") == 1]
    codes = np.sort(met[["code_x", "code_y"]].to_numpy(dtype=np.int64), axis=1)
    instead = np.c_[codes, met["unit"].to_numpy(dtype=np.int64)]
    omitted = alone.assign(nothing=len(pairs.codes))[["code", "nothing", "unit"]].to_numpy(dtype=np.int64)
    return np.concatenate([instead, omitted]), int(disputes["meeting"].nunique())


@BY_UNIT.returns
def by_unit(decisions: pd.DataFrame) -> pd.DataFrame:
    """Return what each unit costs in agreement: its disagreement, and each code's alpha without it.

    Use it to find the units worth discussing and the definitions that they break. Do not remove units
    because they are costly: alpha without them is no longer the agreement of the study.

    Parameters
    ----------
    decisions : DataFrame
        unit_id, coder, code, applied (bool). A unit counts for a code where two or more coders have
        decided on it.

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
    frame = BY_UNIT.frame(columns)
    return frame.iloc[order].reset_index(drop=True)
