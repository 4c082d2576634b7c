"""A participant withdraws from a study where something is damaged: what is sound is done, the rest named."""

from __future__ import annotations

import os
import random
import shutil
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
from tests.helpers.disk import another_computer
from tests.helpers.withdrawn_words import CODEBOOK, UNITS, WORDS, contents, has_words, repeating

N_FLIPS = 1_000 if os.environ.get("SOAK") else 25


def filled(store: Store) -> Store:
    for coder in ("ana", "ben"):
        named = {"coder": coder, "unit_id": "m1", "codebook": CODEBOOK}
        store.append([acts.apply(code="interest", start=0, end=len(WORDS), **named), acts.finish(**named)])
        store.append([acts.memo(text=f"Quokka? ({WORDS})", **named), repeating(coder, unit_id="m2")])
        named |= {"unit_id": "m3"}
        store.append([acts.memo(text="A thought of mine.", **named), acts.finish(**named)])
    return store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return filled(Store.create(tmp_path / "pilot", units=UNITS, codebook=CODEBOOK))


def left(store: Store) -> list[str]:
    return [name for name, content in contents(store).items() if has_words(content)]


def damaged(forgotten: object) -> list[str]:
    held = forgotten.still_held
    return held.loc[held["what"] == "damaged", "place"].tolist()


def change(store: Store, statement: str) -> None:
    with closing(sqlite3.connect(store.path / "acts" / "ben.sqlite")) as connection, connection:
        connection.execute(statement)


@pytest.mark.long
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE acts SET code = 'other' WHERE seq = 1",
        "UPDATE acts SET previous = 'x' WHERE seq = 1",
        "UPDATE texts SET salt = 'x' WHERE text LIKE 'A thought%'",
        "DELETE FROM acts WHERE seq = 2",
    ],
)
def test_a_broken_chain_of_another_coder_does_not_hinder_a_withdrawal(
    store: Store, tmp_path: Path, statement: str
) -> None:
    """Before, each of these made `forget` raise, and all words stayed."""
    before = shutil.copy(store.path / "acts" / "ben.sqlite", tmp_path / "ben.sqlite")
    change(store, statement)
    found = store.forget("p1", why="withdrew")
    assert (found.n_texts, found.n_memos_elsewhere) == (6, 2)
    assert damaged(found) == ["acts/ben.sqlite"]
    assert left(store) == []
    assert len(store.acts(coder="ana")) == 6
    with pytest.raises(StoreError, match="ben"):
        store.copies.backup(tmp_path / "backup")
    another_computer()
    saved = store.admin.salvage("ben", tmp_path / "saved.sqlite")
    assert not has_words(saved.path.read_bytes())
    shutil.copy(before, store.path / "acts" / "ben.sqlite")
    again = Store(store.path)
    assert not again.verify()["ok"].all()
    found = again.forget("p1", why="withdrew")
    assert (found.n_texts, damaged(found)) == (3, [])
    assert left(again) == []
    assert again.verify()["ok"].all()
    assert len(again.acts()) == 12


@pytest.mark.crash
def test_any_flipped_byte_of_another_coders_file_hinders_nothing(store: Store, tmp_path: Path) -> None:
    """The words are gone or the file is named; what is saved has none, and a good copy completes it."""
    dice = random.Random(0)
    whole = (store.path / "acts" / "ben.sqlite").read_bytes()
    places = [n for n, byte in enumerate(whole) if byte or not n % 50]
    n_named = n_left = 0
    for number in range(N_FLIPS):
        another_computer()  # on which nobody has withdrawn yet
        folder = shutil.copytree(store.path, tmp_path / str(number))
        flipped = bytearray(whole)
        flipped[dice.choice(places)] ^= 1 << dice.randrange(8)
        (folder / "acts" / "ben.sqlite").write_bytes(flipped)
        one = Store(folder)
        found = one.forget("p1", why="withdrew")
        n_named += bool(damaged(found))
        n_left += bool(left(one))
        assert damaged(found) or not left(one)
        assert set(left(one)) <= {"ben.sqlite"}
        assert len(one.acts(coder="ana")) == 6
        try:
            saved = one.admin.salvage("ben", tmp_path / f"{number}.sqlite").path
        except StoreError:
            pass
        else:
            assert not has_words(saved.read_bytes())
        another_computer()
        (folder / "acts" / "ben.sqlite").write_bytes(whole)
        again = Store(folder)
        found = again.forget("p1", why="withdrew")
        assert damaged(found) == []
        assert "memo to judge" in set(found.still_held["what"]) or not left(again)
        shutil.rmtree(folder)
    print(f"\n{N_FLIPS} flips: {n_named} files named as damaged, {n_left} that kept words until then")
    assert n_left < n_named


def test_a_file_that_is_none_any_more_is_named_and_the_others_are_cleared(store: Store) -> None:
    (store.path / "acts" / "ben.sqlite").write_bytes(os.urandom(5000))
    found = store.forget("p1", why="withdrew")
    assert (found.n_texts, damaged(found)) == (3, ["acts/ben.sqlite"])
    assert left(store) == []


@pytest.mark.postgres
@pytest.mark.parametrize("broken", ["act", "text"])
def test_one_row_of_a_coder_hinders_no_withdrawal_and_nobody_elses_codings(
    postgres: Callable[..., str], tmp_path: Path, broken: str
) -> None:
    """Before, it made `forget` and the reading of all codings raise."""
    address = postgres()
    store = filled(Store.create(address, units=UNITS, codebook=CODEBOOK))
    tables = f'"{server.connect(address).name}-ben"'
    with psycopg.connect(address.partition("&study=")[0], autocommit=True) as admin:
        if broken == "act":
            admin.execute(
                f"INSERT INTO {tables}.acts (seq, act_id, kind, coder, at, codebook, previous, hash) "
                "VALUES (99, 'x', 'finish', 'ben', 'x', 'x', 'x', 'x')"
            )
        else:
            admin.execute(f"INSERT INTO {tables}.texts VALUES ('x', 'x', '\\xff00')")
    found = store.forget("p1", why="withdrew")
    assert (found.n_texts, found.n_memos_elsewhere) == (6, 2)
    assert damaged(found) == ["tables of coder 'ben'"]
    assert left(store) == []
    assert len(store.acts(coder="ana")) == 6
    assert store.coverage(coder="ana")["unit_id"].tolist() == ["m3"]
    for deed in (
        store.codings,
        lambda: store.copies.archive(tmp_path / "a.zip"),
        lambda: store.copies.backup(tmp_path / "b"),
    ):
        with pytest.raises(StoreError, match="ben"):
            deed()
    assert not store.verify().set_index("file").loc["ben", "ok"]
    assert not has_words(store.admin.salvage("ben", tmp_path / "saved.sqlite").path.read_bytes())
    server.connect(address).engine.dispose()
