"""The headers of the pages of a Parquet file: what each says that it unpacks to.

The file's footer repeats these numbers, but nothing makes it tell the truth. Only what is needed of Thrift's
compact protocol is read here, and nothing is unpacked.

References
----------
Apache Parquet, `parquet.thrift` (PageHeader, DataPageHeader, DictionaryPageHeader, DataPageHeaderV2); Apache
Thrift, compact protocol specification.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["BadPage", "Pages", "pages_of"]

_DELTA_BYTE_ARRAY: Final = 7
_MOST_FIELDS, _MOST_LEVELS = 1_000, 16
# Kinds of a field in the compact protocol.
_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(1, 13)
_Fields = dict[int, object]


class BadPage(ValueError):
    """What stands where a page should begin is no header of one."""


@dataclass(frozen=True, slots=True)
class Pages:
    """What the pages of a column, or of several, say of themselves."""

    unpacked: int
    values: int
    delta_texts: bool

    def __add__(self, other: Pages) -> Pages:
        """Return both together."""
        return Pages(
            self.unpacked + other.unpacked,
            self.values + other.values,
            delta_texts=self.delta_texts or other.delta_texts,
        )


def pages_of(packed: bytes, at: int, size: int) -> Pages:
    """Read the headers of the pages that stand in `packed` from `at` on, in `size` bytes.

    Raises
    ------
    BadPage
        A header is none, or a page reaches beyond the file.
    """
    end = at + size
    if at < 0 or size < 0 or end > len(packed):
        raise BadPage
    unpacked = values = 0
    delta = False
    while at < end:
        header = _Compact(packed, at, end)
        page = header.struct()
        at = header.at + _number(page, 3)
        if at > end or _number(page, 2) < 0 or _number(page, 3) < 0:
            raise BadPage
        unpacked += _number(page, 2)
        # A dictionary holds no rows; its values are bytes of the page.
        for field, encoding in ((5, 2), (8, 4)):
            data = page.get(field)
            if isinstance(data, dict):
                values += _number(data, 1)
                delta |= data.get(encoding) == _DELTA_BYTE_ARRAY
    return Pages(unpacked, values, delta_texts=delta)


def _number(fields: _Fields, name: int) -> int:
    value = fields.get(name)
    if not isinstance(value, int):
        raise BadPage
    return value


class _Compact:
    """A reader of one struct in Thrift's compact protocol."""

    def __init__(self, packed: bytes, at: int, end: int) -> None:
        self._packed, self.at, self._end = packed, at, end

    def struct(self, level: int = 0) -> _Fields:
        fields: _Fields = {}
        name = 0
        for _ in range(_MOST_FIELDS):
            head = self._byte()
            if head == 0:
                return fields
            name = name + (head >> 4) if head >> 4 else self._signed()
            fields[name] = self._value(head & 15, level)
        raise BadPage

    def _value(self, kind: int, level: int) -> object:
        if kind in {_TRUE, _FALSE}:
            return kind == _TRUE
        if kind in {_I16, _I32, _I64}:
            return self._signed()
        if kind == _STRUCT and level < _MOST_LEVELS:
            return self.struct(level + 1)
        if kind not in {_BYTE, _DOUBLE, _BINARY}:
            raise BadPage  # the headers of pages have no lists, sets or maps
        self._skip({_BYTE: 1, _DOUBLE: 8}.get(kind) or self._unsigned())
        return None

    def _skip(self, size: int) -> None:
        self.at += size
        if self.at > self._end:
            raise BadPage

    def _byte(self) -> int:
        self._skip(1)
        return self._packed[self.at - 1]

    def _unsigned(self) -> int:
        number = 0
        for shift in range(0, 70, 7):
            byte = self._byte()
            number |= (byte & 127) << shift
            if byte < 128:
                return number
        raise BadPage

    def _signed(self) -> int:
        number = self._unsigned()
        return (number >> 1) ^ -(number & 1)
