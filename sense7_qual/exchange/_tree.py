"""The XML of a project, and which of its elements were read: what nobody asked for is counted at the end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from xml.etree.ElementTree import Element

from sense7_qual.exchange._archive import local

__all__ = ["Tree", "plain_guid"]

_WRAPPERS: Final = {
    "Users", "CodeBook", "Codes", "Variables", "Cases", "Sources", "Notes", "Links", "Sets", "Graphs",
    "Codings",
}  # fmt: skip
_WHAT: Final = {
    "Description": "descriptions", "NoteRef": "places of memos", "MemberNote": "members that are memos",
    "Coding": "codings", "CodeRef": "codes", "VariableValue": "values of variables",
    "SelectionRef": "selections", "Link": "links", "Graph": "maps and graphs", "Vertex": "boxes",
    "Edge": "lines", "Transcript": "transcripts", "SyncPoint": "points in time",
    "Representation": "texts of selections", "TextDescription": "texts that describe them",
    "PlainTextSelection": "selections", "PictureSelection": "selections", "PDFSelection": "selections",
    "AudioSelection": "selections", "VideoSelection": "selections", "TranscriptSelection": "selections",
}  # fmt: skip
_WHERE: Final = {
    "TextSource": "texts", "PictureSource": "pictures", "PDFSource": "PDFs", "AudioSource": "sounds",
    "VideoSource": "films", "Case": "cases", "Note": "memos", "Set": "groups", "Variable": "variables",
    "Code": "codes", "Graph": "maps and graphs", "Link": "links",
}  # fmt: skip
_NAMED: Final = {"TextSource", "PictureSource", "PDFSource", "AudioSource", "VideoSource", "Case", "Set",
                 "Variable", "Code", "Link", "Graph"}  # fmt: skip
# Parts of a coding, a value or a text, which count with it.
_PARTS: Final = {
    "Coding": ("CodeRef",), "Representation": ("PlainTextContent",), "TextDescription": ("PlainTextContent",),
    "Transcript": ("PlainTextContent",), "VariableValue": ("VariableRef", "TextValue", "BooleanValue",
    "IntegerValue", "FloatValue", "DateValue", "DateTimeValue"),
}  # fmt: skip


def plain_guid(written: str | None) -> str:
    """Return an identifier as it is compared: without braces, in lower case."""
    return (written or "").strip().strip("{}").lower()


class Tree:
    """A project's elements; one that was handed out counts as read, and its reader answers for it."""

    def __init__(self, root: Element) -> None:
        self.root = root
        self._read: set[Element] = {root}

    def of(self, element: Element, *names: str) -> list[Element]:
        """Return the children of these names, or all of them, and note that they are read."""
        found = [each for each in element if not names or local(each) in names]
        self._read.update(found)
        return found

    def under(self, wrapper: str, *names: str) -> list[Element]:
        """Return the children of the wrappers of this name, such as the sources in Sources."""
        return [child for each in self.of(self.root, wrapper) for child in self.of(each, *names)]

    def first(self, element: Element, name: str) -> Element | None:
        """Return the first child of this name, which alone is noted as read."""
        found = next((each for each in element if local(each) == name), None)
        if found is not None:
            self._read.add(found)
        return found

    def description(self, element: Element) -> str:
        """Return the description of an element, or nothing."""
        found = self.first(element, "Description")
        return "" if found is None else found.text or ""

    def references(self, element: Element, name: str = "NoteRef") -> list[str]:
        """Return the identifiers that an element refers to."""
        return [plain_guid(each.get("targetGUID")) for each in self.of(element, name)]

    def unread(self) -> Iterator[tuple[str, str]]:
        """Yield a description of each unread element and the name of the thing that contains it."""
        waiting = [(self.root, "", "")]
        while waiting:
            element, where, name = waiting.pop()
            kind = local(element)
            if kind in _WHERE:
                where, name = _WHERE[kind], (element.get("name") or "") if kind in _NAMED else ""
            lost = element not in self._read
            for child in element:
                of = local(child)
                if child not in self._read and not (lost and of in _PARTS.get(kind, ())) and _says(child):
                    what = _WHAT.get(of, f"elements of the kind {of[:64]}")
                    own = (child.get("name") or "") if of in _NAMED else name
                    yield f"{what}{f' in {where}' if where else ''}: not read", own
            waiting += [(child, where, name) for child in reversed(element)]


def _says(element: Element) -> bool:
    """Return False for a wrapper, and for a description without words."""
    kind = local(element)
    return kind not in _WRAPPERS and (kind != "Description" or bool((element.text or "").strip()))
