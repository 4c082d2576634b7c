"""What became of each coder's own decisions where an adjudicator ruled: feedback for the coders."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import pandas as pd

from sense7_qual._arguments import check_arguments, read_once
from sense7_qual.acts import Act
from sense7_qual.adjudication._rulings import latest_rulings
from sense7_qual.tables import DECISIONS, people, without_models

__all__ = ["overruled"]

_RESULT: Final = {
    "coder": "string",
    "unit_id": "string",
    "code": "string",
    "applied": "bool",
    "ruled": "boolean",
    "overruled": "bool",
    "reason": "string",
    "note": "string",
    "ruled_by": "string",
    "ruled_at": "string",
}


def overruled(decisions: pd.DataFrame, *, rulings: Iterable[Act]) -> pd.DataFrame:
    """Return each coder's decisions that were ruled on: which were overruled, and why.

    Use it as feedback to coders, and to see which codes need a clearer rule. It is no error rate: rulings are
    made where coders disagree, and the ruling itself may be wrong.

    Parameters
    ----------
    decisions : DataFrame
        unit_id, coder, code, applied (bool). Decisions of `consensus`, `majority` and `pooled` are left out,
        and so are those of models, which a warning says.
    rulings : iterable of Act
        As `Store.rulings` returns them, or as for `consensus`.

    Returns
    -------
    DataFrame
        One row per decision of a coder on a unit × code that was ruled on: coder, unit_id, code; applied (as
        the coder decided); ruled (the ruling; missing where different readings stand); overruled (whether
        the two differ; False where both stand); reason (out of `acts.REASONS`, or missing); note (in the
        adjudicator's words, which may quote a participant; missing: none); ruled_by, ruled_at. By coder, then
        what was overruled first, then by code and unit.

    Raises
    ------
    TableError
        `decisions` is not what its contract says.
    ActError
        Rulings were made under several codebooks.

    Examples
    --------
    >>> from sense7_qual import acts
    >>> from sense7_qual.codebook import Codebook
    >>> decisions = pd.DataFrame({"unit_id": "m1", "coder": ["ana", "ben"], "code": "interest",
    ...                           "applied": [True, False]})
    >>> ruling = acts.rule(coder="lead", unit_id="m1", code="interest", applied=True, reason="slip",
    ...                    codebook=Codebook.read("sense7"))
    >>> overruled(decisions, rulings=[ruling])[["coder", "overruled", "reason"]].values.tolist()
    [['ana', False, 'slip'], ['ben', True, 'slip']]
    """
    rulings = read_once(rulings)
    check_arguments(overruled, locals())
    checked = DECISIONS.check(decisions, as_written=True)
    own = people(without_models(checked, function="overruled"))
    latest = latest_rulings(rulings)
    rows = [
        (row.coder, row.unit_id, row.code, row.applied, act.applied,
         act.applied is not None and act.applied != row.applied, act.reason, act.text or None, act.coder,
         act.at)
        for row in own.itertuples()
        if (act := latest.get((str(row.unit_id), str(row.code)))) is not None
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=list(_RESULT)).astype(_RESULT)
    order = frame.sort_values(
        ["coder", "overruled", "code", "unit_id"], ascending=[True, False, True, True], kind="stable"
    )
    return order.reset_index(drop=True)
