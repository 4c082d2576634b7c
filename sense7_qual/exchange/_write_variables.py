"""The columns of `units` as variables of REFI-QDA, with their values at texts and at participants."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Final

import pandas as pd

from sense7_qual.exchange import _refi

__all__ = ["Variables"]

_NO_VARIABLES: Final = ("unit_id", "text", "case_id", "context")
_OF_TEXTS: Final = ("document_id", "position")  # never of a participant


class Variables:
    """Writes the variables of some units; `plain` takes out of a text what XML cannot hold."""

    def __init__(
        self, units: pd.DataFrame, plain: Callable[[str], str], lost: Mapping[str, list[str]]
    ) -> None:
        self._units, self._plain, self._lost = units, plain, lost
        self._guids = {str(name): _refi.guid("variable", str(name)) for name in units.columns}
        self._kinds = {str(name): _kind(units[name]) for name in units.columns if name not in _NO_VARIABLES}

    def names(self) -> list[str]:
        """Return each variable with its kind."""
        return [
            f'<Variable guid="{self._guids[name]}" name={_refi.quoted(self._plain(name))} '
            f'typeOfVariable="{kind}"/>'
            for name, kind in self._kinds.items()
        ]

    def values(self) -> dict[str, list[str]]:
        """Return the values of the variables at each text, by unit_id."""
        unit_ids = list(self._units["unit_id"])
        by_unit: dict[str, list[str]] = {unit_id: [] for unit_id in unit_ids}
        for name in self._kinds:
            for unit_id, value in zip(unit_ids, self._units[name], strict=True):
                line = self._value(name, value)
                if line is not None:
                    by_unit[unit_id].append(line)
                elif not pd.isna(value):
                    self._lost["numbers that XML cannot hold (infinite): left out"].append(unit_id)
        return by_unit

    def cases(self, sources: Mapping[str, str]) -> list[str]:
        """Return each participant, with their texts and with the variables that are alike at all of them."""
        unit_ids, rows = list(self._units["unit_id"]), defaultdict[str, list[int]](list)
        for row, case_id in enumerate(self._units["case_id"]):
            if not pd.isna(case_id):
                rows[str(case_id)].append(row)
        columns = {
            name: (list(self._units[name]), self._units[name].notna().to_numpy())
            for name in self._kinds
            if name not in _OF_TEXTS
        }
        cases = []
        for case_id, own in rows.items():
            values = [
                self._value(name, column[own[0]])
                for name, (column, known) in columns.items()
                if known[own].all() and all(column[row] == column[own[0]] for row in own)
            ]
            texts = [f'<SourceRef targetGUID="{sources[unit_ids[row]]}"/>' for row in own]
            name = _refi.quoted(self._plain(case_id))
            head = f'<Case guid="{_refi.guid("case", f"case {case_id}")}" name={name}>'
            cases.append("\n".join([head, *(value for value in values if value), *texts, "</Case>"]))
        return cases

    def _value(self, name: str, value: Any) -> str | None:
        kind = self._kinds[name]
        text = _written(value, kind)
        if text is None:
            return None
        return (
            f'<VariableValue><VariableRef targetGUID="{self._guids[name]}"/>'
            f"<{kind}Value>{_refi.escaped(self._plain(text))}</{kind}Value></VariableValue>"
        )


def _kind(column: pd.Series) -> str:
    types = pd.api.types
    if types.is_bool_dtype(column.dtype):
        return "Boolean"
    if types.is_integer_dtype(column.dtype):
        return "Integer"
    if types.is_float_dtype(column.dtype):
        return "Float"
    return "DateTime" if types.is_datetime64_any_dtype(column.dtype) else "Text"


def _written(value: Any, kind: str) -> str | None:
    """Return a value as XML Schema writes its kind; None where it is missing, or is no such number."""
    if pd.isna(value):
        return None
    if kind == "Boolean":
        return "true" if value else "false"
    if kind == "Float":  # without an exponent
        return format(Decimal(repr(float(value))), "f") if math.isfinite(value) else None
    return pd.Timestamp(value).isoformat() if kind == "DateTime" else str(value)
