"""A reporting checklist, with what the record of a study answers, and the rest as questions."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, Literal

from sense7_qual import _present
from sense7_qual._arguments import check_arguments
from sense7_qual.report._checklist_items import GUIDELINES, Item
from sense7_qual.report._notes import made_with
from sense7_qual.report._review_facts import Study
from sense7_qual.report._table import Table
from sense7_qual.report._text_record import Record, record_of
from sense7_qual.report._text_reflexive import positionality_memo

__all__ = ["GuidelineName", "checklist", "checklist_of"]

GuidelineName = Literal["coreq", "srqr", "rtarg"]

_POSITION: Final = {"coreq": "8", "srqr": "6", "rtarg": "Who the researchers are"}


def checklist(
    store: Study,
    guideline: GuidelineName,
    *,
    with_agreement: bool = True,
    positionality: str | None = None,
    n_boot: int = 2000,
    seed: int = 0,
) -> Table:
    """Return a reporting checklist: what the record says to each item, and what is left to be answered.

    Nothing is invented: an item to which the record says nothing has a question alone, and one that it
    answers in part has both. The note counts them. Items are named in words of our own: read the original.

    Parameters
    ----------
    store : Store
        The study.
    guideline : {"coreq", "srqr", "rtarg"}
        COREQ (32 items), SRQR (21), or what the reporting guidelines for reflexive thematic analysis ask for.
    with_agreement : bool
        Whether agreement between coders is part of the argument, as for `methods`; of "rtarg" it never is.
    positionality : str, optional
        The memo_id of a memo on the study, whose words answer the item on the researchers themselves.
    n_boot, seed
        Of intervals, as for `agreement.by_code`.

    Returns
    -------
    Table
        One row per item: number (where the guideline has numbers), topic, what the record says, what is to be
        answered.

    Raises
    ------
    ArgumentError
        `store` is no open study, there is no such guideline or memo, or a setting is out of its range.

    References
    ----------
    Tong, Sainsbury & Craig (2007), Consolidated criteria for reporting qualitative research (COREQ). O'Brien
    et al. (2014), Standards for reporting qualitative research (SRQR). Braun & Clarke (2024), Supporting best
    practice in reflexive thematic analysis reporting (RTARG), Palliative Medicine 38, 608–616.

    Examples
    --------
    ``report.checklist(store, "coreq").write("coreq.docx")``
    """
    check_arguments(checklist, locals(), but=("store",))
    record = record_of(store, function="checklist", with_agreement=with_agreement, n_boot=n_boot, seed=seed)
    return checklist_of(record, guideline, positionality=positionality)


def checklist_of(record: Record, guideline: GuidelineName, *, positionality: str | None) -> Table:
    """Return the checklist of a study whose record is read already, as `checklist` does."""
    chosen, place = GUIDELINES[guideline], _POSITION[guideline]
    record = replace(record, with_agreement=record.with_agreement and guideline != "rtarg")
    memo = None if positionality is None else str(positionality_memo(record, positionality))
    rows = [_row(item, record, memo if place in (item.number, item.topic) else None) for item in chosen.items]
    left = 1 if all(item.number == _present.MISSING for item in chosen.items) else 0  # no numbers: no column
    return Table(
        title=f"{chosen.title}: what the record of the study says, and what is to be answered",
        headers=("Item", "Topic", "From the record", "To be answered")[left:],
        rows=tuple(row[left:] for row in rows),
        notes=(_counted(rows), chosen.source, made_with(record.store.codebook.value)),
        layout="grid",
    )


def _row(item: Item, record: Record, memo: str | None) -> tuple[str, str, str, str]:
    topics = item.topics(record.with_agreement)
    said = [str(one) for topic in topics for one in topic(record)]
    said = [memo, *said] if memo else said
    asks = item.asks or ("" if said else "The record does not say.")
    return (item.number, item.topic, " ".join(said) or _present.MISSING, asks or _present.MISSING)


def _counted(rows: list[tuple[str, str, str, str]]) -> str:
    answered = sum(row[3] == _present.MISSING for row in rows)
    in_part = sum(row[2] != _present.MISSING and row[3] != _present.MISSING for row in rows)
    return (
        f"Of {_present.count(len(rows))} items the record answers {_present.count(answered)}, and of "
        f"{_present.count(in_part)} a part; the other {_present.count(len(rows) - answered - in_part)} are "
        "questions alone."
    )
