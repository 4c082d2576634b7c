"""Whether a workbook or a Word document may be opened: it is looked through before anything of it is built.

Either is a ZIP of XML parts, and a few hundred kilobytes of it can unpack to gigabytes, or to a tree of
XML that needs them. `require_harmless` streams every part once, builds nothing, and refuses what is too
large, too deep, or out of order in a way in which rows would be lost without a word.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable
from itertools import pairwise
from typing import Final
from xml.parsers import expat

from sense7_qual._limits import Limits
from sense7_qual.errors import ImportRefused

#: What zipfile raises on a damaged archive, or one of a version that it does not know.
BROKEN_ZIP: Final = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError)

_SHEET: Final = "http://schemas.openxmlformats.org/spreadsheetml/2006/main "
_ROW, _CELL, _STRING, _MERGED = (_SHEET + name for name in ("row", "c", "si", "mergeCell"))
_COLUMNS: Final = 16_384  # what Excel has
_IN_ONE_ITEM: Final = 40_000  # elements of one cell or shared string: the runs of a rich text
_OUTSIDE_CELLS: Final = 1_000_000  # characters of one element that is no cell
_SAVE_AS: Final = "save the sheet alone as .xlsx, or as CSV or Parquet"
# How "<" or "<?xm" begins in UCS-4 and in EBCDIC, which libxml2 may read and expat does not.
_OTHER_XML: Final = (b"\0\0\0<", b"<\0\0\0", b"\0\0<\0", b"\0<\0\0", b"Lo\xa7\x94")
_UNKNOWN_ENCODING: Final = frozenset(
    expat.errors.codes[found]
    for found in (expat.errors.XML_ERROR_UNKNOWN_ENCODING, expat.errors.XML_ERROR_INCORRECT_ENCODING)
)


def require_harmless(
    packed: bytes, *, limits: Limits, name: str, kind: str = "workbook"
) -> dict[str, list[str]]:
    """Return the merged cells of each part of the workbook in `packed`, such as ["A2:A5"].

    A Word document (`kind`) is looked through in the same way.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(packed)) as archive:
            members = archive.infolist()
            _require_members(members, len(packed), limits, name, kind)
            return {member.filename: _Part(archive, member, limits, name, kind).scan() for member in members}
    except ImportRefused:  # a ValueError too, which says more
        raise
    except BROKEN_ZIP:
        locked = packed.startswith(b"\xd0\xcf\x11\xe0")
        zipped = packed.startswith(b"PK")
        suffix, a = (".xlsx", "an") if kind == "workbook" else (".docx", "a")
        other = f"an old {suffix[:-1]} file, or one with a password" if locked else "something else"
        raise ImportRefused(
            f"{name}: expected {a} {suffix} {kind} – found {'a damaged one' if zipped else other} – save it "
            f"as {suffix} without a password."
        ) from None


def _require_members(
    members: list[zipfile.ZipInfo], packed: int, limits: Limits, name: str, kind: str
) -> None:
    limits.require("members", len(members), name=name, of=f"files inside a {kind}", remedy=_SAVE_AS)
    # zipfile never unpacks more of a member than the size that it declares.
    unpacked, allowed = sum(member.file_size for member in members), limits.unpacked(packed)
    setting = "unpacked_bytes" if allowed == limits.unpacked_bytes else "expansion"
    what = f"bytes of a {kind} of {packed:,} bytes when it is unpacked"
    limits.require(setting, unpacked, name=name, of=what, remedy=_SAVE_AS, allowed=allowed)
    placed = sorted((member.header_offset, member.compress_size) for member in members)
    overlap = any(at + 30 + size > after for (at, size), (after, _) in pairwise(placed))
    if overlap or len({member.filename for member in members}) < len(members):
        raise ImportRefused(
            f"{name}: expected each file inside the {kind} once – found some that overlap or share a name "
            "– open it in Microsoft Office or LibreOffice and save it again."
        )


class _Part:
    """One member of the archive, read once by expat, which builds nothing."""

    def __init__(
        self, archive: zipfile.ZipFile, member: zipfile.ZipInfo, limits: Limits, name: str, kind: str
    ) -> None:
        self._archive, self._member, self._limits, self._name = archive, member, limits, name
        self._kind = kind
        self._depth = self._elements = self._rows = self._items = self._inside = 0
        self._in_row = self._characters = self._row = self._column = 0
        self._item_at = -1  # the depth at which the present cell or shared string began
        self._root = ""
        self._merged: list[str] = []

    def scan(self) -> list[str]:
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
        parser.CharacterDataHandler = self._text
        parser.EntityDeclHandler = self._entity
        with self._archive.open(self._member) as file:
            self._fed(parser, file.read)
        return self._merged

    def _fed(self, parser: expat.XMLParserType, read: Callable[[int], bytes]) -> None:
        try:
            while chunk := read(1 << 16):
                if parser.CurrentByteIndex < 0 and chunk.startswith(_OTHER_XML):
                    raise LookupError
                parser.Parse(chunk)
        except expat.ExpatError as error:
            # Pictures are no XML, and no reader of XML gets further than this; but in an encoding that
            # only some readers know, it would.
            if error.code in _UNKNOWN_ENCODING:
                raise self._damaged("XML in an unusual encoding") from None
        except LookupError:  # an encoding that Python does not know either
            raise self._damaged("XML in an unusual encoding") from None

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > self._limits.depth:
            self._require("depth", self._depth, "levels of XML")
        self._root = self._root or tag.removeprefix(_SHEET)
        if self._item_at >= 0:
            self._inside += 1
            if self._inside > _IN_ONE_ITEM:
                raise self._damaged(f"more than {_IN_ONE_ITEM:,} XML elements in one cell")
            return
        self._characters = 0
        if self._root == "worksheet" and tag in {_ROW, _CELL}:
            self._row_or_cell(tag, attributes)
        elif self._root == "sst" and tag == _STRING:
            self._item()
        else:
            self._elements += 1
            if self._elements > self._limits.elements:
                self._require("elements", self._elements, "XML elements outside the cells")
            if tag == _MERGED:
                self._merged.append(attributes.get("ref", ""))

    def _row_or_cell(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == _ROW:
            self._rows, self._in_row, self._column = self._rows + 1, 0, 0
            self._require("rows", self._rows, "rows")
            self._row = self._increased(self._row, attributes.get("r"))
            return
        self._in_row += 1
        if self._in_row > _COLUMNS:
            raise self._damaged(f"more than {_COLUMNS:,} cells in one row")
        self._column = self._increased(self._column, column_of(attributes.get("r")))
        self._item()

    def _increased(self, before: int, place: str | int | None) -> int:
        """Return the number of a row or column; openpyxl drops, unsaid, what does not come in order."""
        try:
            number = before + 1 if place is None else int(place)
        except ValueError:
            raise self._damaged("a row or cell without a place") from None
        if number <= before:
            raise self._damaged("rows or cells that are not in order")
        return number

    def _item(self) -> None:
        self._items += 1
        if self._items > self._limits.cells:
            self._require("cells", self._items, "cells or shared strings")
        self._item_at, self._inside, self._characters = self._depth, 0, 0

    def _end(self, _: str) -> None:
        if self._depth == self._item_at:
            self._item_at = -1
        if self._item_at < 0:
            self._characters = 0
        self._depth -= 1

    def _text(self, text: str) -> None:
        self._characters += len(text)
        if self._item_at < 0:
            if self._characters > _OUTSIDE_CELLS:
                raise self._damaged(f"more than {_OUTSIDE_CELLS:,} characters outside the cells")
        elif self._characters > self._limits.cell_characters:
            self._require("cell_characters", self._characters, "characters in a cell")

    def _entity(self, *_: object) -> None:
        raise self._damaged("XML that declares entities")

    def _require(self, setting: str, amount: int, of: str) -> None:
        self._limits.require(setting, amount, name=self._name, of=of, remedy=_SAVE_AS)

    def _damaged(self, problem: str) -> ImportRefused:
        return ImportRefused(
            f"{self._name}: expected a {self._kind} as Microsoft Office and LibreOffice write it – found "
            f"{problem} – open it in one of them and save it again."
        )


def column_of(place: str | None) -> int | None:
    """Return the number of the column in a cell's place such as AB12; 0 where it names none."""
    if place is None:
        return None
    letters = place.rstrip("0123456789")
    if not 1 <= len(letters) <= 3 or not letters.isascii() or not letters.isalpha():
        return 0
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - 64
    return number
