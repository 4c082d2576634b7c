"""From a code point of a unit's text back to the byte of the file."""

from __future__ import annotations

import csv
import io
import json
import random
import re
import zipfile
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sense7_qual import corpus
from sense7_qual.errors import ImportRefused, TableError
from tests.test_files import write_xlsx
from tests.test_hostile_files import sheet_of, strings_of, workbook

# No BOM at the start of a text and no NUL; what makes offsets differ, often.
TEXTS = st.text(
    st.sampled_from('aé😀\u0301\r\n",;\t א') | st.characters(codec="utf-8", exclude_characters="\x00\ufeff")
)


@settings(max_examples=150, deadline=None)
@given(text=TEXTS, encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32"]))
def test_every_character_stands_at_its_bytes(text: str, encoding: str) -> None:
    packed = text.encode(encoding)
    marked = encoding in {"utf-8-sig", "utf-16", "utf-32"}
    offsets = corpus.byte_offsets(packed, encoding=None if marked and text else encoding)
    said = corpus.canonical(text)
    assert len(offsets) == len(said) + 1
    assert offsets[-1] == len(packed)
    plain = {"utf-8-sig": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}.get(encoding, encoding)
    for place, character in enumerate(said):
        found = packed[offsets[place] : offsets[place + 1]].decode(plain)
        assert found == character or (character == "\n" and found in {"\r\n", "\r"})


def traced(path: Path, unit: str, **options: object) -> list[bytes]:
    """Return the bytes that stand for each code point of the text of a unit."""
    origin = corpus.source_offsets(path, unit, text="said", unit_id="id", **options)  # type: ignore[arg-type]
    packed = path.read_bytes()
    if path.suffix == ".xlsx":
        assert origin.part is not None
        with zipfile.ZipFile(path) as archive:
            packed = archive.read(origin.part)
    return [packed[start:end] for start, end in zip(origin.starts, origin.ends, strict=True)]


def meant(spelled: str) -> str:
    return "\n" if spelled in {"\r\n", "\r"} else spelled


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    texts=st.lists(TEXTS.filter(str.strip), min_size=1, max_size=4),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32-be"]),
    named=st.booleans(),
    suffix=st.sampled_from([".csv", ".tsv"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
)
def test_a_span_of_a_unit_is_found_again_in_the_file(
    tmp_path: Path, texts: list[str], encoding: str, named: bool, suffix: str, quoting: int
) -> None:
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, delimiter="," if suffix == ".csv" else "\t", quoting=quoting)
    writer.writerows(
        [["id", "", "said", "more"], *([str(n), "", text, 'a "b"'] for n, text in enumerate(texts))]
    )
    path = tmp_path / f"a{suffix}"
    path.write_bytes(buffer.getvalue().encode(encoding))
    name = encoding if named or encoding[-3:] in {"-le", "-be"} else None
    units = corpus.read(path, text="said", unit_id="id", encoding=name)
    plain = {"utf-16": "utf-16-le", "utf-8-sig": "utf-8"}.get(encoding, encoding)
    for unit, said in zip(units["unit_id"], units["text"], strict=True):
        found = [part.decode(plain) for part in traced(path, unit, encoding=name)]
        assert ['"' if part == '""' else meant(part) for part in found] == list(said)


@st.composite
def json_lines(draw: st.DrawFn) -> tuple[list[str], str]:
    """Texts, and a JSONL file in which each character is spelled in one of the ways that JSON has."""
    texts = draw(st.lists(TEXTS.filter(str.strip), min_size=1, max_size=4))
    ways = draw(st.randoms(use_true_random=False))
    lines = []
    for n, text in enumerate(texts):
        units_of = [text[i : i + 1].encode("utf-16-be") for i in range(len(text))]
        spelled = "".join(
            "".join(f"\\u{pair.hex() if ways.random() < 0.5 else pair.hex().upper()}" for pair in halves)
            if ways.random() < 0.3
            else json.dumps(character, ensure_ascii=ways.random() < 0.5)[1:-1].replace("/", r"\/")
            for character, units in zip(text, units_of, strict=True)
            for halves in [[units[i : i + 2] for i in range(0, len(units), 2)]]
        )
        key = ways.choice(['"said"', r'"s\u0061id"'])
        before = ways.choice(
            ["", '"said ": "no",', '"more": {"said": ["\\"said\\":", 1e400]}, ', f'"n":{"9" * 5_000},']
        )
        space = ways.choice(["", " ", "\t "])
        lines.append(
            f'{space}{{{before}{space}{key}{space}:{space}"{spelled}"{space},"id":{space}{n}}}{space}'
        )
    return texts, ways.choice(["\n", "\r\n", "\r", "\n\n"]).join(lines)


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(written=json_lines(), encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32"]))
def test_a_span_is_found_again_in_json_lines(
    tmp_path: Path, written: tuple[list[str], str], encoding: str
) -> None:
    """What stands for a character is a JSON string of that one character."""
    texts, lines = written
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines.encode(encoding))
    plain = {"utf-8-sig": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}.get(encoding, encoding)
    for n, text in enumerate(texts):
        found = [json.loads(f'"{part.decode(plain)}"') for part in traced(path, str(n))]
        assert [meant(part) for part in found] == list(corpus.canonical(text))


def escape(text: str) -> str:
    """Spell a text as Office Open XML has it: literal escapes and control characters escaped."""
    literal = re.sub("_(?=x[0-9A-Fa-f]{4}_)", "_x005F_", text)
    return re.sub("[\x01-\x08\x0b-\x1f\ufffe\uffff]", lambda found: f"_x{ord(found[0]):04X}_", literal)


def spelled_in_xml(tokens: list[str], ways: random.Random) -> str:
    """Spell an escaped text in XML, each character in one of the ways that XML has."""
    parts = []
    for token in tokens:
        entity = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}.get(token, token)
        references = [f"&#{ord(token)};", f"&#x{ord(token):X};"] if len(token) == 1 else []
        parts.append(ways.choice([entity] * 6 + references + [f"<![CDATA[{token}]]>"]))
        if ways.random() < 0.1:
            parts.append(ways.choice(["<!-- & -->", "<?pi a?>"]))
    return "".join(parts)


def item_of(text: str, ways: random.Random) -> str:
    """Return the inside of a shared or inline string: plain, or in runs, with a phonetic reading."""
    tokens = tokens_of(text)
    cuts = sorted(ways.sample(range(len(tokens) + 1), k=min(len(tokens), ways.choice([0, 0, 1, 2]))))
    runs = [tokens[start:end] for start, end in pairwise([0, *cuts, len(tokens)])]
    ts = [f'<t xml:space="preserve">{spelled_in_xml(run, ways)}</t>' for run in runs]
    if len(ts) == 1:
        return ts[0]
    return "".join(f"<r><rPr><b/></rPr>{t}</r>" for t in ts) + '<rPh sb="0" eb="1"><t>no</t></rPh>'


def tokens_of(escaped: str) -> list[str]:
    return re.findall("_x[0-9A-Fa-f]{4}_|.", escaped, flags=re.DOTALL)


# What stands in an attribute or escapes, often; XML has no raw control characters.
WORKBOOK_TEXTS = st.text(
    st.sampled_from('aé😀\u0301\r\n\t\x0b&<>"_')
    | st.characters(codec="utf-8", exclude_characters="\x00\ufeff")
) | st.lists(
    st.sampled_from(["_x000D_", "_x005F_", "_x0041_", "x005F_", "_x005f_x000d_", "_", "x", "😀", "a\n"])
).map("".join)


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    texts=st.lists(WORKBOOK_TEXTS.filter(str.strip), min_size=1, max_size=4),
    encoding=st.sampled_from(["utf-8", "utf-16"]),
    ways=st.randoms(use_true_random=False),
)
def test_a_span_is_found_again_in_a_workbook(
    tmp_path: Path, texts: list[str], encoding: str, ways: random.Random
) -> None:
    """And the text is what Excel shows, however it is spelled: shared or inline, cut, escaped, in CDATA."""
    items = ["<t>said</t>", *(item_of(escape(text), ways) for text in texts)]
    rows = ['<row r="2"><c t="inlineStr"><is><t>id</t></is></c><c r="C2" t="s"><v>0</v></c></row>']
    for n, text in enumerate(texts):
        cell = ways.choice(
            [
                f'<c r="C{n + 3}" t="s"><f>A1</f><v>{n + 1}</v></c>',
                f'<c r="C{n + 3}" t="inlineStr"><is>{items[n + 1]}</is></c>',
                f'<c r="C{n + 3}" t="str"><v>{spelled_in_xml(tokens_of(escape(text)), ways)}</v></c>',
            ]
        )
        rows.append(f'<row r="{n + 3}"><c><v>{n}</v></c>{cell}</row>')
    declared = f'<?xml version="1.0" encoding="{encoding}"?>'
    strings = declared + strings_of("".join(f"<si>{item}</si>" for item in items).encode()).decode()
    sheet = declared + sheet_of("".join(rows).encode()).decode()
    path = workbook(
        tmp_path / "a.xlsx", noise=1, sheet=sheet.encode(encoding), strings=strings.encode(encoding)
    )
    units = corpus.read(path, text="said", unit_id="id")
    assert units["text"].tolist() == [corpus.canonical(text) for text in texts]
    plain = "utf-16-le" if encoding == "utf-16" else "utf-8"
    for n, text in enumerate(texts):
        found = [in_xml(part.decode(plain)) for part in traced(path, str(n))]
        assert [meant(part) for part in found] == list(corpus.canonical(text))


def in_xml(spelled: str) -> str:
    """Return the character that a piece of a text of a workbook stands for."""
    if spelled.startswith("_x"):
        return chr(int(spelled[2:6], 16))
    if number := re.fullmatch("&#(x?)([0-9A-F]+);", spelled):
        return chr(int(number[2], 16 if number[1] else 10))
    return {"&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"'}.get(spelled, spelled)


def test_of_a_unit_in_cp1252_and_with_several_ids(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("task,turn,said\r\nt1,1,“Ja”\r\nt1,2,é – so\r\n".encode("cp1252"))
    origin = corpus.source_offsets(path, "t1/2", text="said", unit_id=["task", "turn"], encoding="cp1252")
    assert origin.part is None
    assert path.read_bytes()[origin.starts[2] : origin.ends[2]] == b"\x96"


@pytest.mark.parametrize("encoding", ["cp1252", "cp932", "gb18030", "big5hkscs", "euc_jp", "UTF8", "U16"])
def test_in_any_encoding_a_span_is_that_of_its_bytes(tmp_path: Path, encoding: str) -> None:
    said = "Ja – €" if encoding == "cp1252" else "中文, a 中"
    path = tmp_path / "a.csv"
    path.write_bytes(f'id,said\n1,"x"\n2,"{said}"\n'.encode(encoding))
    plain = {"UTF8": "utf-8", "U16": "utf-16-le"}.get(encoding, encoding)
    assert [part.decode(plain) for part in traced(path, "2", encoding=encoding)] == list(said)


def test_of_a_parquet_file_the_bytes_are_those_of_the_value(tmp_path: Path) -> None:
    texts = [f"Nr {n} 😀\r\né" for n in range(5)]
    table = pa.table({"id": ["0", "1", "2", "3", "4"], "said": texts, "n": [1, 2, 3, 4, 5]})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=2)
    origin = corpus.source_offsets(tmp_path / "a.parquet", "3", text="said", unit_id="id")
    assert origin.part == "row group 1, row 1, column said"
    group = pq.ParquetFile(tmp_path / "a.parquet").read_row_group(1)
    value = group["said"][1].as_py().encode()
    found = [value[start:end].decode() for start, end in zip(origin.starts, origin.ends, strict=True)]
    assert found == ["N", "r", " ", "3", " ", "😀", "\r\n", "é"]
    with pytest.raises(ImportRefused, match="expected text in column 'n' – found int64"):
        corpus.source_offsets(tmp_path / "a.parquet", "3", text="n", unit_id="id")


def test_what_cannot_be_traced_is_said(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,said\nm1,x\n", encoding="utf-8")
    with pytest.raises(TableError, match=r"a unit 'm2' in 'a.csv' – found none – known are 'm1'"):
        corpus.source_offsets(tmp_path / "a.csv", "m2", text="said", unit_id="id")
    with pytest.raises(TableError, match="a column 'sad'"):
        corpus.source_offsets(tmp_path / "a.csv", "m1", text="sad", unit_id="id")
    write_xlsx(tmp_path / "a.xlsx", [["id", "said"], ["m1", 7]])
    with pytest.raises(
        ImportRefused, match="text in row 2 of column 'said' – found a number, a date or a bool"
    ):
        corpus.source_offsets(tmp_path / "a.xlsx", "m1", text="said", unit_id="id")
    (tmp_path / "a.jsonl").write_text('{"id": "m1", "said": 7}\n', encoding="utf-8")
    with pytest.raises(ImportRefused, match="a string under the key in line 1 – found another value"):
        corpus.source_offsets(tmp_path / "a.jsonl", "m1", text="said", unit_id="id")
    with pytest.raises(ImportRefused, match=r"found U\+0000 at character 1"):
        corpus.byte_offsets(b"a\x00")
    with pytest.raises(ImportRefused, match="offset 1"):
        corpus.byte_offsets(b"a\xff")
