"""What programs write otherwise than the standard, and what comes back from them: understood, or named."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from sense7_qual import acts, exchange
from sense7_qual.codebook import Code, Codebook
from sense7_qual.errors import ArgumentError
from sense7_qual.store import Store
from tests.helpers.projects import SAMPLE, SCHEMA, changed, valid

BOOK = Codebook(
    name="small",
    codes=(
        Code(id="tone", label="Tone", codable=False),
        Code(id="warm", label="Warm", parent="tone"),
        Code(id="cold", label="Cold"),
    ),
)
TEXTS = {
    "m0": "It listened 🙂 to me.",
    "m1": "שלום e\u0301 done",
    "m2": "a\n\nb c",
    "m3": "It listened 🙂 to me.",
    "m4": "田中さん 👩‍👩‍👧 ok",
}
CASES = ["p0", "p0", "p1", "p1", None]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    units = pd.DataFrame({"unit_id": list(TEXTS), "text": list(TEXTS.values()), "document_id": "d"})
    units = units.assign(case_id=CASES, position=range(5), rating=range(5), age=[31, 31, 40, 40, 9])
    store = Store.create(tmp_path / "study", units=units, codebook=BOOK)
    who = {"coder": "ana", "codebook": BOOK}
    store.append(
        [
            acts.apply(**who, unit_id="m0", code="warm", start=3, end=11),
            acts.apply(**who, unit_id="m1", code="cold"),
            acts.apply(**who, unit_id="m2", code="warm", start=3, end=4),
            acts.apply(**who, unit_id="m3", code="cold"),
            acts.apply(**who, unit_id="m4", code="cold", start=5, end=10),
            acts.memo(**who, unit_id="m1", text="Why?"),
            *(acts.finish(**who, unit_id=each) for each in TEXTS),
        ]
    )
    return store


def written(store: Store, folder: Path, **named: object) -> Path:
    exchange.write_project(store, folder / "mine.qdpx", **named)  # type: ignore[arg-type]
    return folder / "mine.qdpx"


def inside(path: Path) -> str:
    with zipfile.ZipFile(path) as archive:
        return archive.read("project.qde").decode()


def rewritten(path: Path, content: str) -> Path:
    """The project with other XML, as of another program."""
    content = content.replace('origin="sense7_qual code-points"', 'origin="Other 1"')
    other = path.with_name("other.qdpx")
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(other, "w") as archive:
        for member in source.namelist():
            archive.writestr(member, content if member == "project.qde" else source.read(member))
    return other


def keys(codings: pd.DataFrame) -> set[tuple[object, ...]]:
    columns = codings[["unit_id", "coder", "code", "start", "end"]].astype(object)
    return set(columns.where(columns.notna(), None).itertuples(index=False, name=None))


@pytest.mark.skipif(
    not SCHEMA.exists(), reason="no schema of REFI-QDA beside the project: validity not checked"
)
def test_the_schema_tells_what_is_not_valid(store: Store, tmp_path: Path) -> None:
    path = written(store, tmp_path)
    valid(path)
    with pytest.raises(Exception, match="confidence"):
        valid(changed(path, ("<Coding ", '<Coding confidence="1" '), ours=True))


def test_another_name_and_namespace_are_warned_of(store: Store, tmp_path: Path) -> None:
    path = written(store, tmp_path)
    assert "project.qde" not in str(exchange.read_project(path).losses)
    for namespace in ("urn:QDA-XML:project:1:0", "urn:QDA-XML:project:0:4"):
        other = changed(path, ("urn:QDA-XML:project:1.0", namespace), names={"project.qde": "My Study.QDE"})
        losses = str(exchange.read_project(other).losses)
        assert "another namespace" in losses
        assert "not called project.qde" in losses


@pytest.mark.long
@pytest.mark.parametrize(
    "where", ['plainTextPath="relative:///a/b.txt"', 'plainTextPath="absolute:///C:/a.txt"', "", "empty"]
)
def test_a_text_that_is_elsewhere_empty_or_nowhere_is_a_loss(
    store: Store, tmp_path: Path, where: str
) -> None:
    path = written(store, tmp_path)
    content = inside(path)
    old = re.search(r'plainTextPath="internal://[^"]*"', content)
    assert old is not None
    if where == "empty":
        new = f'{old[0]}><PlainTextContent></PlainTextContent></TextSource><TextSource guid="x" name="y"'
        other = changed(path, (old[0], new))
    else:
        other = changed(path, (old[0], where))
    project = exchange.read_project(other, offsets="code-points")
    assert project.units["text"].isna().sum() == 1
    assert "texts that are not in the file" in str(project.losses)


def test_a_comment_in_place_of_a_memo_and_of_a_coding_is_a_memo(store: Store, tmp_path: Path) -> None:
    path = written(store, tmp_path)
    selection = (
        '<PlainTextSelection guid="0c5b9a1e-0000-4000-8000-000000000001" startPosition="0" endPosition="2">'
        "<Description>Who is it?</Description></PlainTextSelection><PlainTextSelection "
    )
    content = inside(path)
    other = rewritten(path, content.replace("<PlainTextSelection ", selection, 1))
    project = exchange.read_project(other)
    [memo] = project.memos[project.memos["text"] == "Who is it?"].to_dict("records")
    assert [memo[name] for name in ("target_kind", "target_id", "coder", "start", "end")] == [
        "span",
        "m0",
        "unknown",
        0,
        2,
    ]
    assert "comments instead of memos" in str(project.losses)


def test_a_quote_that_is_not_selected_is_named(store: Store, tmp_path: Path) -> None:
    path = written(store, tmp_path)
    other = changed(path, ('name="listened"', 'name="something else"'))
    project = exchange.read_project(other)
    assert "other words than the quote noted with them" in str(project.losses)
    assert "not the quote" not in str(exchange.read_project(path).losses)


def test_texts_of_one_name_are_two(store: Store, tmp_path: Path) -> None:
    other = changed(written(store, tmp_path), ('name="m1"', 'name="m0"'))
    project = exchange.read_project(other)
    assert project.units["unit_id"].tolist()[:2] == ["m0", "m0 (2)"]
    assert "texts of one name: numbered" in str(project.losses)


def test_paths_in_names_become_headings_only_where_asked(store: Store, tmp_path: Path) -> None:
    path = written(store, tmp_path)
    named = changed(path, ('name="Cold"', 'name="Tone::Hard ::Cold"'))
    flat = exchange.read_project(named).codebook
    assert flat is not None
    assert "Tone::Hard ::Cold" in {code.label for code in flat.codes}
    project = exchange.read_project(named, split="::")
    book = project.codebook
    assert book is not None
    tree = {
        code.label: (book[code.parent].label if code.parent else None, code.codable) for code in book.codes
    }
    assert tree == {
        "Tone": (None, False),
        "Warm": ("Tone", True),
        "Hard": ("Tone", False),
        "Cold": ("Hard", True),
    }
    assert len(project.codings) == 5
    assert "put under headings" in str(project.losses)
    with pytest.raises(ArgumentError, match="split"):
        exchange.read_project(named, split=" ")
    for odd in ("::Cold", "Cold::", "::"):
        labels = exchange.read_project(changed(path, ('name="Cold"', f'name="{odd}"')), split="::").codebook
        assert labels is not None
        assert odd in {code.label for code in labels.codes}


def test_no_path_and_no_name_of_this_computer_is_in_a_project(store: Store, tmp_path: Path) -> None:
    content = inside(written(store, tmp_path))
    assert "basePath" not in content
    assert str(tmp_path) not in content
    assert "&#" not in content.replace("&#10;", "").replace("&#9;", "").replace("&#13;", "")
    with zipfile.ZipFile(tmp_path / "mine.qdpx") as archive:
        texts = b"".join(archive.read(name) for name in archive.namelist() if name.endswith(".txt"))
    assert TEXTS["m4"].encode() in texts


@pytest.mark.long
@pytest.mark.parametrize("layout", ["texts", "participants"])
def test_what_another_program_added_and_took_away_is_found(store: Store, tmp_path: Path, layout: str) -> None:
    """As after work in MAXQDA: a code and a coding more, one coding less, new identifiers, other names."""
    path = written(store, tmp_path, layout=layout)
    valid(path)
    content = inside(path)
    cold = re.search(r'<Code guid="([^"]+)" name="Cold"', content)
    ana = re.search(r'<User guid="([^"]+)"', content)
    assert cold is not None
    assert ana is not None
    at = 5 if layout == "participants" else 0  # behind "[m0]" and a line's end
    more = (
        f'<PlainTextSelection guid="0c5b9a1e-0000-4000-8000-000000000002" startPosition="{at + 12}" '
        f'endPosition="{at + 16}">'
        f'<Coding guid="0c5b9a1e-0000-4000-8000-000000000003" creatingUser="{ana[1]}">'
        f'<CodeRef targetGUID="{cold[1]}"/></Coding></PlainTextSelection><PlainTextSelection '
    )
    hope = '<Code guid="0c5b9a1e-0000-4000-8000-000000000004" name="Hope" isCodable="true"/></Codes>'
    edited = content.replace("<PlainTextSelection ", more, 1).replace("</Codes>", hope, 1)
    edited = re.sub(r'<PlainTextSelection [^>]*name="b c?".*?</PlainTextSelection>', "", edited, count=1)
    edited = re.sub(r'<PlainTextSelection [^>]*name="b".*?</PlainTextSelection>', "", edited, count=1)
    edited = re.sub(r"<Description>[^<]*</Description>", "", edited)
    guids = dict.fromkeys(re.findall(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", edited))
    fresh = {old: f"{number:08x}-1111-4111-8111-111111111111" for number, old in enumerate(guids)}
    for old, new in fresh.items():
        # but in the names of files, which are the program's own
        edited = re.sub(f"(?<!internal://){old}(?!\\.txt)", new, edited)
    other = rewritten(path, edited)
    project = exchange.read_project(other, offsets="code-points")
    found = exchange.match(store, project)
    assert sorted(found.units["unit_id"]) == list(TEXTS)
    new = found.codings[~found.codings["known"]]
    assert keys(new) == {("m0", "ana", "cold", 12, 16)}
    assert keys(found.removed_codings) == {("m2", "ana", "warm", 3, 4)}
    assert found.codes.loc[found.codes["known_as"].isna(), "label"].tolist() == ["Hope"]
    for row in new.itertuples():
        taken = {"coder": row.coder, "unit_id": row.unit_id, "code": row.code, "codebook": store.codebook}
        store.append([acts.apply(start=row.start, end=row.end, **taken)])
    again = exchange.match(store, project)
    assert again.codings["known"].all()
    assert repr(again) == "Match(5 texts, 0 new codings, 1 removed, 1 new codes)"


def test_sources_of_participants_hold_their_texts_and_every_coding(store: Store, tmp_path: Path) -> None:
    report = exchange.write_project(store, tmp_path / "mine.qdpx", layout="participants")
    valid(tmp_path / "mine.qdpx")
    project = exchange.read_project(tmp_path / "mine.qdpx")
    assert project.units["unit_id"].tolist() == ["p0", "p1", "m4"]
    assert project.units["text"].tolist()[0] == f"[m0]\n{TEXTS['m0']}\n\n[m1]\n{TEXTS['m1']}"
    assert project.units["age"].tolist() == [31, 40, 9]
    texts = project.units.set_index("unit_id")["text"]
    spans = project.codings.dropna(subset=["start"])
    quotes = {texts[row.unit_id][row.start : row.end] for row in spans.itertuples()}
    assert quotes == {"listened", TEXTS["m1"], "b", TEXTS["m3"], "👩‍👩‍👧"}
    assert keys(exchange.match(store, project).codings) == keys(store.codings())
    assert set(project.coverage["unit_id"]) == {"p0", "p1", "m4"}
    for words in ("4 × texts that share a source", "differ between the texts of a participant"):
        assert words in str(report)
    assert project.memos["target_kind"].tolist() == ["span"]
    before = (tmp_path / "mine.qdpx").read_bytes()
    exchange.write_project(store, tmp_path / "mine.qdpx", layout="participants", overwrite=True)
    assert (tmp_path / "mine.qdpx").read_bytes() == before


def test_what_cannot_be_found_is_named(store: Store, tmp_path: Path) -> None:
    other = changed(written(store, tmp_path), ('name="m0"', 'name="zz"'), ('name="m1"', 'name="yy"'))
    found = exchange.match(store, exchange.read_project(other, offsets="code-points"))
    by = found.units.set_index("unit_id")["by"].to_dict()
    assert by == {"m1": "text", "m2": "name", "m3": "name", "m4": "name"}  # m0 and m3 have the same words
    assert "no text of the study" in str(found.losses)
    with pytest.raises(ArgumentError, match="open study"):
        exchange.match(store.units, exchange.read_project(other, offsets="code-points"))  # type: ignore[arg-type]


@pytest.mark.skipif(not SAMPLE.exists(), reason="the sample project is not at hand")
def test_the_losses_of_a_sample_of_another_program_are_listed() -> None:
    project = exchange.read_project(SAMPLE)
    assert [(loss.what.partition(":")[0], loss.n) for loss in project.losses] == [
        ("a project that is not called project.qde in its file", 1),
        ("texts that are not in the file", 8),
        ("sources of the kind PictureSource", 1),
        ("pages of PDFSource", 2),
        ("sources of the kind AudioSource", 1),
        ("sources of the kind VideoSource", 2),
        ("comments instead of memos", 2),
        ("titles of memos", 2),
        ("members of groups that are no text or code that was read", 6),
        ("groups without a text or code that was read", 3),
        ("who finished which text", 1),
        ("texts that belong to no case", 8),
        ("users who did nothing that was read", 2),
        ("selections in pictures", 1),
        ("codings in pictures", 2),
        ("selections in PDFs", 4),
        ("texts of selections in PDFs", 3),
        ("codings in PDFs", 4),
        ("transcripts in films", 3),
        ("points in time in films", 13),
        ("selections in films", 2),
        ("codings in films", 1),
        ("descriptions in memos", 1),
        ("links", 1),
        ("maps and graphs", 1),
        ("boxes in maps and graphs", 3),
        ("lines in maps and graphs", 2),
    ]
    sizes = project.groups.groupby("group")["code"].count().to_dict()
    feelings = {"Feelings": 6, "negative feelings": 4, "positive feelings": 3}
    assert sizes == feelings | {"Breakfast food": 6, "<3": 0}
    assert project.units["PDFs"].sum() == 2
    assert project.codebook is not None
    assert project.codebook.description == ""
    book = exchange.read_project(SAMPLE, split="::").codebook
    assert book is not None
    assert not [code.label for code in book.codes if "::" in code.label]
