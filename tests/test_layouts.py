"""Studies in PostgreSQL that a later version made are read and not written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import psycopg
import pytest

from sense7_qual.codebook import Code
from sense7_qual.errors import StoreError
from sense7_qual.store import Store
from sense7_qual.store._files import signed_json
from sense7_qual.store._postgres import row_security, server
from tests.test_store import CODEBOOK, finish, frame_of, put

pytestmark = pytest.mark.postgres

Address = Callable[..., str]


def plain(address: str) -> str:
    return address.partition("&study=")[0]


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
            (f'UPDATE "{name}".study SET schema = 99', f'UPDATE "{name}".study SET schema = 1'),
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


def test_a_folder_of_a_later_version_does_not_become_a_study_of_this_one(
    postgres: Address, tmp_path: Path
) -> None:
    folder = Store.create(tmp_path / "study", units=frame_of(), codebook=CODEBOOK).path
    values = signed_json.unseal((folder / "study.json").read_bytes())
    (folder / "study.json").write_bytes(signed_json.seal({**values, "schema": 99}))
    with pytest.raises(StoreError, match="found version 99"):
        Store.restore(folder, postgres())


@pytest.mark.parametrize("name", ["public", "information_schema"])
def test_a_schema_that_holds_no_study_is_said_to_hold_none(postgres: Address, name: str) -> None:
    with pytest.raises(StoreError, match="found a schema that holds none"):
        Store(postgres(study=name))
