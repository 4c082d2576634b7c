"""The page on the record names what the store can do; its examples run, as do those on other pages."""

from __future__ import annotations

import doctest
import inspect
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import psycopg
import pytest

from sense7_qual import acts, rounds
from sense7_qual.codebook import Codebook
from sense7_qual.store import Store
from sense7_qual.store._copies import Admin, Copies
from sense7_qual.store._postgres import server
from sense7_qual.store._postgres.row_security import CLOSED
from tests.helpers.places import ROOT
from tests.helpers.small_study import frame_of

PAGE = (ROOT / "docs" / "record.md").read_text("utf-8")
ADJUDICATION = (ROOT / "docs" / "adjudication.md").read_text("utf-8")
FILES = (ROOT / "docs" / "files.md").read_text("utf-8")
TRAINING = (ROOT / "docs" / "training.md").read_text("utf-8")
METHODS = [
    name
    for part in (Store, Copies, Admin)
    for name, member in inspect.getmembers(part)
    if not name.startswith("_") and callable(member) and name not in ("coders", "memos")
]
ROUNDS = [name for name in rounds.__all__ if inspect.isfunction(getattr(rounds, name))]


def test_the_page_names_every_method_of_the_store_and_function_of_rounds() -> None:
    named = [*METHODS, *(name for name in ROUNDS if name != "visible")]
    assert [name for name in named if not re.search(rf"\b{name}\b", PAGE)] == []


@pytest.mark.long
@pytest.mark.parametrize(
    ("page", "fewest"),
    [(PAGE, 30), (TRAINING, 10), (ADJUDICATION, 20), (FILES, 5)],
    ids=["record", "training", "adjudication", "files"],
)
def test_the_examples_run(page: str, fewest: int) -> None:
    examples = "\n".join(re.findall(r"^```python\n(>>>.*?)^```$", page, flags=re.MULTILINE | re.DOTALL))
    test = doctest.DocTestParser().get_doctest(examples, {}, "page.md", None, None)
    assert len(test.examples) > fewest
    runner = doctest.DocTestRunner(verbose=False)
    runner.run(test)
    assert runner.failures == 0


@pytest.fixture
def database(postgres: Callable[..., str]) -> Iterator[str]:
    """The folder of the socket of a server with the page's database, ``lab``, and its role ``lead``."""
    plain = postgres().partition("&study=")[0]
    with psycopg.connect(plain, autocommit=True) as admin:
        admin.execute("CREATE DATABASE lab")
        with suppress(
            psycopg.errors.DuplicateObject
        ):  # other tests of the server may have roles of these names
            admin.execute("CREATE ROLE lead")
        admin.execute("ALTER ROLE lead LOGIN CREATEROLE")
        admin.execute("GRANT CREATE ON DATABASE lab TO lead WITH GRANT OPTION")
    yield parse_qs(urlsplit(plain).query)["host"][0]
    with psycopg.connect(plain, autocommit=True) as admin:
        admin.execute("DROP DATABASE lab WITH (FORCE)")


def block(language: str, within: str) -> str:
    """The block of code on the page that has the words."""
    blocks = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)
    [found] = [each for each in blocks if within in each]
    return str(found)


@pytest.mark.postgres
@pytest.mark.filterwarnings("ignore:study. expected")
def test_what_the_page_says_of_a_team_runs(database: str) -> None:
    """The block of Python as it stands, but for the server's name."""
    source = block("python", "postgresql://lead@")
    here = {"qual": __import__("sense7_qual"), "units": frame_of(), "sense7": Codebook.read("sense7")}
    exec(source.replace("@db.example.org/lab?", f"@/lab?host={database}&"), here)  # noqa: S102 – the page itself
    store = here["store"]
    assert isinstance(store, Store)
    assert store.append([acts.finish(coder="ana", unit_id="m1", codebook=store.codebook)]) == 1
    for role in ("lead", "ana"):
        server.connect(f"postgresql://{role}@/lab?host={database}&study=pilot").engine.dispose()


@pytest.mark.postgres
@pytest.mark.skipif(shutil.which("psql") is None, reason="psql is not installed")
def test_the_commands_that_close_the_statistics_run(database: str, tmp_path: Path) -> None:
    """As they stand on the page, in a folder that has nothing of this project."""
    command = tmp_path / "sense7-qual"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m sense7_qual "$@"\n', "utf-8")
    command.chmod(0o755)
    lines = block("sh", "psql --username").splitlines()
    named = {
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "PGHOST": database,
        "PYTHONPATH": str(ROOT),
    }
    states = []
    with psycopg.connect(f"postgresql://postgres@/lab?host={database}", autocommit=True) as admin:
        for line in lines:
            done = subprocess.run(
                ["sh", "-ec", line], cwd=tmp_path, env=named, capture_output=True, text=True, check=False
            )
            assert (done.returncode, "ERROR" in done.stderr) == (0, False), done.stderr
            states.append(admin.execute(CLOSED).fetchone()[0])
    assert states == [False, True, True, False]
