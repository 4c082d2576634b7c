"""Files of a study that are 8 GB of holes, as a sync client or a stranger may leave them: refused unread.

One process opens each by every door; seconds are its processor's, memory what it held at most (VmHWM).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tracemalloc
import uuid
import zipfile
from pathlib import Path

import pytest

from sense7_qual._limits import read_file
from sense7_qual.errors import StoreError
from sense7_qual.store import Store
from tests.helpers.places import ROOT, program
from tests.helpers.small_study import CODEBOOK, frame_of, put

pytestmark = pytest.mark.nightly

SIZE = 8 * 2**30
FINGERPRINT = "0123456789abcdef" * 2
FILES = {
    "study.json": "study.json",
    "units": "units.parquet",
    "the codebook": f"codebooks/{CODEBOOK.fingerprint}.yaml",
    "another codebook": f"codebooks/{FINGERPRINT}.yaml",
    "a stranger's codebook": "codebooks/conflicted copy.yaml",
    "a withdrawal": f"withdrawn/{uuid.UUID(int=7)}.json",
    "a copy": f"copies/{uuid.UUID(int=7)}.json",
    "acts": "acts/eva.sqlite",
    "acts with a head": "acts/eva.sqlite",
    "a stranger": "acts/notes.txt",
}

_OPEN_EACH = program("open_sparse_files")


def made(path: Path) -> Path:
    store = Store.create(path, units=frame_of(), codebook=CODEBOOK)
    store.append([put(coder="ana", start=0, end=2)])
    store.append([put(coder="eva", start=0, end=2)])
    return path


@pytest.mark.long
@pytest.mark.parametrize("what", list(FILES))
def test_a_file_of_holes_in_a_study_is_not_read(what: str, tmp_path: Path) -> None:
    whole = made(tmp_path / "whole")
    bad = tmp_path / "bad"
    shutil.copytree(whole, bad)
    holes = bad / FILES[what]
    holes.parent.mkdir(exist_ok=True)
    if what == "acts":
        holes.write_bytes(b"")
    holes.touch()
    os.truncate(holes, SIZE)
    done = subprocess.run(
        [sys.executable, "-c", _OPEN_EACH, str(whole), str(bad), FILES[what]],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        timeout=500,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    outcomes = [line.split(":") for line in done.stdout.split("\n") if line]
    assert len(outcomes) == 12
    *doors, (_, _, peak), (_, _, threads) = outcomes
    assert threads == "0"  # one of Arrow's aborts the process where it still holds a Python object at its end
    assert int(peak) < 600_000  # kB; half of it are the libraries
    assert {name: seconds for name, _, seconds in doors if float(seconds) > 10} == {}
    named = {"study.json": {"open"}, "units": {"open"}, "the codebook": {"open"}, "acts with a head": set()}
    must_refuse = named.get(what, {"merge the file"})
    assert must_refuse <= {name for name, outcome, _ in doors if outcome == "refused"}


@pytest.mark.long
@pytest.mark.parametrize(
    "member", ["manifest.json", "study.json", "units.parquet", "acts.jsonl", "a codebook"]
)
def test_a_member_of_holes_in_an_archive_is_not_read(member: str, tmp_path: Path) -> None:
    store = Store(made(tmp_path / "whole"))
    store.copies.archive(tmp_path / "good.zip")
    name = f"codebooks/{CODEBOOK.fingerprint}.yaml" if member == "a codebook" else member
    bad = tmp_path / "bad.zip"
    with_holes(tmp_path / "good.zip", bad, name)
    tracemalloc.start()
    try:
        with pytest.raises(StoreError, match=r"members larger than any|a line that is no act"):
            Store.restore(bad, tmp_path / "restored")
        with pytest.raises(StoreError):
            store.copies.merge(bad)
        assert tracemalloc.get_traced_memory()[1] < 200_000_000
    finally:
        tracemalloc.stop()
    assert not (tmp_path / "restored").exists()


def with_holes(source: Path, target: Path, name: str) -> None:
    """Copy an archive, with 8 GB of zeros that take no room for the member `name`."""
    with zipfile.ZipFile(source) as good, zipfile.ZipFile(target, "w") as bad:
        for info in good.infolist():
            content = b"" if info.filename == name else good.read(info)
            bad.writestr(zipfile.ZipInfo(info.filename), content)
            if info.filename == name:
                held = bad.getinfo(name)
                assert bad.fp is not None
                bad.fp.seek(SIZE, os.SEEK_CUR)
                held.file_size = held.compress_size = SIZE
                bad.start_dir = bad.fp.tell()


@pytest.mark.parametrize("kind", ["fifo", "device", "folder", "one byte more"])
def test_what_never_ends_is_not_read(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "folder":
        path.mkdir()
    else:
        path.write_bytes(b"12345")
    with pytest.raises(OSError, match=r"regular|directory|more than 4"):
        read_file(path, 4)
