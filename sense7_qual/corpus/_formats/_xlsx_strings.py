"""The shared strings of a workbook, as its XML spells them.

A string may be cut into runs of rich text, and hold character references, CDATA and the escapes of Office
Open XML: ``_x000D_`` is a CR, and ``_x005F_`` the underscore of a literal ``_x000D_`` that somebody typed.
openpyxl removes ``x005F_`` from the shared strings wherever it stands, after which nobody can tell the two
apart; so they are read here.

References
----------
ECMA-376-1:2016, 18.4.8 (si), 18.4.12 (t), 22.9.2.19 (ST_Xstring).
"""

from __future__ import annotations

import re
from typing import IO, Final
from xml.parsers import expat

__all__ = ["shared_strings", "unescaped"]

_MAIN: Final = "http://schemas.openxmlformats.org/spreadsheetml/2006/main "
_STRING, _TEXT, _PHONETIC = (_MAIN + name for name in ("si", "t", "rPh"))
_ESCAPE: Final = re.compile("_x([0-9A-Fa-f]{4})_")
_PAIR: Final = re.compile("[\ud800-\udbff][\udc00-\udfff]")  # the halves of a surrogate pair, each escaped


def unescaped(text: str) -> str:
    """Return a text of a workbook with its escapes undone, as Excel shows it.

    >>> unescaped("one_x000D_two, and the name _x005F_x000D_ itself")
    'one\\rtwo, and the name _x000D_ itself'
    """
    if "_x" not in text:
        return text
    return _PAIR.sub(_joined, _ESCAPE.sub(lambda escape: chr(int(escape[1], 16)), text))


def _joined(pair: re.Match[str]) -> str:
    return pair[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le")


def shared_strings(file: IO[bytes]) -> list[str]:
    """Return the shared strings of a workbook in order, their runs joined, their escapes as they are."""
    reader = _Reader()
    reader.parser.ParseFile(file)
    return reader.strings


class _Reader:
    """Collects the text of each string, without its phonetic reading."""

    def __init__(self) -> None:
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.StartElementHandler, self.parser.EndElementHandler = self._start, self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.buffer_text = True
        self.strings: list[str] = []
        self._runs: list[str] | None = None
        self._taken = self._silent = False

    def _start(self, tag: str, _: dict[str, str]) -> None:
        if tag == _STRING:
            self._runs = []
        elif tag == _PHONETIC:
            self._silent = True
        elif tag == _TEXT:
            self._taken = not self._silent

    def _end(self, tag: str) -> None:
        if tag == _STRING and self._runs is not None:
            self.strings.append("".join(self._runs))
            self._runs = None
        elif tag == _PHONETIC:
            self._silent = False
        elif tag == _TEXT:
            self._taken = False

    def _text(self, text: str) -> None:
        if self._taken and self._runs is not None:
            self._runs.append(text)
