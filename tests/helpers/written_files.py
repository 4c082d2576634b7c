"""Tables written as files of each kind, and workbooks made by hand."""

from __future__ import annotations

import csv
import io
import json
import random
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from openpyxl import Workbook

from tests.helpers import parquet_pages


def write_xlsx(path: Path, rows: list[list[object]], *, sheet: str = "Sheet1") -> Path:
    book = Workbook()
    fill_sheet(book.active, rows)
    book.active.title = sheet
    book.save(path)
    return path


def fill_sheet(sheet, rows: list[list[object]]) -> None:
    for number, row in enumerate(rows, start=1):
        for column, value in enumerate(row, start=1):
            cell = sheet.cell(number, column, None if isinstance(value, str) else value)
            if isinstance(value, str):  # also "=1+1" as the text that it is
                cell._value, cell.data_type = value, "s"


def write_table(path: Path, header: list[str], rows: list[list[str]]) -> Path:
    """Write rows of texts with the format's own ordinary writer."""
    suffix = path.suffix
    if suffix in {".csv", ".tsv"}:
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, delimiter="," if suffix == ".csv" else "\t", quoting=csv.QUOTE_ALL)
            writer.writerows([header, *rows])
    elif suffix == ".xlsx":
        write_xlsx(path, [header, *rows])
    elif suffix == ".jsonl":
        lines = [json.dumps(dict(zip(header, row, strict=True)), ensure_ascii=False) for row in rows]
        path.write_text("\n".join(lines), encoding="utf-8", newline="")
    else:
        pq.write_table(pa.table({name: [row[i] for row in rows] for i, name in enumerate(header)}), path)
    return path


MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


TYPE_OF_STRINGS = "application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"


SHEET, STRINGS = "xl/worksheets/sheet1.xml", "xl/sharedStrings.xml"


def workbook(path: Path, noise: int = 520_000, **parts: bytes) -> Path:
    """Write a workbook whose parts `sheet`, `strings`, `styles` are these bytes."""
    names = {"sheet": SHEET, "strings": STRINGS, "styles": "xl/styles.xml"}
    write_xlsx(path, [["id", "said"], ["1", "x"]])
    with zipfile.ZipFile(path) as archive:
        members = {info.filename: archive.read(info) for info in archive.infolist()}
    members |= {names[part]: content for part, content in parts.items()}
    strings = f'<Override PartName="/{STRINGS}" ContentType="{TYPE_OF_STRINGS}"/></Types>'.encode()
    members["[Content_Types].xml"] = members["[Content_Types].xml"].replace(b"</Types>", strings)
    members.setdefault(STRINGS, strings_of(b""))
    members["xl/media/noise.bin"] = random.Random(7).randbytes(noise)  # room for more under the same ratio
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def sheet_of(rows: bytes) -> bytes:
    return b'<worksheet xmlns="%s"><sheetData>%s</sheetData></worksheet>' % (MAIN.encode(), rows)


def strings_of(items: bytes) -> bytes:
    return b'<sst xmlns="%s">%s</sst>' % (MAIN.encode(), items)


def references(path: Path) -> Path:
    """One string of 32,000 characters, with an escape in it, in half a million cells: 16 GB written out."""
    row = b"<row>" + b'<c t="s"><v>0</v></c>' * 100 + b"</row>"
    head = b'<row><c t="s"><v>1</v></c></row>'
    text = b"<si><t>_x000D_" + b"a" * 32_000 + b"</t></si><si><t>a</t></si>"
    return workbook(path, sheet=sheet_of(head + row * 5_000), strings=strings_of(text))


def many_shared_strings(path: Path) -> Path:
    return workbook(path, strings=strings_of(b"<si/>" * 10_000_000))


def rich_text(path: Path) -> Path:
    return workbook(path, strings=strings_of(b"<si>" + b"<r/>" * 12_000_000 + b"</si>"))


def laughs(path: Path) -> Path:
    lines = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10 if i else "ha"}">' for i in range(10))
    return workbook(path, strings=f"<!DOCTYPE sst [{lines}]>".encode() + strings_of(b"<si><t>&e9;</t></si>"))


def deep(path: Path) -> Path:
    return workbook(path, styles=b"<a>" * 7_000_000 + b"</a>" * 7_000_000)


def wide_styles(path: Path) -> Path:
    return workbook(path, styles=b'<styleSheet xmlns="%s">' % MAIN.encode() + b"<xf/>" * 10_000_000)


def below_the_limits(path: Path) -> Path:
    """Many shared strings, and nearly as many styles as are let through."""
    styles = b'<styleSheet xmlns="%s"><cellXfs>%s</cellXfs></styleSheet>' % (
        MAIN.encode(),
        b"<xf/>" * 290_000,
    )
    return workbook(path, strings=strings_of(b"<si/>" * 700_000), styles=styles)


def far_cells(path: Path) -> Path:
    """Every row has one cell, in Excel's last column."""
    rows = b"".join(b'<row r="%d"><c r="XFD%d"><v>1</v></c></row>' % (n, n) for n in range(1, 1_000))
    return workbook(path, sheet=sheet_of(rows))


def far_row(path: Path) -> Path:
    return workbook(path, sheet=sheet_of(b'<row r="1"><c><v>1</v></c></row><row r="2000000000"><c/></row>'))


def one_row(path: Path) -> Path:
    return workbook(path, sheet=sheet_of(b"<row>" + b"<c/>" * 12_000_000 + b"</row>"))


def long_text(path: Path) -> Path:
    text = b"<row><c t='inlineStr'><is><t>" + b"a" * 50_000_000 + "😀".encode() + b"</t></is></c></row>"
    return workbook(path, sheet=sheet_of(text))


def wrong_root(path: Path) -> Path:
    """Shared strings where the sheet should be: no reader clears them away."""
    return workbook(path, sheet=strings_of(b"<si/>" * 10_000_000))


def zeros(path: Path) -> Path:
    workbook(path, noise=100_000)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/media/zeros.bin", bytes(400_000_000))
    return path


def members(path: Path) -> Path:
    workbook(path, noise=1)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        for number in range(4_000):
            archive.writestr(f"m{number}", b"")
    return path


def overlapping(path: Path) -> Path:
    """The directory names one packed megabyte many times over."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    content = bytes(900_000)
    packed = packer.compress(content) + packer.flush()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a", content)
        entry = archive.infolist()[0]
        for number in range(400):
            twin = zipfile.ZipInfo(f"b{number}")
            twin.header_offset, twin.CRC, twin.compress_type = 0, entry.CRC, zipfile.ZIP_DEFLATED
            twin.compress_size, twin.file_size = len(packed), 20_000
            archive.filelist.append(twin)
            archive.NameToInfo[twin.filename] = twin
    path.write_bytes(buffer.getvalue())
    return path


def dictionary(path: Path) -> Path:
    """One text of 100,000 characters, a million times: the pages hold it once and a run length."""
    text = pa.DictionaryArray.from_arrays(pa.array([0] * 1_000_000, pa.int32()), pa.array(["y" * 100_000]))
    pq.write_table(pa.table({"said": text}), path, compression="zstd")
    return path


def nested_dictionary(path: Path) -> Path:
    items = pa.DictionaryArray.from_arrays(pa.array([0] * 1_000_000, pa.int32()), pa.array(["y" * 100_000]))
    pq.write_table(pa.table({"said": pa.ListArray.from_arrays([0, 1_000_000], items)}), path)
    return path


def long_list(path: Path) -> Path:
    """One row, one list of 60 million equal numbers."""
    offsets = pa.array([0, 60_000_000], pa.int64())
    column = pa.LargeListArray.from_arrays(offsets, pa.nulls(60_000_000, pa.int8()))
    pq.write_table(pa.table({"said": column}), path, compression="zstd")
    return path


def prefixes(path: Path) -> Path:
    """Every text repeats all of the one before."""
    return delta(path, ["y" * 20_000] * 20_000, "1.0")


def longer_prefixes(path: Path) -> Path:
    """Every text repeats the one before and adds to it, in pages of the second version."""
    return delta(path, ["y" * n for n in range(40_000)], "2.0")


def delta(path: Path, texts: list[str], version: str) -> Path:
    pq.write_table(
        pa.table({"said": texts}),
        path,
        use_dictionary=False,
        column_encoding={"said": "DELTA_BYTE_ARRAY"},
        compression="zstd",
        data_page_version=version,
        data_page_size=1 << 30,
    )
    return path


def fixed(path: Path) -> Path:
    wide = pa.array([b"y" * 50_000], pa.binary(50_000))
    column = pa.DictionaryArray.from_arrays(pa.array([0] * 5_000, pa.int32()), wide)
    pq.write_table(pa.table({"said": column.cast(pa.binary(50_000))}), path, compression="zstd")
    return path


BOMBS: dict[str, tuple[Callable[[Path], Path], str]] = {
    "references.xlsx": (references, r"characters of text .*\(limits.expansion\)"),
    "many.xlsx": (many_shared_strings, r"cells or shared strings \(limits.cells\)"),
    "rich.xlsx": (rich_text, "more than 40,000 XML elements in one cell"),
    "laughs.xlsx": (laughs, "XML that declares entities"),
    "deep.xlsx": (deep, r"at most 64 levels of XML \(limits.depth\)"),
    "styles.xlsx": (wide_styles, r"XML elements outside the cells \(limits.elements\)"),
    "below.xlsx": (below_the_limits, r"read \(1, 2\)|limits|damaged"),
    "far.xlsx": (far_cells, r"\(limits.cells\)"),
    "row.xlsx": (far_row, r"\(limits.cells\)"),
    "one.xlsx": (one_row, "more than 16,384 cells in one row"),
    "long.xlsx": (long_text, r"1,000,000 characters in a cell \(limits.cell_characters\)"),
    "root.xlsx": (wrong_root, r"\(limits.cells\)"),
    "zeros.xlsx": (zeros, r"when it is unpacked \(limits.expansion\)"),
    "members.xlsx": (members, r"at most 2,000 files inside a workbook \(limits.members\)"),
    "overlap.xlsx": (overlapping, "overlap or share a name"),
    "dictionary.parquet": (dictionary, r"bytes of text .*\(limits.expansion\)"),
    "nested.parquet": (nested_dictionary, r"bytes of text .*\(limits.expansion\)"),
    "list.parquet": (long_list, r"cells, items of lists counted \(limits.cells\)"),
    "prefixes.parquet": (prefixes, "found texts written as differences from one another, in column 'said'"),
    "longer.parquet": (longer_prefixes, "found texts written as differences from one another"),
    "run.parquet": (parquet_pages.run, "found texts written as differences from one another"),
    "entries.parquet": (parquet_pages.entries, r"entries, items of lists counted \(limits.cells\)"),
    "page.parquet": (parquet_pages.dictionary_page, r"when it is unpacked \(limits.expansion\)"),
    "twice.parquet": (parquet_pages.told_twice, "found a damaged one"),
    "fixed.parquet": (fixed, "values of a fixed length of over 32 bytes"),
}
