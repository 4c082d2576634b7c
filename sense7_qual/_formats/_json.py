"""The cells of JSON records, numbers spelled as they were written."""

from __future__ import annotations

import json
import re
from typing import NoReturn

import pandas as pd

from sense7_qual._formats._cells import Cells, require_size
from sense7_qual._limits import Limits
from sense7_qual.errors import ImportRefused

__all__ = ["read_json_lines"]


class _Number(str):
    """A JSON number in its own spelling."""

    __slots__ = ()


def read_json_lines(text: str, name: str, limits: Limits) -> Cells:
    """Return the cells of one JSON object per line."""
    lines: list[int] = []
    rows: list[dict[str, str | None]] = []
    header: dict[str, None] = {}
    for number, line in enumerate(re.split(r"\r\n|\r|\n", text), start=1):
        if line.strip():
            lines.append(number)
            rows.append(_json_row(line, number, name, limits))
            header |= dict.fromkeys(rows[-1])
            require_size(len(rows), len(rows) * len(header), name, limits)
    columns = [[row.get(key) for row in rows] for key in header]
    return Cells(list(header), columns, pd.Index(lines, name="line", dtype="int64"), name)


def _json_row(line: str, number: int, name: str, limits: Limits) -> dict[str, str | None]:
    values = _json_object(line, number, name)
    try:
        return {key: _json_cell(value, limits.depth) for key, value in values.items()}
    except RecursionError:
        of, remedy = f"levels of nesting in line {number}", "write the column as text"
        raise limits.beyond("depth", name=name, of=of, remedy=remedy) from None


def _json_object(line: str, number: int, name: str) -> dict[str, object]:
    try:
        value = json.loads(
            line,
            parse_int=_Number,
            parse_float=_Number,
            parse_constant=_refuse_constant,
            object_pairs_hook=_without_repeats,
        )
    except json.JSONDecodeError as error:
        reason = f"{error.msg} at character {error.pos + 1}"
    except (ValueError, RecursionError) as error:
        reason = str(error)
    else:
        if isinstance(value, dict):
            return value
        reason = "a value that is not an object"
    raise ImportRefused(
        f"{name}: expected one JSON object per line – found in line {number}: {reason} – correct the line."
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
