"""The texts of a workbook as its XML spells them, and where each character of one stands there.

A text stands among the shared strings or in its cell. It may be cut into runs of rich text, and hold
character references, CDATA and the escapes of Office Open XML: ``_x000D_`` is a CR, and ``_x005F_`` the
underscore of a literal ``_x000D_`` that somebody typed. openpyxl removes ``x005F_`` from the shared strings
wherever it stands, after which nobody can tell the two apart; so they are read here.

References
----------
ECMA-376-1:2016, 18.4.8 (si), 18.4.12 (t), 22.9.2.19 (ST_Xstring).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import IO, Final
from xml.parsers import expat

import numpy as np

from sense7_qual.corpus._formats._characters import PAIR, Located, Offsets, joined_pair
from sense7_qual.corpus._formats._xlsx_guard import column_of

__all__ = ["CellText", "cell_text", "shared_strings", "string_text", "unescaped"]

_SHEET: Final = "http://schemas.openxmlformats.org/spreadsheetml/2006/main "
_ROW, _CELL, _STRING, _TEXT, _VALUE, _PHONETIC = (
    _SHEET + name for name in ("row", "c", "si", "t", "v", "rPh")
)
_ESCAPE: Final = re.compile("_x([0-9A-Fa-f]{4})_")


def unescaped(text: str) -> str:
    """Return a text of a workbook with its escapes undone, as Excel shows it.

    >>> unescaped("one_x000D_two, and the name _x005F_x000D_ itself")
    'one\\rtwo, and the name _x000D_ itself'
    """
    if "_x" not in text:
        return text
    return PAIR.sub(joined_pair, _ESCAPE.sub(_meant, text))


def _meant(escape: re.Match[str]) -> str:
    return chr(int(escape[1], 16))


def shared_strings(file: IO[bytes]) -> list[str]:
    """Return the shared strings of a workbook in order, their runs joined, their escapes as they are.

    Raises
    ------
    xml.parsers.expat.ExpatError
        The part is no XML.
    """
    strings: list[str] = []
    reader = _Reader(_STRING, lambda item: strings.append("".join(piece.text for piece in item.pieces)))
    reader.parser.buffer_text = True
    reader.parser.ParseFile(file)
    return strings


@dataclass(frozen=True, slots=True)
class CellText:
    """What a cell holds: its kind, and its text, or the number of its shared string."""

    kind: str
    located: Located


def cell_text(xml: bytes, row: int, column: int) -> CellText:
    """Return the text of one cell of a sheet as it is spelled in the sheet's part.

    Raises
    ------
    LookupError
        There is no such cell.
    """
    found: list[_Item] = []
    reader = _Reader(_CELL, lambda item: found.append(item) if item.place == (row, column) else None)
    reader.parser.Parse(xml, True)
    return CellText(found[0].kind, _located(xml, found[0].pieces, reader.encoding))


def string_text(xml: bytes, number: int) -> Located:
    """Return the shared string of that number, from 0, as it is spelled in the part of the shared strings.

    Raises
    ------
    LookupError
        There is no such string.
    """
    found: list[_Item] = []
    reader = _Reader(_STRING, lambda item: found.append(item) if item.place == (0, number + 1) else None)
    reader.parser.Parse(xml, True)
    return _located(xml, found[0].pieces, reader.encoding)


@dataclass(frozen=True, slots=True)
class _Piece:
    """Characters as expat gives them: a run, or the one that a reference or a line's end stands for."""

    text: str
    at: int
    literal: bool  # in CDATA, where & is an ampersand


class _Item:
    """A cell or shared string that is being read."""

    __slots__ = ("kind", "pieces", "place")

    def __init__(self, kind: str, place: tuple[int, int]) -> None:
        self.kind, self.place = kind, place
        self.pieces: list[_Piece] = []


class _Reader:
    """Gives each item of a part to `done`, with the pieces of its text but without its phonetic reading."""

    def __init__(self, tag: str, done: Callable[[_Item], object]) -> None:
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.StartElementHandler, self.parser.EndElementHandler = self._start, self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.XmlDeclHandler = self._declared
        self.parser.StartCdataSectionHandler = lambda: setattr(self, "_literal", True)
        self.parser.EndCdataSectionHandler = lambda: setattr(self, "_literal", False)
        self.encoding = ""
        self._tag, self._done = tag, done
        self._item: _Item | None = None
        self._row = self._column = 0
        self._literal = self._taken = self._silent = False

    def _declared(self, _: str, encoding: str | None, __: int) -> None:
        self.encoding = encoding or ""

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == self._tag:
            self._column = column_of(attributes.get("r")) or self._column + 1
            self._item = _Item(attributes.get("t", "n"), (self._row, self._column))
        elif tag == _ROW:
            self._row, self._column = int(attributes.get("r") or self._row + 1), 0
        elif tag == _PHONETIC:
            self._silent = True
        elif tag == _TEXT or (tag == _VALUE and self._tag == _CELL):
            self._taken = not self._silent

    def _end(self, tag: str) -> None:
        if tag == self._tag and self._item is not None:
            self._done(self._item)
            self._item = None
        elif tag == _PHONETIC:
            self._silent = False
        elif tag in {_TEXT, _VALUE}:
            self._taken = False

    def _text(self, text: str) -> None:
        if self._taken and self._item is not None:
            self._item.pieces.append(_Piece(text, self.parser.CurrentByteIndex, self._literal))


def _located(xml: bytes, pieces: Sequence[_Piece], declared: str) -> Located:
    codec = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}.get(xml[:2], declared or "utf-8")
    edges = [_edges(xml, piece, codec) for piece in pieces] or [np.zeros(1, dtype=np.int64)]
    starts, ends = (np.concatenate([found[side] for found in edges]) for side in (slice(-1), slice(1, None)))
    spelled = Located("".join(piece.text for piece in pieces), starts, ends)
    return spelled.joined(_ESCAPE, _meant).pairs_joined()


def _edges(xml: bytes, piece: _Piece, codec: str) -> Offsets:
    """Return where each character of a piece begins, and where the last one ends."""
    reference, end, cr, lf = (mark.encode(codec) for mark in "&;\r\n")
    if xml.startswith(reference, piece.at) and not piece.literal:
        return np.asarray([piece.at, xml.index(end, piece.at) + len(end)], dtype=np.int64)
    if xml.startswith(cr, piece.at):
        return np.asarray([piece.at, piece.at + len(cr) + xml.startswith(lf, piece.at + len(cr)) * len(lf)])
    return np.cumsum([piece.at, *(len(character.encode(codec)) for character in piece.text)], dtype=np.int64)
