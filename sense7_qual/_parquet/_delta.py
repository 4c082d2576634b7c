"""How many bytes the texts of a page of a Parquet file come to, where each repeats the start of the last one.

In the encoding DELTA_BYTE_ARRAY a value is the number of bytes that it shares with the value before, and the
bytes that follow; so a page of a few kilobytes may stand for gigabytes. The shared lengths stand first in the
page, and they alone are read here.

References
----------
Apache Parquet, Encodings: Delta Encoding (DELTA_BINARY_PACKED = 5), Delta Strings (DELTA_BYTE_ARRAY = 7).
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from sense7_qual._parquet._pages import BadPage, Compact, DeltaPage

__all__ = ["shared_bytes"]

_WIDEST: Final = 32  # bits of the difference of two lengths
_LONGEST: Final = 2**31
_BITS: Final = 1 << np.arange(_WIDEST, dtype=np.int64)


def shared_bytes(packed: bytes, page: DeltaPage, *, codec: str, repeated: bool, optional: bool) -> int:
    """Return how many bytes the values of a page share with those before them, written out.

    `codec` is the compression of the column; `repeated` and `optional` tell whether its values have levels of
    repetition and of definition, which stand before them.
    """
    data = packed[page.at : page.at + page.size]
    if page.levels is None:
        values = _unpacked(data, page.unpacked, codec)
        for has_levels in (repeated, optional):
            if has_levels:
                values = values[4 + int.from_bytes(values[:4], "little") :]
    else:
        rest = data[page.levels :]
        values = _unpacked(rest, page.unpacked - page.levels, codec if page.compressed else "UNCOMPRESSED")
    return _sum_of_packed(values, page.values)


def _unpacked(data: bytes, size: int, codec: str) -> bytes:
    import pyarrow as pa

    if codec == "UNCOMPRESSED" or not data:
        return data
    if size < 0:
        raise BadPage
    values = pa.Codec(codec.lower()).decompress(data, size)
    return bytes(values)


def _sum_of_packed(values: bytes, most: int) -> int:
    """Return the sum of the lengths, at most so many, that stand at the start of `values`."""
    read = Compact(values, 0, len(values))
    block, parts, count, last = read.unsigned(), read.unsigned(), read.unsigned(), read.signed()
    if count > most or not 0 < parts <= block or block % (32 * parts) or not 0 <= last < _LONGEST:
        raise BadPage
    if count == 0:
        return 0
    total, remaining = last, count - 1
    while remaining:
        least, widths = read.signed(), read.take(parts)
        if abs(least) > _LONGEST:
            raise BadPage
        for width in widths:
            n = min(block // parts, remaining)
            lengths = last + np.cumsum(least + _differences(read, width, block // parts, n))
            if n and not (lengths.min() >= 0 and lengths.max() < _LONGEST):
                raise BadPage
            total, last, remaining = (
                total + int(lengths.sum()),
                int(lengths[-1]) if n else last,
                remaining - n,
            )
    return total


def _differences(read: Compact, width: int, size: int, n: int) -> npt.NDArray[np.int64]:
    """Return the first `n` of `size` whole numbers of `width` bits each."""
    if width == 0 or n == 0:
        return np.zeros(n, dtype=np.int64)
    if width > _WIDEST:
        raise BadPage
    bits = np.unpackbits(np.frombuffer(read.take(size * width // 8), dtype=np.uint8), bitorder="little")
    numbers: npt.NDArray[np.int64] = bits.reshape(size, width)[:n].astype(np.int64) @ _BITS[:width]
    return numbers
