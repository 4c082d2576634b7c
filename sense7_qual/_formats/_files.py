"""Read files from outside into frames of strings, without guessing.

`read_cells` opens CSV, TSV, XLSX, JSON, JSONL and Parquet. `read_strings` makes a frame of that, whose cells
are exactly what was written ("None", "NA" and "007" stay as they are) or missing, and whose index says where
a row is in its file. What cannot be read without guessing is refused with `ImportRefused`, and the reason
names lines, cells and columns, never their content.
"""

from __future__ import annotations

import codecs
import os
from pathlib import Path
from typing import Any, Final

import pandas as pd

from sense7_qual._formats._cells import Cells, frame_of
from sense7_qual._formats._delimited import read_delimited
from sense7_qual._formats._json import read_json, read_json_lines
from sense7_qual._formats._xlsx import read_sheet
from sense7_qual._limits import Limits, open_file
from sense7_qual._messages import did_you_mean
from sense7_qual._parquet import guarded_table
from sense7_qual.errors import ImportRefused

_LINES: Final = frozenset({".jsonl", ".ndjson"})
_SUFFIXES: Final = (".csv", ".tsv", ".xlsx", ".json", ".jsonl", ".ndjson", ".parquet")
# UTF-32 stands first because its little-endian mark begins with that of UTF-16.
_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_NO_TEXT: Final = {b"PK\x03\x04": "an Excel workbook (.xlsx) or another archive", b"PAR1": "a Parquet file"}
# What survey tools and spreadsheets write where they do not write UTF-8, the most usual first.
_ENCODINGS: Final = (
    *("cp1252", "mac_roman", "cp1250", "cp1251", "cp1254", "cp1253", "cp1255", "cp1256", "cp1257"),
    *("shift_jis", "euc_jp", "gb18030", "big5", "euc_kr"),
)


# Codecs of Python that spell a text rather than encode one; some warn, and quote it.
_NO_ENCODINGS: Final = frozenset({"unicode-escape", "raw-unicode-escape", "idna", "punycode", "undefined"})


def read_strings(
    path: str | os.PathLike[str],
    *,
    encoding: str | None = None,
    sheet: str | None = None,
    limits: Limits | None = None,
) -> pd.DataFrame:
    """Read a data file into a frame whose cells are strings exactly as written, or missing.

    Missing are: a blank cell (CSV, TSV, XLSX), `null` or a key that is not there (JSON), null and NaN
    (Parquet). Numbers of a workbook or a Parquet file become the shortest decimal ("7", "5.667"), booleans
    TRUE and FALSE, dates ISO 8601; JSON keeps the spelling of its numbers, and nested values as compact
    JSON. Blank lines and the blank rows of a sheet are left out. What a sheet hides or filters out is read
    like the rest, and a format such as 0000, 0.00 or % is not applied: 12 shown as 0012 is "12". The index,
    named `line` or `row`, says where a row is in the file, from 1.
    """
    limits = limits or Limits()
    return frame_of(read_cells(path, encoding=encoding, sheet=sheet, limits=limits), limits)


def read_cells(
    path: str | os.PathLike[str],
    *,
    encoding: str | None,
    sheet: str | None,
    limits: Limits,
    delimiter: str | None = None,
    top: int = 1,
) -> Cells:
    """Return the cells of a data file as its format has them, from line `top` on: see `read_strings`."""
    path = Path(path)
    suffix = path.suffix.casefold()
    if suffix not in _SUFFIXES:
        raise ImportRefused(
            f"expected a file of {', '.join(_SUFFIXES)} – found {path.name!r} – save it as one of these "
            "(from Excel: .xlsx, or CSV UTF-8), or read it yourself and pass the DataFrame."
        )
    if sheet is not None and suffix != ".xlsx":
        raise ImportRefused(f"expected no sheet for {path.name!r} – found {sheet!r} – leave it out.")
    if encoding is not None and suffix in {".xlsx", ".parquet"}:
        raise ImportRefused(f"expected no encoding for {path.name!r} – found {encoding!r} – leave it out.")
    if delimiter is not None and suffix not in {".csv", ".tsv"}:
        raise ImportRefused(f"expected no delimiter for {path.name!r} – found {delimiter!r} – leave it out.")
    packed = bytes_of(path, limits)
    if suffix == ".xlsx":
        return read_sheet(packed, sheet, path.name, limits)
    if suffix == ".parquet":
        return read_parquet(packed, path.name, limits)
    text = decoded(packed, encoding, path.name)
    if suffix == ".json":
        return read_json(text, path.name, limits)
    if suffix in _LINES:
        return read_json_lines(text, path.name, limits)
    return read_delimited(text, delimiter, top, path.name, limits)


# Bytes and text


def bytes_of(path: Path, limits: Limits) -> bytes:
    """Return the bytes of a file that is there, is a file, and is not too large."""
    try:
        with open_file(path) as file:
            size = os.fstat(file.fileno()).st_size
            limits.require("file_bytes", size, name=path.name, of="bytes", remedy="split the file")
            return file.read(size)
    except FileNotFoundError:
        near = [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []
        raise ImportRefused(
            f"expected a file {str(path)!r} – found none – {did_you_mean(path.name, near)}"
        ) from None
    except OSError as error:
        raise ImportRefused(
            f"{str(path)!r} cannot be read ({error.strerror}) – check the path and its permissions."
        ) from None


def decoded(packed: bytes, encoding: str | None, name: str) -> str:
    """Return the text of a file in the encoding named, or marked in it, or UTF-8; its marks are removed."""
    if found := next((what for mark, what in _NO_TEXT.items() if packed.startswith(mark)), None):
        raise ImportRefused(f"{name}: expected text, as its name says – found {found} – rename it.")
    marked = next((known for mark, known in _BOMS if packed.startswith(mark)), "utf-8")
    try:
        if codecs.lookup(encoding or marked).name in _NO_ENCODINGS:
            raise LookupError
        text = packed.decode(encoding or marked)
    except LookupError:
        raise ImportRefused(
            f"{name}: expected a text encoding that Python knows – found {encoding!r} – use its usual name, "
            "such as 'cp1252', 'utf-16' or 'shift_jis'."
        ) from None
    except UnicodeError as error:
        # The original error carries the bytes, which are somebody's text: it must not travel along.
        at = getattr(error, "start", 0)
        raise ImportRefused(_undecodable(packed, at, encoding or marked, name)) from None
    return text.lstrip("\ufeff")


def _undecodable(packed: bytes, at: int, encoding: str, name: str) -> str:
    line = packed[:at].decode(encoding, errors="ignore").count("\n") + 1
    fits = ", ".join(repr(known) for known in _likely_encodings(packed))
    like = f"; the bytes would fit {fits}" if fits else ""
    return (
        f"{name}: expected {encoding} text – found a byte that is not at offset {at}, line {line}{like} – "
        'find out how the file was saved and name it: encoding="…"; nothing is replaced or left out.'
    )


def _likely_encodings(packed: bytes) -> list[str]:
    from charset_normalizer import from_bytes

    telling = b"\n".join(line for line in packed.splitlines() if not line.isascii())[:200_000]
    fits = [
        (match.chaos, -match.coherence, _ENCODINGS.index(known), known)
        for match in from_bytes(telling, cp_isolation=list(_ENCODINGS))
        for known in match.could_be_from_charset
        if known in _ENCODINGS
    ]
    return [known for *_, known in sorted(fits)][:3]


def read_parquet(packed: bytes, name: str, limits: Limits) -> Cells:
    """Read a Parquet file, given as bytes; rows are counted from 1."""
    import pyarrow as pa

    table = guarded_table(packed, name, limits)
    try:
        columns = [[cell for chunk in column.chunks for cell in _cells(chunk)] for column in table.columns]
    except (pa.ArrowException, UnicodeError, ValueError, OverflowError, MemoryError):
        raise ImportRefused(
            f"{name}: expected a Parquet file – found cells that cannot be read – write the file again."
        ) from None
    rows = len(columns[0]) if columns else 0
    return Cells(table.column_names, columns, pd.RangeIndex(1, rows + 1, name="row"), name)


def _cells(array: Any) -> list[object]:
    import pyarrow as pa

    if pa.types.is_dictionary(array.type):
        words = array.dictionary.to_pylist()
        return [None if place is None else words[place] for place in array.indices.to_pylist()]
    if pa.types.is_float32(array.type) or pa.types.is_float16(array.type):
        # to_pylist would widen 5.667 to 5.666999816894531.
        return list(array.to_numpy(zero_copy_only=False))
    cells: list[object] = array.to_pylist()
    return cells
