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

__all__ = ["BadPage", "Compact", "DeltaPage", "Fields", "Pages", "number_in", "pages_of"]

_RLE: Final = 3
_DELTA_LENGTH_BYTE_ARRAY: Final = 6
_DELTA_BYTE_ARRAY: Final = 7
_MOST_FIELDS, _MOST_LEVELS = 1_000, 16
# Kinds of a field in the compact protocol.
_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(1, 13)
_MOST_ITEMS: Final = 2_000_000  # of all lists of one struct
Fields = dict[int, object]
"""A struct of Thrift: its fields by their numbers."""


class BadPage(ValueError):
    """What stands where a page should begin is no header of one."""


@dataclass(frozen=True, slots=True)
class DeltaPage:
    """A page in which each text repeats the start of the one before: where it stands, and its header.

    `levels` is how many bytes stand before the values, which are not packed with them; None where they are.
    """

    at: int
    size: int
    unpacked: int
    values: int
    levels: int | None
    compressed: bool


@dataclass(frozen=True, slots=True)
class Pages:
    """What the pages of a column, or of several, say of themselves.

    `plain` is False where a page is in an encoding whose texts cannot be read as a dictionary.
    """

    unpacked: int
    values: int
    plain: bool = True
    deltas: tuple[DeltaPage, ...] = ()

    def __add__(self, other: Pages) -> Pages:
        """Return both together."""
        return Pages(
            self.unpacked + other.unpacked,
            self.values + other.values,
            self.plain and other.plain,
            self.deltas + other.deltas,
        )


def pages_of(packed: bytes, at: int, size: int) -> Pages:
    """Read the headers of the pages that stand in `packed` from `at` on, in `size` bytes."""
    end = at + size
    if at < 0 or size < 0 or end > len(packed):
        raise BadPage
    pages = Pages(0, 0)
    deltas = []
    while at < end:
        header = Compact(packed, at, end)
        page = header.struct()
        begin, unpacked, size = header.at, number_in(page, 2), number_in(page, 3)
        at = begin + size
        if at > end or unpacked < 0 or size < 0:
            raise BadPage
        # A dictionary holds no rows; its values are bytes of the page.
        values, plain = 0, True
        for field, encoding in ((5, 2), (8, 4)):
            data = page.get(field)
            if isinstance(data, dict):
                values += number_in(data, 1)
                plain &= number_in(data, encoding) not in {_DELTA_BYTE_ARRAY, _DELTA_LENGTH_BYTE_ARRAY}
                if data.get(encoding) == _DELTA_BYTE_ARRAY:
                    deltas.append(_delta(data, begin, size, unpacked, second=field == 8))
        pages += Pages(unpacked, values, plain)
    return pages + Pages(0, 0, deltas=tuple(deltas))


def _delta(data: Fields, at: int, size: int, unpacked: int, *, second: bool) -> DeltaPage:
    """Return a page of texts, of the first or of the second version of such pages."""
    values = number_in(data, 1)
    if not second:
        if {number_in(data, 3), number_in(data, 4)} != {_RLE}:
            raise BadPage
        return DeltaPage(at, size, unpacked, values, levels=None, compressed=True)
    levels = number_in(data, 5) + number_in(data, 6)
    if min(number_in(data, 5), number_in(data, 6)) < 0 or levels > min(size, unpacked):
        raise BadPage
    return DeltaPage(at, size, unpacked, values, levels, compressed=data.get(7) is not False)


def number_in(fields: Fields, name: int) -> int:
    """Return the field, which is there and a whole number."""
    value = fields.get(name)
    if not isinstance(value, int):
        raise BadPage
    return value


class Compact:
    """A reader of Thrift's compact protocol, whose numbers are also those of Parquet's deltas."""

    def __init__(self, packed: bytes, at: int, end: int) -> None:
        self._packed, self.at, self._end = packed, at, end
        self._items = 0

    def struct(self, level: int = 0) -> Fields:
        """Return the fields of a struct by their numbers."""
        fields: Fields = {}
        name = 0
        for _ in range(_MOST_FIELDS):
            head = self._byte()
            if head == 0:
                return fields
            name = name + (head >> 4) if head >> 4 else self.signed()
            fields[name] = self._value(head & 15, level)
        raise BadPage

    def _value(self, kind: int, level: int) -> object:
        if kind in {_TRUE, _FALSE}:
            return kind == _TRUE
        if kind in {_I16, _I32, _I64}:
            return self.signed()
        if kind == _STRUCT and level < _MOST_LEVELS:
            return self.struct(level + 1)
        if kind in {_LIST, _SET} and level < _MOST_LEVELS:
            return self._list(level + 1)
        if kind not in {_BYTE, _DOUBLE, _BINARY}:
            raise BadPage  # Parquet has no maps
        self._skip({_BYTE: 1, _DOUBLE: 8}.get(kind) or self.unsigned())
        return None

    def _list(self, level: int) -> list[object]:
        head = self._byte()
        size, kind = head >> 4, head & 15
        size = self.unsigned() if size == 15 else size
        self._items += size
        if self._items > _MOST_ITEMS:
            raise BadPage
        # A boolean is in its field's head, but in a list it has a byte.
        return [self._value(_BYTE if kind in {_TRUE, _FALSE} else kind, level) for _ in range(size)]

    def _skip(self, size: int) -> None:
        self.at += size
        if self.at > self._end:
            raise BadPage

    def _byte(self) -> int:
        self._skip(1)
        return self._packed[self.at - 1]

    def take(self, size: int) -> bytes:
        """Return the next bytes."""
        self._skip(size)
        return self._packed[self.at - size : self.at]

    def unsigned(self) -> int:
        """Return a whole number that takes as many bytes as it needs."""
        number = 0
        for shift in range(0, 70, 7):
            byte = self._byte()
            number |= (byte & 127) << shift
            if byte < 128:
                return number
        raise BadPage

    def signed(self) -> int:
        """Return a whole number that may be below 0."""
        number = self.unsigned()
        return (number >> 1) ^ -(number & 1)
