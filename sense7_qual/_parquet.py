"""Parquet files of any origin, read only after it is clear how much they unfold to.

A page of a Parquet file may stand for far more than its bytes, and Arrow unpacks each whole, with the
dictionary of its texts: 16 kB can take 3 GB before a first batch of rows is given out. So neither batches
with a running total nor the size of a file keep a promise of 1 GB, and nothing makes the footer tell the
truth. The headers of the pages are what counts, and are read here first; nothing is unpacked for it. Texts
are then read as a dictionary and places in it, and their length is known before they are written out.

How long texts are that are written as differences from one another no header says, and 139 bytes of them
can take 8 GB: they are refused, since few programs write any. The footer is read here too, as far as it is
needed: Arrow ends the process, where it should raise an error, on some that are not sound. A child process
with a limit of memory would do as well, but takes 0.3 to 0.6 s for each study that is opened, in place of
0.02 s, and has no such limit on Windows.

References
----------
Apache Parquet, `parquet.thrift` (FileMetaData, RowGroup, ColumnMetaData, PageHeader); Apache Thrift, compact
protocol specification.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from sense7_qual._limits import Limits
from sense7_qual.errors import ImportRefused

if TYPE_CHECKING:
    import pandas as pd

_LONGEST_FIXED: Final = 32  # bytes of a decimal of 76 digits; longer fixed values are no table's
_REMEDY: Final = "split the file, or keep fewer columns"
_DIFFERENCES: Final = (6, 7)  # DELTA_LENGTH_BYTE_ARRAY, DELTA_BYTE_ARRAY
_PAGES: Final = {0: (5, 2), 3: (8, 4), 2: (7, 2)}
"""Pages of the first version, of the second, and dictionaries, by type: which field has the rest of the
header, and which of its own the encoding."""
_DICTIONARY: Final = 2
_MOST_FIELDS, _MOST_LEVELS = 1_000, 16
# Kinds of a field in the compact protocol.
_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(1, 13)
_BITS: Final = {_I16: 15, _I32: 31, _I64: 63}
_MOST_ITEMS: Final = 2_000_000  # of all lists of one struct
_Fields = dict[int, object]
"""A struct of Thrift: its fields by their numbers."""


class _Unsound(ValueError):
    """The footer, or what stands where a page should begin, is none."""


class _Number(NamedTuple):
    """A whole number and its kind: one of another kind than a field has, Arrow passes over."""

    kind: int
    value: int


class _Page(NamedTuple):
    """What the header of a page says: how many bytes it unpacks to, its values, and how they are written.

    The values of a dictionary are no rows.
    """

    unpacked: int
    values: int = 0
    encoding: int = 0
    is_dictionary: bool = False


def frame_of_bytes(packed: bytes) -> pd.DataFrame:
    """Return the frame that pandas wrote to Parquet, read without starting threads.

    Arrow's own threads would still give back Python objects while the interpreter ends, and abort it.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.ParquetFile(pa.BufferReader(packed)).read(use_threads=False, use_pandas_metadata=True)
    frame: pd.DataFrame = table.to_pandas(use_threads=False)
    return frame


def guarded_table(packed: bytes, name: str, limits: Limits) -> Any:
    """Return the Arrow table, its repeated texts as places in a dictionary.

    Raises `ImportRefused` where the file is damaged, or would fill the memory when it is read.
    """
    import pyarrow as pa

    try:
        return _table(packed, name, limits)
    except ImportRefused:
        raise
    except (pa.ArrowException, OSError, UnicodeError, ValueError, OverflowError, MemoryError):
        # The original error may quote a cell.
        raise ImportRefused(
            f"{name}: expected a Parquet file – found a damaged one, or text in it that is not UTF-8 – write "
            "it again."
        ) from None


def _table(packed: bytes, name: str, limits: Limits) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    sizes = {"thrift_string_size_limit": 10_000_000, "thrift_container_size_limit": 1_000_000}
    metadata = pq.read_metadata(pa.BufferReader(packed))
    schema = [metadata.schema.column(i) for i in range(metadata.num_columns)]
    allowed = limits.unpacked(len(packed))
    setting = "unpacked_bytes" if allowed == limits.unpacked_bytes else "expansion"
    _require_small(packed, metadata.num_rows, schema, name, limits)
    unpacked = sum(page.unpacked for _, page in _all_pages(packed, schema, name, limits))
    of = f"bytes of a file of {len(packed):,} bytes when it is unpacked"
    limits.require(setting, unpacked, name=name, of=of, remedy=_REMEDY, allowed=allowed)
    texts = [column.path for column in schema if column.physical_type == "BYTE_ARRAY"]
    file = pq.ParquetFile(
        pa.BufferReader(packed), read_dictionary=texts, page_checksum_verification=True, **sizes
    )
    table = file.read(use_threads=False)
    if table.num_rows != metadata.num_rows:
        raise _Unsound  # Arrow leaves out, unsaid, a page of a kind that it does not know
    table.validate(full=True)
    size = sum(_text_bytes(chunk) for column in table.columns for chunk in column.chunks)
    of = f"bytes of text in a file of {len(packed):,} bytes"
    limits.require(setting, size, name=name, of=of, remedy=_REMEDY, allowed=allowed)
    return table


def _require_small(packed: bytes, n_rows: int, schema: Sequence[Any], name: str, limits: Limits) -> None:
    """Refuse what is too large by the file's own account, or of a kind that no table has."""
    rows = max(n_rows, sum(_number(group, 3, _I64) for group in _row_groups(packed)))
    limits.require("rows", rows, name=name, of="rows", remedy=_REMEDY)
    limits.require("cells", rows * len(schema), name=name, of="cells", remedy=_REMEDY)
    depth = max((column.path.count(".") for column in schema), default=0)
    limits.require("depth", depth, name=name, of="levels of nesting", remedy="write the column as text")
    if any(column.length > _LONGEST_FIXED for column in schema):
        raise ImportRefused(
            f"{name}: expected text, numbers, dates or lists – found values of a fixed length of over "
            f"{_LONGEST_FIXED} bytes – leave the column out."
        )


def _all_pages(
    packed: bytes, schema: Sequence[Any], name: str, limits: Limits
) -> Iterator[tuple[Any, _Page]]:
    """Yield the header of every page with its column; refuse too many values, and texts as differences."""
    n_values = {False: 0, True: 0}
    for group in _row_groups(packed):
        chunks = [_struct(chunk, 3) for chunk in _structs(group, 1)]
        if len(chunks) != len(schema) or _number(group, 3, _I64) < 0:
            raise _Unsound
        for column, chunk in zip(schema, chunks if _number(group, 3, _I64) else [], strict=False):
            for page in _pages(packed, chunk):
                n_values[page.is_dictionary] += page.values
                of = f"{'entries' if page.is_dictionary else 'cells'}, items of lists counted"
                limits.require("cells", n_values[page.is_dictionary], name=name, of=of, remedy=_REMEDY)
                if page.encoding in _DIFFERENCES:
                    raise ImportRefused(
                        f"{name}: expected texts that are each written out – found texts written as "
                        f"differences from one another, in column {column.path[:60]!r} – write the file "
                        "again in version 1 of Parquet's pages, for example by pandas.DataFrame.to_parquet."
                    )
                yield column, page


def _pages(packed: bytes, chunk: _Fields) -> Iterator[_Page]:
    """Yield the headers of the pages of a column of a row group."""
    at, first = _number(chunk, 9, _I64), _number(chunk, 11, _I64) if 11 in chunk else 0
    at = min(at, first or at)  # a dictionary stands before the data
    end, n_values = at + _number(chunk, 7, _I64), 0
    if not 0 <= at <= end <= len(packed):
        raise _Unsound
    while at < end:
        header = _Compact(packed, at, end)
        fields = header.struct()
        at, kind = header.at + _number(fields, 3, _I32), _number(fields, 1, _I32)
        page = _Page(_number(fields, 2, _I32))
        if kind in _PAGES:
            own, encoding = _struct(fields, _PAGES[kind][0]), _PAGES[kind][1]
            written = _number(own, 1, _I32), _number(own, encoding, _I32)
            page = _Page(page.unpacked, *written, is_dictionary=kind == _DICTIONARY)
        if not header.at <= at <= end or min(page.unpacked, page.values) < 0:
            raise _Unsound
        n_values += 0 if page.is_dictionary else page.values
        yield page
    if n_values < _number(chunk, 5, _I64):
        raise _Unsound  # Arrow would look for more pages behind the last


def _text_bytes(array: Any) -> int:
    """Return the bytes of all texts of an Arrow array when each is written out, in lists and records too."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = array.type
    if pa.types.is_dictionary(kind):
        sizes = pc.binary_length(array.dictionary).take(array.indices)
        return pc.sum(sizes.cast(pa.int64())).as_py() or 0
    if pa.types.is_struct(kind):
        return sum(_text_bytes(part) for part in array.flatten())
    if pa.types.is_map(kind):
        return _text_bytes(array.keys) + _text_bytes(array.items)
    if pa.types.is_nested(kind):
        return _text_bytes(array.flatten())
    if pa.types.is_binary(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return pc.sum(pc.binary_length(array).cast(pa.int64())).as_py() or 0
    return 0


# Thrift ----------------------------------------------------------------------------------------------------


def _row_groups(packed: bytes) -> list[_Fields]:
    """Return the row groups that the footer names."""
    begin = len(packed) - 8 - int.from_bytes(packed[-8:-4], "little")
    if packed[-4:] != b"PAR1" or begin < 4:
        raise _Unsound
    return _structs(_Compact(packed, begin, len(packed) - 8).struct(), 4)


def _structs(fields: Mapping[int, object], name: int) -> list[_Fields]:
    structs = fields.get(name)
    if not isinstance(structs, list) or not all(isinstance(each, dict) for each in structs):
        raise _Unsound
    return structs


def _struct(fields: Mapping[int, object], name: int) -> _Fields:
    struct = fields.get(name)
    if not isinstance(struct, dict):
        raise _Unsound
    return struct


def _number(fields: Mapping[int, object], name: int, kind: int) -> int:
    number = fields.get(name)
    if not isinstance(number, _Number) or number.kind != kind:
        raise _Unsound
    return number.value


class _Compact:
    """A reader of Thrift's compact protocol."""

    def __init__(self, packed: bytes, at: int, end: int) -> None:
        self._packed, self.at, self._end = packed, at, end
        self._items = 0

    def struct(self, level: int = 0) -> _Fields:
        """Return the fields of a struct by their numbers; none may stand twice: Arrow may take the other."""
        fields: _Fields = {}
        name = 0
        for _ in range(_MOST_FIELDS):
            head = self._byte()
            if head == 0:
                return fields
            name = name + (head >> 4) if head >> 4 else self._signed()
            if name in fields or not 0 < name < 2**15:
                raise _Unsound
            fields[name] = self._value(head & 15, level)
        raise _Unsound

    def _value(self, kind: int, level: int) -> object:
        if kind in {_TRUE, _FALSE}:
            return kind == _TRUE
        if kind in _BITS:
            number = self._signed()
            if not -(2 ** _BITS[kind]) <= number < 2 ** _BITS[kind]:
                raise _Unsound  # Arrow cuts it off
            return _Number(kind, number)
        if kind == _STRUCT and level < _MOST_LEVELS:
            return self.struct(level + 1)
        if kind in {_LIST, _SET} and level < _MOST_LEVELS:
            return self._list(level + 1)
        if kind not in {_BYTE, _DOUBLE, _BINARY}:
            raise _Unsound  # Parquet has no maps
        self._skip({_BYTE: 1, _DOUBLE: 8}.get(kind) or self._unsigned())
        return None

    def _list(self, level: int) -> list[object]:
        head = self._byte()
        size, kind = head >> 4, head & 15
        size = self._unsigned() if size == 15 else size
        self._items += size
        if self._items > _MOST_ITEMS:
            raise _Unsound
        # A boolean is in its field's head, but in a list it has a byte.
        return [self._value(_BYTE if kind in {_TRUE, _FALSE} else kind, level) for _ in range(size)]

    def _skip(self, size: int) -> None:
        self.at += size
        if self.at > self._end:
            raise _Unsound

    def _byte(self) -> int:
        self._skip(1)
        return self._packed[self.at - 1]

    def _unsigned(self) -> int:
        """Return a whole number that takes as many bytes as it needs."""
        number = 0
        for shift in range(0, 70, 7):
            byte = self._byte()
            number |= (byte & 127) << shift
            if byte < 128:
                return number
        raise _Unsound

    def _signed(self) -> int:
        number = self._unsigned()
        return (number >> 1) ^ -(number & 1)
