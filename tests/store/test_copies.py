"""Copies that are being made: what a killed process leaves of them is found, and is nobody else's to read."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pandas as pd
import pytest

from sense7_qual.store import Store
from sense7_qual.store._stored import whole_files
from tests.helpers import disk
from tests.helpers.killed import wait_until
from tests.helpers.nightly import nightly_but
from tests.helpers.places import ROOT, program
from tests.helpers.small_study import CODEBOOK as SENSE7, frame_of, put
from tests.helpers.withdrawn_words import CODEBOOK

SOAK = bool(os.environ.get("SOAK"))
OPERATIONS = (
    "create",
    "backup",
    "archive",
    "restore",
    "hand out",
    "salvage",
    "merge",
    "merge an archive",
    "read a journal",
)

KILLS = program("kill_while_copying")


@pytest.mark.crash
@pytest.mark.parametrize("operation", nightly_but(OPERATIONS, here=["backup", "merge an archive"]))
def test_a_killed_process_leaves_no_copy_of_the_words(operation: str) -> None:
    with disk.memory() as root:
        found = json.loads(disk.run(KILLS, root, operation, 10_000 if SOAK else 8))
    bad = [row for row in found if row[2] or row[3]]
    print(
        f"\n{operation}: {len(found)} kills at {found[0][1]} calls, {len(bad)} left copies or readable files"
    )
    assert len(found) >= 8
    assert bad[:3] == []


SERVER_KILLS = program("kill_while_copying_from_server")


@pytest.mark.nightly
@pytest.mark.postgres
def test_a_killed_client_of_postgresql_leaves_no_copy_of_the_words(postgres: Callable[..., str]) -> None:
    with disk.memory() as root:
        found = json.loads(disk.run(SERVER_KILLS, root, postgres()))
    n_left = sum(row[2] for row in found)
    print(f"\nPostgreSQL: {len(found)} kills, {n_left} left a copy, all cleared at the next opening")
    assert {row[1] for row in found} == {-9}
    assert n_left > 3
    assert [row for row in found if row[3] or row[4]] == []


# what is left, and what is not -----------------------------------------------------------------------


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store.create(tmp_path / "pilot", units=frame_of(), codebook=SENSE7)
    store.append([put(start=0, end=4)])
    return store


BUILDER = program("copy_until_killed")


@pytest.fixture
def build() -> Iterator[Callable[[Path, Path], tuple[subprocess.Popen[str], Path]]]:
    begun: list[subprocess.Popen[str]] = []

    def begin(folder: Path, target: Path) -> tuple[subprocess.Popen[str], Path]:
        command = [sys.executable, "-W", "ignore", "-c", BUILDER, str(folder), str(target)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
        begun.append(process)
        return process, Path(process.stdout.readline().strip())

    yield begin
    for process in begun:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.mark.long
def test_what_another_process_is_building_stays_until_it_is_killed(
    store: Store, tmp_path: Path, build: Callable[..., tuple[subprocess.Popen[str], Path]]
) -> None:
    process, built = build(store.path, tmp_path / "there" / "copy")
    held = Store(store.path).forget("p0", why="withdrew").still_held
    assert built.exists()
    assert held.loc[held["what"] == "unfinished copy", "place"].tolist() == [str(tmp_path / "there" / "copy")]
    assert store.verify()["ok"].all()
    store.copies.backup(tmp_path / "there" / "other")  # beside it
    assert built.exists()
    process.kill()
    process.wait()
    assert "unfinished copy" not in set(store.forget("p0", why="withdrew").still_held["what"])
    assert [path.name for path in (tmp_path / "there").iterdir()] == ["other"]
    assert not [path for path in store.path.iterdir() if path.name.startswith(".")]


def test_what_another_thread_is_building_stays(tmp_path: Path) -> None:
    with whole_files.building(tmp_path) as place:
        (place / "file").write_text("words")
        others = [threading.Thread(target=whole_files.clear, args=(tmp_path,)) for _ in range(3)]
        for each in others:
            each.start()
        for each in others:
            each.join()
        assert (place / "file").exists()
        assert stat.S_IMODE(place.stat().st_mode) == 0o700
    assert list(tmp_path.iterdir()) == []


def test_a_killed_copy_is_cleared_where_no_open_file_can_be_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Windows removes no file that is open: the lock goes when it has been given back."""
    left = tmp_path / f".{uuid.uuid4()}.new"
    left.mkdir()
    (left / ".lock").touch()
    (left / "units.parquet").write_text("words")
    os.utime(left, (0, 0))

    def windows(path: Path, *, ignore_errors: bool = False) -> None:
        with closing(sqlite3.connect(path / ".lock", timeout=0)) as other:
            try:
                other.execute("BEGIN EXCLUSIVE")
            except sqlite3.OperationalError:
                (path / "units.parquet").unlink()
                if not ignore_errors:
                    raise PermissionError(".lock") from None
                return
        (path / ".lock").unlink()
        path.rmdir()

    monkeypatch.setattr(whole_files.shutil, "rmtree", windows)
    whole_files.clear(tmp_path)
    assert not left.exists()


@pytest.mark.long
def test_what_is_left_on_a_disk_that_is_away_is_named_until_it_is_back(
    store: Store, tmp_path: Path, build: Callable[..., tuple[subprocess.Popen[str], Path]]
) -> None:
    process, _ = build(store.path, tmp_path / "stick" / "copy")
    process.kill()
    process.wait()
    (tmp_path / "stick").rename(tmp_path / "away")
    held = Store(store.path).forget("p0", why="withdrew").still_held
    assert held.loc[held["what"] == "unfinished copy", "place"].tolist() == [str(tmp_path / "stick" / "copy")]
    (tmp_path / "away").rename(tmp_path / "stick")
    Store(store.path)
    assert list((tmp_path / "stick").iterdir()) == []
    assert "unfinished copy" not in set(store.forget("p0", why="withdrew").still_held["what"])


def test_what_an_earlier_version_left_goes_and_what_is_not_ours_stays(store: Store, tmp_path: Path) -> None:
    name = "24ae3345-bf90-4c1d-83ef-1c735a11b19d.new"
    for left in (f".{name}", f".pilot.{name}.acts", f".{name}-journal"):
        (store.path / left).write_text("words")
    (store.path / "acts" / f".pilot.{name}").mkdir()
    (store.path / "acts" / f".pilot.{name}" / "units.parquet").write_text("words")
    for other in (".new", f"x.{name}", ".hidden"):
        (store.path / other).write_text("mine")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis").write_text("mine")
    (store.path / f".link.{name}").symlink_to(tmp_path / "mine")
    Store(store.path)
    left = [path.name for path in store.path.rglob("*") if name in path.name]
    assert left == [f"x.{name}"]
    assert (store.path / ".new").exists()
    assert (tmp_path / "mine" / "thesis").read_text() == "mine"


@pytest.mark.parametrize("said", ["words", "place", "fifo"])
def test_a_note_from_a_stranger_removes_nothing_else(store: Store, tmp_path: Path, said: str) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / ".thesis.new").write_text("mine")
    place = store.path / ".24ae3345-bf90-4c1d-83ef-1c735a11b19d.new"
    place.mkdir()
    (place / ".lock").touch()
    if said == "fifo":
        os.mkfifo(place / ".elsewhere")
    else:
        values = {"place": str(tmp_path / "mine" / "thesis") if said == "place" else "\0", "at": 1}
        (place / ".elsewhere").write_bytes(whole_files.seal(values))
    Store(store.path)
    assert (tmp_path / "mine" / ".thesis.new").exists()


@pytest.fixture
def read_only(store: Store, tmp_path: Path) -> Iterator[Path]:
    """The study on a medium that cannot be written."""
    medium = tmp_path / "medium"
    medium.mkdir()
    bound = subprocess.run(["mount", "--bind", tmp_path, medium], capture_output=True)
    if bound.returncode:
        pytest.skip("a medium that cannot be written cannot be mounted here (needs root)")
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", medium], check=True)
        yield medium / "pilot"
    finally:
        subprocess.run(["umount", medium], check=True)


@pytest.mark.parametrize("kind", ["archive", "backup"])
def test_a_study_on_read_only_media_can_be_copied(read_only: Path, tmp_path: Path, kind: str) -> None:
    study = Store(read_only)
    with pytest.warns(UserWarning, match=f"forget will not name this {kind}"):
        getattr(study.copies, kind)(tmp_path / "copies" / "pilot")
    assert [path.name for path in (tmp_path / "copies").iterdir()] == ["pilot"]
    assert list(whole_files.here().iterdir()) == []
    if kind == "archive":
        again = Store.restore(tmp_path / "copies" / "pilot", tmp_path / "again")
    else:
        again = Store(tmp_path / "copies" / "pilot")
    assert again.acts() == study.acts()


# the kills, with all that writes among them -----------------------------------------------------------

N_KILLS = 1_000 if SOAK else 20
N_CASES = 8
WORDS = b"Numbat"

WRITERS = program("writers_beside_copies")


@pytest.mark.crash
def test_kills_among_copies_merges_and_withdrawals_lose_nothing_and_leave_no_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """20 kills (1,000 in `make soak`) of processes that code, copy, merge, restore and forget."""
    dice, begin, n_acts, n_killed = random.Random(7), time.perf_counter(), 0, Counter()
    for number in range(N_KILLS // 20):
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / f"{number}" / "state"))
        monkeypatch.setenv("TMPDIR", str(tmp_path / f"{number}" / "temporary"))
        n_said, killed = kill_all(tmp_path / f"{number}", dice)
        n_acts += n_said
        n_killed += killed
    print(
        f"\nSIGKILL: {n_killed.total():,} killed {dict(n_killed)}; {n_acts:,} acknowledged acts, 0 lost, "
        f"0 doubled, 0 files with words of who withdrew, {time.perf_counter() - begin:.0f} s"
    )
    assert n_killed.total() == N_KILLS
    assert n_acts > N_KILLS


def kill_all(root: Path, dice: random.Random) -> tuple[int, Counter[str]]:
    """Kill four processes in each of five rounds over one study, and look after each at what there is."""
    (root / "temporary").mkdir(parents=True)
    units = pd.DataFrame(
        {
            "unit_id": [f"m{i}" for i in range(N_CASES)],
            "text": ["I said: " + ("Numbat. " if i else "Nothing. ") * 60 for i in range(N_CASES)],
            "document_id": [f"d{i}" for i in range(N_CASES)],
            "case_id": [f"p{i}" for i in range(N_CASES)],
            "position": 0,
        }
    )
    Store.create(root / "pilot", units=units, codebook=CODEBOOK)
    command = [sys.executable, "-W", "ignore", "-c", WRITERS, str(root), str(N_CASES)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    killed, said = Counter(), {}
    with subprocess.Popen(command, text=True, bufsize=1, cwd=ROOT, **pipes) as process:
        for number in range(5):
            whats = ["ana", dice.choice(["ana", "ben"]), "copy", dice.choice(["forget", "copy"])]
            files = [root / f"said-{number}-{i}" for i in range(4)]
            lines = [
                f"{file} {what} {dice.randrange(10**6)}" for file, what in zip(files, whats, strict=True)
            ]
            said |= dict(zip(files, whats, strict=True))
            process.stdin.write(";".join(lines) + "\n")
            pids = [int(pid) for pid in process.stdout.readline().split()]
            if number % 3:
                wait_until(partial(coded, dict.fromkeys(files[:2], "ana"), 8))
            for pid in dice.sample(pids, 4):
                time.sleep(dice.uniform(0, 0.15))
                os.kill(pid, signal.SIGKILL)
            assert process.stdout.readline().split() == ["-9"] * 4
            killed.update("code" if what in ("ana", "ben") else what for what in whats)
            check(root, said)
        process.stdin.close()
    return check_words(root, said), killed


def acknowledged(said: dict[Path, str]) -> list[str]:
    coded = [file for file, what in said.items() if what in ("ana", "ben") and file.exists()]
    return [act_id for file in coded for act_id in file.read_text().split()]


def coded(said: dict[Path, str], n: int) -> bool:
    return len(acknowledged(said)) >= n


def check(root: Path, said: dict[Path, str]) -> None:
    store = Store(root / "pilot")
    recorded = Counter(act.act_id for act in store.acts())
    assert set(acknowledged(said)) - set(recorded) == set()
    assert max(recorded.values(), default=1) == 1
    problems = [each for each in store.verify()["problem"] if each and "call store.forget again" not in each]
    assert problems == []


def check_words(root: Path, said: dict[Path, str]) -> int:
    """Let everybody withdraw, delete the whole copies, and look for the words everywhere."""
    store = Store(root / "pilot")
    for number in range(1, N_CASES):
        held = store.forget(f"p{number}", why="They asked for it.").still_held
    assert not set(held["what"]) & {"unfinished copy", "file"}
    places = [path for path in (root / "copies").glob("*") if not path.name.startswith(".")]
    named = held.loc[held["what"].isin(["backup", "archive"]), "place"]
    assert {str(path) for path in places} >= {place for place in named if Path(place).exists()}
    for path in places:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    left = [file for file in root.rglob("*") if file.is_file() and WORDS in file.read_bytes()]
    assert left == []
    ours = [path for path in root.rglob("*") if not path.name.startswith(("temporary", "said-"))]
    assert [path for path in ours if stat.S_IMODE(path.lstat().st_mode) & 0o077] == []
    assert store.verify()["ok"].all()
    check(root, said)
    return len(acknowledged(said))
