from __future__ import annotations

import dataclasses
import tempfile
import time
import traceback
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from hypothesis import example, given, settings, strategies as st

from sense7_qual._messages import UNPRINTABLE
from sense7_qual.codebook import Code, Codebook, Facet, FacetValue
from sense7_qual.errors import ArgumentError, CodebookError, StoreError
from tests.helpers.drawn_codebooks import AWKWARD, codebooks, drawn_facets, texts
from tests.helpers.places import ROOT

SHIPPED = ROOT / "codebooks" / "sense7.yaml"

# Suh et al. (2025), arXiv:2509.16437, as third parties quote it ("the agent demonstrates …"), in this order.
STATEMENTS = {
    "affective": "the ability to recognize and understand my emotions/feelings",
    "cognitive": "the ability to recognize and understand my perspective/point of view, including goals and "
    "intentions",
    "response": "the ability to appropriately respond and adapt to my experiences, including when to provide "
    "advice or solutions",
    "prosocial": "concern for and a desire to help me",
    "interest": "curiosity and attention toward my experiences",
    "contextual": "the ability to integrate my personal context, goals, beliefs, history, preferences, and "
    "broader external factors",
    "relational": "the ability to maintain and enrich the relationship by consistently recalling and weaving "
    "details from past interactions",
}
LABELS = [
    "Affective Understanding",
    "Cognitive Understanding",
    "Response Appropriateness",
    "Prosocial Expression",
    "Interest",
    "Contextual Understanding",
    "Relational Continuity",
]


def written(folder: Path, content: str | bytes, name: str = "mine.yaml") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def refusal(path: Path | str) -> str:
    """Return the whole of what a user would see, the causes of the error included."""
    with pytest.raises(CodebookError) as caught:
        Codebook.read(path)
    return "".join(traceback.format_exception(caught.value))


# The shipped codebook


def test_the_shipped_codebook_is_written_back_to_the_same_bytes() -> None:
    assert Codebook.read("sense7").to_yaml() == SHIPPED.read_bytes()
    assert Codebook.from_yaml(SHIPPED.read_bytes()) == Codebook.read("sense7") == Codebook.read(SHIPPED)


def test_sense7_has_the_seven_dimensions_in_the_papers_order_and_words() -> None:
    sense7 = Codebook.read("sense7")
    assert list(sense7.ids) == list(STATEMENTS)
    assert [code.label for code in sense7.codes] == LABELS
    for code in sense7.codes:
        assert code.definition == f"The agent demonstrates {STATEMENTS[code.id]}."


def test_sense7_says_which_words_are_the_papers_and_which_are_ours() -> None:
    sense7 = Codebook.read("sense7")
    assert {code.source for code in sense7.codes} == {"arXiv:2509.16437, as quoted"}
    assert {code.rules_source for code in sense7.codes} == {"sense7_qual"}
    assert {code.origin for code in sense7.codes} == {"deductive"}
    assert "not the paper's" in sense7.description
    # Which dimensions the paper groups together is not known, so nothing is grouped.
    assert all(code.parent is None and code.codable for code in sense7.codes)


def test_sense7_can_be_coded_from() -> None:
    sense7 = Codebook.read("sense7")
    for code in sense7.codes:
        assert len(code.use_when) >= 2
        assert len(code.examples) >= 3
        assert len(code.counter_examples) >= 2
        named = " ".join(code.avoid_when)
        assert any(other in named for other in sense7.ids if other != code.id)
    assert [code.key for code in sense7.codes] == list("1234567")
    assert len({code.colour for code in sense7.codes}) == 7
    assert [facet.name for facet in sense7.facets] == ["valence"]
    assert sense7.facet("valence").names == ("met", "unmet", "mixed")


# Round trips and fingerprints


@pytest.mark.long
@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_facets_survive_yaml_and_csv(data: st.DataObject) -> None:
    facets = data.draw(drawn_facets(["x", "y"]))
    book = Codebook(
        name="mine", title="mine", facets=facets, codes=(Code(id="x", label="X"), Code(id="y", label="Y"))
    )
    assert Codebook.from_yaml(book.to_yaml()) == book
    with tempfile.TemporaryDirectory() as folder:
        book.write(Path(folder) / "mine.csv")
        assert Codebook.read(Path(folder) / "mine.csv") == book


@pytest.mark.long
@settings(max_examples=60, deadline=None)
@given(codebooks())
def test_any_codebook_survives_yaml_to_the_same_bytes(codebook: Codebook) -> None:
    content = codebook.to_yaml()
    again = Codebook.from_yaml(content)
    assert again == codebook
    assert again.to_yaml() == content
    assert again.fingerprint == codebook.fingerprint


@pytest.mark.parametrize("text", AWKWARD, ids=ascii)
def test_every_awkward_text_survives_in_every_place(text: str) -> None:
    name = UNPRINTABLE.sub("", text)  # refused in names
    code = Code(id="x", label=f"{name}.", definition=text, examples=(text, text), source=text)
    codebook = Codebook(name=f"n{name}", title=name, description=text, codes=(code,))
    assert Codebook.from_yaml(codebook.to_yaml()) == codebook


def test_a_written_codebook_is_plain_yaml_for_other_programs() -> None:
    code = Code(id="no", label="007", definition="yes: #1", examples=("null",), codable=False)
    content = yaml.safe_load(Codebook(name="true", codes=(code,)).to_yaml())
    assert content["name"] == "true"
    assert content["codes"][0]["id"] == "no"
    assert content["codes"][0]["label"] == "007"
    assert content["codes"][0]["examples"] == ["null"]


OTHER = {
    "id": "other",
    "label": "Other",
    "definition": "d",
    "use_when": ("u",),
    "avoid_when": ("a",),
    "examples": ("e",),
    "counter_examples": ("c",),
    "parent": "top",
    "colour": "#123456",
    "key": "9",
    "origin": "inductive",
    "source": "s",
    "rules_source": "r",
    "codable": False,
}


@pytest.mark.parametrize("name", [entry.name for entry in dataclasses.fields(Code)])
def test_the_fingerprint_changes_with_every_field_of_a_code(name: str) -> None:
    base = Codebook(name="n", codes=(Code(id="x", label="X"), Code(id="top", label="Top")))
    changed = dataclasses.replace(
        base, codes=(dataclasses.replace(base.codes[0], **{name: OTHER[name]}), base.codes[1])
    )
    assert changed.fingerprint != base.fingerprint
    assert Codebook.from_yaml(changed.to_yaml()).fingerprint == changed.fingerprint


@pytest.mark.parametrize("name", ["name", "title", "version", "description", "source", "licence"])
def test_the_fingerprint_changes_with_every_field_of_the_codebook(name: str) -> None:
    base = Codebook(name="n", codes=(Code(id="x", label="X"),))
    assert dataclasses.replace(base, **{name: "other"}).fingerprint != base.fingerprint


def test_the_fingerprint_changes_with_order_and_facets_and_not_otherwise() -> None:
    one, two = Code(id="x", label="X"), Code(id="y", label="Y")
    base = Codebook(name="n", codes=(one, two))
    assert Codebook(name="n", codes=(two, one)).fingerprint != base.fingerprint
    faceted = [
        (Facet(name="f", values=(FacetValue("a"), FacetValue("b"))),),
        (Facet(name="f", values=(FacetValue("b"), FacetValue("a"))),),
        (Facet(name="f", label="F", values=(FacetValue("a"), FacetValue("b"))),),
        (Facet(name="f", values=(FacetValue("a", key="a"), FacetValue("b"))),),
        (Facet(name="f", values=(FacetValue("a", "A"), FacetValue("b"))),),
        (Facet(name="f", codes=("x",), values=(FacetValue("a"), FacetValue("b"))),),
    ]
    books = [Codebook(name="n", codes=(one, two), facets=facets) for facets in faceted]
    assert len({book.fingerprint for book in (base, *books)}) == 7
    assert Codebook(name="n", codes=(Code(id="x", label="X"), two)).fingerprint == base.fingerprint
    assert len(base.fingerprint) == 32
    assert set(base.fingerprint) <= set("0123456789abcdef")


def test_neighbouring_fields_are_not_confused_in_the_fingerprint() -> None:
    split = Codebook(name="n", codes=(Code(id="x", label="X", examples=("a", "b")),))
    whole = Codebook(name="n", codes=(Code(id="x", label="X", examples=("a\nb",)),))
    moved = Codebook(name="n", codes=(Code(id="x", label="X", counter_examples=("a", "b")),))
    assert len({split.fingerprint, whole.fingerprint, moved.fingerprint}) == 3


# Reading


def test_yaml_scalars_are_read_as_written(tmp_path: Path) -> None:
    path = written(
        tmp_path, "name: 007\nversion: 1.10\ncodes:\n  - id: no\n    label: 1e5\n    examples: yes\n"
    )
    codebook = Codebook.read(path)
    assert (codebook.name, codebook.version) == ("007", "1.10")
    assert codebook["no"].label == "1e5"
    assert codebook["no"].examples == ("yes",)


def test_empty_fields_are_as_good_as_left_out(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "name: n\ncodes:\n  - id: x\n    label: X\n    parent:\n    examples:\n    codable: 'FALSE'\n",
    )
    assert Codebook.read(path).codes == (Code(id="x", label="X", codable=False),)


def test_a_byte_order_mark_is_no_content(tmp_path: Path) -> None:
    path = written(tmp_path, b"\xef\xbb\xbfname: n\ncodes:\n- {id: x, label: X}\n")
    assert Codebook.read(path).name == "n"


def test_a_code_is_found_by_its_id_and_a_near_miss_is_named() -> None:
    sense7 = Codebook.read("sense7")
    assert sense7["prosocial"].label == "Prosocial Expression"
    with pytest.raises(CodebookError, match=r"found 'prosical' – did you mean 'prosocial'\?"):
        sense7["prosical"]


def test_codable_leaves_out_what_only_groups() -> None:
    codes = (Code(id="top", label="Top", codable=False), Code(id="x", label="X", parent="top"))
    assert [code.id for code in Codebook(name="n", codes=codes).codable] == ["x"]


def test_csv_with_lists_quotes_and_a_byte_order_mark(tmp_path: Path) -> None:
    content = (
        "\ufeffid,label,definition,use_when,examples,codable,parent\r\n"
        "top,Top,,,,false,\r\n"
        '007x,"X, the ""first""",no,"one\r\n\r\n two ",🙂,,top\r\n'
        ",,,,,,\r\n"
    )
    path = written(tmp_path, content.replace("007x", "x007"), "team.csv")
    codebook = Codebook.read(path)
    assert codebook.name == "team"
    assert codebook.ids == ("top", "x007")
    assert codebook["x007"] == Code(
        id="x007",
        label='X, the "first"',
        definition="no",
        use_when=("one", "two"),
        examples=("🙂",),
        parent="top",
    )
    assert Codebook.from_yaml(codebook.to_yaml()) == codebook


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "expected a table with a row per code in 'mine.csv' – found none"),
        ("id,label\n", "expected at least one code"),
        (
            "id,label\nx,X,lost words\n",
            "of cells – found none (comma 2 to 3 cells, semicolon 1, tab 1; first odd line 2) – quote the "
            "cells that contain it.",
        ),
        ("id,label,examples\nx,X\n", "(comma 2 to 3 cells, semicolon 1, tab 1; first odd line 2)"),
        ("id,label,label\nx,X,Y\n", "expected every column once – found more than once: 'label'"),
        ('id,label\nx,"X\n', "found in the row from line 2"),
        ("id,label\nx,X\ny\n", "(comma 1 to 2 cells, semicolon 1, tab 1; first odd line 3)"),
        ("id,label\nx,\n", "expected label in line 2"),
    ],
)
def test_a_csv_that_would_lose_something_is_refused(tmp_path: Path, content: str, said: str) -> None:
    assert said in refusal(written(tmp_path, content, "mine.csv"))


FACETED = """\
facet,id,label,key,facet_label,facet_codes
,warm,Warm,1,,
,cold,Cold,2,,
valence,met,Expectation met,m,,
valence,unmet,,u,,
heat,low,,,How hot,"warm
cold"
heat,high,,,,
"""


def test_facets_in_a_csv_are_rows_of_their_own(tmp_path: Path) -> None:
    book = Codebook.read(written(tmp_path, FACETED, "mine.csv"))
    assert book.ids == ("warm", "cold")
    assert book.facets == (
        Facet(
            name="valence",
            values=(FacetValue("met", "Expectation met", "m"), FacetValue("unmet", key="u")),
        ),
        Facet(
            name="heat",
            label="How hot",
            codes=("warm", "cold"),
            values=(FacetValue("low"), FacetValue("high")),
        ),
    )
    assert [facet.name for facet in book.facets_of("cold")] == ["valence", "heat"]
    book.write(tmp_path / "mine.csv", overwrite=True)
    assert Codebook.read(tmp_path / "mine.csv") == book


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("valence,met,,,,", "found a value that stands there before"),
        ("valence,,Met,,,", "expected a value of facet 'valence' in line 9, with its own id"),
        ("heat,hot,,,Hotness,", "expected one facet_label of facet 'heat' – found another in line 9"),
        ("heat,hot,,,,cold", "expected one facet_codes of facet 'heat' – found another in line 9"),
        (",mild,Mild,,Mildness,", "found 'facet_label'"),
    ],
)
def test_a_row_of_a_facet_that_cannot_be_one_is_refused(tmp_path: Path, row: str, said: str) -> None:
    assert said in refusal(written(tmp_path, f"{FACETED}{row}\n", "mine.csv"))


def test_facets_in_yaml_take_keys_a_list_or_labels(tmp_path: Path) -> None:
    facets = """facets:
  valence:
    values: {met: m, unmet: u, mixed: x}
  heat:
    values: [low, high]
    codes: x
  light: {label: Brightness, values: {dim: {label: Quite dim}, lit: {label: Lit, key: "1"}, off: }}
"""
    book = Codebook.read(written(tmp_path, CODE + facets))
    valence, heat, light = book.facets
    assert valence.names == ("met", "unmet", "mixed")
    assert [value.key for value in valence.values] == ["m", "u", "x"]
    assert (heat.names, heat.codes) == (("low", "high"), ("x",))
    assert light.label == "Brightness"
    assert light.values == (FacetValue("dim", "Quite dim"), FacetValue("lit", "Lit", "1"), FacetValue("off"))
    assert book.check_facets("x", {"heat": "low", "valence": "met"}) == {"heat": "low", "valence": "met"}


@pytest.mark.parametrize(
    ("column", "field"),
    [
        ("description", "definition"),
        ("Definition", "definition"),
        ("name", "label"),
        ("color", "colour"),
        ("rules", "use_when"),
        ("include", "use_when"),
        ("Use when", "use_when"),
        ("inclusion_criteria", "use_when"),
        ("exclude", "avoid_when"),
        ("example", "examples"),
        ("counterexamples", "counter_examples"),
        ("category", "parent"),
        ("shortcut", "key"),
    ],
)
def test_a_field_by_another_name_gets_the_right_one(tmp_path: Path, column: str, field: str) -> None:
    hint = f"found {column!r} – write {field!r} for {column!r}"
    assert hint in refusal(written(tmp_path, f"name: n\ncodes:\n  - {{id: x, {column}: X}}\n"))


def test_every_field_by_another_name_is_named_at_once(tmp_path: Path) -> None:
    entry = "{identifier: x, code: X, description: d, rules: r, color: red}"
    said = refusal(written(tmp_path, f"name: n\ncodes:\n  - {entry}\n"))
    assert "found 'identifier', 'code', 'description' (5 in all)" in said
    assert "write 'id' for 'identifier', 'label' for 'code' and 'definition' for 'description'" in said


def test_a_field_that_is_there_already_is_not_named_for_another(tmp_path: Path) -> None:
    said = refusal(written(tmp_path, "name: n\ncodes:\n  - {id: x, label: X, name: Y}\n"))
    assert "found 'name' – known are 'id', 'label', 'definition'" in said


def test_a_field_of_the_codebook_by_another_name_gets_the_right_one(tmp_path: Path) -> None:
    assert "write 'licence' for 'license'" in refusal(written(tmp_path, CODE + "license: CC0\n"))


# Bad codebooks

CODE = "name: n\ncodes:\n  - {id: x, label: X}\n"


@pytest.mark.long
@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "expected a mapping with a list 'codes'"),
        ("just words", "expected a mapping with a list 'codes'"),
        ("- a\n- b\n", "found list"),
        ("name: n\ncodes: x\n", "expected a mapping with a list 'codes'"),
        ("name: n\ncodes: []\n", "expected at least one code"),
        ("name: n\ncodes:\n  - x\n", "expected a mapping with 'id' and 'label' for code 1 – found str"),
        ("codes:\n  - {id: x, label: X}\n", "expected name in codebook"),
        (CODE + "  - {id: x, label: Y}\n", "expected every id once – found more than once: 'x'"),
        (CODE + "  - {id: y, label: Y, key: 1}\n  - {id: z, label: Z, key: 1}\n", "expected every key once"),
        (CODE + "  - {id: y, label: Y, parent: y}\n", "found a circle y → y"),
        (
            CODE + "  - {id: y, label: Y, parent: z}\n  - {id: z, label: Z, parent: y}\n",
            "found a circle y → z → y",
        ),
        (
            CODE + "  - {id: relational, label: Y, parent: relationl}\n",
            "as the parent of 'relational' – found 'relationl'",
        ),
        (CODE + "  - {id: y, label: Y, parent: top}\n", "found 'top' – known are 'x', 'y'"),
        (CODE + "  - {id: y, label: Y, origin: deductiv}\n", "did you mean 'deductive'?"),
        (
            CODE + "  - {id: y, label: Y, colour: red}\n",
            "expected a colour like '#2a7f62' for code 'y' – found 'red'",
        ),
        (CODE + "  - {id: y, label: Y, colour: '#12345'}\n", "expected a colour"),
        (
            CODE + "  - {id: y, label: Y, key: ab}\n",
            "expected one printable character as the key of code 'y'",
        ),
        (CODE + "  - {id: y, label: Y, key: ' '}\n", "expected one printable character"),
        (CODE + "  - {label: Y}\n", "expected id in code 2"),
        (CODE + "  - {id: y}\n", "expected label in code 2"),
        (CODE + "  - {id: y, label: '  '}\n", "expected a label for code 'y'"),
        (CODE + "  - {}\n", "expected id and label in code 2"),
        (CODE + "  - {id: 7up, label: Y}\n", "expected a code id of a letter followed by"),
        (CODE + "  - {id: 'a b', label: Y}\n", "expected a code id"),
        (CODE + "  - {id: y, label: Y, exampels: [a]}\n", "found 'exampels' – did you mean 'examples'?"),
        (CODE + "titel: t\n", "found 'titel' – did you mean 'title'?"),
        (
            CODE + "  - {id: y, label: Y, label: Z}\n",
            "expected every field once – found more than once: 'label'",
        ),
        (CODE + "name: m\n", "expected every field once – found more than once: 'name'"),
        (
            CODE + "facets: {valence: [met, unmet]}\n",
            "expected facet 'valence' as names with their values – found list of another form",
        ),
        (CODE + "facets: [valence]\n", "expected facets as names with their values – found list"),
        (CODE + "facets: {f: {values: [a, [b]]}}\n", "expected facet 'f' as names with their values"),
        (CODE + "facets: {f: {values: []}}\n", "expected at least one value of facet 'f' – found none"),
        (CODE + "facets: {f: {values: [a, a]}}\n", "expected every value of a facet once"),
        (CODE + "facets: {f: {values: {a: 1, b: 1}}}\n", "expected every key of a facet's value once"),
        (CODE + "facets: {f: {values: {a: 1}}, g: {values: {b: 1}}}\n", "expected every key of a facet"),
        (CODE + "facets: {f: {values: {a: ab}}}\n", "as the key of value 'a' – found 'ab'"),
        (CODE + "facets: {f: {values: [a=b]}}\n", "of letters, digits, '_' and '-', but"),
        (CODE + "facets: {f: {values: [unstated]}}\n", "but not 'unstated' – found 'unstated'"),
        (CODE + "facets: {f: {value: [a]}}\n", "found 'value' – did you mean 'values'?"),
        (CODE + "facets: {f: {values: {a: {color: red}}}}\n", "expected label, key in facet 'f'"),
        (CODE + "facets: {a.b: {values: [x]}}\n", "expected a facet's name of a letter followed by"),
        (
            CODE + "facets: {Confidence: {values: [x]}}\n",
            "the facet name 'Confidence' is the name of another column",
        ),
        (CODE + "facets: {was: {values: [x]}}\n", "the facet name 'was' is the name of another column"),
        (CODE + "facets: {f: {values: [a]}, F: {values: [b]}}\n", "expected every facet once"),
        (
            CODE + "facets: {f: {values: [a], codes: [xx]}}\n",
            "expected facet 'f' to be for codes that can be applied – found 'xx' – did you mean 'x'",
        ),
        (CODE + "  - {id: y, label: Y, codable: maybe}\n", "expected true or false in code 2, codable"),
        (
            CODE + "  - {id: y, label: Y, definition: {a: b}}\n",
            "expected text in code 2, definition – found dict",
        ),
        (CODE + "  - {id: y, label: Y, examples: [{it said: no}]}\n", "expected text in code 2, examples"),
        (CODE + "  - {id: [y], label: Y}\n", "expected text in code 2, id – found list"),
        (CODE + "  - {id: y, label: Y, ? [a] : b}\n", "found a mistake"),
        ("name: n\ncodes:\n\t- id: x\n", "expected YAML in 'mine.yaml' – found a mistake in line 3"),
        ("name: 'n\n", "expected YAML in 'mine.yaml'"),
        (CODE + "---\n" + CODE, "expected YAML in 'mine.yaml'"),
        ("name: \x07\n", "expected YAML in 'mine.yaml'"),
        ("&a [*a]", "expected YAML in 'mine.yaml'"),
        (CODE + "  - {id: y, label: &a Y}\n", "a name for a part"),
        (CODE + "  - &a {id: y, label: Y, examples: &b [x]}\n", "a name for a part"),
        (CODE + "  - {id: y, label: Y, examples: [" + "e," * 200_000 + "]}\n", "more than 200,000 texts"),
        (CODE + "#" * 5_000_000, "expected at most 5,000,000 bytes"),
        ("[" * 500, "expected YAML in 'mine.yaml'"),
    ],
)
def test_a_bad_codebook_is_refused_with_what_and_where(tmp_path: Path, content: str, said: str) -> None:
    assert said in refusal(written(tmp_path, content))


def test_a_mistake_in_yaml_does_not_show_the_line(tmp_path: Path) -> None:
    """An example may be in a participant's words; the error names the line by its number."""
    said = refusal(written(tmp_path, "name: n\ncodes:\n - id: x\n   examples: I felt: it did not listen\n"))
    assert "line 4" in said
    assert "listen" not in said


def test_bytes_that_are_not_utf8_are_refused_with_their_place(tmp_path: Path) -> None:
    path = written(tmp_path, b"name: caf\xe9\n")
    assert "expected UTF-8 in 'mine.yaml' – found byte 0xe9 at offset 9" in refusal(path)
    with pytest.raises(CodebookError, match="expected UTF-8"):
        Codebook.from_yaml(b"name: caf\xe9\n")


def test_a_file_that_is_not_there_or_of_another_kind(tmp_path: Path) -> None:
    assert "expected a file at" in refusal(tmp_path / "absent.yaml")
    assert "expected a file at" in refusal(tmp_path)
    assert "expected a .yaml, .csv, .tsv, .xlsx, .docx or .qdc file – found 'codes.txt'" in refusal(
        written(tmp_path, "x", "codes.txt")
    )


def test_an_unknown_shipped_name_names_the_nearest() -> None:
    assert "found 'sens7' – did you mean 'sense7'?" in refusal("sens7")


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"id": 7}, "expected text in id"),
        ({"label": None}, "expected text in label of code 'x' – found NoneType"),
        ({"definition": None}, "expected text in definition"),
        ({"examples": "one"}, "expected a tuple of texts in examples of code 'x' – found str"),
        ({"examples": ["one"]}, "expected a tuple of texts in examples of code 'x' – found list"),
        ({"examples": (1,)}, "expected a tuple of texts"),
        ({"definition": "half a face \ud83d"}, "found half of a character"),
        ({"examples": ("\ude00",)}, "found half of a character"),
    ],
)
def test_a_code_made_in_python_is_held_to_the_same_form(values: dict[str, object], said: str) -> None:
    with pytest.raises(CodebookError, match=said):
        Code(**({"id": "x", "label": "X"} | values))  # type: ignore[arg-type]


def test_a_codebook_is_frozen() -> None:
    sense7 = Codebook.read("sense7")
    with pytest.raises(dataclasses.FrozenInstanceError):
        sense7.name = "other"  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        sense7.codes[0].label = "other"  # type: ignore[misc]
    assert hash(sense7) == hash(Codebook.read("sense7"))


@pytest.mark.parametrize("bad", ["\x00", "\x01", "\x1b", "\uffff"])
def test_a_control_character_in_a_name_is_refused_at_every_door(tmp_path: Path, bad: str) -> None:
    with pytest.raises(CodebookError, match="found a control character"):
        Code(id="a", label=f"a{bad}b")
    with pytest.raises(CodebookError, match="printable characters in title of the codebook"):
        Codebook(name="x", title=f"a{bad}", codes=(Code(id="a", label="a"),))
    for content, name in (
        (f'name: x\ncodes:\n  - id: a\n    label: "a\\u{ord(bad):04x}"\n', "x.yaml"),
        (f"id,label\na,a{bad}\n", "x.csv"),
    ):
        with pytest.raises(CodebookError, match=r"found a (control|NUL) character"):
            Codebook.read(written(tmp_path, content, name))


def test_parts_that_are_named_once_and_used_often_are_refused_before_they_unfold() -> None:
    """This file of 138 kB took 26 s and 660 MB; others of its kind many gigabytes."""
    named = "name: n\ncodes:\n  - {id: c, label: c, examples: &x [" + "e, " * 20_000 + "]}\n"
    begin = time.process_time()
    with pytest.raises(CodebookError, match="a name for a part"):
        Codebook.from_yaml(
            (named + "".join(f"  - {{id: c{n}, examples: *x}}\n" for n in range(3_000))).encode()
        )
    assert time.process_time() - begin < 3


@pytest.mark.long
def test_many_codes_keys_and_parents_take_no_quadratic_time() -> None:
    begin = time.process_time()
    chained = [Code(id=f"c{n}", label="x", parent=f"c{n - 1}" if n else None) for n in range(9_000)]
    assert len(Codebook(name="n", codes=tuple(reversed(chained))).codes) == 9_000
    with pytest.raises(CodebookError, match="found a circle"):
        Codebook(name="n", codes=(dataclasses.replace(chained[0], parent="c8999"), *chained[1:]))
    with pytest.raises(CodebookError, match="at most 10,000 codes – found 10,001"):
        Codebook(name="n", codes=tuple(Code(id=f"c{n}", label="x") for n in range(10_001)))
    assert time.process_time() - begin < 5


def test_a_codebook_is_a_collection_of_its_codes() -> None:
    sense7 = Codebook.read("sense7")
    assert len(sense7) == 7
    assert list(sense7) == list(sense7.codes)
    assert sense7["relational"] is sense7.codes[-1]
    assert "relational" in sense7
    assert sense7["relational"] in sense7
    assert "relation" not in sense7
    assert None not in sense7
    for wrong in ("relation", None, 3, ["relational"]):
        with pytest.raises(CodebookError, match="expected the id of one of its codes"):
            sense7[wrong]  # type: ignore[index]


def test_a_codebook_is_written_and_read_again(tmp_path: Path) -> None:
    sense7 = Codebook.read("sense7")
    path = tmp_path / "mine.yaml"
    sense7.write(path)
    assert path.read_bytes() == sense7.to_yaml()
    with pytest.raises(StoreError, match=r"the file 'mine.yaml' already exists"):
        sense7.write(path)
    sense7.write(path, overwrite=True)
    assert Codebook.read(path) == sense7
    with pytest.raises(ArgumentError, match=r"\.yaml, \.yml, \.qdc, \.csv – found 'mine.txt'"):
        sense7.write(tmp_path / "mine.txt")


@pytest.mark.long
@settings(max_examples=60, deadline=None)
@example("one\rtwo")
@example("\r")
@given(texts)
def test_any_text_survives_csv_or_is_refused(text: str) -> None:
    book = Codebook(name="mine", title="mine", codes=(Code(id="x", label="X", definition=text, source="s"),))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mine.csv"
        if text == text.strip() and "\x00" not in text:
            book.write(path)
            assert Codebook.read(path) == book
        else:
            with pytest.raises(CodebookError, match="would lose or change"):
                book.write(path)


def test_a_csv_is_written_where_it_holds_the_whole_codebook(tmp_path: Path) -> None:
    sense7 = Codebook.read("sense7")
    plain = Codebook(
        name="mine", title="mine", codes=(*sense7.codes, Code(id="top", label='Ä, "b"', codable=False))
    )
    plain.write(tmp_path / "mine.csv")
    assert Codebook.read(tmp_path / "mine.csv") == plain
    with pytest.raises(CodebookError, match=r"cannot hold its 'name', 'title', which 'other.csv' would lose"):
        plain.write(tmp_path / "other.csv")
    broken = replace(plain, codes=(Code(id="a", label="a", examples=("two\nlines",)),))
    with pytest.raises(CodebookError, match="cannot hold its 'codes', which"):
        broken.write(tmp_path / "mine.csv", overwrite=True)
    with pytest.raises(CodebookError, match="cannot hold its 'name', 'title', 'version' "):
        sense7.write(tmp_path / "none.csv")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["mine.csv"]


def test_a_notebook_shows_one_line_per_code_that_folds_out() -> None:
    codes = (
        Code(
            id="care",
            label="Care & <b>",
            definition="It cared. Or it tried to.",
            key="1",
            use_when=("It <i>asks</i>.",),
        ),
        Code(id="bare", label="Bare", parent="care"),
    )
    shown = Codebook(name="x", codes=codes)._repr_html_()
    first, second = shown.splitlines()
    line, rules = first.split("</summary>")
    assert line.endswith("<kbd>1</kbd> <b>Care &amp; &lt;b&gt;</b> It cared.")
    assert "It cared. Or it tried to." in rules
    assert "It &lt;i&gt;asks&lt;/i&gt;." in rules
    assert second.startswith('<details style="margin-left: 1.5em"><summary><b>Bare</b>')
