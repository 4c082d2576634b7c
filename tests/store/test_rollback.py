"""Rollback: acts or a codebook that were seen on this computer and are not there any more are missed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from sense7_qual.errors import StoreError
from sense7_qual.store import Store
from sense7_qual.store._postgres import server
from tests.helpers.places import ROOT
from tests.helpers.small_study import CODEBOOK, finish, frame_of, put

LOST = r"expected the {} acts of 'ana' that were there on .* – found {}, without the last of these"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.create(tmp_path / "study", units=frame_of(), codebook=CODEBOOK)


def file_of(store: Store, coder: str = "ana") -> Path:
    return Path(store.path) / "acts" / f"{coder}.sqlite"


def refused(store: Store, n_seen: int, n_there: int) -> None:
    message = LOST.format(n_seen, n_there)
    for deed in (store.acts, lambda: store.acts(coder="ana"), store.codings, lambda: store.append([put()])):
        with pytest.raises(StoreError, match=message):
            deed()
    report = store.verify().set_index("coder")
    assert not report["ok"]["ana"]
    assert "without the last of these" in report["problem"]["ana"]


def test_an_older_acts_file_is_missed_and_named_until_its_acts_are_back(store: Store, tmp_path: Path) -> None:
    store.append([put(start=0, end=3)])
    shutil.copy(file_of(store), tmp_path / "older")
    store.append([put(start=0, end=4), put(start=0, end=5)])
    store.copies.backup(tmp_path / "copy")
    done = store.acts()
    shutil.copy(tmp_path / "older", file_of(store))
    for each in (store, Store(store.path)):
        refused(each, 3, 1)
    with pytest.raises(StoreError, match=r"from the backup of .*copy', with store.copies.merge\(its path\)"):
        store.acts()
    assert store.append([put(coder="ben")]) == 1  # nobody else is kept from working
    assert store.copies.merge(tmp_path / "copy").counts["new"] == 2
    assert [act.act_id for act in store.acts(coder="ana")] == [act.act_id for act in done]
    assert store.append([put(start=0, end=6)]) == 1
    assert store.verify()["ok"].all()


def test_a_deleted_acts_file_is_missed_and_no_second_one_begun(store: Store) -> None:
    store.append([put(start=0, end=3), put(start=0, end=4)])
    file_of(store).unlink()
    refused(store, 2, 0)
    assert not file_of(store).exists()
    store.admin.accept_loss("ana")
    assert store.acts() == []
    assert store.append([put()]) == 1
    assert store.verify()["ok"].all()


@pytest.mark.long
def test_another_process_remembers_it_too(store: Store, tmp_path: Path) -> None:
    store.append([put(start=0, end=3)])
    shutil.copy(file_of(store), tmp_path / "older")
    code = (
        "from sense7_qual.store import Store; from tests.store.test_store import put; "
        f"Store({str(store.path)!r}).append([put(start=0, end=4)])"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT, env=os.environ)
    shutil.copy(tmp_path / "older", file_of(store))
    refused(store, 2, 1)


def test_where_nothing_can_be_remembered_on_the_disk_the_process_does(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "a file"))
    store.append([put(start=0, end=3)])
    file_of(store).unlink()
    refused(store, 1, 0)


def test_copies_elsewhere_and_restored_ones_begin_anew(store: Store, tmp_path: Path) -> None:
    store.append([put(start=0, end=3)])
    store.copies.archive(tmp_path / "one.zip")
    shutil.copytree(store.path, tmp_path / "elsewhere")
    store.append([put(start=0, end=4)])
    assert len(Store(tmp_path / "elsewhere").acts()) == 1
    shutil.rmtree(store.path)
    again = Store.restore(tmp_path / "one.zip", store.path)
    assert len(again.acts()) == 1
    assert again.append([put(start=0, end=5)]) == 1


def test_a_merge_that_puts_acts_in_another_order_loses_none(store: Store, tmp_path: Path) -> None:
    store.append([put(start=0, end=3)])
    store.copies.backup(tmp_path / "copy")
    copy = Store(tmp_path / "copy")
    store.append([put(start=0, end=4)])
    copy.append([put(start=0, end=5)])
    copy.copies.merge(store)
    shutil.copy(file_of(copy), file_of(store))  # whose end is another one, and which has all
    assert len(store.acts()) == 3
    assert store.append([put(start=0, end=6)]) == 1
    assert store.verify()["ok"].all()


def test_an_older_study_json_is_missed(store: Store, tmp_path: Path) -> None:
    path = Path(store.path)
    shutil.copy(path / "study.json", tmp_path / "older")
    label = replace(CODEBOOK, codes=(replace(CODEBOOK.codes[0], label="Other"), *CODEBOOK.codes[1:]))
    new = store.revise(label, why="Clearer.", coder="lead")
    shutil.copy(tmp_path / "older", path / "study.json")
    opened = Store(path)
    for deed in (lambda: opened.revisions, lambda: opened.append([put()])):
        with pytest.raises(StoreError, match=r"found an older one: an older copy replaced study\.json"):
            deed()
    report = opened.verify().set_index("file")
    assert "older copy replaced study.json" in report["problem"]["current codebook"]
    assert opened.revise(opened.codebooks[new.fingerprint], why="It was put back.", coder="lead") == new
    assert opened.append([put(codebook=new)]) == 1
    assert opened.verify()["ok"].all()


def test_merged_revisions_are_no_rollback(store: Store, tmp_path: Path) -> None:
    store.copies.backup(tmp_path / "copy")
    copy = Store(tmp_path / "copy")
    label = replace(CODEBOOK, codes=(replace(CODEBOOK.codes[0], label="Other"), *CODEBOOK.codes[1:]))
    copy.revise(label, why="Clearer.", coder="lead")
    store.copies.merge(copy)
    assert len(store.revisions) == 1
    assert store.append([put()]) == 1


def test_the_notes_of_copies_tell_nobody_how_many_acts_a_colleague_has(store: Store, tmp_path: Path) -> None:
    store.append([put(start=0, end=3), put(start=0, end=4)])
    store.copies.backup(tmp_path / "copy")
    (note,) = (Path(store.path) / "copies").iterdir()
    heads = note.read_text("utf-8").partition('"heads"')[2]
    assert set(heads.partition('"ana": ')[2].partition("\n")[0].strip('",')) <= set("0123456789abcdef")
    assert len(heads.partition('"ana": "')[2].partition('"')[0]) == 64


@pytest.mark.postgres
def test_a_truncated_chain_in_postgresql_is_missed(postgres: Callable[..., str]) -> None:
    address = postgres()
    store = Store.create(address, units=frame_of(), codebook=CODEBOOK)
    store.append([put(start=0, end=3), put(start=0, end=4)])
    name = server.connect(address).name
    for n_left, where in ((1, "seq = 2"), (0, "true")):
        with psycopg.connect(address.partition("&study=")[0], autocommit=True) as admin:
            admin.execute(f'DELETE FROM "{name}-ana".acts WHERE {where}')
        refused(Store(address), 2, n_left)
    with psycopg.connect(address.partition("&study=")[0], autocommit=True) as admin:
        admin.execute(f'DELETE FROM "{name}-ana".texts')
    store.admin.accept_loss("ana")
    assert store.acts() == []
    assert store.append([put()]) == 1
    assert store.verify()["ok"].all()
    server.connect(address).engine.dispose()


# withdrawals ----------------------------------------------------------------------------------------


def put_back(copy: Path, store: Store) -> None:
    """Let the whole folder go back to what it was, as a sync client's history does."""
    shutil.rmtree(store.path)
    shutil.copytree(copy, store.path)


def test_a_folder_that_goes_back_behind_a_withdrawal_is_refused_until_it_is_forgotten_again(
    store: Store, tmp_path: Path
) -> None:
    store.append([put(start=0, end=3)])
    shutil.copytree(store.path, tmp_path / "yesterday")
    case = str(store.units["case_id"][0])
    theirs = set(store.units.loc[store.units["case_id"] == case, "unit_id"])
    assert store.forget(case, why="asked").n_units == len(theirs)
    put_back(tmp_path / "yesterday", store)
    other = next(iter(store.units["unit_id"]))
    named = (
        rf"expected no texts of participants who withdrew – found those of '{case}' again.*forget_again=True"
    )
    for deed in (
        lambda: Store(store.path),
        lambda: Store.create(store.path, units=frame_of(), codebook=CODEBOOK, exist_ok=True),
        lambda: store.append([put(coder="ben")]),  # a kernel that had it open
        lambda: store.append([finish(coder="ben", unit_id=other)]),
        store.decisions,
    ):
        with pytest.raises(StoreError, match=named):
            deed()
    again = Store(store.path, forget_again=True)
    assert not theirs & set(again.units["unit_id"])
    assert not [act.text for act in again.acts() if act.unit_id in theirs and act.text]
    assert Store(store.path).verify()["ok"].all()
    assert store.append([put(coder="ben", unit_id=str(again.units["unit_id"][0]))]) == 1


def test_an_old_archive_that_is_restored_in_its_place_is_refused_too(store: Store, tmp_path: Path) -> None:
    store.copies.archive(tmp_path / "old.zip")
    case = str(store.units["case_id"][0])
    store.forget(case, why="asked")
    shutil.rmtree(store.path)
    with pytest.raises(StoreError, match="participants who have withdrawn"):
        Store.restore(tmp_path / "old.zip", store.path)
    Store.restore(tmp_path / "old.zip", store.path, forget_again=True)
    assert case not in set(Store(store.path).units["case_id"])
