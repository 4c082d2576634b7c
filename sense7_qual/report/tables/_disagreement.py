"""Disagreements by code and by the reason that their ruling gives, as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pandas as pd

from sense7_qual import _present
from sense7_qual._arguments import check_arguments
from sense7_qual.acts import REASONS
from sense7_qual.adjudication import QUEUE
from sense7_qual.codebook import Codebook
from sense7_qual.errors import TableError
from sense7_qual.report._notes import made_with
from sense7_qual.report._table import Table, left_then_right

__all__ = ["disagreement"]

_HEADS: Final = {
    "slip": "Slip",
    "unclear_rule": "Unclear rule",
    "ambiguous_text": "Ambiguous text",
    "missing_code": "Missing code",
    "different_reading": "Different reading",
}


def disagreement(
    disagreements: pd.DataFrame, *, codebook: Codebook | None = None, notes: Sequence[str] = ()
) -> Table:
    """Return how many disagreements each code has, how many are settled, and why coders disagreed.

    One row per code, and one for all of them: texts on which coders disagreed about the code, those that are
    not ruled on, and of the others how many were ruled on with each reason. A reason that no ruling gives has
    no column.

    Parameters
    ----------
    disagreements : DataFrame
        The result of `adjudication.queue` in the order "split": unit_id, code, settled, reason.
    codebook : Codebook, optional
        Gives the labels and the order of the codes.
    notes : sequence of str
        Further lines for the foot.

    Raises
    ------
    TableError
        A column is missing, a disagreement stands in several rows, as in the other orders, or a reason is
        none of `acts.REASONS`.
    CodebookError
        A code is not in the codebook.

    Examples
    --------
    >>> from sense7_qual import acts, adjudication
    >>> decisions = pd.DataFrame({"unit_id": ["m1", "m1", "m2", "m2"], "coder": ["ana", "ben"] * 2,
    ...                           "code": "interest", "applied": [True, False] * 2})
    >>> ruling = acts.rule(coder="lead", unit_id="m1", code="interest", applied=True, reason="slip",
    ...                    codebook=Codebook.read("sense7"))
    >>> table = disagreement(adjudication.queue(decisions, rulings=[ruling]))
    >>> table.headers, table.rows[0]
    (('Code', 'Disagreements', 'Open', 'Slip', 'No reason given'), ('interest', '2', '1', '1', '0'))
    """
    check_arguments(disagreement, locals())
    QUEUE.require(disagreements)
    twice = int(disagreements.duplicated(["unit_id", "code"]).sum())
    if twice:
        raise TableError(
            f"disagreements: expected one row per text and code – found {twice} more – pass "
            "adjudication.queue(…, by='split')."
        )
    unknown = int((disagreements["reason"].notna() & ~disagreements["reason"].isin(list(_HEADS))).sum())
    if unknown:
        raise TableError(
            f"disagreements: expected reasons out of {', '.join(_HEADS)} – found {unknown} others – pass "
            "adjudication.queue(…, rulings=store.rulings())."
        )
    codes = pd.DataFrame({"code": disagreements["code"].astype("string").unique()})
    rows = _present.rows(codes, frame_name="disagreements", codebook=codebook)
    of_code = {str(code): some for code, some in disagreements.groupby("code", sort=False)}
    given = [name for name in _HEADS if (_settled(disagreements) == name).any()]
    shown = [(str(row["label"]), *_counts(of_code[str(row["code"])], given)) for row in rows]
    return Table(
        title="Disagreements by code and reason",
        headers=("Code", "Disagreements", "Open", *(_HEADS[name] for name in given), "No reason given"),
        rows=(*shown, ("All codes", *_counts(disagreements, given))),
        notes=(
            "Disagreements = texts on which coders decided differently about the code; open = not ruled on. "
            f"{_reasons(given)}",
            *notes,
            made_with(codebook),
        ),
        alignments=left_then_right(1, 3 + len(given)),
    )


def _settled(disagreements: pd.DataFrame) -> pd.Series:
    """Return the reasons of those that are ruled on; missing where a ruling gives none."""
    return disagreements.loc[disagreements["settled"].notna(), "reason"].astype("string")


def _reasons(given: Sequence[str]) -> str:
    named = (f"{_HEADS[name]} = {REASONS[name][0].lower()}{REASONS[name][1:]}" for name in given)
    others = [head.lower() for name, head in _HEADS.items() if name not in given]
    told = f"Reasons, as the rulings give them: {'; '.join(named)}." if given else ""
    none = f"No ruling gives as its reason: {', '.join(others)}." if others else ""
    return f"{told} {none}".strip()


def _counts(disagreements: pd.DataFrame, given: Sequence[str]) -> tuple[str, ...]:
    reasons = _settled(disagreements)
    counts = [len(disagreements), len(disagreements) - len(reasons)]
    counts += [int((reasons == name).sum()) for name in given]
    return tuple(_present.count(n) for n in [*counts, int(reasons.isna().sum())])
