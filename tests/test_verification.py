"""Verification finds every flipped bit of what is stored; files of a later version are no damage."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path

import pandas as pd
import pytest

from sense7_qual import acts
from sense7_qual.codebook import Code, Codebook
from sense7_qual.errors import StoreError
from sense7_qual.store import Store
from sense7_qual.store._files import signed_json, study_notes
from sense7_qual.store._log import sqlite, versions
from sense7_qual.store._log.hash_chain import chained
from sense7_qual.store._operations import verify

CODEBOOK = Codebook(name="small", codes=(Code(id="interest", label="Interest"),))
SENTINEL = "Sentinel-Quokka"
UNITS = pd.DataFrame(
    {
        "unit_id": ["m1", "m2", "m3"],
        "text": [f"It listened to me. {SENTINEL}", "She did not.", "Nor did he."],
        "document_id": ["d1", "d1", "d2"],
        "case_id": ["p1", "p1", "p2"],
        "position": [0, 1, 0],
    }
)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store.create(tmp_path / "pilot", units=UNITS, codebook=CODEBOOK)
    named = {"coder": "ana", "unit_id": "m1", "codebook": CODEBOOK}
    store.append([acts.apply(code="interest", start=i, end=i + 9, **named) for i in range(8)])
    store.append([acts.memo(text=f"A memo, {SENTINEL}. " * 300, **named), acts.finish(**named)])
    store.backup(tmp_path / "backup")
    store.forget("p2", why="withdrew")
    return store


def content(path: Path) -> Mapping[str, object]:
    """Every value of every table, and the tables themselves, as any program reads them."""
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
        tables = connection.execute("SELECT type, name, tbl_name FROM sqlite_master ORDER BY name").fetchall()
        with sqlite.transaction(path) as own:
            found: dict[str, object] = dict(versions.structure(own))
        for kind, name, _ in tables:
            if kind == "table":
                found[f"rows of {name}"] = connection.execute(f"SELECT * FROM {name} ORDER BY 1").fetchall()
    return found


def files_of(store: Store) -> list[Path]:
    return sorted(file for file in store.path.rglob("*") if file.is_file())


@pytest.mark.crash
def test_every_single_flipped_bit_of_the_small_files_is_found(store: Store) -> None:
    """Every eighth byte of each, and another bit of it each time."""
    for file in files_of(store):
        if file.suffix == ".sqlite":
            continue
        whole = file.read_bytes()
        for place in range(0, len(whole), 8 if len(whole) < 2000 else 97):
            flipped = bytearray(whole)
            flipped[place] ^= 1 << place // 8 % 8
            file.write_bytes(flipped)
            assert not store.verify()["ok"].all(), (file.name, place)
        file.write_bytes(whole)
    assert store.verify()["ok"].all()


@pytest.mark.crash
def test_a_flipped_bit_of_an_acts_file_is_found_or_lies_where_nothing_is_stored(store: Store) -> None:
    file = store.path / "acts" / "ana.sqlite"
    whole, before = file.read_bytes(), content(file)
    dice, found, unused = random.Random(7), 0, 0
    used = [place for place, byte in enumerate(whole) if byte]
    for place in [*range(100), *dice.sample(used, 250), *dice.sample(range(len(whole)), 50)]:
        flipped = bytearray(whole)
        flipped[place] ^= 1 << dice.randrange(8)
        file.write_bytes(flipped)
        report = store.verify()
        assert SENTINEL not in " ".join(report["problem"])
        if report["ok"].all():
            unused += 1
            assert content(file) == before, place
        else:
            found += 1
    assert found > 250
    file.write_bytes(whole)
    assert store.verify()["ok"].all()


@pytest.mark.crash
def test_flipping_every_bit_of_one_act_is_found(store: Store) -> None:
    """The words of the record themselves: every bit of a code, a time, a hash and a memo in place."""
    file = store.path / "acts" / "ana.sqlite"
    whole = file.read_bytes()
    act = store.acts()[3]
    for wanted in (act.at.encode(), act.act_id.encode()[:6], b"interest", SENTINEL.encode()):
        begin = whole.index(wanted)
        for bit in range(8 * len(wanted)):
            flipped = bytearray(whole)
            flipped[begin + bit // 8] ^= 1 << bit % 8
            file.write_bytes(flipped)
            with pytest.raises(StoreError):
                store.acts()
    file.write_bytes(whole)
    assert store.verify()["ok"].all()


@pytest.mark.parametrize("name", ["study.json", "units.parquet", "acts/ana.sqlite", "codebooks", "copies"])
def test_what_is_missing_or_empty_is_reported_and_nothing_raised(store: Store, name: str) -> None:
    path = store.path / name
    if path.is_dir():
        path = next(path.iterdir())
    path.write_bytes(b"")
    assert not store.verify()["ok"].all()
    path.unlink()
    if name != "copies":  # what is not noted cannot be missed
        assert not store.verify()["ok"].all()


def test_a_file_that_was_put_back_from_an_older_copy_is_noticed(store: Store, tmp_path: Path) -> None:
    old = (store.path / "acts" / "ana.sqlite").read_bytes()
    store.append([acts.reopen(coder="ana", unit_id="m1", codebook=CODEBOOK)])
    store.backup(tmp_path / "later")
    (store.path / "acts" / "ana.sqlite").write_bytes(old)
    store.accept_loss("ana")  # as on a computer that has not seen the acts
    assert len(store.acts()) == 10  # a chain that is right in itself
    (problem,) = store.verify().query("not ok")["problem"]
    assert problem.startswith("lacks acts that it had when the backup of")
    assert store.merge(tmp_path / "later").counts["new"] == 1
    assert store.verify()["ok"].all()


def test_files_that_others_may_open_are_noted(store: Store) -> None:
    (store.path / "units.parquet").chmod(0o644)
    report = store.verify().set_index("file")
    assert report["ok"].all()
    assert report["note"]["units.parquet"].endswith("may be opened by others on this computer (mode 644)")


def refusing(monkeypatch: pytest.MonkeyPatch, name: str, error: type[OSError], *, of: str) -> None:
    """Let the method `of` of paths fail for those of this name (a superuser, who may run this, reads all)."""
    owner = verify if of == "open_file" else Path
    real = getattr(owner, of)

    def refuse(self: Path, *args: object, **named: object) -> object:
        if self.name == name:
            raise error(2 if error is FileNotFoundError else 13, "refused", str(self))
        return real(self, *args, **named)

    monkeypatch.setattr(owner, of, refuse)


def test_a_file_that_goes_while_it_is_verified_or_archived_is_passed_over(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A temporary file of a colleague's first act, or of a sync client."""
    for name in ("half.txt", ".ben.sqlite.7.new"):
        (store.path / "acts" / name).write_bytes(b"x")
    refusing(monkeypatch, "half.txt", FileNotFoundError, of="open_file")
    refusing(monkeypatch, ".ben.sqlite.7.new", FileNotFoundError, of="open_file")
    report = store.verify().set_index("file")
    assert report["ok"].all()
    assert "acts/half.txt" not in report.index
    store.archive(tmp_path / "one.zip")
    refusing(monkeypatch, "units.parquet", FileNotFoundError, of="stat")  # between its hash and its mode
    assert store.verify()["ok"].all()


def test_a_file_or_folder_that_cannot_be_read_is_reported(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (store.path / "acts" / "old.bak").write_bytes(b"x")
    refusing(monkeypatch, "old.bak", PermissionError, of="open_file")
    refusing(monkeypatch, "copies", PermissionError, of="iterdir")
    (row,) = store.verify().query("not ok").to_dict("records")
    assert row["file"] == "acts/old.bak"
    assert "cannot be read (PermissionError)" in row["problem"]
    with pytest.raises(StoreError, match=r"found problems in 'acts/old.bak'"):
        store.archive(tmp_path / "one.zip")
    with pytest.raises(StoreError, match="'copies': expected a note"):
        study_notes.notes(store.path, study_notes.Copy)


def test_a_folder_that_cannot_be_read_is_reported(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def walk(top: object, onerror: Callable[[OSError], object] | None = None) -> Iterator[object]:
        if onerror is not None:
            onerror(PermissionError(13, "refused", str(store.path / "withdrawn")))
            onerror(FileNotFoundError(2, "gone", str(store.path / "acts" / "gone")))
        yield from real(top)

    real = os.walk
    monkeypatch.setattr(os, "walk", walk)
    assert store.verify().query("not ok")[["file", "problem"]].to_numpy().tolist() == [
        ["withdrawn", "cannot be read (PermissionError)"]
    ]


# versions -------------------------------------------------------------------------------------------


def test_a_study_of_a_later_version_opens_for_reading_alone(store: Store, tmp_path: Path) -> None:
    path = store.path / "study.json"
    values = signed_json.unseal(path.read_bytes())
    path.write_bytes(signed_json.seal({**values, "schema": sqlite.SCHEMA + 1, "more": "of it"}))
    with pytest.warns(UserWarning, match="can be read as far as it is understood and not be written"):
        later = Store(store.path)
    assert later.acts() == store.acts()
    before = {file: file.read_bytes() for file in files_of(later)}
    for write in (
        lambda: later.append([acts.finish(coder="ana", unit_id="m2", codebook=CODEBOOK)]),
        lambda: later.merge(tmp_path / "backup"),
        lambda: later.forget("p1", why="withdrew"),
        lambda: later.archive(tmp_path / "one.zip"),
    ):
        with pytest.raises(StoreError):
            write()
    assert {file: file.read_bytes() for file in files_of(later)} == before
    assert "found version 2" in later.verify().query("not ok")["problem"].iloc[0]


def test_an_acts_file_of_a_later_version_is_read_as_far_as_it_is_understood(store: Store) -> None:
    file = store.path / "acts" / "ana.sqlite"
    with sqlite.transaction(file, writes=True) as connection:
        connection.exec_driver_sql("ALTER TABLE acts ADD COLUMN colour TEXT")
        connection.exec_driver_sql("UPDATE meta SET value = '2' WHERE name = 'schema'")
        last = connection.exec_driver_sql("SELECT hash, codebook FROM acts ORDER BY seq DESC").first()
        fields = {
            "act_id": "00000000-0000-4000-8000-000000000001", "kind": "paint", "coder": "ana",
            "colour": "red", "at": "2030-01-01T00:00:00.000Z", "codebook": last[1],
        }  # fmt: skip
        row = {**fields, "seq": 11, "previous": last[0], "hash": chained(last[0], fields)}
        names = ", ".join(row)
        marks = ", ".join("?" * len(row))
        connection.exec_driver_sql(f"INSERT INTO acts ({names}) VALUES ({marks})", tuple(row.values()))
    with pytest.warns(UserWarning, match=r"'acts/ana\.sqlite': expected version 1 at most – found version 2"):
        found = store.acts()
    assert len(found) == 10
    before = file.read_bytes()
    with pytest.raises(StoreError, match="update sense7_qual"):
        store.append([acts.finish(coder="ana", unit_id="m2", codebook=CODEBOOK)])
    assert file.read_bytes() == before
    assert store.append([acts.finish(coder="ben", unit_id="m2", codebook=CODEBOOK)]) == 1
    report = store.verify().set_index("file")
    assert "found version 2" in report["problem"]["acts/ana.sqlite"]
    assert report["ok"]["acts/ben.sqlite"]


def test_everything_that_is_written_is_its_owners_alone(store: Store, tmp_path: Path) -> None:
    store.archive(tmp_path / "one.zip")
    Store.restore(tmp_path / "one.zip", tmp_path / "again")
    for folder in (store.path, tmp_path / "backup", tmp_path / "again"):
        modes = {stat.S_IMODE(path.stat().st_mode) for path in folder.rglob("*") if path.is_file()}
        assert modes == {0o600}
        assert {stat.S_IMODE(p.stat().st_mode) for p in [folder, *folder.rglob("*")] if p.is_dir()} == {0o700}
    shutil.rmtree(tmp_path / "again")
