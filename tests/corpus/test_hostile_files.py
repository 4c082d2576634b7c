"""Files made to fill the memory or to lose rows: refused, with the setting named, under 1 GB.

Each bomb is at most 600 kB. One child process reads them all, and the most that it held for each is taken
from the kernel (VmHWM, set back before each).
"""

from __future__ import annotations

import io
import json
import random
import re
import subprocess
import sys
import time
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sense7_qual import corpus
from sense7_qual._limits import Limits
from sense7_qual.corpus._formats import read_strings
from sense7_qual.errors import ImportRefused, TableError
from tests.corpus.test_formats import write_xlsx
from tests.helpers.places import ROOT

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
    "styles.xlsx": (wide_styles, r"XML elements beside the cells \(limits.elements\)"),
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
    "list.parquet": (long_list, r"items of lists counted \(limits.cells\)"),
    "prefixes.parquet": (prefixes, r"when it is unpacked \(limits.expansion\)"),
    "longer.parquet": (longer_prefixes, r"when it is unpacked \(limits.expansion\)"),
    "fixed.parquet": (fixed, "values of a fixed length of over 32 bytes"),
}

READ_EACH = """
import gc, json, sys, time
from pathlib import Path
from sense7_qual.errors import ImportRefused
from sense7_qual.corpus._formats import read_strings

found = {}
for name in sys.argv[1:]:
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")
    start = time.perf_counter()
    try:
        said = f"read {read_strings(name).shape}"
    except ImportRefused as refused:
        said = str(refused)
    status = Path("/proc/self/status").read_text()
    peak = int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1])
    found[Path(name).name] = said, peak / 1000, time.perf_counter() - start
print(json.dumps(found))
"""


@pytest.mark.crash
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="no /proc to read the memory from")
def test_every_bomb_is_refused_under_a_gigabyte(tmp_path: Path) -> None:
    paths = [make(tmp_path / name) for name, (make, _) in BOMBS.items()]
    assert {path.name: path.stat().st_size for path in paths if path.stat().st_size > 600_000} == {}
    done = subprocess.run(
        [sys.executable, "-c", READ_EACH, *map(str, paths)],
        check=True, capture_output=True, text=True, timeout=300, cwd=ROOT,
    )  # fmt: skip
    for name, (said, megabytes, seconds) in json.loads(done.stdout).items():
        print(f"{name:20s} {megabytes:6.0f} MB {seconds:5.1f} s  {said}")
        assert re.search(BOMBS[name][1], said), (name, said)
        assert megabytes < 1_000, name


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        (b'<row r="3"><c><v>1</v></c></row><row r="2"><c><v>2</v></c></row>', "not in order"),
        (b'<row r="2"><c r="B2"><v>1</v></c><c r="A2"><v>2</v></c></row>', "not in order"),
        (b'<row r="x"/>', "without a place"),
        (b'<row><c r="3"/></row>', "not in order"),
    ],
)
def test_rows_that_a_reader_would_drop_are_refused(tmp_path: Path, rows: bytes, found: str) -> None:
    """openpyxl leaves out a row or cell that stands before one that it has read."""
    with pytest.raises(ImportRefused, match=found):
        read_strings(workbook(tmp_path / "a.xlsx", sheet=sheet_of(rows)))


def test_a_part_in_an_encoding_that_only_some_read_is_refused(tmp_path: Path) -> None:
    styles = '<?xml version="1.0" encoding="cp500"?><a/>'.encode("cp500")
    odd = b'<?xml version="1.0" encoding="windows-31j"?><a/>'
    for part in (odd, styles):
        with pytest.raises(ImportRefused):
            read_strings(workbook(tmp_path / "a.xlsx", styles=part))


def test_limits_are_numbers_and_each_is_named_with_what_to_do(tmp_path: Path) -> None:
    for wrong in (0, True, 1.5, "9"):
        with pytest.raises(TableError, match="a whole number above 0 for rows"):
            Limits(rows=wrong)  # type: ignore[arg-type]
    for name, content in (("a.csv", "a,b\n1,2\n3,4\n"), ("a.jsonl", '{"a": 1, "b": "xy"}\n' * 2)):
        path = tmp_path / name
        path.write_text(content, encoding="utf-8")
        for setting, limit, found in (("rows", 1, 2), ("cells", 2, 4), ("file_bytes", 5, len(content))):
            with pytest.raises(
                ImportRefused, match=rf"limits.{setting}\) – found {found} – .*Limits\({setting}=…"
            ):
                corpus.read(path, text="a", limits=Limits(**{setting: limit}))
        assert len(corpus.read(path, text="a", limits=Limits(rows=2))) == 2


def test_a_cell_that_is_too_long_is_named_by_its_row_in_every_format(tmp_path: Path) -> None:
    rows = pd.DataFrame({"id": ["1", "2"], "said": ["x", "y" * 30]})
    rows.to_csv(tmp_path / "a.csv", index=False)
    rows.to_json(tmp_path / "a.jsonl", orient="records", lines=True)
    rows.to_parquet(tmp_path / "a.parquet")
    rows.to_excel(tmp_path / "a.xlsx", index=False)
    for suffix, place in ((".csv", "line 3"), (".jsonl", "line 2"), (".parquet", "row 2"), (".xlsx", "")):
        with pytest.raises(
            ImportRefused, match=r"at most 20 characters in a cell.*cell_characters\) – found 30"
        ) as no:
            read_strings(tmp_path / f"a{suffix}", limits=Limits(cell_characters=20))
        assert place in str(no.value)


def test_a_long_line_of_quoted_newlines_is_read_or_refused_but_never_split(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('id,said\n1,"' + "a\n" * 50_000 + '"\n2,b\n', encoding="utf-8")
    found = read_strings(tmp_path / "a.csv")
    assert found.index.tolist() == [2, 50_003]
    assert found.loc[2, "said"] == "a\n" * 50_000
    (tmp_path / "b.csv").write_text('id,said\n1,"' + "a\n" * 80_000, encoding="utf-8")
    with pytest.raises(ImportRefused, match="in the row from line 2: field larger than field limit"):
        read_strings(tmp_path / "b.csv")


def test_deep_json_is_refused_with_its_line(tmp_path: Path) -> None:
    for depth, refused in ((60, False), (70, True), (900, True), (200_000, True)):
        (tmp_path / "a.jsonl").write_text(
            '{"a": 1}\n{"a": ' + "[" * depth + "]" * depth + "}\n", encoding="utf-8"
        )
        if refused:
            with pytest.raises(ImportRefused, match="line 2"):
                read_strings(tmp_path / "a.jsonl")
        else:
            assert read_strings(tmp_path / "a.jsonl")["a"].tolist() == ["1", "[" * 60 + "]" * 60]


FLIP_EACH = """
import random, sys
from pathlib import Path
from sense7_qual.errors import ImportRefused
from sense7_qual.corpus._formats import read_strings

path = Path(sys.argv[1])
packed, ends = path.read_bytes(), {"read": 0, "refused": 0}
begin = len(packed) - 8 - int.from_bytes(packed[-8:-4], "little")
for at in range(begin, len(packed)):
    flipped = bytearray(packed)
    flipped[at] ^= 1 << random.Random(at).randrange(8)
    path.write_bytes(flipped)
    try:
        read_strings(path)
        ends["read"] += 1
    except ImportRefused:
        ends["refused"] += 1
print(len(packed) - begin, *ends.values())
"""


@pytest.mark.parametrize("encoding", ["PLAIN", "DELTA_BYTE_ARRAY"])
def test_no_broken_footer_ends_the_process(tmp_path: Path, encoding: str) -> None:
    """Arrow calls std::terminate where a histogram of levels does not fit its column: no kernel survives."""
    pq.write_table(
        pa.table({"said": ["a", None, "ab"], "list": [["x"], [], ["y", "z"]]}),
        tmp_path / "a.parquet",
        use_dictionary=False,
        column_encoding=encoding,
    )
    done = subprocess.run(
        [sys.executable, "-c", FLIP_EACH, str(tmp_path / "a.parquet")],
        capture_output=True, text=True, cwd=ROOT,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-500:]
    flipped, read, refused = map(int, done.stdout.split())
    assert flipped == read + refused
    assert read > 50
    assert refused > 50


def test_pages_that_claim_less_than_the_footer_are_not_believed(tmp_path: Path) -> None:
    """The header of each page counts, not the file's account of them: it is broken byte by byte."""
    pq.write_table(pa.table({"said": ["x" * 100] * 50}), tmp_path / "a.parquet", compression="none")
    packed = (tmp_path / "a.parquet").read_bytes()
    assert packed[4] == 0x15  # field 1 of a page header: its type
    for at in range(4, 40):
        for bit in range(8):
            (tmp_path / "b.parquet").write_bytes(
                packed[:at] + bytes([packed[at] ^ 1 << bit]) + packed[at + 1 :]
            )
            try:
                assert read_strings(tmp_path / "b.parquet").shape == (50, 1)
            except ImportRefused:
                continue


def test_many_columns_take_no_quadratic_time(tmp_path: Path) -> None:
    """A header of 350 kB took a minute to be looked through for names that stand twice."""
    path = tmp_path / "wide.csv"
    header = [f"c{number}" for number in range(50_000)]
    path.write_text(",".join([*header, "c7"]) + "\n" + "," * 50_000 + "\n")
    start = time.perf_counter()
    with pytest.raises(ImportRefused, match=r"at most 16,384 columns \(limits.columns\) – found 50,001"):
        corpus.read(path, text="c1")
    with pytest.raises(ImportRefused, match="each column name once – found 'c7'"):
        corpus.read(path, text="c1", limits=Limits(columns=60_000))
    assert time.perf_counter() - start < 10
