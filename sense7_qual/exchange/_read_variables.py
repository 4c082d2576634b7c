"""The parts of a project that is read: groups, variables, texts and memos."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any, Final
from xml.etree.ElementTree import Element

import pandas as pd

from sense7_qual.corpus import canonical
from sense7_qual.exchange import _refi
from sense7_qual.exchange._archive import Archive, Tree, local, plain_guid
from sense7_qual.exchange._project import GROUPS
from sense7_qual.frames import COVERAGE, MEMOS, UNITS

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


@dataclass(slots=True, repr=False)
class Groups:
    """What the sets of a project say."""

    of_codes: list[tuple[str, str | None, str | None]] = field(
        default_factory=list
    )  # group, description, code
    of_texts: dict[str, set[str]] = field(default_factory=dict)
    finished: list[dict[str, str | None]] = field(default_factory=list)
    undecided: list[tuple[str, str, str]] = field(default_factory=list)

    def frame(self) -> pd.DataFrame:
        """Return the groups of codes (`GROUPS`)."""
        return GROUPS.check(pd.DataFrame(self.of_codes, columns=list(GROUPS.columns)), as_written=True)

    def coverage(self, fingerprint: str | None) -> pd.DataFrame:
        """Return the coverage (`frames.COVERAGE`)."""
        rows = pd.DataFrame(self.finished, columns=list(COVERAGE.columns)).assign(codebook=fingerprint)
        return COVERAGE.check(rows, as_written=True)

    def open_decisions(self) -> pd.DataFrame:
        """Return the codes left undecided on finished texts."""
        return pd.DataFrame(self.undecided, columns=["unit_id", "coder", "code"], dtype="string")


def groups_of(
    tree: Tree,
    texts: Mapping[str, str],
    codes: Mapping[str, str],
    *,
    ours: bool,
    lost: Mapping[str, list[str]],
) -> Groups:
    """Parse the sets of a project; `texts` and `codes` map its identifiers to ids."""
    groups, names = Groups(), Counter[str]()
    for each in tree.under("Sets", "Set"):
        if _refi.holds_codebook(each):
            tree.of(each, "MemberCode", "Description")
            continue
        name = _refi.name_of(each, ours=ours)
        members = _known(tree, each, "MemberSource", texts, name, lost)
        described = _refi.description(each)
        if stated := _refi.lines_of(described, _refi.FINISHED):
            row = {"coder": stated["coder"], "round": stated.get("round")}
            groups.finished += [{"unit_id": unit_id, **row} for unit_id in members]
        elif stated := _refi.lines_of(described, _refi.UNDECIDED):
            tree.of(each, "MemberCode")
            groups.undecided += [(unit_id, stated["coder"], stated["code"]) for unit_id in members]
        else:
            names[name] += 1
            _add(
                tree,
                each,
                name if names[name] == 1 else f"{name} ({names[name]})",
                members,
                groups,
                codes,
                lost,
            )
            continue
        tree.description(each)
    if not groups.finished:
        lost["who finished which text: not in the file, so that no code is known to be absent"].append("all")
    return groups


def _add(
    tree: Tree,
    element: Element,
    name: str,
    members: list[str],
    groups: Groups,
    codes: Mapping[str, str],
    lost: Mapping[str, list[str]],
) -> None:
    """Add a group of another program: its texts become a column of units, its codes rows of a frame."""
    if members:
        groups.of_texts[name] = set(members)
    kinds = {local(each) for each in element}
    if "MemberCode" in kinds or not kinds & {"MemberSource", "MemberNote"}:  # a group of nothing is kept, too
        own = dict.fromkeys(_known(tree, element, "MemberCode", codes, name, lost))
        described = tree.description(element) or None
        groups.of_codes += [(name, described, code) for code in own or [None]]
    elif not members:
        lost["groups without a text or code that was read: left out"].append(name)


def _known(
    tree: Tree,
    element: Element,
    kind: str,
    known: Mapping[str, str],
    name: str,
    lost: Mapping[str, list[str]],
) -> list[str]:
    named = tree.references(element, kind)
    strangers = [name for guid in named if guid not in known]
    lost["members of groups that are no text or code that was read: left out"] += strangers
    return [known[guid] for guid in named if guid in known]


@dataclass(slots=True)
class Text:
    """One text of a project, as it is being read; `elements` are the source and the place of its text."""

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
    tree: Tree,
    archive: Archive,
    texts: Sequence[Text],
    groups: Mapping[str, set[str]],
    *,
    ours: bool,
    lost: Mapping[str, list[str]],
) -> pd.DataFrame:
    """Return the units, with the case of each, and its variables; a group of texts is one, too."""
    case_of, values = _cases(tree, texts, ours=ours, lost=lost)
    lost["texts that belong to no case: their participant is missing"] += [
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


class Memos:
    """Collects the memos of one project; `coder_of` names who wrote the first of some elements."""

    def __init__(
        self, tree: Tree, archive: Archive, coder_of: Callable[..., str], lost: Mapping[str, list[str]]
    ) -> None:
        self._tree, self._archive, self._coder_of, self._lost = tree, archive, coder_of, lost
        self._notes = {plain_guid(note.get("guid")): note for note in tree.under("Notes", "Note")}
        self._used: set[str] = set()
        self._texts: dict[str, str] = {}
        self._rows: list[dict[str, Any]] = []

    @property
    def coders(self) -> set[str]:
        """Who wrote memos."""
        return {row["coder"] for row in self._rows}

    def frame(self) -> pd.DataFrame:
        """Return the memos (`frames.MEMOS`)."""
        return MEMOS.check(pd.DataFrame(self._rows, columns=list(MEMOS.columns)))

    def beside_coding(self, note_id: str) -> dict[str, str] | None:
        """Return the facets and round that a note states for a coding; None if it is a memo."""
        note = self._notes.get(note_id)
        stated = None if note is None else _refi.lines_of(self._text(note), _refi.NOTE_ON_CODING)
        if stated is not None:
            self._used.add(note_id)
        return stated

    def add(self, note_id: str, kind: str, target: str | None, span: tuple[int, int] | None) -> str:
        """Add a note as a memo, and return its words."""
        note = self._notes.get(note_id)
        if note is None:
            self._lost["memos that are referred to, and not in the file"].append(target or "study")
            return ""
        again = note_id in self._used
        self._used.add(note_id)
        text = self._text(note)
        if not text.strip():
            self._lost["memos without words"].append(target or "study")
            return ""
        stated = _refi.lines_of(_refi.description(note), _refi.MEMO)
        if stated is None and note.get("name") and not again:
            self._lost["titles of memos: not read"].append(target or "study")
        memo_id = f"{note_id} ({len(self._rows) + 1})" if again else note_id
        self._add(memo_id, kind, target, span, note, text, stated or {})
        return text

    def comment(self, element: Element, kind: str, target: str, span: tuple[int, int] | None) -> bool:
        """Add a description as a memo, as some programs write comments there; return whether there is one.

        One that says what the notes on the element say is theirs, written twice.
        """
        written = self._tree.description(element)
        comment = canonical(written).strip()
        on_it = [self.add(note_id, kind, target, span) for note_id in self._tree.references(element)]
        if comment and comment != "\n\n".join(on_it).strip():
            memo_id = f"comment on {plain_guid(element.get('guid'))}"
            self._add(memo_id, kind, target, span, element, comment, {})
            self._lost["comments instead of memos: read as memos"].append(target)
        return bool(comment or on_it)

    def elsewhere(self, codes: Mapping[Element, str]) -> None:
        """Add the memos on codes and on the study, and those that nothing refers to."""
        for element, code in codes.items():
            for note in self._tree.references(element):
                self.add(note, "code", code, None)
        for note in self._tree.references(self._tree.root):
            self.add(note, "study", None, None)
        for note in [each for each in self._notes if each not in self._used]:
            self.add(note, "study", None, None)

    def _add(
        self,
        memo_id: str,
        kind: str,
        target: str | None,
        span: tuple[int, int] | None,
        element: Element,
        text: str,
        stated: Mapping[str, str],
    ) -> None:
        coder = self._coder_of(element)
        self._archive.hand_out(text, coder, target, *stated.values())
        start, end = span or (None, None)
        self._rows.append(
            {
                "memo_id": memo_id,
                "target_kind": kind,
                "target_id": target,
                "coder": coder,
                "text": text,
                "at": element.get("creationDateTime"),
                "start": start,
                "end": end,
                "round": stated.get("round"),
                "answers": stated.get("answers"),
            }
        )

    def _text(self, note: Element) -> str:
        """Return the words of a note: those of its description, where it has no others."""
        own = plain_guid(note.get("guid"))
        if own not in self._texts:
            text = canonical(written_text(self._tree, self._archive, note) or "")
            labelled = _refi.lines_of(_refi.description(note), _refi.MEMO) is not None
            if labelled or not text.strip():
                described = canonical(self._tree.description(note))
                text = text if labelled else described
            self._texts[own] = text
        return self._texts[own]
