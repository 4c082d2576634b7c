"""Quotes that are chosen, approved, refused and paraphrased, in studies of both kinds."""

from __future__ import annotations

import json
import zipfile
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from sense7_qual import acts
from sense7_qual.acts import Act
from sense7_qual.codebook import Code, Codebook
from sense7_qual.errors import ActError, CodebookError, StoreError
from sense7_qual.store import Store
from sense7_qual.store._postgres import server
from tests.helpers.nightly import nightly_but
from tests.store.conftest import Place

pytestmark = pytest.mark.long

CODEBOOK = Codebook(name="small", codes=tuple(Code(id=i, label=i.title()) for i in ("warm", "cold", "kind")))
HERS = "My sister Quokka left on Tuesday for good, and I never told anybody."
UNITS = pd.DataFrame(
    {
        "unit_id": ["m1", "m2", "m3"],
        "text": [HERS, "It asked how I was and then it asked again 👩‍👩‍👧.", "It rained."],
        "document_id": ["d1", "d2", "d3"],
        "case_id": ["p1", "p2", "p3"],
        "position": 0,
    }
)


def quote(unit_id: str = "m2", state: str = "approved", **more: object) -> Act:
    named = {"coder": "lead", "code": "warm", "codebook": CODEBOOK} | more
    return acts.quote(unit_id=unit_id, state=state, **named)


@pytest.fixture
def store(place: Place) -> Store:
    return Store.create(place("study"), units=UNITS, codebook=CODEBOOK)


@pytest.fixture
def folder(tmp_path: Path) -> Store:
    return Store.create(tmp_path / "folder", units=UNITS, codebook=CODEBOOK)


def rows(store: Store, *names: str) -> list[list[object]]:
    frame = store.quotes()
    return frame[list(names)].astype(object).where(frame[list(names)].notna(), None).values.tolist()


def test_the_last_decision_about_words_stands_and_undo_brings_the_one_before(store: Store) -> None:
    first = quote(state="chosen", at="2026-03-01T09:00:00.000Z")
    short = quote(start=3, end=18, at="2026-03-01T09:01:00.000Z")
    other = quote(state="refused", start=24, end=40, coder="chair", at="2026-03-01T09:02:00.000Z")
    elsewhere = quote(code="cold", paraphrase="It enquired twice.", at="2026-03-01T09:03:00.000Z")
    store.append([first, short, elsewhere])
    store.append([other])
    assert rows(store, "code", "start", "end", "state", "paraphrase", "coder") == [
        ["cold", None, None, "approved", "It enquired twice.", "lead"],
        ["warm", 3, 18, "approved", None, "lead"],
        ["warm", 24, 40, "refused", None, "chair"],
    ]
    store.append([acts.undo(short, codebook=CODEBOOK)])
    # The whole text was chosen before the chair refused words of it, which is the later decision.
    assert rows(store, "code", "start", "state")[1:] == [["warm", 24, "refused"]]
    store.append([acts.redo(short, codebook=CODEBOOK)])
    assert len(rows(store, "code")) == 3
    assert store.append([first, short, elsewhere]) == 0, "sent again, nothing is new"
    assert store.verify()["ok"].all()
    again = Store(store.path)
    pd.testing.assert_frame_equal(again.quotes(), store.quotes())
    if isinstance(store.path, str):
        server.connect(store.path).engine.dispose()


def test_a_later_decision_counts_though_the_clock_was_put_back(folder: Store) -> None:
    folder.append(
        [quote(at="2026-03-01T09:00:00.000Z"), quote(state="refused", at="2026-02-01T09:00:00.000Z")]
    )
    assert rows(folder, "state") == [["refused"]]


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: quote(state="aproved"), "did you mean 'approved'"),
        (lambda: quote(role="shown"), "did you mean 'shows'"),
        (lambda: quote(paraphrase="  "), "expected a paraphrase in words"),
        (lambda: quote(state="refused", paraphrase="Words."), "a quote that is not refused"),
        (lambda: quote(paraphrase="x" * 10_001), "at most 10000 characters"),
        (lambda: quote(code="wram"), "did you mean 'warm'"),
        (lambda: replace(quote(), facets="state=approved"), "expected role out of shows, disconfirms"),
        (lambda: replace(quote(), facets=None), "expected facets for kind 'quote'"),
        (lambda: replace(quote(), text="Words."), "none otherwise"),
        (lambda: quote(start=0, end=99), "within the text's"),
        (lambda: quote(paraphrase="it ASKED how I was, and then it asked again"), "found the same words"),
        (lambda: quote(start=3, end=8, paraphrase="Asked!"), "found the same words"),
        (lambda: quote("m9"), "expected a unit of this study"),
    ],
)
def test_what_is_no_decision_about_a_quote_is_refused(folder: Store, made: object, expected: str) -> None:
    with pytest.raises((ActError, CodebookError), match=expected):
        folder.append([made()])  # type: ignore[operator]
    assert folder.acts() == []


def test_a_withdrawal_takes_quotes_of_their_texts_and_paraphrases_that_repeat_them(store: Store) -> None:
    words = "sister Quokka left on Tuesday for good"
    store.append(
        [
            quote("m1", paraphrase="Tells of being left."),
            quote("m2", paraphrase=f"Nothing like: {words}"),
            quote("m3", code="cold", paraphrase="As with the sister Quokka"),
            quote("m3", paraphrase="The weather was bad."),
        ]
    )
    found = store.forget("p1", why="withdrew")
    assert (found.n_texts, found.n_memos_elsewhere) == (2, 1)
    listed = found.still_held.set_index("what")
    assert listed.loc["paraphrase to judge", "place"] == f"act {store.acts()[2].act_id} of 'lead'"
    assert listed["to_clear"].notna().all()
    assert rows(store, "unit_id", "code", "state", "paraphrase") == [
        ["m2", "warm", "erased", ""],
        ["m3", "cold", "approved", "As with the sister Quokka"],
        ["m3", "warm", "approved", "The weather was bad."],
    ]
    assert store.verify()["ok"].all()
    with pytest.raises(ActError, match="paraphrases"):
        store.append([quote("m2", paraphrase=f"Again: {words}")])
    if isinstance(store.path, Path):
        stored = (store.path / "acts" / "lead.sqlite").read_bytes()
        assert b"being left" not in stored
        assert words.encode() not in stored


def test_copies_have_the_quotes_and_bring_no_withdrawn_words_back(folder: Store, tmp_path: Path) -> None:
    folder.append([quote("m1", paraphrase="Tells of being left."), quote(paraphrase="It enquired.")])
    folder.copies.archive(tmp_path / "before.zip")
    copy = Store.restore(tmp_path / "before.zip", tmp_path / "copy")
    pd.testing.assert_frame_equal(copy.quotes(), folder.quotes())
    copy.append([quote(state="refused", coder="chair")])
    copy.append([quote("m1", paraphrase="Was left.", coder="chair")])
    folder.forget("p1", why="withdrew")
    folder.copies.merge(copy)
    assert rows(folder, "unit_id", "state", "coder") == [["m2", "refused", "chair"]]
    assert b"Was left" not in b"".join(file.read_bytes() for file in folder.path.rglob("*.sqlite"))
    assert folder.verify()["ok"].all()


@pytest.mark.parametrize("texts", nightly_but(["withheld", "redacted"], here=["withheld"]))
def test_a_bundle_has_no_word_of_a_paraphrase(folder: Store, tmp_path: Path, texts: str) -> None:
    """What is decided stays; the words in which it is printed, which tell what a participant told, do not."""
    named = {"coder": "ana", "unit_id": "m2", "codebook": CODEBOOK}
    folder.append([acts.apply(code="warm", **named), acts.finish(**named)])
    folder.append([quote(paraphrase="Zqcanary enquired.")])
    folder.copies.bundle(tmp_path / "bundle", texts=texts, formats=["csv"])  # type: ignore[arg-type]
    (tmp_path / "out").mkdir()
    for file in (tmp_path / "bundle").rglob("*"):
        if file.is_file():
            assert b"Zqcanary" not in file.read_bytes(), file.name
            if zipfile.is_zipfile(file):
                with zipfile.ZipFile(file) as inner:
                    assert not any(b"Zqcanary" in inner.read(name) for name in inner.namelist())
    bundle = Store(tmp_path / "bundle")
    frame = bundle.quotes()
    assert frame[["state", "paraphrase", "coder"]].values.tolist() == [["approved", "[withheld]", "lead"]]
    assert bundle.verify()["ok"].all()


def test_a_redacted_bundle_has_no_word_that_a_paraphrase_stands_for(tmp_path: Path) -> None:
    """Nor where another text repeats it, nor in the turns of a conversation before one."""
    words = UNITS["text"][1]
    turns = json.dumps([{"role": "user", "text": f"Before: {words}"}])
    units = UNITS.assign(text=[HERS, words, f"Again: {words}"], context=[turns, None, None])
    store = Store.create(tmp_path / "study", units=units, codebook=CODEBOOK)
    named = {"coder": "ana", "unit_id": "m2", "codebook": CODEBOOK}
    store.append([acts.apply(code="warm", **named), acts.finish(**named)])
    store.append([quote(paraphrase="Asked twice."), quote("m1", state="chosen", paraphrase="Left.")])
    store.copies.bundle(tmp_path / "bundle", texts="redacted", formats=["md"])
    bundle = Store(tmp_path / "bundle")
    blocks = "▮" * len(words)
    assert bundle.units["text"].tolist() == [HERS, blocks, f"Again: {blocks}"]
    assert json.loads(bundle.units["context"][0])[0]["text"] == f"Before: {blocks}"
    files = [file.read_bytes() for file in (tmp_path / "bundle").rglob("*") if file.is_file()]
    assert not any(b"It asked how I was" in content for content in files)


def test_what_becomes_of_quotes_where_the_codebook_changes(folder: Store) -> None:
    """Merged: the quote goes along, once. Redefined: to be decided again. Refused: stays so."""
    folder.append(
        [
            quote("m1", code="warm", at="2026-03-01T09:00:00.000Z"),
            quote("m1", code="kind", state="chosen", start=0, end=9, at="2026-03-01T09:01:00.000Z"),
            quote("m2", code="kind", role="disconfirms", at="2026-03-01T09:02:00.000Z"),
            quote("m2", code="cold", paraphrase="It enquired.", at="2026-03-01T09:03:00.000Z"),
            quote("m3", code="cold", state="refused", at="2026-03-01T09:04:00.000Z"),
        ]
    )
    warm, cold, _ = CODEBOOK.codes
    folder.revise(
        replace(CODEBOOK, codes=(warm, replace(cold, definition="Keeps away."))),
        why="They were one.",
        coder="lead",
        merged={"kind": "warm"},
    )
    assert rows(folder, "unit_id", "code", "start", "state") == [
        ["m1", "warm", 0, "chosen"],  # the later of the two on the same words
        ["m2", "cold", None, "stale"],
        ["m2", "kind", None, "stale"],
        ["m3", "cold", None, "refused"],
    ]
    now = folder.codebook
    folder.append([quote("m2", code="cold", codebook=now, at="2026-04-01T09:00:00.000Z")])
    assert rows(folder, "unit_id", "code", "state")[1] == ["m2", "cold", "approved"]


def test_a_refused_quote_of_a_split_code_is_refused_under_its_parts(folder: Store) -> None:
    folder.append([quote("m2", state="refused"), quote("m3")])
    _, cold, kind = CODEBOOK.codes
    parts = (Code(id="care", label="Care"), Code(id="ease", label="Ease"))
    folder.revise(
        replace(CODEBOOK, codes=(*parts, cold, kind)),
        why="Two.",
        coder="lead",
        split={"warm": ["care", "ease"]},
    )
    assert rows(folder, "unit_id", "code", "state") == [
        ["m2", "care", "refused"],
        ["m2", "ease", "refused"],
        ["m3", "warm", "stale"],
    ]


def test_a_quote_is_its_deciders_until_they_show_it(folder: Store) -> None:
    """It tells which code a text has: who codes blind must not see it."""
    folder.append([quote(paraphrase="It enquired.")])
    assert folder.quotes(viewer="ana").empty
    assert folder.acts(viewer="ana") == []
    assert len(folder.quotes(viewer="lead")) == 1


def test_the_acts_hold_no_words(folder: Store) -> None:
    folder.append([quote(paraphrase="Zqcanary enquired.", start=0, end=8)])
    (act,) = folder.acts(kind="quote")
    assert "Zqcanary" not in repr(act)
    folder.copies.archive(Path(folder.path).with_name("a.zip"))
    with zipfile.ZipFile(Path(folder.path).with_name("a.zip")) as inner:
        lines = [
            json.loads(line)
            for name in inner.namelist()
            if "acts" in name
            for line in inner.read(name).splitlines()
            if b'"kind"' in line
        ]
    assert [line["facets"] for line in lines] == ["role=shows state=approved words=paraphrase"]


@pytest.mark.postgres
def test_whether_a_quote_is_printed_the_lead_alone_decides(postgres: object) -> None:
    address = postgres()  # type: ignore[operator]
    name = address.rpartition("=")[2]
    store = Store.create(address, units=UNITS, codebook=CODEBOOK)
    store.admin.add_coder("ana", role="ana")
    ana = Store(postgres("ana", name))  # type: ignore[operator]
    with pytest.raises(StoreError, match="expected a role with the right to do this"):
        ana.append([quote(coder="ana")])
    store.append([quote(paraphrase="It enquired.")])
    assert (len(store.quotes()), len(ana.quotes())) == (1, 0)
    for one in (store, ana):
        server.connect(str(one.path)).engine.dispose()
