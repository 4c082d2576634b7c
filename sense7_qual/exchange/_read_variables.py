"""Variables of texts and cases of a REFI-QDA project, as columns of `units`."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, Final
from xml.etree.ElementTree import Element

import pandas as pd

from sense7_qual.exchange import _refi
from sense7_qual.exchange._archive import Archive, local
from sense7_qual.exchange._tree import Tree, plain_guid
from sense7_qual.tables import UNITS

__all__ = ["variables_of"]

_OWN: Final = (*UNITS.columns, "context")
_DTYPES: Final = {"Integer": "Int64", "Float": "float64", "Boolean": "boolean"}


def variables_of(
    tree: Tree,
    archive: Archive,
    variables: Sequence[Element],
    values: Mapping[str, Sequence[Element]],
    *,
    ours: bool,
    lost: Mapping[str, list[str]],
) -> dict[str, pd.Series]:
    """Return a column for each variable: its values by unit, in the order of `values`, in its kind.

    Of several values of a variable at one unit the last counts, and another one before it is noted in `lost`,
    as is what is no value of the variable's kind, which is missing. A variable with the name of a column that
    units have is numbered, but for `document_id` and `position` in files of this package.
    """
    names = _names(variables, ours=ours)
    kinds = {plain_guid(each.get("guid")): each.get("typeOfVariable") or "Text" for each in variables}
    read: dict[str, list[str | None]] = {guid: [None] * len(values) for guid in names}
    for place, elements in enumerate(values.values()):
        for element in elements:
            guid, value = _stated(tree, element)
            archive.hand_out(value)
            if guid not in read:
                lost["values of variables that the project does not have: not read"].append(guid)
            elif value is not None:
                if read[guid][place] not in (None, value):
                    lost["values of a variable that has another one at the text: left out"].append(
                        names[guid]
                    )
                read[guid][place] = value
    columns = {}
    for guid, name in names.items():
        column, bad = _typed(read[guid], kinds[guid])
        columns[name] = column
        lost["values that are not of their variable's kind: missing"] += [name] * bad
    return columns


def _stated(tree: Tree, element: Element) -> tuple[str, str | None]:
    """Return the identifier of a variable, and its value; None where the element states none."""
    guid = next(iter(tree.references(element, "VariableRef")), "")
    value = next((each for each in element if local(each).endswith("Value")), None)
    if value is None:
        return guid, None
    tree.first(element, local(value))
    return guid, value.text or ""


def _names(variables: Sequence[Element], *, ours: bool) -> dict[str, str]:
    taken = Counter(_OWN)
    names = {}
    for each in variables:
        guid, name = plain_guid(each.get("guid")), " ".join((each.get("name") or "variable").split())
        if ours and name in ("document_id", "position") and guid == _refi.guid("variable", name):
            names[guid] = name
            continue
        taken[name] += 1
        names[guid] = name if taken[name] == 1 else f"{name} ({taken[name]})"
    return names


def _typed(values: Sequence[str | None], kind: str) -> tuple[pd.Series, int]:
    read = [None if value is None else _value(value, kind) for value in values]
    bad = sum(value is not None and one is None for value, one in zip(values, read, strict=True))
    if kind in ("Date", "DateTime"):
        return _times(read), bad
    return pd.Series(read, dtype=_DTYPES.get(kind, "string")), bad


def _times(values: Sequence[Any]) -> pd.Series:
    try:
        return pd.Series(pd.to_datetime(pd.Series(values, dtype=object), format="ISO8601"))
    except (ValueError, TypeError):
        return pd.Series(values, dtype="string")


def _value(text: str, kind: str) -> Any:
    plain = text.strip()
    try:
        if kind == "Integer":
            return int(plain) if re.fullmatch(r"[+-]?\d{1,18}", plain) else None
        if kind == "Float":
            number = float(Decimal(plain))
            return number if math.isfinite(number) else None
    except (ValueError, InvalidOperation):
        return None
    if kind == "Boolean":
        return {"true": True, "1": True, "false": False, "0": False}.get(plain.lower())
    return text
