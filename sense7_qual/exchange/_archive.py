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
    file_bytes=1_000_000_000, unpacked_bytes=2_000_000_000, members=500_000, elements=20_000_000
)
"""What a project may hold, unless the caller says otherwise: it has a file for each text."""


_BROKEN: Final = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError)
_AGAIN: Final = "export it again as REFI-QDA project (.qdpx)"


def local(element: Element) -> str:
    """Return the name of an element without its namespace, of which programs write several."""
    return str(element.tag).rpartition("}")[2]


class Archive:
    """An open project file: its XML as a tree, and its other files by name."""

    def __init__(self, packed: bytes, path: Path, limits: Limits) -> None:
        self._zip, self._limits, self._name = zipfile.ZipFile(io.BytesIO(packed)), limits, path.name
        members = self._zip.infolist()
        limits.require("members", len(members), name=self._name, of="files in a project", remedy=_AGAIN)
        allowed = limits.unpacked(len(packed))
        setting = "unpacked_bytes" if allowed == limits.unpacked_bytes else "expansion"
        unpacked = sum(member.file_size for member in members)
        what = f"bytes of a project of {len(packed):,} bytes when it is unpacked"
        limits.require(setting, unpacked, name=self._name, of=what, remedy=_AGAIN, allowed=allowed)
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

    def file(self, name: str) -> bytes | None:
        """Return a file of the folder of sources, by its name without folders; None where there is none."""
        member = self._members.get(name.rpartition("/")[2].lower())
        return None if member is None else self._unpacked(member)

    def _unpacked(self, member: zipfile.ZipInfo) -> bytes:
        try:
            return self._zip.read(member)  # never more than the size that was checked
        except _BROKEN:
            raise ImportRefused(
                f"{self._name}: expected files that unpack – found a damaged or locked one – {_AGAIN}."
            ) from None


def open_archive(path: Path, limits: Limits) -> Archive:
    """Open a project file.

    Raises
    ------
    ImportRefused
        There is no such file, it is no ZIP archive, a damaged or a locked one, or holds more than `limits`
        allow.
    """
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
