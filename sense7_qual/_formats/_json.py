"""The cells of JSON records, numbers spelled as they were written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, Final, NoReturn

import pandas as pd

from sense7_qual._arguments import canonical
from sense7_qual._formats._cells import Cells, require_size
from sense7_qual._limits import Limits
from sense7_qual.errors import ImportRefused


class _Number(str):
    """A JSON number in its own spelling."""

    __slots__ = ()


def read_json_lines(text: str, name: str, limits: Limits) -> Cells:
    """Return the cells of one JSON object per line."""
    lines = enumerate(re.split(r"\r\n|\r|\n", text), start=1)
    objects = ((number, _parsed(line, f" in line {number}", name)) for number, line in lines if line.strip())
    return _cells(objects, "line", name, limits)


def read_json(text: str, name: str, limits: Limits) -> Cells:
    """Return the cells of a JSON list of objects, which are counted from 1."""
    listed = _parsed(text, "", name)
    if not isinstance(listed, list):
        raise _refused("another value", "", name)
    return _cells(enumerate(listed, start=1), "item", name, limits)


def _cells(objects: Iterable[tuple[int, object]], counted: str, name: str, limits: Limits) -> Cells:
    places: list[int] = []
    rows: list[dict[str, str | None]] = []
    header: dict[str, None] = {}
    for number, values in objects:
        at = f"{counted} {number}"
        if not isinstance(values, dict):
            raise _refused("a value that is not an object", f" in {at}", name)
        places.append(number)
        rows.append(_json_row(values, at, name, limits))
        header |= dict.fromkeys(rows[-1])
        require_size(len(rows), len(rows) * len(header), name, limits)
    columns = [[row.get(key) for row in rows] for key in header]
    return Cells(list(header), columns, pd.Index(places, name=counted, dtype="int64"), name)


def _json_row(values: dict[str, object], at: str, name: str, limits: Limits) -> dict[str, str | None]:
    try:
        return {key: _json_cell(value, limits.depth) for key, value in values.items()}
    except RecursionError:
        of, remedy = f"levels of nesting in {at}", "write the column as text"
        raise limits.beyond("depth", name=name, of=of, remedy=remedy) from None


def _parsed(text: str, at: str, name: str) -> object:
    try:
        return json.loads(
            text,
            parse_int=_Number,
            parse_float=_Number,
            parse_constant=_refuse_constant,
            object_pairs_hook=_without_repeats,
        )
    except json.JSONDecodeError as error:
        reason = f"{error.msg} at character {error.pos + 1}"
    except (ValueError, RecursionError) as error:
        reason = str(error)
    raise _refused(reason, at, name)


def _refused(reason: str, at: str, name: str) -> ImportRefused:
    return ImportRefused(
        f"{name}: expected JSON objects, one per line in .jsonl and a list of them in .json – found{at}: "
        f"{reason} – correct the file."
    )


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant}, which JSON does not have")


def _without_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    values = dict(pairs)
    if len(values) < len(pairs):
        raise ValueError("a duplicate key in one object")
    return values


def _json_cell(value: object, depth: int) -> str | None:
    return None if value is None else str(value) if isinstance(value, str) else _spelled(value, depth)


def _spelled(value: object, depth: int) -> str:
    """Write a parsed JSON value compactly, its numbers spelled as they were."""
    if isinstance(value, _Number):
        return str(value)
    if isinstance(value, dict | list) and depth < 1:
        raise RecursionError
    if isinstance(value, dict):
        pairs = (f"{_spelled(key, 0)}:{_spelled(item, depth - 1)}" for key, item in value.items())
        return "{" + ",".join(pairs) + "}"
    if isinstance(value, list):
        return "[" + ",".join(_spelled(item, depth - 1) for item in value) + "]"
    return json.dumps(value, ensure_ascii=False)


# Cells that hold turns or labels


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
