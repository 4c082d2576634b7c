"""The scripts for an administrator are in what is installed, and run on every PostgreSQL that is here."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from sense7_qual.store._postgres.row_security import CLOSED, CLOSING
from tests.helpers.places import ROOT
from tests.helpers.two_coders import rights

SCRIPTS = (
    "sense7_qual/store/_postgres/close_statistics.sql",
    "sense7_qual/store/_postgres/open_statistics.sql",
)
SERVERS = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))


@pytest.mark.long
def test_the_built_wheel_has_the_scripts(tmp_path: Path) -> None:
    command = ["wheel", "--no-deps", "--no-index", "--no-build-isolation", "--wheel-dir", str(tmp_path), "."]
    subprocess.run([sys.executable, "-m", "pip", "-q", *command], cwd=ROOT, check=True)
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        others = ("py.typed", "widgets/static/coding.js", "redact/words.toml", "_formats/people.toml")
        for file in (*SCRIPTS, *(f"sense7_qual/{name}" for name in others)):
            assert wheel.read(file) == (ROOT / file).read_bytes()


@contextmanager
def running(pg_ctl: Path) -> Iterator[str]:
    """Run a server of this version; PostgreSQL refuses to run as root, so then as its own user."""
    folder = Path(tempfile.mkdtemp(prefix="pg-"))
    as_user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    if as_user:
        shutil.chown(folder, "postgres")
    data = str(folder / "data")

    def run(*command: str) -> None:
        subprocess.run([*as_user, *command], check=True, capture_output=True, cwd="/", timeout=300)

    run(str(pg_ctl.with_name("initdb")), "-D", data, "-U", "postgres", "-A", "trust", "--no-sync")
    start = [str(pg_ctl), "-D", data, "-w", "-l", f"{folder}/log"]
    run(*start, "-o", f"-k {folder} -c listen_addresses='' -c fsync=off", "start")
    try:
        yield f"postgresql://postgres@/postgres?host={folder}"
    finally:
        run(str(pg_ctl), "-D", data, "-m", "immediate", "stop")
        shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.postgres
@pytest.mark.skipif(not SERVERS, reason="no PostgreSQL below /usr/lib/postgresql")
@pytest.mark.parametrize("pg_ctl", SERVERS, ids=[path.parts[-3] for path in SERVERS])
def test_the_scripts_close_and_open_on_each_version(pg_ctl: Path) -> None:
    opening = CLOSING.with_name("open_statistics.sql").read_text("utf-8")
    with running(pg_ctl) as address, psycopg.connect(address, autocommit=True) as admin:
        before = rights(admin)
        admin.execute("CREATE ROLE ana LOGIN")
        with psycopg.connect(address.replace("postgres@", "ana@"), autocommit=True) as ana:
            assert ana.execute("SELECT count(reltuples) FROM pg_class").fetchone()[0] > 0
            admin.execute(CLOSING.read_text("utf-8"))
            assert admin.execute(CLOSED).fetchone() == (True,)
            for statement in (
                "SELECT reltuples FROM pg_class",
                "SELECT txid_current()",
                "SELECT lo_create(0)",
            ):
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    ana.execute(statement)
            admin.execute(opening)
            assert ana.execute("SELECT count(reltuples) FROM pg_class").fetchone()[0] > 0
        assert rights(admin) == before
