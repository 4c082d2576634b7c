"""Tables and codebooks from somebody who wants to do harm, each made from its seed."""

from __future__ import annotations

import io
import json
import random
import re
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from sense7_qual import corpus
from sense7_qual._formats import read_strings
from sense7_qual.codebook import Codebook
from tests.helpers import written_files as bombs
from tests.helpers.broken_files import CODEBOOK, YAML, Study, broken, broken_inside
from tests.helpers.codebook_tables import write_rows
from tests.helpers.hostile import Kind, changing
from tests.helpers.written_files import write_table

HEADER = ["id", "said", "stars", "who", "pos", "ctx", "doc"]
ROLES: dict[str, Any] = {
    "text": "said",
    "unit_id": "id",
    "case_id": "who",
    "position": "pos",
    "context": "ctx",
    "document_id": "doc",
    "ratings": ["stars"],
    "empty": "skip",
}
TURNS = '[{"role": "user", "text": "so"}, {"role": "it", "content": "hm"}]'


def rows(n: int) -> list[list[str]]:
    return [
        [f"m{i}", f'Text {i}: ,"it" so\n😀', str(i % 5 + 1), f"p{i // 3}", str(i), TURNS, f"d{i // 9}"]
        for i in range(n)
    ]


def words(r: random.Random) -> str:
    """Return a text that breaks a reader which expects something harmless."""
    n = r.choice([1, 70, 5_000, 300_000, 1_000_001])
    return r.choice(
        [
            *(
                "",
                " ",
                "\t\n",
                "\u202e\u2066rtl\u2069",
                "👩‍👩‍👧" * (n // 8),
                "a\u0301" * (n // 2),
                "=1+1",
                "\x1b[2J\x07",
            ),
            *(
                "\x00",
                "\x85\u2028\u2029",
                "\r",
                "\ufeff\ufeff",
                "\ufffe",
                "\U0010ffff",
                "x" * n,
                " " * n,
                "\n" * n,
            ),
            *(
                "9" * n,
                "-" + "9" * n,
                "0." + "0" * n + "1",
                "1e400",
                "-1e999999999",
                "1e-999999999",
                "NaN",
                "inf",
            ),
            *(
                "٣",
                "１",
                "1_000",
                "0x10",
                "1.23457E+18",
                "²",
                "+",
                "-",
                ".",
                "1" * 4_300 + ".0",
                str(2**63),
                str(-(2**63) - 1),
            ),
            *(
                "[" * n,
                "{" * n,
                '{"a":' * n,
                "[" + "1," * n + "1]",
                "[" + "9" * n + "]",
                '[{"role":' * n,
                "[[]]",
                "[1]",
                "[null]",
            ),
            *(
                '[{"role": "a", "text": "\\ud800"}]',
                '[{"role": "a", "text": "\\u0000"}]',
                '[{"role": 1, "text": "a"}]',
            ),
            *(
                '[{"role": "a", "text": "' + "x" * n + '"}]',
                "[" + '{"role":"a","text":"b"},' * (n // 50) + "{}]",
            ),
            *(
                '"' * n,
                "''" * n,
                ",\t;" * (n // 3),
                "\\" * n,
                "<a>" * (n // 3),
                "&amp;" * (n // 5),
                "_x0000_",
                "_x000D_" * (n // 7),
            ),
            *("É" + "\u0327" * n, "ß" * n, "\u3000" * n, "ﷺ" * n, "__proto__", "None", "NA", "#N/A", "TRUE"),
        ]
    )


def hostile_rows(r: random.Random) -> tuple[list[str], list[list[str]]]:
    """Return a header and rows of which some cells, or a name, are hostile; at most 20 MB in all."""
    header, cells = list(HEADER), rows(r.choice([1, 5, 200, 3_000]))
    for _ in range(r.choice([1, 1, 2, 8])):
        cells[r.randrange(len(cells))][r.randrange(len(header))] = words(r)
    if r.random() < 0.1:
        header[r.randrange(len(header))] = words(r)
    if r.random() < 0.1:
        column, same = r.randrange(len(header)), words(r)
        for row in cells[: 20_000_000 // (len(same) + 1)]:
            row[column] = same
    return header, cells


def is_storable(text: str) -> bool:
    return not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]", text)


def write_hostile(r: random.Random, path: Path) -> Path:
    """Write hostile rows with the format's own writer, as far as that takes them."""
    header, cells = hostile_rows(r)
    if path.suffix == ".xlsx":
        fit = [
            [cell[:32_767] if is_storable(cell) else "x" for cell in row] for row in [header, *cells[:300]]
        ]
        header, cells = fit[0], fit[1:]
    return write_table(path, header, cells)


# CSV, TSV and JSONL


def text_table(r: random.Random, _: Study, folder: Path) -> Path:
    path = write_hostile(r, folder / r.choice(["a.csv", "a.tsv", "a.jsonl"]))
    if r.random() < 0.6:
        path.write_bytes(r.choice([respelt, flooded, flooded])(r, path))
    return path


def respelt(r: random.Random, path: Path) -> bytes:
    """Return the text in another encoding, or with the marks of another."""
    text = path.read_bytes().decode()
    codec = r.choice(
        ["utf-16", "utf-16-be", "utf-32", "utf-7", "cp1252", "shift_jis", "gb18030", "utf-8-sig", "cp500"]
    )
    mark = r.choice(
        [b"", b"", b"\xef\xbb\xbf" * 3, b"\xff\xfe", b"\xff\xfe\0\0", b"\0\0\xfe\xff", b"+/v8", b"\xfe\xff"]
    )
    return mark + text.encode(codec, "replace")


def flooded(r: random.Random, path: Path) -> bytes:
    """Return the text with millions of something somewhere: quotes, lines, commas, bytes that are no text."""
    packed = path.read_bytes()
    n = r.choice([2, 1_000, 100_000, 1_000_000])
    piece = r.choice(
        [
            *(
                b",",
                b"\n",
                b"\r",
                b"\r\n",
                b'"',
                b'""',
                b'","',
                b"\0",
                b"\xff",
                b"\xed\xa0\x80",
                b"\xc0\x80",
                b"a,",
                b"\t",
                b"x\n",
            ),
            *(
                b"\xef\xbb\xbf",
                b"\xe2\x80\xa8",
                b"\x1a",
                b"{}\n",
                b"[]\n",
                b"null\n",
                b'{"a":1}\n',
                b"\xfc\xe9 und \n",
                b"\x81\x40",
            ),
            *(
                b'{"id":"x","said":"y","\\u0000":1}\n',
                b'{"a":1,"a":2}\n',
                b'{"id":1e999999999}\n',
                b'{"id":NaN}\n',
                b'"\\ud800",',
            ),
            *(b'"a\n', b"c%d," % r.randrange(9), b"1" * 5_000 + b"\n", b"[" * 70, b'{"a":' * 70),
        ]
    )
    flood = piece * min(n, 20_000_000 // len(piece))
    if r.random() < 0.15:
        flood = b",".join(b"c%d" % i for i in range(n))  # names
    if path.suffix == ".jsonl" and r.random() < 0.3:
        keys = ",".join(f'"k{i}": {i}' for i in range(n // 10))
        flood = f"{{{keys}}}\n".encode() * r.choice([1, 3])
    at = r.choice([0, 0, packed.find(b"\n") + 1, len(packed) // 2, len(packed)])
    return packed[:at] + flood + packed[at:]


# Workbooks

_VALUES = [
    "-1",
    "1e999",
    "99999999999",
    "NaN",
    "0x10",
    "٣",
    "9" * 5_000,
    "",
    "TRUE",
    "2958466",
    "-0",
    "1.5",
    "=1",
]
_ATTRIBUTES = {
    "r": [
        "A1048577",
        "XFE1",
        "A-1",
        "a1",
        "A٣",
        "XFD1048576",
        "A1:B2",
        "1048577",
        "0",
        "-5",
        "A" * 9 + "1",
        "",
        "1e9",
    ],
    "t": ["s", "b", "e", "d", "n", "str", "inlineStr", "x", ""],
    "s": ["99999", "-1", "x", "1e9", "0.5"],
    "ref": ["A1:XFD1048576", "A1", "ZZZ1:A1", "", "A1:A1:A1", "A0:B0", ":", "A1:" + "B" * 9],
    "count": ["0", "-1", "4294967295", "x"],
    "sheetId": ["0", "x", "99999999999"],
    "numFmtId": ["14", "999", "-1", "x"],
    "formatCode": [
        "[" * 5_000,
        '"' * 5_000,
        "d" * 30_000,
        "\\" * 30_001,
        "[$-409]" * 900,
        ";" * 9_000,
        "y" + "[h]" * 9_999,
    ],
    "Target": [
        "../../../etc/passwd",
        "http://localhost:1/x",
        "worksheets/sheet1.xml",
        "/xl/workbook.xml",
        "",
        "\\\\x\\y",
        "a" * 9_999,
    ],
    "Type": ["", "x", "http://schemas.openxmlformats.org/officeDocument/2006/relationships/sharedStrings"],
    "ContentType": ["", "application/xml", "application/vnd.ms-excel.sheet.macroEnabled.main+xml"],
    "PartName": ["", "/xl/worksheets/sheet1.xml", "/../a", "/xl/sharedStrings.xml"],
    "date1904": ["1", "x"],
    "name": ["", "Sheet" * 99, "\u202e", "_xlnm.Print_Titles"],
}
_PARTS = {
    "xl/calcChain.xml": b"<calcChain/>",
    "docProps/custom.xml": b"<Properties>%s</Properties>",
    "xl/externalLinks/externalLink1.xml": b"<externalLink/>",
    "xl/pivotCache/pivotCacheDefinition1.xml": b"<a/>",
    "xl/drawings/drawing1.xml": b"<wsDr/>",
    "xl/media/image1.png": b"\x89PNG\r\n\x1a\n" + b"\xff" * 60,
    "xl/vbaProject.bin": b"\0" * 99,
    "docProps/core.xml": b"<a/>",
    "xl/theme/theme1.xml": b"",
    "xl/comments1.xml": b"<a/>",
    "../../../tmp/x": b"x",
    "/etc/x": b"x",
    "xl/worksheets/sheet1.xml/": b"",
    "XL/WORKBOOK.XML": b"<a/>",
    "inner.zip": b"",
}


def workbook(r: random.Random, _: Study, folder: Path) -> Path:
    path = folder / "a.xlsx"
    if r.random() < 0.15:
        text = words(r).encode("utf-8", "replace")
        part = r.choice([bombs.sheet_of, bombs.strings_of])
        markup = r.choice(
            [
                *(
                    b"<row>",
                    b"<c/>",
                    b"<si/>",
                    b"<row><c t='s'><v>0</v></c></row>",
                    b"<si><t>a</t></si>",
                    b"<!-- -->",
                    b"<?a b?>",
                ),
                *(
                    b"<si><rPh/></si>",
                    b"<row r='1'/>",
                    b"<c t='inlineStr'><is/></c>",
                    b"<![CDATA[]]>",
                    b"<x:y xmlns:x='z'/>",
                    b"<a b=''/>",
                ),
            ]
        )
        parts = {
            r.choice(["sheet", "strings", "styles"]): part(markup * r.choice([1, 5_000, 600_000]) + text)
        }
        return bombs.workbook(path, noise=r.choice([1, 100_000]), **parts)
    write_hostile(r, path)
    path.write_bytes(r.choice([rewritten, rewritten, broken_inside])(r, path.read_bytes()))  # type: ignore[operator]
    return path


def rewritten(r: random.Random, packed: bytes) -> bytes:
    """Return the workbook with values, attributes or whole parts that no program writes."""
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        members = {info.filename: archive.read(info) for info in archive.infolist()}
    for _ in range(r.choice([1, 1, 2, 5])):
        name = r.choice([*members, "xl/worksheets/sheet1.xml", "xl/workbook.xml", "xl/styles.xml"])
        xml = members.get(name, b"").decode("utf-8", "replace")
        attribute, values = r.choice([*_ATTRIBUTES.items()])
        match r.randrange(6):
            case 0 | 1 | 2:
                places = [*re.finditer(rf'\b{attribute}="([^"]*)"', xml)]
                for found in places[:: r.choice([1, 10_000])][:1] if places else []:
                    xml = xml[: found.start(1)] + r.choice(values) + xml[found.end(1) :]
            case 3:
                xml = re.sub(r"<v>[^<]*</v>", f"<v>{r.choice(_VALUES)}</v>", xml, count=r.choice([0, 1]))
            case 4:
                merged = "".join(
                    f'<mergeCell ref="{r.choice(_ATTRIBUTES["ref"])}"/>' for _ in range(r.choice([1, 20_000]))
                )
                xml = xml.replace("</sheetData>", f"</sheetData><mergeCells>{merged}</mergeCells>")
            case _:
                xml = (
                    r.choice(
                        [
                            '<?xml version="1.0" encoding="utf-16"?>',
                            "<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]>",
                            "\ufeff",
                            "\n" * 9,
                        ]
                    )
                    + xml
                )
        members[name] = xml.encode("utf-8", "replace")
    for name in r.sample([*_PARTS], r.choice([0, 0, 1, 3])):
        members[name] = packed if name == "inner.zip" else _PARTS[name]
    if r.random() < 0.1:
        members.pop(r.choice([*members]))
    buffer = io.BytesIO()
    how = r.choice([zipfile.ZIP_DEFLATED] * 6 + [zipfile.ZIP_STORED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
    with zipfile.ZipFile(buffer, "w", how) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
        archive.comment = r.choice([b"", b"PK\5\6" * 9, b"x" * 65_000])
    return buffer.getvalue()


# Parquet

_CODECS = ["none", "snappy", "gzip", "brotli", "lz4", "zstd"]


def columns(r: random.Random, n: int) -> dict[str, Any]:
    """Return columns of every type, with the values at the edges of their range."""
    import decimal

    def of(values: list[Any], kind: Any) -> Any:
        return pa.array([r.choice(values) for _ in range(n)], kind)

    made = {
        "said": of([words(r)[:1_000], "a", None], pa.string()),
        "stars": of([1.0, float("nan"), float("inf"), -0.0, 1e308], pa.float64()),
        "pos": of([0, 2**63 - 1, -(2**63), None], pa.int64()),
        "when": of([0, 2**40, -(2**40)], pa.timestamp(r.choice(["s", "ms", "us", "ns"]))),
        "zone": of(
            [0, 2**50], pa.timestamp("ms", tz=r.choice(["UTC", "Nowhere/Land", "+99:99", "Europe/Berlin"]))
        ),
        "day": of([0, 2**31 - 1], pa.date32()),
        "time": of([0, 86_399], pa.time32("s")),
        "list": of([["a"], [], None, ["b"] * 99], pa.list_(pa.string())),
        "bytes": of([b"\xff", b""], pa.binary()),
        "record": of([{"a": 1}, None], pa.struct([("a", pa.int8())])),
        "map": of([[("a", 1)], []], pa.map_(pa.string(), pa.int64())),
        "half": of([1.5], pa.float32()),
        "decimal": of([decimal.Decimal("9" * 38), None], pa.decimal128(38, 0)),
        "flag": of([True, None], pa.bool_()),
        "took": of([0, 2**62], pa.duration("us")),
        "unsigned": of([2**64 - 1], pa.uint64()),
        "nothing": pa.nulls(n),
        "long": pa.array(["y" * r.choice([1, 100_000])] * min(n, 100) + [None] * max(0, n - 100)),
    }
    return dict(r.sample([*made.items()], r.randrange(1, 8)))


def parquet_bytes(r: random.Random, table: Any, path: Path) -> bytes:
    how: dict[str, Any] = {
        "compression": r.choice(_CODECS),
        "use_dictionary": r.random() < 0.6,
        "version": r.choice(["1.0", "2.4", "2.6"]),
        "data_page_version": r.choice(["1.0", "2.0"]),
        "row_group_size": r.choice([1, 100, 1_000_000]) if table.num_rows < 5_000 else None,
        "data_page_size": r.choice([100, 1 << 20, 1 << 29]),
        "store_schema": r.random() < 0.7,
    }
    try:
        pq.write_table(table, path, **how)
    except (pa.ArrowException, OSError):  # a type that only the newest version has; gigabytes
        pq.write_table(table, path)
    if path.stat().st_size > 300_000_000:  # what is large as it is shows nothing
        pq.write_table(table, path)
    return path.read_bytes()


def unfolding(r: random.Random, n: int | None = None) -> Any:
    """Return a table that is small when it is packed: one text, or one number, again and again."""
    n = n or r.choice([10_000, 300_000, 900_000])
    text = r.choice(["y", "é", "😀"]) * r.choice([1, 100, 10_000, 300_000])
    place = pa.array([0], pa.int32()).take(pa.array([0] * n, pa.int32()))
    return pa.table(
        {
            "said": r.choice(
                [
                    pa.DictionaryArray.from_arrays(place, pa.array([text])),
                    pa.nulls(n, pa.string()),
                    pa.array([False] * n),
                ]
            ),
            "id": r.choice(
                [pa.array([str(i) for i in range(n)]), pa.nulls(n, pa.int64()), pa.array(range(n))]
            ),
        }
    )


_PANDAS: list[Any] = [
    {
        "index_columns": [{"kind": "range", "name": None, "start": 0, "stop": 10**13, "step": 1}],
        "columns": [],
        "column_indexes": [],
    },
    {"index_columns": ["unit_id"], "columns": [], "column_indexes": []},
    {
        "index_columns": ["absent"] * 9,
        "columns": [
            {
                "name": "text",
                "field_name": "text",
                "pandas_type": "unicode",
                "numpy_type": "O" * 999,
                "metadata": None,
            }
        ],
        "column_indexes": [],
    },
    {
        "index_columns": [],
        "column_indexes": [
            {
                "name": "x",
                "field_name": "x",
                "pandas_type": "categorical",
                "numpy_type": "int64",
                "metadata": {"num_categories": 10**12},
            }
        ],
        "columns": [],
    },
    {
        "columns": [
            {
                "name": "position",
                "field_name": "position",
                "pandas_type": "datetimetz",
                "numpy_type": "datetime64[ns]",
                "metadata": {"timezone": "../../x"},
            }
        ],
        "index_columns": [],
        "column_indexes": [],
    },
    [],
    None,
    "x",
    1e999,
    [[[]]] * 9,
    {"columns": None},
]


def parquet(r: random.Random, _: Study, folder: Path) -> Path:
    path, n = folder / "a.parquet", r.choice([0, 1, 50, 3_000])
    table = unfolding(r) if r.random() < 0.15 else pa.table(columns(r, n))
    if r.random() < 0.2:
        metadata = {
            b"pandas": json.dumps(r.choice(_PANDAS)).encode(),
            b"ARROW:schema": r.choice([b"x", b"/////w==", b"A" * 9_999]),
        }
        table = table.replace_schema_metadata({k: v for k, v in metadata.items() if r.random() < 0.6})
    packed = parquet_bytes(r, table, path)
    if r.random() < 0.6:
        path.write_bytes(miscounted(r, packed))
    return path


def miscounted(r: random.Random, packed: bytes) -> bytes:
    """Return the file with another number somewhere in its footer, or in the header of a page."""
    size = int.from_bytes(packed[-8:-4], "little")
    begin = len(packed) - 8 - size
    number = r.choice(
        [
            b"\xff" * 9 + b"\x01",
            b"\xfe\xff\xff\xff\x0f",
            b"\x80" * 9 + b"\x01",
            b"\xfe\xff\x03",
            b"\x00",
            b"\x01",
            b"\xf9\xff\xff\xff\x0f",
            b"\x15",
            b"\x1c" * 500,
            b"\x1b" * 9,
        ]
    )
    at = begin + r.randrange(size) if r.random() < 0.7 else 4 + r.randrange(min(60, begin))
    changed = packed[:at] + number + packed[at + r.choice([0, 1, 1, 2, len(number)]) :]
    grown = len(changed) - len(packed) if at >= begin else 0
    if r.random() < 0.9:
        changed = changed[:-8] + (size + grown).to_bytes(4, "little", signed=False) + b"PAR1"
    return changed


def bomb(r: random.Random, _: Study, folder: Path) -> Path:
    """One of those whose end is known (`test_hostile_files`), or one that is broken at random besides."""
    name = r.choice([*bombs.BOMBS])
    path = bombs.BOMBS[name][0](folder / name)
    if r.random() < 0.3:
        path.write_bytes(broken(r, path.read_bytes(), b"x" * 99))
    return path


# Codebooks


def codebook(r: random.Random, _: Study, folder: Path) -> Path:
    path = folder / r.choice(["a.yaml", "a.yaml", "a.csv", "a.xlsx", "a.docx"])
    make = {".csv": csv_codes, ".yaml": yaml_codes}.get(path.suffix)
    path.write_bytes(make(r) if make else office_codes(r, path))
    return path


def office_codes(r: random.Random, path: Path) -> bytes:
    names = ["Theme", "Code", "Definition", "Example", r.choice(["Label", "Parent", "Code", words(r)[:99]])]
    body = [[r.choice(["", f"t{r.randrange(9)}"]) for _ in names] for _ in range(r.choice([1, 9, 60]))]
    merged = [(1, 0, r.randrange(1, len(body) + 1), r.randrange(3))] if r.random() < 0.5 else []
    write_rows(path, [[cell if is_plain(cell) else "x" for cell in row] for row in [names, *body]], merged)
    return broken_inside(r, path.read_bytes()) if r.random() < 0.8 else path.read_bytes()


def is_plain(text: str) -> bool:
    return text.isprintable() and text.isascii()


def csv_codes(r: random.Random) -> bytes:
    n = r.choice([1, 50, 9_999, 60_000])
    head = "id,label,definition,parent,examples"
    lines = [f"c{i},Label {i},So,{f'c{i - 1}' if i and r.random() < 0.99 else ''},a\nb" for i in range(n)]
    if r.random() < 0.4:
        lines[r.randrange(n)] = words(r)[:300_000]
    if r.random() < 0.2:
        head = ",".join(f"k{i}" for i in range(n)) if r.random() < 0.5 else head + "," + words(r)[:99_999]
    return "\n".join([head, *lines]).encode("utf-8", "replace")


def yaml_codes(r: random.Random) -> bytes:
    n = r.choice([1, 50, 3_000, 12_000])
    match r.randrange(8):
        case 0:
            deep = r.choice(
                [
                    "- ",
                    "? ",
                    "[",
                    "{a: ",
                    "[{",
                    "a:\n ",
                    "- - - ",
                    "!!a ",
                    "&a ",
                    "!<x> ",
                    "'",
                    '"',
                    "| ",
                    "> ",
                ]
            )
            return (f"name: x\ncodes: {deep * r.choice([10, 300, 5_000, 40_000])}").encode()
        case 1:
            keys = "".join(f"k{i}: v\n" for i in range(n))
            return b"name: x\ncodes: []\n" + keys.encode()
        case 2:
            order = list(range(n)) if r.random() < 0.5 else r.sample(range(n), n)
            parents = [(i, (i - 1) % n if r.random() < 0.5 or i else 0) for i in order]
            return (
                "name: x\ncodes:\n"
                + "".join(f"- id: c{i}\n  label: L{i}\n  parent: c{p}\n" for i, p in parents)
            ).encode()
        case 3:
            laughs = "".join(
                f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 9) if i else 'x'}]\n" for i in range(12)
            )
            return laughs.encode() + CODEBOOK.to_yaml()
        case 4:
            text = words(r)
            key = r.choice(
                [
                    "id",
                    "label",
                    "definition",
                    "include",
                    "exclude",
                    "examples",
                    "color",
                    "key",
                    "parent",
                    "codable",
                    "facets",
                    "name",
                ]
            )
            shown = r.choice([json.dumps(text), f"'{text}'", f"|\n    {text}", text])
            return CODEBOOK.to_yaml() + f"- id: z\n  label: Z\n  {key}: {shown}\n".encode("utf-8", "replace")
        case 5:
            ids = [
                r.choice(
                    [
                        "con",
                        "a" * 100_000,
                        "\u202e",
                        "a\u0301",
                        "Å",
                        "Å",
                        "__class__",
                        "../x",
                        "1e5",
                        "~",
                        "null",
                        "=1",
                    ]
                )
                for _ in range(5)
            ]
            return (
                "name: x\ncodes:\n"
                + "".join(f"- id: {json.dumps(each)}\n  label: {json.dumps(each)}\n" for each in ids)
            ).encode()
        case 6:
            return r.choice(
                [b"\xff\xfe", b"\xef\xbb\xbf" * 2, b"", b"%YAML 9.9\n---\n", b"%TAG ! !\n---\n" * 999]
            ) + CODEBOOK.to_yaml().decode().encode(r.choice(["utf-8", "utf-16", "utf-32"]))
    packed = CODEBOOK.to_yaml()
    for _ in range(r.choice([1, 3, 9])):
        at = r.randrange(len(packed) + 1)
        packed = packed[:at] + r.choice(YAML) * r.choice([1, 1, 2_000]) + packed[at:]
    return packed


# The doors


def read(path: Path, _: Study) -> None:
    read_strings(path)


def read_units(path: Path, _: Study) -> None:
    corpus.read(path, **ROLES)


def read_text_alone(path: Path, _: Study) -> None:
    corpus.read(path, text="said", unit_id="id", empty="skip")


def read_while_it_changes(path: Path, _: Study) -> None:
    with changing(path, random.Random(1)):
        corpus.read(path, text="said", unit_id="id", empty="skip")


def sense7(path: Path, _: Study) -> None:
    corpus.read_sense7(path)


def messages(path: Path, _: Study) -> None:
    corpus.read_sense7_messages(path)


def read_codebook(path: Path, _: Study) -> None:
    Codebook.read(path)


TABLE = (read, read_units, read_text_alone, read_while_it_changes)
KINDS = [
    Kind("text", text_table, TABLE),
    Kind("workbook", workbook, (*TABLE, sense7, messages)),
    Kind("parquet", parquet, TABLE),
    Kind("bomb", bomb, (read_text_alone,)),
    Kind("codebook", codebook, (read_codebook,)),
    Kind("codebook", codebook, (read_codebook,)),
]
