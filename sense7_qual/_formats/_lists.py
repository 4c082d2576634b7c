"""Cells that hold JSON: the turns of a conversation, and the labels of earlier coders."""

from __future__ import annotations

import json
import re
from typing import Any, Final

import pandas as pd

from sense7_qual._arguments import canonical

__all__ = ["WHO", "label_columns", "listed_turns", "parsed_json"]

WHO: Final = re.compile(r"_?annotat(ors?(_?id)?|ed_?by|ion_approver)", re.IGNORECASE)
"""Columns that say who annotated."""


def parsed_json(cell: str) -> list[Any] | dict[str, Any] | None:
    """Return the list or object that a cell spells in JSON, or None."""
    if cell.lstrip()[:1] not in {"[", "{"}:
        return None
    try:
        value: list[Any] | dict[str, Any] = json.loads(cell)
    except (ValueError, RecursionError):
        return None
    return value


def listed_turns(context: str) -> list[dict[str, str]] | None:
    """Return the turns of a JSON list of them, or None where it is anything else."""
    listed = parsed_json(context)
    if not isinstance(listed, list):
        return None
    turns = []
    for turn in listed:
        text = turn.get("text", turn.get("content")) if isinstance(turn, dict) else None
        if not isinstance(text, str) or not isinstance(turn.get("role"), str):
            return None
        turns.append({"role": turn["role"], "text": canonical(text)})
    return turns


def label_columns(table: pd.DataFrame) -> list[str]:
    """Return the columns of labels and, if there are any, the columns that name the annotators.

    Labels are JSON lists of words, of ``[start, end, word]`` or of objects with a ``label`` or ``labels``,
    and objects with ``choices`` or ``labels``, in every filled cell: doccano, Label Studio, Prodigy and
    Argilla write them so.
    """
    labels = {name for name in table.columns if _holds_labels(table[name])}
    return [name for name in table.columns if name in labels or (labels and WHO.fullmatch(name))]


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
