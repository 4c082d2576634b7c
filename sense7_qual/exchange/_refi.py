"""What reading and writing REFI-QDA share: identifiers, labelled lines, and the codebook inside a project.

A codebook in a project is written as in a codebook file (.qdc), so `Codebook.write` and `Codebook.read` do
both; only where the members of a set are named does the standard write them otherwise.
"""

from __future__ import annotations

import json
import re
import tempfile
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from xml.etree.ElementTree import Element, SubElement
from xml.sax.saxutils import escape, quoteattr

from sense7_qual.codebook import Codebook, free_id
from sense7_qual.errors import CodebookError
from sense7_qual.exchange._archive import Tree, local, plain_guid

ORIGIN: Final = "sense7_qual"
FINISHED: Final = "finished texts"
UNDECIDED: Final = "texts on which a code is not decided"
MEMO: Final = "memo"
WHOLE: Final = "the whole text"
NOTE_ON_CODING: Final = "what a coding says beside its code"
_GUIDS: Final = uuid.UUID("0c9f3d0e-58a6-4c6d-8a37-0b6a4f0f61de")  # of this package: equal ids, equal guids
_LABELLED_ID: Final = re.compile(r"^id: ['\"]?([A-Za-z][A-Za-z0-9_.-]{0,63})['\"]?$", re.MULTILINE)
_RULE: Final = "\n---\n"


def guid(kind: str, own: str) -> str:
    """Return the identifier of a thing: its own where it is one already, or one that is made of its id."""
    try:
        if re.fullmatch(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", own):
            return str(uuid.UUID(own))
    except ValueError:
        pass
    return str(uuid.uuid5(_GUIDS, f"{kind}\n{own}"))


def escaped(text: str) -> str:
    """Return a text as the content of an element."""
    return escape(text, {"\r": "&#13;"})


def quoted(text: str) -> str:
    """Return a text as the value of an attribute, in quotes."""
    return quoteattr(text, {"\r": "&#13;", "\n": "&#10;", "\t": "&#9;"})


def labelled(what: str, values: Mapping[str, str]) -> str:
    """Return lines that people read and `lines_of` reads back."""
    return "\n".join(
        [what, *(f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in values.items())]
    )


def lines_of(text: str, what: str) -> dict[str, str] | None:
    """Return the lines that `labelled` wrote, or None for another text."""
    first, *lines = text.split("\n")
    if first != what:
        return None
    values = {}
    for line in lines:
        name, colon, value = line.partition(": ")
        try:
            read = json.loads(value)
        except ValueError:
            return None
        if not colon or not isinstance(read, str):
            return None
        values[name] = read
    return values


def codebook_lines(codebook: Codebook, notes: Mapping[str, Sequence[str]]) -> tuple[str, str, dict[str, str]]:
    """Return the codes and the set of a codebook as XML of a project, and the identifier of each code.

    `notes` are the identifiers of the notes on a code, by the code's id.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "codebook.qdc")
        codebook.write(path)
        content = path.read_text("utf-8")
    codes = content[content.index("<Codes>") : content.index("</Codes>") + len("</Codes>")]
    sets = content[content.index("<Sets>") + len("<Sets>") : content.rindex("</Sets>")]
    guids = dict(zip(codebook.ids, re.findall(r'<MemberCode guid="([^"]+)"/>', sets), strict=True))
    for code, on_it in notes.items():
        described = codes.index("</Description>", codes.index(f'<Code guid="{guids[code]}"'))
        at = described + len("</Description>")
        references = "".join(f'\n<NoteRef targetGUID="{note}"/>' for note in on_it)
        codes = codes[:at] + references + codes[at:]
    return codes, sets.replace("<MemberCode guid=", "<MemberCode targetGUID="), guids


@dataclass(frozen=True, slots=True)
class _ReadCode:
    guid: str
    element: Element
    at: int | None  # the place of the code that it stands under
    text: str


def read_codebook(
    tree: Tree, name: str, coded: set[str]
) -> tuple[Codebook | None, dict[Element, str], list[str]]:
    """Return the codebook of a project, the id of each of its codes, and what was changed in it.

    `coded` are the identifiers of codes that are used: such a code can be applied, whatever the file says.
    """
    codes = list(_codes(tree))
    if not codes:
        return None, {}, []
    ids = _ids(codes, keep=True)
    changed = [
        ids[place] for place, code in enumerate(codes) if code.guid in coded and not _codable(code.element)
    ]
    sets = [each for each in tree.root.iter() if local(each) == "Set" and holds_codebook(each)]
    try:
        codebook = _through_qdc(codes, ids, sets, name, coded)
    except CodebookError:
        codebook = None
    if codebook is None or set(codebook.ids) != set(ids):  # labelled lines that another program changed
        ids = _ids(codes, keep=False)
        codebook = _through_qdc(codes, ids, sets, name, coded)
    return codebook, {code.element: one for code, one in zip(codes, ids, strict=True)}, changed


def holds_codebook(element: Element) -> bool:
    """Return True for the set with this package's description of a codebook, apart from its codes."""
    return description(element).startswith("name:") and any(local(each) == "MemberCode" for each in element)


def split_names(root: Element, separator: str) -> list[str]:
    """Put codes with paths as names, such as ``Coke::diet Coke``, under headings; return their names."""
    changed: list[str] = []
    for book in (each for each in root if local(each) == "CodeBook"):
        waiting = [each for each in book if local(each) == "Codes"]
        while waiting:
            parent = waiting.pop()
            for code in [each for each in parent if local(each) == "Code"]:
                waiting.append(code)
                steps = [step.strip() for step in (code.get("name") or "").split(separator)]
                if len(steps) > 1 and all(steps):
                    changed.append(code.get("name") or "")
                    _move_under(code, parent, steps)
    return changed


def _move_under(code: Element, parent: Element, steps: Sequence[str]) -> None:
    parent.remove(code)
    code.set("name", steps[-1])
    for depth, step in enumerate(steps[:-1], 1):
        known = [
            each for each in parent if local(each) == "Code" and (each.get("name") or "").strip() == step
        ]
        if not known:
            path = "::".join(steps[:depth])
            named = {"guid": guid("heading", f"{plain_guid(parent.get('guid'))} {path}"), "name": step}
            tag = str(code.tag)
            known = [SubElement(parent, tag, {**named, "isCodable": "false"})]
        parent = known[0]
    parent.append(code)


def name_of(element: Element, *, ours: bool) -> str:
    """Return the name of a thing: as it is in our own files, in others without needless white space."""
    name = element.get("name") or element.get("id") or ""
    return (name if ours else " ".join(name.split())) or plain_guid(element.get("guid"))


def description(element: Element) -> str:
    """Return the description of an element, or nothing."""
    return next((each.text or "" for each in element if local(each) == "Description"), "")


def _codes(tree: Tree) -> Iterator[_ReadCode]:
    book = tree.first(tree.root, "CodeBook")
    waiting: list[tuple[Element, int | None]] = [] if book is None else [(book, None)]
    place = 0
    while waiting:
        element, at = waiting.pop()
        here = at
        if local(element) == "Code":
            yield _ReadCode(plain_guid(element.get("guid")), element, at, tree.description(element))
            here, place = place, place + 1
        waiting += [(each, here) for each in reversed(tree.of(element, "Codes", "Code"))]


def _ids(codes: Sequence[_ReadCode], *, keep: bool) -> list[str]:
    """Return an id for each code: its own, where labelled lines name it, or one made of its name."""
    own = [
        _LABELLED_ID.search(code.text.rpartition(_RULE)[2]) if keep and _RULE in code.text else None
        for code in codes
    ]
    taken = {each[1].lower() for each in own if each}
    ids: list[str] = []
    used: set[str] = set()
    times: Counter[str] = Counter()
    for code, each in zip(codes, own, strict=True):
        if each and each[1].lower() not in used:
            ids.append(each[1])
        else:
            ids.append(free_id(code.element.get("name") or "", taken | used, times))
        used.add(ids[-1].lower())
    return ids


def _codable(element: Element) -> bool:
    return (element.get("isCodable") or "true").strip().lower() not in ("false", "0")


def _through_qdc(
    codes: Sequence[_ReadCode], ids: Sequence[str], sets: Sequence[Element], name: str, coded: set[str]
) -> Codebook:
    lines = ['<?xml version="1.0" encoding="utf-8"?>', '<CodeBook xmlns="urn:QDA-XML:codebook:1.0"><Codes>']
    under: dict[int | None, list[int]] = {}
    for place, code in enumerate(codes):
        under.setdefault(code.at, []).append(place)
    waiting: list[int | str] = list(reversed(under.get(None, [])))
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            lines.append(each)
            continue
        lines.append(_code_line(codes[each], ids[each], codable=codes[each].guid in coded))
        waiting += ["</Code>", *reversed(under.get(each, []))]
    members = {code.guid: guid("code", own) for code, own in zip(codes, ids, strict=True)}
    lines += ["</Codes>", *_set_lines(sets, members), "</CodeBook>"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"{name}.qdc")
        path.write_text("\n".join(lines), "utf-8")
        return Codebook.read(path)


def _code_line(code: _ReadCode, own: str, *, codable: bool) -> str:
    colour = (code.element.get("color") or "").strip()
    colour = colour if re.fullmatch("#(?:[0-9A-Fa-f]{3}){1,2}", colour) else ""
    text = code.text
    if not re.search(rf"{_RULE}(?:.*\n)*?id: ['\"]?{re.escape(own)}['\"]?$", text, re.MULTILINE):
        text = f"{text}{_RULE}id: {json.dumps(own)}\n"
    name = code.element.get("name") or ""
    label = name if name.strip() else own
    can = "true" if codable or _codable(code.element) else "false"
    return (
        f'<Code guid="{guid("code", own)}" name={quoted(label)} isCodable="{can}"'
        + (f' color="{colour}"' if colour else "")
        + f"><Description>{escaped(text)}</Description>"
    )


def _set_lines(sets: Sequence[Element], members: Mapping[str, str]) -> list[str]:
    lines = []
    for each in sets:
        lines.append(
            f'<Set guid="{guid("set", each.get("name") or "")}" name={quoted(each.get("name") or "")}>'
        )
        lines.append(f"<Description>{escaped(description(each))}</Description>")
        named = (plain_guid(member.get("targetGUID") or member.get("guid")) for member in each)
        lines += [f'<MemberCode guid="{members[member]}"/>' for member in named if member in members]
        lines.append("</Set>")
    return ["<Sets>", *lines, "</Sets>"] if lines else []
