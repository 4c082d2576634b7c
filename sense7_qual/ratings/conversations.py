"""The messages of conversations as the rating functions read them: one row per turn."""

from __future__ import annotations

import pandas as pd

from sense7_qual.errors import TableError, first_three
from sense7_qual.tables import require_column

__all__ = ["ASSISTANT", "USER", "column_of", "turns_by_document"]

USER, ASSISTANT = "user", "assistant"
_SKIPPED = "error"
_IN_THE_WORKBOOK = {"document_id": "TaskId", "position": "MessageId"}


def column_of(messages: pd.DataFrame, given: str | None, name: str) -> str:
    """Return the column that was given; else `name`, or what the sheet Messages of SENSE-7 calls it.

    >>> column_of(pd.DataFrame(columns=["TaskId", "Role"]), None, "document_id")
    'TaskId'
    """
    if given is not None:
        return given
    other = _IN_THE_WORKBOOK[name]
    there = list(messages) if isinstance(messages, pd.DataFrame) else []
    return other if other in there and name not in there else name


def turns_by_document(messages: pd.DataFrame, *, document: str, role: str) -> pd.DataFrame:
    """Return the rows that are turns, with columns `document_id` and `role` in one spelling; index 0 … n − 1.

    Rows of the role `error` are left out, in any case and padded.

    Raises
    ------
    TableError
        A column or a document is missing, or a role is neither user, assistant nor error.
    """
    if not isinstance(messages, pd.DataFrame):
        raise TableError(
            f"messages: expected a pandas DataFrame – found {type(messages).__name__} – pass one row a turn."
        )
    for name in (document, role):
        require_column(messages, name, frame_name="messages")
    messages = messages.reset_index(drop=True)
    roles = messages[role].astype("string").str.strip().str.casefold()
    strange = ~roles.isin([USER, ASSISTANT, _SKIPPED]).to_numpy(dtype=bool)
    if strange.any():
        raise TableError(
            f"messages: expected user, assistant or error in column {role!r} – found something else in "
            f"{int(strange.sum())} rows (first: row {first_three(messages.index[strange])}) – correct them."
        )
    documents = messages[document].astype("string")
    nameless = (documents.isna() | (documents.str.strip() == "")).to_numpy(dtype=bool)
    if nameless.any():
        raise TableError(
            f"messages: expected a conversation's id in every row of column {document!r} – found none in "
            f"{int(nameless.sum())} rows (first: row {first_three(messages.index[nameless])}) – fill it in."
        )
    turns = messages.drop(columns=[name for name in ("document_id", "role") if name in messages])
    turns = turns.assign(document_id=documents, role=roles)
    return turns[turns["role"] != _SKIPPED].reset_index(drop=True)
