"""Where a character of a unit's text stands in the file that it was read from."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from sense7_qual._limits import Limits
from sense7_qual._parquet import row_group_of
from sense7_qual.corpus._columns import canonical, require, unit_ids
from sense7_qual.corpus._formats import DELIMITERS, bytes_of, decoded, read_strings
from sense7_qual.corpus._formats._characters import Located, Offsets, csv_field, json_value
from sense7_qual.corpus._formats._xlsx import text_in_sheet
from sense7_qual.errors import ImportRefused, TableError, did_you_mean

if TYPE_CHECKING:
    import os

__all__ = ["Origin", "byte_offsets", "source_offsets"]

_LINE_END: Final = re.compile(r"\r\n|\r|\n")
_PLAIN: Final = {"utf-8-sig": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}


@dataclass(frozen=True, slots=True, eq=False)
class Origin:
    """Where each code point of a unit's text stands.

    Parameters
    ----------
    part
        What the bytes are counted in: None for the file itself; of a workbook, which is a ZIP, the name of
        the member, such as "xl/sharedStrings.xml", unpacked; of a Parquet file the value, such as "row group
        0, row 17, column Comment" (from 0, as Arrow counts them), in UTF-8.
    starts, ends
        n whole numbers each for the n code points of the text: the byte at which what stands for it begins,
        and the one after it. A span [start, end) of the text stands in the bytes from `starts[start]` to
        `ends[end - 1]`; in a workbook there is markup in between where the text has runs of rich text.
    """

    part: str | None
    starts: Offsets
    ends: Offsets


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
    found = Located.at(text, 0).canonical()
    offsets: Offsets = _bytes_before(packed, text, encoding, 0, len(text))[np.append(found.starts, len(text))]
    return offsets


def source_offsets(
    path: str | os.PathLike[str],
    unit: str,
    *,
    text: str,
    unit_id: str | Sequence[str],
    encoding: str | None = None,
    sheet: str | None = None,
    limits: Limits | None = None,
) -> Origin:
    """Return where each code point of a unit's text stands in the file that it was read from.

    Parameters
    ----------
    path
        The .csv, .tsv, .jsonl (.ndjson), .xlsx or .parquet file, unchanged since it was read.
    unit
        The unit_id of the unit.
    text, unit_id, encoding, sheet, limits
        As they were given to `read`.

    Returns
    -------
    Origin
        The bytes of each code point, as the file spells it: in CSV a quote may be doubled, in JSON and in a
        workbook a character escaped, a line may end in CRLF, which is one LF in the text. Of a Parquet file,
        whose pages are packed, the bytes are those of the value.

    Raises
    ------
    TableError
        There is no such column or no such unit.
    ImportRefused
        The file cannot be read, or what stands in the cell is no text but a number, a date or a list, which
        is not spelled as it is read.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "said.jsonl"
    >>> _ = path.write_text(r'{"id": 1, "Comment": "It said \\"hm\\", no more."}', encoding="utf-8")
    >>> origin = source_offsets(path, "1", text="Comment", unit_id="id")
    >>> path.read_bytes()[origin.starts[8]:origin.ends[11]]
    b'\\\\"hm\\\\"'
    """
    path, limits = Path(path), limits or Limits()
    table = read_strings(path, encoding=encoding, sheet=sheet, limits=limits)
    require(table, text)
    ids = unit_ids(table, [unit_id] if isinstance(unit_id, str) else list(unit_id))
    rows = ids.index[(ids == unit).to_numpy(dtype=bool)]
    if not len(rows):
        raise TableError(
            f"expected a unit {unit!r} in {path.name!r} – found none – {did_you_mean(unit, ids)}"
        )
    row, packed, part = int(rows[0]), bytes_of(path, limits), None
    suffix = path.suffix.casefold()
    if suffix == ".xlsx":
        part, found = text_in_sheet(packed, sheet, path.name, limits, row=row, column=text)
    elif suffix == ".parquet":
        group, place = row_group_of(packed, row, text, path.name)
        part = f"row group {group}, row {place}, column {text}"
        found = _in_utf8(str(table.loc[row, text]))
    else:
        found = _in_text(packed, path, encoding, row, text)
    said = found.canonical()
    if said.text != canonical(str(table.loc[row, text])):
        raise ImportRefused(f"{path.name}: expected the text that was read – found another – read it again.")
    return Origin(part, said.starts, said.ends)


def _in_text(packed: bytes, path: Path, encoding: str | None, line: int, column: str) -> Located:
    """Return the cell of the row that begins in `line`, located by the bytes of the file."""
    whole = decoded(packed, encoding, path.name)
    begin = _line_begin(whole, line)
    delimiter = DELIMITERS.get(path.suffix.casefold())
    if delimiter is None:
        found = json_value(whole, begin, column)
    else:
        # Which field it is, the header tells as it is written: columns without a name are not in the table.
        header = next(row for row in csv.reader(io.StringIO(whole, newline=""), delimiter=delimiter) if row)
        found = csv_field(whole, begin, header.index(column), delimiter)
    if found is None:
        raise ImportRefused(
            f"{path.name}: expected a string under the key in line {line} – found another value, which is "
            "not spelled in the file as it is read – write it as a string."
        )
    first, after = (int(found.starts[0]), int(found.ends[-1])) if found.text else (begin, begin)
    before = _bytes_before(packed, whole, encoding, first, after)
    return Located(found.text, before[found.starts - first], before[found.ends - first])


def _in_utf8(text: str) -> Located:
    before = np.cumsum([0, *(len(character.encode()) for character in text)], dtype=np.int64)
    return Located(text, before[:-1], before[1:])


def _bytes_before(packed: bytes, text: str, encoding: str | None, first: int, after: int) -> Offsets:
    """Return the byte at which each of the code points [first, after) of `text` begins, and the end."""
    codec = codecs.lookup(encoding or _marked(packed)).name
    codec = _PLAIN.get(codec, codec)
    if not codec.startswith("utf-"):
        return _bytes_decoded(packed, codec)[first : after + 1]
    mark = len(packed) - len(text.encode(codec))  # what stands before the text is its byte order mark
    begin = mark + len(text[:first].encode(codec))
    sizes = (len(character.encode(codec)) for character in text[first:after])
    return np.cumsum([begin, *sizes], dtype=np.int64)


def _bytes_decoded(packed: bytes, codec: str) -> Offsets:
    """Return the byte at which each code point begins, and the end, as the codec itself takes the bytes."""
    decoder = codecs.getincrementaldecoder(codec)()
    begins, begin = [], 0
    for at in range(len(packed)):
        found = decoder.decode(packed[at : at + 1], at == len(packed) - 1)
        if found:
            begins.extend([begin] * len(found))
            begin = at + 1
    return np.asarray([*begins, len(packed)], dtype=np.int64)


def _marked(packed: bytes) -> str:
    # UTF-32 stands first because its little-endian mark begins with that of UTF-16.
    if packed[:4] in {b"\xff\xfe\0\0", b"\0\0\xfe\xff"}:
        return "utf-32"
    return "utf-16" if packed[:2] in {b"\xff\xfe", b"\xfe\xff"} else "utf-8"


def _line_begin(text: str, line: int) -> int:
    begin = 0
    for number, found in enumerate(_LINE_END.finditer(text), start=2):
        if number > line:
            break
        begin = found.end()
    return begin
