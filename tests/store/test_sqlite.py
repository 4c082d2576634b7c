"""The acts file: settings, the chain, and what damage to a file looks like."""

from __future__ import annotations

import contextlib
import hashlib
import json
import random
import shutil
import sqlite3
import traceback
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from sense7_qual import acts
from sense7_qual.acts import Act
from sense7_qual.codebook import Code, Codebook
from sense7_qual.errors import StoreError
from sense7_qual.store import Store
from sense7_qual.store._stored import acts_files, acts_tables

CODEBOOK = Codebook(name="small", codes=(Code(id="interest", label="Interest"),))
SENTINEL = "Sentinel-Quokka"
UNITS = pd.DataFrame(
    {
        "unit_id": ["m1", "m2"],
        "text": [f"It listened to me. {SENTINEL}", "She did not."],
        "document_id": ["d1", "d1"],
        "case_id": ["p1", "p1"],
        "position": [0, 1],
    }
)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store.create(tmp_path / "pilot", units=UNITS, codebook=CODEBOOK)
    store.append(deeds("ana"))
    store.append(deeds("ben"))
    return store


def deeds(coder: str) -> list[Act]:
    named = {"coder": coder, "codebook": CODEBOOK, "unit_id": "m1"}
    made = [acts.apply(code="interest", start=i, end=i + 9, **named) for i in range(8)]
    return [*made, acts.memo(text=f"A memo, {SENTINEL}", **named), acts.finish(**named)]


@contextlib.contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """The file as any SQLite program opens it, for looking and for tampering."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        yield connection


def ana(store: Store) -> Path:
    return store.path / "acts" / "ana.sqlite"


# settings -------------------------------------------------------------------------------------------


def test_every_connection_has_the_safe_settings_and_leaves_no_side_files(store: Store) -> None:
    for writes in (False, True):
        with acts_files.transaction(ana(store), writes=writes) as connection:
            found = {
                name: connection.exec_driver_sql(f"PRAGMA {name}").scalar_one() for name in acts_files.PRAGMAS
            }
        assert found == {
            "journal_mode": "delete",
            "synchronous": 3,
            "foreign_keys": 1,
            "trusted_schema": 0,
            "busy_timeout": 30_000,
        }
    assert sorted(path.name for path in (store.path / "acts").iterdir()) == ["ana.sqlite", "ben.sqlite"]


def test_a_writer_takes_the_lock_before_it_reads_and_a_reader_does_not(store: Store) -> None:
    with opened(ana(store)) as other:
        other.execute("PRAGMA busy_timeout=0")
        locked = pytest.raises(sqlite3.OperationalError, match="locked")
        with acts_files.transaction(ana(store), writes=True), locked:
            other.execute("BEGIN IMMEDIATE")
        with acts_files.transaction(ana(store)) as connection:
            connection.exec_driver_sql("SELECT count(*) FROM acts").scalar_one()
            other.execute("BEGIN IMMEDIATE")
            other.execute("ROLLBACK")


def test_a_transaction_that_fails_leaves_nothing_behind(store: Store) -> None:
    before = ana(store).read_bytes()

    def interrupted() -> None:
        with acts_files.transaction(ana(store), writes=True) as connection:
            connection.exec_driver_sql("DELETE FROM acts")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert ana(store).read_bytes() == before


def test_making_a_file_that_is_there_leaves_it_as_it_is(store: Store) -> None:
    before = ana(store).read_bytes()
    acts_files.create(ana(store), study="other", coder="ana")
    assert ana(store).read_bytes() == before


def test_without_hard_links_a_new_file_is_moved_in_and_none_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")  # what FAT says

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    path = tmp_path / "ana.sqlite"
    acts_files.create(path, study="s", coder="ana")
    before = path.read_bytes()
    acts_files.create(path, study="other", coder="ana")
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["ana.sqlite"]


# the chain ------------------------------------------------------------------------------------------


def test_the_chain_can_be_checked_without_this_package(store: Store) -> None:
    study = json.loads((store.path / "study.json").read_bytes())["id"]
    last = sha256(canonical({"study": study, "coder": "ana", "schema": 1}))
    with opened(ana(store)) as connection:
        connection.row_factory = sqlite3.Row
        rows = [dict(row) for row in connection.execute("SELECT * FROM acts ORDER BY seq")]
        texts = {row["text_hash"]: row for row in connection.execute("SELECT * FROM texts")}
    assert [row.pop("seq") for row in rows] == list(range(1, 11))
    for row in rows:
        assert row.pop("previous") == last
        chained = row.pop("hash")
        fields = canonical({name: value for name, value in row.items() if value is not None})
        assert SENTINEL not in fields
        assert sha256(last + fields) == chained
        last = chained
        if row["text_hash"]:
            text = texts[row["text_hash"]]
            assert sha256(text["salt"] + text["text"]) == row["text_hash"]


def canonical(fields: dict[str, object]) -> str:
    return json.dumps(fields, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def sha256(content: str) -> str:
    return hashlib.sha256(content.encode()).hexdigest()


TAMPERED = {
    "a changed code": "UPDATE acts SET code = 'other' WHERE seq = 3",
    "a changed span": "UPDATE acts SET start = start + 1 WHERE seq = 3",
    "a number as bytes": "UPDATE acts SET start = x'00' WHERE seq = 3",
    "a changed time": "UPDATE acts SET at = '2020-01-01T00:00:00.000Z' WHERE seq = 10",
    "a changed hash": "UPDATE acts SET hash = previous WHERE seq = 10",
    "a changed coder": "UPDATE acts SET coder = 'ben' WHERE seq = 1",
    "the first act gone": "DELETE FROM acts WHERE seq = 1",
    "an act gone": "DELETE FROM acts WHERE seq = 5",
    "two acts swapped": "UPDATE acts SET seq = CASE seq WHEN 5 THEN -6 WHEN 6 THEN -5 ELSE seq END",
    "a gap": "UPDATE acts SET seq = 99 WHERE seq = 10",
    "another text": "UPDATE texts SET text = 'It listenee' WHERE text LIKE 'It listen%'",
    "a text as bytes": "UPDATE texts SET text = x'ff' WHERE text LIKE 'It listen%'",
    "a text without its salt": "UPDATE texts SET salt = NULL WHERE text LIKE 'It listen%'",
    "a salt without its text": "UPDATE texts SET text = NULL WHERE text LIKE 'It listen%'",
    "a text gone": "DELETE FROM texts WHERE text LIKE 'It listen%'",
    "another study": "UPDATE meta SET value = 'another' WHERE name = 'study'",
    "another coder": "UPDATE meta SET value = 'ben' WHERE name = 'coder'",
    "no version": "UPDATE meta SET value = 'r' WHERE name = 'schema'",
    "no meta": "DELETE FROM meta",
    "no tables": "DROP TABLE acts",
}


@pytest.mark.long
@pytest.mark.parametrize("statement", TAMPERED.values(), ids=TAMPERED.keys())
def test_a_file_that_was_tampered_with_is_refused_and_the_others_still_open(
    store: Store, statement: str
) -> None:
    with opened(ana(store)) as connection:
        connection.execute(statement)
    for read in (store.acts, store.codings, lambda: store.acts(coder="ana")):
        with pytest.raises(StoreError, match=r"'acts/ana\.sqlite': expected") as refused:
            read()
        assert SENTINEL not in str(refused.value)
    assert store.acts(coder="ben") == Store(store.path).acts(coder="ben")
    assert len(store.acts(coder="ben")) == 10
    found = store.verify().set_index("file")
    assert not found["ok"]["acts/ana.sqlite"]
    assert found["ok"]["acts/ben.sqlite"]
    assert SENTINEL not in found["problem"]["acts/ana.sqlite"]


def test_an_erased_text_leaves_the_chain_whole(store: Store) -> None:
    before = store.acts(coder="ana")
    with opened(ana(store)) as connection:
        connection.execute("UPDATE texts SET salt = NULL, text = NULL")
    found = store.acts(coder="ana")
    assert [act.act_id for act in found] == [act.act_id for act in before]
    assert {act.text for act in found if act.kind == "apply"} == {None}
    assert store.memos(coder="ana").empty
    assert len(store.codings(coder="ana")) == 8
    assert "erased though nobody withdrew" in store.verify().set_index("coder")["problem"]["ana"]


def test_equal_texts_have_different_hashes(store: Store) -> None:
    with opened(ana(store)) as connection:
        (hashes,) = connection.execute("SELECT count(DISTINCT text_hash) FROM texts").fetchone()
    store.append(
        [acts.memo(coder="ana", unit_id="m1", text=f"A memo, {SENTINEL}", codebook=CODEBOOK) for _ in "ab"]
    )
    with opened(ana(store)) as connection:
        assert connection.execute("SELECT count(DISTINCT text_hash) FROM texts").fetchone() == (hashes + 2,)


# damaged and foreign files --------------------------------------------------------------------------


def test_a_file_of_another_study_or_coder_is_named(store: Store, tmp_path: Path) -> None:
    other = Store.create(tmp_path / "other", units=UNITS, codebook=CODEBOOK)
    other.append(deeds("cy"))
    (other.path / "acts" / "cy.sqlite").rename(store.path / "acts" / "cy.sqlite")
    with pytest.raises(
        StoreError, match=r"'acts/cy\.sqlite': expected an acts file of study .* found one of study"
    ):
        store.acts()
    with pytest.raises(StoreError, match="found one of study"):
        store.append(deeds("cy"))
    (store.path / "acts" / "cy.sqlite").unlink()
    (store.path / "acts" / "ben.sqlite").rename(store.path / "acts" / "dee.sqlite")
    with pytest.raises(StoreError, match="expected the acts of coder 'dee' – found those of coder 'ben'"):
        store.acts()
    with pytest.raises(StoreError, match="found those of coder 'ben'"):
        store.append(deeds("dee"))


def test_a_sync_clients_second_copy_is_not_passed_over_until_all_of_it_is_taken_in(store: Store) -> None:
    copy = store.path / "acts" / "ana (conflicted copy).sqlite"
    other = Store(shutil.copytree(store.path, store.path.with_name("aside")))
    other.append(deeds("ana")[:3])
    copy.write_bytes(ana(other).read_bytes())
    with pytest.raises(StoreError, match="where both are there, a sync client made a copy"):
        store.acts()
    assert len(store.acts(coder="ana")) == 10
    assert store.coders == ("ana", "ben")
    found = store.verify().set_index("file")
    assert "3 acts that acts/ana.sqlite does not have" in found["problem"][f"acts/{copy.name}"]
    assert store.copies.merge(copy).counts["new"] == 3
    assert len(store.acts()) == 23
    assert store.verify()["ok"].all()
    copy.rename(copy.with_name("ana-LAPTOP7.sqlite"))  # a name that could be a coder's
    assert len(store.acts()) == 23
    assert "nothing new" in store.verify().set_index("file")["note"]["acts/ana-LAPTOP7.sqlite"]


@pytest.mark.parametrize(
    "content", [b"", b"\x00" * 8192, f"{SENTINEL} ".encode() * 2000, b"SQLite format 3\x00"]
)
def test_a_file_that_is_no_database_is_refused_for_reading_and_writing(store: Store, content: bytes) -> None:
    ana(store).write_bytes(content)
    for use in (store.acts, lambda: store.append(deeds("ana"))):
        with pytest.raises(StoreError, match="put a good copy of this") as refused:
            use()
        assert SENTINEL not in str(refused.value)
    assert ana(store).read_bytes() == content
    assert len(store.acts(coder="ben")) == 10


def test_a_file_cut_short_is_refused(store: Store) -> None:
    whole = ana(store).read_bytes()
    for size in range(4096, len(whole), 4096):
        ana(store).write_bytes(whole[:size])
        with pytest.raises(StoreError, match="acts/ana"):
            store.acts(coder="ana")


@pytest.mark.long
def test_a_flipped_byte_gives_the_acts_as_written_or_an_error_never_other_acts(store: Store) -> None:
    whole, written = ana(store).read_bytes(), store.acts(coder="ana")
    dice, refused = random.Random(7), []
    used = [place for place, byte in enumerate(whole) if byte]
    for place in dice.sample(used, 150):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << dice.randrange(8)
        ana(store).write_bytes(damaged)
        try:
            assert store.acts(coder="ana") == written
        except StoreError as error:
            refused.append("".join(traceback.format_exception(error)))
    assert len(refused) > 100  # most of a file's bytes are acts and texts
    assert not [message for message in refused if SENTINEL in message or "It listened" in message]


def test_a_file_locked_by_another_program_is_named(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(acts_files.PRAGMAS, "busy_timeout", 20)  # instead of half a minute
    with opened(ana(store)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreError, match="another program has locked the file"):
            store.append(deeds("ana"))
        other.execute("ROLLBACK")
    assert store.append(deeds("ana")) == 10


def test_a_file_that_cannot_be_opened_is_named(store: Store) -> None:
    ana(store).unlink()
    ana(store).mkdir()
    with pytest.raises(StoreError, match="Check the permissions"):
        store.append(deeds("ana"))


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [("text", SENTINEL, "another quote than unit 'm1' has"), ("kind", "applaud", "cannot be one")],
)
def test_acts_that_the_chain_vouches_for_must_still_fit_the_study(
    store: Store, field: str, value: str, message: str
) -> None:
    study = json.loads((store.path / "study.json").read_bytes())["id"]
    act = acts.apply(coder="ana", unit_id="m1", code="interest", start=0, end=2, codebook=CODEBOOK)
    object.__setattr__(act, field, value)
    with acts_files.transaction(ana(store), writes=True) as connection:
        acts_tables.add(connection, [act], study=study, coder="ana")
    with pytest.raises(StoreError, match=message) as refused:
        store.acts(coder="ana")
    assert SENTINEL not in str(refused.value)
