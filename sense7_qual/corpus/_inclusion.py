"""Units drawn for double coding where they tell most: with what probability each was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._contract import Column, Contract, number
from sense7_qual.corpus._assign import checked_weights, probabilities, strata_and_shares
from sense7_qual.errors import TableError

__all__ = ["inclusion"]

INCLUSION: Final = Contract("inclusion", ("unit_id",), {
    "unit_id": Column("string", missing=False),
    "probability": number("above 0, at most 1; their sum is the number of units in the overlap", 0, 1),
}, row="One row per unit that could be drawn")  # fmt: skip


@INCLUSION.returns
def inclusion(
    units: pd.DataFrame,
    *,
    overlap: float,
    weights: Mapping[str, float],
    seed: int = 0,
    stratify: str | Sequence[str] | None = None,
) -> pd.DataFrame:
    """Return with what probability each unit came into the overlap that `assign` draws by `weights`.

    Use it for agreement that speaks of all units again: ``agreement.by_code(…, inclusion=…)``. Call it with
    what `assign` was called with. It is not kept in the study: weights made of a first coder's codings would
    tell the second coder what the first one coded.

    Parameters
    ----------
    units, overlap, weights, seed, stratify
        As for `assign`.

    Raises
    ------
    TableError
        As of `assign`, or `overlap` is 0: nothing is drawn.

    Notes
    -----
    In each stratum a unit's probability is n w / Σ w for n units of the overlap; what would be above 1 is
    drawn surely, and the others share the rest in the same way. Units are drawn systematically from a random
    order, which keeps these probabilities and the number of units exactly (Madow 1949).

    References
    ----------
    Madow (1949), On the theory of systematic sampling II, Annals of Mathematical Statistics 20, 333–354.
    Hartley & Rao (1962), Sampling with unequal probabilities and without replacement, Annals of Mathematical
    Statistics 33, 350–374.

    Examples
    --------
    >>> units = pd.DataFrame({"unit_id": list("abcd"), "text": "…", "document_id": None, "case_id": None,
    ...                       "position": None})
    >>> drawn = inclusion(units, overlap=0.5, weights={"a": 4, "b": 1, "c": 1, "d": 1})
    >>> drawn["probability"].round(3).tolist()
    [1.0, 0.333, 0.333, 0.333]
    """
    check_arguments(inclusion, locals())
    units, strata, shared = strata_and_shares(units, overlap, seed, stratify)
    if not sum(shared):
        raise TableError(
            f"inclusion: expected an overlap above 0, and units – found {overlap} of {len(units)} units – "
            "without an overlap nothing is drawn."
        )
    weight = checked_weights(units, weights)
    chance = np.zeros(len(units))
    for rows, count in zip(strata, shared, strict=True):
        chance[rows] = probabilities(weight[rows], count)
    drawn = INCLUSION.frame({"unit_id": units["unit_id"], "probability": chance})
    return drawn[drawn["probability"] > 0].reset_index(drop=True)
