"""Parquet files of any origin, read only after it is clear how much they unfold to.

A page of a Parquet file may stand for far more than its bytes: one value and a run length, or values that
each repeat most of the last one. So the pages' own headers are read first, with the lengths of what is
repeated; texts are read as a dictionary and places in it, and their length is known before they are written
out.

Nothing less would do: 583 bytes, one row that is one list, take 2.8 GB and more before Arrow gives out a
first batch, so neither batches with a running total nor the size of a file keep a promise of 1 GB. A child
process with a limit of memory would, but takes 0.3 to 0.6 s for each study that is opened, in place of
0.02 s, and has no such limit on Windows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from sense7_qual._limits import Limits
from sense7_qual._parquet._delta import shared_bytes
from sense7_qual._parquet._footer import RowGroup, row_groups
from sense7_qual._parquet._pages import BadPage, Pages, pages_of
from sense7_qual.errors import ImportRefused

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["frame_of_bytes", "guarded_table", "refuse_unfolding"]

_LONGEST_FIXED: Final = 32  # bytes of a decimal of 76 digits; longer fixed values are no table's
_REMEDY: Final = "split the file, or keep fewer columns"


def refuse_unfolding(packed: bytes, name: str, limits: Limits) -> None:
    """Raise `ImportRefused` where a Parquet file is damaged, or would fill the memory when it is read."""
    guarded_table(packed, name, limits)


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
    """Return the Arrow table, its repeated texts as places in a dictionary, after checking its size."""
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
    """Return the Arrow table, its repeated texts as places in a dictionary, after checking its size."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    sizes = {"thrift_string_size_limit": 10_000_000, "thrift_container_size_limit": 1_000_000}
    metadata = pq.read_metadata(pa.BufferReader(packed))
    pages = _require_small(metadata, packed, name, limits)
    texts = [
        metadata.schema.column(i).path
        for i in range(metadata.num_columns)
        if metadata.schema.column(i).physical_type == "BYTE_ARRAY" and pages[i].plain
    ]
    file = pq.ParquetFile(
        pa.BufferReader(packed), read_dictionary=texts, page_checksum_verification=True, **sizes
    )
    table = file.read(use_threads=False)
    if table.num_rows != metadata.num_rows:
        raise BadPage  # Arrow leaves out, unsaid, a page of a kind that it does not know
    table.validate(full=True)
    allowed = limits.unpacked(len(packed))
    setting = "unpacked_bytes" if allowed == limits.unpacked_bytes else "expansion"
    size = sum(_text_bytes(chunk) for column in table.columns for chunk in column.chunks)
    of = f"bytes of text in a file of {len(packed):,} bytes"
    limits.require(setting, size, name=name, of=of, remedy=_REMEDY, allowed=allowed)
    return table


def _require_small(metadata: Any, packed: bytes, name: str, limits: Limits) -> list[Pages]:
    """Refuse what would unpack to too much, by the file's own account and by that of its pages.

    Returns the pages of each column.
    """
    groups = row_groups(packed)
    rows = sum(group.rows for group in groups)
    if any(len(group.chunks) != metadata.num_columns or group.rows < 0 for group in groups):
        raise BadPage
    groups = [group for group in groups if group.rows]  # one of no rows has no pages
    limits.require("rows", max(rows, metadata.num_rows), name=name, of="rows", remedy=_REMEDY)
    cells = max(rows, metadata.num_rows) * metadata.num_columns
    limits.require("cells", cells, name=name, of="cells", remedy=_REMEDY)
    schema = [metadata.schema.column(i) for i in range(metadata.num_columns)]
    depth = max((column.path.count(".") for column in schema), default=0)
    limits.require("depth", depth, name=name, of="levels of nesting", remedy="write the column as text")
    if any(column.length > _LONGEST_FIXED for column in schema):
        raise ImportRefused(
            f"{name}: expected text, numbers, dates or lists – found values of a fixed length of over "
            f"{_LONGEST_FIXED} bytes – leave the column out."
        )
    return _require_small_pages(packed, groups, schema, name, limits)


def _require_small_pages(
    packed: bytes, groups: Sequence[RowGroup], schema: Sequence[Any], name: str, limits: Limits
) -> list[Pages]:
    columns = [[group.chunks[i] for group in groups] for i in range(len(schema))]
    parts = [[pages_of(packed, chunk.at, chunk.size) for chunk in chunks] for chunks in columns]
    pages = [sum(part, Pages(0, 0)) for part in parts]
    total = sum(pages, Pages(0, 0))
    limits.require("cells", total.values, name=name, of="cells, items of lists counted", remedy=_REMEDY)
    allowed = limits.unpacked(len(packed))
    setting = "unpacked_bytes" if allowed == limits.unpacked_bytes else "expansion"
    of = f"bytes of a file of {len(packed):,} bytes when it is unpacked"
    limits.require(setting, total.unpacked, name=name, of=of, remedy=_REMEDY, allowed=allowed)
    # Only now may pages be unpacked.
    shared = sum(
        _shared(packed, part, chunk.codec, column)
        for chunks, row, column in zip(columns, parts, schema, strict=True)
        for chunk, part in zip(chunks, row, strict=True)
    )
    limits.require(setting, total.unpacked + shared, name=name, of=of, remedy=_REMEDY, allowed=allowed)
    return pages


def _shared(packed: bytes, pages: Pages, codec: str, column: Any) -> int:
    """Return the bytes that the texts of a column of a row group repeat of one another."""
    levels = {"repeated": column.max_repetition_level > 0, "optional": column.max_definition_level > 0}
    return sum(shared_bytes(packed, page, codec=codec, **levels) for page in pages.deltas)


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
