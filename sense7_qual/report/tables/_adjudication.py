"""Adjudication: why coders disagreed, and who was overruled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pandas as pd

from sense7_qual import _present
from sense7_qual._arguments import check_arguments
from sense7_qual.acts import REASONS
from sense7_qual.adjudication import OVERRULED, QUEUE
from sense7_qual.codebook import Codebook
from sense7_qual.errors import TableError
from sense7_qual.report._table import (
    Table,
    basis_notes,
    left_then_right,
    made_with,
)


def disagreement(
    disagreements: pd.DataFrame, *, codebook: Codebook | None = None, notes: Sequence[str] = ()
) -> Table:
    """Tabulate disagreements by code: their number, how many are open, and the reasons given.

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
        A column is missing, a disagreement has several rows, as in the other orders, or a reason is
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
            *basis_notes(disagreements),
            "Disagreements = texts on which coders decided differently about the code; open = not ruled on. "
            f"{_reasons_note(given)}",
            *notes,
            made_with(codebook),
        ),
        alignments=left_then_right(1, 3 + len(given)),
    )


def _settled(disagreements: pd.DataFrame) -> pd.Series:
    """Return the reasons of those that are ruled on; missing where a ruling gives none."""
    return disagreements.loc[disagreements["settled"].notna(), "reason"].astype("string")


def _reasons_note(given: Sequence[str]) -> str:
    named = (f"{_HEADS[name]} = {REASONS[name][0].lower()}{REASONS[name][1:]}" for name in given)
    others = [head.lower() for name, head in _HEADS.items() if name not in given]
    told = f"Reasons, as the rulings give them: {'; '.join(named)}." if given else ""
    none = f"No ruling gives as its reason: {', '.join(others)}." if others else ""
    return f"{told} {none}".strip() if given else "No ruling gives a reason."


def _counts(disagreements: pd.DataFrame, given: Sequence[str]) -> tuple[str, ...]:
    reasons = _settled(disagreements)
    counts = [len(disagreements), len(disagreements) - len(reasons)]
    counts += [int((reasons == name).sum()) for name in given]
    return tuple(_present.count(n) for n in [*counts, int(reasons.isna().sum())])


def overruled(overruled: pd.DataFrame, *, notes: Sequence[str] = ()) -> Table:
    """Tabulate rulings by coder: decisions ruled on and overruled, with the reasons.

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
            *basis_notes(overruled),
            *([standing] if both else []),
            "Rulings are made where coders disagree: these are not error rates.",
            *notes,
            made_with(None),
        ),
        alignments=("left", "right", "right", "right", "right", "left"),
    )


def _coder_row(coder: str, rows: pd.DataFrame) -> tuple[str, ...]:
    wrong = rows[rows["overruled"].astype(bool)]
    counts = [len(rows), len(wrong), int((~wrong["applied"]).sum()), int(wrong["applied"].sum())]
    return coder, *(_present.count(n) for n in counts), _reasons_given(wrong["reason"]) or _present.MISSING


def _reasons_given(reasons: pd.Series) -> str:
    labels: Mapping[Any, str] = dict(REASONS)
    counts = reasons.map(lambda one: labels.get(one, "No reason given")).value_counts()
    ordered = sorted(counts.items(), key=lambda each: (-int(each[1]), str(each[0])))
    return "; ".join(f"{label} {_present.count(int(n))}" for label, n in ordered)


_HEADS: Final = {
    "slip": "Slip",
    "unclear_rule": "Unclear rule",
    "ambiguous_text": "Ambiguous text",
    "missing_code": "Missing code",
    "different_reading": "Different reading",
}
