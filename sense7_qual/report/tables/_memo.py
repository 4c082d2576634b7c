"""Memos as a table."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._messages import first_three
from sense7_qual._present import MISSING
from sense7_qual.codebook import Codebook
from sense7_qual.errors import TableError
from sense7_qual.frames import MEMOS, UNITS
from sense7_qual.report import _choose_quotes
from sense7_qual.report._notes import made_with
from sense7_qual.report._table import Table

__all__ = ["memo"]


def memo(
    memos: pd.DataFrame,
    units: pd.DataFrame,
    *,
    codebook: Codebook,
    earlier: Collection[Codebook] = (),
    max_length: int = 200,
    notes: Sequence[str] = (),
) -> Table:
    """Return memos with the words that they are about, the newest first.

    One row per memo: when it was written (UTC), by whom, on what, the words of the span or text, the memo,
    and whether it is for the team or its writer's own. A text that is not among `units` is printed as "–".

    Parameters
    ----------
    memos, units : DataFrame
        The memos that stand (`frames.MEMOS`; ``store.memos(viewer="ana")`` leaves out what ana may not see)
        and the texts (`frames.UNITS`).
    codebook : Codebook
        Gives the labels of codes.
    earlier : collection of Codebook
        Its earlier versions, in their order (``store.codebooks.values()``), which give the labels of codes
        that are gone; a code that is in none is printed by its id.
    max_length : int
        Characters (code points) after which the words of a text are cut; a memo is printed whole.
    notes : sequence of str
        Further lines for the foot.

    Raises
    ------
    TableError
        A column is missing, or a span lies outside its text.
    ArgumentError
        `max_length` is out of range.

    References
    ----------
    Birks, Chapman & Francis (2008), Memoing in qualitative research, Journal of Research in Nursing 13(1),
    68–75.

    Examples
    --------
    >>> from sense7_qual import acts
    >>> sense7 = Codebook.read("sense7")
    >>> units = pd.DataFrame({"unit_id": ["m1"], "text": ["It asked how my sister was."],
    ...                       "document_id": ["t1"], "case_id": ["P07"], "position": [1]})
    >>> note = acts.memo(coder="ana", text="Curious, or polite?", target_kind="span", unit_id="m1", start=3,
    ...                  end=8, codebook=sense7, at="2026-01-31T12:00:00.000Z")
    >>> memo(acts.fold([note]).memos, units, codebook=sense7).rows
    (('2026-01-31 12:00', 'ana', 'm1', 'asked', 'Curious, or polite?', 'ana'),)
    """
    check_arguments(memo, locals())
    checked = MEMOS.check(memos, as_written=True)
    table = UNITS.check(units, as_written=True)
    texts: dict[str, str] = dict(zip(table["unit_id"], table["text"].fillna(""), strict=True))
    newest = checked.sort_values("at", ascending=False, kind="stable").astype(object)
    rows = newest.where(newest.notna(), None).to_dict("records")
    _refuse_outside(rows, texts)
    own = int(checked["round"].isna().sum())
    labels = {code.id: code.label for book in (*earlier, codebook) for code in book.codes}
    return Table(
        title="Memos",
        headers=("Written (UTC)", "Coder", "On", "Words", "Memo", "For"),
        rows=tuple(_memo_row(row, texts, labels, max_length) for row in rows),
        notes=(
            *([f"{own} of {len(rows)} memos are their writers’ own and not for the team."] if own else []),
            f"{MISSING} = no words of a text. Memos and words are printed as written: check each for what "
            "could identify a person before publishing.",
            *notes,
            made_with(codebook),
        ),
    )


def _memo_row(
    row: Mapping[Any, Any], texts: Mapping[str, str], labels: Mapping[str, str], max_length: int
) -> tuple[str, ...]:
    kind, target = row["target_kind"], row["target_id"]
    on = {
        "code": f"the code {labels.get(target, target)}",
        "study": "the study",
    }
    words = texts.get(target) if kind in ("unit", "span") else None
    if words is not None and kind == "span":
        words = words[row["start"] : row["end"]]
    return (
        str(row["at"]).replace("T", " ")[:16],
        row["coder"],
        on.get(kind, str(target)),
        MISSING if words is None else _choose_quotes.shortened(words, max_length),
        row["text"],
        row["coder"] if row["round"] is None else f"the team, with round {row['round']}",
    )


def _refuse_outside(rows: Sequence[Mapping[Any, Any]], texts: Mapping[str, str]) -> None:
    spans = [row for row in rows if row["target_kind"] == "span" and row["target_id"] in texts]
    outside = [
        row["memo_id"]
        for row in spans
        if row["start"] is None or row["end"] is None
        or not 0 <= row["start"] < row["end"] <= len(texts[row["target_id"]])
    ]  # fmt: skip
    if outside:
        raise TableError(
            f"memos: expected spans within their texts – found others in memos {first_three(outside)} – pass "
            "the units that the memos were written on."
        )
