from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from lxml import etree

from sense7_qual.codebook import Code, Codebook
from sense7_qual.errors import CodebookError
from tests.helpers.drawn_codebooks import codebooks
from tests.helpers.places import SHARED

SCHEMA = SHARED / "data" / "refi-qda" / "Codebook.xsd"
FOREIGN = """<?xml version="1.0" encoding="utf-8"?>
<CodeBook xmlns="{namespace}" origin="another program">
<Codes>
 <Code guid="{{0c5b9a1e-0000-4000-8000-000000000001}}" name="Über alles, 1st" isCodable="false" color="#3AF">
  <Code guid="0c5b9a1e-0000-4000-8000-000000000002" name="Zuhören" isCodable="1">
   <Description>It listened &#x2014; or not.
---
see: elsewhere</Description>
  </Code>
  <Code guid="0c5b9a1e-0000-4000-8000-000000000003" name="Zuhoren" isCodable="true"/>
 </Code>
 <Code guid="0c5b9a1e-0000-4000-8000-000000000004" name="心" isCodable="true"/>
</Codes>
<Sets><Set guid="0c5b9a1e-0000-4000-8000-000000000005" name="Warm"><MemberCode
 guid="0c5b9a1e-0000-4000-8000-000000000002"/></Set></Sets>
</CodeBook>"""


def written(folder: Path, text: str, name: str) -> Path:
    (folder / name).write_text(text, "utf-8")
    return folder / name


def there_and_back(book: Codebook) -> Codebook:
    with tempfile.TemporaryDirectory() as folder:
        book.write(Path(folder) / "mine.qdc")
        return Codebook.read(Path(folder) / "mine.qdc")


@pytest.mark.long
@settings(max_examples=60, deadline=None)
@given(codebooks())
def test_any_codebook_survives_or_is_refused(codebook: Codebook) -> None:
    try:
        assert there_and_back(codebook) == codebook
    except CodebookError as error:
        assert "found the character U+" in str(error)  # noqa: PT017 – refused only for this


def test_shipped_codebook_survives_with_its_fingerprint() -> None:
    sense7 = Codebook.read("sense7")
    assert there_and_back(sense7).fingerprint == sense7.fingerprint


@pytest.mark.long
def test_codes_stand_in_their_tree_and_come_back_in_their_order() -> None:
    codes = (Code(id="a", label="A"), Code(id="b", label="B"), Code(id="c", label="C", parent="a"))
    assert there_and_back(Codebook(name="mine", codes=codes)).ids == ("a", "b", "c")
    deep = tuple(Code(id=f"c{i}", label=f"C{i}", parent=f"c{i - 1}" if i else None) for i in range(3000))
    assert there_and_back(Codebook(name="deep", codes=deep))["c2999"].parent == "c2998"


def test_what_other_programs_look_for_is_where_they_look(tmp_path: Path) -> None:
    code = Code(id="a", label='A "quoted" & <b>', definition="line\r\nline", colour="#2a7f62", key="a")
    under = Code(id="b", label="B", parent="a", codable=False)
    Codebook(name="mine", codes=(code, under)).write(tmp_path / "mine.qdc")
    root = etree.parse(tmp_path / "mine.qdc").getroot()
    first = root[0][0]
    assert (first.get("name"), first.get("color"), first.get("isCodable")) == (code.label, "#2a7f62", "true")
    assert first[0].text.startswith("line\r\nline\n---\nid: a\n")
    assert (first[1].get("name"), first[1].get("isCodable")) == ("B", "false")


@pytest.mark.skipif(not SCHEMA.exists(), reason="the schema of the standard is not here")
def test_file_is_valid_by_the_schema_of_the_standard(tmp_path: Path) -> None:
    schema = etree.XMLSchema(etree.parse(SCHEMA))
    sense7 = Codebook.read("sense7")
    for number, book in enumerate((sense7, Codebook(name="one", codes=(Code(id="a", label="A"),)))):
        book.write(tmp_path / f"{number}.qdc")
        schema.assertValid(etree.parse(tmp_path / f"{number}.qdc"))


@pytest.mark.parametrize("namespace", ["urn:QDA-XML:codebook:1.0", "urn:QDA-XML:codebook:1:0", ""])
def test_codebook_of_another_program(tmp_path: Path, namespace: str) -> None:
    path = written(tmp_path, FOREIGN.format(namespace=namespace), "theirs.qdc")
    with pytest.warns(UserWarning, match="found sets of codes, told in the description: 1 – "):
        book = Codebook.read(path)
    assert [(code.id, code.label, code.parent, code.codable) for code in book] == [
        ("uber-alles-1st", "Über alles, 1st", None, False),
        ("zuhoren", "Zuhören", "uber-alles-1st", True),
        ("zuhoren-2", "Zuhoren", "uber-alles-1st", True),
        ("code", "心", None, True),
    ]
    assert book["uber-alles-1st"].colour == "#33AAFF"
    assert book["zuhoren"].definition == "It listened — or not.\n---\nsee: elsewhere"
    assert (book.name, book.description) == ("theirs", "Set Warm: Zuhören")


def test_what_a_codebook_has_no_place_for_is_told_and_counted(tmp_path: Path) -> None:
    """A set beside our own, with a description, one without members, and an element of no standard."""
    Codebook.read("sense7").write(tmp_path / "mine.qdc")
    text = (tmp_path / "mine.qdc").read_text("utf-8")
    guid = text.partition('<MemberCode guid="')[2][:36]
    more = (
        f'<Set guid="1" name="Warm"><Description>Kind  words</Description><MemberCode guid="{guid}"/></Set>'
        '<Set guid="2" name="Empty"/></Sets><Remark/><Remark/>'
    )
    path = written(tmp_path, text.replace("</Sets>", more), "more.qdc")
    with pytest.warns(UserWarning, match="told in the description: 2; Remark, not read: 2") as warned:
        book = Codebook.read(path)
    assert warned[0].filename == __file__
    sense7 = Codebook.read("sense7")
    first = sense7.codes[0].label
    assert book.description == f"{sense7.description}\nSet Warm (Kind words): {first}\nSet Empty: no codes"
    assert replace(book, description=sense7.description) == sense7


def test_code_that_another_program_renamed_and_moved_keeps_its_id_and_rules(tmp_path: Path) -> None:
    sense7 = Codebook.read("sense7")
    sense7.write(tmp_path / "mine.qdc")
    text = (tmp_path / "mine.qdc").read_text("utf-8").replace('name="Interest"', 'name="Curiosity"')
    again = Codebook.read(written(tmp_path, text, "again.qdc"))
    assert again == replace(
        sense7,
        codes=tuple(replace(c, label="Curiosity") if c.id == "interest" else c for c in sense7),
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<CodeBook><Codes>", "found a mistake in line 1"),
        ("<Project/>", "found 'Project' – export the codebook"),
        ('<!DOCTYPE a [<!ENTITY b "c">]><CodeBook/>', "expected no document type"),
        ("<CodeBook/>", "expected at least one code"),
        ('<CodeBook><Codes><Code guid="1" isCodable="true"/></Codes></CodeBook>', "label"),
        ('<CodeBook><Codes><Code name="a" color="red"/></Codes></CodeBook>', "expected a colour"),
        ("<CodeBook><Codes>" + '<Code name="a"/>' * 10_001 + "</Codes></CodeBook>", "at most 10,000 codes"),
    ],
    ids=["cut off", "project", "entities", "no code", "no name", "colour", "many"],
)
def test_unfit_files_are_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(CodebookError, match=said):
        Codebook.read(written(tmp_path, text, "bad.qdc"))


def test_a_control_character_is_refused_and_nothing_written(tmp_path: Path) -> None:
    book = Codebook(name="mine", codes=(Code(id="a", label="A", definition="a\x0bb"),))
    with pytest.raises(CodebookError, match=r"found the character U\+000B"):
        book.write(tmp_path / "mine.qdc")
    assert not list(tmp_path.iterdir())


def test_a_project_is_refused_with_what_to_export(tmp_path: Path) -> None:
    (tmp_path / "theirs.qdpx").write_bytes(b"PK\x03\x04\xb5")
    with pytest.raises(CodebookError, match="export the codebook, not the project"):
        Codebook.read(tmp_path / "theirs.qdpx")
