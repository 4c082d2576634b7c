"""Where a character of a unit's text stands in the file that it was read from."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from sense7_qual.columns import canonical, require, unit_ids
from sense7_qual.errors import ImportRefused, TableError, did_you_mean
from sense7_qual.files import DELIMITERS, bytes_of, decoded, read_strings
from sense7_qual.limits import Limits

if TYPE_CHECKING:
    import os

__all__ = ["byte_offsets", "source_offsets"]

Offsets = npt.NDArray[np.int64]

_RETURN: Final = re.compile("\r\n?")


def byte_offsets(packed: bytes, *, encoding: str | None = None) -> Offsets:
    """Return where each code point of a text's canonical form stands in the bytes that it was read from.

    Parameters
    ----------
    packed
        The bytes of one text, such as those of a .txt file.
    encoding
        Without it the text must be UTF-8, or carry a byte order mark.

    Returns
    -------
    numpy.ndarray
        n + 1 whole numbers for the n code points of `canonical` of the text, rising: the byte at which each
        begins, and last the byte at which the text ends. A span [start, end) of the canonical text is
        `packed[offsets[start]:offsets[end]]`. Of CRLF, which is one LF in the canonical form, the offset is
        that of the CR.

    Raises
    ------
    ImportRefused
        The bytes are not text in the encoding, or the text holds NUL.

    Examples
    --------
    >>> packed = "\\ufeffAch 😀\\r\\nso".encode()
    >>> offsets = byte_offsets(packed)
    >>> offsets.tolist()
    [3, 4, 5, 6, 7, 11, 13, 14, 15]
    >>> packed[offsets[4]:offsets[5]].decode()
    '😀'
    """
    text = decoded(packed, encoding, "the text")
    canonical(text)
    kept, after = _canonical_places(text)
    offsets: Offsets = _bytes_before(packed, text, encoding)[np.append(kept, after)]
    return offsets


def source_offsets(
    path: str | os.PathLike[str],
    unit: str,
    *,
    text: str,
    unit_id: str | Sequence[str],
    encoding: str | None = None,
    limits: Limits | None = None,
) -> Offsets:
    """Return where each code point of a unit's text stands in the CSV or TSV file that it was read from.

    Parameters
    ----------
    path
        The .csv or .tsv file, unchanged since it was read.
    unit
        The unit_id of the unit.
    text, unit_id, encoding, limits
        As they were given to `read`.

    Returns
    -------
    numpy.ndarray
        As of `byte_offsets`, counted from the start of the file. Of a doubled quote, which is one quote in
        the text, the offset is that of the first.

    Raises
    ------
    TableError
        There is no such column or no such unit.
    ImportRefused
        The file is neither CSV nor TSV (what stands in a workbook or a Parquet file is packed, and has no
        byte of its own), or cannot be read.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "said.csv"
    >>> _ = path.write_text('id,Comment\\n1,"It said ""hm"", no more."\\n', encoding="utf-8")
    >>> offsets = source_offsets(path, "1", text="Comment", unit_id="id")
    >>> path.read_bytes()[offsets[8]:offsets[12]]
    b'""hm""'
    """
    path, limits = Path(path), limits or Limits()
    delimiter = DELIMITERS.get(path.suffix.casefold())
    if delimiter is None:
        raise ImportRefused(
            f"expected a file of {', '.join(DELIMITERS)} – found {path.name!r} – its texts are packed or "
            "escaped, and have no bytes of their own; the row of the unit is all that can be told."
        )
    table = read_strings(path, encoding=encoding, limits=limits)
    require(table, text)
    ids = unit_ids(table, [unit_id] if isinstance(unit_id, str) else list(unit_id))
    lines = ids.index[(ids == unit).to_numpy(dtype=bool)]
    if not len(lines):
        raise TableError(
            f"expected a unit {unit!r} in {path.name!r} – found none – {did_you_mean(unit, ids)}"
        )
    packed = bytes_of(path, limits)
    whole = decoded(packed, encoding, path.name)
    begin = _line_starts(whole)[int(lines[0]) - 1]
    # Which field it is, the header tells as it is written: columns without a name are not in the table.
    header = next(row for row in csv.reader(io.StringIO(whole, newline=""), delimiter=delimiter) if row)
    cell, places, end = _field(whole, begin, header.index(text), delimiter)
    kept, after = _canonical_places(cell)
    if canonical(cell) != canonical(str(table.loc[lines[0], text])):
        raise ImportRefused(f"{path.name}: expected the text that was read – found another – read it again.")
    where = np.append(np.asarray(places, dtype=np.int64), end)
    offsets: Offsets = _bytes_before(packed, whole, encoding)[where[np.append(kept, after)]]
    return offsets


def _canonical_places(text: str) -> tuple[Offsets, int]:
    """Return the place in `text` of each code point of its canonical form, and the place of its end."""
    begin = len(text) - len(text.lstrip("\ufeff"))
    places = np.arange(begin, len(text), dtype=np.int64)
    dropped = [found.end() - 1 for found in _RETURN.finditer(text) if len(found[0]) == 2]
    return np.delete(places, np.asarray(dropped, dtype=np.int64) - begin), len(text)


def _bytes_before(packed: bytes, text: str, encoding: str | None) -> Offsets:
    """Return the byte at which each code point of `text` begins in `packed`, and the byte of the end."""
    name = encoding or _marked(packed)
    wide = {"utf-16": "utf-16-le", "utf-32": "utf-32-le"}.get(name.casefold().replace("_", "-"), name)
    sizes = [len(character.encode(wide)) for character in dict.fromkeys(text)]
    size_of = dict(zip(dict.fromkeys(text), sizes, strict=True))
    ends = np.cumsum([0, *(size_of[character] for character in text)], dtype=np.int64)
    found: Offsets = ends + (len(packed) - ends[-1])  # what stands before the text is its byte order mark
    return found


def _marked(packed: bytes) -> str:
    # UTF-32 stands first because its little-endian mark begins with that of UTF-16.
    if packed[:4] in {b"\xff\xfe\0\0", b"\0\0\xfe\xff"}:
        return "utf-32"
    return "utf-16" if packed[:2] in {b"\xff\xfe", b"\xfe\xff"} else "utf-8"


def _line_starts(text: str) -> list[int]:
    return [0, *(found.end() for found in re.finditer(r"\r\n|\r|\n", text))]


def _field(text: str, at: int, number: int, delimiter: str) -> tuple[str, list[int], int]:
    """Return a field of the CSV row that begins at `at`: its text, where each character stands, its end."""
    while True:
        quoted = text[at : at + 1] == '"'
        at += quoted
        places: list[int] = []
        while at < len(text):
            character = text[at]
            if quoted and character == '"':
                if text[at + 1 : at + 2] != '"':
                    break
                places.append(at)
                at += 2
                continue
            if not quoted and character in (delimiter, "\r", "\n"):
                break
            places.append(at)
            at += 1
        if number == 0:
            return "".join(text[place] for place in places), places, at
        number -= 1
        at += 1 + quoted
