"""A withdrawal is not undone under another name: whichever copy of the study is opened on this computer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from sense7_qual import acts
from sense7_qual.codebook import Code, Codebook
from sense7_qual.errors import StoreError
from sense7_qual.store import Store
from sense7_qual.store._postgres import server

BOOK = Codebook(name="small", codes=(Code(id="warm", label="Warm"),))
WORDS = {"u0": "The quokka slept two nights.", "u1": "A numbat ran away."}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    units = pd.DataFrame(
        {
            "unit_id": list(WORDS),
            "text": list(WORDS.values()),
            "document_id": None,
            "case_id": ["p0", "p1"],
            "position": None,
        }
    )
    store = Store.create(tmp_path / "study", units=units, codebook=BOOK)
    for unit_id in WORDS:
        store.append([acts.apply(coder="ana", unit_id=unit_id, code="warm", start=2, end=8, codebook=BOOK)])
    store.copies.archive(tmp_path / "before.zip")
    store.copies.backup(tmp_path / "backup")
    store.forget("p0", why="She asked for it.")
    return store


def has_words(folder: Path) -> bool:
    return any(b"quokka" in file.read_bytes() for file in folder.rglob("*") if file.is_file())


def test_an_archive_from_before_is_restored_elsewhere_without_the_words_alone(
    store: Store, tmp_path: Path
) -> None:
    with pytest.raises(StoreError, match="p0") as refused:
        Store.restore(tmp_path / "before.zip", tmp_path / "elsewhere")
    assert "quokka" not in str(refused.value)
    assert not (tmp_path / "elsewhere").exists()
    again = Store.restore(tmp_path / "before.zip", tmp_path / "elsewhere", forget_again=True)
    assert again.units["unit_id"].tolist() == ["u1"]
    assert not has_words(tmp_path / "elsewhere")
    assert len(again.acts()) == len(store.acts())


def test_a_backup_is_opened_where_it_is_without_the_words_alone(store: Store, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="p0"):
        Store(tmp_path / "backup")
    assert Store(tmp_path / "backup", forget_again=True).units["unit_id"].tolist() == ["u1"]
    assert not has_words(tmp_path / "backup")
    assert Store(tmp_path / "backup").verify()["ok"].all()


def test_a_copy_that_was_renamed_is_opened_without_the_words_alone(store: Store, tmp_path: Path) -> None:
    (tmp_path / "backup").rename(tmp_path / "yesterday")
    with pytest.raises(StoreError, match="p0"):
        Store(tmp_path / "yesterday")


def test_another_study_is_opened_as_it_was(store: Store, tmp_path: Path) -> None:
    units = pd.DataFrame(
        {"unit_id": ["u0"], "text": ["Other words."], "document_id": None, "case_id": None, "position": None}
    )
    Store.create(tmp_path / "other", units=units, codebook=BOOK)
    assert Store(tmp_path / "other").units["unit_id"].tolist() == ["u0"]


@pytest.mark.postgres
def test_an_old_archive_comes_into_postgresql_without_the_words_alone(
    store: Store, tmp_path: Path, postgres: Callable[..., str]
) -> None:
    address = postgres()
    with pytest.raises(StoreError, match="p0"):
        Store.restore(tmp_path / "before.zip", address)
    again = Store.restore(tmp_path / "before.zip", address, forget_again=True)
    assert again.units["unit_id"].tolist() == ["u1"]
    server.connect(address).engine.dispose()
