"""The texts of a REFI-QDA project as `units`: their words, whose they are, and their variables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from xml.etree.ElementTree import Element

import pandas as pd

from sense7_qual.corpus import canonical
from sense7_qual.exchange import _refi
from sense7_qual.exchange._archive import Archive
from sense7_qual.exchange._read_variables import variables_of
from sense7_qual.exchange._tree import Tree, plain_guid
from sense7_qual.tables import UNITS

__all__ = ["Text", "texts_by_guid", "units_of", "written_text"]


@dataclass(slots=True)
class Text:
    """One text of a project, as it is being read; `elements` are the source and where its text stands."""

    unit_id: str
    elements: tuple[Element, ...]
    raw: str | None = field(repr=False)  # None: the file does not have it
    selections: list[Element] = field(default_factory=list, repr=False)


def written_text(tree: Tree, archive: Archive, source: Element) -> str | None:
    """Return a text as the file has it; None where it is empty, elsewhere, or in no known encoding."""
    content = tree.first(source, "PlainTextContent")
    inline = source.get("plainTextContent") if content is None else content.text  # older QualCanvas exports
    where = source.get("plainTextPath") or ""
    if inline or not where.startswith("internal://"):
        return inline or None
    return archive.text(where)


def texts_by_guid(texts: Sequence[Text]) -> dict[str, str]:
    """Return the unit_id of each text by the identifiers of its source and of what represents it."""
    return {plain_guid(each.get("guid")): text.unit_id for text in texts for each in text.elements}


def units_of(
    tree: Tree, archive: Archive, texts: Sequence[Text], groups: Mapping[str, set[str]], *, ours: bool,
    lost: Mapping[str, list[str]],
) -> pd.DataFrame:  # fmt: skip
    """Return the units, with the case of each, and its variables; a group of texts is one, too."""
    case_of, values = _cases(tree, texts, ours=ours, lost=lost)
    lost["texts that belong to no case: whose they are is missing"] += [
        text.unit_id for text in texts if text.unit_id not in case_of
    ]
    unit_ids = [text.unit_id for text in texts]
    columns: dict[str, Any] = {
        "unit_id": unit_ids,
        "text": [None if text.raw is None else canonical(text.raw) for text in texts],
        "document_id": unit_ids,
        "case_id": [case_of.get(unit_id) for unit_id in unit_ids],
        "position": range(len(texts)),
    }
    if ours and any(context := [tree.description(text.elements[0]) or None for text in texts]):
        columns["context"] = pd.array(context, dtype="string")
    variables = tree.under("Variables", "Variable")
    archive.require_cells(len(texts), len(variables) + len(groups))
    for name, members in groups.items():
        columns[_free(name, "group", columns)] = pd.Index(unit_ids, dtype=object).isin(list(members))
    for name, column in variables_of(tree, archive, variables, values, ours=ours, lost=lost).items():
        columns[name if ours else _free(name, "variable", columns)] = column.array
    return UNITS.check(pd.DataFrame(columns), as_written=True)


def _free(name: str, kind: str, taken: Mapping[str, Any]) -> str:
    """Return a name that no column has: "age", "age (variable)", "age (variable 2)"."""
    number, free = 1, name
    while free in taken:
        free = f"{name} ({kind}{'' if number == 1 else f' {number}'})"
        number += 1
    return free


def _cases(
    tree: Tree, texts: Sequence[Text], *, ours: bool, lost: Mapping[str, list[str]]
) -> tuple[dict[str, str], dict[str, list[Element]]]:
    """Return the case of each text, and its values of variables: those of its case first, then its own."""
    guids = texts_by_guid(texts)
    case_of: dict[str, str] = {}
    values: dict[str, list[Element]] = {text.unit_id: [] for text in texts}
    names: Counter[str] = Counter()
    for case in tree.under("Cases", "Case"):
        name = _refi.name_of(case, ours=ours)
        names[name] += 1
        name = name if names[name] == 1 else f"{name} ({names[name]})"
        named = tree.references(case, "SourceRef")
        lost["sources of cases that are no text: not read"] += [name for each in named if each not in guids]
        members = list(dict.fromkeys(guids[each] for each in named if each in guids))
        lost["texts in several cases: the first one counts"] += [each for each in members if each in case_of]
        members = [each for each in members if each not in case_of]
        if not members:
            lost["cases without a text of their own: left out, with the values of their variables"].append(
                name
            )
            continue
        case_of |= dict.fromkeys(members, name)
        own = tree.of(case, "VariableValue")
        for unit_id in members:
            values[unit_id] += own
    for text in texts:
        for element in text.elements:
            values[text.unit_id] += tree.of(element, "VariableValue")
    return case_of, values
