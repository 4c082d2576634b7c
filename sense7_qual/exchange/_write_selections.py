"""The parts of a project that is written: selections, notes, variables and layouts."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

import pandas as pd

from sense7_qual.codebook import Codebook
from sense7_qual.exchange import _refi
from sense7_qual.exchange._positions import Rule, positions
from sense7_qual.exchange._project import rows_of

_QUOTE: Final = 100  # characters of a quote beside a selection, as other programs note it


@dataclass(frozen=True, slots=True)
class _Selected:
    """A selection that is written; `name` is what it is called, where that is not its words."""

    start: int
    end: int
    guid: str
    coder: str
    at: Any
    inner: str
    name: str | None = None


class Selections:
    """Collects what is selected on each text."""

    def __init__(self, texts: Mapping[str, str], notes: Notes, words: Words) -> None:
        self._texts, self._notes, self._words = texts, notes, words
        self._selected: dict[str, list[_Selected]] = defaultdict(list)
        self._remarked: set[tuple[str, str, int, int]] = set()

    def add_codings(self, codings: pd.DataFrame, codes: Mapping[str, str], codebook: Codebook) -> None:
        """Add the selections of whole texts, and those of spans, with their codings."""
        facets = [facet.name for facet in codebook.facets if facet.name in codings]
        used: set[str] = set()
        for row in rows_of(codings):
            unit_id, coder = row["unit_id"], row["coder"]
            is_whole = pd.isna(row.get("start"))
            start, end = (0, len(self._texts[unit_id])) if is_whole else (int(row["start"]), int(row["end"]))
            key = (
                "\n".join(str(row[name]) for name in ("unit_id", "coder", "code"))
                + f"\n{start}\n{end}\n{is_whole}"
            )
            key += "".join(f"\n{row[name]}" for name in facets)
            act_id = "" if pd.isna(row["act_id"]) else str(row["act_id"])
            own = _refi.guid("coding", key if not act_id or act_id in used else act_id)
            used.add(act_id)
            at = row.get("at")
            coding = (
                f'<Coding guid="{own}" creatingUser="{_refi.guid("coder", coder)}"{when(at)}>'
                f'<CodeRef targetGUID="{codes[row["code"]]}"/>{self._notes.beside(row, facets)}</Coding>'
            )
            guid, name = _refi.guid("selection", key), _refi.WHOLE if is_whole else None
            self._selected[unit_id].append(_Selected(start, end, guid, coder, at, coding, name))

    def add_memos(self, memos: pd.DataFrame) -> None:
        """Add the selections that memos are on: one for all of a coder on the same words.

        Its description has their words, too, where QualCoder looks for them. It ends its import at a
        second selection without a code of the same words and coder.
        """
        on_span = memos[memos["target_kind"] == "span"]
        for _, rows in on_span.groupby(["target_id", "coder", "start", "end"], sort=False):
            first, words = rows.iloc[0], "\n\n".join(rows["text"])
            unit_id, place = str(first["target_id"]), (int(first["start"]), int(first["end"]))
            references = (f'<NoteRef targetGUID="{self._notes.memo(memo)}"/>' for memo in rows_of(rows))
            inner = f"<Description>{self._words.escaped(words)}</Description>{''.join(references)}"
            guid, coder = _refi.guid("memo on span", f"span {first['memo_id']}"), str(first["coder"])
            self._remarked.add((unit_id, coder, *place))
            self._selected[unit_id].append(_Selected(*place, guid, coder, first["at"], inner))

    def add_quotations(self, quotations: pd.DataFrame, lost: Mapping[str, list[str]]) -> None:
        """Add the passages without a code; a coder's memo on the same words replaces one."""
        for row in rows_of(quotations):
            unit_id, coder, start, end = row["unit_id"], row["coder"], int(row["start"]), int(row["end"])
            if (unit_id, coder, start, end) in self._remarked:
                lost["quotations of words on which their coder has a memo: the memo alone"].append(unit_id)
                continue
            guid = _refi.guid("quotation", f"{unit_id}\n{coder}\n{start}\n{end}")
            name = None if pd.isna(row["name"]) else str(row["name"])
            self._selected[unit_id].append(_Selected(start, end, guid, coder, row["at"], "", name))

    def xml(self, unit_id: str, rule: Rule) -> list[str]:
        """Return the selections of a text, its positions counted by a rule."""
        text, selected = self._texts[unit_id], self._selected.get(unit_id, [])
        at = positions(text, rule)
        lines = []
        for one in sorted(selected, key=lambda each: (each.start, each.end, each.guid)):
            quote = text[one.start : one.end]
            name = quote[:_QUOTE] + "…" * (len(quote) > _QUOTE) if one.name is None else one.name
            lines.append(
                f'<PlainTextSelection guid="{one.guid}" name={self._words.quoted(name)} '
                f'startPosition="{at[one.start]}" endPosition="{at[one.end]}" '
                f'creatingUser="{_refi.guid("coder", one.coder)}"{when(one.at)}>'
                f"{one.inner}</PlainTextSelection>"
            )
        return lines


_UNWRITABLE: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # XML 1.0, Char
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?")
_BESIDE: Final = ("confidence", "found_by", "suggestions", "round")


class Words:
    """Writes texts as XML."""

    def __init__(self, lost: Mapping[str, list[str]]) -> None:
        self._lost = lost

    def plain(self, text: str) -> str:
        """Return a text without the characters that XML cannot hold, each replaced by U+FFFD."""
        replaced, n = _UNWRITABLE.subn("\ufffd", text)
        self._lost["control characters, which XML cannot hold: replaced by U+FFFD"] += [""] * n
        return replaced

    def escaped(self, text: str) -> str:
        """Return a text as the content of an element."""
        return _refi.escaped(self.plain(text))

    def quoted(self, text: str) -> str:
        """Return a text as the value of an attribute, in quotes."""
        return _refi.quoted(self.plain(text))


def when(at: Any) -> str:
    """Return a time as an attribute; nothing where there is none."""
    return f' creationDateTime="{at}"' if isinstance(at, str) and _TIME.fullmatch(at) else ""


def first_time(times: Iterable[Any]) -> str:
    """Return the earliest of some times."""
    return min((at for at in times if when(at)), default="1970-01-01T00:00:00Z")


class Notes:
    """Collects the notes of a project. Each has a time: QualCoder ends its import at one without.

    `begun` is the time of those that have none of their own.
    """

    def __init__(self, words: Words, lost: Mapping[str, list[str]], begun: str) -> None:
        self._words, self._lost, self._begun = words, lost, begun
        self._memos: dict[str, str] = {}
        self._beside: dict[str, tuple[str, str, list[Any]]] = {}

    def __len__(self) -> int:
        """Return in how many ways codings say more than a code."""
        return len(self._beside)

    def xml(self) -> list[str]:
        """Return all notes."""
        beside = [
            self._note(own, name, when(first_time(times)), "", text)
            for own, (name, text, times) in self._beside.items()
        ]
        return [*self._memos.values(), *beside]

    def memo(self, memo: Mapping[str, Any]) -> str:
        """Add a memo, and return the identifier of its note."""
        own = _refi.guid("memo", memo["memo_id"])
        coder = f' creatingUser="{_refi.guid("coder", memo["coder"])}"{when(memo["at"]) or when(self._begun)}'
        stated = {} if pd.isna(memo["round"]) else {"round": memo["round"]}
        if not pd.isna(memo["answers"]):
            stated["answers"] = _refi.guid("memo", memo["answers"])
        if not stated:
            self._lost["memos that were their writer's own: in the file, for whoever gets it"].append(
                memo["memo_id"]
            )
        description = _refi.labelled(_refi.MEMO, stated)
        self._memos[own] = self._note(own, f"Memo of {memo['coder']}", coder, description, memo["text"])
        return own

    def beside(self, row: Mapping[str, Any], facets: Sequence[str]) -> str:
        """Return a reference to the note with a coding's facets and confidence; one note for all alike."""
        beside = {
            name: str(row[name]) for name in (*facets, *_BESIDE) if name in row and not pd.isna(row[name])
        }
        if not beside:
            return ""
        text = _refi.labelled(_refi.NOTE_ON_CODING, beside)
        own = _refi.guid("note on codings", text)
        self._beside.setdefault(own, (", ".join(beside.values()), text, []))[2].append(
            row["at"] if when(row.get("at")) else self._begun
        )
        return f'<NoteRef targetGUID="{own}"/>'

    def _note(self, own: str, name: str, attributes: str, description: str, text: str) -> str:
        described = f"<Description>{self._words.escaped(description)}</Description>" if description else ""
        content = f"{described}<PlainTextContent>{self._words.escaped(text)}</PlainTextContent>"
        return f'<Note guid="{own}" name={self._words.quoted(name)}{attributes}>{content}</Note>'


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
