"""A database whose statistics are open."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from sense7_qual.store._postgres import server
from tests.helpers.two_coders import Address


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
