"""The texts of a REFI-QDA project as `units`: whose they are, their variables, and who finished them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

import pandas as pd

from sense7_qual.corpus import canonical
from sense7_qual.exchange import _refi
from sense7_qual.exchange._archive import local
from sense7_qual.exchange._read_variables import variables_of
from sense7_qual.tables import COVERAGE, UNITS

__all__ = ["Text", "finished_texts", "under", "units_of"]


@dataclass(slots=True)
class Text:
    """One text of a project, as it is being read."""

    unit_id: str
    element: Element
    raw: str | None = field(repr=False)  # None: the file does not have it
    selections: list[Element] = field(default_factory=list, repr=False)


def under(root: Element, name: str) -> list[Element]:
    """Return what stands in the wrappers of this name: the sources in Sources, say."""
    return [child for each in root if local(each) == name for child in each]


def units_of(
    root: Element, texts: Sequence[Text], *, ours: bool, lost: Mapping[str, list[str]]
) -> pd.DataFrame:
    """Return the units, with the case of each, and its variables; a group of texts is one, too."""
    case_of, values = _cases(root, texts, ours=ours, lost=lost)
    lost["texts that belong to no case: whose they are is missing"] += [
        text.unit_id for text in texts if text.unit_id not in case_of
    ]
    unit_ids = [text.unit_id for text in texts]
    frame = pd.DataFrame(
        {
            "unit_id": unit_ids,
            "text": [None if text.raw is None else canonical(text.raw) for text in texts],
            "document_id": unit_ids,
            "case_id": [case_of.get(unit_id) for unit_id in unit_ids],
            "position": range(len(texts)),
        }
    )
    if ours and any(context := [_refi.description(text.element) or None for text in texts]):
        frame["context"] = pd.array(context, dtype="string")
    for name, members in _groups(root, texts):
        frame[name if name not in frame else f"{name} (group)"] = frame["unit_id"].isin(members)
    for name, column in variables_of(under(root, "Variables"), values, ours=ours, lost=lost).items():
        frame[name if ours or name not in frame else f"{name} (variable)"] = column.array
    return UNITS.check(frame, as_written=True)


def _cases(
    root: Element, texts: Sequence[Text], *, ours: bool, lost: Mapping[str, list[str]]
) -> tuple[dict[str, str], dict[str, list[Element]]]:
    """Return the case of each text, and its values of variables: those of its case first, then its own."""
    guids = _by_guid(texts)
    case_of: dict[str, str] = {}
    values: dict[str, list[Element]] = {text.unit_id: [] for text in texts}
    names: Counter[str] = Counter()
    for case in under(root, "Cases"):
        name = _refi.name_of(case, ours=ours)
        names[name] += 1
        name = name if names[name] == 1 else f"{name} ({names[name]})"
        own = [each for each in case if local(each) == "VariableValue"]
        for unit_id in _members(case, "SourceRef", guids):
            if unit_id in case_of:
                lost["texts in several cases: the first one counts"].append(unit_id)
                continue
            case_of[unit_id] = name
            values[unit_id] += own
    for text in texts:
        values[text.unit_id] += [each for each in text.element if local(each) == "VariableValue"]
    return case_of, values


def _groups(root: Element, texts: Sequence[Text]) -> Iterator[tuple[str, set[str]]]:
    """Return each group of texts of another program, and its members."""
    guids = _by_guid(texts)
    for each in under(root, "Sets"):
        members = set(_members(each, "MemberSource", guids))
        lines = _refi.description(each)
        ours = any(_refi.lines_of(lines, what) is not None for what in (_refi.FINISHED, _refi.UNDECIDED))
        if members and not ours:
            yield " ".join((each.get("name") or "group").split()), members


def finished_texts(
    root: Element, texts: Sequence[Text], fingerprint: str | None, lost: Mapping[str, list[str]]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return who finished which text (`tables.COVERAGE`), and what is not decided there."""
    guids = _by_guid(texts)
    finished: list[dict[str, str | None]] = []
    undecided: list[tuple[str, str, str]] = []
    for each in under(root, "Sets"):
        members, lines = _members(each, "MemberSource", guids), _refi.description(each)
        if stated := _refi.lines_of(lines, _refi.FINISHED):
            row = {"coder": stated["coder"], "round": stated.get("round"), "codebook": fingerprint}
            finished += [{"unit_id": unit_id, **row} for unit_id in members]
        elif stated := _refi.lines_of(lines, _refi.UNDECIDED):
            undecided += [(unit_id, stated["coder"], stated["code"]) for unit_id in members]
    if not finished:
        lost["who finished which text: not in the file, so that no code is known to be absent"].append("all")
    coverage = COVERAGE.check(pd.DataFrame(finished, columns=list(COVERAGE.columns)), as_written=True)
    return coverage, pd.DataFrame(undecided, columns=["unit_id", "coder", "code"], dtype="string")


def _by_guid(texts: Sequence[Text]) -> dict[str, str]:
    return {_refi.plain_guid(text.element.get("guid")): text.unit_id for text in texts}


def _members(element: Element, name: str, guids: Mapping[str, str]) -> list[str]:
    named = (_refi.plain_guid(each.get("targetGUID")) for each in element if local(each) == name)
    return [guids[guid] for guid in named if guid in guids]
