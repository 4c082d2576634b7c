"""Columns that hold what somebody else coded: a coder who saw them would not code blind."""

from __future__ import annotations

import re
from typing import Final

import pandas as pd

from sense7_qual.corpus._columns import parsed_json

__all__ = ["label_columns"]

_WHO: Final = re.compile(r"_?annotat(ors?(_?id)?|ed_?by|ion_approver)", re.IGNORECASE)


def label_columns(table: pd.DataFrame) -> list[str]:
    """Return the columns of labels, and beside such a one the columns that say who annotated.

    Labels are JSON lists of words, of ``[start, end, word]`` or of objects with a ``label`` or ``labels``,
    and objects with ``choices`` or ``labels``, in every filled cell: doccano, Label Studio, Prodigy and
    Argilla write them so.
    """
    labels = {name for name in table.columns if _holds_labels(table[name])}
    return [name for name in table.columns if name in labels or (labels and _WHO.fullmatch(name))]


def _holds_labels(column: pd.Series) -> bool:
    some = False
    for cell in column:  # up to the first that is none: most columns end at once
        if cell is pd.NA or not cell.strip():
            continue
        if not _are_labels(cell):
            return False
        some = some or cell.strip() != "[]"
    return some


def _are_labels(cell: str) -> bool:
    value = parsed_json(cell)
    if isinstance(value, dict):
        return isinstance(value.get("choices", value.get("labels")), list)
    return value is not None and all(map(_is_label, value))


def _is_label(item: object) -> bool:
    match item:
        case str() | [int(), int(), str()] | {"label": _} | {"labels": _}:
            return True
    return False
