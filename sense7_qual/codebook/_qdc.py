"""Codebooks in REFI-QDA files (.qdc), which ATLAS.ti, MAXQDA, NVivo, QualCoder and others exchange.

The format has a name, a description, a colour and a place in a tree for each code, and sets of codes. What
else a codebook holds is written as labelled lines (YAML) under each definition, and for the codebook as a
whole in the description of one set of all its codes, so that reading the file gives the same codebook back.

References
----------
REFI-QDA standard 1.5, Codebook.xsd (urn:QDA-XML:codebook:1.0), https://www.qdasoftware.org.
"""

from __future__ import annotations

import re
import uuid
import warnings
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

from sense7_qual.codebook._field_names import free_id
from sense7_qual.codebook._yaml_csv import Entries, load_yaml, refuse_many, to_yaml
from sense7_qual.errors import CodebookError

_NAMESPACE: Final = "urn:QDA-XML:codebook:1.0"
_GUIDS: Final = uuid.UUID("5e0d1a58-7a4f-4a52-9a43-2f3d8f1f6a77")  # of this package: equal codes, equal guids
_RULE: Final = "\n---\n"  # between a definition and the labelled lines under it
_UNWRITABLE: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # XML 1.0, Char
_OF_CODE: Final = {
    "id",
    "use_when",
    "avoid_when",
    "examples",
    "counter_examples",
    "key",
    "origin",
    "source",
    "rules_source",
}
_OF_CODEBOOK: Final = {"name", "title", "version", "description", "source", "licence", "facets", "order"}


def to_qdc(content: Mapping[str, Any]) -> bytes:
    """Return the fields of a codebook as REFI-QDA; equal fields give equal bytes."""
    codes: Sequence[dict[str, Any]] = content["codes"]
    tree = in_tree(codes)
    own = {name: value for name, value in content.items() if name != "codes"}
    ids = [code["id"] for code in codes]
    if [code["id"] for code, _ in tree] != ids:
        own["order"] = ids
    guids = {each: str(uuid.uuid5(_GUIDS, f"{own['name']}\n{each}")) for each in ids}
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        f'<CodeBook xmlns="{_NAMESPACE}" origin="sense7_qual">',
        "<Codes>",
        *_code_lines(tree, guids),
        "</Codes>",
        f'<Sets><Set guid="{uuid.uuid5(_GUIDS, own["name"])}" name={_quoted(own.get("title", own["name"]))}>',
        f"<Description>{_escaped(to_yaml(own).decode())}</Description>",
        *(f'<MemberCode guid="{guid}"/>' for guid in guids.values()),
        "</Set></Sets>",
        "</CodeBook>",
    ]
    text = "\n".join(lines) + "\n"
    if unwritable := _UNWRITABLE.search(text):
        raise CodebookError(
            f"codebook: expected texts that XML can hold – found the character U+{ord(unwritable[0]):04X} – "
            "take it out, or write the codebook as .yaml."
        )
    return text.encode()


def in_tree(codes: Sequence[Mapping[str, Any]]) -> list[tuple[Mapping[str, Any], int]]:
    """Return each code with its depth, parents before what stands under them."""
    under: dict[str | None, list[Mapping[str, Any]]] = defaultdict(list)
    for code in codes:
        under[code.get("parent")].append(code)
    tree: list[tuple[Mapping[str, Any], int]] = []
    waiting = [(code, 0) for code in reversed(under[None])]
    while waiting:
        code, depth = waiting.pop()
        tree.append((code, depth))
        waiting += [(child, depth + 1) for child in reversed(under[code["id"]])]
    return tree


def _code_lines(tree: Sequence[tuple[Mapping[str, Any], int]], guids: Mapping[str, str]) -> list[str]:
    lines = []
    open_codes = 0
    for code, depth in tree:
        lines += ["</Code>"] * (open_codes - depth)
        colour = f' color="{code["colour"]}"' if "colour" in code else ""
        lines.append(
            f'<Code guid="{guids[code["id"]]}" name={_quoted(code["label"])} '
            f'isCodable="{code.get("codable", "true")}"{colour}>'
        )
        lines.append(f"<Description>{_escaped(_description(code))}</Description>")
        open_codes = depth + 1
    return lines + ["</Code>"] * open_codes


def _description(code: Mapping[str, Any]) -> str:
    labelled = to_yaml({name: value for name, value in code.items() if name in _OF_CODE}).decode()
    return f"{code.get('definition', '')}{_RULE}{labelled}"


def _quoted(text: str) -> str:
    return quoteattr(text, {"\r": "&#13;", "\n": "&#10;", "\t": "&#9;"})


def _escaped(text: str) -> str:
    return escape(text, {"\r": "&#13;"})


def parse_qdc(content: str, path: Path) -> Entries:
    """Parse a REFI-QDA codebook of this package or of another program.

    A code of another program gets an id made of its name; sets of codes are told in the description, with a
    warning that says so, and counts what is not read.
    """
    reader = _Reader(path)
    try:
        reader.parser.Parse(content, True)
    except expat.ExpatError as error:
        raise CodebookError(
            f"codebook: expected XML in {path.name!r} – found a mistake in line {error.lineno} "
            f"({expat.ErrorString(error.code)}) – export it again as REFI-QDA codebook (.qdc)."
        ) from None
    own, sets = _own_fields(reader.sets)
    _warn_of_losses(reader, sets, path)
    codes = _with_ids(reader.codes)
    order = own.pop("order", None) or []
    if sorted(map(str, order)) == sorted(entry["id"] for entry in codes):
        codes.sort(key=lambda entry: order.index(entry["id"]))
    own = own or {"name": path.stem, "title": path.stem}
    own["description"] = "\n".join(filter(None, [own.get("description"), _told(sets, reader.codes)]))
    return own, [(f"code {number}", entry) for number, entry in enumerate(codes, start=1)]


class _Reader:
    """Collects codes, in the order of the file and with their parents, and sets; builds no tree."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.codes: list[dict[str, Any]] = []
        self.sets: list[dict[str, Any]] = []
        self._open: list[dict[str, Any] | None] = []  # the code or set of each open element, if it is one
        self._within: list[int] = []  # which codes are open
        self._words: list[str] | None = None
        self.unread: Counter[str] = Counter()
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.StartElementHandler, self.parser.EndElementHandler = self._start, self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.StartDoctypeDeclHandler = self._refuse_doctype
        self.parser.buffer_text = True

    def _refuse_doctype(self, *_: object) -> None:
        raise CodebookError(
            f"codebook: expected no document type in {self.path.name!r} – found one, which may declare "
            "entities – export it again as REFI-QDA codebook (.qdc)."
        )

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag.rpartition(" ")[2]
        if not self._open and name != "CodeBook":
            raise CodebookError(
                f"codebook: expected a REFI-QDA CodeBook in {self.path.name!r} – found {name[:64]!r} – "
                "export the codebook (.qdc), not the project."
            )
        entry: dict[str, Any] | None = None
        if name == "Code":
            refuse_many(len(self.codes) + 1)
            entry = {**attributes, "at": self._within[-1] if self._within else None, "text": ""}
            self._within.append(len(self.codes))
            self.codes.append(entry)
        elif name == "Set":
            entry = {**attributes, "members": [], "text": ""}
            self.sets.append(entry)
        elif name == "MemberCode" and self.sets:
            self.sets[-1]["members"].append(attributes.get("guid") or attributes.get("targetGUID"))
        elif name == "Description":
            self._words = []
        elif name not in ("CodeBook", "Codes", "Sets"):
            self.unread[name[:64]] += 1
        self._open.append(entry)

    def _end(self, tag: str) -> None:
        entry = self._open.pop()
        if tag.rpartition(" ")[2] == "Code":
            self._within.pop()
        if self._words is not None and entry is None and self._open and self._open[-1] is not None:
            self._open[-1]["text"] = "".join(self._words)
            self._words = None

    def _text(self, text: str) -> None:
        if self._words is not None:
            self._words.append(text)


def _with_ids(codes: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the fields of each code; those without labelled lines get an id made of their name."""
    entries = [_fields(code) for code in codes]
    taken = {entry["id"] for entry in entries if "id" in entry}
    times: Counter[str] = Counter()
    for entry in entries:
        if "id" not in entry:
            entry["id"] = free_id(entry["label"], taken, times)
            taken.add(entry["id"])
    for entry, code in zip(entries, codes, strict=True):
        if code["at"] is not None:
            entry["parent"] = entries[code["at"]]["id"]
    return entries


def _fields(code: Mapping[str, Any]) -> dict[str, Any]:
    definition, labelled = _divided(code["text"], _OF_CODE)
    colour = code.get("color", "")
    if re.fullmatch("#[0-9A-Fa-f]{3}", colour):
        colour = "#" + "".join(2 * digit for digit in colour[1:])
    entry = {"label": code.get("name", ""), "definition": definition, "colour": colour, **labelled}
    entry["codable"] = {"0": "false", "false": "false"}.get(code.get("isCodable", ""), "true")
    return entry


def _divided(text: str, names: set[str]) -> tuple[str, dict[str, Any]]:
    """Return a definition and the labelled lines under it, if what stands there are such lines."""
    definition, rule, below = text.rpartition(_RULE)
    if not rule:
        return text, {}
    try:
        labelled = load_yaml(below, Path("codebook.qdc"))
    except CodebookError:
        return text, {}
    if not isinstance(labelled, dict) or "id" not in labelled or not labelled.keys() <= names:
        return text, {}
    return definition, labelled


def _own_fields(sets: Sequence[dict[str, Any]]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the codebook's own fields, where one of the sets has them, and the other sets."""
    for each in sets:
        if not each["text"].startswith("name:"):
            continue
        try:
            own = load_yaml(each["text"], Path("codebook.qdc"))
        except CodebookError:
            continue
        if isinstance(own, dict) and own.keys() <= _OF_CODEBOOK:
            return own, [other for other in sets if other is not each]
    return {}, list(sets)


def _told(sets: Sequence[dict[str, Any]], codes: Sequence[dict[str, Any]]) -> str:
    """Return the sets of another program in words, since a codebook has none."""
    names = {_plain(code.get("guid")): code.get("name", "") for code in codes}
    lines = []
    for each in sets:
        said = f" ({' '.join(each['text'].split())})" if each["text"].strip() else ""
        members = ", ".join(names.get(_plain(guid)) or "?" for guid in each["members"])
        lines.append(f"Set {each.get('name', '')}{said}: {members or 'no codes'}")
    return "\n".join(lines)


def _plain(guid: str | None) -> str:
    return (guid or "").strip("{}").lower()


def _warn_of_losses(reader: _Reader, sets: Sequence[dict[str, Any]], path: Path) -> None:
    told = ["sets of codes, told in the description: " + str(len(sets))] if sets else []
    unread = [f"{kind}, not read: {n}" for kind, n in sorted(reader.unread.items())]
    if told or unread:
        warnings.warn(
            f"codebook: expected codes with names, descriptions and colours alone in {path.name!r} – found "
            f"{'; '.join([*told, *unread])} – groups of codes come whole with the project "
            "(exchange.read_project).",
            stacklevel=4,
        )
