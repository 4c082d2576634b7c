"""REFI-QDA projects: what is written is read back equal, is valid, and what others write is understood."""

from __future__ import annotations

import io
import re
import sys
import tempfile
import zipfile
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import Phase, given, settings, strategies as st

from sense7_qual import acts, exchange
from sense7_qual.codebook import Code, Codebook
from sense7_qual.errors import ArgumentError, CodebookError, ImportRefused, StoreError, TableError
from sense7_qual.store import Store
from tests.helpers.drawn_codebooks import codebooks
from tests.helpers.places import ROOT
from tests.helpers.projects import SAMPLE, changed, valid

KEY = ["unit_id", "coder", "code"]
SAME = [*KEY, "start", "end", "confidence", "round", "at", "act_id"]
MEMO = ["target_kind", "target_id", "coder", "text", "at", "start", "end", "round"]
TEXTS = [
    "It listened 🙂 to me.",
    "שלום e\u0301 done",
    "a\nb\n\nc",
    "x",
    " padded ",
    "田中さん 👩‍👩‍👧",
    "tab\there ]]> & <b>",
    "\x0b\x1f low",
]
BOOK = Codebook(name="small", codes=(Code(id="warm", label="Warm"), Code(id="cold", label="Cold & <clear>")))


def rows(frame: pd.DataFrame, columns: list[str]) -> list[tuple[object, ...]]:
    plain = frame[columns].astype(object).where(frame[columns].notna(), None)
    return sorted(plain.itertuples(index=False, name=None), key=repr)


def settled(store: Store) -> pd.DataFrame:
    """Return each coder's last decisions, and what is settled by rulings."""
    return pd.concat([store.decisions(settled_by=one) for one in ("nothing", "rulings")])


def study(folder: Path, units: pd.DataFrame | None = None, codebook: Codebook = BOOK) -> Store:
    units = frame_of(TEXTS) if units is None else units
    return Store.create(folder / "study", units=units, codebook=codebook)


def frame_of(texts: list[str]) -> pd.DataFrame:
    n = range(len(texts))
    return pd.DataFrame(
        {
            "unit_id": [f"m{i}" for i in n],
            "text": texts,
            "document_id": [f"d{i // 2}" for i in n],
            "case_id": [f"p {i // 3}" for i in n],
            "position": list(n),
            "rating": [float(i % 5) for i in n],
            "turns": [i * 10**6 for i in n],
            "agreed": [i % 2 == 0 for i in n],
            "condition": [["a b", None, "<c>"][i % 3] for i in n],
        }
    )


@st.composite
def deeds(draw: st.DrawFn, codebook: Codebook, texts: list[str]) -> list[list[acts.Act]]:
    """Codings, memos and finished texts of up to three coders, on spans that overlap and on whole texts."""
    codes = [code.id for code in codebook.codable]
    of_coders = []
    for coder in draw(st.lists(st.sampled_from(["ana", "ben", "chi"]), unique=True)):
        done: list[acts.Act] = []
        who = {"coder": coder, "codebook": codebook}
        for place, text in enumerate(texts):
            unit_id = f"m{place}"
            for code in draw(st.lists(st.sampled_from(codes), max_size=2)) if codes else []:
                start = draw(st.integers(0, len(text) - 1))
                end = draw(st.integers(start + 1, len(text)))
                span = draw(
                    st.sampled_from([{}, {"start": start, "end": end}, {"start": 0, "end": len(text)}])
                )
                sure = draw(st.sampled_from([None, "unsure"]))
                done.append(acts.apply(**who, unit_id=unit_id, code=code, confidence=sure, **span))
            if draw(st.booleans()):
                done.append(acts.finish(**who, unit_id=unit_id))
        said = draw(st.sampled_from(["Why?\n\nOr not.", "  🙂 <b>", "שלום"]))
        done.append(acts.memo(**who, text=said, unit_id="m0"))
        done.append(
            acts.memo(**who, text=said, unit_id="m0", target_kind="span", start=0, end=1, round="one")
        )
        done.append(acts.memo(**who, text=said, target_kind="study"))
        done += [acts.memo(**who, text=said, target_kind="code", code=code) for code in codes[:1]]
        of_coders.append(done)
    return of_coders


@pytest.mark.nightly
@pytest.mark.long
@settings(max_examples=40, deadline=None, phases=[Phase.generate])
@given(st.data())
def test_any_study_is_valid_and_comes_back_equal(data: st.DataObject) -> None:
    codebook = data.draw(codebooks())
    texts = data.draw(st.lists(st.sampled_from(TEXTS), min_size=1, max_size=5))
    with tempfile.TemporaryDirectory() as folder:
        store = study(Path(folder), frame_of(texts), codebook)
        for done in data.draw(deeds(codebook, texts)):
            store.append(done)
        path = Path(folder, "mine.qdpx")
        offsets = data.draw(st.sampled_from(["code-points", "utf-16"]))
        try:
            exchange.write_project(store, path, offsets=offsets)
        except CodebookError as error:  # for this alone: tests/codebook/test_qdc.py
            assert "found the character U+" in str(error)  # noqa: PT017
            return
        valid(path)
        again = exchange.read_project(path)
        assert again.codebook == codebook
        facets = [facet.name for facet in codebook.facets if facet.name in store.codings()]
        assert rows(again.codings, SAME + facets) == rows(store.codings(), SAME + facets)
        assert rows(again.memos, MEMO) == rows(store.memos(), MEMO)
        pd.testing.assert_frame_equal(again.units, store.units, check_like=True, check_dtype=False)
        if len(store.coverage()):
            assert rows(again.decisions(), [*KEY, "applied"]) == rows(store.decisions(), [*KEY, "applied"])
        joined = Path(folder, "joined.qdpx")
        exchange.write_project(store, joined, offsets=offsets, layout="participants")
        valid(joined)
        found = exchange.match(store, exchange.read_project(joined))
        assert set(found.units["unit_id"]) == {f"m{place}" for place in range(len(texts))}
        assert found.codings["known"].all()
        assert found.removed_codings.empty
        first = path.read_bytes()
        exchange.write_project(store, path, offsets=offsets, overwrite=True)
        assert path.read_bytes() == first


def written(folder: Path, store: Store | None = None) -> Path:
    """A project of a small study, in which ana coded two texts and finished one."""
    store = store or study(folder)
    who = {"coder": "ana", "codebook": BOOK}
    store.append(
        [
            acts.apply(**who, unit_id="m0", code="warm", start=3, end=11),
            acts.apply(**who, unit_id="m0", code="cold", start=17, end=19),
            acts.apply(**who, unit_id="m5", code="cold", start=5, end=10),
            acts.apply(**who, unit_id="m5", code="warm"),
            acts.finish(**who, unit_id="m0"),
        ]
    )
    exchange.write_project(store, folder / "mine.qdpx")
    return folder / "mine.qdpx"


def test_what_another_program_passed_on_is_still_there(tmp_path: Path) -> None:
    project = exchange.read_project(changed(written(tmp_path)))
    assert project.units["text"].tolist() == TEXTS
    spans = project.codings.dropna(subset=["start"])
    assert rows(spans, [*KEY, "start", "end"]) == [
        ("m0", "ana", "cold", 17, 19),
        ("m0", "ana", "warm", 3, 11),
        ("m5", "ana", "cold", 5, 10),
    ]
    whole = project.codings[project.codings["start"].isna()]
    assert rows(whole, KEY) == [("m5", "ana", "warm")]
    assert project.codebook == BOOK
    assert "read as codings of the whole text" in str(project.losses)
    assert project.offsets.set_index("unit_id").loc["m0", "rule"] == "code-points"


@pytest.mark.long
@pytest.mark.parametrize(
    ("change", "names"),
    [
        (("urn:QDA-XML:project:1.0", "urn:QDA-XML:project:1:0"), {}),
        (("urn:QDA-XML:project:1.0", "urn:QDA-XML:project:0:4"), {}),
        (("<Users>", "<!-- x --><Users>"), {"project.qde": "Project.QDE"}),
        (("internal://", "internal://SOURCES/"), {}),
        (('guid="', 'guid="{'), {}),
        (("<Users>", "<Users>"), {"project.qde": "the study.qde"}),
    ],
)
def test_what_programs_write_otherwise_is_understood(
    tmp_path: Path, change: tuple[str, str], names: dict[str, str]
) -> None:
    path = written(tmp_path)
    if change[0] == 'guid="':  # braces around every identifier
        content = zipfile.ZipFile(path).read("project.qde").decode()
        braced = re.sub(r'((?:guid|targetGUID|creatingUser)=")([0-9a-f-]{36})"', r'\1{\2}"', content)
        other = changed(path, (content, braced), ours=True)
    else:
        other = changed(path, change, names=names)
    project = exchange.read_project(other)
    assert len(project.codings) == 4
    assert project.codebook == BOOK


def test_a_missing_text_keeps_its_place_and_is_named(tmp_path: Path) -> None:
    path = written(tmp_path)
    own = next(name for name in zipfile.ZipFile(path).namelist() if name.startswith("sources/"))  # of m0
    project = exchange.read_project(changed(path, names={own: ""}))
    assert project.units["text"].isna().tolist() == [True] + [False] * (len(TEXTS) - 1)
    assert len(project.codings) == 4
    assert "texts that are not in the file" in str(project.losses)
    row = project.offsets.set_index("unit_id").loc["m0"]
    assert "missing" in row["rule"]
    assert pd.isna(row["score"])


def test_utf16_of_another_program_is_inferred_or_asked_for(tmp_path: Path) -> None:
    store = study(tmp_path)
    written(tmp_path, store)
    exchange.write_project(store, tmp_path / "nvivo.qdpx", offsets="utf-16")
    other = changed(tmp_path / "nvivo.qdpx", ("sense7_qual utf-16", "NVivo"), ours=True)
    project = exchange.read_project(other)
    assert set(project.offsets.set_index("unit_id")["rule"]) == {"utf-16"}
    assert rows(project.codings, [*KEY, "start", "end"]) == rows(store.codings(), [*KEY, "start", "end"])
    wrong = exchange.read_project(other, offsets="code-points")
    assert rows(wrong.codings, [*KEY, "start", "end"]) != rows(store.codings(), [*KEY, "start", "end"])
    with pytest.raises(ArgumentError, match="offsets"):
        exchange.read_project(other, offsets="utf16")


def test_nothing_is_guessed_where_ways_of_counting_fit_alike(tmp_path: Path) -> None:
    units = frame_of(["🙂 田田田田田田"])
    store = study(tmp_path, units)
    store.append([acts.apply(coder="ana", codebook=BOOK, unit_id="m0", code="warm", start=3, end=5)])
    exchange.write_project(store, tmp_path / "mine.qdpx")
    content = zipfile.ZipFile(tmp_path / "mine.qdpx").read("project.qde").decode()
    nameless = re.sub(r'(<PlainTextSelection guid="[^"]*") name="[^"]*"', r"\1", content)
    other = changed(
        tmp_path / "mine.qdpx", (content, nameless.replace("sense7_qual code-points", "X")), ours=True
    )
    with pytest.raises(ImportRefused, match="pass offsets=") as refused:
        exchange.read_project(other)
    assert "田" not in str(refused.value)
    for offsets, span in (("code-points", (3, 5)), ("utf-16", (2, 4))):
        project = exchange.read_project(other, offsets=offsets)
        assert tuple(project.codings[["start", "end"]].iloc[0]) == span


def test_who_finished_what_is_asked_for_where_a_file_does_not_say(tmp_path: Path) -> None:
    path = written(tmp_path)
    content = zipfile.ZipFile(path).read("project.qde").decode()
    project = exchange.read_project(
        changed(path, (re.search("<Sets>.*</Sets>", content, re.S)[0], ""), ours=True)
    )
    with pytest.raises(TableError, match="which texts each coder finished"):
        project.decisions()
    assert "who finished which text" in str(project.losses)


def test_decisions_that_are_open_since_the_codebook_changed_stay_open(tmp_path: Path) -> None:
    store = study(tmp_path)
    store.append([acts.finish(coder="ana", unit_id="m0", codebook=BOOK)])
    store.revise(replace(BOOK, codes=(*BOOK.codes, Code(id="hope", label="Hope"))), why="new", coder="lead")
    store.append([acts.finish(coder="ben", unit_id="m0", codebook=store.codebook)])
    path = tmp_path / "mine.qdpx"
    report = exchange.write_project(store, path)
    valid(path)
    again = exchange.read_project(path)
    assert rows(again.decisions(), [*KEY, "applied"]) == rows(store.decisions(), [*KEY, "applied"])
    assert ("m0", "ana", "hope") not in rows(again.decisions(), KEY)
    assert "open since the codebook changed" in str(report)


@pytest.mark.long
def test_agreed_codes_and_their_missing_reasons(tmp_path: Path) -> None:
    store = study(tmp_path)
    for coder, code in (("ana", "warm"), ("ben", "cold")):
        done = [acts.apply(coder=coder, unit_id="m0", code=code, codebook=BOOK)]
        store.append([*done, acts.finish(coder=coder, unit_id="m0", codebook=BOOK)])
    store.append(
        [acts.rule(coder="lead", unit_id="m0", code="warm", applied=True, reason="slip", codebook=BOOK)]
    )
    path = tmp_path / "mine.qdpx"
    report = exchange.write_project(store, path)
    assert "rulings: their reasons" in str(report)
    again = exchange.read_project(path)
    agreed = settled(store)
    assert rows(again.decisions(), [*KEY, "applied"]) == rows(agreed, [*KEY, "applied"])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"no zip at all", "another kind of file"),
        (b"PK\x03\x04 broken", "damaged"),
        (b"", "another kind of file"),
    ],
)
def test_what_is_no_project_is_refused(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "x.qdpx").write_bytes(content)
    with pytest.raises(ImportRefused, match=said):
        exchange.read_project(tmp_path / "x.qdpx")


def packed(content: str, **more: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, each in {"project.qde": content, **more}.items():
            archive.writestr(name, each)
    return file.getvalue()


BOMB = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">]><Project>&a;</Project>'


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (packed(BOMB), "no document type"),
        (packed("<Project>" + "<a>" * 100 + "</a>" * 100 + "</Project>"), "limits.depth"),
        (packed("<Project><Users>"), "a mistake in line 1"),
        (packed("<CodeBook/>"), "expected a REFI-QDA Project"),
        (packed("<Project/>", **{"two.qde": "<Project/>"}), "expected one project.qde"),
        (packed("<Project/>", big="a" * 50_000_000), "limits.expansion"),
    ],
)
def test_hostile_projects_are_refused(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "x.qdpx").write_bytes(content)
    with pytest.raises(ImportRefused, match=said):
        exchange.read_project(tmp_path / "x.qdpx")


def test_an_empty_project_is_read_as_nothing(tmp_path: Path) -> None:
    (tmp_path / "x.qdpx").write_bytes(packed('<Project xmlns="urn:QDA-XML:project:1.0" name="n"/>'))
    project = exchange.read_project(tmp_path / "x.qdpx")
    assert (len(project.units), len(project.codings), project.codebook, project.coders) == (0, 0, None, ())


def test_a_file_that_is_there_stays(tmp_path: Path) -> None:
    path = written(tmp_path)
    before = path.read_bytes()
    store = Store(tmp_path / "study")
    with pytest.raises(StoreError):
        exchange.write_project(store, path)
    with pytest.raises(ArgumentError, match=r"\.qdpx"):
        exchange.write_project(store, tmp_path / "mine.qdc")
    with pytest.raises(ArgumentError, match="offsets"):
        exchange.write_project(store, tmp_path / "x.qdpx", offsets="utf8")
    assert path.read_bytes() == before
    assert sorted(each.name for each in tmp_path.iterdir()) == ["mine.qdpx", "study"]


@pytest.mark.long
@pytest.mark.skipif(not SAMPLE.exists(), reason="the sample project is not at hand")
def test_a_sample_of_another_program() -> None:
    """Its texts are not in the file; the lengths of three selections whose names are quotes are known."""
    project = exchange.read_project(SAMPLE)
    assert (len(project.units), len(project.codebook or ()), len(project.codings)) == (8, 14, 9)
    length = project.codings["end"] - project.codings["start"]
    assert {56, 60, 7} <= set(length)
    assert project.units["text"].isna().all()
    assert "PictureSource" in str(project.losses)


def test_another_reader_reads_the_same(tmp_path: Path) -> None:
    """pyrefiqda, made by others from the schema, gives the same texts, codes, users and positions."""
    pyrefiqda = pytest.importorskip("pyrefiqda")
    path = written(tmp_path)
    theirs = pyrefiqda.RefiProject.load(path, extract_dir=str(tmp_path / "out"))
    sources = theirs.sources.text_source
    assert [source.name for source in sources] == [f"m{i}" for i in range(len(TEXTS))]
    codes = {code.guid: code.name for code in theirs.code_book.codes.code}
    users = {user.guid: user.name for user in theirs.users.user}
    read = set()
    for source in sources:
        file = pyrefiqda.RefiProject.resolve_source_path(source.plain_text_path, str(tmp_path / "out"))
        text = Path(file).read_text("utf-8")
        for selection in source.plain_text_selection:
            for coding in selection.coding:
                quote = text[selection.start_position : selection.end_position]
                read.add(
                    (source.name, users[coding.creating_user], codes[coding.code_ref.target_guid], quote)
                )
    assert read == {
        ("m0", "ana", "Warm", "listened"),
        ("m0", "ana", "Cold & <clear>", "me"),
        ("m5", "ana", "Cold & <clear>", TEXTS[5][5:10]),
        ("m5", "ana", "Warm", TEXTS[5]),
    }


@pytest.mark.long
def test_the_example_study_comes_back_whole(tmp_path: Path) -> None:
    sys.path.insert(0, str(ROOT / "notebooks"))
    try:
        import example_study
    finally:
        sys.path.pop(0)
    store = example_study.study(str(tmp_path / "example"))
    exchange.write_project(store, tmp_path / "example.qdpx")
    valid(tmp_path / "example.qdpx")
    again = exchange.read_project(tmp_path / "example.qdpx")
    of_people = again.codings[again.codings["coder"] != "consensus"]
    assert rows(of_people, [*KEY, "start", "end", "valence"]) == rows(
        store.codings(), [*KEY, "start", "end", "valence"]
    )
    agreed = settled(store)
    assert rows(again.decisions(), [*KEY, "applied"]) == rows(agreed, [*KEY, "applied"])
    assert (again.offsets["rule"] == "code-points").all()
