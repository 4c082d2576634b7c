"""Salvage: what is sound in a damaged acts file is saved, and nothing is acknowledged behind a broken end."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from sense7_qual import acts
from sense7_qual.errors import StoreError
from sense7_qual.store import Store
from sense7_qual.store._postgres import server
from tests.helpers.small_study import CODEBOOK, frame_of, put


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store.create(tmp_path / "study", units=frame_of(), codebook=CODEBOOK)
    store.append([put(start=0, end=2 + i) for i in range(6)])
    store.append([acts.memo(coder="ana", unit_id="m1", text="A thought of mine.", codebook=CODEBOOK)])
    return store


def change(store: Store, statement: str) -> None:
    with closing(sqlite3.connect(file_of(store))) as connection, connection:
        connection.execute(statement)


def file_of(store: Store) -> Path:
    return Path(store.path) / "acts" / "ana.sqlite"


def mend(store: Store, saved: Path) -> Store:
    """Do what the documentation says."""
    file_of(store).rename(saved.with_name("damaged"))
    store.copies.merge(saved)
    return Store(store.path)


@pytest.mark.long
@pytest.mark.parametrize(
    ("statement", "lost"),
    [
        ("UPDATE acts SET code = 'other' WHERE seq = 3", [3]),
        ("UPDATE acts SET hash = replace(hash, substr(hash, 1, 1), 'x') WHERE seq = 3", [3]),
        ("UPDATE acts SET previous = 'x' WHERE seq = 1", [1]),
        ("DELETE FROM acts WHERE seq IN (2, 5)", [2, 5]),
        ("UPDATE texts SET text = 'x' WHERE text = 'A thought of mine.'", [7]),
    ],
)
def test_all_sound_acts_are_saved_and_the_others_named(
    store: Store, tmp_path: Path, statement: str, lost: list[int]
) -> None:
    done = store.acts()
    store.copies.backup(tmp_path / "copy")
    change(store, statement)
    with pytest.raises(StoreError, match=r"store\.admin\.salvage"):
        store.acts()
    saved = store.admin.salvage("ana", tmp_path / "saved.sqlite")
    assert (saved.n_acts, saved.lost["seq"].tolist()) == (7 - len(lost), lost)
    left = [act for seq, act in enumerate(done, start=1) if seq not in lost]
    again = mend(store, saved.path)
    again.admin.accept_loss("ana")
    assert again.acts() == left
    assert again.append([put(start=0, end=9)]) == 1
    assert again.copies.merge(tmp_path / "copy").counts["new"] == len(lost)
    assert {act.act_id for act in again.acts()} >= {act.act_id for act in done}
    with pytest.raises(StoreError, match="expected nothing at"):
        store.admin.salvage("ana", tmp_path / "copy")


@pytest.mark.parametrize("column", ["code", "hash", "previous"])
def test_no_act_is_acknowledged_behind_an_end_that_does_not_hold(store: Store, column: str) -> None:
    change(store, f"UPDATE acts SET {column} = 'x' WHERE seq = 7")
    before = file_of(store).read_bytes()
    with pytest.raises(StoreError, match="expected the unbroken acts of one coder"):
        store.append([put(start=0, end=9)])
    assert file_of(store).read_bytes() == before


def test_a_break_before_the_last_act_stops_the_coding_too(store: Store) -> None:
    change(store, "DELETE FROM acts WHERE seq = 6")
    with pytest.raises(StoreError, match="a break in the chain before its last act"):
        store.append([put(start=0, end=9)])


@pytest.mark.long
def test_any_one_byte_costs_few_acts(store: Store, tmp_path: Path) -> None:
    """Seeded single bytes all over the file: every act that is saved is one that was done."""
    store.append([put(start=i % 5, end=9 + i % 7) for i in range(200)])
    done, content = store.acts(), bytearray(file_of(store).read_bytes())
    chance = random.Random(7)
    n_saved = []
    for number in range(40):
        place = chance.randrange(len(content))
        damaged = bytearray(content)
        damaged[place] ^= 1 << chance.randrange(8)
        file_of(store).write_bytes(damaged)
        try:
            saved = store.admin.salvage("ana", tmp_path / f"{number}.sqlite")
        except StoreError:
            assert place < 4096  # the first page, which says what the file is
            continue
        n_saved.append(saved.n_acts)
        folder = Store(store.path)
        file_of(store).unlink()
        folder.admin.accept_loss("ana")
        folder.copies.merge(saved.path)
        assert {act.act_id for act in folder.acts()} <= {act.act_id for act in done}
        known = {act.act_id: act for act in done}
        assert all(act == known[act.act_id] for act in folder.acts())
    assert sorted(n_saved)[len(n_saved) // 2] >= len(done) - 1
    assert min(n_saved) > len(done) // 2


def test_the_words_of_who_withdrew_are_not_saved(store: Store, tmp_path: Path) -> None:
    file = file_of(store).read_bytes()
    store.forget("p0", why="withdrew")
    file_of(store).write_bytes(file)  # an older copy came back, with the words
    change(store, "UPDATE acts SET code = 'other' WHERE seq = 3")
    saved = store.admin.salvage("ana", tmp_path / "saved.sqlite")
    assert saved.n_acts == 6
    assert saved.lost["seq"].tolist() == [3]
    with closing(sqlite3.connect(saved.path)) as connection:
        assert connection.execute("SELECT count(*) FROM texts WHERE text IS NOT NULL").fetchone() == (0,)


def test_a_coder_without_acts_is_refused(store: Store, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="found no acts of 'anna' – did you mean 'ana'"):
        store.admin.salvage("anna", tmp_path / "saved.sqlite")
    assert not (tmp_path / "saved.sqlite").exists()


@pytest.mark.postgres
def test_acts_that_an_administrator_changed_are_left_out(
    postgres: Callable[..., str], tmp_path: Path
) -> None:
    address = postgres()
    store = Store.create(address, units=frame_of(), codebook=CODEBOOK)
    store.append([put(start=0, end=2 + i) for i in range(6)])
    name = server.connect(address).name
    with psycopg.connect(address.partition("&study=")[0], autocommit=True) as admin:
        admin.execute("SET session_replication_role = replica")
        admin.execute(f"UPDATE \"{name}-ana\".acts SET code = 'x' WHERE seq = 6")
    with pytest.raises(StoreError, match="expected the unbroken acts"):
        store.append([put(start=0, end=9)])
    saved = store.admin.salvage("ana", tmp_path / "saved.sqlite")
    assert (saved.n_acts, saved.lost["seq"].tolist()) == (5, [6])
    server.connect(address).engine.dispose()
