"""Parquet files made page by page, whose headers claim what no writer would."""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow as pa

_I32, _I64, _BINARY, _LIST, _STRUCT = 5, 6, 8, 9, 12
_TEXTS, _ZSTD, _PLAIN, _DIFFERENCES, _PLACES = 6, 6, 0, 6, 8
_NOISE = 520_000  # room for more under the same ratio


def entries(path: Path) -> Path:
    """A dictionary of 12 million empty texts, of which ten rows take the first."""
    return _written(path, [_dictionary(48_000_000, 12_000_000), _places(10)], 10)


def dictionary_page(path: Path) -> Path:
    """A dictionary of one text whose page unpacks to 2 GB."""
    return _written(path, [_dictionary(2_000_000_000, 1), _places(10)], 10)


def told_twice(path: Path) -> Path:
    """The same, after which its header says its size once more, smaller and as a number of another kind."""
    page = _dictionary(800_000_000, 1, more=bytes([_I64]) + _signed(2) + _signed(100))
    return _written(path, [page, _places(10)], 10)


def run(path: Path) -> Path:
    """Ten texts whose lengths are one run of two billion equal numbers."""
    count = 2**31 - 1
    lengths = _unsigned(2**30) + _unsigned(1) + _unsigned(count) + _signed(0) + (_signed(0) + b"\0") * 2
    return _written(path, [_data(lengths, 10, _DIFFERENCES)], 10)


def _written(path: Path, pages: list[bytes], rows: int) -> Path:
    body = b"".join(pages)
    places = [(9, _I64, 4 + len(pages[0])), (11, _I64, 4)] if len(pages) > 1 else [(9, _I64, 4)]
    column = _struct(
        (1, _I32, _TEXTS),
        (2, _LIST, (_I32, [_PLAIN])),
        (3, _LIST, (_BINARY, [b"said"])),
        (4, _I32, _ZSTD),
        (5, _I64, rows),
        (6, _I64, 200),
        (7, _I64, len(body)),
        *places,
    )
    group = _struct(
        (1, _LIST, (_STRUCT, [_struct((2, _I64, 4), (3, _STRUCT, column))])), (2, _I64, 200), (3, _I64, rows)
    )
    schema = [
        _struct((4, _BINARY, b"schema"), (5, _I32, 1)),
        _struct((1, _I32, _TEXTS), (3, _I32, 0), (4, _BINARY, b"said"), (6, _I32, 0)),
    ]
    footer = _struct(
        (1, _I32, 2), (2, _LIST, (_STRUCT, schema)), (3, _I64, rows), (4, _LIST, (_STRUCT, [group]))
    )
    noise = random.Random(7).randbytes(_NOISE)
    path.write_bytes(b"PAR1" + body + noise + footer + len(footer).to_bytes(4, "little") + b"PAR1")
    return path


def _dictionary(size: int, n: int, more: bytes = b"") -> bytes:
    frame = bytes(pa.Codec("zstd").compress(bytes(4_000_000)))
    packed = frame * (size // 4_000_000)
    sizes = _struct((1, _I32, 2), (2, _I32, size), (3, _I32, len(packed)))[:-1]
    last = 2 if more else 3
    own = bytes([(7 - last) << 4 | _STRUCT]) + _struct((1, _I32, n), (2, _I32, _PLAIN))
    return sizes + more + own + b"\0" + packed


def _places(n: int) -> bytes:
    """Return a page in which each of `n` texts is the first of the dictionary."""
    return _data(b"\x01" + _unsigned(n << 1) + b"\0", n, _PLACES)


def _data(values: bytes, n: int, encoding: int) -> bytes:
    packed = bytes(pa.Codec("zstd").compress(values))
    own = _struct((1, _I32, n), (2, _I32, encoding), (3, _I32, 3), (4, _I32, 3))
    return _struct((1, _I32, 0), (2, _I32, len(values)), (3, _I32, len(packed)), (5, _STRUCT, own)) + packed


def _struct(*fields: tuple[int, int, object]) -> bytes:
    """Return a struct in Thrift's compact protocol: of each field the number, the kind and the value."""
    packed, last = b"", 0
    for number, kind, value in fields:
        packed += bytes([(number - last) << 4 | kind]) + _value(kind, value)
        last = number
    return packed + b"\0"


def _value(kind: int, value: object) -> bytes:
    if isinstance(value, int):
        return _signed(value)
    if isinstance(value, tuple):
        of, items = value
        return bytes([len(items) << 4 | of]) + b"".join(_value(of, item) for item in items)
    assert isinstance(value, bytes)
    return _unsigned(len(value)) + value if kind == _BINARY else value


def _unsigned(number: int) -> bytes:
    packed = b""
    while number > 127:
        packed += bytes([number & 127 | 128])
        number >>= 7
    return packed + bytes([number])


def _signed(number: int) -> bytes:
    return _unsigned(number << 1)
