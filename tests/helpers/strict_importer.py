"""An importer that stops where QualCoder's does, and keeps what it keeps.

Written from what QualCoder's reader of projects asks of a file (github.com/ccbogel/QualCoder, `refi.py` and
the tables in `__main__.py`, as of August 2026), none of its code:

- the project has an origin; the first child of `CodeBook` holds the codes; a code that is not codable is a
  category;
- codes, categories, sources, cases and variables are known by their names: a second code of a name is not
  made, and what is coded with it has no code;
- every note has a creationDateTime or a modifiedDateTime, or the import ends;
- every source has a plainTextPath in the file, of UTF-8; positions count code points of the text with line
  ends of one character;
- the coder is the user of the selection, not of the coding; the code is the first child of the coding;
- a selection without a coding is an annotation, whose words are its description; a second one of the same
  source, place and user ends the import;
- a second value of a variable at one source, or one case, ends it, as does a source twice in one set;
- a case with the identifier of a code takes that code away.
"""

from __future__ import annotations

import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree as ET
from xml.etree.ElementTree import Element

NS = "{urn:QDA-XML:project:1.0}"


@dataclass
class Imported:
    """What is in the program after the import; `codings` are (source, coder, code, words)."""

    codes: dict[str, str] = field(default_factory=dict)  # by identifier
    texts: dict[str, str] = field(default_factory=dict)  # by name
    codings: list[tuple[str, str, str | None, str]] = field(default_factory=list)
    annotations: dict[tuple[str, int, int, str], str] = field(default_factory=dict)
    values: dict[tuple[str, str, str], str] = field(default_factory=dict)


def imported(path: Path) -> Imported:
    """Import a project, or raise as the program does."""
    made = Imported()
    with zipfile.ZipFile(path) as archive:
        root = ET.fromstring(archive.read("project.qde"))  # noqa: S314 – our own
        files = {name: archive.read(name) for name in archive.namelist()}
    assert root.get("origin") is not None
    users = {each.get("guid"): each.get("name", "") for each in root.iter(f"{NS}User")}
    variables = {each.get("guid"): each.get("name", "") for each in root.iter(f"{NS}Variable")}
    book = root.find(f"{NS}CodeBook")
    for code in [] if book is None else book[0]:
        _code(code, made)
    names: dict[str | None, str] = {}
    for source in root.iter(f"{NS}TextSource"):
        names[source.get("guid")] = name = source.get("name", "")
        assert name not in made.texts
        inside = source.get("plainTextPath", "").split("internal:/")[1]
        text = files[f"sources{inside}"].decode()
        made.texts[name] = text.replace("\r\n", "\n").replace("\r", "\n")
        for selection in source.findall(f"{NS}PlainTextSelection"):
            _selection(selection, name, users, made)
        _values(source, name, variables, made)
    for note in root.iter(f"{NS}Note"):
        (note.get("creationDateTime") or note.get("modifiedDateTime")).replace("T", " ")  # type: ignore[union-attr]
    for case in root.iter(f"{NS}Case"):
        _values(case, f"case {case.get('name')}", variables, made)
        made.codes.pop(case.get("guid", ""), None)
    for group in root.iter(f"{NS}Set"):
        for member in group.findall(f"{NS}MemberSource"):
            _value(made, ("set", group.get("name", ""), names[member.get("targetGUID")]), "")
    return made


def _code(element: Element, made: Imported) -> None:
    if element.get("isCodable") != "false" and element.get("name") not in made.codes.values():
        made.codes[element.get("guid", "")] = element.get("name", "")
    for child in element.findall(f"{NS}Code"):
        _code(child, made)


def _selection(element: Element, source: str, users: dict[str | None, str], made: Imported) -> None:
    start, end = int(element.get("startPosition", "")), int(element.get("endPosition", ""))
    coder = users.get(element.get("creatingUser"), "default")
    words = element.findtext(f"{NS}Description") or ""
    codings = element.findall(f"{NS}Coding")
    for coding in codings:
        code = made.codes.get(coding[0].get("targetGUID", ""))
        made.codings.append((source, coder, code, made.texts[source][start:end]))
    if not codings:
        place = (source, start, end, coder)
        assert place not in made.annotations, "a second annotation at one place"
        made.annotations[place] = words


def _values(element: Element, owner: str, variables: dict[str | None, str], made: Imported) -> None:
    for value in element.findall(f"{NS}VariableValue"):
        name = variables[value[0].get("targetGUID")]
        _value(made, ("value", owner, name), value[1].text or "")


def _value(made: Imported, key: tuple[str, str, str], value: str) -> None:
    assert key not in made.values, "a second value"
    made.values[key] = value
