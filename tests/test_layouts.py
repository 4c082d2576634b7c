"""Studies in PostgreSQL that an older or later version made: brought up by the lead, or read and not written.

The fixtures ``team-<version>.sql`` are dumps of studies that those versions made: a lead, ana and ben with
acts in round one, which is unblinded, and in round two, which is not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import psycopg
import pytest

from sense7_qual import acts
from sense7_qual.codebook import Code
from sense7_qual.errors import StoreError
from sense7_qual.store import Store
from sense7_qual.store._postgres import row_security, server, versions
from tests.test_store import CODEBOOK, finish, frame_of, put

pytestmark = pytest.mark.postgres

Address = Callable[..., str]
FIXTURES = Path(__file__).parent / "fixtures"
OLDER = range(1, row_security.LAYOUT)


def plain(address: str) -> str:
    return address.partition("&study=")[0]


@pytest.fixture(params=OLDER)
def older(request: pytest.FixtureRequest, postgres: Address) -> Iterator[tuple[int, Address]]:
    """A study of an older version, as the address of each of its roles."""
    number = request.param
    with psycopg.connect(plain(postgres()), autocommit=True) as admin:
        admin.execute((FIXTURES / f"team-{number}.sql").read_text("utf-8"))

    def address(role: str) -> str:
        return postgres(f"old_{number}_{role}" if role != "postgres" else role, f"old_{number}")

    yield number, address
    for role in ("postgres", "lead", "ana", "ben"):
        server.connect(address(role)).engine.dispose()
    with psycopg.connect(plain(postgres()), autocommit=True) as admin:
        (owner,) = admin.execute(f"SELECT owner FROM old_{number}.study").fetchone()
        for role in (f'"{owner}"', *(f"old_{number}_{each}" for each in ("lead", "ana", "ben"))):
            admin.execute(f"DROP OWNED BY {role} CASCADE")
            admin.execute(f"DROP ROLE {role}")


def structure(address: str) -> dict[str, list[tuple[object, ...]]]:
    """The tables, rules, functions and triggers of a study, with its own name taken out."""
    name = address.rpartition("=")[2]
    queries = {
        "columns": "SELECT table_schema, table_name, column_name, data_type, is_nullable FROM "
        "information_schema.columns WHERE table_schema ~ %s",
        "rules": "SELECT schemaname, tablename, policyname, permissive, roles, cmd, qual, with_check FROM "
        "pg_policies WHERE schemaname ~ %s",
        "functions": "SELECT n.nspname, p.proname, p.prosrc, p.prosecdef, p.provolatile, p.proconfig "
        "FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname ~ %s",
        "triggers": "SELECT n.nspname, c.relname, pg_get_triggerdef(t.oid) FROM pg_trigger t JOIN pg_class c "
        "ON c.oid = t.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname ~ %s "
        "AND NOT t.tgisinternal",
        "guarded": "SELECT n.nspname, c.relname, c.relrowsecurity, c.relforcerowsecurity FROM pg_class c "
        "JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname ~ %s AND c.relkind = 'r'",
        "keys": "SELECT n.nspname, conrelid::regclass::text, contype, pg_get_constraintdef(k.oid) FROM "
        "pg_constraint k JOIN pg_namespace n ON n.oid = k.connamespace WHERE n.nspname ~ %s "
        "AND contype <> 'n'",
    }
    with psycopg.connect(plain(address)) as admin:
        found = {what: admin.execute(q, (f"^{name}(-.*)?$",)).fetchall() for what, q in queries.items()}
    return {
        what: sorted(tuple(re.sub(rf"\b{name}\b", "study", repr(value)) for value in row) for row in rows)
        for what, rows in found.items()
    }


def test_a_lead_brings_an_older_study_up_and_nothing_is_lost(
    older: tuple[int, Address], postgres: Address, tmp_path: Path
) -> None:
    number, address = older
    if number == 1:
        with pytest.raises(StoreError, match="found version 1 – ask the lead to open the study once"):
            Store(address("ana"))
    else:
        ana = Store(address("ana"))
        codebook = ana.codebook
        assert ana.append([acts.reopen(coder="ana", unit_id="m1", round="two", codebook=codebook)]) == 1
    lead = Store(address("lead"))
    assert [len(lead.acts(coder=coder)) for coder in ("ana", "ben", "lead")] == [4 + number, 5, 3]
    assert lead.acts(coder="ben")[0].text == "listened"
    assert lead.verify()["ok"].all()
    Store(address("postgres"))  # as a superuser, gives what a lead cannot
    fresh = Store.create(postgres(), units=frame_of(), codebook=CODEBOOK)
    for coder in ("ana", "ben", "lead"):
        fresh.add_coder(coder)
    assert structure(address("postgres")) == structure(str(fresh.path))
    ana = Store(address("ana"))
    assert [act.round for act in ana.acts(coder="ben")] == ["one", "one"]
    assert ana.append([acts.finish(coder="ana", unit_id="m2", codebook=ana.codebook)]) == 1
    lead.archive(tmp_path / "one.zip")
    there = Store.restore(tmp_path / "one.zip", tmp_path / "there")
    assert there.acts() == lead.acts()
    there.append([acts.finish(coder="ben", unit_id="m2", codebook=there.codebook)])
    assert lead.merge(there).counts["new"] == 1
    assert lead.forget("p1", why="withdrew").n_units == 1
    assert Store(address("ben")).units["unit_id"].tolist() == ["m2"]
    assert lead.verify()["ok"].all()
    server.connect(str(fresh.path)).engine.dispose()


def test_a_study_of_a_later_version_is_read_and_not_written(postgres: Address, tmp_path: Path) -> None:
    address = postgres()
    name = address.rpartition("=")[2]
    store = Store.create(address, units=frame_of(), codebook=CODEBOOK)
    store.append([put(), put(start=0, end=5)])
    store.archive(tmp_path / "one.zip")
    more = (*CODEBOOK.codes, Code(id="new", label="New"))
    with psycopg.connect(plain(address), autocommit=True) as admin:
        later = (
            f'CREATE OR REPLACE FUNCTION "{name}".layout() RETURNS integer LANGUAGE sql AS $$ SELECT {{}} $$'
        )
        for change, back in (
            (later.format(99), later.format(row_security.LAYOUT)),
            (f'UPDATE "{name}".study SET schema = 99', f'UPDATE "{name}".study SET schema = 2'),
        ):
            admin.execute(change)
            with pytest.warns(UserWarning, match="can be read as far as it is understood and not be written"):
                opened = Store(address)
            assert opened.acts() == store.acts()
            pd.testing.assert_frame_equal(opened.units, store.units)
            for write in (
                lambda opened=opened: opened.append([finish()]),
                lambda opened=opened: opened.append([put(coder="new")]),
                lambda opened=opened: opened.revise(
                    type(CODEBOOK)(name="small", valence=CODEBOOK.valence, codes=more), why="x", coder="ana"
                ),
                lambda opened=opened: opened.merge(tmp_path / "one.zip"),
                lambda opened=opened: opened.forget("p1", why="x"),
                lambda opened=opened: opened.add_coder("cleo"),
                lambda opened=opened: opened.archive(tmp_path / "two.zip"),
                lambda opened=opened: opened.backup(tmp_path / "two.zip"),
            ):
                with pytest.raises(StoreError, match="update sense7_qual"):
                    write()
            admin.execute(back)
    assert Store(address).append([finish()]) == 1
    assert not (tmp_path / "two.zip").exists()
    server.connect(address).engine.dispose()


@pytest.mark.parametrize("name", ["public", "information_schema"])
def test_a_schema_that_holds_no_study_is_said_to_hold_none(postgres: Address, name: str) -> None:
    with pytest.raises(StoreError, match="found a schema that holds none"):
        Store(postgres(study=name))


def test_every_step_leads_to_todays_version() -> None:
    assert sorted(versions.STEPS) == list(OLDER)
