"""A REFI-QDA project file (.qdpx): a ZIP of one project.qde and of the texts, read without unpacking it."""

from __future__ import annotations

import io
import zipfile
import zlib
from pathlib import Path
from typing import Final
from xml.etree import ElementTree as ET
from xml.etree.ElementTree import Element

from sense7_qual._limits import Limits, read_file
from sense7_qual.errors import ImportRefused

__all__ = ["LIMITS", "Archive", "local", "open_archive"]

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
            f"expected to read {path.name!r} – found {error.strerror} – check the path and its permissions."
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
