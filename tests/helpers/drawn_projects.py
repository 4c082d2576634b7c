"""REFI-QDA projects of any kind that the schema allows, drawn by Hypothesis."""

from __future__ import annotations

import itertools
import zipfile
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET
from xml.etree.ElementTree import Element, SubElement

from hypothesis import strategies as st

NAMESPACE = "urn:QDA-XML:project:1.0"
TEXT = "It listened to me, and I was calm."
USER = "creatingUser"


def parsed(content: str) -> Element:
    """A project as a tree without a namespace, which `written` takes."""
    root = ET.fromstring(content)  # noqa: S314 – our own
    for each in root.iter():
        each.tag = each.tag.rpartition("}")[2]
    root.set("xmlns", NAMESPACE)
    return root


def written(root: Element, path: Path) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("project.qde", ET.tostring(root))
    return path


class _Maker:
    """Makes one project; every guid, text and value is another."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw, self._number = draw, itertools.count(1)
        self.root = Element("Project", {"xmlns": NAMESPACE, "name": "drawn", "origin": "Other"})
        self.guids: dict[str, list[str]] = {}

    def some(self, most: int = 2) -> range:
        return range(self.draw(st.integers(0, most)))

    def chance(self) -> bool:
        return self.draw(st.booleans())

    def new(self, parent: Element, kind: str, **more: str) -> Element:
        number = next(self._number)
        guid = f"{number:08x}-0000-4000-8000-{number:012x}"
        self.guids.setdefault(kind, []).append(guid)
        return SubElement(parent, kind, {"guid": guid, **more})

    def words(self, parent: Element, name: str = "Description", *, always: bool = False) -> None:
        if always or self.chance():
            SubElement(parent, name).text = f"words {next(self._number)}"

    def refer(self, parent: Element, name: str, *kinds: str, most: int = 2) -> None:
        known = [guid for kind in kinds for guid in self.guids.get(kind, [])]
        for guid in self.draw(st.lists(st.sampled_from(known), max_size=most, unique=True)) if known else []:
            SubElement(parent, name, {"targetGUID": guid})

    def wrapped(self, name: str, fill: Callable[[Element], None]) -> None:
        wrapper = Element(name)
        fill(wrapper)
        if len(wrapper):
            self.root.append(wrapper)

    def who(self) -> dict[str, str]:
        users = self.guids.get("User", [])
        return {USER: self.draw(st.sampled_from(users))} if users and self.chance() else {}

    def users(self, at: Element) -> None:
        for _ in self.some():
            user = self.new(at, "User")
            user.set("name", f"user {user.get('guid', '')[:8]}")

    def code(self, at: Element, depth: int = 0) -> None:
        code = self.new(at, "Code", isCodable=self.draw(st.sampled_from(["true", "false"])))
        code.set("name", f"code {code.get('guid', '')[:8]}")
        self.words(code)
        self.refer(code, "NoteRef", "Note")
        for _ in self.some() if depth < 2 else ():
            self.code(code, depth + 1)

    def codings(self, at: Element) -> None:
        for _ in self.some() if "Code" in self.guids else ():
            coding = self.new(at, "Coding", **self.who())
            SubElement(coding, "CodeRef", {"targetGUID": self.draw(st.sampled_from(self.guids["Code"]))})
            self.refer(coding, "NoteRef", "Note", most=1)

    def values(self, at: Element) -> None:
        for guid in self.guids.get("Variable", []):
            if self.chance():
                value = SubElement(at, "VariableValue")
                SubElement(value, "VariableRef", {"targetGUID": guid})
                SubElement(value, "IntegerValue").text = str(next(self._number))

    def selected(self, at: Element, kind: str, **place: str) -> None:
        for _ in self.some():
            where = place or self.place()
            selection = self.new(at, kind, **where, **self.who())
            self.words(selection)
            self.codings(selection)
            self.refer(selection, "NoteRef", "Note", most=1)

    def place(self) -> dict[str, str]:
        start = self.draw(st.integers(0, len(TEXT)))
        end = self.draw(st.integers(start, len(TEXT)))
        return {"startPosition": str(start), "endPosition": str(end)}

    def text(self, at: Element, name: str) -> None:
        text = self.new(at, name, **self.who())
        text.set("name", f"text {text.get('guid', '')[:8]}")
        self.words(text)
        if self.draw(st.integers(0, 3)):
            SubElement(text, "PlainTextContent").text = TEXT
        self.selected(text, "PlainTextSelection")
        self.codings(text)
        self.refer(text, "NoteRef", "Note")
        self.values(text)

    def medium(self, at: Element, kind: str) -> None:
        source = self.new(at, f"{kind}Source")
        source.set("name", f"{kind} {source.get('guid', '')[:8]}")
        self.words(source)
        corners = dict.fromkeys(("firstX", "firstY", "secondX", "secondY"), "1")
        if kind == "Picture":
            if self.chance():
                self.text(source, "TextDescription")
            self.selected(source, "PictureSelection", **corners)
        elif kind == "PDF":
            self.selected(source, "PDFSelection", page="1", **corners)
            if self.chance():
                self.text(source, "Representation")
        else:
            if self.chance():
                transcript = self.new(source, "Transcript")
                SubElement(transcript, "PlainTextContent").text = TEXT
                self.new(transcript, "SyncPoint")
                self.selected(transcript, "TranscriptSelection", name="said")
            self.selected(source, f"{kind}Selection", begin="1", end="2")
        self.codings(source)
        self.refer(source, "NoteRef", "Note")
        self.values(source)

    def sources(self, at: Element) -> None:
        for kind in self.draw(
            st.lists(st.sampled_from(["Text", "Text", "Picture", "PDF", "Audio", "Video"]), max_size=4)
        ):
            if kind == "Text":
                self.text(at, "TextSource")
            else:
                self.medium(at, kind)

    def case(self, at: Element) -> None:
        case = self.new(at, "Case")
        case.set("name", f"case {case.get('guid', '')[:8]}")
        self.words(case)
        self.refer(case, "CodeRef", "Code", most=1)
        self.values(case)
        self.refer(case, "SourceRef", "TextSource", "PDFSource", "PictureSource")
        self.refer(case, "SelectionRef", "PlainTextSelection", most=1)

    def group(self, at: Element) -> None:
        group = self.new(at, "Set")
        group.set("name", f"group {group.get('guid', '')[:8]}")
        self.words(group)
        self.refer(group, "MemberCode", "Code")
        self.refer(group, "MemberSource", "TextSource", "AudioSource", "Representation")
        self.refer(group, "MemberNote", "Note")

    def graph(self, at: Element) -> None:
        graph = self.new(at, "Graph")
        boxes = [self.new(graph, "Vertex", firstX="1", firstY="1").get("guid", "") for _ in self.some()]
        if boxes:
            self.new(graph, "Edge", sourceVertex=boxes[0], targetVertex=boxes[0])


@st.composite
def projects(draw: st.DrawFn) -> Element:
    """A project that is valid by Project.xsd, with anything that it may hold."""
    made = _Maker(draw)
    notes = Element("Notes")
    for _ in made.some(3):
        made.new(notes, "Note")
    made.wrapped("Users", made.users)
    if made.chance():
        codes = SubElement(SubElement(made.root, "CodeBook"), "Codes")
        made.code(codes)
        made.code(codes)
    made.wrapped("Variables", lambda at: [_variable(made, at) for _ in made.some()] and None)
    sources = Element("Sources")
    made.sources(sources)
    made.wrapped("Cases", lambda at: [made.case(at) for _ in made.some()] and None)
    if len(sources):
        made.root.append(sources)
    for note in notes:
        note.attrib |= made.who() | ({"name": "title"} if made.chance() else {})
        made.words(note)
        made.words(note, "PlainTextContent")
        made.selected(note, "PlainTextSelection")
        made.codings(note)
    if len(notes):
        made.root.append(notes)
    made.wrapped("Links", lambda at: [made.new(at, "Link", name="link") for _ in made.some()] and None)
    made.wrapped("Sets", lambda at: [made.group(at) for _ in made.some(3)] and None)
    made.wrapped("Graphs", lambda at: [made.graph(at) for _ in made.some(1)] and None)
    made.words(made.root)
    made.refer(made.root, "NoteRef", "Note", most=1)
    return made.root


def _variable(made: _Maker, at: Element) -> None:
    variable = made.new(at, "Variable", typeOfVariable="Integer")
    variable.set("name", f"variable {variable.get('guid', '')[:8]}")
    made.words(variable)
