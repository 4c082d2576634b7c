"""How a text is spelled in its file: for each character, where what stands for it begins and ends.

A file spells one character by several: CSV doubles a quote, JSON and XML escape, Windows ends a line twice.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

__all__ = ["PAIR", "Located", "Offsets", "csv_field", "joined_pair", "json_value"]

Offsets = npt.NDArray[np.int64]

_RETURN: Final = re.compile("\r\n?")
_DOUBLED: Final = re.compile('""')
_ESCAPED: Final = re.compile(r"\\(?:u[0-9a-fA-F]{4}|.)")
PAIR: Final = re.compile("[\ud800-\udbff][\udc00-\udfff]")
"""The two halves of a surrogate pair, each escaped."""
_STRING: Final = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"')
_SPACE: Final = re.compile(r"[ \t\r\n]*")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Located:
    """A text, and where each of its characters begins and ends in what it was read from."""

    text: str
    starts: Offsets
    ends: Offsets

    @classmethod
    def at(cls, text: str, begin: int) -> Located:
        """Return a text that stands from `begin` on as it is."""
        places = np.arange(begin, begin + len(text) + 1, dtype=np.int64)
        return cls(text, places[:-1], places[1:])

    def joined(self, spelling: re.Pattern[str], meant: Callable[[re.Match[str]], str]) -> Located:
        """Return the text with the one character that is meant in place of each match of `spelling`."""
        found = list(spelling.finditer(self.text))
        if not found:
            return self
        ends, kept = self.ends.copy(), np.ones(len(self.text), dtype=bool)
        for match in found:
            first, after = match.span()
            ends[first] = ends[after - 1]
            kept[first + 1 : after] = False
        return Located(spelling.sub(meant, self.text), self.starts[kept], ends[kept])

    def pairs_joined(self) -> Located:
        """Return the text with one character for each two halves of a surrogate pair."""
        return self.joined(PAIR, joined_pair)

    def canonical(self) -> Located:
        """Return the text in canonical form (`sense7_qual.corpus._columns.canonical`)."""
        dropped = len(self.text) - len(self.text.lstrip("\ufeff"))
        whole = Located(self.text[dropped:], self.starts[dropped:], self.ends[dropped:])
        return whole.joined(_RETURN, lambda _: "\n")


def joined_pair(pair: re.Match[str]) -> str:
    """Return the character that two halves of a surrogate pair stand for."""
    return pair[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le")


def csv_field(text: str, at: int, number: int, delimiter: str) -> Located:
    """Return the field of that number, from 0, of the row of CSV that begins at `at`."""
    field = re.compile(rf'"([^"]*(?:""[^"]*)*)"|([^{delimiter}\r\n]*)')
    while found := field.match(text, at):
        if number == 0:
            group = 1 if found[2] is None else 2
            spelled = Located.at(found[group], found.start(group))
            return spelled.joined(_DOUBLED, lambda _: '"') if group == 1 else spelled
        number, at = number - 1, found.end() + 1
    raise LookupError


def json_value(text: str, at: int, key: str) -> Located | None:
    """Return the text under `key` in the JSON object that begins at `at`; None where it is no string.

    The object has been read before: it is sound, and no key stands in it twice.
    """
    decoder = json.JSONDecoder(parse_int=str, parse_float=str)  # int would refuse 5,000 digits
    at = _after_space(text, text.index("{", at) + 1)
    while text[at] == '"':
        found, at = decoder.raw_decode(text, at)
        at = _after_space(text, _after_space(text, at) + 1)  # the colon
        if found == key:
            string = _STRING.match(text, at)
            return string and _json_string(string)
        _, at = decoder.raw_decode(text, at)
        at = _after_space(text, _after_space(text, at) + 1)  # the comma
    return None


def _after_space(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at


def _json_string(string: re.Match[str]) -> Located:
    spelled = Located.at(string[1], string.start(1))
    return spelled.joined(_ESCAPED, lambda escape: str(json.loads(f'"{escape[0]}"'))).pairs_joined()
