"""A participant withdraws: no byte of the study holds their words, and the record stays whole."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from sense7_qual import acts, codings
from sense7_qual.codebook import Code, Codebook
from sense7_qual.errors import ActError, StoreError
from sense7_qual.store import Store
from sense7_qual.store._stored import acts_files, layout

CODEBOOK = Codebook(name="small", codes=(Code(id="interest", label="Interest"),))
ALWAYS = ["embedding cache", "reply cache", "notebook"]
WORDS = "My sister Quokka left on Tuesday"
UNITS = pd.DataFrame(
    {
        "unit_id": ["m1", "m2", "m3", "m4"],
        "text": [f"{WORDS}. It listened.", "And then she wept.", "Fine, thanks.", "Another one's words."],
        "document_id": ["d1", "d1", "d1", "d2"],
        "case_id": ["p1", "p1", "p2", "p3"],
        "position": [0, 1, 2, 0],
        "context": [None, f"{WORDS}. It listened.", f"{WORDS}. It listened.", "kept"],
    }
)


def filled(path: Path) -> Store:
    store = Store.create(path, units=UNITS, codebook=CODEBOOK)
    for coder in ("ana", "ben"):
        for unit_id in UNITS["unit_id"]:
            named = {"coder": coder, "unit_id": unit_id, "codebook": CODEBOOK}
            store.append([acts.apply(code="interest", start=i, end=i + 9, **named) for i in range(4)])
            store.append([acts.memo(text=f"Quokka in {unit_id}, " * 400, **named), acts.finish(**named)])
    about = acts.memo(coder="ana", target_kind="study", text=f"as in '{WORDS}'", codebook=CODEBOOK)
    own = acts.memo(coder="ana", target_kind="study", text="A thought of mine.", codebook=CODEBOOK)
    store.append([about, own])
    return store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return filled(tmp_path / "pilot")


def all_bytes(path: Path) -> bytes:
    return b"".join(file.read_bytes() for file in path.rglob("*") if file.is_file())


def test_no_byte_of_the_study_holds_their_words_and_everything_else_is_there(store: Store) -> None:
    before = store.acts()
    assert b"Quokka in m1" in all_bytes(store.path)
    found = store.forget("p1", why="withdrew consent by letter")
    kept = all_bytes(store.path)
    for word in ("sister", "Tuesday", "wept", "Quokka in m1", "Quokka in m2"):
        assert word.encode() not in kept
        assert word.encode("utf-16-le") not in kept
    assert b"Quokka in m3" in kept
    assert (found.n_units, found.n_texts, found.n_memos_elsewhere) == (2, 2 * 2 * (4 + 1) + 1, 1)
    assert "sister" not in repr(found)
    after = store.acts()
    assert [act.act_id for act in after] == [act.act_id for act in before]
    assert {act.text for act in after if act.unit_id in ("m1", "m2")} == {None, ""}
    assert [act.text for act in after if act.unit_id in ("m3", "m4")] == [
        act.text for act in before if act.unit_id in ("m3", "m4")
    ]
    assert "A thought of mine." in store.memos()["text"].tolist()
    report = store.verify()
    assert report["ok"].all()
    assert report["note"].str.contains("participant 'p1' withdrew").sum() == 1


def test_what_sqlite_left_in_unused_parts_of_the_file_goes_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many builds of SQLite leave a copy behind of what they move to another page; so does this one here."""
    monkeypatch.setitem(acts_files.PRAGMAS, "secure_delete", 0)
    store = Store.create(tmp_path / "pilot", units=UNITS, codebook=CODEBOOK)
    for number in range(60):
        mine = {"coder": "ana", "unit_id": UNITS["unit_id"][number % 4], "codebook": CODEBOOK}
        store.append([acts.memo(text=f"Quokka {number} in {mine['unit_id']}, " * (number % 20 + 1), **mine)])
    store.forget("p1", why="withdrew")
    kept = all_bytes(store.path)
    assert b"Quokka 2 in m3" in kept
    assert b"in m1" not in kept
    assert b"in m2" not in kept


@pytest.mark.parametrize("coder", ["ben", "dan"])
def test_what_comes_in_while_a_withdrawal_runs_is_looked_through_too(
    store: Store, monkeypatch: pytest.MonkeyPatch, coder: str
) -> None:
    """A memo, also in a new coder's file, that is saved after the files were looked through, and before the
    note keeps such memos out."""
    meanwhile, note = Store(store.path), layout.note

    def note_after_a_memo(*given: Any) -> None:
        monkeypatch.setattr(layout, "note", note)
        memo = acts.memo(coder=coder, target_kind="study", text=f"Said: '{WORDS}'", codebook=CODEBOOK)
        assert meanwhile.append([memo]) == 1
        note(*given)

    monkeypatch.setattr(layout, "note", note_after_a_memo)
    assert store.forget("p1", why="withdrew").n_memos_elsewhere == 2
    assert b"sister" not in all_bytes(store.path)


def test_their_units_leave_the_frames_and_statistics_go_on(store: Store) -> None:
    store.forget("p1", why="withdrew")
    for each in (store, Store(store.path)):
        assert each.units["unit_id"].tolist() == ["m3", "m4"]
        assert each.units["context"].isna().tolist() == [True, False]  # of the same conversation
        assert set(each.codings()["unit_id"]) == set(each.coverage()["unit_id"]) == {"m3", "m4"}
        assert set(codings.decisions(each.codings(), each.coverage(), CODEBOOK)["unit_id"]) == {"m3", "m4"}
        assert "m1" not in set(each.memos()["target_id"])
        with pytest.raises(ActError, match="of a participant who withdrew"):
            each.append([acts.finish(coder="ana", unit_id="m1", codebook=CODEBOOK)])


def test_a_notebook_that_was_open_can_no_longer_record_their_words(store: Store) -> None:
    other = Store(store.path)
    store.forget("p1", why="withdrew")
    with pytest.raises(ActError, match="of a participant who withdrew"):
        other.append(
            [acts.apply(coder="ana", unit_id="m1", code="interest", start=0, end=30, codebook=CODEBOOK)]
        )
    assert other.append([acts.reopen(coder="ana", unit_id="m3", codebook=CODEBOOK)]) == 1
    assert b"sister" not in all_bytes(store.path)


@pytest.mark.long
def test_copies_from_before_are_named_and_bring_nothing_back(store: Store, tmp_path: Path) -> None:
    store.copies.backup(tmp_path / "old")
    store.copies.archive(tmp_path / "old.zip")
    (store.path / "units (conflicted copy).parquet").write_bytes(b"?")
    later = Store(tmp_path / "old")
    later.append([acts.apply(coder="ana", unit_id="m1", code="interest", start=0, end=31, codebook=CODEBOOK)])
    found = store.forget("p1", why="withdrew").still_held
    assert found["what"].tolist() == ["backup", "archive", "file", *ALWAYS]
    assert found["place"].tolist()[:2] == [str(tmp_path / "old"), str(tmp_path / "old.zip")]
    assert b"sister" in all_bytes(tmp_path / "old")
    assert store.copies.merge(tmp_path / "old").counts["new"] == 1
    assert store.copies.merge(tmp_path / "old.zip").counts["new"] == 0
    assert b"sister" not in all_bytes(store.path)
    assert store.verify()["ok"].all()
    store.copies.backup(tmp_path / "new")
    assert b"sister" not in all_bytes(tmp_path / "new")
    store.copies.archive(tmp_path / "new.zip")
    assert b"sister" not in (tmp_path / "new.zip").read_bytes()
    assert Store.restore(tmp_path / "new.zip", tmp_path / "new again").acts() == store.acts()
    again = store.forget("p1", why="asked again").still_held
    assert again["what"].tolist() == ["backup", "archive", "file", *ALWAYS]


@pytest.mark.long
def test_the_other_copy_says_that_somebody_withdrew_there(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.copies.backup(tmp_path / "there")
    with monkeypatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path / "another computer"))
        there = Store(tmp_path / "there")
        there.forget("p1", why="withdrew")
        there.append([acts.reopen(coder="ana", unit_id="m3", codebook=CODEBOOK)])
    found = store.copies.merge(there)
    assert found.withdrawn == ("p1",)
    assert found.counts["new"] == 1
    assert len(store.units) == 4
    store.forget("p1", why="withdrew, as noted there")
    assert store.copies.merge(there).withdrawn == ()


def test_files_that_a_sync_client_brings_back_show_no_words_and_are_reported(store: Store) -> None:
    old = shutil.copytree(store.path, store.path.with_name("old"))
    store.forget("p1", why="withdrew")
    for name in ("units.parquet", "acts/ana.sqlite"):
        shutil.copy(old / name, store.path / name)
    again = Store(store.path)
    assert again.units["unit_id"].tolist() == ["m3", "m4"]
    assert {act.text for act in again.acts() if act.unit_id == "m1"} == {None, ""}
    bad = again.verify().set_index("file")["problem"]
    assert bad[bad != ""].index.tolist() == ["units.parquet", "acts/ana.sqlite"]
    assert bad["acts/ana.sqlite"].startswith("still holds words of participants who withdrew")
    again.forget("p1", why="withdrew")
    assert b"sister" not in all_bytes(store.path)
    assert again.verify()["ok"].all()


@pytest.mark.long
@pytest.mark.parametrize("stop", ["replace_units", "erase"])
def test_a_withdrawal_that_is_interrupted_hides_the_words_and_is_completed(
    store: Store, monkeypatch: pytest.MonkeyPatch, stop: str
) -> None:
    def failing(*_: object) -> None:
        raise StoreError("the power went")

    monkeypatch.setattr(layout if stop == "replace_units" else acts_files, stop, failing)
    with pytest.raises(StoreError, match="power"):
        store.forget("p1", why="withdrew")
    monkeypatch.undo()
    again = Store(store.path)
    assert again.units["unit_id"].tolist() == ["m3", "m4"]
    assert not again.verify()["ok"].all()
    again.forget("p1", why="withdrew")
    assert b"sister" not in all_bytes(store.path)
    assert again.verify()["ok"].all()


@pytest.mark.long
def test_nobody_and_everybody(store: Store) -> None:
    with pytest.raises(StoreError, match=r"found 'p11' – did you mean 'p1'"):
        store.forget("p11", why="a slip")
    for case_id in ("p1", "p2", "p3"):
        store.forget(case_id, why="withdrew")
    again = Store(store.path)
    assert again.units.empty
    assert again.codings().empty
    assert again.verify()["ok"].all()
    assert len(again.acts()) == len(store.acts()) > 0


def test_units_that_lie_elsewhere_lose_their_words_there(store: Store, tmp_path: Path) -> None:
    """Where ``units.parquet`` leads to a file on another disk, that file is the one with the words."""
    elsewhere = tmp_path / "elsewhere.parquet"
    units = store.path / "units.parquet"
    units.rename(elsewhere)
    units.symlink_to(elsewhere)
    before = elsewhere.read_bytes()
    store.forget(store.units["case_id"].iloc[0], why="withdrew")
    assert units.is_symlink()
    assert elsewhere.read_bytes() != before
    assert Store(store.path).verify()["ok"].all()
