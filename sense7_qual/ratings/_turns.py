"""The messages of conversations as the rating functions read them: one row per turn."""

from __future__ import annotations

import numpy as np
import pandas as pd

from sense7_qual._messages import first_three
from sense7_qual.errors import TableError
from sense7_qual.frames import require_column

__all__ = ["ASSISTANT", "USER", "column_of", "turns_by_document"]

USER, ASSISTANT = "user", "assistant"
_SKIPPED = "error"
_IN_THE_WORKBOOK = {"document_id": "TaskId", "position": "MessageId"}


def column_of(messages: pd.DataFrame, column: str | None, name: str) -> str:
    """Return the column that was given; else `name`, or what the sheet Messages of SENSE-7 calls it.

    >>> column_of(pd.DataFrame(columns=["TaskId", "Role"]), None, "document_id")
    'TaskId'
    """
    if column is not None:
        return column
    other = _IN_THE_WORKBOOK[name]
    columns = list(messages) if isinstance(messages, pd.DataFrame) else []
    return other if other in columns and name not in columns else name


def turns_by_document(
    messages: pd.DataFrame, *, document_id: str, role: str, position: str | None = None
) -> pd.DataFrame:
    """Return the rows that are turns, with columns `document_id` and `role` in one spelling; index 0 … n − 1.

    Rows of the role `error` are left out, in any case and padded. With `position` there is a column `order`
    as well: a number for every turn, each once in a conversation.
    """
    if not isinstance(messages, pd.DataFrame):
        raise TableError(
            f"messages: expected a pandas DataFrame – found {type(messages).__name__} – pass one row a turn."
        )
    for name in (document_id, role):
        require_column(messages, name, frame_name="messages")
    messages = messages.reset_index(drop=True)
    roles = messages[role].astype("string").str.strip().str.casefold()
    strange = ~roles.isin([USER, ASSISTANT, _SKIPPED]).to_numpy(dtype=bool)
    if strange.any():
        raise TableError(
            f"messages: expected user, assistant or error in column {role!r} – found something else in "
            f"{int(strange.sum())} rows (first: row {first_three(messages.index[strange])}) – correct them."
        )
    documents = messages[document_id].astype("string")
    nameless = (documents.isna() | (documents.str.strip() == "")).to_numpy(dtype=bool)
    if nameless.any():
        raise TableError(
            f"messages: expected a conversation's id in every row of column {document_id!r} – found none in "
            f"{int(nameless.sum())} rows (first: row {first_three(messages.index[nameless])}) – fill it in."
        )
    turns = messages.drop(columns=[name for name in ("document_id", "role") if name in messages])
    turns = turns.assign(document_id=documents, role=roles)
    turns = turns[turns["role"] != _SKIPPED].reset_index(drop=True)
    if position is not None:
        require_column(turns, position, frame_name="messages")
        turns = turns.assign(order=_positions(turns[position], position))
        _refuse_twice(turns, ["document_id", "order"], "each position")
    if "unit_id" in turns:
        _refuse_twice(turns[turns["unit_id"].notna()], ["document_id", "unit_id"], "each unit_id")
    return turns


def _positions(column: pd.Series, name: str) -> pd.Series:
    order = pd.to_numeric(column, errors="coerce").astype("float64")
    bad = order.index[~np.isfinite(order)]
    if len(bad):
        raise TableError(
            f"messages: expected a number in every row of column {name!r} – found none in {len(bad)} rows "
            f"(first: row {first_three(bad)}) – it gives the order of the turns."
        )
    return order


def _refuse_twice(turns: pd.DataFrame, key: list[str], what: str) -> None:
    twice = turns.duplicated(key, keep=False)
    if twice.any():
        named = first_three(turns.loc[twice, "document_id"].unique())
        raise TableError(
            f"messages: expected {what} once in a conversation – found {int(twice.sum())} rows that share "
            f"one, in {named} – a repeated message would count twice; keep one of each."
        )
