"""Where studies of both kinds can be made, and a database whose statistics are open."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from sense7_qual.store._postgres import server
from tests.helpers.two_coders import Address

Place = Callable[[str], str | Path]


@pytest.fixture(params=["folder", pytest.param("postgresql", marks=pytest.mark.postgres)])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """Where a study of the kind can be made, by name."""
    if request.param == "folder":
        yield lambda name: tmp_path / name
        return
    postgres: Callable[..., str] = request.getfixturevalue("postgres")
    given: list[str] = []

    def address(_: str) -> str:
        given.append(postgres())
        return given[-1]

    yield address
    for each in given:
        server.connect(each).engine.dispose()


@pytest.fixture
def untouched(postgres: Address) -> Iterator[str]:
    """The address of a study in a database whose statistics nobody has closed."""
    plain = postgres().partition("&study=")[0]
    with psycopg.connect(plain, autocommit=True) as admin:
        admin.execute("CREATE DATABASE untouched")
        admin.execute("REVOKE CONNECT ON DATABASE untouched, postgres FROM PUBLIC")
    address = postgres().replace("@/postgres?", "@/untouched?")
    yield address
    server.connect(address).engine.dispose()
    with psycopg.connect(plain, autocommit=True) as admin:
        admin.execute("DROP DATABASE untouched WITH (FORCE)")
        admin.execute("GRANT CONNECT ON DATABASE postgres TO PUBLIC")
