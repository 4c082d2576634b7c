"""What was ruled on coders' decisions, as a table: feedback to the coders, and a line for the methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from sense7_qual import _present
from sense7_qual._arguments import check_arguments
from sense7_qual.acts import REASONS
from sense7_qual.adjudication import OVERRULED
from sense7_qual.report._notes import made_with
from sense7_qual.report._table import Table

__all__ = ["overruled"]


def overruled(overruled: pd.DataFrame, *, notes: Sequence[str] = ()) -> Table:
    """Return, for each coder, how many decisions were ruled on, how many were overruled, and why.

    One row per coder: decisions that an adjudicator ruled on, those that were overruled, of these the codes
    that the coder had missed and those that the coder had added, and the reasons of the rulings that
    overruled them, most frequent first.

    Parameters
    ----------
    overruled : DataFrame
        The result of `adjudication.overruled`.
    notes : sequence of str
        Further lines for the foot.

    Raises
    ------
    TableError
        A column is missing.

    Examples
    --------
    >>> from sense7_qual import acts, adjudication
    >>> from sense7_qual.codebook import Codebook
    >>> decisions = pd.DataFrame({"unit_id": "m1", "coder": ["ana", "ben"], "code": "interest",
    ...                           "applied": [True, False]})
    >>> ruling = acts.rule(coder="lead", unit_id="m1", code="interest", applied=True, reason="slip",
    ...                    codebook=Codebook.read("sense7"))
    >>> overruled(adjudication.overruled(decisions, rulings=[ruling])).rows
    (('ana', '1', '0', '0', '0', '–'), ('ben', '1', '1', '1', '0', 'A slip: overlooked or mistyped 1'))
    """
    check_arguments(globals()["overruled"], locals())  # a parameter has its name
    OVERRULED.require(overruled)
    both = int(overruled["ruled"].isna().sum())
    standing = (
        f"On {_present.count(both)} of these decisions different readings were ruled legitimate: they were "
        "not overruled, and there is no consensus there."
    )
    return Table(
        title="Decisions ruled on, by coder",
        headers=("Coder", "Ruled on", "Overruled", "Code missed", "Code added", "Reasons"),
        rows=tuple(_coder_row(str(coder), rows) for coder, rows in overruled.groupby("coder", sort=True)),
        notes=(
            *([standing] if both else []),
            "Rulings are made where coders disagree: these are no error rates.",
            *notes,
            made_with(None),
        ),
        alignments=("left", "right", "right", "right", "right", "left"),
    )


def _coder_row(coder: str, rows: pd.DataFrame) -> tuple[str, ...]:
    wrong = rows[rows["overruled"].astype(bool)]
    counts = [len(rows), len(wrong), int((~wrong["applied"]).sum()), int(wrong["applied"].sum())]
    return coder, *(_present.count(n) for n in counts), _reasons(wrong["reason"]) or _present.MISSING


def _reasons(reasons: pd.Series) -> str:
    labels: Mapping[Any, str] = dict(REASONS)
    counts = reasons.map(lambda one: labels.get(one, "No reason given")).value_counts()
    ordered = sorted(counts.items(), key=lambda each: (-int(each[1]), str(each[0])))
    return "; ".join(f"{label} {_present.count(int(n))}" for label, n in ordered)
