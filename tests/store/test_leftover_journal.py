"""SQLite's journals in a synced folder: one that is not of the file beside it takes no act away."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import BinaryIO

import pytest

from sense7_qual import acts
from sense7_qual.errors import StoreError
from sense7_qual.store import Store
from sense7_qual.store._stored import acts_files, leftover_journal
from tests.helpers.killed import interrupted
from tests.helpers.small_study import CODEBOOK, frame_of, put


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.create(tmp_path / "pilot", units=frame_of(), codebook=CODEBOOK)


@pytest.fixture
def file(store: Store, tmp_path: Path) -> Path:
    store.append([put(start=0, end=4), acts.memo(coder="ana", unit_id="m1", text="one", codebook=CODEBOOK)])
    return store.path / "acts" / "ana.sqlite"


def test_a_journal_of_an_older_moment_takes_no_act_away(store: Store, file: Path, tmp_path: Path) -> None:
    _, journal = interrupted(file, tmp_path)
    for number in range(5):
        store.append([put(start=number, end=number + 3)])
    known, newer = store.acts(), file.read_bytes()
    beside = file.with_name("ana.sqlite-journal")
    for deed in (
        lambda: store.verify(),
        lambda: store.acts(),
        lambda: Store(store.path).coders and store.codings(),
        lambda: store.copies.backup(tmp_path / "backup"),
    ):
        beside.write_bytes(journal)
        deed()
        assert file.read_bytes() == newer
    beside.write_bytes(journal)
    assert store.append([put(unit_id="m2")]) == 1
    assert store.acts()[:-1] == known
    assert store.verify()["ok"].all()
    assert not beside.exists()


def test_without_this_the_journal_would_tear_the_file(store: Store, file: Path, tmp_path: Path) -> None:
    """The control: what SQLite alone makes of the newer file and the older journal."""
    _, journal = interrupted(file, tmp_path)
    for number in range(5):
        store.append([put(start=number, end=number + 3)])
    file.with_name("ana.sqlite-journal").write_bytes(journal)
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("SELECT count(*) FROM acts").fetchone()
    with pytest.raises(StoreError):
        store.acts()


def test_the_journal_of_a_write_that_was_interrupted_mends_the_file(
    store: Store,
    file: Path,
    tmp_path: Path,
) -> None:
    known = store.acts()
    half, journal = interrupted(file, tmp_path)
    assert half != file.read_bytes()
    file.write_bytes(half)
    file.with_name("ana.sqlite-journal").write_bytes(journal)
    assert store.acts() == known
    assert store.append([put(unit_id="m2")]) == 1
    assert store.verify()["ok"].all()


def test_where_neither_is_whole_nothing_is_touched(store: Store, file: Path, tmp_path: Path) -> None:
    half, journal = interrupted(file, tmp_path)
    broken = bytearray(half)
    broken[4096:] = bytes(len(half) - 4096)
    file.write_bytes(broken)
    beside = file.with_name("ana.sqlite-journal")
    beside.write_bytes(journal[:700])
    for deed in (store.acts, lambda: store.append([put()])):
        with pytest.raises(StoreError, match=r"acts/ana\.sqlite"):
            deed()
    assert file.read_bytes() == bytes(broken)
    assert beside.read_bytes() == journal[:700]


def test_a_journal_that_came_before_its_file_does_not_touch_the_first_acts(
    store: Store,
    file: Path,
    tmp_path: Path,
) -> None:
    _, journal = interrupted(file, tmp_path)
    (store.path / "acts" / "ben.sqlite-journal").write_bytes(journal)
    assert store.append([put(coder="ben")]) == 1
    assert [act.coder for act in store.acts(coder="ben")] == ["ben"]
    assert store.verify()["ok"].all()


def test_the_journal_of_a_write_under_way_is_left_alone(store: Store, file: Path) -> None:
    known = store.acts()
    with acts_files.transaction(file, writes=True) as connection:
        connection.exec_driver_sql("INSERT INTO meta VALUES ('x', 'y')")
        connection.exec_driver_sql("DELETE FROM meta WHERE name = 'x'")
        beside = file.with_name("ana.sqlite-journal")
        assert beside.exists()
        assert store.acts() == known
        assert beside.exists()
    assert store.acts() == known


@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_file_that_another_process_mends_meanwhile_is_no_error(
    store: Store, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    known, (torn, journal) = store.acts(), interrupted(file, tmp_path)
    file.write_bytes(torn)
    file.with_name("ana.sqlite-journal").write_bytes(journal)
    copyfile, copied = shutil.copyfile, []

    def slowly(source: Path, target: Path) -> None:
        if len(copied) == at:  # as another kernel does that looked a moment earlier
            with closing(sqlite3.connect(file)) as connection:
                connection.execute("SELECT count(*) FROM acts").fetchone()
        copied.append(source)
        copyfile(source, target)

    monkeypatch.setattr(leftover_journal.shutil, "copyfile", slowly)
    assert store.acts() == known
    assert store.append([put(start=1, end=3)]) == 1
    assert len(copied) >= at
    assert store.verify()["ok"].all()


def test_a_journal_that_is_gone_in_the_moment_it_is_measured_is_no_error(
    store: Store, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside = file.with_name("ana.sqlite-journal")
    beside.write_bytes(bytes(512))
    open_file = leftover_journal.open_file

    def too_late(path: Path) -> BinaryIO:
        beside.unlink(missing_ok=True)  # as another process does whose write ends
        return open_file(path)

    monkeypatch.setattr(leftover_journal, "open_file", too_late)
    assert store.append([put(start=1, end=3)]) == 1
    assert not beside.exists()
