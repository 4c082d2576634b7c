"""Whatever a project holds is read, or is listed: nothing is lost without a word."""

from __future__ import annotations

import tempfile
import zipfile
from collections import Counter
from copy import deepcopy
from pathlib import Path
from xml.etree.ElementTree import Element

import pandas as pd
import pytest
from hypothesis import Phase, given, settings

from sense7_qual import acts, exchange
from sense7_qual.errors import ImportRefused, TableError
from sense7_qual.exchange import Project
from sense7_qual.store import Store
from tests.helpers.drawn_projects import TEXT, parsed, projects, written
from tests.helpers.projects import SAMPLE, SCHEMA, valid

FRAMES = ("units", "codings", "coverage", "undecided", "memos", "quotations", "groups")


def read(root: Element, path: Path) -> Project:
    return exchange.read_project(written(root, path), offsets="code-points")


def frames(project: Project) -> tuple[object, ...]:
    held = [getattr(project, name).astype(object).fillna("-").to_csv() for name in FRAMES]
    return (*held, project.description, project.coders, project.codebook)


def listed(project: Project, words: str) -> int:
    return sum(loss.n for loss in project.losses if loss.what.startswith(words))


def without(root: Element, nth: int) -> tuple[Element, Element, Element]:
    """The project without one of its elements, with what was taken out, and out of what."""
    copy = deepcopy(root)
    parents = [(parent, child) for parent in copy.iter() for child in parent]
    parent, child = parents[nth]
    parent.remove(child)
    return copy, parent, child


def silent_losses(root: Element, folder: Path) -> list[str]:
    """The elements that can be taken out and nobody would notice: what is read, and what is listed, is alike.

    The parts of a thing that is not read (the code of a coding on a picture) count with it. A memo that
    nothing refers to is read as one on the study, so its reference there says nothing more.
    """
    whole = read(root, folder / "whole.qdpx")
    known = frames(whole), str(whole.losses)
    index = {child: nth for nth, (_, child) in enumerate((p, c) for p in root.iter() for c in p)}
    silent = []
    for parent in root.iter():
        for child in parent:
            less = read(without(root, index[child])[0], folder / "less.qdpx")
            if (frames(less), str(less.losses)) == known and parent in index:
                parent_less = read(without(root, index[parent])[0], folder / "less.qdpx")
                if frames(parent_less) != known[0] or str(parent_less.losses) == known[1]:
                    silent.append(f"{child.tag} in {parent.tag}")
            elif (frames(less), str(less.losses)) == known and child.tag != "NoteRef":
                silent.append(f"{child.tag} in the project")
    return silent


@pytest.mark.nightly
@pytest.mark.long
@settings(max_examples=6, deadline=None, phases=[Phase.generate])
@given(projects())
def test_every_element_is_read_or_listed(root: Element) -> None:
    with tempfile.TemporaryDirectory() as folder:
        if SCHEMA.exists():
            valid(written(root, Path(folder, "valid.qdpx")))
        assert silent_losses(root, Path(folder)) == []


@pytest.mark.long
@settings(max_examples=60, deadline=None, phases=[Phase.generate])
@given(projects())
def test_what_is_read_and_what_is_listed_are_all(root: Element) -> None:
    with tempfile.TemporaryDirectory() as folder:
        project = read(root, Path(folder, "x.qdpx"))
    n = Counter(each.tag for each in root.iter())
    twice = listed(project, "codings repeated in the file")
    assert len(project.codings) + twice + listed(project, "codings in ") == n["Coding"]
    assert len(project.codebook or ()) == n["Code"]
    assert len({name for name in project.coders if name != "unknown"}) + listed(project, "users") == n["User"]
    assert project.units["case_id"].nunique() + listed(project, "cases without a text") == n["Case"]
    texts = n["TextSource"] + sum(len(each.findall("Representation")) for each in root.iter("PDFSource"))
    assert len(project.units) == texts
    values = listed(project, "values of variables in") + listed(
        project, "values of a variable that has another"
    )
    columns = [name for name in project.units if name.startswith("variable ")]
    shared = sum(
        (len(case.findall("VariableValue")) * (project.units["case_id"].eq(case.get("name")).sum() - 1))
        for case in root.iter("Case")
        if project.units["case_id"].eq(case.get("name")).any()
    )
    assert project.units[columns].notna().to_numpy().sum() + values - shared == n["VariableValue"]
    for tag, words in (
        ("Link", "links:"),
        ("Graph", "maps and graphs"),
        ("Vertex", "boxes"),
        ("Edge", "lines"),
        ("Transcript", "transcripts"),
        ("SyncPoint", "points in time"),
        ("MemberNote", "members that are memos"),
    ):
        assert listed(project, words) == n[tag], tag
    members = project.groups["code"].notna().sum()
    assert members == n["MemberCode"]


@pytest.mark.long
@pytest.mark.skipif(not SAMPLE.exists(), reason="the sample project is not at hand")
def test_every_element_of_a_sample_is_read_or_listed(tmp_path: Path) -> None:
    with zipfile.ZipFile(SAMPLE) as archive:
        root = parsed(archive.read("Project.qde").decode())
    assert silent_losses(root, tmp_path) == []


FOREIGN = f"""<Project xmlns="urn:QDA-XML:project:1.0" name="theirs" origin="Other">
<Users><User guid="00000000-0000-4000-8000-000000000001" name="ana"/></Users>
<CodeBook><Codes><Code guid="00000000-0000-4000-8000-000000000002" name="Warm" isCodable="true"/>
<Code guid="00000000-0000-4000-8000-000000000003" name="Cold" isCodable="true"/></Codes></CodeBook>
<Cases><Case guid="00000000-0000-4000-8000-000000000008" name="p1"><SourceRef
 targetGUID="00000000-0000-4000-8000-000000000004"/></Case></Cases>
<Sources><TextSource guid="00000000-0000-4000-8000-000000000004" name="m0">
<PlainTextContent>{TEXT}</PlainTextContent>
<PlainTextSelection guid="00000000-0000-4000-8000-000000000005" startPosition="3" endPosition="11"
 creatingUser="00000000-0000-4000-8000-000000000001" creationDateTime="2026-01-02T03:04:05Z" name="listened"/>
<PlainTextSelection guid="00000000-0000-4000-8000-000000000006" startPosition="0" endPosition="{len(TEXT)}"
 name="The best answer"/>
</TextSource></Sources>
<Sets><Set guid="00000000-0000-4000-8000-000000000010" name="Tone"><Description>How it
sounds</Description><MemberCode targetGUID="00000000-0000-4000-8000-000000000002"/><MemberCode
 targetGUID="00000000-0000-4000-8000-000000000003"/></Set>
<Set guid="00000000-0000-4000-8000-000000000011" name="Tone"><MemberCode
 targetGUID="00000000-0000-4000-8000-000000000002"/></Set>
<Set guid="00000000-0000-4000-8000-000000000012" name="Later"/></Sets>
<Description>What it is about</Description></Project>"""


@pytest.fixture
def foreign(tmp_path: Path) -> Project:
    return read(parsed(FOREIGN), tmp_path / "f.qdpx")


def test_groups_of_codes_and_free_quotations_are_kept_and_written_back(
    foreign: Project, tmp_path: Path
) -> None:
    groups = foreign.groups.astype(object).where(foreign.groups.notna(), None)
    assert list(groups.itertuples(index=False, name=None)) == [
        ("Tone", "How it\nsounds", "warm"),
        ("Tone", "How it\nsounds", "cold"),
        ("Tone (2)", None, "warm"),
        ("Later", None, None),
    ]
    quotations = foreign.quotations.astype(object).where(foreign.quotations.notna(), None)
    assert list(quotations.itertuples(index=False, name=None)) == [
        ("m0", "ana", 3, 11, None, "2026-01-02T03:04:05Z"),
        ("m0", "unknown", 0, len(TEXT), "The best answer", None),
    ]
    assert foreign.description == "What it is about"
    assert foreign.codebook is not None
    store = Store.create(tmp_path / "study", units=foreign.units, codebook=foreign.codebook)
    kept = {"groups": foreign.groups, "quotations": foreign.quotations}
    path = tmp_path / "mine.qdpx"
    exchange.write_project(store, path, **kept)
    valid(path)
    again = exchange.read_project(path)
    pd.testing.assert_frame_equal(again.groups, foreign.groups)
    pd.testing.assert_frame_equal(
        again.quotations.sort_values("start", ignore_index=True),
        foreign.quotations.sort_values("start", ignore_index=True),
    )
    assert again.codebook == foreign.codebook
    exchange.write_project(store, path, layout="participants", overwrite=True, **kept)
    joined = exchange.read_project(path)
    [text] = joined.units["text"]
    words = {text[row.start : row.end] for row in joined.quotations.itertuples()}
    assert words == {"listened", TEXT}


def test_groups_and_quotations_of_another_study_are_refused(foreign: Project, tmp_path: Path) -> None:
    assert foreign.codebook is not None
    store = Store.create(tmp_path / "study", units=foreign.units, codebook=foreign.codebook)
    with pytest.raises(TableError, match=r"groups within the study – found 1 rows.*'warmth'"):
        exchange.write_project(
            store, tmp_path / "x.qdpx", groups=foreign.groups.assign(code=["warmth", "cold", "warm", None])
        )
    for wrong in ({"unit_id": "m9"}, {"end": 10_000}, {"start": 500}):
        with pytest.raises(TableError, match="quotations within the study – found 2 rows"):
            exchange.write_project(store, tmp_path / "x.qdpx", quotations=foreign.quotations.assign(**wrong))
    assert not (tmp_path / "x.qdpx").exists()


def test_a_quotation_on_the_words_of_a_memo_is_the_memo(foreign: Project, tmp_path: Path) -> None:
    assert foreign.codebook is not None
    store = Store.create(tmp_path / "study", units=foreign.units, codebook=foreign.codebook)
    memo = {"unit_id": "m0", "target_kind": "span", "start": 3, "end": 11, "codebook": foreign.codebook}
    store.append([acts.memo(coder="ana", text="Why?", **memo), acts.memo(coder="ana", text="So.", **memo)])
    report = exchange.write_project(store, tmp_path / "x.qdpx", quotations=foreign.quotations)
    assert "1 × quotations of words on which their coder has a memo" in str(report)
    again = exchange.read_project(tmp_path / "x.qdpx")
    assert again.memos["text"].tolist() == ["Why?", "So."]
    assert again.quotations["coder"].tolist() == ["unknown"]
    changed = (tmp_path / "x.qdpx").read_bytes()
    with zipfile.ZipFile(tmp_path / "x.qdpx") as archive:
        content = archive.read("project.qde").decode().replace("sense7_qual code-points", "Other")
    assert changed.count(b"PK\x01\x02") == 2
    passed_on = written(parsed(content), tmp_path / "y.qdpx")
    assert exchange.read_project(passed_on).memos["text"].tolist() == ["Why?", "So."]


MISPLACED = {
    "older QualCanvas": '<Codings><Coding guid="c" codeGUID="{code}"><TextSelection guid="s" '
    'sourceGUID="{text}" startPosition="3" endPosition="11"/></Coding></Codings>',
    "a place in the coding": '<Codings><Coding guid="c" codeGUID="{code}" codingSourceGUID="{text}">'
    '<PlainTextSelection startPosition="3" endPosition="11"/></Coding></Codings>',
    "TextRange": '<Coding guid="c"><CodeRef targetGUID="{code}"/><TextRange start="3" end="11" '
    'sourceGUID="{text}"/></Coding>',
}


@pytest.mark.parametrize("shape", MISPLACED)
def test_codings_that_are_not_where_the_standard_has_them(shape: str, tmp_path: Path) -> None:
    names = {"code": "00000000-0000-4000-8000-000000000002", "text": "00000000-0000-4000-8000-000000000004"}
    plain = FOREIGN
    more = MISPLACED[shape].format(**names)
    project = read(parsed(plain.replace("<Sets>", f"{more}<Sets>")), tmp_path / "x.qdpx")
    [row] = project.codings[["unit_id", "code", "start", "end"]].itertuples(index=False, name=None)
    assert row == ("m0", "warm", 3, 11)
    assert "1 × codings that are not where the standard has them" in str(project.losses)
    unknown = more.replace(names["text"], "00000000-0000-4000-8000-0000000000ff")
    project = read(parsed(plain.replace("<Sets>", f"{unknown}<Sets>")), tmp_path / "x.qdpx")
    assert project.codings.empty
    assert "1 × codings: not read" in str(project.losses)


def test_a_place_within_a_coding_of_a_text_is_its_place(tmp_path: Path) -> None:
    coding = (
        '<Coding guid="c"><CodeRef targetGUID="00000000-0000-4000-8000-000000000002"/>'
        '<TextRange start="3" end="11"/></Coding></TextSource>'
    )
    plain = FOREIGN.replace("</TextSource>", coding)
    [row] = read(parsed(plain), tmp_path / "x.qdpx").codings.itertuples()
    assert (row.start, row.end) == (3, 11)


def test_pages_of_a_pdf_have_its_codings_variables_and_groups(tmp_path: Path) -> None:
    pdf = (
        '<PDFSource guid="00000000-0000-4000-8000-00000000000a" name="p"><Representation '
        f'guid="00000000-0000-4000-8000-00000000000b"><PlainTextContent>{TEXT}</PlainTextContent>'
        '</Representation><Coding guid="00000000-0000-4000-8000-00000000000c"><CodeRef '
        'targetGUID="00000000-0000-4000-8000-000000000002"/></Coding></PDFSource></Sources>'
    )
    group = (
        '<Sets><Set guid="00000000-0000-4000-8000-00000000000d" name="PDFs"><MemberSource '
        'targetGUID="00000000-0000-4000-8000-00000000000a"/></Set>'
    )
    plain = FOREIGN.replace("</Sources>", pdf)
    project = read(parsed(plain.replace("<Sets>", group)), tmp_path / "x.qdpx")
    assert project.codings["unit_id"].tolist() == ["p"]
    assert project.units["PDFs"].tolist() == [False, True]


def named_often(kind: str, n: int) -> tuple[str, dict[str, str]]:
    """A project of a few bytes that names one long text `n` times."""
    guid = [f"{number:08x}-0000-4000-8000-000000000000" for number in range(n + 10)]
    long = "word " * 100_000
    if kind == "sources":
        texts = (
            f'<TextSource guid="{guid[i]}" name="t{i}" plainTextPath="internal://a.txt"/>' for i in range(n)
        )
        return f"<Sources>{''.join(texts)}</Sources>", {"sources/a.txt": long}
    if kind == "memos":
        references = f'<NoteRef targetGUID="{guid[-1]}"/>' * n
        note = f'<Notes><Note guid="{guid[-1]}" plainTextPath="internal://a.txt"/></Notes>{references}'
        return note, {"sources/a.txt": long}
    if kind == "names":
        codings = (
            f'<PlainTextSelection guid="{guid[i]}" startPosition="{i % 30}" endPosition="{i % 30 + 1}">'
            f'<Coding guid="{guid[i]}" creatingUser="{guid[-1]}"><CodeRef targetGUID="{guid[-2]}"/></Coding>'
            "</PlainTextSelection>"
            for i in range(n)
        )
        return (
            f'<Users><User guid="{guid[-1]}" name="{long}"/></Users><CodeBook><Codes><Code guid="{guid[-2]}" '
            f'name="c" isCodable="true"/></Codes></CodeBook><Sources><TextSource guid="{guid[-3]}" name="t">'
            f"<PlainTextContent>{TEXT}</PlainTextContent>{''.join(codings)}</TextSource></Sources>"
        ), {}
    texts = (
        f'<TextSource guid="{guid[i]}" name="t{i}"><PlainTextContent>x</PlainTextContent></TextSource>'
        for i in range(n)
    )
    references = "".join(f'<SourceRef targetGUID="{guid[i]}"/>' for i in range(n))
    return (
        f'<Variables><Variable guid="{guid[-1]}" name="v" typeOfVariable="Text"/></Variables><Cases><Case '
        f'guid="{guid[-2]}" name="p"><VariableValue><VariableRef targetGUID="{guid[-1]}"/><TextValue>{long}'
        f"</TextValue></VariableValue>{references}</Case></Cases><Sources>{''.join(texts)}</Sources>"
    ), {}


@pytest.mark.long
@pytest.mark.parametrize("kind", ["sources", "memos", "names", "values"])
def test_what_is_named_often_is_counted_as_often(kind: str, tmp_path: Path) -> None:
    for n, refused in ((10, False), (1000, True)):
        content, more = named_often(kind, n)
        with zipfile.ZipFile(tmp_path / "x.qdpx", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("project.qde", f'<Project name="n">{content}</Project>')
            for name, text in more.items():
                archive.writestr(name, text)
        if refused:
            with pytest.raises(ImportRefused, match="each text as often as it is named"):
                exchange.read_project(tmp_path / "x.qdpx", offsets="code-points")
        else:
            exchange.read_project(tmp_path / "x.qdpx", offsets="code-points")


def test_many_variables_are_columns_made_at_once(tmp_path: Path) -> None:
    """pandas warns of columns that are added one by one, which takes quadratic time."""
    guid = [f"{number:08x}-0000-4000-8000-000000000000" for number in range(500)]
    variables = "".join(
        f'<Variable guid="{each}" name="v{i}" typeOfVariable="Integer"/>' for i, each in enumerate(guid)
    )
    values = "".join(
        f'<VariableValue><VariableRef targetGUID="{each}"/><IntegerValue>{i}</IntegerValue></VariableValue>'
        for i, each in enumerate(guid)
    )
    root = parsed(
        f'<Project name="n"><Variables>{variables}</Variables><Sources><TextSource guid="t" name="t">'
        f"<PlainTextContent>x</PlainTextContent>{values}</TextSource></Sources></Project>"
    )
    units = read(root, tmp_path / "x.qdpx").units
    assert units[[f"v{i}" for i in range(500)]].iloc[0].tolist() == list(range(500))
