"""What a project file of another program holds: its archive, its XML, and which elements were read."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from xml.etree import ElementTree as ET
from xml.etree.ElementTree import Element

from sense7_qual._limits import Limits, read_file
from sense7_qual.errors import ImportRefused

LIMITS: Final = Limits(
    file_bytes=1_000_000_000,
    unpacked_bytes=2_000_000_000,
    members=500_000,
    elements=20_000_000,
    cells=50_000_000,
)
"""What a project may hold, unless the caller says otherwise: it has a file for each text."""


_BROKEN: Final = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError)
_AGAIN: Final = "export it again as REFI-QDA project (.qdpx)"


def local(element: Element) -> str:
    """Return the name of an element without its namespace, of which programs write several."""
    return str(element.tag).rpartition("}")[2]


class Archive:
    """An open project file: its XML as a tree, and its texts by name, each unpacked once.

    A few bytes can name one text a thousand times. So what is handed out is counted, as often as it is: it is
    never more than the file may unpack to.
    """

    def __init__(self, packed: bytes, path: Path, limits: Limits) -> None:
        self._zip, self._limits, self._name = zipfile.ZipFile(io.BytesIO(packed)), limits, path.name
        members = self._zip.infolist()
        limits.require("members", len(members), name=self._name, of="files in a project", remedy=_AGAIN)
        self._allowed = limits.unpacked(len(packed))
        self._setting = "unpacked_bytes" if self._allowed == limits.unpacked_bytes else "expansion"
        self._packed, self._handed_out = len(packed), 0
        self._texts: dict[str, str | None] = {}
        self._require(sum(member.file_size for member in members), "bytes", " when it is unpacked")
        # By the last part of the name, in lower case: programs differ in Sources/ and sources/.
        self._members = {member.filename.rpartition("/")[2].lower(): member for member in members}

    @property
    def project(self) -> str:
        """The name of the file that the project is in."""
        return next(member.filename for name, member in self._members.items() if name.endswith(".qde"))

    def root(self) -> Element:
        """Return the project as a tree of XML."""
        projects = [name for name in self._members if name.endswith(".qde")]
        if len(projects) != 1:
            raise ImportRefused(
                f"{self._name}: expected one project.qde in the file – found {len(projects)} – {_AGAIN}."
            )
        return _parsed(self._unpacked(self._members[projects[0]]), self._name, self._limits)

    def text(self, name: str) -> str | None:
        """Return a text of the folder of sources, by its name without folders.

        None where there is none, or it is in no known encoding.
        """
        plain = name.rpartition("/")[2].lower()
        if plain not in self._texts:
            member = self._members.get(plain)
            self._texts[plain] = None if member is None else _decoded(self._unpacked(member))
        return self._texts[plain]

    def hand_out(self, *texts: str | None) -> None:
        """Count what goes into a frame."""
        self._handed_out += sum(map(len, filter(None, texts)))
        self._require(self._handed_out, "characters", ", each text as often as it is named")

    def require_cells(self, n_rows: int, n_columns: int) -> None:
        """Raise `ImportRefused` where a frame would have more cells than the limits allow."""
        self._limits.require(
            "cells", n_rows * n_columns, name=self._name, of="cells of texts × variables", remedy=_AGAIN
        )

    def _require(self, found: int, of: str, when: str) -> None:
        what = f"{of} of a project of {self._packed:,} bytes{when}"
        self._limits.require(
            self._setting, found, name=self._name, of=what, remedy=_AGAIN, allowed=self._allowed
        )

    def _unpacked(self, member: zipfile.ZipInfo) -> bytes:
        try:
            return self._zip.read(member)  # never more than the size that was checked
        except _BROKEN:
            raise ImportRefused(
                f"{self._name}: expected files that unpack – found a damaged or locked one – {_AGAIN}."
            ) from None


def _decoded(content: bytes) -> str | None:
    encoding = "utf-16" if content.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8"
    try:
        return content.decode(encoding)
    except UnicodeDecodeError:
        return None


def open_archive(path: Path, limits: Limits) -> Archive:
    """Open a project file."""
    try:
        packed = read_file(path, limits.file_bytes)
    except OSError as error:
        raise ImportRefused(
            f"cannot read {path.name!r}: {error.strerror}. Check the path and its permissions."
        ) from None
    if not packed.startswith(b"PK"):
        raise ImportRefused(
            f"{path.name}: expected a REFI-QDA project file (.qdpx) – found another kind of file – {_AGAIN}; "
            "a codebook alone (.qdc) is read by Codebook.read."
        )
    try:
        return Archive(packed, path, limits)
    except _BROKEN:
        raise ImportRefused(
            f"{path.name}: expected a sound ZIP archive – found a damaged one – {_AGAIN}."
        ) from None


class _Builder(ET.TreeBuilder):
    """Builds a tree, and refuses what only attacks need: document types, depth, masses of elements."""

    def __init__(self, name: str, limits: Limits) -> None:
        super().__init__()
        self._name, self._limits, self._depth, self._elements = name, limits, 0, 0

    def doctype(self, *_: object) -> None:
        raise ImportRefused(
            f"{self._name}: expected no document type in the project – found one, which may declare entities "
            f"– {_AGAIN}."
        )

    def start(self, tag: str, attributes: dict[str, str]) -> Element:
        self._depth += 1
        self._elements += 1
        for setting, n in (("depth", self._depth), ("elements", self._elements)):
            if n > getattr(self._limits, setting):
                raise self._limits.beyond(setting, name=self._name, of=f"{setting} of XML", remedy=_AGAIN)
        return super().start(tag, attributes)

    def end(self, tag: str) -> Element:
        self._depth -= 1
        return super().end(tag)


def _parsed(content: bytes, name: str, limits: Limits) -> Element:
    parser = ET.XMLParser(target=_Builder(name, limits))  # noqa: S314 – it refuses document types
    try:
        parser.feed(content)
        root: Element = parser.close()
    except ET.ParseError as error:
        raise ImportRefused(
            f"{name}: expected XML as project – found a mistake in line {error.position[0]} – {_AGAIN}."
        ) from None
    except (ValueError, LookupError) as error:
        if isinstance(error, ImportRefused):
            raise
        raise ImportRefused(
            f"{name}: expected a project in UTF-8 – found another encoding – {_AGAIN}."
        ) from None
    if local(root) != "Project":
        raise ImportRefused(
            f"{name}: expected a REFI-QDA Project – found {local(root)[:64]!r} – {_AGAIN}; a codebook alone "
            "(.qdc) is read by Codebook.read."
        )
    return root


_WRAPPERS: Final = {
    "Users",
    "CodeBook",
    "Codes",
    "Variables",
    "Cases",
    "Sources",
    "Notes",
    "Links",
    "Sets",
    "Graphs",
    "Codings",
}
_WHAT: Final = {
    "Description": "descriptions",
    "NoteRef": "places of memos",
    "MemberNote": "members that are memos",
    "Coding": "codings",
    "CodeRef": "codes",
    "VariableValue": "values of variables",
    "SelectionRef": "selections",
    "Link": "links",
    "Graph": "maps and graphs",
    "Vertex": "boxes",
    "Edge": "lines",
    "Transcript": "transcripts",
    "SyncPoint": "points in time",
    "Representation": "texts of selections",
    "TextDescription": "texts that describe them",
    "PlainTextSelection": "selections",
    "PictureSelection": "selections",
    "PDFSelection": "selections",
    "AudioSelection": "selections",
    "VideoSelection": "selections",
    "TranscriptSelection": "selections",
}
_WHERE: Final = {
    "TextSource": "texts",
    "PictureSource": "pictures",
    "PDFSource": "PDFs",
    "AudioSource": "sounds",
    "VideoSource": "films",
    "Case": "cases",
    "Note": "memos",
    "Set": "groups",
    "Variable": "variables",
    "Code": "codes",
    "Graph": "maps and graphs",
    "Link": "links",
}
_NAMED: Final = {
    "TextSource",
    "PictureSource",
    "PDFSource",
    "AudioSource",
    "VideoSource",
    "Case",
    "Set",
    "Variable",
    "Code",
    "Link",
    "Graph",
}
# Parts of a coding, a value or a text, which count with it.
_PARTS: Final = {
    "Coding": ("CodeRef",),
    "Representation": ("PlainTextContent",),
    "TextDescription": ("PlainTextContent",),
    "Transcript": ("PlainTextContent",),
    "VariableValue": (
        "VariableRef",
        "TextValue",
        "BooleanValue",
        "IntegerValue",
        "FloatValue",
        "DateValue",
        "DateTimeValue",
    ),
}


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
