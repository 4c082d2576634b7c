"""A study that moves into a database: its coders get seats there, and it comes back with equal decisions."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import psycopg
import pytest

from sense7_qual import acts
from sense7_qual._commands import main
from sense7_qual._commands.show import STRANGER, shown
from sense7_qual.errors import NotLetIn, StoreError
from sense7_qual.store import Store
from sense7_qual.store._postgres import server
from tests.helpers.small_study import CODEBOOK, frame_of, put
from tests.helpers.two_coders import Address

pytestmark = pytest.mark.postgres


@pytest.fixture
def folder(tmp_path: Path) -> Store:
    """A study folder in which two coders have each finished a text."""
    store = Store.create(tmp_path / "pilot", units=frame_of(), codebook=CODEBOOK)
    for coder in ("ana", "ben"):
        store.append([put(coder=coder), acts.finish(coder=coder, unit_id="m1", codebook=CODEBOOK)])
    return store


class Database:
    """A database of its own, which nobody may enter but who is let in."""

    def __init__(self, postgres: Address) -> None:
        self.plain, name = postgres().partition("&study=")[0], f"d_{secrets.token_hex(4)}"
        self.role = f"lead_{secrets.token_hex(4)}"
        self.run(f"CREATE ROLE {self.role} LOGIN CREATEROLE")
        self.run(f"CREATE DATABASE {name} OWNER {self.role}")
        self.run(f"REVOKE CONNECT ON DATABASE {name} FROM PUBLIC")
        self.name = name

    def run(self, statement: str) -> None:
        with psycopg.connect(self.plain, autocommit=True) as connection:
            connection.execute(statement)

    def address(self, role: str) -> str:
        place = self.plain.replace("/postgres?", f"/{self.name}?")
        return f"{place.replace('//postgres@', f'//{role}@')}&study=pilot"


@pytest.fixture
def database(postgres: Address) -> Iterator[Database]:
    made = Database(postgres)
    yield made
    server._engine.cache_clear()


def archived(store: Store, file: Path) -> Path:
    store.copies.archive(file)
    return file


@pytest.mark.filterwarnings("ignore:study. expected")
def test_a_restored_coder_gets_a_seat_and_the_study_comes_back_with_equal_decisions(
    folder: Store, database: Database, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    there, seat = database.address(database.role), f"seat_{secrets.token_hex(4)}"
    assert main(["restore", str(archived(folder, tmp_path / "pilot.zip")), there]) == 0
    assert "Your role leads the study and codes as ana, ben." in capsys.readouterr().out
    lead = Store(there)
    pd.testing.assert_frame_equal(lead.decisions(), folder.decisions())
    lead.admin.add_coder("ana", role=seat)  # which makes the role, and lets it connect
    ana = Store(database.address(seat))
    assert ana.desk.own_coders() == ["ana"]
    assert lead.desk.own_coders() == ["ben"]
    assert {act.coder for act in ana.acts()} == {"ana"}
    new = [put(unit_id="m2"), acts.finish(coder="ana", unit_id="m2", codebook=CODEBOOK)]
    for store in (ana, folder):
        assert store.append(new) == 2
    with pytest.raises(StoreError, match="found acts of 'ben'"):
        ana.append([put(coder="ben", unit_id="m2")])
    with pytest.raises(StoreError, match="found acts of 'ana'"):
        lead.append([put(unit_id="m3")])
    assert main(["archive", there, str(tmp_path / "back.zip")]) == 0
    assert main(["restore", str(tmp_path / "back.zip"), str(tmp_path / "back")]) == 0
    pd.testing.assert_frame_equal(Store(tmp_path / "back").decisions(), folder.decisions())
    assert Store(tmp_path / "back").acts() == folder.acts()


@pytest.mark.filterwarnings("ignore:study. expected")
def test_the_page_knows_the_coder_by_the_role_and_tells_a_stranger(
    folder: Store, database: Database, tmp_path: Path
) -> None:
    there, seat, stranger = database.address(database.role), *(f"seat_{secrets.token_hex(4)}" for _ in "ab")
    lead = Store.restore(archived(folder, tmp_path / "pilot.zip"), there)
    lead.admin.add_coder("ana", role=seat)
    named = {"coder": None, "rating": None, "round": None}
    assert repr(shown(database.address(seat), **named)) == "CodingWidget('ana', 1 of 3 units finished)"
    assert repr(shown(there, **named)) == "CodingWidget('ben', 1 of 3 units finished)"
    lead.admin.add_coder("dee")
    assert "your account codes as 2 people of this study" in repr(shown(there, **named))
    began = time.monotonic()
    for role in (stranger, f"nobody_{secrets.token_hex(4)}"):  # who may not connect, or is no role at all
        assert repr(shown(database.address(role), **named)) == STRANGER
        database.run(f"CREATE ROLE {stranger} LOGIN") if role == stranger else None
        assert repr(shown(database.address(role), **named)) == STRANGER
    assert time.monotonic() - began < 10  # a login that is refused is not tried again
    database.run(f"GRANT CONNECT ON DATABASE {database.name} TO {stranger}")
    with pytest.raises(NotLetIn, match="ask the lead to add you"):
        Store(database.address(stranger))
    assert repr(shown(database.address(stranger), **named)) == STRANGER


@pytest.mark.filterwarnings("ignore:study. expected")
def test_a_lead_who_cannot_let_a_role_connect_is_told_who_can(
    folder: Store, database: Database, tmp_path: Path
) -> None:
    there, second, seat = database.address(database.role), "lead_two", f"seat_{secrets.token_hex(4)}"
    first = Store.restore(archived(folder, tmp_path / "pilot.zip"), there)
    first.admin.add_coder("lee", role=second, lead=True)
    database.run(f"CREATE ROLE {seat} LOGIN")
    with pytest.raises(StoreError, match=rf'run: GRANT CONNECT ON DATABASE "{database.name}" TO "{seat}"'):
        Store(database.address(second)).admin.add_coder("cai", role=seat)
    assert "cai" not in first.desk.own_coders()
    database.run(f'GRANT CONNECT ON DATABASE "{database.name}" TO "{seat}"')
    Store(database.address(second)).admin.add_coder("cai", role=seat)
    assert Store(database.address(seat)).desk.own_coders() == ["cai"]
