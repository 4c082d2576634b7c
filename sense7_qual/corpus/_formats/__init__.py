"""Read files from outside into frames of strings, without guessing.

`read_cells` opens CSV, TSV, XLSX, JSONL and Parquet. `read_strings` makes a frame of that, whose cells are
exactly what was written ("None", "NA" and "007" stay as they are) or missing, and whose index says where a
row is in its file. What cannot be read without guessing is refused with `ImportRefused`, and the reason names
lines, cells and columns, never their content.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NoReturn

import pandas as pd

from sense7_qual._limits import Limits, open_file
from sense7_qual._messages import did_you_mean, places
from sense7_qual._parquet import guarded_table
from sense7_qual.corpus._cells import Cells, frame_of
from sense7_qual.corpus._formats._xlsx import read_sheet
from sense7_qual.errors import ImportRefused

__all__ = ["DELIMITERS", "bytes_of", "decoded", "read_cells", "read_parquet", "read_strings"]

DELIMITERS: Final = {".csv": ",", ".tsv": "\t"}
_SEP: Final = re.compile(r'sep=([^"\r\n])(?:\r\n|\r|\n|$)')
_LINES: Final = frozenset({".jsonl", ".ndjson"})
_SUFFIXES: Final = (".csv", ".tsv", ".xlsx", ".jsonl", ".ndjson", ".parquet")
# UTF-32 stands first because its little-endian mark begins with that of UTF-16.
_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
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

    Missing are: a blank cell (CSV, TSV, XLSX), `null` or a key that is not there (JSONL), null and NaN
    (Parquet). Numbers of a workbook or a Parquet file become the shortest decimal ("7", "5.667"), booleans
    TRUE and FALSE, dates ISO 8601; JSONL keeps the spelling of its numbers, and nested values as compact
    JSON. Blank lines and the blank rows of a sheet are left out. What a sheet hides or filters out is read
    like the rest, and a format such as 0000, 0.00 or % is not applied: 12 shown as 0012 is "12". The index,
    named `line` or `row`, says where a row is in the file, from 1.
    """
    limits = limits or Limits()
    return frame_of(read_cells(path, encoding=encoding, sheet=sheet, limits=limits), limits)


def read_cells(
    path: str | os.PathLike[str], *, encoding: str | None, sheet: str | None, limits: Limits
) -> Cells:
    """Return the cells of a data file as its format has them: see `read_strings`."""
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
    packed = bytes_of(path, limits)
    if suffix == ".xlsx":
        return read_sheet(packed, sheet, path.name, limits)
    if suffix == ".parquet":
        return read_parquet(packed, path.name, limits)
    text = decoded(packed, encoding, path.name)
    if suffix in _LINES:
        return _json_lines(text, path.name, limits)
    return _delimited(text, DELIMITERS[suffix], path.name, limits)


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


def _delimited(text: str, delimiter: str, name: str, limits: Limits) -> Cells:
    if "\x00" in text:
        line = text[: text.index("\x00")].count("\n") + 1
        raise ImportRefused(
            f"{name}: expected text – found a NUL character in line {line} – if the file was saved as "
            "UTF-16, "
            'name it: encoding="utf-16-le".'
        )
    first = 1
    if named := _SEP.match(text):  # as Excel writes and takes it: no row
        delimiter, text, first = named[1], text[named.end() :], 2
    lines: list[int] = []
    rows: list[list[str]] = []
    start, cells = first, 0
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        for row in reader:
            if row:  # a blank line; a row of blank cells is [''] or longer
                lines.append(start)
                rows.append(row)
                cells += len(row)
                _require_size(len(rows) - 1, cells, name, limits)
            start = reader.line_num + first
    except csv.Error as error:
        raise ImportRefused(
            f"{name}: expected CSV with each quote doubled or closed – found in the row from line {start}: "
            f"{error} – correct the row; a cell of over {csv.field_size_limit():,} characters needs JSONL or "
            "Parquet."
        ) from None
    header = rows[0] if rows else []
    _refuse_other_delimiter(header, delimiter, name)
    _refuse_ragged(lines, rows, name)
    columns = [list(column) for column in zip(*rows, strict=True)]
    texts = [[cell or None for cell in column[1:]] for column in columns]
    return Cells(header, texts, pd.Index(lines[1:], name="line", dtype="int64"), name)


def _require_size(rows: int, cells: int, name: str, limits: Limits) -> None:
    limits.require("rows", rows, name=name, of="rows", remedy="split the file")
    limits.require("cells", cells, name=name, of="cells", remedy="split the file, or keep fewer columns")


def _refuse_other_delimiter(header: Sequence[str], delimiter: str, name: str) -> None:
    others = [other for other in ",;\t" if other != delimiter and other in header[0]] if header else []
    if len(header) == 1 and others:
        raise ImportRefused(
            f"{name}: expected cells separated by {delimiter!r} – found one column with a header that holds "
            f"{others[0]!r} – save it as .csv with commas or as .tsv with tabs, or pass "
            f"pandas.read_csv(path, sep={others[0]!r}, dtype=str, keep_default_na=False)."
        )


def _refuse_ragged(lines: Sequence[int], rows: Sequence[Sequence[str]], name: str) -> None:
    ragged = [(line, len(row)) for line, row in zip(lines, rows, strict=True) if len(row) != len(rows[0])]
    if ragged:
        where = pd.Index([line for line, _ in ragged], name="line")
        raise ImportRefused(
            f"{name}: expected {len(rows[0])} cells in every row, as in the header – found {ragged[0][1]} in "
            f"line {ragged[0][0]}; other than {len(rows[0])} in {places(where)} – quote the cells that hold "
            "the delimiter, or fill the rows."
        )


class _Number(str):
    """A JSON number in its own spelling."""

    __slots__ = ()


def _json_lines(text: str, name: str, limits: Limits) -> Cells:
    lines: list[int] = []
    rows: list[dict[str, str | None]] = []
    header: dict[str, None] = {}
    for number, line in enumerate(re.split(r"\r\n|\r|\n", text), start=1):
        if line.strip():
            lines.append(number)
            rows.append(_json_row(line, number, name, limits))
            header |= dict.fromkeys(rows[-1])
            _require_size(len(rows), len(rows) * len(header), name, limits)
    columns = [[row.get(key) for row in rows] for key in header]
    return Cells(list(header), columns, pd.Index(lines, name="line", dtype="int64"), name)


def _json_row(line: str, number: int, name: str, limits: Limits) -> dict[str, str | None]:
    values = _json_object(line, number, name)
    try:
        return {key: _json_cell(value, limits.depth) for key, value in values.items()}
    except RecursionError:
        of, remedy = f"levels of nesting in line {number}", "write the column as text"
        raise limits.beyond("depth", name=name, of=of, remedy=remedy) from None


def _json_object(line: str, number: int, name: str) -> dict[str, object]:
    try:
        value = json.loads(
            line,
            parse_int=_Number,
            parse_float=_Number,
            parse_constant=_refuse_constant,
            object_pairs_hook=_without_repeats,
        )
    except json.JSONDecodeError as error:
        reason = f"{error.msg} at character {error.pos + 1}"
    except (ValueError, RecursionError) as error:
        reason = str(error)
    else:
        if isinstance(value, dict):
            return value
        reason = "a value that is not an object"
    raise ImportRefused(
        f"{name}: expected one JSON object per line – found in line {number}: {reason} – correct the line."
    )


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant}, which JSON does not have")


def _without_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    values = dict(pairs)
    if len(values) < len(pairs):
        raise ValueError("a duplicate key in one object")
    return values


def _json_cell(value: object, depth: int) -> str | None:
    return None if value is None else str(value) if isinstance(value, str) else _spelled(value, depth)


def _spelled(value: object, depth: int) -> str:
    """Write a parsed JSON value compactly, its numbers spelled as they were."""
    if isinstance(value, _Number):
        return str(value)
    if isinstance(value, dict | list) and depth < 1:
        raise RecursionError
    if isinstance(value, dict):
        pairs = (f"{_spelled(key, 0)}:{_spelled(item, depth - 1)}" for key, item in value.items())
        return "{" + ",".join(pairs) + "}"
    if isinstance(value, list):
        return "[" + ",".join(_spelled(item, depth - 1) for item in value) + "]"
    return json.dumps(value, ensure_ascii=False)


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
