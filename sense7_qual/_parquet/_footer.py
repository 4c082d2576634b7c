"""The footer of a Parquet file: where each column of each row group stands, and how it is packed.

Arrow reads it too, but ends the process, where it should raise an error, on some footers that are not sound
(histograms of levels that do not fit the column, for one). So what is needed is read here.

References
----------
Apache Parquet, `parquet.thrift` (FileMetaData, RowGroup, ColumnChunk, ColumnMetaData, CompressionCodec).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sense7_qual._parquet._pages import BadPage, Compact, Fields, number_in

__all__ = ["Chunk", "RowGroup", "row_groups"]

_CODECS: Final = ("UNCOMPRESSED", "SNAPPY", "GZIP", "LZO", "BROTLI", "LZ4", "ZSTD", "LZ4_RAW")


@dataclass(frozen=True, slots=True)
class Chunk:
    """A column of a row group: where its pages begin, how many bytes they have, and how they are packed."""

    at: int
    size: int
    codec: str


@dataclass(frozen=True, slots=True)
class RowGroup:
    """How many rows a row group has, and its columns in the order of the schema."""

    rows: int
    chunks: tuple[Chunk, ...]


def row_groups(packed: bytes) -> list[RowGroup]:
    """Return the row groups of a Parquet file."""
    begin = len(packed) - 8 - int.from_bytes(packed[-8:-4], "little")
    if packed[-4:] != b"PAR1" or begin < 4:
        raise BadPage
    footer = Compact(packed, begin, len(packed) - 8).struct()
    return [
        RowGroup(number_in(group, 3), tuple(_chunk(chunk) for chunk in _structs(group, 1)))
        for group in _structs(footer, 4)
    ]


def _structs(fields: Fields, name: int) -> list[Fields]:
    structs = fields.get(name)
    if not isinstance(structs, list) or not all(isinstance(each, dict) for each in structs):
        raise BadPage
    return structs


def _chunk(fields: Fields) -> Chunk:
    metadata = fields.get(3)
    if not isinstance(metadata, dict):
        raise BadPage
    codec, places = number_in(metadata, 4), [number_in(metadata, 9)]
    if isinstance(first := metadata.get(11), int) and first:
        places.append(first)  # a dictionary stands before the data
    if not 0 <= codec < len(_CODECS):
        raise BadPage
    return Chunk(min(places), number_in(metadata, 7), _CODECS[codec])
