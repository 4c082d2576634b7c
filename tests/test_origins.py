"""From a code point of a unit's text back to the byte of the file."""

from __future__ import annotations

import csv
import io
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sense7_qual import corpus
from sense7_qual.errors import ImportRefused, TableError

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


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    texts=st.lists(TEXTS.filter(str.strip), min_size=1, max_size=4),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    suffix=st.sampled_from([".csv", ".tsv"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
)
def test_a_span_of_a_unit_is_found_again_in_the_file(
    tmp_path: Path, texts: list[str], encoding: str, suffix: str, quoting: int
) -> None:
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, delimiter="," if suffix == ".csv" else "\t", quoting=quoting)
    writer.writerows(
        [["id", "", "said", "more"], *([str(n), "", text, 'a "b"'] for n, text in enumerate(texts))]
    )
    path = tmp_path / f"a{suffix}"
    path.write_bytes(buffer.getvalue().encode(encoding))
    units = corpus.read(path, text="said", unit_id="id")
    plain = "utf-16-le" if encoding == "utf-16" else "utf-8"
    for unit, said in zip(units["unit_id"], units["text"], strict=True):
        offsets = corpus.source_offsets(path, unit, text="said", unit_id="id")
        found = [path.read_bytes()[start:end].decode(plain) for start, end in pairwise(offsets)]
        spelled = {"\r\n": "\n", "\r": "\n", '""': '"'}
        assert "".join(spelled.get(part, part) for part in found) == said


def test_of_a_unit_in_cp1252_and_with_several_ids(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("task,turn,said\r\nt1,1,“Ja”\r\nt1,2,é – so\r\n".encode("cp1252"))
    offsets = corpus.source_offsets(path, "t1/2", text="said", unit_id=["task", "turn"], encoding="cp1252")
    assert path.read_bytes()[offsets[2] : offsets[3]] == b"\x96"


def test_what_cannot_be_traced_is_said(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,said\nm1,x\n", encoding="utf-8")
    with pytest.raises(TableError, match=r"a unit 'm2' in 'a.csv' – found none – known are 'm1'"):
        corpus.source_offsets(tmp_path / "a.csv", "m2", text="said", unit_id="id")
    with pytest.raises(TableError, match="a column 'sad'"):
        corpus.source_offsets(tmp_path / "a.csv", "m1", text="sad", unit_id="id")
    with pytest.raises(ImportRefused, match=r"expected a file of \.csv, \.tsv – found 'a.xlsx'"):
        corpus.source_offsets(tmp_path / "a.xlsx", "m1", text="said", unit_id="id")
    with pytest.raises(ImportRefused, match=r"found U\+0000 at character 1"):
        corpus.byte_offsets(b"a\x00")
    with pytest.raises(ImportRefused, match="offset 1"):
        corpus.byte_offsets(b"a\xff")
